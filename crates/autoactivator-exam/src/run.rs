//! How does an exam go? Deal the classes to tasks, let every learner learn them in order, examine it after each.
//!
//! Data flows one way: [`Dataset`] → [`Scenario`] → learner → accuracy matrix → [`Record`]. The learner is known
//! through its trait alone, so a learner of your own is examined like ours:
//!
//! ```
//! use autoactivator_data::dataset;
//! use autoactivator_exam::baselines::NearestMean;
//! use autoactivator_exam::protocol::Protocol;
//! use autoactivator_exam::run::{Entrant, Exam};
//! use autoactivator_exam::scenario::Scenario;
//! use autoactivator_exam::supply::Supply;
//!
//! let digits = dataset::open("digits", None)?;
//! let exam = Exam {
//!     dataset: &digits,
//!     scenario: Scenario::for_classes(digits.n_classes()),
//!     supply: Supply::default(),
//!     online: false,
//!     stream: None,
//!     entrants: vec![Entrant {
//!         name: "mine".to_owned(),
//!         parameters: serde_json::json!({}),
//!         make: Box::new(|_seed| Ok(Box::new(NearestMean::default()))),
//!     }],
//!     protocols: vec![Protocol::Instance],
//!     seeds: vec![0],
//!     left_out: Vec::new(),
//! };
//! let record = exam.run(&mut ())?;
//! assert_eq!(record.results[0].learner, "mine");
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use std::num::NonZeroUsize;
use std::time::Instant;

use autoactivator::{Learner, Observer, Step};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};

use crate::admission::Absence;
use crate::error::Error;
use crate::protocol::{self, Protocol};
use crate::record::{DatasetRecord, Record};
use crate::scenario::{Scenario, Task};
use crate::sitting::{Sitting, outcome};
use crate::stream;
use crate::supply::Supply;
use autoactivator_data::dataset::Dataset;

/// A learner to be examined: its parameters, and how to make a fresh one for a seed.
pub struct Entrant<'a> {
    /// Its name in the record.
    pub name: String,
    /// Its parameters, for the record; the seed is that of the run.
    pub parameters: Value,
    /// Makes one that has seen nothing.
    pub make: Make<'a>,
}

/// Makes a learner for a seed.
pub type Make<'a> = Box<dyn Fn(u64) -> Result<Box<dyn Learner>, autoactivator::Error> + 'a>;

/// What is examined, and how.
pub struct Exam<'a> {
    /// The data.
    pub dataset: &'a Dataset,
    /// How its classes become tasks.
    pub scenario: Scenario,
    /// In which order classes come, and with how many rows.
    pub supply: Supply,
    /// Whether all training rows arrive in one pass in random order, as many parts as there are tasks, instead of task
    /// after task; the learner is then examined once, at the end.
    pub online: bool,
    /// Learn a [`stream`] without tasks, this many rows at a time, each predicted before it is learned; the learner is then
    /// examined once, at the end.
    pub stream: Option<NonZeroUsize>,
    /// Who is examined.
    pub entrants: Vec<Entrant<'a>>,
    /// How rows are shown at prediction.
    pub protocols: Vec<Protocol>,
    /// One run per seed.
    pub seeds: Vec<u64>,
    /// Who could not take part, for the record.
    pub left_out: Vec<Absence>,
}

/// Follows an exam, and may stop it.
pub trait Progress {
    /// A learner begins a task: `task` of `n_tasks`, both counted from 1, in the run with `seed`.
    fn task(&mut self, _learner: &str, _seed: u64, _task: usize, _n_tasks: usize) {}

    /// The learner has grown.
    fn grown(&mut self, _step: &Step) {}

    /// The learner has taken in `rows` rows; `of` is their total, where it is known.
    fn observed(&mut self, _rows: usize, _of: Option<usize>) {}

    /// When true, the exam ends with [`autoactivator::Error::Interrupted`].
    fn interrupted(&self) -> bool {
        false
    }
}

/// Follows nothing.
impl Progress for () {}

impl Exam<'_> {
    /// Tasks, or parts of a stream, that will be learned in all, by all learners with all seeds.
    pub fn n_steps(&self) -> Result<usize, Error> {
        let mut n_lessons = 0;
        for &seed in &self.seeds {
            n_lessons += self.lessons(&self.tasks(seed)?, seed).len();
        }
        Ok(n_lessons * self.entrants.len())
    }

    /// The tasks of the run with this seed.
    fn tasks(&self, seed: u64) -> Result<Vec<Task>, Error> {
        self.supply.tasks(&self.scenario, self.dataset, seed)
    }

    /// The training rows in the parts in which they are learned.
    fn lessons(&self, tasks: &[Task], seed: u64) -> Vec<Vec<usize>> {
        match self.stream {
            Some(chunk) => stream::windows(&stream::rows(tasks, self.supply.order, seed), chunk),
            None if self.online => shuffled(tasks, seed),
            None => tasks.iter().map(|task| task.train.clone()).collect(),
        }
    }

    /// Takes the exam. A learner that fails is noted in the record, and the others go on; if all of them fail, the
    /// first error is returned.
    pub fn run(&self, progress: &mut dyn Progress) -> Result<Record, Error> {
        let (mut sittings, mut errors) = (Vec::new(), Vec::new());
        for entrant in &self.entrants {
            let sat = self.seeds.iter().map(|&seed| self.sit(entrant, seed, progress));
            let sat: Result<Vec<Sitting>, Error> = sat.collect();
            sittings.push(match sat {
                Err(error @ Error::Method(autoactivator::Error::Interrupted)) => return Err(error),
                // A solve that was stopped has no solution.
                Err(_) if progress.interrupted() => return Err(autoactivator::Error::Interrupted.into()),
                Err(error) => {
                    errors.push((entrant, error));
                    Vec::new()
                }
                Ok(sat) => sat,
            });
        }
        if !errors.is_empty() && errors.len() == self.entrants.len() {
            return Err(errors.remove(0).1);
        }
        let mut record = self.record(&sittings);
        record.failed = errors.iter().map(failure).collect();
        Ok(record)
    }

    /// The record of these sittings, one list of them for each entrant. An entrant without sittings has no results.
    pub fn record(&self, sittings: &[Vec<Sitting>]) -> Record {
        let mut results = Vec::new();
        let sat = self.entrants.iter().zip(sittings);
        for (entrant, sittings) in sat.filter(|(_, sittings)| !sittings.is_empty()) {
            for p in 0..self.protocols.len() {
                results.push(outcome(&entrant.name, &self.protocols, p, sittings));
            }
        }
        let parameters = self
            .entrants
            .iter()
            .map(|e| (e.name.clone(), e.parameters.clone()));
        Record {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            dataset: self.dataset_record(),
            scenario: self.scenario_label(),
            parameters: Value::Object(parameters.collect::<Map<_, _>>()),
            results,
            left_out: self.left_out.clone(),
            failed: Vec::new(),
        }
    }

    /// One learner, one seed: learns every task, and is examined under every protocol after each.
    pub fn sit(
        &self,
        entrant: &Entrant<'_>,
        seed: u64,
        progress: &mut dyn Progress,
    ) -> Result<Sitting, Error> {
        let tasks = self.tasks(seed)?;
        let mut learner = (entrant.make)(seed)?;
        let mut sitting = Sitting::new(self.dataset, &tasks, seed, self.protocols.len());
        let lessons = self.lessons(&tasks, seed);
        for (i, rows) in lessons.iter().enumerate() {
            progress.task(&entrant.name, seed, i + 1, lessons.len());
            self.learn(&mut *learner, rows, &mut sitting, progress)?;
            sitting.sizes.push(learner.size());
            if self.has_tasks() {
                self.examine(&*learner, &tasks[..=i], &mut sitting)?;
            }
        }
        if !self.has_tasks() {
            self.examine(&*learner, &tasks, &mut sitting)?;
        }
        if let Some(&protocol) = self.protocols.get(Sitting::told_by(&self.protocols)) {
            sitting.tally = Some(protocol::tally(&*learner, self.dataset, &tasks, protocol, seed)?);
        }
        sitting.growth = learner.growth();
        Ok(sitting)
    }

    /// Whether the learner is shown one task after the other.
    fn has_tasks(&self) -> bool {
        !self.online && self.stream.is_none()
    }

    fn learn(
        &self,
        learner: &mut dyn Learner,
        rows: &[usize],
        sitting: &mut Sitting,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        if let Some(chunk) = self.stream {
            let (window, seconds) = stream::follow(learner, self.dataset, rows, chunk, progress)?;
            sitting.stream.push(window);
            sitting.learn_seconds.push(seconds);
            return Ok(());
        }
        let x = self.dataset.train.x.rows().gather(rows);
        let y = self.dataset.train.y.gather(rows);
        let start = Instant::now();
        learner.learn(x.rows(), &y, &mut Relay(progress))?;
        sitting.learn_seconds.push(start.elapsed().as_secs_f64());
        Ok(())
    }

    /// Examines a learner under every protocol.
    fn examine(&self, learner: &dyn Learner, seen: &[Task], sitting: &mut Sitting) -> Result<(), Error> {
        for (p, protocol) in self.protocols.iter().enumerate() {
            let start = Instant::now();
            let marks = protocol::examine(learner, self.dataset, seen, *protocol, sitting.seed)?;
            sitting.predict_seconds[p] = start.elapsed().as_secs_f64();
            sitting.accuracy[p].push(marks.by_task());
            sitting.balanced[p].push(marks.balanced());
            sitting.by_class[p] = marks.by_class();
        }
        Ok(())
    }

    /// How classes and rows arrive, in the words of the record.
    pub fn scenario_label(&self) -> String {
        let label = self.scenario.label(self.dataset.n_classes());
        let pass = match self.stream {
            Some(chunk) => format!(" stream of {chunk}"),
            None if self.online => " online".to_owned(),
            None => String::new(),
        };
        format!("{label}{pass}{}", self.supply)
    }

    /// The data, in the words of the record.
    pub fn dataset_record(&self) -> DatasetRecord {
        let (train, test) = (&self.dataset.train, &self.dataset.test);
        DatasetRecord {
            name: self.dataset.name.clone(),
            n_train: train.y.len(),
            n_test: test.y.len(),
            n_features: train.x.rows().n_features(),
            n_classes: self.dataset.n_classes(),
        }
    }
}

/// A learner that failed, for the record.
fn failure((entrant, error): &(&Entrant<'_>, Error)) -> Absence {
    Absence {
        learner: entrant.name.clone(),
        reason: error.to_string(),
    }
}

/// All training rows in random order, in as many parts as there are tasks.
fn shuffled(tasks: &[Task], seed: u64) -> Vec<Vec<usize>> {
    let mut rows: Vec<usize> = tasks.iter().flat_map(|task| task.train.iter().copied()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The streams before this one ordered the classes and drew the groups of the exam.
    rng.set_stream(2);
    rows.shuffle(&mut rng);
    rows.chunks(rows.len().div_ceil(tasks.len()).max(1))
        .map(<[usize]>::to_vec)
        .collect()
}

/// Hands a learner's steps on to the exam's progress.
pub(crate) struct Relay<'a>(pub &'a mut dyn Progress);

impl Observer for Relay<'_> {
    fn grown(&mut self, step: &Step) {
        self.0.grown(step);
    }

    fn observed(&mut self, rows: usize, of: Option<usize>) {
        self.0.observed(rows, of);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
