//! A readout that follows from the last one, when few rows have come or gone.
//!
//! Every row changes the scatter by rank one, and now and then a node by its scale. So `inverse` keeps A⁻¹ up to date,
//! `whole` the distance from all rows, and `witnesses` what both make of witnesses. What remains is small: products of
//! classes and witnesses, from which the judgement is made as it is from nothing. All points are measured from an origin, the
//! mean of all rows at the time of the last solve from nothing, so that no difference of large numbers is needed.

mod inverse;
mod whole;
mod witnesses;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::centred::{Centred, deviations};
use super::judgement::{Judge, Solved};
use super::jury::Jury;
use super::newcomer::is_single;
use super::seen::Seen;
use super::solve::{Solution, Wanted, is_followed};
use crate::consolidation::memory::Memory;
use crate::consolidation::pending::Change;
use crate::consolidation::whitening::{Apart, Form, Whitening};
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::{Cholesky, Matrix, add_product, dot, product};
use inverse::{Inverse, Taken};
use whole::{Added, Whole};
use witnesses::{Block, Known, beside, lose, members};

/// Changes since the last solve from nothing, as a share of the number of nodes, before the next one.
const CHANGES: usize = 8;

/// As good as no rows.
const NO_ROWS: f64 = 1e-9;

/// The last readout, and what the next one needs of it.
pub struct Warm {
    wanted: Wanted,
    /// The ridge constant, relative and absolute.
    relative: f64,
    rho: f64,
    /// What node outputs are measured from.
    origin: Vec<f64>,
    /// Weights of the methods in use.
    methods: Vec<f64>,
    /// The factor that makes each node comparable.
    scale: Vec<f64>,
    inverse: Inverse,
    /// n and Σ h of each class.
    counts: Vec<f64>,
    sums: Matrix<f64>,
    /// A⁻¹ Σ h, and the products of both.
    solved: Matrix<f64>,
    inner: Matrix<f64>,
    witnesses: Vec<Known>,
    blocks: Vec<Block>,
    whole: Whole,
}

/// What a solve from nothing leaves.
pub struct Left {
    /// The ridge constant, relative and absolute.
    pub relative: f64,
    pub rho: f64,
    /// Weights of the methods in use.
    pub methods: Vec<f64>,
    pub factor: Cholesky<f64>,
    /// A⁻¹M of the class means M, and K.
    pub weights: Matrix<f64>,
    pub inner: Matrix<f64>,
    /// Evidence and lengths of the jury, and their products class by class.
    pub u: Matrix<f64>,
    pub lengths: Vec<f64>,
    pub blocks: Vec<Block>,
    pub apart: Apart,
}

impl Warm {
    /// From a solve from nothing; `h` are comparable node outputs of the witnesses in use. None if it is made anew each time.
    pub fn new(left: Left, wanted: Wanted, memory: &Memory, centred: &Centred, h: Table) -> Option<Self> {
        let counts = centred.counts.clone();
        let scale = centred.factors.clone();
        let means = centred.node_means();
        let origin: Vec<f64> = means
            .iter()
            .zip(&scale)
            .map(|(mean, scale)| mean / scale)
            .collect();
        let n = origin.len();
        let sums = Matrix::from_fn(n, counts.len(), |j, c| {
            memory.moments[(j, c)] - counts[c] * origin[j]
        });
        // Weights are of scaled nodes.
        let weights = centred.of_nodes(&left.weights);
        let solved = Matrix::from_fn(n, counts.len(), |j, c| weights[(j, c)] * scale[j] * counts[c]);
        let inner = Matrix::from_fn(counts.len(), counts.len(), |b, c| {
            left.inner[(b, c)] * counts[b] * counts[c]
        });
        let mut warm = Self {
            wanted,
            relative: left.relative,
            rho: left.rho,
            methods: left.methods,
            inverse: Inverse::new(left.factor, centred.span.clone(), left.rho, scale.clone()),
            whole: Whole::new(left.apart.whitening, centred.n_rows())?,
            origin,
            scale,
            sums,
            solved,
            inner,
            blocks: vec![Matrix::zeros(0, 0); counts.len()],
            counts,
            witnesses: Vec::new(),
        };
        let all = memory.witnesses.in_use();
        let h = Arc::new(h);
        let judged = Jury::new(&warm.counts, all, h.rows()).at;
        for (i, at) in judged.into_iter().enumerate() {
            let mut known = Known::new(&all[at], &h, at);
            known.length = left.lengths[i];
            known.apart = left.apart.lengths[i];
            known.across = (0..warm.counts.len())
                .map(|c| left.u[(i, c)] * warm.counts[c])
                .collect();
            warm.witnesses.push(known);
        }
        warm.blocks = left.blocks;
        warm.meet(memory, |witnesses| {
            let place = |witness: &&Witness| all.binary_search_by_key(&witness.key(), Witness::key).ok();
            h.rows()
                .gather(&witnesses.iter().filter_map(place).collect::<Vec<usize>>())
        });
        Some(warm)
    }

    /// The readout of the memory after some changes; `outputs` are comparable node outputs of witnesses. `None` if it does not
    /// follow from the last one: then it must be solved from nothing, and this is of no more use.
    pub fn follow(
        &mut self,
        memory: &Memory,
        wanted: Wanted,
        changes: &[Change],
        outputs: impl Fn(&[&Witness]) -> Table,
    ) -> Option<Solution> {
        let kept = is_followed(wanted.kind, self.origin.len(), self.n_rows(), memory.n_rows());
        if !kept || wanted != self.wanted || self.inverse.n_changes() * CHANGES > self.origin.len() {
            return None;
        }
        let rescaled = self.rescaled(memory);
        self.change(changes, &rescaled)?;
        self.meet(memory, outputs);
        self.read_out(memory)
    }

    /// Number of changes since the last solve from nothing.
    pub fn n_changes(&self) -> usize {
        self.inverse.n_changes()
    }

    fn n_rows(&self) -> f64 {
        self.counts.iter().sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The nodes whose scale has changed, and by how much the ridge on them has.
    fn rescaled(&mut self, memory: &Memory) -> Vec<(usize, f64)> {
        let nodes: Vec<usize> = (0..self.origin.len()).collect();
        let scale = deviations(memory, &nodes);
        let mut rescaled = Vec::new();
        for (j, (before, after)) in self.scale.iter_mut().zip(scale).enumerate() {
            if (*before - after).abs() > 1e-9 * after {
                rescaled.push((j, self.rho * (after.powi(-2) - before.powi(-2))));
                *before = after;
            }
        }
        rescaled
    }

    /// Follows changes of the sums, and of the ridge on some nodes.
    fn change(&mut self, changes: &[Change], rescaled: &[(usize, f64)]) -> Option<()> {
        let n = self.origin.len();
        let is_row = |change: &&Change| matches!(change, Change::Row { .. });
        let n_added = changes.iter().take_while(is_row).count();
        // Places of classes change when one is dropped.
        if changes[n_added..].iter().any(|change| is_row(&change)) {
            return None;
        }
        let (mut rows, mut places) = (Matrix::zeros(n, 0), Vec::new());
        for change in &changes[..n_added] {
            if let Change::Row { h, place, weight } = change {
                let h: Vec<f64> = h
                    .iter()
                    .zip(&self.origin)
                    .map(|(&h, o)| f64::from(h) - o)
                    .collect();
                rows.push(&h);
                places.push((*place, *weight));
            }
        }
        self.widen(places.iter().map(|(place, _)| place + 1).max().unwrap_or(0));
        let mut all: Vec<(Vec<f64>, f64)> = rows
            .cols()
            .zip(&places)
            .map(|(h, (_, w))| (h.to_vec(), *w))
            .collect();
        let (mut scatter, mut signs) = self.add(&rows, &places);
        for &(node, change) in rescaled {
            scatter.push(
                &(0..n)
                    .map(|j| if j == node { 1.0 } else { 0.0 })
                    .collect::<Vec<f64>>(),
            );
            signs.push(change);
        }
        // One pass over the factor serves both.
        let mut both = rows.clone();
        both.append(&scatter);
        let solved = self.inverse.solve(&both);
        self.follow_sums(&solved.columns(0, places.len()).to_matrix(), &places);
        self.follow_scatter(
            &scatter,
            solved.columns(places.len(), both.n_cols()).to_matrix(),
            &signs,
        )?;
        for change in &changes[n_added..] {
            if let Change::Dropped(place, _) = change {
                // To the scatter of all rows, a class without scatter is a row at its mean.
                let count = self.counts[*place];
                if count > NO_ROWS {
                    all.push((self.sums.col(*place).iter().map(|v| v / count).collect(), -count));
                }
                self.drop(*place);
            }
        }
        let added: Vec<Added<'_>> = all
            .iter()
            .map(|(h, weight)| Added { h, weight: *weight })
            .collect();
        self.whole
            .follow(&added, rescaled, &mut self.witnesses, &self.origin)
    }

    /// Makes room for classes.
    fn widen(&mut self, n_classes: usize) {
        let missing = n_classes.saturating_sub(self.counts.len());
        let (n, n_classes) = (self.origin.len(), self.counts.len() + missing);
        self.sums.append(&Matrix::zeros(n, missing));
        self.solved.append(&Matrix::zeros(n, missing));
        let before = self.counts.len();
        self.counts.resize(n_classes, 0.0);
        self.inner = Matrix::from_fn(n_classes, n_classes, |b, c| {
            if b.max(c) < before {
                self.inner[(b, c)]
            } else {
                0.0
            }
        });
        self.blocks.resize(n_classes, Matrix::zeros(0, 0));
        self.witnesses
            .iter_mut()
            .for_each(|known| known.across.resize(n_classes, 0.0));
    }

    /// Adds rows to the sums of their classes, and returns what that adds to the scatter around class means.
    fn add(&mut self, rows: &Matrix<f64>, places: &[(usize, f64)]) -> (Matrix<f64>, Vec<f64>) {
        let (mut scatter, mut signs) = (Matrix::zeros(rows.n_rows(), 0), Vec::new());
        for (h, &(place, weight)) in rows.cols().zip(places) {
            let count = self.counts[place];
            if count > NO_ROWS && count + weight > NO_ROWS {
                let apart = h.iter().zip(self.sums.col(place)).map(|(h, sum)| h - sum / count);
                scatter.push(&apart.collect::<Vec<f64>>());
                signs.push(weight * count / (count + weight));
            }
            add_times(self.sums.col_mut(place), weight, h);
            self.counts[place] += weight;
        }
        (scatter, signs)
    }

    /// Follows rows that were added to the sums; `solved` is A⁻¹ of each.
    fn follow_sums(&mut self, solved: &Matrix<f64>, places: &[(usize, f64)]) {
        let seen = beside(&self.witnesses, &self.origin, solved);
        for (t, &(place, weight)) in places.iter().enumerate() {
            add_times(self.solved.col_mut(place), weight, solved.col(t));
            for (known, seen) in self.witnesses.iter_mut().zip(seen.cols()) {
                known.across[place] += weight * seen[t];
            }
        }
        let touched: BTreeSet<usize> = places.iter().map(|(place, _)| *place).collect();
        let products = product(self.sums.t(), self.solved.gather(touched.iter().copied()).view());
        for (k, &c) in touched.iter().enumerate() {
            for b in 0..self.counts.len() {
                self.inner[(b, c)] = products[(b, k)];
                self.inner[(c, b)] = products[(b, k)];
            }
        }
    }

    /// Follows changes s v vᵀ of the scatter; `solved` is A⁻¹v of each v.
    fn follow_scatter(&mut self, changes: &Matrix<f64>, solved: Matrix<f64>, signs: &[f64]) -> Option<()> {
        let taken = Taken::new(changes, solved, signs)?;
        let along = taken.along(&self.sums);
        let weighed = taken.weighed(&along);
        add_product(&mut self.solved, -1.0, taken.z.view(), weighed.view());
        add_product(&mut self.inner, -1.0, along.t(), weighed.view());
        let seen = beside(&self.witnesses, &self.origin, &taken.z);
        lose(&mut self.witnesses, &mut self.blocks, &taken, &seen, &along);
        self.inverse.change(&taken);
        Some(())
    }

    /// Forgets a class; what its rows scatter stays.
    fn drop(&mut self, place: usize) {
        let kept: Vec<usize> = (0..self.counts.len()).filter(|&c| c != place).collect();
        self.counts.remove(place);
        self.sums = self.sums.gather(kept.iter().copied());
        self.solved = self.solved.gather(kept.iter().copied());
        self.inner = self.inner.gather(kept.iter().copied()).gather_rows(&kept);
        self.blocks.remove(place);
        self.witnesses.retain(|known| known.key.1 as usize != place);
        for known in &mut self.witnesses {
            known.across.remove(place);
            known.key.1 -= u32::from(known.key.1 as usize > place);
        }
        self.witnesses.sort_unstable_by_key(|known| known.key);
    }

    /// Takes note of which witnesses are in use now.
    fn meet(&mut self, memory: &Memory, outputs: impl Fn(&[&Witness]) -> Table) {
        let in_use = memory.witnesses.in_use();
        let stays = |known: &Known| in_use.binary_search_by_key(&known.key, Witness::key).is_ok();
        for (place, members) in members(&self.witnesses, self.blocks.len())
            .into_iter()
            .enumerate()
        {
            let kept = |k: &usize| stays(&self.witnesses[members[*k]]);
            let kept: Vec<usize> = (0..members.len()).filter(kept).collect();
            if kept.len() < members.len() {
                self.blocks[place] = self.blocks[place].gather(kept.iter().copied()).gather_rows(&kept);
            }
        }
        self.witnesses.retain(stays);
        let is_new = |witness: &&Witness| {
            self.witnesses
                .binary_search_by_key(&witness.key(), |k| k.key)
                .is_err()
        };
        let new: Vec<&Witness> = in_use.iter().filter(is_new).collect();
        if !new.is_empty() {
            let h = Arc::new(outputs(&new));
            let known = new.iter().enumerate();
            self.join(known.map(|(at, witness)| Known::new(witness, &h, at)).collect());
        }
    }

    /// Adds witnesses.
    fn join(&mut self, mut new: Vec<Known>) {
        self.whole.measure(&mut new, &self.origin);
        let n = self.origin.len();
        let h = Matrix::from_fn(n, new.len(), |j, t| f64::from(new[t].h()[j]) - self.origin[j]);
        let solved = self.inverse.solve(&h);
        let across = product(self.sums.t(), solved.view());
        for (t, mut known) in new.into_iter().enumerate() {
            known.length = dot(h.col(t), solved.col(t));
            known.across = across.col(t).to_vec();
            let place = known.key.1 as usize;
            let peers: Vec<&Known> = self.witnesses.iter().filter(|k| k.key.1 == known.key.1).collect();
            let at = peers.partition_point(|peer| peer.key < known.key);
            let apart = |peer: &Known| -> f64 {
                let h = peer.h().iter().zip(&self.origin).map(|(&h, o)| f64::from(h) - o);
                h.zip(solved.col(t)).map(|(h, x)| h * x).sum()
            };
            let products: Vec<f64> = peers.iter().map(|peer| apart(peer)).collect();
            let old = &self.blocks[place];
            let before = |i: usize| i - usize::from(i > at);
            self.blocks[place] = Matrix::from_fn(products.len() + 1, products.len() + 1, |i, j| {
                match (i == at, j == at) {
                    (true, true) => known.length,
                    (true, false) => products[before(j)],
                    (false, true) => products[before(i)],
                    (false, false) => old[(before(i), before(j))],
                }
            });
            let at = self.witnesses.partition_point(|k| k.key < known.key);
            self.witnesses.insert(at, known);
        }
    }

    /// Judges and reads out, as a solve from nothing does.
    fn read_out(&mut self, memory: &Memory) -> Option<Solution> {
        let n_rows = self.n_rows();
        let n_classes = self.counts.len();
        let each = |c: usize| self.counts[c].max(NO_ROWS);
        let ones = vec![1.0 / n_rows; n_classes];
        let of_mean: Vec<f64> = self.inner.cols().map(|column| dot(column, &ones)).collect();
        let squared = dot(&of_mean, &ones);
        let inner = Matrix::from_fn(n_classes, n_classes, |b, c| {
            self.inner[(b, c)] / (each(b) * each(c)) - of_mean[b] / each(b) - of_mean[c] / each(c) + squared
        });
        let at_mean = product(
            self.solved.view(),
            Matrix::from_fn(n_classes, 1, |c, _| ones[c]).view(),
        );
        let weights = Matrix::filled(self.origin.len(), n_classes, |j, c| {
            self.solved[(j, c)] / each(c) - at_mean[(j, 0)]
        });
        let mean = product(
            self.sums.view(),
            Matrix::from_fn(n_classes, 1, |c, _| ones[c]).view(),
        );
        let means = self
            .origin
            .iter()
            .zip(mean.values())
            .map(|(origin, mean)| origin + mean);
        let thin = Centred::of_means(means.collect(), self.counts.clone(), memory.standard.clone());
        let none = Table::from_whole_rows(Vec::new(), 1);
        let jury = Jury::new(&thin.counts, memory.witnesses.in_use(), none.rows());
        let places = jury.at.clone();
        if jury.witnesses.is_empty() {
            return None;
        }
        let of_witness: Vec<f64> = places
            .iter()
            .map(|&i| dot(&self.witnesses[i].across, &ones))
            .collect();
        let u = Matrix::filled(places.len(), n_classes, |i, c| {
            self.witnesses[places[i]].across[c] / each(c) - of_witness[i] - of_mean[c] / each(c) + squared
        });
        let lengths =
            (0..places.len()).map(|i| self.witnesses[places[i]].length - 2.0 * of_witness[i] + squared);
        let within = self.ranks();
        let ridge = super::evidence::inverse_with(&inner, &self.counts)?;
        // Only classes of one row ask for them.
        let is_asked = self.counts.iter().any(|&count| is_single(count));
        let of_classes = jury.of_each_class(n_classes).into_iter().enumerate();
        let blocks = of_classes.filter(|_| is_asked).map(|(c, rows)| {
            Matrix::from_fn(rows.len(), rows.len(), |i, j| {
                let (a, b) = (rows[i], rows[j]);
                let products = self.blocks[c][(within[places[a]], within[places[b]])];
                products - of_witness[a] - of_witness[b] + squared
            })
        });
        let seen = Seen {
            jury: &jury,
            counts: &self.counts,
            scatters: true,
            fitted: product(u.view(), ridge.view()),
            u,
            lengths: lengths.collect(),
            blocks: blocks.collect(),
            inner: &inner,
            ridge: &ridge,
        };
        let apart = Apart {
            lengths: places
                .iter()
                .map(|&i| self.whole.distance(&self.witnesses[i]))
                .collect(),
            whitening: Whitening {
                standard: thin.first_nodes(self.whole.n_nodes()),
                form: Form::Triangle(Arc::clone(&self.whole.whitening)),
            },
        };
        let judge = Judge {
            wanted: self.wanted,
            centred: &thin,
        };
        let judgement = judge.judge(&seen, Some(&apart), Some(&self.methods))?;
        let solved = Solved {
            weights,
            inner: &inner,
            ridge: &ridge,
        };
        let (readout, _) = judge.readout(&solved, &judgement, self.relative)?;
        drop(seen);
        self.methods.clone_from(&judgement.methods);
        judgement
            .unknown
            .is_some()
            .then(|| Solution::new(readout, judgement))
    }

    /// Which of the witnesses of its class each one is.
    fn ranks(&self) -> Vec<usize> {
        let mut so_far = vec![0; self.counts.len()];
        let rank = |known: &Known| {
            let rank = &mut so_far[known.key.1 as usize];
            *rank += 1;
            *rank - 1
        };
        self.witnesses.iter().map(rank).collect()
    }
}

fn add_times(to: &mut [f64], times: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += times * from);
}
