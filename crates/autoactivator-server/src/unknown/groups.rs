//! What might the rows be that are kept? Groups of those that are still unknown, as `/v1/discover` makes them.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use autoactivator::discovery::Found;
use autoactivator::math::until;
use autoactivator::{Error, Observer, Table};
use serde_json::{Value, json};

use super::Keeper;
use super::row::{Id, Kept};
use crate::answers::rows_together;
use crate::edition::Edition;
use crate::problem::Problem;
use crate::wanted::Wanted;

/// Rows of a group that are shown, those that are most like it.
const TYPICAL: usize = 12;

/// Rows without a group that are shown, the newest.
const ALONE: usize = 60;

/// Which rows one model still calls unknown. It is asked about each of them once.
#[derive(Default)]
pub(super) struct Judged {
    version: u64,
    unknown: HashMap<Id, bool>,
}

impl Keeper {
    /// How many rows there are, of which the model still calls so many unknown.
    pub(super) fn count(&self, edition: &Edition, wanted: &Wanted) -> Result<Value, Problem> {
        let rows = self.store().rows();
        let unknown = self.still_unknown(edition, &rows, wanted)?;
        Ok(self.counted(rows.len(), unknown.len()))
    }

    /// The groups of those rows that the model still calls unknown.
    pub(super) fn groups(&self, edition: &Edition, wanted: &Wanted) -> Result<Value, Problem> {
        let rows = self.store().rows();
        let unknown = self.still_unknown(edition, &rows, wanted)?;
        let mut answer = self.counted(rows.len(), unknown.len());
        let (groups, alone, reason) = match grouped(edition, &unknown, wanted)? {
            Grouped::Found(groups, alone) => (groups, alone, None),
            Grouped::Cannot(reason) => (Vec::new(), unknown, Some(reason)),
        };
        answer["groups"] = json!(groups);
        answer["alone"] = json!({
            "ids": alone.iter().map(|kept| kept.id).collect::<Vec<Id>>(),
            "shown": alone.iter().rev().take(ALONE).map(|kept| kept.as_json()).collect::<Vec<Value>>(),
        });
        answer["reason"] = json!(reason);
        Ok(answer)
    }

    fn counted(&self, rows: usize, unknown: usize) -> Value {
        let mut counted = self.counts().as_json();
        counted["rows"] = json!(unknown);
        counted["known"] = json!(rows - unknown);
        counted
    }

    /// Those rows that would be called unknown again, now.
    fn still_unknown(
        &self,
        edition: &Edition,
        rows: &[Arc<Kept>],
        wanted: &Wanted,
    ) -> Result<Vec<Arc<Kept>>, Problem> {
        // A model that can no longer tell has not come to know them either.
        if edition.model.check_rejects().is_err() {
            return Ok(rows.to_vec());
        }
        let judged = || self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let before = {
            let judged = judged();
            if judged.version == edition.version {
                judged.unknown.clone()
            } else {
                HashMap::new()
            }
        };
        let new: Vec<&Arc<Kept>> = rows
            .iter()
            .filter(|kept| !before.contains_key(&kept.id))
            .collect();
        // Of rows that are gone, nothing is remembered.
        let known = rows
            .iter()
            .filter_map(|kept| Some((kept.id, *before.get(&kept.id)?)));
        let mut unknown: HashMap<Id, bool> = known.collect();
        for piece in new.chunks(rows_together(edition)) {
            wanted.check()?;
            let Some(x) = table(piece.iter().copied())? else {
                break;
            };
            let shares = edition.model.known(x.rows())?;
            let said = piece.iter().zip(shares);
            unknown.extend(said.map(|(kept, share)| (kept.id, f64::from(share) <= kept.reject)));
        }
        let is_unknown = |kept: &&Arc<Kept>| unknown.get(&kept.id) == Some(&true);
        let still = rows.iter().filter(is_unknown).cloned().collect();
        let version = edition.version;
        *judged() = Judged { version, unknown };
        Ok(still)
    }
}

/// What became of rows.
enum Grouped {
    /// Groups, and the rows that are in none.
    Found(Vec<Value>, Vec<Arc<Kept>>),
    /// Why the model cannot group them, and what to do.
    Cannot(String),
}

fn grouped(edition: &Edition, rows: &[Arc<Kept>], wanted: &Wanted) -> Result<Grouped, Problem> {
    let Some(x) = table(rows)? else {
        return Ok(Grouped::Found(Vec::new(), Vec::new()));
    };
    let given_up = wanted.clone();
    let found = until(
        move || given_up.interrupted(),
        || edition.model.discover(x.rows()),
    );
    match found {
        Ok(found) => Ok(described(&found, rows)),
        Err(error @ (Error::CannotDiscover { .. } | Error::NoMemory | Error::OnlyConsolidation { .. })) => {
            Ok(Grouped::Cannot(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Each group with the ids of its rows, and those that are most like it as they are shown.
fn described(found: &Found<'_>, rows: &[Arc<Kept>]) -> Grouped {
    let mut members: Vec<Vec<(f32, &Kept)>> = vec![Vec::new(); found.groups.len()];
    let mut alone = Vec::new();
    for (placed, kept) in found.placed.iter().zip(rows) {
        match placed.group {
            Some(group) => members[group].push((placed.likeness, kept)),
            None => alone.push(Arc::clone(kept)),
        }
    }
    let groups = found.groups.iter().zip(members).map(|(group, mut members)| {
        members.sort_by(|a, b| b.0.total_cmp(&a.0));
        let shown = members.iter().take(TYPICAL).map(|(_, kept)| kept.as_json());
        let mut described = json!(group);
        described["rows"] = json!(members.len());
        described["ids"] = json!(members.iter().map(|(_, kept)| kept.id).collect::<Vec<Id>>());
        described["shown"] = json!(shown.collect::<Vec<Value>>());
        described
    });
    Grouped::Found(groups.collect(), alone)
}

/// The features of rows; none without rows.
fn table<'r>(rows: impl IntoIterator<Item = &'r Arc<Kept>>) -> Result<Option<Table>, Error> {
    let mut rows = rows.into_iter().peekable();
    let Some(width) = rows.peek().map(|kept| kept.features.len()) else {
        return Ok(None);
    };
    let values = rows.flat_map(|kept| &kept.features).copied();
    Table::new(values.collect(), width).map(Some)
}
