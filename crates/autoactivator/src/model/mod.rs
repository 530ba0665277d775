//! Any learned model: what it can be asked and told, whatever kind it is, and its file.
//!
//! [`Learned`] is the interface; each kind implements it in a file of this folder, and refuses there what it
//! cannot do. A [`Model`] is one of them behind a pointer. [`ModelFile`] is the only thing that writes
//! models. The faces - command line, server, Python - call these and never ask for the kind.
//!
//! ```
//! use autoactivator::prelude::*;
//! use serde_json::json;
//!
//! let mut model = Model::new("consolidation", &json!({ "seed": 7 }))?;
//! model.learn(Rows::new(&[0.0, 0.1, 0.9, 1.0], 2)?, &Labels::from_names(["low", "high"]), &mut ())?;
//! model.rename_class("low", "small")?;
//! let again = Model::from_bytes(&model.to_bytes()?).unwrap();
//! assert_eq!(again.classes(), ["small", "high"]);
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod answer;
mod consolidation;
mod deployed;
mod describe;
mod explain;
mod file;
mod holder;
mod identity;
mod learned;
mod lock;
mod reactivation;
mod receipt;
mod sources;
mod task;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::consolidation::{self as additive, Consolidation, ConsolidationParams};
use crate::data::{Labels, Pile, Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::learner::Observer;
use crate::params::{self, Check};
use crate::reactivation::{self as units, Reactivation, ReactivationParams};

pub use answer::{Detail, class_of, detailed, object};
pub use describe::{describe, rows_by_class, summary};
pub use explain::{Explanation, NodeEvidence, TaskEvidence, UnitEvidence};
pub use file::{ModelFile, Written};
pub use learned::{Abilities, Learned};
pub use receipt::Receipt;
pub use task::{Task, growth};

use receipt::Tally;

/// A learned model of any kind.
#[derive(Debug)]
pub struct Model(Box<dyn Learned>);

/// A kind of learner: how a new one is made from parameters, and how it is read from a file.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Name of the kind, in files and on every face.
    pub name: &'static str,
    /// A description of a few words.
    pub meaning: &'static str,
    /// Makes a model that has seen nothing; parameters that are not named keep their defaults.
    pub make: fn(&Value) -> Result<Model, Error>,
    /// Reads a model from a container; the error says what does not fit.
    pub unpack: fn(&Container) -> Result<Model, String>,
}

/// The kinds of this crate.
const KINDS: [Kind; 3] = [
    Kind {
        name: additive::NAME,
        meaning: "One memory for all tasks",
        make: |parameters| {
            let params: ConsolidationParams = params::read(parameters)?;
            Ok(Consolidation::new(params.check()?).into())
        },
        unpack: |container| additive::unpack(container).map(Model::from),
    },
    Kind {
        name: units::NAME,
        meaning: "The paper's: one neural unit per task",
        make: |parameters| {
            let params: ReactivationParams = params::read(parameters)?;
            Ok(Reactivation::new(params.check()?).into())
        },
        unpack: |container| units::unpack(container).map(Model::from),
    },
    Kind {
        name: additive::DEPLOYED,
        meaning: "What predicts, without the memory",
        make: |_| Err(Error::NoMemory),
        unpack: |container| additive::unpack_deployed(container).map(Model::from),
    },
];

/// Kinds that other crates have registered.
static REGISTERED: RwLock<BTreeMap<&'static str, Kind>> = RwLock::new(BTreeMap::new());

/// Lets this process make and read learners of another crate's kind. The kinds of this crate cannot be replaced.
pub fn register(kind: Kind) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.insert(kind.name, kind);
}

/// All kinds of learner that this process knows.
pub fn kinds() -> Vec<Kind> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    KINDS.into_iter().chain(registered.values().copied()).collect()
}

impl Model {
    /// A model of this kind that has seen nothing, with parameters as a JSON object.
    pub fn new(kind: &str, parameters: &Value) -> Result<Self, Error> {
        let kinds = kinds();
        let found = kinds.iter().find(|known| known.name == kind);
        let unknown = || Error::UnknownKind {
            kind: kind.to_owned(),
            known: kinds
                .iter()
                .map(|known| known.name)
                .collect::<Vec<_>>()
                .join(", "),
        };
        (found.ok_or_else(unknown)?.make)(parameters)
    }

    /// The bytes of a model file; the same model gives the same bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.0.pack().to_bytes()
    }

    /// Passes the bytes of a model file on, piece by piece.
    pub fn write(&self, to: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.0.pack().write(to)
    }

    /// Reads the bytes of a model file; the error says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        Self::unpack(&Container::from_bytes(bytes)?)
    }

    fn unpack(container: &Container) -> Result<Self, String> {
        if container.learner == additive::PARTIAL {
            return Err("it is a partial memory: add it to a model with `memory merge`".to_owned());
        }
        let kinds = kinds();
        let kind = kinds.iter().find(|kind| kind.name == container.learner);
        match kind {
            Some(kind) => (kind.unpack)(container),
            None => Err(format!(
                "it holds a learner of the unknown kind '{}'",
                container.learner
            )),
        }
    }

    /// Reads the bytes of a model file; `name` is what errors call it.
    pub fn received(name: impl Into<PathBuf>, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes).map_err(|reason| Error::BadModel {
            path: name.into(),
            reason,
        })
    }

    /// Reads a model file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let container = Container::from_whole(crate::format::read(path)?);
        let model = container.and_then(|container| Self::unpack(&container));
        model.map_err(|reason| Error::BadModel {
            path: path.to_owned(),
            reason,
        })
    }

    /// Writes a model file, under its lock; a crash at any moment leaves the old file or the new one. To
    /// read, change and write a model, hold its [`ModelFile`] throughout.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        ModelFile::lock(path)?.write(self).map(|_| ())
    }

    /// Writes only the deployed model, in half precision if `half`, and returns the size of the file.
    pub fn export(&self, path: &Path, half: bool) -> Result<u64, Error> {
        ModelFile::lock(path)?.write_deployed(self.deployed()?, half)
    }

    /// Learns one task, and returns what was understood of it. An error leaves the model unchanged.
    pub fn teach(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<Receipt, Error> {
        let mut tally = Tally::new(&*self.0);
        tally.add(y);
        self.learn(x, y, observer)?;
        Ok(tally.receipt(&*self.0))
    }

    /// Learns one task that arrives in batches, and returns what was understood of it. `batches` is called
    /// once or twice, and yields all of them each time. A kind that cannot learn batch by batch gets all rows
    /// at once; the model is the same either way.
    pub fn learn_batches<E, B>(
        &mut self,
        mut batches: impl FnMut() -> Result<B, E>,
        observer: &mut dyn Observer,
    ) -> Result<Receipt, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let tally = RefCell::new(Tally::new(&*self.0));
        let counted = || {
            tally.borrow_mut().restart();
            let count = |batch: &Result<(Table, Labels), E>| {
                if let Ok((_, y)) = batch {
                    tally.borrow_mut().add(y);
                }
            };
            Ok(batches()?.inspect(count))
        };
        self.learn_counted(counted, observer)?;
        Ok(tally.into_inner().receipt(&*self.0))
    }

    fn learn_counted<E, B>(
        &mut self,
        mut batches: impl FnMut() -> Result<B, E>,
        observer: &mut dyn Observer,
    ) -> Result<(), E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        if let Ok(memory) = self.consolidation_mut() {
            return memory.learn_batches(batches, observer).map(|_| ());
        }
        let mut pile = Pile::default();
        for batch in batches()? {
            let (x, y) = batch?;
            pile.extend(x.rows(), &y);
        }
        let (x, y) = pile.into_rows()?;
        Ok(self.learn(x.rows(), &y, observer)?)
    }

    /// Merges in what other models over the same pool have learned, all of them with one solve; what every
    /// one of them had learned from `base` counts once.
    pub fn merge(&mut self, others: &[&Model], base: Option<&Model>) -> Result<(), Error> {
        let others: Vec<&dyn Learned> = others.iter().map(|other| &*other.0).collect();
        self.0.merge(&others, base.map(|base| &*base.0))
    }

    /// Requests parameter values of an existing model: accepted if the model has them already or they may
    /// still change, from the next task on; any other is refused by name, and then none is changed.
    pub fn set_parameters(&mut self, asked: &Map<String, Value>) -> Result<(), Error> {
        let before = self.parameters();
        for (done, (name, value)) in asked.iter().enumerate() {
            if let Err(error) = self.0.set_parameter(name, value) {
                let changed = asked.keys().take(done);
                changed.for_each(|name| drop(self.0.set_parameter(name, &before[name])));
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Clone for Model {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

/// Two models are equal when their files would be.
impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.0.pack() == other.0.pack()
    }
}

impl Deref for Model {
    type Target = dyn Learned;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Model {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

impl<L: Learned + 'static> From<L> for Model {
    fn from(learned: L) -> Self {
        Self(Box::new(learned))
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kind")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
