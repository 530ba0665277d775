//! What was found: groups, what they are like, and where any row belongs.

use serde::Serialize;

use super::held_back::LEAST;
use super::mixture::Mixture;
use super::search::{Outcome, Search};
use super::space::Space;
use super::{table, unknown_among};
use crate::data::Rows;
use crate::error::Error;
use crate::math::{Matrix, is_stopped, product};
use crate::model::Model;

/// Rows whose places are computed at a time.
const TOGETHER: usize = 4096;

/// Groups of rows that look like no known class, the largest first.
pub struct Groups<'a> {
    model: &'a Model,
    groups: Vec<Group>,
    /// What tells where a row belongs; none if nothing was found.
    found: Option<(Space, Mixture)>,
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
    pub(super) fn find(model: &'a Model, search: &Search<'_>) -> Result<Self, Error> {
        let outcome = if search.sample.len() < LEAST {
            None
        } else {
            search.outcome()
        };
        if is_stopped() {
            return Err(Error::Interrupted);
        }
        let Some(outcome) = outcome else {
            return Ok(Self {
                model,
                groups: Vec::new(),
                found: None,
            });
        };
        let sample = table(search.sample, model.n_features().unwrap_or_default());
        let shares = model.known(sample.rows())?;
        let names = free_names(model.classes());
        let groups = (0..outcome.members.len()).zip(names);
        Ok(Self {
            model,
            groups: groups
                .map(|(group, name)| described(name, group, &outcome, &shares, model))
                .collect(),
            found: Some((outcome.space, outcome.mixture)),
        })
    }

    /// Where each row belongs: rows that may be unknown go to the group or the known class that they most likely belong to.
    pub fn place(&self, x: Rows<'_>) -> Result<Vec<Placed>, Error> {
        let mut placed = vec![Placed::NOWHERE; x.len()];
        let Some((space, mixture)) = self.found.as_ref().filter(|_| !self.groups.is_empty()) else {
            return Ok(placed);
        };
        for (part, placed) in x.chunks(TOGETHER).zip(placed.chunks_mut(TOGETHER)) {
            let unknown = unknown_among(&self.model.known(part)?);
            let groups = mixture.groups_of(&space.places(part.gather(&unknown).rows()));
            for (row, group) in unknown.into_iter().zip(groups) {
                if let Some((group, likeness)) = group {
                    placed[row] = Placed {
                        group: Some(group),
                        likeness,
                    };
                }
            }
        }
        Ok(placed)
    }
}

/// What a group is like; `shares` says how well known each row of the sample is.
fn described(name: String, group: usize, outcome: &Outcome, shares: &[f32], model: &Model) -> Group {
    let members = &outcome.members[group];
    let rows = outcome.rows.gather(members.iter().copied());
    let centre = outcome.mixture.centre(group);
    let to_known = product(outcome.space.known.t(), centre.view());
    let classes = (0..to_known.n_rows()).max_by(|&a, &b| to_known[(a, 0)].total_cmp(&to_known[(b, 0)]));
    let class = classes.unwrap_or_default();
    let mean = outcome.space.known.gather([class]);
    let mut shares: Vec<f32> = members.iter().map(|&row| shares[row]).collect();
    shares.sort_unstable_by(f32::total_cmp);
    Group {
        name,
        size: members.len(),
        tightness: likeness(&rows, &centre),
        known: shares[shares.len() / 2],
        nearest: Nearest {
            class: model.classes()[class].clone(),
            likeness: likeness(&rows, &mean),
            own: likeness(&outcome.kept[class], &mean),
        },
    }
}

/// Names that no known class has.
fn free_names(known: &[String]) -> impl Iterator<Item = String> {
    let names = (1..).map(|number| format!("group-{number}"));
    names.filter(|name| !known.contains(name))
}

/// The mean cosine between columns of length 1 and another one.
fn likeness(columns: &Matrix<f32>, to: &Matrix<f32>) -> f32 {
    let cosines = product(columns.t(), to.view());
    cosines.values().iter().sum::<f32>() / columns.n_cols().max(1) as f32
}
