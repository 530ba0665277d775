//! Which columns of a table are the features, and which one is the class.
//!
//! [`Columns`] is what the user asks for; [`choose`] applies it, and common conventions, to the columns of a file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, bad};

/// Which columns to read.
///
/// The default finds the class by its name, and takes all other columns for features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The names of the features; when empty, all columns that can be features.
    pub features: Vec<String>,
    /// The name of the class; by default the column called `class` or `label`, and else the last one of a csv file. For
    /// npy and idx files, the path of the file of labels.
    pub label: Option<String>,
    /// The number of features that a model expects. A csv file of exactly that many columns carries no class.
    pub width: Option<usize>,
}

impl Columns {
    /// Refuses columns that are named for data that has none.
    pub fn refuse(&self, path: &Path) -> Result<(), Error> {
        if self.label.is_none() && self.features.is_empty() {
            return Ok(());
        }
        Err(bad(
            path,
            "is no table: --label and --columns choose columns of a table",
        ))
    }

    /// The file of labels that belongs to an array: the one that was named, else the one `beside` it.
    pub(super) fn label_file(&self, beside: Option<PathBuf>) -> Option<PathBuf> {
        self.label.as_ref().map(PathBuf::from).or(beside)
    }
}

/// What a column can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// One number per row.
    Number,
    /// A list of numbers per row.
    #[cfg_attr(
        not(feature = "parquet"),
        allow(dead_code, reason = "only Parquet and Arrow hold lists")
    )]
    List,
    /// Text, or anything else that is not a number.
    Other,
}

/// The columns to read, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// One list column, or number columns.
    pub features: Vec<usize>,
    pub label: Option<usize>,
    /// The names of the rows.
    pub name: Option<usize>,
}

/// Names by which a column of classes is recognised.
const LABELS: [&str; 2] = ["class", "label"];

/// The column that holds the names of the rows.
pub(super) const NAME: &str = "name";

/// Applies `wanted` to columns of these names and uses.
pub(super) fn choose(columns: &[(String, Use)], wanted: &Columns) -> Result<Chosen, String> {
    check_distinct(columns.iter().map(|(name, _)| name.as_str()))?;
    let label = match &wanted.label {
        Some(label) => Some(place(columns, label, "label")?),
        None => columns.iter().position(|(name, _)| is_label(name)),
    };
    let features = match wanted.features.as_slice() {
        [] => all_features(columns, label)?,
        named => named
            .iter()
            .map(|name| place(columns, name, "feature"))
            .collect::<Result<_, _>>()?,
    };
    for &at in &features {
        let (name, kind) = &columns[at];
        if Some(at) == label {
            return Err(format!("column '{name}' cannot be both feature and class"));
        }
        if *kind == Use::Other || (*kind == Use::List && features.len() > 1) {
            return Err(not_a_feature(name));
        }
    }
    let name = columns.iter().position(|(name, _)| name == NAME);
    Ok(Chosen {
        name: name.filter(|at| !features.contains(at) && Some(*at) != label),
        features,
        label,
    })
}

/// Whether a column of this name is taken for the class.
pub(super) fn is_label(name: &str) -> bool {
    LABELS.iter().any(|label| name.eq_ignore_ascii_case(label))
}

/// Refuses a name that two columns share: it could mean either.
pub(super) fn check_distinct<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = HashSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(format!(
            "two columns are called '{name}': rename or remove one of them"
        )),
        None => Ok(()),
    }
}

/// The position of a column.
fn place(columns: &[(String, Use)], name: &str, what: &str) -> Result<usize, String> {
    let found = columns.iter().position(|(other, _)| other == name);
    found.ok_or_else(|| {
        let there: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).take(20).collect();
        let more = if columns.len() > 20 { ", ..." } else { "" };
        format!(
            "there is no {what} column '{name}'; the columns are {}{more}",
            there.join(", ")
        )
    })
}

/// All features: the list column where there is one, else every column of numbers.
fn all_features(columns: &[(String, Use)], label: Option<usize>) -> Result<Vec<usize>, String> {
    let others = || (0..columns.len()).filter(|&at| Some(at) != label);
    let lists: Vec<usize> = others().filter(|&at| columns[at].1 == Use::List).collect();
    match lists[..] {
        [list] => return Ok(vec![list]),
        [first, second, ..] => {
            let (first, second) = (&columns[first].0, &columns[second].0);
            return Err(format!(
                "both '{first}' and '{second}' hold lists of numbers: choose one with --columns"
            ));
        }
        [] => {}
    }
    if let Some(at) = others().find(|&at| columns[at].1 == Use::Other && columns[at].0 != NAME) {
        return Err(not_a_feature(&columns[at].0));
    }
    let features: Vec<usize> = others().filter(|&at| columns[at].1 == Use::Number).collect();
    if features.is_empty() {
        return Err("no column holds numbers: there are no features".to_owned());
    }
    Ok(features)
}

fn not_a_feature(name: &str) -> String {
    format!(
        "column '{name}' does not hold numbers and cannot be a feature: choose the features with --columns, or the \
         class with --label"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(columns: &[(&str, Use)], wanted: &Columns) -> Result<Chosen, String> {
        let columns: Vec<(String, Use)> = columns.iter().map(|(n, u)| ((*n).to_owned(), *u)).collect();
        choose(&columns, wanted)
    }

    fn label(name: &str) -> Columns {
        Columns {
            label: Some(name.to_owned()),
            ..Columns::default()
        }
    }

    #[test]
    fn the_class_is_found_by_name() {
        let columns = [("a", Use::Number), ("Label", Use::Other), ("b", Use::Number)];
        let found = chosen(&columns, &Columns::default()).unwrap();
        assert_eq!((found.features, found.label), (vec![0, 2], Some(1)));
        let found = chosen(&[("a", Use::Number), ("kind", Use::Number)], &label("kind")).unwrap();
        assert_eq!((found.features, found.label), (vec![0], Some(1)));
    }

    #[test]
    fn a_list_is_the_features_and_the_rest_is_left() {
        let columns = [
            ("id", Use::Number),
            ("name", Use::Other),
            ("note", Use::Other),
            ("embedding", Use::List),
        ];
        let found = chosen(&columns, &Columns::default()).unwrap();
        assert_eq!(
            (found.features, found.label, found.name),
            (vec![3], None, Some(1))
        );
    }

    #[test]
    fn what_is_not_clear_is_said() {
        let refused = |columns: &[(&str, Use)], wanted: &Columns, expected: &str| {
            let error = chosen(columns, wanted).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        let (number, list, other) = (Use::Number, Use::List, Use::Other);
        refused(
            &[("a", number), ("a", number)],
            &Columns::default(),
            "two columns are called 'a'",
        );
        refused(
            &[("a", number), ("city", other)],
            &Columns::default(),
            "column 'city'",
        );
        refused(&[("e", list), ("f", list)], &Columns::default(), "'e' and 'f'");
        refused(
            &[("a", number)],
            &label("kind"),
            "no label column 'kind'; the columns are a",
        );
        refused(
            &[("class", other)],
            &Columns::default(),
            "no column holds numbers",
        );
    }
}
