//! A neural unit: the nodes that one task recruited, their output weights and their activation threshold.
//!
//! [`NeuralUnit::grow`] is the training half of the paper's algorithm: draw → judge → join → refit until a
//! termination criterion holds. [`Reactivation`](crate::Reactivation) holds the units and wakes them.

use serde::{Deserialize, Serialize};

use super::gate::Gate;
use super::least_squares::StepwiseFit;
use super::params::ReactivationParams;
use super::recruit::{EarlierNodes, Recruits, Source, Vacancy, recruit};
use super::screen::HEATS;
use super::threshold::{REST, threshold};
use crate::error::Error;
use crate::learner::{Observer, Step};
use crate::math::{Matrix, View, add_product, alone, is_stopped, product};
use crate::math::{Random, Stream};
use crate::pool::Activation;
use crate::pool::{NodeId, Nodes};

/// The nodes of one task and their readout.
#[derive(Clone, Debug, PartialEq)]
pub struct NeuralUnit {
    /// Classes of the unit, as indices into the learner's list.
    pub classes: Vec<u32>,
    /// Former layers, the first one on the rows themselves.
    pub layers: Vec<Layer>,
    /// Output weights, `(n_nodes of the last layer, n_classes)`.
    pub readout: Matrix<f32>,
    /// threshold(t), Eq. (threshold_t).
    pub threshold: f64,
    /// What the unit knows its rows by; none if it wakes by its threshold.
    pub gate: Option<Gate>,
    /// How the unit grew.
    pub growth: Growth,
}

/// A former layer: own nodes, then borrowed ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Nodes that this unit recruited from random candidates.
    pub own: Nodes,
    /// Nodes of earlier units that this one uses too (first layer only).
    pub borrowed: Vec<NodeId>,
}

/// How a unit grew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Task, from 1.
    pub task: usize,
    /// Names of the unit's classes.
    pub classes: Vec<String>,
    /// Number of rows that the unit was trained on.
    pub training_rows: usize,
    /// Number of validation rows.
    pub validation_rows: usize,
    /// threshold(t).
    pub threshold: f64,
    /// How each former layer grew.
    pub layers: Vec<LayerGrowth>,
}

/// How one layer grew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerGrowth {
    /// Number of nodes at the end.
    pub nodes: usize,
    /// Why growth ended.
    pub stopped: Stop,
    /// Every join, in order.
    pub joins: Vec<Join>,
}

/// One join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Join {
    /// Number of nodes after the join.
    pub nodes: usize,
    /// |e| / |Y| on the training rows.
    pub residual: f64,
    /// Fraction of training rows predicted correctly.
    pub accuracy: f64,
    /// |e| / |Y| on the validation rows, if there are any.
    pub validation_residual: Option<f64>,
    /// λ of the batch that joined; none for nodes of earlier units.
    pub scope: Option<f32>,
    /// The r under which the batch passed.
    pub r: f64,
    /// Number of batches that passed under this r, of those judged on all rows.
    pub passed: usize,
}

/// Why growth ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The layer has L_max nodes.
    #[default]
    NodeLimit,
    /// The expected accuracy R was reached.
    ExpectedAccuracy,
    /// The residual on the validation rows had stopped falling; later joins were taken back.
    ValidationResidual,
    /// Every training row is fitted exactly.
    Fitted,
    /// No batch passed the supervisory mechanism, however far r was relaxed.
    NoCandidate,
}

/// What a unit learns from: rows and one-hot targets, some of them kept for validation.
pub struct Lesson<'a> {
    /// Task, from 0.
    pub task: usize,
    /// What the unit's random numbers are named after.
    pub name: usize,
    /// Number of features of the task's rows.
    pub n_inputs: usize,
    /// The inputs that are not zero on every row; rows contain only these.
    pub inputs: Vec<usize>,
    /// Training rows, `(n_samples, inputs.len())`.
    pub x: View<'a, f32>,
    /// Targets of the training rows, `(n_samples, n_classes)`.
    pub y: Matrix<f64>,
    /// Validation rows; there may be none.
    pub x_validation: View<'a, f32>,
    /// Targets of the validation rows.
    pub y_validation: Matrix<f64>,
}

impl NeuralUnit {
    /// Grows a unit from scratch for `lesson`, after the `earlier` units; returns its outputs Ŷ on the training rows, too.
    pub fn grow(
        lesson: &Lesson<'_>,
        classes: Vec<u32>,
        class_names: Vec<String>,
        earlier: &[NeuralUnit],
        params: &ReactivationParams,
        observer: &mut dyn Observer,
    ) -> Result<(Self, Matrix<f32>), Error> {
        let mut layers: Vec<Layer> = Vec::new();
        let mut records = Vec::new();
        let mut hidden: Option<(Matrix<f32>, Matrix<f32>)> = None;
        let mut readout = Matrix::zeros(0, lesson.y.n_cols());
        for depth in 0..params.layers {
            let rows = match &hidden {
                None => LayerRows {
                    n_inputs: lesson.n_inputs,
                    inputs: lesson.inputs.clone(),
                    train: lesson.x,
                    validation: lesson.x_validation,
                },
                Some((train, validation)) => LayerRows {
                    n_inputs: train.n_cols(),
                    inputs: (0..train.n_cols()).collect(),
                    train: train.view(),
                    validation: validation.view(),
                },
            };
            let reusable = if params.reuse && depth == 0 { earlier } else { &[] };
            let growing = GrowingLayer::new(lesson, depth, rows, reusable, params);
            let grown = growing.grow(observer)?;
            hidden = Some((grown.outputs, grown.outputs_validation));
            readout = grown.weights.to_f32();
            layers.push(grown.layer);
            records.push(grown.record);
        }
        let outputs = hidden.map(|(train, _)| product(train.view(), readout.view()));
        let outputs = outputs.unwrap_or_else(|| Matrix::zeros(0, lesson.y.n_cols()));
        let threshold = threshold(&outputs);
        let growth = Growth {
            task: lesson.task + 1,
            classes: class_names,
            training_rows: lesson.y.n_rows(),
            validation_rows: lesson.y_validation.n_rows(),
            threshold,
            layers: records,
        };
        let unit = Self {
            classes,
            layers,
            readout,
            threshold,
            gate: None,
            growth,
        };
        Ok((unit, outputs))
    }

    /// Ŷ for rows `x`, `(n_samples, n_classes)`; `earlier` are the units before this one.
    pub fn outputs(&self, x: View<'_, f32>, earlier: &[NeuralUnit]) -> Matrix<f32> {
        let mut hidden: Option<Matrix<f32>> = None;
        for layer in &self.layers {
            hidden = Some(layer.outputs(hidden.as_ref().map_or(x, Matrix::view), earlier));
        }
        product(hidden.as_ref().map_or(x, Matrix::view), self.readout.view())
    }

    /// Number of nodes the unit owns.
    pub fn n_nodes(&self) -> usize {
        self.layers.iter().map(|layer| layer.own.len()).sum()
    }

    /// Number of floats the unit stores: weights, biases, readout, threshold and gate.
    pub fn n_floats(&self) -> usize {
        let gate = self.gate.as_ref().map_or(0, Gate::n_floats);
        let layers = self
            .layers
            .iter()
            .map(|layer| layer.own.weights.values().len() + layer.own.len());
        layers.sum::<usize>() + self.readout.values().len() + 1 + gate
    }
}

impl Layer {
    /// Outputs of own and borrowed nodes, `(n_samples, n_nodes)`.
    fn outputs(&self, x: View<'_, f32>, earlier: &[NeuralUnit]) -> Matrix<f32> {
        let mut outputs = self.own.outputs(x);
        outputs.append(
            &named_nodes(earlier, &self.borrowed, x.n_cols())
                .map_or_else(|| Matrix::zeros(x.n_rows(), 0), |borrowed| borrowed.outputs(x)),
        );
        outputs
    }
}

/// Copies of the first-layer nodes with the given names.
fn named_nodes(units: &[NeuralUnit], ids: &[NodeId], n_inputs: usize) -> Option<Nodes> {
    let first = units.first()?.layers.first()?;
    let mut nodes = Nodes::none(n_inputs, first.own.activation);
    for id in ids {
        let own = &units[id.unit as usize].layers[0].own;
        nodes.append(&own.slice(id.node as usize, id.node as usize + 1));
    }
    (!nodes.is_empty()).then_some(nodes)
}

/// All first-layer nodes of earlier units as candidates.
fn earlier_nodes(units: &[NeuralUnit], n_inputs: usize, g: Activation) -> EarlierNodes {
    let ids: Vec<NodeId> = units
        .iter()
        .enumerate()
        .flat_map(|(unit, u)| (0..u.layers[0].own.len()).map(move |node| (unit as u32, node as u32)))
        .map(|(unit, node)| NodeId { unit, node })
        .collect();
    EarlierNodes {
        joined: vec![false; ids.len()],
        nodes: named_nodes(units, &ids, n_inputs).unwrap_or_else(|| Nodes::none(n_inputs, g)),
        ids,
    }
}

/// A layer that has grown.
struct Grown {
    layer: Layer,
    /// Output weights, `(n_nodes, n_classes)`.
    weights: Matrix<f64>,
    /// Outputs of the nodes on the training rows and on the validation rows.
    outputs: Matrix<f32>,
    outputs_validation: Matrix<f32>,
    record: LayerGrowth,
}

/// The inputs of the nodes of a layer: all `n_inputs`, or only those that are not zero on every row.
struct LayerRows<'a> {
    n_inputs: usize,
    inputs: Vec<usize>,
    /// `(n_samples, inputs.len())`.
    train: View<'a, f32>,
    validation: View<'a, f32>,
}

/// A layer while it grows.
struct GrowingLayer<'a> {
    lesson: &'a Lesson<'a>,
    params: &'a ReactivationParams,
    rows: LayerRows<'a>,
    units: &'a [NeuralUnit],
    earlier: EarlierNodes,
    random: Random,
    fit: StepwiseFit,
    own: Nodes,
    /// The earlier node behind each column of the fit, in the order of joining; none for own nodes.
    columns: Vec<Option<NodeId>>,
    /// Outputs on the training and on the validation rows, in the order of joining.
    a: Matrix<f32>,
    a_validation: Matrix<f32>,
    joins: Vec<Join>,
}

impl LayerRows<'_> {
    /// Outputs of `nodes` on the validation rows.
    fn watched(&self, nodes: &Nodes) -> Matrix<f32> {
        nodes.over(&self.inputs).outputs(self.validation)
    }
}

impl<'a> GrowingLayer<'a> {
    fn new(
        lesson: &'a Lesson<'a>,
        depth: usize,
        rows: LayerRows<'a>,
        units: &'a [NeuralUnit],
        params: &'a ReactivationParams,
    ) -> Self {
        let stream = Stream::Candidates {
            task: lesson.name,
            layer: depth,
        };
        Self {
            lesson,
            params,
            units,
            earlier: earlier_nodes(units, rows.n_inputs, params.activation),
            random: Random::new(params.seed, stream),
            fit: StepwiseFit::new(lesson.y.clone()),
            own: Nodes::none(rows.n_inputs, params.activation),
            columns: Vec::new(),
            a: Matrix::zeros(rows.train.n_rows(), 0),
            a_validation: Matrix::zeros(rows.validation.n_rows(), 0),
            joins: Vec::new(),
            rows,
        }
    }

    /// Draw → judge → join → refit, until a termination criterion holds.
    fn grow(mut self, observer: &mut dyn Observer) -> Result<Grown, Error> {
        let mut weights = Matrix::zeros(0, self.lesson.y.n_cols());
        let stopped = loop {
            if observer.interrupted() || is_stopped() {
                return Err(Error::Interrupted);
            }
            if let Some(stop) = self.finished() {
                break stop;
            }
            let l = self.params.step_size.min(self.params.l_max - self.fit.n_nodes());
            // On a thread of the pool, the many small parallel parts of a step begin at once, without a handover. Products
            // between these parts are too small to be divided.
            let Some(refitted) = rayon::scope(|_| alone(|| self.take_step(l)))? else {
                break Stop::NoCandidate;
            };
            weights = refitted;
            observer.grown(&self.step());
        };
        if self.joins.is_empty() {
            return Err(Error::NothingRecruited {
                task: self.lesson.task + 1,
            });
        }
        if stopped == Stop::ValidationResidual {
            self.take_back_to_best();
            weights = self.refit()?;
        }
        let record = LayerGrowth {
            nodes: self.fit.n_nodes(),
            stopped,
            joins: self.joins.clone(),
        };
        Ok(self.own_first(&weights, record))
    }

    /// Takes one step of growth and returns the new weights; none when no batch passes.
    fn take_step(&mut self, l: usize) -> Result<Option<Matrix<f64>>, Error> {
        let Some(recruits) = self.draw_and_judge(l) else {
            return Ok(None);
        };
        self.join(&recruits);
        let weights = self.refit()?;
        self.take_note(&recruits, &weights);
        Ok(Some(weights))
    }

    fn draw_and_judge(&mut self, l: usize) -> Option<Recruits> {
        let vacancy = Vacancy {
            params: self.params,
            heats: if self.params.screening { &HEATS } else { &[] },
            x: self.rows.train,
            inputs: &self.rows.inputs,
            n_inputs: self.rows.n_inputs,
            e: self.fit.residual(),
            n_nodes: self.fit.n_nodes(),
            l,
        };
        recruit(&vacancy, &mut self.random, &self.earlier)
    }

    fn join(&mut self, recruits: &Recruits) {
        self.fit.append(&recruits.outputs.to_f64());
        self.a.append(&recruits.outputs);
        match &recruits.source {
            Source::Drawn(nodes) => {
                self.columns.extend((0..nodes.len()).map(|_| None));
                self.a_validation.append(&self.rows.watched(nodes));
                self.own.append(nodes);
            }
            Source::Earlier(places) => {
                let ids = &self.earlier.ids[places.clone()];
                self.columns.extend(ids.iter().copied().map(Some));
                if let Some(nodes) = named_nodes(self.units, ids, self.rows.n_inputs) {
                    self.a_validation.append(&self.rows.watched(&nodes));
                }
                self.earlier.joined[places.clone()].fill(true);
            }
        }
    }

    fn refit(&self) -> Result<Matrix<f64>, Error> {
        let ridge = self.params.ridge;
        self.fit.weights(ridge).ok_or_else(|| Error::NotSolvable {
            place: format!("unit {}", self.lesson.task + 1),
            ridge,
        })
    }

    fn take_note(&mut self, recruits: &Recruits, weights: &Matrix<f64>) {
        let lesson = self.lesson;
        self.joins.push(Join {
            nodes: self.fit.n_nodes(),
            residual: relative_norm(self.fit.residual(), &lesson.y),
            accuracy: accuracy(self.fit.residual(), &lesson.y),
            validation_residual: self.validation_residual(weights),
            scope: recruits.scope,
            r: recruits.verdict.r,
            passed: recruits.verdict.passed,
        });
    }

    fn validation_residual(&self, weights: &Matrix<f64>) -> Option<f64> {
        let y = &self.lesson.y_validation;
        (y.n_rows() > 0).then(|| {
            let mut e = y.clone();
            add_product(&mut e, -1.0, self.a_validation.to_f64().view(), weights.view());
            relative_norm(&e, y)
        })
    }

    /// The criterion that holds, if any.
    fn finished(&self) -> Option<Stop> {
        let last = self.joins.last()?;
        if last.residual < 1e-9 {
            Some(Stop::Fitted)
        } else if last.accuracy >= self.params.expected_accuracy {
            Some(Stop::ExpectedAccuracy)
        } else if self.joins.len() - self.best_join() > self.params.patience {
            Some(Stop::ValidationResidual)
        } else if last.nodes >= self.params.l_max {
            Some(Stop::NodeLimit)
        } else {
            None
        }
    }

    /// Number of joins when the validation residual was lowest; all joins when there is no validation.
    fn best_join(&self) -> usize {
        let watched = self
            .joins
            .iter()
            .enumerate()
            .filter_map(|(i, join)| Some((i + 1, join.validation_residual?)));
        let lowest = watched.min_by(|a, b| a.1.total_cmp(&b.1));
        lowest.map_or(self.joins.len(), |(joins, _)| joins)
    }

    fn take_back_to_best(&mut self) {
        let n_nodes = self.joins[self.best_join() - 1].nodes;
        self.fit.truncate(n_nodes);
        self.columns.truncate(n_nodes);
        self.a.truncate(n_nodes);
        self.a_validation.truncate(n_nodes);
        self.own
            .truncate(self.columns.iter().filter(|borrowed| borrowed.is_none()).count());
    }

    /// The layer with own nodes before borrowed ones.
    fn own_first(self, weights: &Matrix<f64>, record: LayerGrowth) -> Grown {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by_key(|&k| self.columns[k].is_some());
        Grown {
            weights: Matrix::from_fn(order.len(), weights.n_cols(), |i, c| weights[(order[i], c)]),
            outputs: self.a.gather(order.iter().copied()),
            outputs_validation: self.a_validation.gather(order.iter().copied()),
            layer: Layer {
                borrowed: self.columns.into_iter().flatten().collect(),
                own: self.own,
            },
            record,
        }
    }

    fn step(&self) -> Step {
        Step {
            task: self.lesson.task,
            nodes: self.fit.n_nodes(),
            max_nodes: self.params.l_max,
            residual: self.joins.last().map(|join| join.residual),
        }
    }
}

fn relative_norm(e: &Matrix<f64>, y: &Matrix<f64>) -> f64 {
    let norm = |m: &Matrix<f64>| m.values().iter().map(|v| v * v).sum::<f64>().sqrt();
    norm(e) / norm(y)
}

/// Fraction of rows whose highest fitted value, Y - e, is where the target is one. A single class must beat the rest.
fn accuracy(e: &Matrix<f64>, y: &Matrix<f64>) -> f64 {
    let fitted = |i, c| y[(i, c)] - e[(i, c)];
    let right = (0..y.n_rows()).filter(|&i| {
        let best = (1..y.n_cols()).fold(0, |best, c| if fitted(i, c) > fitted(i, best) { c } else { best });
        y[(i, best)] == 1.0 && (y.n_cols() > 1 || fitted(i, best) > f64::from(REST))
    });
    right.count() as f64 / y.n_rows() as f64
}
