//! How one table becomes two: a fixed share of each class is kept for the exam.
//!
//! [`split`] is for data without a test set of its own: a single table, and `digits`.

use std::collections::BTreeMap;
use std::path::Path;

use super::rows::NamedRows;
use crate::error::{Error, bad};
use crate::held_out::hold_out;

/// Fixed, so that everybody is examined on the same rows.
const SEED: u64 = 0;

/// Splits rows 80/20 into training and test rows, class by class, both in the order of the file.
pub(super) fn split(path: &Path, rows: &NamedRows) -> Result<(NamedRows, NamedRows), Error> {
    let parts = hold_out(rows_by_class(&rows.y), SEED);
    let (train, test) = parts.map_err(|class| bad(path, one_row(class)))?;
    Ok((rows.gather(&train), rows.gather(&test)))
}

fn rows_by_class(labels: &[String]) -> BTreeMap<&str, Vec<usize>> {
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, class) in labels.iter().enumerate() {
        rows.entry(class).or_default().push(row);
    }
    rows
}

fn one_row(class: &str) -> String {
    format!(
        "class '{class}' has only one row, but needs one to learn from and one for the exam: add rows, remove it, \
         or give a folder with train.csv and test.csv"
    )
}

impl NamedRows {
    fn gather(&self, rows: &[usize]) -> Self {
        Self {
            x: self.x.rows().gather(rows),
            y: rows.iter().map(|&row| self.y[row].clone()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::Table;

    use super::*;

    /// Row `i` has the single feature `i`.
    fn rows(labels: &[&str]) -> NamedRows {
        NamedRows {
            x: Table::new((0..labels.len()).map(|i| i as f32).collect(), 1).unwrap(),
            y: labels.iter().map(|&label| label.to_owned()).collect(),
        }
    }

    #[test]
    fn each_class_gives_a_fifth_and_no_row_is_lost() {
        let labels: Vec<&str> = (0..60)
            .map(|i| if i % 6 == 0 { "rare" } else { "common" })
            .collect();
        let (train, test) = split(Path::new("file"), &rows(&labels)).unwrap();
        let count = |part: &NamedRows, class| part.y.iter().filter(|&y| y == class).count();
        assert_eq!((count(&train, "rare"), count(&test, "rare")), (8, 2));
        assert_eq!((count(&train, "common"), count(&test, "common")), (40, 10));
        let mut all = [train.x.rows().values(), test.x.rows().values()].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, (0..60).map(|i| i as f32).collect::<Vec<_>>());
    }

    #[test]
    fn two_rows_of_a_class_are_one_each() {
        let (train, test) = split(Path::new("file"), &rows(&["a", "a", "b", "b"])).unwrap();
        assert_eq!(train.y, ["a", "b"]);
        assert_eq!(test.y, ["a", "b"]);
    }

    #[test]
    fn a_class_with_one_row_is_named() {
        let error = split(Path::new("file"), &rows(&["a", "a", "b"]))
            .err()
            .unwrap()
            .to_string();
        assert!(error.contains("'b' has only one row"), "{error}");
    }
}
