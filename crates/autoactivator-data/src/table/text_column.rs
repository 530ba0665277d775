//! Which column of a table holds the text, and which one is then the class.
//!
//! The text is always named by the user. The class is the column that is asked for, else one called `class` or `label`,
//! else the only other one: with several others, none is guessed.

use super::columns::{
    Chosen, Columns, NAME, Records, Use, id, is_label, left_out, place, refuse_both, weight,
};
use super::reading::Choice;

/// Applies `wanted` to the columns of a table whose column `text` holds the text.
pub(super) fn choose(records: &Records<'_>, wanted: &Columns, text: &str) -> Result<Chosen, String> {
    let columns = records.columns;
    if !wanted.features.is_empty() {
        return Err("--text and --columns contradict each other: leave one of them out".to_owned());
    }
    let at = place(columns, text, "text")?;
    if columns[at].1 == Use::List {
        return Err(format!(
            "column '{text}' holds lists of numbers, not text: choose another with --text"
        ));
    }
    let weight = weight(columns, wanted)?;
    let id = id(columns, wanted)?;
    let left_out: Vec<usize> = left_out(records, id)
        .into_iter()
        .filter(|&other| other != at)
        .collect();
    let apart: Vec<usize> = left_out
        .iter()
        .copied()
        .chain(weight)
        .chain(id)
        .chain([at])
        .collect();
    let label = label(records, wanted, &apart)?;
    for (taken, what) in [(label.map(|(at, _)| at), "class"), (weight, "weight")] {
        if taken == Some(at) {
            return Err(format!("column '{text}' cannot be both text and {what}"));
        }
    }
    refuse_both(
        columns,
        id,
        &[
            (label.map(|(at, _)| at), "class"),
            (weight, "weight"),
            (Some(at), "text"),
        ],
    )?;
    let name = columns.iter().position(|(name, _)| name == NAME);
    let used = |other: usize| apart.contains(&other) || label.is_some_and(|(at, _)| at == other);
    Ok(Chosen {
        features: Vec::new(),
        text: Some(at),
        label,
        weight,
        name: id.or_else(|| name.filter(|&name| !used(name))),
        left_out,
        beside: Vec::new(),
    })
}

/// The column of classes, and why it is that one; it is none of those that stand apart.
fn label(
    records: &Records<'_>,
    wanted: &Columns,
    apart: &[usize],
) -> Result<Option<(usize, Choice)>, String> {
    let columns = records.columns;
    if let Some(label) = &wanted.label {
        return Ok(Some((place(columns, label, "label")?, Choice::Asked)));
    }
    if wanted.no_label {
        return Ok(None);
    }
    let others: Vec<usize> = (0..columns.len())
        .filter(|at| !apart.contains(at) && columns[*at].0 != NAME)
        .collect();
    if let Some(&at) = others.iter().find(|&&at| is_label(&columns[at].0)) {
        return Ok(Some((at, Choice::Named)));
    }
    match others[..] {
        [] => Ok(None),
        [only] => Ok(Some((only, Choice::BesideText))),
        _ => {
            let names: Vec<&str> = others.iter().take(20).map(|&at| columns[at].0.as_str()).collect();
            Err(format!(
                "beside the text there are several columns ({}): name that of the class with --label, or say with \
                 --no-label that there is none",
                names.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], wanted: &Columns) -> Result<Chosen, String> {
        let columns: Vec<(String, Use)> = names.iter().map(|n| ((*n).to_owned(), Use::Other)).collect();
        let records = Records {
            columns: &columns,
            last_is_class: true,
            index: None,
        };
        choose(&records, wanted, "text")
    }

    #[test]
    fn the_class_is_the_only_other_column_or_the_named_one() {
        let found = |names: &[&str], wanted: &Columns| chosen(names, wanted).unwrap().label;
        let none = Columns::default();
        assert_eq!(found(&["text", "intent"], &none), Some((1, Choice::BesideText)));
        assert_eq!(found(&["intent", "text"], &none), Some((0, Choice::BesideText)));
        assert_eq!(found(&["text"], &none), None);
        assert_eq!(found(&["a", "label", "text"], &none), Some((1, Choice::Named)));
        let asked = Columns {
            label: Some("a".to_owned()),
            ..Columns::default()
        };
        assert_eq!(found(&["a", "b", "text"], &asked), Some((0, Choice::Asked)));
        let error = chosen(&["a", "b", "text"], &none).unwrap_err();
        assert!(error.contains("(a, b)") && error.contains("--label"), "{error}");
    }

    #[test]
    fn text_is_neither_a_feature_nor_the_class() {
        let class = Columns {
            label: Some("text".to_owned()),
            ..Columns::default()
        };
        let error = chosen(&["text", "intent"], &class).unwrap_err();
        assert!(error.contains("both text and class"), "{error}");
        let features = Columns {
            features: vec!["intent".to_owned()],
            ..Columns::default()
        };
        assert!(
            chosen(&["text", "intent"], &features)
                .unwrap_err()
                .contains("--columns")
        );
        assert!(
            chosen(&["sentence"], &class)
                .unwrap_err()
                .contains("no text column 'text'")
        );
    }
}
