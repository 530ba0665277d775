//! What was found: groups, what they are like, and where any row belongs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::held_back::{LEAST, Laid};
use super::space::{Space, to_unit_length};
use super::tree::{Seat, Tree};
use super::{table, unknown_rows};
use crate::consolidation::{Consolidation, Witness};
use crate::data::Rows;
use crate::error::Error;
use crate::math::{Matrix, is_stopped, product};
use crate::model::Model;

/// A group that is so much smaller than others usually are is none.
const DWARF: f32 = 0.1;

/// How often rows may change their group.
const SETTLED: usize = 16;

/// Rows whose places are computed at a time.
const TOGETHER: usize = 4096;

/// Groups of rows that look like no known class, the largest first.
pub struct Groups<'a> {
    model: &'a Model,
    groups: Vec<Group>,
    /// None if there are no groups.
    space: Option<Space>,
    /// Means of the groups, a column of length 1 each.
    centres: Matrix<f32>,
}

/// What a group is like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The name it is proposed under, which no known class has: a class of that name would learn its rows.
    pub name: String,
    /// Number of rows of the sample that are in it.
    pub size: usize,
    /// How much alike its rows are: the mean cosine between a row and their mean. 1 if all are the same.
    pub tightness: f32,
    /// Half of its rows are stranger than all but this share of known rows.
    pub known: f32,
    /// The known class that is most like it.
    pub nearest: Nearest,
}

/// The known class that a group is most like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// Its name.
    pub class: String,
    /// The mean cosine between rows of the group and the mean of the class.
    pub likeness: f32,
    /// The same for rows of the class itself.
    pub own: f32,
}

/// Where a row belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The group; none if the row belongs to a known class, or to none at all.
    pub group: Option<usize>,
    /// The cosine between the row and the mean of its group; 0 if it is in none.
    pub likeness: f32,
}

impl Placed {
    const NOWHERE: Self = Self {
        group: None,
        likeness: 0.0,
    };
}

/// Groups, and where each row belongs.
pub struct Found<'a> {
    /// The groups.
    pub groups: Groups<'a>,
    /// For each row.
    pub placed: Vec<Placed>,
}

impl Found<'_> {
    /// Number of rows in each group.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.groups.len()];
        let grouped = self.placed.iter().filter_map(|placed| placed.group);
        grouped.for_each(|group| sizes[group] += 1);
        sizes
    }
}

impl std::ops::Deref for Groups<'_> {
    type Target = [Group];

    fn deref(&self) -> &[Group] {
        &self.groups
    }
}

impl<'a> Groups<'a> {
    pub(super) fn find(model: &'a Model, learner: &Consolidation, sample: &[Witness]) -> Result<Self, Error> {
        let none = || Self {
            model,
            groups: Vec::new(),
            space: None,
            centres: Matrix::zeros(0, 0),
        };
        if sample.len() < LEAST {
            return Ok(none());
        }
        let found = none().filled(learner, sample);
        if is_stopped() {
            return Err(Error::Interrupted);
        }
        Ok(found.unwrap_or_else(none))
    }

    fn filled(mut self, learner: &Consolidation, sample: &[Witness]) -> Option<Self> {
        let n_features = self.model.n_features()?;
        let x = table(sample.iter().map(|row| row.row.as_slice()), n_features);
        let kept = learner.memory().witnesses().kept();
        // Known rows show in which directions classes lie apart, too, as many as there are others at most.
        let known = kept.iter().take(sample.len());
        let both = sample.iter().chain(known).map(|row| row.row.as_slice());
        let space = Space::of(learner, table(both, n_features).rows())?;
        let rows = space.places(x.rows());
        let weights: Vec<f32> = sample.iter().map(|row| row.copies as f32).collect();
        let tree = Tree::grow(&rows, &weights, &space.known)?;
        let of_class = |class: usize| {
            let rows = kept.iter().filter(|row| row.place as usize == class);
            space.places(table(rows.map(|row| row.row.as_slice()), n_features).rows())
        };
        let laid = Laid {
            rows: &rows,
            weights: &weights,
            known: &space.known,
            kept: (0..space.known.n_cols()).map(of_class).collect(),
            seed: learner.params().seed,
        };
        let seats = tree.cut(laid.cost(&tree)?);
        let members = settled(&rows, &weights, &space.known, members(&seats));
        let shares = self.model.known(x.rows()).ok()?;
        let mut groups = Vec::new();
        let names = free_names(self.model.classes());
        for (members, name) in members.iter().zip(names) {
            let group = rows.gather(members.iter().copied());
            let centre = centre(&rows, &weights, members);
            let class = best(&product(space.known.t(), centre.view()), 0)?.0;
            let mean = space.known.gather([class]);
            let mut shares: Vec<f32> = members.iter().map(|&row| shares[row]).collect();
            shares.sort_unstable_by(f32::total_cmp);
            groups.push(Group {
                name,
                size: members.len(),
                tightness: likeness(&group, &centre),
                known: shares[shares.len() / 2],
                nearest: Nearest {
                    class: self.model.classes()[class].clone(),
                    likeness: likeness(&group, &mean),
                    own: likeness(&laid.kept[class], &mean),
                },
            });
        }
        self.groups = groups;
        self.centres = centres(&rows, &weights, &members);
        self.space = Some(space);
        Some(self)
    }

    /// Where each row belongs: rows that may be unknown go to the group or the known class that they are most like.
    pub fn place(&self, x: Rows<'_>) -> Result<Vec<Placed>, Error> {
        let mut placed = vec![Placed::NOWHERE; x.len()];
        let Some(space) = self.space.as_ref().filter(|_| !self.groups.is_empty()) else {
            return Ok(placed);
        };
        for (part, placed) in x.chunks(TOGETHER).zip(placed.chunks_mut(TOGETHER)) {
            let unknown = unknown_rows(self.model, part)?;
            let places = space.places(part.gather(&unknown).rows());
            let nearest = nearest(&places, &space.known, &self.centres);
            for (row, (group, likeness)) in unknown.into_iter().zip(nearest) {
                if group.is_some() {
                    placed[row] = Placed { group, likeness };
                }
            }
        }
        Ok(placed)
    }
}

/// Names that no known class has.
fn free_names(known: &[String]) -> impl Iterator<Item = String> {
    let names = (1..).map(|number| format!("group-{number}"));
    names.filter(|name| !known.contains(name))
}

/// Lets rows go to the group or the known class that they are most like, until they stay. Known classes do not move. Groups that are
/// left with hardly any rows are given up.
fn settled(
    rows: &Matrix<f32>,
    weights: &[f32],
    known: &Matrix<f32>,
    mut members: Vec<Vec<usize>>,
) -> Vec<Vec<usize>> {
    for _ in 0..SETTLED {
        keep_large(&mut members, weights);
        let nearest = nearest(rows, known, &centres(rows, weights, &members));
        let mut next = vec![Vec::new(); members.len()];
        for (row, (group, _)) in nearest.into_iter().enumerate() {
            if let Some(group) = group {
                next[group].push(row);
            }
        }
        let done = next == members;
        members = next;
        if done {
            break;
        }
    }
    keep_large(&mut members, weights);
    members.sort_by_key(|rows| (std::cmp::Reverse(rows.len()), rows[0]));
    members
}

/// The group that each row is most like, if it is not more like a known class, and its cosine.
fn nearest(rows: &Matrix<f32>, known: &Matrix<f32>, centres: &Matrix<f32>) -> Vec<(Option<usize>, f32)> {
    let to_known = product(known.t(), rows.view());
    let to_groups = product(centres.t(), rows.view());
    let of_row = |row: usize| {
        let known = best(&to_known, row).map_or(-1.0, |(_, likeness)| likeness);
        let group = best(&to_groups, row).filter(|(_, likeness)| *likeness > known);
        (
            group.map(|(group, _)| group),
            group.map_or(known, |(_, likeness)| likeness),
        )
    };
    (0..rows.n_cols()).map(of_row).collect()
}

/// The rows of each group.
fn members(seats: &[Seat]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, seat) in seats.iter().enumerate() {
        if let Seat::Group(group) = *seat {
            members.entry(group).or_default().push(row);
        }
    }
    members.into_values().collect()
}

/// Gives up groups of fewer rows than a group needs, and of far fewer than the group of a row usually has.
fn keep_large(members: &mut Vec<Vec<usize>>, weights: &[f32]) {
    let weight = |rows: &[usize]| rows.iter().map(|&row| weights[row]).sum::<f32>();
    members.retain(|rows| rows.len() >= LEAST);
    let all: f32 = members.iter().map(|rows| weight(rows)).sum();
    let usual = members.iter().map(|rows| weight(rows).powi(2)).sum::<f32>() / all;
    members.retain(|rows| weight(rows) >= DWARF * usual);
}

/// Means of groups, a column of length 1 each.
fn centres(rows: &Matrix<f32>, weights: &[f32], members: &[Vec<usize>]) -> Matrix<f32> {
    let mut centres = Matrix::zeros(rows.n_rows(), 0);
    members
        .iter()
        .for_each(|group| centres.append(&centre(rows, weights, group)));
    centres
}

fn centre(rows: &Matrix<f32>, weights: &[f32], members: &[usize]) -> Matrix<f32> {
    let mut sum = Matrix::zeros(rows.n_rows(), 1);
    for &row in members {
        let pairs = sum.values_mut().iter_mut().zip(rows.col(row));
        pairs.for_each(|(sum, v)| *sum += weights[row] * v);
    }
    to_unit_length(&mut sum);
    sum
}

/// The mean cosine between columns of length 1 and another one.
fn likeness(columns: &Matrix<f32>, to: &Matrix<f32>) -> f32 {
    let cosines = product(columns.t(), to.view());
    cosines.values().iter().sum::<f32>() / columns.n_cols().max(1) as f32
}

/// The largest value of a column, and its row.
fn best(values: &Matrix<f32>, column: usize) -> Option<(usize, f32)> {
    let values = values.col(column).iter().copied().enumerate();
    values.max_by(|a, b| a.1.total_cmp(&b.1))
}
