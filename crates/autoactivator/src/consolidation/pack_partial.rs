//! Partial memories as tensors: one triangle of G, Q and n, in double or single precision.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::binding::Binding;
use super::gram::Gram;
use super::ledger::Ledger;
use super::pack::{name_of, unpack_memory, version_of};
use super::pack_witnesses::{Kept, pack_witnesses, unpack_witnesses};
use super::partial::Partial;
use crate::error::Error;
use crate::format::{Container, Numbers, read, write_atomically};
use crate::pool::Standard;

/// Name of a partial memory in a file.
pub const NAME: &str = "partial";

#[derive(Serialize, Deserialize)]
struct Description {
    binding: Binding,
    n_nodes: usize,
    classes: Vec<String>,
    files: Ledger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witnesses: Option<Kept>,
    /// Number of features of the rows that are kept.
    #[serde(default, skip_serializing_if = "none")]
    n_inputs: usize,
}

/// All numbers of G.
fn numbers(gram: &Gram) -> Vec<f64> {
    let mut all = Vec::with_capacity(gram.count());
    gram.each(&mut |part| all.extend_from_slice(part));
    all
}

fn none(n_inputs: &usize) -> bool {
    *n_inputs == 0
}

impl Partial {
    /// The bytes of a file; the sums are in single precision if `single`.
    pub fn to_bytes(&self, single: bool) -> Result<Vec<u8>, Error> {
        let mut container = Container::new(NAME);
        let sums = &self.sums;
        let mut gram = sums.gram.clone();
        gram.settle();
        container.needs_version(version_of(&gram));
        let lists = [
            (name_of(&gram), numbers(&gram)),
            ("memory.moments", sums.moments.values().to_vec()),
            ("memory.counts", sums.counts.clone()),
        ];
        for (name, values) in lists {
            // Row counts stay whole numbers.
            if single && name != "memory.counts" {
                let rounded: Vec<f32> = values.iter().map(|&v| v as f32).collect();
                container.put_list(name.to_owned(), &rounded);
            } else {
                container.put_f64(name.to_owned(), &values);
            }
        }
        let witnesses = pack_witnesses(&mut container, &sums.witnesses);
        let n_inputs = sums
            .witnesses
            .kept()
            .first()
            .map_or(0, |witness| witness.row.len());
        container.describe(&Description {
            witnesses,
            n_inputs,
            binding: self.binding.clone(),
            n_nodes: sums.n_nodes(),
            classes: sums.classes.names().to_vec(),
            files: self.files.clone(),
        });
        container.to_bytes()
    }

    /// Reads the bytes of a file; the error says what is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let container = Container::from_bytes(bytes)?;
        if container.learner != NAME {
            return Err(format!(
                "it holds a model of the kind {}, not a partial memory: `memory build` makes one",
                container.learner
            ));
        }
        let description: Description = container.description()?;
        let n_classes = description.classes.len();
        // What made the outputs comparable belongs to the pool, which the binding identifies.
        let mut sums = unpack_memory(
            &container,
            description.classes,
            description.n_nodes,
            Standard::default(),
        )?;
        if let Some(kept) = description.witnesses {
            sums.witnesses = unpack_witnesses(&container, &kept, description.n_inputs, n_classes)?;
        }
        Ok(Self {
            binding: description.binding,
            sums,
            files: description.files,
        })
    }

    /// Reads the bytes of a file; `name` is what errors call it.
    pub fn received(name: impl Into<PathBuf>, bytes: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(bytes).map_err(|reason| Error::BadModel {
            path: name.into(),
            reason,
        })
    }

    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::received(path, &read(path)?)
    }

    /// Writes a file, with sums in single precision if `single`; a crash at any moment leaves the old file or
    /// the new one.
    pub fn save(&self, path: &Path, single: bool) -> Result<(), Error> {
        write_atomically(path, &self.to_bytes(single)?)
    }
}
