//! How much a join may cost before it joins different classes: found out on known classes that are held back.
//!
//! Some known classes are taken out, and rows of theirs, which the memory keeps, are laid among the unlabelled rows. At
//! the right cost, each of them comes back as a group of its own. A class of many rows is dearer to join than one of few, so
//! held-back classes are as large as the groups that this cost leaves.

use std::collections::HashMap;

use super::tree::{Seat, Tree};
use crate::math::{Matrix, Random, Stream};

/// Largest number of classes that are held back at a time, and of their rows.
const HELD_BACK: (usize, usize) = (20, 2048);

/// How often classes are held back.
const DRAWS: usize = 3;

/// How often sizes are adjusted, at most, and when they are near enough.
const ADJUSTED: usize = 4;
const NEAR: f32 = 1.15;

/// Number of costs that are tried.
const TRIED: usize = 48;

/// What may be missing from the best recovery for a cost to be as good.
const AS_GOOD: f64 = 0.02;

/// Fewer rows than this are no group.
pub(super) const LEAST: usize = 3;

/// Unlabelled rows, known classes, and rows of these.
pub(super) struct Laid<'a> {
    /// Places of unlabelled rows.
    pub rows: &'a Matrix<f32>,
    /// How often each of them came.
    pub weights: &'a [f32],
    /// Means of the known classes.
    pub known: &'a Matrix<f32>,
    /// Places of kept rows, by known class.
    pub kept: Vec<Matrix<f32>>,
    /// Seed of what is held back.
    pub seed: u64,
}

impl Laid<'_> {
    /// The cost up to which the joins of `tree`, which is of the unlabelled rows alone, are made; none if no class can be
    /// held back, or the work is stopped.
    pub fn cost(&self, tree: &Tree) -> Option<f32> {
        let enough: Vec<usize> = (0..self.kept.len())
            .filter(|&c| self.kept[c].n_cols() >= LEAST)
            .collect();
        let all: usize = enough.iter().map(|&c| self.kept[c].n_cols()).sum();
        let mut size = all as f32 / enough.len().max(1) as f32;
        let mut best = None;
        for _ in 0..ADJUSTED {
            let cost = self.recovering(&enough, size, tree)?;
            best = Some(cost);
            let found = typical_size(&tree.cut(cost), self.weights);
            let (before, now) = (size, found.unwrap_or(size / 2.0).max(LEAST as f32));
            size = (before * now).sqrt();
            if (now / before).max(before / now) < NEAR {
                break;
            }
        }
        best
    }

    /// The cost at which held-back classes of this size are recovered best.
    fn recovering(&self, enough: &[usize], size: f32, tree: &Tree) -> Option<f32> {
        let costs = tree.costs(TRIED);
        let n_held = (enough.len().min(self.kept.len() - 1) / 2).clamp(1, HELD_BACK.0);
        let mut random = Random::new(self.seed, Stream::HeldBack);
        let mut recovered = vec![0.0; costs.len()];
        for _ in 0..DRAWS {
            let mut order = enough.to_vec();
            random.shuffle(&mut order);
            order.truncate(n_held);
            let held = self.with(&order, size, &mut random);
            let tree = Tree::grow(&held.rows, &held.weights, &held.known)?;
            for (sum, &cost) in recovered.iter_mut().zip(&costs) {
                *sum += held.recovered(&tree.cut(cost));
            }
        }
        let best = recovered.iter().copied().fold(0.0, f64::max);
        let good = || {
            let all = costs.iter().zip(&recovered);
            all.filter(|(_, sum)| **sum >= best - AS_GOOD * DRAWS as f64)
        };
        let sum: f64 = good().map(|(cost, _)| f64::from(*cost).ln()).sum();
        Some((sum / good().count().max(1) as f64).exp() as f32)
    }

    /// With rows of these classes among the others, about `size` of each.
    fn with(&self, held: &[usize], size: f32, random: &mut Random) -> Held {
        let most = (HELD_BACK.1 / held.len()).max(LEAST);
        let (mut rows, mut weights) = (self.rows.clone(), self.weights.to_vec());
        let mut classes = Vec::new();
        for (class, &of) in held.iter().enumerate() {
            let kept = &self.kept[of];
            let mut order: Vec<usize> = (0..kept.n_cols()).collect();
            random.shuffle(&mut order);
            order.truncate((size.round() as usize).clamp(LEAST, most));
            let weight = size / order.len() as f32;
            weights.extend(order.iter().map(|_| weight));
            classes.extend(order.iter().map(|_| class));
            rows.append(&kept.gather(order));
        }
        let others = (0..self.known.n_cols()).filter(|c| !held.contains(c));
        Held {
            rows,
            weights,
            known: self.known.gather(others),
            classes,
        }
    }
}

/// Unlabelled rows, and after them rows of classes that are held back.
struct Held {
    rows: Matrix<f32>,
    weights: Vec<f32>,
    known: Matrix<f32>,
    /// Class of each row that was laid among the others.
    classes: Vec<usize>,
}

impl Held {
    /// The share of held-back rows that are in the group of their class: each class has one group, and each group one class.
    fn recovered(&self, seats: &[Seat]) -> f64 {
        let seats = &seats[seats.len() - self.classes.len()..];
        let mut together: HashMap<(usize, usize), usize> = HashMap::new();
        for (seat, &class) in seats.iter().zip(&self.classes) {
            if let Seat::Group(group) = *seat {
                *together.entry((class, group)).or_default() += 1;
            }
        }
        let mut pairs: Vec<((usize, usize), usize)> = together.into_iter().collect();
        pairs.sort_by_key(|&(pair, rows)| (std::cmp::Reverse(rows), pair));
        let (mut classes, mut groups, mut right) = (Vec::new(), Vec::new(), 0);
        for ((class, group), rows) in pairs {
            if !classes.contains(&class) && !groups.contains(&group) {
                classes.push(class);
                groups.push(group);
                right += rows;
            }
        }
        right as f64 / self.classes.len().max(1) as f64
    }
}

/// The median weight of groups; none if there are no groups. A mean would be that of the largest, which hold most rows: a
/// cost that is a little too high joins many groups into one, and would go on rising.
pub(super) fn typical_size(seats: &[Seat], weights: &[f32]) -> Option<f32> {
    let mut sizes: HashMap<usize, (usize, f32)> = HashMap::new();
    for (seat, weight) in seats.iter().zip(weights) {
        if let Seat::Group(group) = *seat {
            let size = sizes.entry(group).or_default();
            *size = (size.0 + 1, size.1 + weight);
        }
    }
    let groups = sizes.into_values().filter(|size| size.0 >= LEAST);
    let mut sizes: Vec<f32> = groups.map(|size| size.1).collect();
    sizes.sort_unstable_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied()
}
