//! The learner with one memory for all tasks: observe → recruit → read out.
//!
//! [`Consolidation::observe`] adds rows to the [`Memory`]; [`Consolidation::consolidate`] recruits nodes in Gram space,
//! solves the readout and leaves a [`Deployed`] model. `learn` does both for one task,
//! [`Consolidation::learn_batches`] for one that does not fit into memory.

use super::calibration::Calibration;
use super::cost;
use super::deployed::Deployed;
use super::forward::{self, Ended, Limits};
use super::growth::{self, TaskGrowth};
use super::ledger::Ledger;
use super::memory::{Evidence, Memory};
use super::params::ConsolidationParams;
use super::pending::Pending;
use super::readout::{Centred, Solution, Wanted, Warm, is_followed};
use super::slot::Slot;
use super::witness::Witness;
use crate::data::{
    Chunks, Labels, Rows, Sample, Table, check_rows, check_weighed_task, places, stride, weighed_places,
};
use crate::error::Error;
use crate::learner::{Input, Learner, Observer, Size, Step, have_other_names, same_origin};
use crate::math::{go_on, is_stopped};
use crate::params::{Checked, Precision};
use crate::pool::{FirstTask, OUTPUT_ROWS, Pool, Standard, default_pool, is_too_wide, private_pool};

/// Number of rows whose node outputs are held at a time.
pub(crate) const SUMMED_TOGETHER: usize = 4096;

/// Largest number of rows of the first task that the pool is made from.
pub const POOL_ROWS: usize = 1 << 16;

/// Largest number of floats that are kept of rows: wide rows leave fewer witnesses.
const KEPT_FLOATS: usize = 1 << 23;

/// The learner with one memory for all tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct Consolidation {
    pub(crate) params: Checked<ConsolidationParams>,
    pub(crate) pool: Option<Box<dyn Pool>>,
    pub(crate) memory: Memory,
    /// Recruited nodes, in the order of recruitment.
    pub(crate) recruited: Vec<usize>,
    pub(crate) growth: Vec<TaskGrowth>,
    pub(crate) deployed: Option<Deployed>,
    pub(crate) input: Input,
    /// Files that were learned or unlearned.
    pub(crate) ledger: Ledger,
    /// What the next readout may follow from.
    pub(crate) warm: Slot,
}

/// Rows of known classes that are added or subtracted together.
pub(super) struct Lot<'a> {
    pub x: Rows<'a>,
    /// Place of each row's class.
    pub places: &'a [u32],
    /// For how many copies each row stands, if not all for one.
    copies: Option<&'a [f64]>,
}

/// Cuts rows into lots of bounded size.
pub(super) fn lots<'a>(x: Rows<'a>, places: &'a [u32], y: &'a Labels) -> impl Iterator<Item = Lot<'a>> {
    let first = (0..x.len()).step_by(SUMMED_TOGETHER);
    x.chunks(SUMMED_TOGETHER).zip(first).map(move |(x, first)| {
        let part = first..first + x.len();
        Lot {
            x,
            places: &places[part.clone()],
            copies: y.weights().map(|weights| &weights[part]),
        }
    })
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
            input: Input::default(),
            ledger: Ledger::default(),
            warm: Slot::default(),
        }
    }

    /// A learner over the caller's own pool that has learned nothing yet; `x` are typical rows, which show
    /// the scale of the node outputs.
    pub fn over(
        params: Checked<ConsolidationParams>,
        pool: Box<dyn Pool>,
        x: Rows<'_>,
    ) -> Result<Self, Error> {
        check_rows(x, pool.n_inputs())?;
        let mut learner = Self::new(params);
        learner.take_pool(pool, x);
        Ok(learner)
    }

    /// The parameters.
    pub fn params(&self) -> &ConsolidationParams {
        &self.params
    }

    /// The pool; none before the first task.
    pub fn pool(&self) -> Option<&dyn Pool> {
        self.pool.as_deref()
    }

    /// The memory: sums over all rows learned.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What a row is.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Says what a row is. What predicts learns of it with the next task.
    pub fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// The files that were learned or unlearned; rows that came from no file are in no ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The model that predicts; none before the first task.
    pub fn deployed(&self) -> Option<&Deployed> {
        self.deployed.as_ref()
    }

    /// How the learner changed in each task; of very many, those in the middle share an entry.
    pub fn task_growth(&self) -> &[TaskGrowth] {
        &self.growth
    }

    /// Adds rows to the memory, in bounded chunks; the very first rows make the pool. Predictions stay as
    /// they are until [`consolidate`](Self::consolidate).
    pub fn observe(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        self.check(x, y)?;
        if let Some((x, y)) = y.present_of(x) {
            return self.observe(x.rows(), &y);
        }
        self.prepare(x, y)?;
        self.add_while(x, y, &mut |_| Ok(()))
    }

    fn check(&self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        check_weighed_task(x, y, self.n_features(), growth::n_tasks(&self.growth) + 1)?;
        y.check_names()
    }

    /// Makes the pool from evenly spaced rows of the first task; does nothing if there is a pool.
    fn prepare(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        if self.pool.is_some() {
            return Ok(());
        }
        if stride(x.len(), POOL_ROWS) > 1 {
            let rows = places(x.len(), POOL_ROWS);
            return self.prepare(x.gather(&rows).rows(), &y.gather(&rows));
        }
        if let Some(weights) = y.weights() {
            let rows = weighed_places(weights, POOL_ROWS);
            return self.prepare(x.gather(&rows).rows(), &y.gather(&rows).unweighed());
        }
        let classes = self.memory.classes.clone().admit(y);
        let pool = self.make_pool(x, &classes)?;
        self.take_pool(pool, x);
        Ok(())
    }

    /// Begins a memory over a pool; `x` shows the scale of its outputs.
    fn take_pool(&mut self, pool: Box<dyn Pool>, x: Rows<'_>) {
        let standard = if self.params.private {
            Standard::nothing(pool.n_nodes())
        } else {
            let looked_at = x.gather(&places(x.len(), OUTPUT_ROWS));
            Standard::learn(pool.outputs(looked_at.rows(), Precision::F32).rows(), |v| v)
        };
        self.memory = Memory::new(pool.n_nodes(), standard).keeping(self.capacity(pool.n_inputs()));
        self.pool = Some(pool);
    }

    /// Number of rows of this width that are kept.
    fn capacity(&self, n_inputs: usize) -> usize {
        if self.params.private {
            return 0;
        }
        (2 * self.params.witnesses).min(KEPT_FLOATS / n_inputs.max(1))
    }

    /// Adds rows chunk by chunk until `go_on`, which is told how many were added, returns an error.
    pub(crate) fn add_while(
        &mut self,
        x: Rows<'_>,
        y: &Labels,
        go_on: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let places = self.memory.classes.admit(y);
        self.memory.widen();
        for lot in lots(x, &places, y) {
            self.add(&lot, 1.0);
            if is_stopped() {
                return Err(Error::Interrupted);
            }
            go_on(lot.x.len())?;
        }
        Ok(())
    }

    fn make_pool(&self, x: Rows<'_>, places: &[u32]) -> Result<Box<dyn Pool>, Error> {
        let task = FirstTask {
            x,
            places,
            image: self.params.image,
            seed: self.params.seed,
        };
        let spec = match &self.params.pool {
            Some(spec) => spec.clone(),
            None if self.params.private => private_pool(x.n_features()),
            None => default_pool(&task),
        };
        match self.params.nodes {
            Some(nodes) => spec.with_nodes(nodes).make(&task),
            None => spec.make(&task),
        }
    }

    /// Whether the pool was chosen here, for rows that are too wide to be nodes themselves.
    pub(crate) fn was_too_wide(&self) -> bool {
        let chosen = self.params.pool.is_none() && self.params.image.is_none();
        chosen && self.n_features().is_some_and(is_too_wide)
    }

    /// Adds rows (`sign` 1) or subtracts them (`sign` -1); then returns the first row that shows to be unknown, if any.
    pub(super) fn add(&mut self, lot: &Lot<'_>, sign: f64) -> Option<usize> {
        let pool = self.pool.as_ref()?;
        let mut h = pool.outputs(lot.x, self.params.precision);
        h.for_each_row(|row| self.memory.standard.apply(row));
        let weights = self.weights(lot);
        let evidence = Evidence {
            h: h.rows(),
            places: lot.places,
            weights: weights.as_deref(),
        };
        self.memory.add(&evidence, sign, self.params.precision);
        let of = |list: Option<&[f64]>, i: usize| list.map_or(1.0, |list| list[i]);
        let counts = |i: usize| (of(lot.copies, i), of(weights.as_deref(), i));
        if sign > 0.0 {
            self.memory.witnesses.add(lot.x, lot.places, counts);
            return None;
        }
        self.memory.witnesses.remove(lot.x, lot.places, counts)
    }

    /// What each row weighs in the sums: its own weight times that of its class; none when all are 1.
    fn weights(&self, lot: &Lot<'_>) -> Option<Vec<f64>> {
        let Some(of_class) = self.class_weights() else {
            return lot.copies.map(<[f64]>::to_vec);
        };
        let of_class = lot.places.iter().map(|&place| of_class[place as usize]);
        Some(match lot.copies {
            Some(copies) => of_class
                .zip(copies)
                .map(|(weight, copies)| weight * copies)
                .collect(),
            None => of_class.collect(),
        })
    }

    /// Weight of a row of each class; none when all weights are 1.
    fn class_weights(&self) -> Option<Vec<f64>> {
        let named = &self.params.class_weights;
        let weight = |name: &String| named.get(name).copied().unwrap_or(1.0);
        (!named.is_empty()).then(|| self.memory.classes.names().iter().map(weight).collect())
    }

    /// Learns one task that arrives in batches, and returns its number of rows. `batches` is called once, or
    /// twice when the first task is so large that the pool is made from only part of it. The model is the
    /// same one that [`learn`](Learner::learn) makes of these rows in one piece.
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
        let mut n_rows = 0;
        let mut go_on = watched(observer, None);
        let mut chunks = Chunks::new(SUMMED_TOGETHER);
        for batch in batches()? {
            let (x, y) = batch?;
            next.check(x.rows(), &y)?;
            n_rows += y.present().count();
            chunks.push(x.rows(), &y, |x, y| next.add_while(x, y, &mut go_on))?;
        }
        chunks.flush(|x, y| next.add_while(x, y, &mut go_on))?;
        drop(go_on);
        if n_rows == 0 {
            let task = growth::n_tasks(&self.growth) + 1;
            return Err(Error::EmptyTask { task }.into());
        }
        next.consolidate()?;
        *self = next;
        self.tell(observer);
        Ok(n_rows)
    }

    /// Makes the pool from rows that arrive in batches, or from evenly spaced ones among them, without
    /// learning anything: the pool is the one that learning these rows would have made.
    pub fn begin<E, B>(&mut self, batches: B, observer: &mut dyn Observer) -> Result<(), E>
    where
        E: From<Error>,
        B: Iterator<Item = Result<(Table, Labels), E>>,
    {
        let (x, y) = self.sample(batches, POOL_ROWS, observer)?.into_rows()?;
        self.check(x.rows(), &y)?;
        Ok(self.prepare(x.rows(), &y)?)
    }

    /// Takes at most `limit` evenly spaced rows.
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

    /// A copy with faded memory for the beginning of a task; `self` stays intact if the task fails.
    pub(crate) fn faded(&self) -> Self {
        let mut next = self.clone();
        if next.params.fading < 1.0 {
            next.memory.fade(next.params.fading);
        }
        next
    }

    fn tell(&self, observer: &mut dyn Observer) {
        observer.grown(&Step {
            task: growth::n_tasks(&self.growth).saturating_sub(1),
            nodes: self.recruited.len(),
            max_nodes: self.recruited.len(),
            residual: None,
        });
    }

    /// Recruits nodes and solves the readout from the current memory; this ends a task.
    pub fn consolidate(&mut self) -> Result<(), Error> {
        if self.memory.classes.is_empty() {
            return Err(Error::NothingLearned);
        }
        if !self.memory.is_finite() {
            return Err(Error::SumsNotFinite);
        }
        let before = self.recruited.len();
        let ended = self.recruit();
        let deployed = self.read_out()?;
        self.growth.push(TaskGrowth {
            task: growth::n_tasks(&self.growth) + 1,
            tasks: 1,
            rows: self.memory.n_rows(),
            classes: self.memory.classes.len(),
            new_classes: self.new_classes(),
            recruited: self.recruited.len() - before,
            nodes: self.recruited.len(),
            ended,
            ridge: deployed.readout.ridge,
        });
        growth::fold(&mut self.growth);
        self.deployed = Some(deployed);
        Ok(())
    }

    /// Classes of the memory that the model does not predict yet, sorted: the order of rows within a task
    /// does not count.
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
        self.memory.gram.settle();
        let limits = Limits {
            max_nodes,
            r: self.params.r,
            expected_gain: self.params.expected_gain,
        };
        let (mut nodes, ended) = forward::recruit(&self.memory, &self.recruited, limits);
        if nodes.is_empty() {
            // No node tells these rows apart, but a model needs at least one.
            nodes.push(0);
        }
        self.recruited = nodes;
        Some(ended)
    }

    /// Number of nodes that may be recruited so far; none when the whole pool is read.
    fn node_limit(&self) -> Option<usize> {
        let n_classes = self.memory.classes.len();
        let by_class = self.params.nodes_per_class.map(|n| n.saturating_mul(n_classes));
        let limit = self.params.max_nodes.into_iter().chain(by_class).min()?;
        Some(limit).filter(|&limit| limit < self.memory.n_nodes())
    }

    /// The model that reads the recruited nodes.
    pub(super) fn read_out(&mut self) -> Result<Deployed, Error> {
        self.memory.gram.settle_factor();
        let pool = self.recruited_pool(self.pool.as_deref().ok_or(Error::NothingLearned)?);
        if self.n_changes().is_none() {
            let witnesses = self.memory.witnesses.in_use().len();
            let (n_nodes, n_classes) = (self.recruited.len(), self.memory.classes.len());
            cost::check(n_nodes, self.memory.gram.n_directions(), n_classes, witnesses)?;
        }
        let solution = if self.memory.witnesses.in_use().is_empty() {
            self.by_sums()
        } else {
            self.followed(&*pool).or_else(|| self.solved_anew(&*pool))
        };
        let params = &self.params;
        let Solution {
            readout,
            calibration,
            unknown,
        } = solution.filter(|_| !is_stopped()).ok_or_else(|| {
            if is_stopped() {
                return Error::Interrupted;
            }
            Error::NotSolvable {
                place: "the readout".to_owned(),
                ridge: params.ridge.unwrap_or(params.shrinkage),
            }
        })?;
        Ok(Deployed {
            readout,
            pool,
            calibration,
            unknown,
            classes: self.memory.classes.clone(),
            input: self.input.clone(),
        })
    }

    /// Number of changes of rank one that the readout has followed since it was solved from nothing; none if the next one
    /// must be, too.
    pub fn n_changes(&self) -> Option<usize> {
        self.warm.n_changes(&self.memory.pending)
    }

    /// Solves the readout from the memory alone, whatever it was before, and from all entries of G: the slow truth that
    /// readouts of small steps and of few rows follow. With `ridge`, the constant is not looked for.
    pub fn solve_from_nothing(&mut self, ridge: Option<f64>) -> Result<(), Error> {
        let given = self.params.ridge;
        self.memory.gram.fill();
        // What copies share stays theirs.
        self.warm = Slot::default();
        self.memory.pending = Pending::default();
        self.params.set(|params| params.ridge = ridge.or(given));
        let deployed = self.read_out();
        self.params.set(|params| params.ridge = given);
        self.deployed = Some(deployed?);
        Ok(())
    }

    /// The readout of sums alone.
    fn by_sums(&mut self) -> Option<Solution> {
        self.memory.gram.settle();
        let (params, before) = (&self.params, self.deployed.as_ref());
        let ridge = before.map(|before| before.readout.ridge);
        let centred = Centred::new(&self.memory, &self.recruited);
        Some(Solution {
            readout: centred.readout(params.readout, params.ridge, params.shrinkage, ridge)?,
            calibration: before.map_or_else(Calibration::default, |d| d.calibration.clone()),
            unknown: None,
        })
    }

    /// The readout that follows from the last one; none if too much has changed since.
    fn followed(&mut self, pool: &dyn Pool) -> Option<Solution> {
        if !self.reads_whole_pool() {
            return None;
        }
        let mut warm = self.warm.take(&self.memory.pending)?;
        let changes = self.memory.pending.changes()?;
        let outputs = |rows: &[&Witness]| self.comparable(outputs_of(pool, rows, self.params.precision));
        let solution = warm.follow(&self.memory, self.wanted(), changes, outputs)?;
        go_on()?;
        self.memory.pending = self.warm.put(warm);
        Some(solution)
    }

    /// The readout solved from nothing.
    fn solved_anew(&mut self, pool: &dyn Pool) -> Option<Solution> {
        self.memory.gram.settle();
        let wanted = Wanted {
            ridge: self.params.ridge.or_else(|| self.kept_ridge()),
            ..self.wanted()
        };
        // What was followed so far is of no more use, and as large as what is about to be made.
        self.warm.clear();
        let (solution, warm) = self.solve(pool, wanted)?;
        go_on()?;
        self.memory.pending = warm.map_or_else(Pending::default, |warm| self.warm.put(warm));
        Some(solution)
    }

    /// The ridge constant of the last readout, if what has changed since is too little to look for another one.
    fn kept_ridge(&self) -> Option<f64> {
        let (more, last) = (self.memory.pending.n_rows()?, self.deployed.as_ref()?);
        let blended = last.readout.blend.is_some();
        let n_rows = self.memory.n_rows();
        let few = is_followed(self.params.readout, self.memory.n_nodes(), n_rows - more, n_rows);
        (blended && few && self.reads_whole_pool()).then_some(last.readout.ridge)
    }

    fn reads_whole_pool(&self) -> bool {
        self.recruited.len() == self.memory.n_nodes() && self.recruited.is_sorted()
    }

    /// Solves the readout from nothing; also what the next one may follow from.
    fn solve(&self, pool: &dyn Pool, wanted: Wanted) -> Option<(Solution, Option<Warm>)> {
        let centred = Centred::new(&self.memory, &self.recruited);
        let witnesses = self.memory.witnesses.in_use();
        let rows: Vec<&Witness> = witnesses.iter().collect();
        let h = outputs_of(pool, &rows, self.params.precision);
        let (solution, left) = centred.solve(wanted, witnesses, h.rows())?;
        let left = left.filter(|_| self.reads_whole_pool());
        let warm =
            left.and_then(|left| Warm::new(left, self.wanted(), &self.memory, &centred, self.comparable(h)));
        Some((solution, warm))
    }

    /// Makes ready for small steps: after loading a model, the first one would otherwise be solved from nothing.
    pub fn warm_up(&self) {
        let Some(last) = self.deployed.as_ref().filter(|last| last.unknown.is_some()) else {
            return;
        };
        let is_ready = self.n_changes().is_some() || self.memory.pending.n_rows() != Some(0.0);
        if is_ready || !self.reads_whole_pool() {
            return;
        }
        let wanted = Wanted {
            ridge: Some(last.readout.ridge),
            ..self.wanted()
        };
        if let Some((_, Some(warm))) = self.solve(&*last.pool, wanted)
            && !is_stopped()
        {
            self.warm.put_for(&self.memory.pending, warm);
        }
    }

    /// Node outputs as the memory sums them.
    fn comparable(&self, mut h: Table) -> Table {
        h.for_each_row(|row| self.memory.standard.apply(row));
        h
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            kind: self.params.readout,
            ridge: self.params.ridge,
            shrinkage: self.params.shrinkage,
            prior: self.params.prior,
            precision: self.params.precision,
        }
    }

    /// `pool` reduced to the recruited nodes.
    pub(crate) fn recruited_pool(&self, pool: &dyn Pool) -> Box<dyn Pool> {
        if self.reads_whole_pool() {
            pool.boxed()
        } else {
            pool.select(&self.recruited)
        }
    }

    /// Merges in everything that another learner over the same pool has learned.
    pub fn merge(&mut self, other: &Consolidation) -> Result<(), Error> {
        self.merge_all(&[other], None)
    }

    /// Merges in everything that others over the same pool have learned, with one solve for all of them. What
    /// each of them had learned from `base`, the model that all began from, is left out.
    pub fn merge_all(
        &mut self,
        others: &[&Consolidation],
        base: Option<&Consolidation>,
    ) -> Result<(), Error> {
        let mut next = self.clone();
        for other in others {
            self.check_merge(other)?;
            match base {
                Some(base) => next.take_in(&other.without(base)?)?,
                None => next.take_in(other)?,
            }
        }
        if !next.memory.classes.is_empty() {
            next.consolidate()?;
        }
        *self = next;
        Ok(())
    }

    /// Adds the sums, files and recruited nodes of another learner over the same pool.
    fn take_in(&mut self, other: &Consolidation) -> Result<(), Error> {
        self.ledger.check_apart(&other.ledger)?;
        self.ledger.enter_all(&other.ledger);
        self.memory.combine(&other.memory, 1.0)?;
        let new = other
            .recruited
            .iter()
            .filter(|node| !self.recruited.contains(node));
        let new: Vec<usize> = new.copied().collect();
        self.recruited.extend(new);
        Ok(())
    }

    /// Refuses another learner that could not have been taught what it says: what is merged in meets the checks of
    /// what is learned.
    pub(crate) fn check_merge(&self, other: &Consolidation) -> Result<(), Error> {
        self.check_pool(other)?;
        other.memory.check()
    }

    /// Refuses another learner whose sums cannot be added to these.
    pub(crate) fn check_pool(&self, other: &Consolidation) -> Result<(), Error> {
        let reason = if !same_origin(self.input.origin.as_ref(), other.input.origin.as_ref()) {
            "their rows come from different backbones"
        } else if self.pool != other.pool || self.memory.standard != other.memory.standard {
            "they were made from different seeds, parameters or first tasks"
        } else if have_other_names(&self.input, &other.input) {
            "their features have different names, or the same in another order"
        } else {
            return Ok(());
        };
        Err(Error::DifferentPools {
            reason: reason.to_owned(),
        })
    }

    /// Renames a class; everything that was learned about it stays.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error> {
        self.memory.classes.rename(from, to)?;
        if let Some(deployed) = &mut self.deployed
            && deployed.classes.place(from).is_some()
        {
            deployed.classes.rename(from, to)?;
        }
        let named = self.growth.iter_mut().flat_map(|task| &mut task.new_classes);
        named
            .filter(|name| *name == from)
            .for_each(|name| to.clone_into(name));
        self.ledger.rename_class(from, to);
        self.params.set(|params| {
            if let Some(weight) = params.class_weights.remove(from) {
                params.class_weights.insert(to.to_owned(), weight);
            }
        });
        Ok(())
    }
}

/// Node outputs of witnesses.
fn outputs_of(pool: &dyn Pool, witnesses: &[&Witness], precision: Precision) -> Table {
    let rows = witnesses.iter().flat_map(|witness| witness.row.iter().copied());
    let rows = Table::from_whole_rows(rows.collect(), pool.n_inputs());
    pool.outputs(rows.rows(), precision)
}

/// Reports the number of rows added to the observer, and stops if it asks to; `of` is the total, where known.
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

impl Learner for Consolidation {
    fn name(&self) -> &'static str {
        "consolidation"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        self.check(x, y)?;
        if let Some((x, y)) = y.present_of(x) {
            return self.learn(x.rows(), &y, observer);
        }
        self.memory.gram.make_room(x.len());
        let mut next = self.faded();
        next.prepare(x, y)?;
        next.add_while(x, y, &mut watched(observer, Some(x.len())))?;
        next.consolidate()?;
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
        self.pool.as_ref().map(|pool| pool.n_inputs())
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
