//! The search for groups: a space, a tree cut where held-back classes come back, and a mixture that begins with what was cut.

use std::collections::BTreeMap;

use super::held_back::{LEAST, Laid, typical_size};
use super::mixture::{Fitted, Mixture, sharpness};
use super::space::{Space, to_unit_length};
use super::table;
use super::tree::{Seat, Tree};
use crate::consolidation::{Consolidation, Witness};
use crate::math::Matrix;

/// A group that is so much smaller than others usually are is none.
const DWARF: f32 = 0.1;

/// What the search is about.
pub(super) struct Search<'a> {
    pub learner: &'a Consolidation,
    /// Rows that may be unknown.
    pub sample: &'a [Witness],
    /// Share of them that is new.
    pub new: f32,
}

/// What was found.
pub(super) struct Outcome {
    pub space: Space,
    pub mixture: Mixture,
    /// Rows of the sample in each group, the largest group first.
    pub members: Vec<Vec<usize>>,
    /// Places of the rows of the sample.
    pub rows: Matrix<f32>,
    /// Places of kept rows, by known class.
    pub kept: Vec<Matrix<f32>>,
}

impl Search<'_> {
    /// Searches; none if there is nothing to be found, or the work is stopped.
    pub fn outcome(&self) -> Option<Outcome> {
        let space = self.space()?;
        let n_features = self.learner.pool()?.n_inputs();
        let rows = space.places(table(self.sample, n_features).rows());
        let weights: Vec<f32> = self.sample.iter().map(|row| row.copies as f32).collect();
        let tree = Tree::grow(&rows, &weights, &space.known)?;
        let kept = self.learner.memory().witnesses().kept();
        let of_class = |class: usize| {
            let rows = kept.iter().filter(|row| row.place as usize == class);
            space.places(table(rows, n_features).rows())
        };
        let laid = Laid {
            rows: &rows,
            weights: &weights,
            known: &space.known,
            kept: (0..space.known.n_cols()).map(of_class).collect(),
            seed: self.learner.params().seed,
        };
        let seats = tree.cut(laid.cost(&tree)?);
        let mixture = Mixture::new(
            &space.known,
            &centres(&rows, &weights, &seats),
            sharpness(&space.known, &laid.kept),
        );
        let mixture = mixture.fit(&Fitted {
            rows: &rows,
            weights: &weights,
            new: self.new,
            least: (DWARF * typical_size(&seats, &weights)?).max(LEAST as f32),
        });
        let mut members: Vec<(usize, Vec<usize>)> = members(&mixture.groups_of(&rows)).into_iter().collect();
        members.retain(|(_, rows)| rows.len() >= LEAST);
        members.sort_by_key(|(group, rows)| (std::cmp::Reverse(rows.len()), *group));
        let (order, members): (Vec<usize>, Vec<Vec<usize>>) = members.into_iter().unzip();
        let (mixture, kept) = (mixture.select(&order), laid.kept);
        Some(Outcome {
            space,
            mixture,
            members,
            rows,
            kept,
        })
    }

    /// The space, in which known rows show where classes lie apart, too: as many as there are others, at most.
    fn space(&self) -> Option<Space> {
        let kept = self.learner.memory().witnesses().kept();
        let both = self.sample.iter().chain(kept.iter().take(self.sample.len()));
        Space::of(self.learner, table(both, self.learner.pool()?.n_inputs()).rows())
    }
}

/// The rows of each group that has any.
fn members(groups: &[Option<(usize, f32)>]) -> BTreeMap<usize, Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate() {
        if let Some((group, _)) = group {
            members.entry(*group).or_default().push(row);
        }
    }
    members
}

/// The means of groups that are large enough, a column of length 1 each.
fn centres(rows: &Matrix<f32>, weights: &[f32], seats: &[Seat]) -> Matrix<f32> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, seat) in seats.iter().enumerate() {
        if let Seat::Group(group) = *seat {
            groups.entry(group).or_default().push(row);
        }
    }
    let mut centres = Matrix::zeros(rows.n_rows(), 0);
    for members in groups.values().filter(|members| members.len() >= LEAST) {
        let mut sum = vec![0.0; rows.n_rows()];
        for &row in members {
            let pairs = sum.iter_mut().zip(rows.col(row));
            pairs.for_each(|(sum, v)| *sum += weights[row] * v);
        }
        centres.push(&sum);
    }
    to_unit_length(&mut centres);
    centres
}
