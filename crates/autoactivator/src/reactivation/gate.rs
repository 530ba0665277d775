//! What a unit knows its own rows by, with `gate = density`: how likely it finds a row, and which of its classes.
//!
//! All units look at rows through the same nodes, the *view*, which comes from the seed alone: densities can be
//! compared only if they are those of the same outputs. A unit keeps the sums of its own rows and no others, so units
//! stay separate. Among its classes, the unit's own readout has a say, too.

use super::density::Density;
use super::params::ReactivationParams;
use super::scale::Losses;
use super::sums::ClassSums;
use crate::data::Rows;
use crate::math::{Matrix, Random, Stream};
use crate::pool::Nodes;

/// Rows of a class that are left out one by one, evenly spaced, to learn how far known rows are.
const LEFT_OUT: usize = 512;

/// Largest number of distances of known rows that a unit keeps.
const KNOWN: usize = 255;

/// Rows whose outputs are computed at a time.
const ROWS_TOGETHER: usize = 4800;

/// How much smaller the scope of the view is than that of candidates. Nodes that bend less tell densities better: on
/// held-out training rows of MNIST and FashionMNIST a half of the scope was better than all of it and than a fifth, and
/// on CIFAR-100 it made no difference.
const SCOPE_SHARE: f32 = 0.5;

/// The nodes that all units look through.
pub fn view(params: &ReactivationParams, n_features: usize) -> Nodes {
    let scope = SCOPE_SHARE * params.scopes[0];
    let mut random = Random::new(params.seed, Stream::View);
    Nodes::draw(
        &mut random,
        n_features,
        params.gate_nodes,
        scope,
        params.activation,
    )
}

/// What a unit knows its own rows by.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Sums of the outputs of the view, one per class.
    pub seen: Vec<ClassSums>,
    /// Sums of the unit's own outputs Ŷ on its training rows, one per class.
    pub said: Vec<ClassSums>,
    /// What rows that were left out showed.
    pub judged: Judged,
    views: Vec<Density>,
    readouts: Vec<Density>,
}

/// What rows showed that were left out one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// τ: the share of the view's nodes that are independent, judged by how much distances vary.
    pub independence: f64,
    /// What scales of the log-likelihoods cost among the classes of the unit.
    pub losses: Losses,
    /// d² of known rows, ascending.
    pub known: Vec<f32>,
}

/// The rows of a unit's task, and the place of each row's class among those of the unit.
pub struct TaskRows<'a> {
    /// Those that the unit was trained on.
    pub train: (Rows<'a>, &'a [usize]),
    /// Those that it was validated on.
    pub validation: (Rows<'a>, &'a [usize]),
}

/// What a unit finds about some rows.
pub struct Finding {
    /// max_c ln p(h | c): how likely the unit finds each row.
    pub likelihoods: Vec<f64>,
    /// d² to the class under which each row is likeliest.
    pub distances: Vec<f64>,
    /// Score of each class, `(n_samples, n_classes)`: that of the best one is the row's likelihood.
    pub scores: Matrix<f64>,
}

impl Default for Judged {
    /// No row was left out.
    fn default() -> Self {
        Self {
            independence: 1.0,
            losses: Losses::none(),
            known: Vec::new(),
        }
    }
}

impl Gate {
    /// Learns the rows of a unit's task; none if a density is not finite. `said` are the unit's outputs on its
    /// training rows.
    pub fn learn(view: &Nodes, task: &TaskRows<'_>, said: &Matrix<f32>) -> Option<Self> {
        let n_classes = said.n_cols();
        let mut seen = vec![ClassSums::new(view.len()); n_classes];
        for (x, codes) in [task.train, task.validation] {
            for (x, codes) in x.chunks(ROWS_TOGETHER).zip(codes.chunks(ROWS_TOGETHER)) {
                add(&mut seen, &view.outputs(x.into()), codes);
            }
        }
        let mut own = vec![ClassSums::new(n_classes); n_classes];
        add(&mut own, said, task.train.1);
        let mut gate = Self::from_sums(seen, own, Judged::default())?;
        gate.judge_left_out(view, task.train);
        Some(gate)
    }

    /// The gate with these sums; none if a density is not finite.
    pub fn from_sums(seen: Vec<ClassSums>, said: Vec<ClassSums>, judged: Judged) -> Option<Self> {
        Some(Self {
            views: Density::of_classes(&seen)?,
            readouts: Density::of_classes(&said)?,
            seen,
            said,
            judged,
        })
    }

    /// The gate without a class; none if a density is not finite.
    pub fn without_class(&self, c: usize) -> Option<Self> {
        let (mut seen, mut said) = (self.seen.clone(), self.said.clone());
        seen.remove(c);
        said.remove(c);
        said.iter_mut().for_each(|class| *class = class.without_output(c));
        Self::from_sums(seen, said, self.judged.clone())
    }

    /// Learns from rows that are left out how far known rows are, how much that varies, and how sure to be.
    ///
    /// ln d² of k independent outputs varies by 2/k. If outputs depend on each other, it varies as if there were only
    /// k = τ P of them.
    fn judge_left_out(&mut self, view: &Nodes, (x, codes): (Rows<'_>, &[usize])) {
        let (mut all, mut squares) = (Vec::new(), 0.0);
        for c in 0..self.views.len() {
            let rows: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == c).collect();
            let h = view.outputs(x.gather(&evenly(&rows, LEFT_OUT)).rows().into());
            let distances = self.left_out(&h, c);
            let logs = || distances.iter().map(|d| (1.0 + d).ln());
            let mean = logs().sum::<f64>() / distances.len().max(1) as f64;
            squares += logs().map(|log| (log - mean).powi(2)).sum::<f64>();
            all.extend(distances.into_iter().map(|d| d as f32));
        }
        let variance = squares / all.len().max(1) as f64;
        if variance > 0.0 && variance.is_finite() {
            self.judged.independence = (2.0 / (view.len() as f64 * variance)).min(1.0);
        }
        all.sort_unstable_by(f32::total_cmp);
        self.judged.known = evenly(&all, KNOWN);
    }

    /// d² of rows of class `own` had they not been learned. What scales cost on them is added to the losses.
    fn left_out(&mut self, h: &Matrix<f32>, own: usize) -> Vec<f64> {
        let mut distances: Vec<Vec<f64>> = self.views.iter().map(|density| density.distances(h)).collect();
        let mut left_out = Vec::new();
        for i in 0..h.n_rows() {
            let Some(distance) = self.views[own].left_out(distances[own][i]) else {
                continue;
            };
            distances[own][i] = distance;
            let pairs = self.views.iter().zip(&distances);
            let likelihoods: Vec<f64> = pairs.map(|(view, d)| view.log_likelihood(d[i])).collect();
            self.judged.losses.add(&likelihoods, own);
            left_out.push(distance);
        }
        left_out
    }

    /// How much a difference of the unit's log-likelihoods counts.
    fn scale(&self) -> f64 {
        self.judged.losses.best().unwrap_or(self.judged.independence)
    }

    /// What the unit finds about rows with outputs `h` of the view and `y` of its own.
    pub fn find(&self, h: &Matrix<f32>, y: &Matrix<f32>) -> Finding {
        let (n_rows, n_classes) = (h.n_rows(), self.views.len());
        let distances: Vec<Vec<f64>> = self.views.iter().map(|density| density.distances(h)).collect();
        let said: Vec<Vec<f64>> = self.readouts.iter().map(|density| density.distances(y)).collect();
        let scale = self.scale();
        let mut finding = Finding {
            likelihoods: Vec::with_capacity(n_rows),
            distances: Vec::with_capacity(n_rows),
            scores: Matrix::zeros(n_rows, n_classes),
        };
        for i in 0..n_rows {
            let likely = |c: usize| self.views[c].log_likelihood(distances[c][i]);
            let both = |c: usize| scale * likely(c) + self.readouts[c].log_likelihood(said[c][i]);
            let best = (1..n_classes).fold(0, |best, c| if likely(c) > likely(best) { c } else { best });
            let highest = (0..n_classes).map(both).fold(f64::NEG_INFINITY, f64::max);
            finding.likelihoods.push(likely(best));
            finding.distances.push(distances[best][i]);
            for c in 0..n_classes {
                finding.scores[(i, c)] = likely(best) + (both(c) - highest) / scale;
            }
        }
        finding
    }

    /// Share of known rows that are at least this far: near 0 for a row that looks like none of them.
    pub fn share(&self, distance: f64) -> f32 {
        let closer = self
            .judged
            .known
            .partition_point(|&known| f64::from(known) < distance);
        (1 + self.judged.known.len() - closer) as f32 / (1 + self.judged.known.len()) as f32
    }

    /// Number of rows of the unit's task.
    pub fn n_rows(&self) -> f64 {
        self.seen.iter().map(|class| class.rows).sum()
    }

    /// Number of floats: sums, τ, losses and the distances of known rows.
    pub fn n_floats(&self) -> usize {
        let sums = self.seen.iter().chain(&self.said);
        sums.map(ClassSums::n_floats).sum::<usize>()
            + 1
            + self.judged.losses.values().len()
            + self.judged.known.len()
    }
}

/// Adds rows of outputs to the sums of their classes.
fn add(classes: &mut [ClassSums], outputs: &Matrix<f32>, codes: &[usize]) {
    for (c, sums) in classes.iter_mut().enumerate() {
        let of_class: Vec<usize> = (0..codes.len()).filter(|&i| codes[i] == c).collect();
        sums.add(outputs.gather_rows(&of_class).view());
    }
}

/// At most `n` of these values, evenly spaced.
fn evenly<T: Copy>(values: &[T], n: usize) -> Vec<T> {
    if values.len() <= n {
        return values.to_vec();
    }
    let at = |k: usize| ((k as f64 + 0.5) / n as f64 * values.len() as f64) as usize;
    (0..n).map(|k| values[at(k)]).collect()
}
