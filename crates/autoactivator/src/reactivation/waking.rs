//! Waking by density: the unit that finds a group of rows likeliest wakes up.
//!
//! `gate` says what one unit finds. Here units are compared: ln p(row | unit) = max_c ln p(h | c) is added up over the
//! rows of a group. Only the winner's own numbers decide its class, so a unit that is not the likeliest changes nothing.

use super::gate::{Finding, Gate};
use super::learner::{Awakening, Reactivation};
use super::scale::Losses;
use super::unit::NeuralUnit;
use crate::data::Rows;
use crate::math::{Matrix, softmax};
use crate::pool::Nodes;

/// Units with their gates, and the view that they look through.
pub struct Watch<'a> {
    view: &'a Nodes,
    all: &'a [NeuralUnit],
    gates: Vec<(&'a NeuralUnit, &'a Gate)>,
}

impl<'a> Watch<'a> {
    /// The watch of some units of a learner; none if they wake by thresholds.
    pub fn of(learner: &'a Reactivation, units: &[&'a NeuralUnit]) -> Option<Self> {
        let gates = units.iter().map(|&unit| Some((unit, unit.gate.as_ref()?)));
        Some(Self {
            view: learner.view.as_ref()?,
            all: &learner.units,
            gates: gates.collect::<Option<_>>()?,
        })
    }

    fn find(&self, x: Rows<'_>) -> Vec<Finding> {
        let h = self.view.outputs(x.into());
        let find = |(unit, gate): &(&NeuralUnit, &Gate)| gate.find(&h, &unit.outputs(x.into(), self.all));
        self.gates.iter().map(find).collect()
    }

    /// How much a difference of log-likelihoods counts: what costs least over all units together. If none of them has
    /// two classes to compare, τ of all units, weighted by their rows.
    fn scale(&self) -> f64 {
        let mut losses = Losses::none();
        self.gates
            .iter()
            .for_each(|(_, gate)| losses.merge(&gate.judged.losses));
        losses.best().unwrap_or_else(|| self.independence())
    }

    fn independence(&self) -> f64 {
        let weighted = self
            .gates
            .iter()
            .map(|(_, gate)| gate.n_rows() * gate.judged.independence);
        let rows: f64 = self.gates.iter().map(|(_, gate)| gate.n_rows()).sum();
        weighted.sum::<f64>() / rows.max(1.0)
    }

    /// Wakes the unit that finds the group likeliest. Thresholds are reported, but do not decide.
    pub fn wake(&self, group: Rows<'_>, by_threshold: Awakening) -> Awakening {
        let findings = self.find(group);
        let likelihoods: Vec<f64> = findings.iter().map(|f| f.likelihoods.iter().sum()).collect();
        let unit = highest(likelihoods.iter().copied());
        Awakening {
            unit,
            classes: (0..group.len())
                .map(|i| self.class(&findings, unit, i, |_| true))
                .collect(),
            likely: softmax(likelihoods.iter().copied(), self.scale()).collect(),
            likelihoods,
            ..by_threshold
        }
    }

    /// The class of each row, judged alone, among those that are `possible`.
    pub fn each_alone(&self, x: Rows<'_>, possible: impl Fn(u32) -> bool) -> Vec<u32> {
        let findings = self.find(x);
        let class = |i: usize| self.class(&findings, likeliest(&findings, i), i, &possible);
        (0..x.len()).map(class).collect()
    }

    /// The best of a unit's possible classes for row `i`.
    fn class(&self, findings: &[Finding], unit: usize, i: usize, possible: impl Fn(u32) -> bool) -> u32 {
        let (classes, scores) = (&self.gates[unit].0.classes, &findings[unit].scores);
        let among = (0..classes.len()).filter(|&c| possible(classes[c]));
        let best = among.reduce(|best, c| {
            if scores[(i, c)] > scores[(i, best)] {
                c
            } else {
                best
            }
        });
        classes[best.unwrap_or(0)]
    }

    /// The score of every class, `(n_samples, n_classes)`: the highest over all units that know it.
    pub fn scores(&self, x: Rows<'_>, n_classes: usize) -> Matrix<f64> {
        let mut scores = Matrix::from_fn(x.len(), n_classes, |_, _| f64::NEG_INFINITY);
        for ((unit, _), finding) in self.gates.iter().zip(self.find(x)) {
            for (c, &class) in unit.classes.iter().enumerate() {
                for i in 0..x.len() {
                    let known = &mut scores[(i, class as usize)];
                    *known = known.max(finding.scores[(i, c)]);
                }
            }
        }
        scores
    }

    /// The probability of every class, `(n_samples, n_classes)`: softmax(scale · scores).
    pub fn probabilities(&self, x: Rows<'_>, n_classes: usize) -> Matrix<f64> {
        let mut values = self.scores(x, n_classes);
        let scale = self.scale();
        for i in 0..x.len() {
            let row: Vec<f64> = (0..n_classes).map(|c| values[(i, c)]).collect();
            for (c, p) in softmax(row.iter().copied(), scale).enumerate() {
                values[(i, c)] = p;
            }
        }
        values
    }

    /// How well known each row is to the unit that finds it likeliest.
    pub fn known(&self, x: Rows<'_>) -> Vec<f32> {
        let findings = self.find(x);
        let share = |i: usize| {
            let unit = likeliest(&findings, i);
            self.gates[unit].1.share(findings[unit].distances[i])
        };
        (0..x.len()).map(share).collect()
    }
}

fn likeliest(findings: &[Finding], i: usize) -> usize {
    highest(findings.iter().map(|finding| finding.likelihoods[i]))
}

/// The place of the highest value; the first one on a tie.
fn highest(values: impl Iterator<Item = f64>) -> usize {
    let best = values
        .enumerate()
        .reduce(|best, one| if one.1 > best.1 { one } else { best });
    best.map_or(0, |(place, _)| place)
}
