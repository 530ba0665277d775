//! The paper's learner: it learns each task into a unit, and wakes the unit that fits a group of rows.

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::gate::{Gate, TaskRows, view};
use super::module::{Read, module};
use super::params::{GateKind, ReactivationParams, RepeatedClasses};
use super::split::Split;
use super::threshold::{confidence, threshold};
use super::unit::{Lesson, NeuralUnit};
use super::waking::Watch;
use crate::data::ClassList;
use crate::data::{Labels, Rows, check_rows, check_task};
use crate::error::Error;
use crate::learner::{Input, Learner, Observer, Size};
use crate::math::{Matrix, alone, argmax, argmax_among, softmax};
use crate::params::Checked;
use crate::pool::{Convolution, Nodes, Pool};

/// Rows that one thread predicts at a time.
const JUDGED_TOGETHER: usize = 256;

/// Gigabytes that the outputs of all candidates of a step may occupy.
const CANDIDATES_GB: usize = 8;

/// Weights that a view may have, 128 MB: 200 nodes over images of 224 x 224 pixels in colour, and a little more.
const VIEW_WEIGHTS: usize = 1 << 25;

/// The paper's learner.
#[derive(Clone, Debug, PartialEq)]
pub struct Reactivation {
    pub(crate) params: Checked<ReactivationParams>,
    pub(crate) n_features: Option<usize>,
    pub(crate) classes: ClassList,
    pub(crate) units: Vec<NeuralUnit>,
    /// The nodes that all units look through; none if they wake by thresholds, or before the first task.
    pub(crate) view: Option<Nodes>,
    /// What all units read images through; none if they read the features, or before the first task.
    pub(crate) module: Option<Convolution>,
    pub(crate) input: Input,
}

/// The unit that a group of rows woke, and the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Awakening {
    /// Index of the unit, from 0: the task identity.
    pub unit: usize,
    /// threshold~(t) for every unit: how sure the unit is of the group.
    pub given: Vec<f64>,
    /// |threshold(t) - threshold~(t)| for every unit, Eq. (threshold_dis).
    pub distances: Vec<f64>,
    /// With `gate = density`, ln p(group | unit) for every unit, up to a constant that all share; else empty.
    pub likelihoods: Vec<f64>,
    /// With `gate = density`, how likely each unit is the group's; else empty.
    pub likely: Vec<f64>,
    /// The class of each row, as an index into the learner's list.
    pub classes: Vec<u32>,
}

impl Reactivation {
    /// A learner that has seen nothing yet.
    pub fn new(params: Checked<ReactivationParams>) -> Self {
        Self {
            params,
            n_features: None,
            classes: ClassList::default(),
            units: Vec::new(),
            view: None,
            module: None,
            input: Input::default(),
        }
    }

    /// The parameters.
    pub fn params(&self) -> &ReactivationParams {
        &self.params
    }

    /// The units, one per task.
    pub fn units(&self) -> &[NeuralUnit] {
        &self.units
    }

    /// What a row is.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Says what a row is.
    pub fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// Renames a class; its units stay as they are.
    pub fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error> {
        self.classes.rename(from, to)?;
        let named = self.units.iter_mut().flat_map(|unit| &mut unit.growth.classes);
        named
            .filter(|name| *name == from)
            .for_each(|name| to.clone_into(name));
        Ok(())
    }

    /// Wakes the unit whose threshold is nearest to how sure it is of the group (Eq. threshold_dis), or, with
    /// `gate = density`, the one that finds the group likeliest.
    pub fn reactivate(&self, group: Rows<'_>) -> Result<Awakening, Error> {
        let read = self.read(group)?;
        let group = read.rows();
        let by_threshold = self.wake_by_threshold(group);
        Ok(match Watch::of(self, &self.all_units()) {
            Some(watch) => watch.wake(group, by_threshold),
            None => by_threshold,
        })
    }

    fn wake_by_threshold(&self, group: Rows<'_>) -> Awakening {
        let outputs = self.outputs(group, &self.all_units());
        let given: Vec<f64> = outputs.iter().map(threshold).collect();
        let pairs = self.units.iter().zip(&given);
        let distances: Vec<f64> = pairs
            .map(|(unit, given)| (unit.threshold - given).abs())
            .collect();
        let unit = nearest(distances.iter().copied());
        let classes = (0..group.len())
            .map(|i| self.units[unit].classes[argmax(&outputs[unit], i)])
            .collect();
        Awakening {
            unit,
            given,
            distances,
            likelihoods: Vec::new(),
            likely: Vec::new(),
            classes,
        }
    }

    /// The class of each row, judged as a group of one, among `units` and the classes that are `possible`.
    fn each_alone(&self, x: Rows<'_>, units: &[&NeuralUnit], possible: impl Fn(u32) -> bool) -> Vec<u32> {
        if let Some(watch) = Watch::of(self, units) {
            return watch.each_alone(x, possible);
        }
        let outputs = self.outputs(x, units);
        let class = |i| {
            let given = units.iter().zip(&outputs);
            let distances = given.map(|(unit, outputs)| (unit.threshold - confidence(outputs, i)).abs());
            let awake = nearest(distances);
            let classes = &units[awake].classes;
            let among = (0..classes.len()).filter(|&c| possible(classes[c]));
            classes[argmax_among(&outputs[awake], i, among).unwrap_or(0)]
        };
        (0..x.len()).map(class).collect()
    }

    /// Scores of every class, `(n_samples, n_classes)`, each row a group of one: the softmax of the class's
    /// unit, less one for every unit that would wake before it. With `gate = density`: how likely the class's unit finds
    /// the row, less what the class is behind the unit's best. The highest score is the class that `predict` returns.
    pub fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        let read = self.read(x)?;
        let x = read.rows();
        if let Some(watch) = Watch::of(self, &self.all_units()) {
            return Ok(watch.scores(x, self.classes.len()));
        }
        self.class_by_class(x, f64::NEG_INFINITY, |order, p| p - order as f64)
    }

    /// Probability of every class, `(n_samples, n_classes)`, each row a group of one: the softmax of the unit
    /// that wakes, and 0 for the classes of all other units. With `gate = density`: the softmax of all scores, at the
    /// scale that answers left-out rows best among the classes of their units.
    pub fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        let read = self.read(x)?;
        let x = read.rows();
        if let Some(watch) = Watch::of(self, &self.all_units()) {
            return Ok(watch.probabilities(x, self.classes.len()));
        }
        self.class_by_class(x, 0.0, |order, p| if order == 0 { p } else { 0.0 })
    }

    /// How well known each row is to the unit that finds it likeliest: the share of the unit's own rows that are at least
    /// as far from their class. None if units wake by thresholds, which cannot tell.
    pub fn known(&self, x: Rows<'_>) -> Result<Option<Vec<f32>>, Error> {
        let read = self.read(x)?;
        let x = read.rows();
        Ok(Watch::of(self, &self.all_units()).map(|watch| watch.known(x)))
    }

    /// The highest `value` of each class over all units, computed from the unit's rank in the order of waking
    /// and its softmax; `lowest` for a class that no unit has.
    fn class_by_class(
        &self,
        x: Rows<'_>,
        lowest: f64,
        value: impl Fn(usize, f64) -> f64,
    ) -> Result<Matrix<f64>, Error> {
        let outputs = self.outputs(x, &self.all_units());
        let mut values = Matrix::from_fn(x.len(), self.classes.len(), |_, _| lowest);
        for i in 0..x.len() {
            let distance = |u: usize| (self.units[u].threshold - confidence(&outputs[u], i)).abs();
            let mut order: Vec<usize> = (0..self.units.len()).collect();
            order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
            for (place, &u) in order.iter().enumerate() {
                let row = (0..outputs[u].n_cols()).map(|c| f64::from(outputs[u][(i, c)]));
                for (p, &class) in softmax(row, 1.0).zip(&self.units[u].classes) {
                    let known = &mut values[(i, class as usize)];
                    *known = known.max(value(place, p));
                }
            }
        }
        Ok(values)
    }

    fn outputs(&self, x: Rows<'_>, units: &[&NeuralUnit]) -> Vec<Matrix<f32>> {
        let of = |unit: &&NeuralUnit| unit.outputs(x.into(), &self.units);
        units.iter().map(of).collect()
    }

    fn all_units(&self) -> Vec<&NeuralUnit> {
        self.units.iter().collect()
    }

    /// Rows as units read them, refused if they are not like those learned.
    fn read<'a>(&self, x: Rows<'a>) -> Result<Read<'a>, Error> {
        self.check_predictable(x)?;
        Ok(Read::new(self.module.as_ref(), x))
    }

    /// Number of inputs of the units' nodes.
    pub(super) fn n_inputs(&self) -> usize {
        let features = self.n_features.unwrap_or(0);
        self.module.as_ref().map_or(features, |module| module.n_nodes())
    }

    fn check_predictable(&self, x: Rows<'_>) -> Result<(), Error> {
        check_rows(x, self.n_features.ok_or(Error::NothingLearned)?)
    }

    fn check_classes(&self, y: &Labels) -> Result<(), Error> {
        let counts = y.counts();
        let present = || y.names().iter().zip(&counts).filter(|(_, count)| **count > 0);
        if self.params.repeated_classes == RepeatedClasses::Refuse
            && let Some((class, task)) =
                present().find_map(|(name, _)| Some((name.clone(), self.task_of(name)?)))
        {
            return Err(Error::RepeatedClass { class, task });
        }
        if self.params.validation > 0.0
            && let Some((class, _)) = present().find(|(_, count)| **count < 2)
        {
            let class = class.clone();
            return Err(Error::TooFewRows { class, rows: 1 });
        }
        Ok(())
    }

    /// The convolution module of rows with `n_features` features; none if units read the features.
    pub(super) fn module_for(&self, n_features: usize) -> Result<Option<Convolution>, Error> {
        match &self.module {
            Some(module) => Ok(Some(module.clone())),
            None => module(&self.params, n_features),
        }
    }

    /// The view of rows with `n_inputs` values; none if units wake by thresholds.
    pub(crate) fn view_for(&self, n_inputs: usize) -> Option<Nodes> {
        let drawn = || self.view.clone().unwrap_or_else(|| view(&self.params, n_inputs));
        (self.params.gate == GateKind::Density).then(drawn)
    }

    /// Refuses a view that would be too large: its weights come from the seed, so nothing but this limit bounds what a
    /// few bytes of a model file can ask for.
    pub(super) fn check_view(&self, n_inputs: usize) -> Result<(), Error> {
        let nodes = self.params.gate_nodes;
        if self.params.gate == GateKind::Threshold || n_inputs.saturating_mul(nodes) <= VIEW_WEIGHTS {
            return Ok(());
        }
        Err(Error::Parameter {
            name: "gate_nodes".to_owned(),
            value: nodes.to_string(),
            allowed: format!(
                "nodes times features, here {n_inputs}, must be at most {VIEW_WEIGHTS}: give fewer nodes, or \
                 `gate = threshold`"
            ),
        })
    }

    /// Refuses candidates that would not fit into memory.
    fn check_candidates(&self, rows: usize) -> Result<(), Error> {
        let candidates = self.params.t_max.saturating_mul(self.params.step_size);
        if rows.saturating_mul(candidates).saturating_mul(size_of::<f32>()) <= CANDIDATES_GB << 30 {
            return Ok(());
        }
        Err(Error::TooManyCandidates {
            rows,
            candidates,
            limit_gb: CANDIDATES_GB,
        })
    }

    /// Changes how classes that an earlier task brought are treated.
    pub fn set_repeated_classes(&mut self, choice: RepeatedClasses) {
        self.params.set(|params| params.repeated_classes = choice);
    }

    /// What the random numbers of a unit are named after: its task or, with densities, its classes. Then a unit is the
    /// same whenever and wherever it is learned.
    fn name_of(&self, task: usize, classes: &[String]) -> usize {
        if self.params.gate == GateKind::Threshold {
            return task;
        }
        let hash = Sha256::digest(classes.join("\0"));
        hash.iter()
            .take(5)
            .fold(0, |name, &byte| name << 8 | usize::from(byte))
    }

    /// The first task that brought `class`, from 1.
    pub(super) fn task_of(&self, class: &str) -> Option<usize> {
        let place = self.classes.place(class)?;
        let unit = self.units.iter().position(|unit| unit.classes.contains(&place))?;
        Some(unit + 1)
    }
}

impl Learner for Reactivation {
    fn name(&self) -> &'static str {
        "reactivation"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, observer: &mut dyn Observer) -> Result<(), Error> {
        let task = self.units.len();
        check_task(x, y, self.n_features, task + 1)?;
        self.check_classes(y)?;
        self.check_candidates(x.len())?;
        let (n_features, module) = (x.n_features(), self.module_for(x.n_features())?);
        self.check_view(module.as_ref().map_or(n_features, |module| module.n_nodes()))?;
        let read = Read::new(module.as_ref(), x);
        let x = read.rows();
        let mut classes = self.classes.clone();
        let places = classes.admit(y);
        let members = distinct(&places);
        let names: Vec<String> = members
            .iter()
            .map(|&place| classes.names()[place as usize].clone())
            .collect();
        let name = self.name_of(task, &names);
        let codes: Vec<usize> = places
            .iter()
            .map(|place| members.partition_point(|m| m < place))
            .collect();
        let inputs = x.live_features();
        let split = Split::new(
            x,
            &inputs,
            &codes,
            members.len(),
            self.params.validation,
            self.params.seed,
            name,
        );
        let lesson = Lesson {
            task,
            name,
            n_inputs: x.n_features(),
            inputs,
            x: split.train.rows().into(),
            y: one_hot(&split.train_codes, members.len()),
            x_validation: split.validation.rows().into(),
            y_validation: one_hot(&split.validation_codes, members.len()),
        };
        let (mut unit, said) =
            NeuralUnit::grow(&lesson, members, names, &self.units, &self.params, observer)?;
        let view = self.view_for(x.n_features());
        if let Some(view) = &view {
            let task_rows = TaskRows {
                train: (split.train.rows(), &split.train_codes),
                validation: (split.validation.rows(), &split.validation_codes),
            };
            let gate = Gate::learn(&view.over(&lesson.inputs), &task_rows, &said);
            unit.gate = Some(gate.ok_or(Error::NoDensity { task: task + 1 })?);
        }
        self.view = view;
        self.units.push(unit);
        self.classes = classes;
        self.n_features = Some(n_features);
        self.module = module;
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn n_features(&self) -> Option<usize> {
        self.n_features
    }

    /// Each row is a group of one.
    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        self.check_predictable(x)?;
        let units = self.all_units();
        let read = |rows| Read::new(self.module.as_ref(), rows);
        let each_alone = |rows| self.each_alone(read(rows).rows(), &units, |_| true);
        if x.len() <= JUDGED_TOGETHER {
            // For a few rows, waking another thread would take longer than predicting.
            return Ok(each_alone(x));
        }
        let chunks: Vec<Rows<'_>> = x.chunks(JUDGED_TOGETHER).collect();
        let predicted: Vec<Vec<u32>> = chunks
            .into_par_iter()
            .map(|rows| alone(|| each_alone(rows)))
            .collect();
        Ok(predicted.concat())
    }

    fn predict_group(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        Ok(self.reactivate(x)?.classes)
    }

    /// Wakes only units that know one of these classes: given the classes of one task, that task's unit.
    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        self.check_predictable(x)?;
        let told: Vec<&NeuralUnit> = self
            .units
            .iter()
            .filter(|unit| unit.classes.iter().any(|class| among.contains(class)))
            .collect();
        if told.is_empty() {
            return Err(Error::NothingLearned);
        }
        let chunks: Vec<Rows<'_>> = x.chunks(JUDGED_TOGETHER).collect();
        let predicted: Vec<Vec<u32>> = chunks
            .into_par_iter()
            .map(|rows| {
                alone(|| {
                    let read = Read::new(self.module.as_ref(), rows);
                    self.each_alone(read.rows(), &told, |class| among.contains(&class))
                })
            })
            .collect();
        Ok(predicted.concat())
    }

    fn size(&self) -> Size {
        let view = self
            .view
            .as_ref()
            .map_or(0, |view| view.weights.values().len() + view.len());
        let filters = self.module.as_ref().map_or(0, Pool::n_floats);
        let convolved = self.module.as_ref().map_or(0, Pool::multiply_adds);
        let model_floats = view + filters + self.units.iter().map(NeuralUnit::n_floats).sum::<usize>();
        Size {
            nodes: self.units.iter().map(NeuralUnit::n_nodes).sum(),
            model_floats,
            memory_floats: 0,
            // Every weight is used once; a borrowed node is recomputed by the unit that borrows it.
            multiply_adds: model_floats - filters + convolved + self.borrowed_weights(),
        }
    }

    fn growth(&self) -> Vec<serde_json::Value> {
        let records = self.units.iter().map(|unit| serde_json::to_value(&unit.growth));
        records.filter_map(Result::ok).collect()
    }
}

impl Reactivation {
    fn borrowed_weights(&self) -> usize {
        let borrowed = |unit: &NeuralUnit| {
            unit.layers
                .iter()
                .map(|layer| layer.borrowed.len())
                .sum::<usize>()
        };
        self.units.iter().map(borrowed).sum::<usize>() * self.n_inputs()
    }
}

fn nearest(distances: impl Iterator<Item = f64>) -> usize {
    let closest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    closest.map_or(0, |(unit, _)| unit)
}

/// The distinct places, in ascending order.
fn distinct(places: &[u32]) -> Vec<u32> {
    let mut distinct = places.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

fn one_hot(codes: &[usize], n_classes: usize) -> Matrix<f64> {
    Matrix::from_fn(
        codes.len(),
        n_classes,
        |i, c| if codes[i] == c { 1.0 } else { 0.0 },
    )
}
