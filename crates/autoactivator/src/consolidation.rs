//! Consolidation: one additive memory for all tasks. Exact, order-free, mergeable, unlearnable.
//!
//! observe → recruit → read out. [`Consolidation::observe`] adds rows to the [`Memory`]; [`Consolidation::consolidate`]
//! recruits nodes in Gram space, solves the readout and leaves a [`Deployed`] model. `learn` does both for one task,
//! [`Consolidation::learn_batches`] for one that does not fit into memory.

use serde::{Deserialize, Serialize};

use crate::activation::Activation;
use crate::calibration::{Calibration, Scored};
use crate::chunks::Chunks;
use crate::deployed::{Deployed, Origin};
use crate::error::Error;
use crate::forward::{self, Ended, Limits};
use crate::learner::{Learner, Observer, Size, Step};
use crate::ledger::Ledger;
use crate::memory::{Evidence, Memory};
use crate::params::{Checked, ConsolidationParams, Precision, ReadoutKind};
use crate::pool::{ConvolutionSpec, FirstTask, NodePool, PoolSpec, Preparation, Standard};
use crate::readout::Centred;
use crate::rows::{Labels, Rows, Table, check_task};
use crate::sample::{self, Sample};

/// Rows whose node outputs are held at a time.
pub(crate) const CHUNK: usize = 4096;

/// Rows of the first task that the pool is made from, at the most.
pub const POOL_ROWS: usize = 1 << 16;

/// Rows of these that show how large node outputs are.
const LOOKED_AT: usize = 4096;

/// Arriving rows that are scored to calibrate probabilities.
pub const SCORED: usize = 512;

/// The learner with one memory for all tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Consolidation {
    pub(crate) params: Checked<ConsolidationParams>,
    pub(crate) pool: Option<NodePool>,
    pub(crate) memory: Memory,
    /// Recruited nodes, in the order of recruitment.
    pub(crate) recruited: Vec<usize>,
    pub(crate) growth: Vec<TaskGrowth>,
    pub(crate) deployed: Option<Deployed>,
    pub(crate) origin: Option<Origin>,
    /// Files that were learned as such.
    pub(crate) ledger: Ledger,
}

/// What one task caused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskGrowth {
    /// Task, from 1.
    pub task: usize,
    /// Rows learned in all when it ended.
    pub rows: f64,
    /// Classes known when it ended.
    pub classes: usize,
    /// Names of those that it brought, sorted; empty in files of before this was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_classes: Vec<String>,
    /// Nodes that it recruited.
    pub recruited: usize,
    /// Nodes after it.
    pub nodes: usize,
    /// Why recruitment ended; none when the whole pool is read.
    pub ended: Option<Ended>,
    /// Ridge constant or shrinkage of the readout, relative to the mean diagonal.
    pub ridge: f64,
}

impl Consolidation {
    /// A learner that has seen nothing yet.
    pub fn new(params: Checked<ConsolidationParams>) -> Self {
        Self {
            params,
            pool: None,
            memory: Memory::new(0, Standard::default()),
            recruited: Vec::new(),
            growth: Vec::new(),
            deployed: None,
            origin: None,
            ledger: Ledger::default(),
        }
    }

    /// Its parameters.
    pub fn params(&self) -> &ConsolidationParams {
        &self.params
    }

    /// The pool; none before the first task.
    pub fn pool(&self) -> Option<&NodePool> {
        self.pool.as_ref()
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What computed the rows, where that was said.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Says what computes the rows.
    pub fn set_origin(&mut self, origin: Option<Origin>) {
        self.origin = origin;
    }

    /// The files that came as partial memories; rows that were learned in another way are in no ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The model that predicts; none before the first task.
    pub fn deployed(&self) -> Option<&Deployed> {
        self.deployed.as_ref()
    }

    /// What each task caused.
    pub fn task_growth(&self) -> &[TaskGrowth] {
        &self.growth
    }

    /// Adds rows to the memory, in bounded chunks; the first rows ever make the pool. Predictions stay as they are until
    /// [`consolidate`](Self::consolidate).
    pub fn observe(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        self.check(x, y)?;
        self.prepare(x, y)?;
        self.add_while(x, y, &mut |_| Ok(()))
    }

    fn check(&self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        check_task(x, y, self.n_features(), self.growth.len() + 1)
    }

    /// Makes the pool from evenly spaced rows of the first task; does nothing when there is one.
    fn prepare(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        if self.pool.is_some() {
            return Ok(());
        }
        if sample::stride(x.len(), POOL_ROWS) > 1 {
            let rows = sample::places(x.len(), POOL_ROWS);
            return self.prepare(x.gather(&rows).rows(), &y.gather(&rows));
        }
        let places = self.memory.classes.clone().admit(y);
        let pool = self.make_pool(x, &places)?;
        let looked_at = x.gather(&sample::places(x.len(), LOOKED_AT));
        let outputs = pool.as_pool().outputs(looked_at.rows(), Precision::F32);
        self.memory = Memory::new(pool.as_pool().n_nodes(), Standard::learn(outputs.rows(), |v| v));
        self.pool = Some(pool);
        Ok(())
    }

    /// Adds rows chunk by chunk, as long as `go_on` does not object; it is told how many were added.
    pub(crate) fn add_while(
        &mut self,
        x: Rows<'_>,
        y: &Labels,
        go_on: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let places = self.memory.classes.admit(y);
        self.memory.widen();
        for (rows, places) in x.chunks(CHUNK).zip(places.chunks(CHUNK)) {
            self.add(rows, places, 1.0);
            go_on(rows.len())?;
        }
        Ok(())
    }

    fn make_pool(&self, x: Rows<'_>, places: &[u32]) -> Result<NodePool, Error> {
        let task = FirstTask {
            x,
            places,
            image: self.params.image,
            seed: self.params.seed,
        };
        match &self.params.pool {
            Some(spec) => spec.make(&task),
            None => default_pool(&task).make(&task),
        }
    }

    fn add(&mut self, x: Rows<'_>, places: &[u32], sign: f64) {
        let Some(pool) = &self.pool else {
            return;
        };
        let mut h = pool.as_pool().outputs(x, self.params.precision);
        h.for_each_row(|row| self.memory.standard.apply(row));
        let weights = self.class_weights();
        let evidence = Evidence {
            h: h.rows(),
            places,
            weights: weights.as_deref(),
        };
        self.memory.add(&evidence, sign, self.params.precision);
    }

    /// What a row of each class counts for; none when all count for 1.
    fn class_weights(&self) -> Option<Vec<f64>> {
        let named = &self.params.class_weights;
        let weight = |name: &String| named.get(name).copied().unwrap_or(1.0);
        (!named.is_empty()).then(|| self.memory.classes.names().iter().map(weight).collect())
    }

    /// Learns one task that arrives in batches, and says how many rows it had. `batches` is asked for them once, or
    /// twice when the first task is so large that the pool is made from a part of it. The model is the one that
    /// [`learn`](Learner::learn) makes of the same rows in one piece.
    pub fn learn_batches<E, B>(
        &mut self,
        mut batches: impl FnMut() -> Result<B, E>,
        observer: &mut dyn Observer,
    ) -> Result<usize, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let mut next = self.faded();
        if next.pool.is_none() {
            let sample = next.sample(batches()?, POOL_ROWS, observer)?;
            let (n_rows, whole) = (sample.seen(), sample.is_whole());
            let (x, y) = sample.into_rows()?;
            if whole {
                self.learn(x.rows(), &y, observer)?;
                return Ok(n_rows);
            }
            next.prepare(x.rows(), &y)?;
        }
        let mut fresh = Sample::new(SCORED);
        let mut go_on = watched(observer, None);
        let mut chunks = Chunks::new(CHUNK);
        for batch in batches()? {
            let (x, y) = batch?;
            next.check(x.rows(), &y)?;
            fresh.take(x.rows(), &y);
            chunks.push(x.rows(), &y, |x, y| next.add_while(x, y, &mut go_on))?;
        }
        chunks.flush(|x, y| next.add_while(x, y, &mut go_on))?;
        drop(go_on);
        let n_rows = fresh.seen();
        let (x, y) = fresh.into_rows()?;
        next.check(x.rows(), &y)?;
        next.end_task(x.rows(), &y)?;
        *self = next;
        self.tell(observer);
        Ok(n_rows)
    }

    /// Makes the pool from rows that arrive in batches, or from evenly spaced ones of them, and learns nothing yet: the
    /// pool is the one that learning these rows would have made.
    pub fn begin<E, B>(&mut self, batches: B, observer: &mut dyn Observer) -> Result<(), E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let (x, y) = self.sample(batches, POOL_ROWS, observer)?.into_rows()?;
        self.check(x.rows(), &y)?;
        Ok(self.prepare(x.rows(), &y)?)
    }

    /// As many evenly spaced rows as probabilities are calibrated by.
    pub fn fresh<E, B>(&self, batches: B, observer: &mut dyn Observer) -> Result<(Table, Labels), E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        Ok(self.sample(batches, SCORED, observer)?.into_rows()?)
    }

    /// At most `limit` evenly spaced rows.
    fn sample<E, B>(&self, batches: B, limit: usize, observer: &mut dyn Observer) -> Result<Sample, E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let mut sample = Sample::new(limit);
        for batch in batches {
            let (x, y) = batch?;
            self.check(x.rows(), &y)?;
            sample.take(x.rows(), &y);
            watched(observer, None)(0)?;
        }
        Ok(sample)
    }

    /// Itself at the begin of a task, to be changed without harm.
    pub(crate) fn faded(&self) -> Self {
        let mut next = self.clone();
        if next.params.fading < 1.0 {
            next.memory.fade(next.params.fading);
        }
        next
    }

    fn tell(&self, observer: &mut dyn Observer) {
        observer.grown(&Step {
            task: self.growth.len() - 1,
            nodes: self.recruited.len(),
            max_nodes: self.recruited.len(),
            residual: None,
        });
    }

    /// Recruits nodes and solves the readout from the memory as it stands; ends a task.
    pub fn consolidate(&mut self) -> Result<(), Error> {
        if self.memory.classes.is_empty() {
            return Err(Error::NothingLearned);
        }
        self.solve().map(|_| ())
    }

    /// Consolidates, and calibrates by evenly spaced rows of the task.
    pub(crate) fn end_task_by_some_of(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        let fresh = sample::places(x.len(), SCORED);
        self.end_task(x.gather(&fresh).rows(), &y.gather(&fresh))
    }

    /// Consolidates, and calibrates by some of the task's rows.
    fn end_task(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        let centred = self.solve()?;
        self.calibrate(x, y, &centred);
        Ok(())
    }

    /// Recruits, reads out, and hands over what the readout was solved from.
    fn solve(&mut self) -> Result<Centred, Error> {
        if !self.memory.is_finite() {
            return Err(Error::SumsNotFinite);
        }
        let before = self.recruited.len();
        let ended = self.recruit();
        let (deployed, centred) = self.read_out()?;
        self.growth.push(TaskGrowth {
            task: self.growth.len() + 1,
            rows: self.memory.n_rows(),
            classes: self.memory.classes.len(),
            new_classes: self.new_classes(),
            recruited: self.recruited.len() - before,
            nodes: self.recruited.len(),
            ended,
            ridge: deployed.readout.ridge,
        });
        self.deployed = Some(deployed);
        Ok(centred)
    }

    /// Classes of the memory that the model does not answer yet, by name: the rows of a task have no order that counts.
    fn new_classes(&self) -> Vec<String> {
        let names = self.memory.classes.names().iter();
        let mut new: Vec<String> = names
            .filter(|name| !self.classes().contains(name))
            .cloned()
            .collect();
        new.sort();
        new
    }

    fn recruit(&mut self) -> Option<Ended> {
        let Some(max_nodes) = self.node_limit() else {
            self.recruited = (0..self.memory.n_nodes()).collect();
            return None;
        };
        let limits = Limits {
            max_nodes,
            r: self.params.r,
            expected_gain: self.params.expected_gain,
        };
        let (mut nodes, ended) = forward::recruit(&self.memory, &self.recruited, limits);
        if nodes.is_empty() {
            // Rows that no node tells apart; what predicts has a node all the same.
            nodes.push(0);
        }
        self.recruited = nodes;
        Some(ended)
    }

    /// Nodes that may be recruited so far; none when the whole pool is read.
    fn node_limit(&self) -> Option<usize> {
        let n_classes = self.memory.classes.len();
        let by_class = self.params.nodes_per_class.map(|n| n.saturating_mul(n_classes));
        let limit = self.params.max_nodes.into_iter().chain(by_class).min()?;
        Some(limit).filter(|&limit| limit < self.memory.n_nodes())
    }

    /// The model that reads the recruited nodes; calibration goes on from the one before.
    fn read_out(&self) -> Result<(Deployed, Centred), Error> {
        let pool = self.pool.as_ref().ok_or(Error::NothingLearned)?;
        let params = &self.params;
        let mut centred = Centred::new(&self.memory, &self.recruited);
        let before = self.deployed.as_ref().map(|deployed| &deployed.readout);
        let readout = centred.readout(params.readout, params.ridge, params.shrinkage, before);
        let readout = readout.ok_or_else(|| Error::NotSolvable {
            place: "the readout".to_owned(),
            ridge: params.ridge.unwrap_or(params.shrinkage),
        })?;
        let calibration = self
            .deployed
            .as_ref()
            .map_or_else(Calibration::default, |d| d.calibration.clone());
        let deployed = Deployed {
            pool: self.recruited_pool(pool),
            readout,
            calibration,
            classes: self.memory.classes.clone(),
            origin: self.origin.clone(),
        };
        Ok((deployed, centred))
    }

    /// The recruited nodes of `pool`.
    pub(crate) fn recruited_pool(&self, pool: &NodePool) -> NodePool {
        let whole = self.recruited.len() == pool.as_pool().n_nodes() && self.recruited.is_sorted();
        if whole {
            pool.clone()
        } else {
            pool.as_pool().select(&self.recruited)
        }
    }

    /// Scores rows that have just arrived, as if they had not, and calibrates by them.
    fn calibrate(&mut self, x: Rows<'_>, y: &Labels, centred: &Centred) {
        let Some(deployed) = &self.deployed else {
            return;
        };
        let h = deployed.pool.as_pool().outputs(x, Precision::F32);
        let scores = deployed.scores_of(h.rows());
        // The other readouts hardly depend on a single row.
        let ridge = Some(deployed.readout.ridge).filter(|_| self.params.readout == ReadoutKind::Ridge);
        let leverages = ridge.and_then(|ridge| centred.leverages(h, ridge));
        let scored = (0..x.len()).filter_map(|i| {
            let place = self.memory.classes.place(y.name(i))? as usize;
            let leverage = leverages.as_ref().map_or(0.0, |l| l[i].clamp(0.0, 0.999));
            // Left out, a row's score is (s - leverage · target) / (1 - leverage).
            let left_out = |c: usize| {
                let target = if c == place { centred.target(c) } else { 0.0 };
                (f64::from(scores[(i, c)]) - leverage * target) / (1.0 - leverage)
            };
            Some(Scored {
                scores: (0..scores.n_cols()).map(left_out).collect(),
                place,
            })
        });
        let scored: Vec<Scored> = scored.collect();
        if let Some(deployed) = &mut self.deployed {
            deployed.calibration.update(&scored);
        }
    }

    /// Takes in everything that another learner over the same pool has learned.
    pub fn merge(&mut self, other: &Consolidation) -> Result<(), Error> {
        self.check_pool(other)?;
        let mut next = self.clone();
        next.ledger.check_apart(&other.ledger)?;
        next.ledger.enter_all(&other.ledger);
        next.memory.combine(&other.memory, 1.0)?;
        let new = other
            .recruited
            .iter()
            .filter(|node| !self.recruited.contains(node));
        next.recruited.extend(new);
        if !next.memory.classes.is_empty() {
            next.consolidate()?;
        }
        *self = next;
        Ok(())
    }

    /// Takes away everything that another learner over the same pool has learned: what two memories that began from a
    /// third have in common, say.
    pub fn subtract(&mut self, other: &Consolidation) -> Result<(), Error> {
        self.check_pool(other)?;
        let mut next = self.clone();
        next.ledger = self.ledger.without(&other.ledger);
        next.memory.combine(&other.memory, -1.0)?;
        next.accept_as_less_than(&self.memory)?;
        *self = next;
        Ok(())
    }

    fn check_pool(&self, other: &Consolidation) -> Result<(), Error> {
        let reason = if self.origin != other.origin {
            "their rows come from different backbones"
        } else if self.pool != other.pool || self.memory.standard != other.memory.standard {
            "they were made from other seeds, parameters or first tasks"
        } else {
            return Ok(());
        };
        Err(Error::DifferentPools {
            reason: reason.to_owned(),
        })
    }

    /// Solves the readout after something was taken away, unless it shows that it had never been there.
    fn accept_as_less_than(&mut self, before: &Memory) -> Result<(), Error> {
        if let Some(reason) = self.memory.contradiction(before) {
            return Err(Error::NeverLearned { reason });
        }
        self.memory.drop_emptied_classes(before);
        self.refit()
    }

    /// Takes rows back that were learned: the memory is what it would have been without them. A class of which no row
    /// is left is not known any more.
    pub fn unlearn(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        let mut next = self.clone_of_learned()?;
        check_task(x, y, self.n_features(), self.growth.len())?;
        let places = next.memory.classes.admit(y);
        if next.memory.classes.len() > self.memory.classes.len() {
            let class = next.memory.classes.names()[self.memory.classes.len()].clone();
            let known = self.memory.classes.names().join(", ");
            return Err(Error::UnknownClass { class, known });
        }
        for (rows, places) in x.chunks(CHUNK).zip(places.chunks(CHUNK)) {
            next.add(rows, places, -1.0);
        }
        next.accept_as_less_than(&self.memory)?;
        *self = next;
        Ok(())
    }

    /// Forgets a class. After the last one only the pool is left, and everything can be learned anew.
    pub fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        let mut next = self.clone_of_learned()?;
        next.memory.drop_class(name)?;
        next.refit()?;
        *self = next;
        Ok(())
    }

    /// Itself, to be changed without harm, if there is anything to take away.
    fn clone_of_learned(&self) -> Result<Self, Error> {
        if self.memory.classes.is_empty() {
            return Err(Error::NothingLearned);
        }
        Ok(self.clone())
    }

    /// Solves the readout anew; what has been recruited stays as long as there is a class to be recruited for.
    fn refit(&mut self) -> Result<(), Error> {
        if self.memory.classes.is_empty() {
            self.memory = Memory::new(self.memory.n_nodes(), self.memory.standard.clone());
            self.recruited.clear();
            self.growth.clear();
            self.deployed = None;
            return Ok(());
        }
        let (deployed, _) = self.read_out()?;
        self.deployed = Some(deployed);
        Ok(())
    }
}

/// Tells the observer how many rows were added, and stops when it wants to; `of` is their number, where known.
fn watched(observer: &mut dyn Observer, of: Option<usize>) -> impl FnMut(usize) -> Result<(), Error> {
    let mut observed = 0;
    move |rows| {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        observed += rows;
        observer.observed(observed, of);
        Ok(())
    }
}

/// Height and width from which filters say more about an image than its pixels do.
const SMALLEST_IMAGE: usize = 16;

/// The pool for data nobody said anything about.
fn default_pool(task: &FirstTask<'_>) -> PoolSpec {
    match task.image {
        Some(shape) if shape.height.min(shape.width) >= SMALLEST_IMAGE => {
            let smallest = shape.height.min(shape.width);
            PoolSpec::Convolution(ConvolutionSpec {
                filters: 64,
                sides: [3, 5, 7, 11].into_iter().filter(|s| s * 2 <= smallest).collect(),
                padded: true,
                contrast: 0.3,
                threshold: 0.05,
                both_signs: true,
                grid: 4,
                overlap: smallest / 14,
                ..ConvolutionSpec::default()
            })
        }
        // The features with their sizes, which say much where they are few, and random nodes that large ones cannot
        // carry away: a first task of one class shows little of how far the next ones lie.
        _ => PoolSpec::Stack {
            first: Box::new(PoolSpec::Features {
                preparation: Preparation::Columns,
            }),
            preparation: Preparation::SoftRoot,
            directions: (8 * task.x.n_features()).clamp(128, 2048),
            activations: vec![Activation::Relu],
        },
    }
}

impl Learner for Consolidation {
    fn name(&self) -> &'static str {
        "consolidation"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        self.check(x, y)?;
        let mut next = self.faded();
        next.prepare(x, y)?;
        next.add_while(x, y, &mut watched(observer, Some(x.len())))?;
        next.end_task_by_some_of(x, y)?;
        *self = next;
        self.tell(observer);
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.deployed
            .as_ref()
            .map_or(&[], |deployed| deployed.classes.names())
    }

    fn n_features(&self) -> Option<usize> {
        self.pool.as_ref().map(|pool| pool.as_pool().n_inputs())
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.deployed.as_ref().ok_or(Error::NothingLearned)?.predict(x)
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        let deployed = self.deployed.as_ref().ok_or(Error::NothingLearned)?;
        deployed.predict_among(x, among)
    }

    fn size(&self) -> Size {
        let deployed = self.deployed.as_ref().map_or_else(Size::default, Learner::size);
        Size {
            memory_floats: self.memory.n_floats(),
            ..deployed
        }
    }

    fn growth(&self) -> Vec<serde_json::Value> {
        self.growth
            .iter()
            .filter_map(|task| serde_json::to_value(task).ok())
            .collect()
    }
}
