//! Which columns of a table are the features, and which one is the class.
//!
//! [`Columns`] is what the user asks for; [`choose`] applies it, and common conventions, to the columns of a file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, bad};

use autoactivator::Input;

use super::reading::Choice;
use super::text_column;

/// Which columns to read, and how a csv file is written where that is not clear from its content.
///
/// The default finds the class by its name, and takes all other columns for features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The names of the features, or their numbers from 1 where a csv file has no header; when empty, all columns that
    /// can be features.
    pub features: Vec<String>,
    /// The name of the column of text, or its number like that of the class. Its sentences are what the rows are made
    /// from, so no column is a feature.
    pub text: Option<String>,
    /// The name of the class, or its number from 1 where a csv file has no header. By default the column called `class`
    /// or `label`, and else the last one of a csv file. For npy and idx files, the path of the file of labels.
    pub label: Option<String>,
    /// The name of the column that holds the weights of the rows, or its number like that of the class.
    pub weight: Option<String>,
    /// The name of the column that names the rows, such as an order number, or its number like that of the class. By
    /// default the column called `name`. It is no feature.
    pub id: Option<String>,
    /// Whether no column is the class.
    pub no_label: bool,
    /// The number of features that a model expects. A csv file of exactly that many columns carries no class.
    pub width: Option<usize>,
    /// The names of the features that a model expects. A table with names is read in this order.
    pub names: Option<Vec<String>>,
    /// Whether the first line of a csv file holds names; none finds out.
    pub header: Option<bool>,
    /// What separates the cells of a csv file; none finds out.
    pub delimiter: Option<u8>,
    /// Whether the numbers of a csv file have a decimal comma.
    pub decimal_comma: bool,
}

impl Columns {
    /// Refuses columns that are named for data that has none.
    pub fn refuse(&self, path: &Path) -> Result<(), Error> {
        self.refuse_weight(path)?;
        if self.label.is_none() && self.features.is_empty() && self.text.is_none() && self.id.is_none() {
            return Ok(());
        }
        Err(bad(
            path,
            "is not a table: --label, --columns, --text and --id choose columns of a table",
        ))
    }

    /// Refuses a column of weights that is named for data that has no columns.
    pub fn refuse_weight(&self, path: &Path) -> Result<(), Error> {
        match self.weight {
            None => Ok(()),
            Some(_) => Err(bad(
                path,
                "has no columns: --weight chooses a column of a csv, Parquet, Arrow or JSON lines table",
            )),
        }
    }

    /// Refuses columns that an array does not have: those of weights, of text and of names.
    pub(super) fn refuse_records(&self, path: &Path) -> Result<(), Error> {
        self.refuse_weight(path)?;
        if self.id.is_some() {
            let reason = "has no columns: --id chooses a column of a csv, Parquet, Arrow or JSON lines table";
            return Err(bad(path, reason));
        }
        match self.text {
            None => Ok(()),
            Some(_) => Err(bad(
                path,
                "holds no text: --text chooses a column of a csv, Parquet, Arrow or JSON lines table",
            )),
        }
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
    List,
    /// Text, or anything else that is not a number.
    Other,
}

/// The columns to read, by position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// One list column, or number columns.
    pub features: Vec<usize>,
    /// The column of text that rows are made from; with one, there are no features.
    pub text: Option<usize>,
    pub label: Option<(usize, Choice)>,
    /// The weights of the rows.
    pub weight: Option<usize>,
    /// The names of the rows.
    pub name: Option<usize>,
    /// Columns that are left out.
    pub left_out: Vec<usize>,
    /// Columns of numbers that are no features, because a column of lists is.
    pub beside: Vec<usize>,
}

/// Names by which a column of classes is recognised.
const LABELS: [&str; 2] = ["class", "label"];

/// The column in which pandas keeps its index.
const PANDAS_INDEX: &str = "__index_level_0__";

/// The column that holds the names of the rows.
pub(super) const NAME: &str = "name";

/// What a table of records is like.
pub(super) struct Records<'a> {
    /// Name and use of each column.
    pub columns: &'a [(String, Use)],
    /// Whether the last column is the class when none is called so, as is usual in csv files.
    pub last_is_class: bool,
    /// A column that only counts the rows.
    pub index: Option<usize>,
}

/// Applies `wanted` to the columns of a table.
pub(super) fn choose(records: &Records<'_>, wanted: &Columns) -> Result<Chosen, String> {
    let columns = records.columns;
    check_distinct(columns.iter().map(|(name, _)| name.as_str()))?;
    if let Some(text) = &wanted.text {
        return text_column::choose(records, wanted, text);
    }
    let id = id(columns, wanted)?;
    let left_out = left_out(records, id);
    let weight = weight(columns, wanted)?;
    let apart: Vec<usize> = left_out.iter().copied().chain(weight).chain(id).collect();
    let label = label(records, wanted, &apart)?;
    let label_at = label.map(|(at, _)| at);
    let others = |at: &usize| Some(*at) != label_at && !apart.contains(at);
    let features = match (wanted.features.as_slice(), &wanted.names) {
        ([], Some(names)) if !has_lists(columns) || has_any(columns, names) => {
            of_model(columns, names, others)?
        }
        ([], _) => all_features(columns, others)?,
        (named, _) => named
            .iter()
            .map(|name| place(columns, name, "feature"))
            .collect::<Result<_, _>>()?,
    };
    for &at in &features {
        let (name, kind) = &columns[at];
        if Some(at) == label_at {
            return Err(format!("column '{name}' cannot be both feature and class"));
        }
        if Some(at) == weight {
            return Err(format!("column '{name}' cannot be both feature and weight"));
        }
        if Some(at) == id {
            return Err(format!("column '{name}' cannot be both feature and id"));
        }
        if *kind == Use::Other || (*kind == Use::List && features.len() > 1) {
            return Err(not_a_feature(name));
        }
    }
    if let Some(at) = weight.filter(|_| weight == label_at) {
        return Err(format!(
            "column '{}' cannot be both class and weight",
            columns[at].0
        ));
    }
    refuse_both(columns, id, &[(label_at, "class"), (weight, "weight")])?;
    let name = id.or_else(|| columns.iter().position(|(name, _)| name == NAME));
    let beside = numbers_beside(columns, &features, label_at, &apart);
    Ok(Chosen {
        beside,
        name: name.filter(|at| !features.contains(at) && Some(*at) != label_at && Some(*at) != weight),
        weight,
        features: in_order(columns, features, wanted)?,
        text: None,
        label,
        left_out,
    })
}

/// Columns that only number the rows and are not asked to name them.
pub(super) fn left_out(records: &Records<'_>, id: Option<usize>) -> Vec<usize> {
    let numbers = |&at: &usize| Some(at) == records.index || records.columns[at].0 == PANDAS_INDEX;
    (0..records.columns.len())
        .filter(numbers)
        .filter(|&at| Some(at) != id)
        .collect()
}

/// The column that names the rows, if one is asked for.
pub(super) fn id(columns: &[(String, Use)], wanted: &Columns) -> Result<Option<usize>, String> {
    let found = wanted.id.as_ref().map(|name| place(columns, name, "id"));
    match found.transpose()? {
        Some(at) if columns[at].1 == Use::List => Err(format!(
            "column '{}' holds lists and cannot be the id",
            columns[at].0
        )),
        found => Ok(found),
    }
}

/// Refuses an id that is something else, too.
pub(super) fn refuse_both(
    columns: &[(String, Use)],
    id: Option<usize>,
    others: &[(Option<usize>, &str)],
) -> Result<(), String> {
    let both = others.iter().find(|(at, _)| at.is_some() && *at == id);
    match (both, id) {
        (Some((_, what)), Some(at)) => {
            Err(format!("column '{}' cannot be both {what} and id", columns[at].0))
        }
        _ => Ok(()),
    }
}

/// Columns of numbers that nobody named, beside a column of lists.
fn numbers_beside(
    columns: &[(String, Use)],
    features: &[usize],
    label: Option<usize>,
    left_out: &[usize],
) -> Vec<usize> {
    if !features.iter().any(|&at| columns[at].1 == Use::List) {
        return Vec::new();
    }
    let is_beside =
        |at: &usize| columns[*at].1 == Use::Number && Some(*at) != label && !left_out.contains(at);
    (0..columns.len()).filter(is_beside).collect()
}

/// The column of weights.
pub(super) fn weight(columns: &[(String, Use)], wanted: &Columns) -> Result<Option<usize>, String> {
    let Some(name) = &wanted.weight else {
        return Ok(None);
    };
    let at = place(columns, name, "weight")?;
    match columns[at].1 {
        Use::Number => Ok(Some(at)),
        _ => Err(format!(
            "column '{name}' does not hold numbers and cannot be the weight"
        )),
    }
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
    let is_feature = |name: &String| wanted.names.as_ref().is_some_and(|names| names.contains(name));
    let named = |(name, _): &(String, Use)| is_label(name) && !is_feature(name);
    if let Some(at) = columns.iter().position(named) {
        return Ok(Some((at, Choice::Named)));
    }
    if !records.last_is_class || !wanted.features.is_empty() {
        return Ok(None);
    }
    let others = (0..columns.len()).filter(|at| columns[*at].0 != NAME && !apart.contains(at));
    let others: Vec<usize> = others.collect();
    let strange: Vec<usize> = others
        .iter()
        .copied()
        .filter(|&at| !is_feature(&columns[at].0))
        .collect();
    Ok(match (&wanted.names, strange.as_slice()) {
        (Some(names), [only]) if others.len() == names.len() + 1 => Some((*only, Choice::Other)),
        (Some(_), _) => None,
        (None, _) if wanted.width == Some(others.len()) => None,
        (None, _) => others.last().map(|&at| (at, Choice::Last)),
    })
}

fn has_lists(columns: &[(String, Use)]) -> bool {
    columns.iter().any(|(_, kind)| *kind == Use::List)
}

/// Whether a column has one of these names.
fn has_any(columns: &[(String, Use)], names: &[String]) -> bool {
    columns.iter().any(|(name, _)| names.contains(name))
}

/// The features of a model, in its order. A column that is nothing else must be one of them.
fn of_model(
    columns: &[(String, Use)],
    names: &[String],
    others: impl Fn(&usize) -> bool,
) -> Result<Vec<usize>, String> {
    let there: Vec<usize> = (0..columns.len())
        .filter(|at| others(at) && columns[*at].0 != NAME)
        .collect();
    let input = named_input(names);
    let found: Vec<String> = there.iter().map(|&at| columns[at].0.clone()).collect();
    let places = input.places(&found).map_err(|error| error.to_string())?;
    Ok(match places {
        Some(places) => places.into_iter().map(|at| there[at]).collect(),
        None => there,
    })
}

/// Features that were chosen by name, in the order of the model's.
fn in_order(columns: &[(String, Use)], features: Vec<usize>, wanted: &Columns) -> Result<Vec<usize>, String> {
    let Some(names) = wanted.names.as_ref().filter(|_| !wanted.features.is_empty()) else {
        return Ok(features);
    };
    let found: Vec<String> = features.iter().map(|&at| columns[at].0.clone()).collect();
    let places = named_input(names)
        .places(&found)
        .map_err(|error| error.to_string())?;
    Ok(places.map_or(features.clone(), |places| {
        places.into_iter().map(|at| features[at]).collect()
    }))
}

fn named_input(names: &[String]) -> Input {
    let mut input = Input::default();
    input.features = Some(names.to_vec());
    input
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
pub(super) fn place(columns: &[(String, Use)], name: &str, what: &str) -> Result<usize, String> {
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
fn all_features(columns: &[(String, Use)], others: impl Fn(&usize) -> bool) -> Result<Vec<usize>, String> {
    let others = || (0..columns.len()).filter(|at| others(at));
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
        "column '{name}' does not hold numbers, or one list of numbers a row, and cannot be a feature: choose the \
         features with --columns, or the class with --label; sentences are read with --text {name}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(columns: &[(&str, Use)], wanted: &Columns) -> Result<Chosen, String> {
        let columns: Vec<(String, Use)> = columns.iter().map(|(n, u)| ((*n).to_owned(), *u)).collect();
        let records = Records {
            columns: &columns,
            last_is_class: false,
            index: None,
        };
        choose(&records, wanted)
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
        assert_eq!(
            (found.features, found.label),
            (vec![0, 2], Some((1, Choice::Named)))
        );
        let found = chosen(&[("a", Use::Number), ("kind", Use::Number)], &label("kind")).unwrap();
        assert_eq!((found.features, found.label), (vec![0], Some((1, Choice::Asked))));
    }

    #[test]
    fn the_weight_is_no_feature() {
        let columns = [("a", Use::Number), ("w", Use::Number), ("class", Use::Other)];
        let wanted = |weight: &str, features: &[&str]| Columns {
            weight: Some(weight.to_owned()),
            features: features.iter().map(|&name| name.to_owned()).collect(),
            ..Columns::default()
        };
        let found = chosen(&columns, &wanted("w", &[])).unwrap();
        assert_eq!((found.features, found.weight), (vec![0], Some(1)));
        for (wanted, reason) in [
            (
                wanted("v", &[]),
                "there is no weight column 'v'; the columns are a",
            ),
            (
                wanted("class", &[]),
                "column 'class' does not hold numbers and cannot be the weight",
            ),
            (
                wanted("w", &["a", "w"]),
                "column 'w' cannot be both feature and weight",
            ),
        ] {
            let error = chosen(&columns, &wanted).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn the_id_names_the_rows_and_is_no_feature() {
        let columns = [
            ("order", Use::Number),
            ("a", Use::Number),
            ("name", Use::Other),
            ("class", Use::Other),
        ];
        let wanted = |id: &str, features: &[&str]| Columns {
            id: Some(id.to_owned()),
            features: features.iter().map(|&name| name.to_owned()).collect(),
            ..Columns::default()
        };
        let found = chosen(&columns, &wanted("order", &[])).unwrap();
        assert_eq!((found.features, found.name), (vec![1], Some(0)));
        let of_model = Columns {
            names: Some(vec!["a".to_owned()]),
            ..wanted("order", &[])
        };
        assert_eq!(chosen(&columns, &of_model).unwrap().features, [1]);
        for (wanted, reason) in [
            (
                wanted("town", &[]),
                "there is no id column 'town'; the columns are order",
            ),
            (wanted("class", &[]), "column 'class' cannot be both class and id"),
            (wanted("a", &["a"]), "column 'a' cannot be both feature and id"),
        ] {
            let error = chosen(&columns, &wanted).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
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
        assert_eq!(found.beside, [0], "numbers that are left out are named");
        let wanted = Columns {
            names: Some(vec!["id".to_owned()]),
            ..Columns::default()
        };
        let error = chosen(&columns, &wanted).unwrap_err();
        assert!(error.contains("not among them"), "{error}");
    }

    #[test]
    fn the_features_of_a_model_are_read_in_its_order() {
        let number = |name| (name, Use::Number);
        let columns = [number("b"), number("kind"), number("a"), number(PANDAS_INDEX)];
        let wanted = Columns {
            names: Some(vec!["a".to_owned(), "b".to_owned()]),
            ..label("kind")
        };
        let found = chosen(&columns, &wanted).unwrap();
        assert_eq!((found.features, found.left_out), (vec![2, 0], vec![3]));
        let other = Columns {
            names: Some(vec!["a".to_owned(), "c".to_owned()]),
            ..label("kind")
        };
        let error = chosen(&columns, &other).unwrap_err();
        assert!(error.contains("missing: 'c'; not among them: 'b'"), "{error}");
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
