//! The memory of consolidation: sums over all rows ever learned, and a bounded sample of these rows.
//!
//! H = g(XW + b) of the pool gives G += HᵀH, Q[:, c] += Σ h and n_c += count. A sum does not depend on the
//! order of tasks, batches or rows; two memories merge by addition, and rows are unlearned by subtraction.

use rayon::prelude::*;

use crate::data::{ClassList, Rows};
use crate::error::Error;
use crate::math::Matrix;
use crate::math::vectorised;
use crate::params::Precision;
use crate::pool::Standard;

use super::gram::Gram;
use super::pending::{Change, Pending};
use super::witness::Witnesses;

/// How far rounding may push a non-negative quantity below zero, relative to its former value.
pub(super) const SLACK: f64 = 1e-4;

/// What rounding may leave of a number of rows after all of them, `taken`, were taken away, whatever they weighed.
pub(super) fn slack(taken: f64) -> f64 {
    SLACK.min(1e-8 * taken.abs())
}

/// Sums over all rows learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// G = Σ h hᵀ.
    pub(crate) gram: Gram,
    /// Q = Σ h by class, `(n_nodes, n_classes)`.
    pub(crate) moments: Matrix<f64>,
    /// n, by class.
    pub(crate) counts: Vec<f64>,
    /// The classes.
    pub(crate) classes: ClassList,
    /// What made node outputs comparable before they were summed, from the first task; it keeps
    /// single-precision products accurate, and lets one ridge constant suit all nodes.
    pub(crate) standard: Standard,
    /// Some of the rows, by which answers are judged.
    pub(crate) witnesses: Witnesses,
    /// What has changed since the sums were last read out.
    pub(crate) pending: Pending,
}

/// Comparable node outputs of some rows, the place of each row's class, and the weights of the rows.
pub struct Evidence<'a> {
    /// Node outputs, `(n_samples, n_nodes)`.
    pub h: Rows<'a>,
    /// Place of each row's class.
    pub places: &'a [u32],
    /// Weight of each row, if not all are 1.
    pub weights: Option<&'a [f64]>,
}

impl Memory {
    /// An empty memory over a pool of `n_nodes` whose outputs `standard` makes comparable. It keeps no rows.
    pub fn new(n_nodes: usize, standard: Standard) -> Self {
        Self {
            standard,
            pending: Pending::default(),
            witnesses: Witnesses::new(0),
            gram: Gram::zeros(n_nodes),
            moments: Matrix::zeros(n_nodes, 0),
            counts: Vec::new(),
            classes: ClassList::default(),
        }
    }

    /// The same memory, empty, of the same kind.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.n_nodes(), self.standard.clone()).keeping(self.witnesses.capacity())
    }

    /// Keeps up to `capacity` rows besides the sums.
    #[must_use]
    pub(crate) fn keeping(mut self, capacity: usize) -> Self {
        self.witnesses = Witnesses::new(capacity);
        self
    }

    /// The rows that are kept.
    pub fn witnesses(&self) -> &Witnesses {
        &self.witnesses
    }

    /// Number of nodes of the pool.
    pub fn n_nodes(&self) -> usize {
        self.gram.n_nodes()
    }

    /// The classes, in order of arrival.
    pub fn classes(&self) -> &ClassList {
        &self.classes
    }

    /// n, by class.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Q, `(n_nodes, n_classes)`.
    pub fn moments(&self) -> &Matrix<f64> {
        &self.moments
    }

    /// G.
    pub fn gram(&self) -> &Gram {
        &self.gram
    }

    /// N, the number of rows learned.
    pub fn n_rows(&self) -> f64 {
        // A sum of nothing would be -0.
        self.counts.iter().fold(0.0, |sum, count| sum + count)
    }

    /// Number of floats kept: G, Q, n, two per node that make it comparable, and the witnesses.
    pub fn n_floats(&self) -> usize {
        let sums =
            self.gram.n_floats() + 2 * self.n_nodes() + self.moments.values().len() + self.counts.len();
        sums + self.witnesses.n_floats()
    }

    /// Whether nothing has overflowed. If an entry of G is infinite, so is one on its diagonal.
    pub(crate) fn is_finite(&self) -> bool {
        let diagonal = self.gram.diagonal();
        diagonal
            .into_iter()
            .chain(self.moments.values().iter().copied())
            .all(f64::is_finite)
    }

    /// Refuses sums that no rows have: a class without a name, or without rows.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for (class, &count) in self.classes.names().iter().zip(&self.counts) {
            if class.trim().is_empty() {
                return Err(Error::NoClassName);
            }
            if count <= 0.0 {
                let reason = format!("class '{class}' has {count} rows");
                return Err(Error::NeverLearned { reason });
            }
        }
        Ok(())
    }

    /// Makes room for newly admitted classes.
    pub(crate) fn widen(&mut self) {
        let missing = self.classes.len() - self.moments.n_cols();
        self.moments.append(&Matrix::zeros(self.n_nodes(), missing));
        self.counts.resize(self.classes.len(), 0.0);
    }

    /// Adds rows (`sign` 1) or subtracts them (`sign` -1).
    pub(crate) fn add(&mut self, evidence: &Evidence<'_>, sign: f64, precision: Precision) {
        self.add_moments(evidence, sign);
        self.take_note(evidence, sign);
        let roots = evidence.weights.map(|weights| weights.iter().map(|w| w.sqrt()));
        let roots: Option<Vec<f64>> = roots.map(Iterator::collect);
        self.gram.add(evidence.h, roots.as_deref(), sign, precision);
    }

    /// Remembers the rows, if they are few.
    fn take_note(&mut self, evidence: &Evidence<'_>, sign: f64) {
        if !self.pending.has_room_for(evidence.h.len(), self.n_nodes()) {
            return self.pending.give_up();
        }
        for (i, (h, &place)) in evidence.h.iter().zip(evidence.places).enumerate() {
            self.pending.push(Change::Row {
                h: h.to_vec(),
                place: place as usize,
                weight: sign * evidence.weights.map_or(1.0, |weights| weights[i]),
            });
        }
    }

    /// Q and n, class by class: the rows of a class are summed in order, however many threads there are.
    fn add_moments(&mut self, evidence: &Evidence<'_>, sign: f64) {
        let mut rows_of = vec![Vec::new(); self.counts.len()];
        for (i, (h, &place)) in evidence.h.iter().zip(evidence.places).enumerate() {
            let factor = sign * evidence.weights.map_or(1.0, |weights| weights[i]);
            rows_of[place as usize].push((h, factor));
        }
        let n_nodes = self.n_nodes().max(1);
        for (count, rows) in self.counts.iter_mut().zip(&rows_of) {
            *count += rows.iter().map(|(_, factor)| factor).sum::<f64>();
        }
        let moments = self.moments.values_mut().par_chunks_mut(n_nodes);
        moments.zip(rows_of).for_each(|(moment, rows)| {
            vectorised(
                #[inline(always)]
                || {
                    for &(h, factor) in &rows {
                        let sums = moment.iter_mut().zip(h);
                        sums.for_each(|(sum, &v)| *sum += factor * f64::from(v));
                    }
                },
            );
        });
    }

    /// Lets old evidence fade: everything counts for `factor` of what it did.
    pub(crate) fn fade(&mut self, factor: f64) {
        self.pending.give_up();
        self.gram.scale(factor);
        let values = self.moments.values_mut().iter_mut().chain(&mut self.counts);
        values.for_each(|v| *v *= factor);
        self.witnesses.fade(factor);
    }

    /// Adds another memory over the same pool (`sign` 1) or subtracts it (`sign` -1).
    pub(crate) fn combine(&mut self, other: &Memory, sign: f64) -> Result<(), Error> {
        if other.n_nodes() != self.n_nodes() {
            let reason = format!("{} and {} nodes", self.n_nodes(), other.n_nodes());
            return Err(Error::DifferentPools { reason });
        }
        self.pending.give_up();
        let places: Vec<u32> = other
            .classes
            .names()
            .iter()
            .map(|name| self.classes.admit_one(name))
            .collect();
        self.widen();
        self.gram.combine(&other.gram, sign);
        for (c, &place) in places.iter().enumerate() {
            let moment = self.moments.col_mut(place as usize);
            moment
                .iter_mut()
                .zip(other.moments.col(c))
                .for_each(|(a, b)| *a += sign * b);
            self.counts[place as usize] += sign * other.counts[c];
        }
        self.witnesses.combine(&other.witnesses, &places, sign);
        Ok(())
    }

    /// Forgets a class. What its mean contributed to G is removed; its scatter around that mean cannot be
    /// told from the scatter of the others and stays.
    pub fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        let place = self
            .classes
            .place(name)
            .ok_or_else(|| self.classes.unknown(name))? as usize;
        let (moment, count) = (self.moments.col(place).to_vec(), self.counts[place]);
        if count > 0.0 {
            self.gram.subtract(&moment, count);
        }
        self.keep_classes(|c| c != place);
        Ok(())
    }

    /// Forgets the classes that have lost their last row since `before`, which knew the same classes.
    pub(crate) fn drop_emptied_classes(&mut self, before: &Memory) {
        let counts = self.counts.clone();
        self.keep_classes(|c| {
            let taken = before.counts[c] - counts[c];
            taken <= 0.0 || counts[c] > slack(taken)
        });
    }

    fn keep_classes(&mut self, stays: impl Fn(usize) -> bool) {
        let (kept, dropped): (Vec<usize>, Vec<usize>) = (0..self.classes.len()).partition(|&c| stays(c));
        // From the last one on, so that those before it keep their places.
        for &place in dropped.iter().rev() {
            self.pending.push(Change::Dropped(place, self.counts[place]));
        }
        self.witnesses.keep_classes(&kept);
        self.moments = self.moments.gather(kept.iter().copied());
        self.counts = kept.iter().map(|&c| self.counts[c]).collect();
        self.classes = kept.iter().map(|&c| self.classes.names()[c].clone()).collect();
    }
}
