//! From the body of a request to rows and questions: pure functions of bytes, so that they can be fuzzed.
//!
//! A body is JSON or a form, as its content type says. [`learn`] serves learning and unlearning, [`predict`]
//! predicting and explaining, [`merge`] takes model files.
//!
//! ```
//! use autoactivator_server::{Limits, body};
//!
//! let bytes = br#"{"rows": [[0.0, 1.0]], "top": 3}"#;
//! let question = body::predict("application/json", bytes, &Limits::default()).unwrap();
//! assert_eq!(question.input.len(), 1);
//! ```

use std::fmt;
use std::marker::PhantomData;

use autoactivator::model::Detail;
use autoactivator::{Model, Table};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use crate::limits::Limits;
use crate::multipart::{self, Part};
use crate::problem::Problem;

/// What the parser expects, by the name of its type and in words.
const IN_WORDS: [(&str, &str); 4] = [
    ("expected f32", "expected a number"),
    ("expected f64", "expected a number"),
    ("expected usize", "expected a whole number, not below 0"),
    ("expected a sequence", "expected a list"),
];

/// Examples to learn or to judge.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<'a> {
    /// Rows of features.
    Rows(Table),
    /// Image files.
    Images(Vec<&'a [u8]>),
    /// Sentences.
    Texts(Vec<String>),
}

impl Input<'_> {
    /// Number of rows, images or sentences.
    pub fn len(&self) -> usize {
        match self {
            Self::Rows(table) => table.rows().len(),
            Self::Images(images) => images.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Examples with the class of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson<'a> {
    /// The examples.
    pub input: Input<'a>,
    /// The class of each example.
    pub classes: Vec<String>,
    /// How often each example counts, if not every one once.
    pub weights: Option<Vec<f64>>,
    /// What the features are called, where rows say so.
    pub features: Option<Vec<String>>,
}

/// A question about rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Question<'a> {
    /// The rows.
    pub input: Input<'a>,
    /// How much of each answer is wanted.
    pub detail: Detail,
    /// The fraction of known rows that may be answered "unknown".
    pub reject: f64,
    /// What the features are called, where rows say so.
    pub features: Option<Vec<String>>,
}

/// A model to merge.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The model whose memory is added.
    pub model: Model,
    /// The model that both began from, if any.
    pub base: Option<Model>,
}

/// Reads examples with their classes: `{"rows": [[...]], "classes": [...]}`, with `weights` if rows are to count more or
/// less than once, the same with `texts` for sentences, or a form in which each `image` belongs to the last `class` before
/// it.
pub fn learn<'a>(content_type: &str, bytes: &'a [u8], limits: &Limits) -> Result<Lesson<'a>, Problem> {
    let lesson = match Kind::of(content_type)? {
        Kind::Json => learn_json(bytes)?,
        Kind::Form => learn_form(multipart::parts(content_type, bytes, 2 * limits.rows)?)?,
    };
    check_input(&lesson.input, limits)?;
    if lesson.input.len() != lesson.classes.len() {
        return Err(autoactivator::Error::LengthMismatch {
            rows: lesson.input.len(),
            labels: lesson.classes.len(),
        }
        .into());
    }
    lesson
        .classes
        .iter()
        .try_for_each(|class| check_class(class, limits))?;
    Ok(lesson)
}

/// Reads rows and a question about them: `{"rows": [[...]], "top": 3}`, or `{"texts": ["..."]}`, or a form with `image`
/// files.
pub fn predict<'a>(content_type: &str, bytes: &'a [u8], limits: &Limits) -> Result<Question<'a>, Problem> {
    let question = match Kind::of(content_type)? {
        Kind::Json => predict_json(bytes)?,
        Kind::Form => predict_form(multipart::parts(content_type, bytes, limits.rows + 3)?)?,
    };
    check_input(&question.input, limits)?;
    Ok(question)
}

/// Reads a form with the file `model` and, if both models began from the same one, the file `base`.
pub fn merge(content_type: &str, bytes: &[u8]) -> Result<Addition, Problem> {
    if Kind::of(content_type)? != Kind::Form {
        return Err(Problem::unsupported(
            "send model files as multipart/form-data: a file `model`, and optionally a file `base`",
        ));
    }
    let (mut model, mut base) = (None, None);
    for part in multipart::parts(content_type, bytes, 2)? {
        let place = match part.name.as_str() {
            "model" => &mut model,
            "base" => &mut base,
            _ => return Err(unknown_field(&part, "`model` and `base`")),
        };
        *place = Some(memory(&part)?);
    }
    let model = model.ok_or_else(|| Problem::bad_request("the form has no file `model`"))?;
    Ok(Addition { model, base })
}

/// Reads a body that is one JSON object.
pub(crate) fn json<'a, T: Deserialize<'a>>(content_type: &str, bytes: &'a [u8]) -> Result<T, Problem> {
    if Kind::of(content_type)? != Kind::Json {
        return Err(Problem::unsupported("send application/json"));
    }
    from_json(bytes)
}

/// Refuses a class name that is empty, too long, or contains characters that a terminal or a log would act on.
pub fn check_class(class: &str, limits: &Limits) -> Result<(), Problem> {
    if class.trim().is_empty() {
        return Err(Problem::bad_request("a class has no name: give it one"));
    }
    if class.chars().count() > limits.class_name {
        return Err(Problem::too_large(format!(
            "a class name is longer than {} characters: shorten it",
            limits.class_name
        )));
    }
    if class.chars().any(char::is_control) {
        return Err(Problem::bad_request(
            "a class name has control characters: leave them out",
        ));
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Form,
}

impl Kind {
    fn of(content_type: &str) -> Result<Self, Problem> {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            Ok(Self::Json)
        } else if essence.eq_ignore_ascii_case("multipart/form-data") {
            Ok(Self::Form)
        } else {
            Err(Problem::unsupported(
                "send application/json, or multipart/form-data for files",
            ))
        }
    }
}

/// Refuses no rows, and more than are allowed.
pub(crate) fn check_number(rows: usize, limits: &Limits) -> Result<(), Problem> {
    if rows == 0 {
        return Err(Problem::bad_request(
            "there is no row, no image and no sentence: give at least one",
        ));
    }
    check_most(rows, limits)
}

/// Refuses more rows than are allowed.
pub(crate) fn check_most(rows: usize, limits: &Limits) -> Result<(), Problem> {
    if rows <= limits.rows {
        return Ok(());
    }
    Err(Problem::too_large(format!(
        "{rows} rows exceed the limit of {}: send fewer at a time",
        limits.rows
    )))
}

/// Refuses an input that is empty or beyond a limit.
pub(crate) fn check_input(input: &Input<'_>, limits: &Limits) -> Result<(), Problem> {
    check_number(input.len(), limits)?;
    let Input::Images(images) = input else {
        return Ok(());
    };
    match images.iter().position(|image| image.len() > limits.image_bytes) {
        Some(place) => Err(Problem::too_large(format!(
            "image {place} is larger than {} bytes: make it smaller",
            limits.image_bytes
        ))),
        None => Ok(()),
    }
}

fn learn_json(bytes: &[u8]) -> Result<Lesson<'static>, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        rows: Option<FlatRows>,
        texts: Option<Names>,
        classes: Names,
        weights: Option<Vec<f64>>,
        features: Option<Names>,
    }
    let body: Body = from_json(bytes)?;
    Ok(Lesson {
        input: input(body.rows, body.texts, body.features.is_some())?,
        classes: body.classes.0,
        weights: body.weights,
        features: body.features.map(|names| names.0),
    })
}

/// The rows or the sentences of a body, which has one of them.
fn input(
    rows: Option<FlatRows>,
    texts: Option<Names>,
    names_columns: bool,
) -> Result<Input<'static>, Problem> {
    match (rows, texts) {
        (Some(rows), None) => Ok(Input::Rows(rows.table()?)),
        (None, Some(_)) if names_columns => Err(Problem::bad_request(
            "`features` names the columns of rows: leave it out for `texts`",
        )),
        (None, Some(texts)) => Ok(Input::Texts(texts.0)),
        (Some(_), Some(_)) => Err(Problem::bad_request("give `rows` or `texts`, not both")),
        (None, None) => Err(Problem::bad_request(
            "the JSON cannot be read: missing field `rows`, or `texts` for sentences",
        )),
    }
}

fn learn_form(parts: Vec<Part<'_>>) -> Result<Lesson<'_>, Problem> {
    let (mut images, mut classes, mut class) = (Vec::new(), Vec::new(), None);
    for part in parts {
        match part.name.as_str() {
            "class" => class = Some(text(&part)?.to_owned()),
            "image" => {
                let class: &Option<String> = &class;
                classes.push(class.clone().ok_or_else(|| {
                    Problem::bad_request("an image comes before any class: send the field `class` first")
                })?);
                images.push(part.content);
            }
            _ => return Err(unknown_field(&part, "`class` and `image`")),
        }
    }
    Ok(Lesson {
        input: Input::Images(images),
        classes,
        weights: None,
        features: None,
    })
}

fn predict_json(bytes: &[u8]) -> Result<Question<'static>, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        rows: Option<FlatRows>,
        texts: Option<Names>,
        top: Option<usize>,
        #[serde(default)]
        proba: bool,
        #[serde(default)]
        reject: f64,
        features: Option<Names>,
    }
    let body: Body = from_json(bytes)?;
    Ok(Question {
        input: input(body.rows, body.texts, body.features.is_some())?,
        detail: detail(body.top, body.proba)?,
        reject: rate(body.reject)?,
        features: body.features.map(|names| names.0),
    })
}

fn predict_form(parts: Vec<Part<'_>>) -> Result<Question<'_>, Problem> {
    let (mut images, mut top, mut proba, mut reject) = (Vec::new(), None, false, 0.0);
    for part in parts {
        match part.name.as_str() {
            "image" => images.push(part.content),
            "top" => top = Some(parsed(&part, "a number of classes")?),
            "proba" => proba = parsed(&part, "true or false")?,
            "reject" => reject = parsed(&part, "a number from 0 to 1")?,
            _ => return Err(unknown_field(&part, "`image`, `top`, `proba` and `reject`")),
        }
    }
    Ok(Question {
        input: Input::Images(images),
        detail: detail(top, proba)?,
        reject: rate(reject)?,
        features: None,
    })
}

fn detail(top: Option<usize>, proba: bool) -> Result<Detail, Problem> {
    match (top, proba) {
        (Some(_), true) => Err(Problem::bad_request("give `top` or `proba`, not both")),
        (Some(0), _) => Err(Problem::bad_request("`top` is 0: it must be above 0")),
        (Some(k), _) => Ok(Detail::Top(k)),
        (None, true) => Ok(Detail::All),
        (None, false) => Ok(Detail::Class),
    }
}

pub(crate) fn rate(reject: f64) -> Result<f64, Problem> {
    if (0.0..=1.0).contains(&reject) {
        return Ok(reject);
    }
    Err(Problem::bad_request(format!(
        "`reject` is {reject}: it must be from 0 to 1"
    )))
}

fn memory(part: &Part<'_>) -> Result<Model, Problem> {
    let model = Model::received(&part.name, part.content)?;
    model.consolidation()?;
    Ok(model)
}

fn text<'a>(part: &Part<'a>) -> Result<&'a str, Problem> {
    str::from_utf8(part.content)
        .map_err(|_| Problem::bad_request(format!("the field `{}` is not UTF-8", part.name)))
}

fn parsed<T: std::str::FromStr>(part: &Part<'_>, allowed: &str) -> Result<T, Problem> {
    let wrong = |_| Problem::bad_request(format!("the field `{}` is not {allowed}", part.name));
    text(part)?.trim().parse().map_err(wrong)
}

fn unknown_field(part: &Part<'_>, known: &str) -> Problem {
    let name: String = part.name.chars().filter(|c| !c.is_control()).take(40).collect();
    Problem::bad_request(format!(
        "the form has an unknown field `{name}`: known are {known}"
    ))
}

/// Reads one JSON object. Lists are refused: their items would be taken for the fields, in the order of declaration.
pub(crate) fn from_json<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Problem> {
    match bytes.trim_ascii_start().first() {
        None => return Err(Problem::bad_request("the body is empty: send a JSON object")),
        Some(b'{') => {}
        Some(_) => return Err(Problem::bad_request("the body is not a JSON object: send one")),
    }
    serde_json::from_slice(bytes).map_err(|error| unreadable(&error))
}

/// The problem of a body that cannot be read.
pub(crate) fn unreadable(error: &serde_json::Error) -> Problem {
    let said = |text: String, (type_name, words): (&str, &str)| text.replace(type_name, words);
    let message = IN_WORDS.into_iter().fold(error.to_string(), said);
    Problem::bad_request(format!("the JSON cannot be read: {message}"))
}

/// Most entries of a list of names or texts: an entry of a few bytes takes many times as much once it is read.
pub(crate) const ENTRIES: usize = 1 << 20;

/// A list of at most `N` entries.
pub(crate) struct Few<T, const N: usize>(pub(crate) Vec<T>);

/// A list of names or texts.
type Names = Few<String, ENTRIES>;

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Few<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = FewVisitor::<T, N>(PhantomData);
        deserializer.deserialize_seq(read).map(Self)
    }
}

struct FewVisitor<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for FewVisitor<T, N> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(entry) = list.next_element()? {
            if read.len() == N {
                return Err(A::Error::custom(format!("a list has more than {N} entries")));
            }
            read.push(entry);
        }
        Ok(read)
    }
}

/// Rows of one width, read into one list of values.
#[derive(Debug, Default)]
struct FlatRows {
    values: Vec<f32>,
    n_rows: usize,
    n_features: usize,
}

impl FlatRows {
    fn table(self) -> Result<Table, Problem> {
        // Without rows there is no width either; an empty request is refused elsewhere.
        let n_features = if self.n_rows == 0 { 1 } else { self.n_features };
        Ok(Table::new(self.values, n_features)?)
    }
}

impl<'de> Deserialize<'de> for FlatRows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor)
    }
}

struct RowsVisitor;

impl<'de> Visitor<'de> for RowsVisitor {
    type Value = FlatRows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of rows, each a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<FlatRows, A::Error> {
        let mut flat = FlatRows::default();
        while let Some(width) = rows.next_element_seed(Row(&mut flat.values))? {
            if flat.n_rows == 0 {
                flat.n_features = width;
            }
            if width != flat.n_features {
                let (row, first) = (flat.n_rows, flat.n_features);
                return Err(A::Error::custom(format!(
                    "row {row} has {width} features, but row 0 has {first}"
                )));
            }
            flat.n_rows += 1;
        }
        Ok(flat)
    }
}

/// Appends one row to the values and returns its width.
struct Row<'a>(&'a mut Vec<f32>);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a row: a list of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<usize, A::Error> {
        let before = self.0.len();
        while let Some(value) = values.next_element::<f32>()? {
            self.0.push(value);
        }
        Ok(self.0.len() - before)
    }
}
