//! From the body of an inference request to a question: pure functions of bytes, so that they can be fuzzed.
//!
//! ```
//! use autoactivator_server::{Limits, inference};
//!
//! let body = br#"{"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1]}]}"#;
//! let question = inference::request::read(None, body, &Limits::default()).unwrap();
//! assert_eq!(question.asked.outputs.len(), 2);
//! ```

use std::borrow::Cow;
use std::fmt;

use autoactivator::Table;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use crate::body::{self, ENTRIES, Few};
use crate::limits::Limits;
use crate::problem::Problem;

/// A question about rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Question<'a> {
    /// What is to be judged.
    pub given: Given<'a>,
    /// What is to be answered.
    pub asked: Asked,
}

/// What is to be judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Given<'a> {
    /// Rows of features.
    Rows(Table),
    /// Sentences, or image files.
    Items(Vec<Cow<'a, [u8]>>),
}

/// What is to be answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What the client calls this request.
    pub id: Option<String>,
    /// The outputs, and whether each is to come as bytes.
    pub outputs: Vec<(Output, bool)>,
    /// The fraction of known rows that may be answered "unknown".
    pub reject: f64,
}

/// Something that a model says of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The name of the class; empty for "unknown".
    Class,
    /// The probability of every class.
    Probabilities,
    /// The share of known rows that are at least as strange.
    Known,
}

impl Output {
    const ALL: [Self; 3] = [Self::Class, Self::Probabilities, Self::Known];

    /// The name of its tensor, the same as in an ONNX file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Class => "class",
            Self::Probabilities => "probabilities",
            Self::Known => "known",
        }
    }
}

/// Most tensors in a list.
const TENSORS: usize = 100;

#[derive(Deserialize)]
struct Body {
    id: Option<String>,
    #[serde(default)]
    parameters: Parameters,
    inputs: Few<Tensor, TENSORS>,
    outputs: Option<Few<Named, TENSORS>>,
}

/// Those parameters of requests and tensors that mean something here; clients send others, too.
#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    binary_data_output: bool,
    binary_data: Option<bool>,
    binary_data_size: Option<usize>,
    #[serde(default)]
    classification: usize,
    shared_memory_region: Option<String>,
    #[serde(default)]
    reject: f64,
}

#[derive(Deserialize)]
struct Tensor {
    datatype: String,
    shape: Vec<usize>,
    #[serde(default)]
    parameters: Parameters,
    data: Option<Elements>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    #[serde(default)]
    parameters: Parameters,
}

/// Reads a body, of which the first `json_length` bytes are JSON, or all of them.
pub fn read<'a>(
    json_length: Option<usize>,
    bytes: &'a [u8],
    limits: &Limits,
) -> Result<Question<'a>, Problem> {
    let cut = || Problem::bad_request("the body is shorter than the JSON that it announces: send all of it");
    let (json, binary) = bytes
        .split_at_checked(json_length.unwrap_or(bytes.len()))
        .ok_or_else(cut)?;
    let body: Body = body::from_json(json)?;
    let outputs = outputs(&body)?;
    let Ok([input]) = <[Tensor; 1]>::try_from(body.inputs.0) else {
        return Err(Problem::bad_request(
            "the model has one input: send exactly one tensor",
        ));
    };
    let given = given(input, binary)?;
    let n_rows = match &given {
        Given::Rows(table) => table.rows().len(),
        Given::Items(items) => items.len(),
    };
    body::check_number(n_rows, limits)?;
    let asked = Asked {
        id: body.id,
        outputs,
        reject: body::rate(body.parameters.reject)?,
    };
    Ok(Question { given, asked })
}

fn outputs(body: &Body) -> Result<Vec<(Output, bool)>, Problem> {
    let by_default = body.parameters.binary_data_output;
    let named = body.outputs.as_ref().map_or(&[][..], |outputs| &outputs.0);
    if named.is_empty() {
        return Ok(vec![
            (Output::Class, by_default),
            (Output::Probabilities, by_default),
        ]);
    }
    let output = |named: &Named| {
        let unknown = || {
            let known = Output::ALL.map(Output::name).join("`, `");
            Problem::bad_request(format!("an output has an unknown name: known are `{known}`"))
        };
        let found = Output::ALL.into_iter().find(|output| output.name() == named.name);
        refuse_memory(&named.parameters)?;
        if named.parameters.classification > 0 {
            return Err(Problem::bad_request(
                "`classification` is not supported: ask for `class` and `probabilities`",
            ));
        }
        let binary = named.parameters.binary_data.unwrap_or(by_default);
        Ok((found.ok_or_else(unknown)?, binary))
    };
    let asked = named.iter().map(output).collect::<Result<Vec<_>, _>>()?;
    // However often an output is asked for, it would be answered as often.
    let once = |(place, (output, _)): (usize, &(Output, bool))| {
        asked[..place].iter().all(|(before, _)| before != output)
    };
    if asked.iter().enumerate().all(once) {
        return Ok(asked);
    }
    Err(Problem::bad_request(
        "an output is asked for twice: name each once",
    ))
}

fn refuse_memory(parameters: &Parameters) -> Result<(), Problem> {
    match parameters.shared_memory_region {
        Some(_) => Err(Problem::bad_request(
            "shared memory is not supported: send tensors in the body",
        )),
        None => Ok(()),
    }
}

fn given<'a>(tensor: Tensor, binary: &'a [u8]) -> Result<Given<'a>, Problem> {
    refuse_memory(&tensor.parameters)?;
    let (shape, kind) = (&tensor.shape, tensor.datatype.as_str());
    if kind != "BYTES" && !KINDS.contains(&kind) {
        return Err(unknown_kind());
    }
    if shape.len() > 2 {
        return Err(bad_shape(kind));
    }
    let sized = tensor.parameters.binary_data_size.unwrap_or(0);
    if sized != binary.len() {
        return Err(Problem::bad_request(format!(
            "{} bytes follow the JSON, but its tensor states {sized}: state their number as `binary_data_size`",
            binary.len()
        )));
    }
    let (numbers, items) = match tensor.data {
        Some(_) if !binary.is_empty() => {
            return Err(Problem::bad_request(
                "the tensor has both `data` and bytes: send one of them",
            ));
        }
        Some(data) => (
            data.numbers,
            data.texts
                .into_iter()
                .map(|text| Cow::Owned(text.into_bytes()))
                .collect(),
        ),
        None if kind == "BYTES" => (Vec::new(), split(binary)?),
        None => (numbers(kind, binary)?, Vec::new()),
    };
    let found = if kind == "BYTES" {
        items.len()
    } else {
        numbers.len()
    };
    let stated = shape.iter().try_fold(1usize, |all, &side| all.checked_mul(side));
    if stated != Some(found) || numbers.len() + items.len() != found {
        return Err(Problem::bad_request(format!(
            "the tensor does not hold as many elements of {kind} as its shape {shape:?} says"
        )));
    }
    match (kind, &shape[..]) {
        ("BYTES", &[_] | &[_, 1]) => Ok(Given::Items(items)),
        (_, &[_, width]) if kind != "BYTES" => Ok(Given::Rows(Table::new(numbers, width.max(1))?)),
        _ => Err(bad_shape(kind)),
    }
}

fn bad_shape(kind: &str) -> Problem {
    Problem::bad_request(if kind == "BYTES" {
        "give sentences or images the shape [n]"
    } else {
        "give rows the shape [n, n_features]"
    })
}

/// The kinds of numbers that can be features.
const KINDS: [&str; 10] = [
    "FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
];

fn unknown_kind() -> Problem {
    let known = KINDS.join(", ");
    Problem::bad_request(format!(
        "the datatype is not known: send one of {known}, or BYTES"
    ))
}

/// Numbers of this kind from bytes, the lowest byte of each first.
fn numbers(kind: &str, bytes: &[u8]) -> Result<Vec<f32>, Problem> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Option<Vec<f32>> {
        let (chunks, rest) = bytes.as_chunks::<N>();
        rest.is_empty()
            .then(|| chunks.iter().map(|&chunk| number(chunk)).collect())
    }
    let found = match kind {
        "FP32" => each(bytes, f32::from_le_bytes),
        "FP64" => each(bytes, |b| f64::from_le_bytes(b) as f32),
        "INT8" => each(bytes, |b| i8::from_le_bytes(b).into()),
        "INT16" => each(bytes, |b| i16::from_le_bytes(b).into()),
        "INT32" => each(bytes, |b| i32::from_le_bytes(b) as f32),
        "INT64" => each(bytes, |b| i64::from_le_bytes(b) as f32),
        "UINT8" => each(bytes, |b| u8::from_le_bytes(b).into()),
        "UINT16" => each(bytes, |b| u16::from_le_bytes(b).into()),
        "UINT32" => each(bytes, |b| u32::from_le_bytes(b) as f32),
        "UINT64" => each(bytes, |b| u64::from_le_bytes(b) as f32),
        _ => return Err(unknown_kind()),
    };
    found.ok_or_else(|| Problem::bad_request(format!("the bytes are not a whole number of {kind}")))
}

/// Elements of BYTES: each begins with its length, in four bytes.
fn split(mut bytes: &[u8]) -> Result<Vec<Cow<'_, [u8]>>, Problem> {
    let cut =
        || Problem::bad_request("an element of BYTES is cut short: put its length before it, in four bytes");
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let (item, rest) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or_else(cut)?;
        items.push(Cow::Borrowed(item));
        bytes = rest;
    }
    Ok(items)
}

/// The elements of a tensor in JSON: one list, or lists in lists.
#[derive(Default)]
struct Elements {
    numbers: Vec<f32>,
    texts: Vec<String>,
}

impl<'de> Deserialize<'de> for Elements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut elements = Self::default();
        deserializer.deserialize_seq(Into(&mut elements))?;
        Ok(elements)
    }
}

/// Appends what it reads.
struct Into<'a>(&'a mut Elements);

impl<'de> DeserializeSeed<'de> for Into<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Into<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "numbers or texts, in a list or in lists")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(Into(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<(), E> {
        self.0.numbers.push(number as f32);
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<(), E> {
        self.visit_f64(number as f64)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        if self.0.texts.len() == ENTRIES {
            return Err(E::custom(format!("more than {ENTRIES} texts")));
        }
        self.0.texts.push(text.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(json: &str, binary: &[u8]) -> Result<Given<'static>, String> {
        let body: &'static [u8] = [json.as_bytes(), binary].concat().leak();
        let read = read(Some(json.len()), body, &Limits::default());
        read.map(|question| question.given)
            .map_err(|problem| problem.message)
    }

    fn tensor(kind: &str, shape: &str, rest: &str) -> String {
        format!(r#"{{"inputs": [{{"name": "x", "datatype": "{kind}", "shape": {shape}{rest}}}]}}"#)
    }

    #[test]
    fn rows_are_the_same_in_json_and_as_bytes_of_every_kind() {
        let rows = Given::Rows(Table::new(vec![1.0, 2.0, 3.0, 4.0], 2).unwrap());
        for data in ["[1, 2, 3, 4]", "[[1.0, 2.0], [3.0, 4.0]]"] {
            let json = tensor("FP32", "[2, 2]", &format!(r#", "data": {data}"#));
            assert_eq!(asked(&json, &[]).unwrap(), rows, "{data}");
        }
        let bytes = |kind: &str| -> Vec<u8> {
            let number = |v: u8| match kind {
                "FP32" => f32::from(v).to_le_bytes().to_vec(),
                "FP64" => f64::from(v).to_le_bytes().to_vec(),
                _ => {
                    let bits: usize = kind.trim_start_matches(char::is_alphabetic).parse().unwrap();
                    u64::from(v).to_le_bytes()[..bits / 8].to_vec()
                }
            };
            [1, 2, 3, 4].into_iter().flat_map(number).collect()
        };
        for kind in KINDS {
            let sized = format!(r#", "parameters": {{"binary_data_size": {}}}"#, bytes(kind).len());
            let json = tensor(kind, "[2, 2]", &sized);
            assert_eq!(asked(&json, &bytes(kind)).unwrap(), rows, "{kind}");
        }
    }

    #[test]
    fn texts_and_files_are_elements_of_bytes() {
        let binary = [&5u32.to_le_bytes()[..], b"hello", &0u32.to_le_bytes()].concat();
        let json = tensor("BYTES", "[2]", r#", "parameters": {"binary_data_size": 13}"#);
        let both = Given::Items(vec![Cow::Borrowed(b"hello"), Cow::Borrowed(b"")]);
        assert_eq!(asked(&json, &binary).unwrap(), both);
        let json = tensor("BYTES", "[2, 1]", r#", "data": ["hello", ""]"#);
        assert_eq!(asked(&json, &[]).unwrap(), both);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let sized = r#", "parameters": {"binary_data_size": 6}"#;
        for (json, binary, part) in [
            (
                tensor("FP32", "[1, 3]", r#", "data": [1, 2]"#),
                &b""[..],
                "its shape [1, 3]",
            ),
            (
                tensor("FP32", "[2]", r#", "data": [1, 2]"#),
                b"",
                "[n, n_features]",
            ),
            (
                tensor("FP16", "[1, 2]", r#", "data": [1, 2]"#),
                b"",
                "one of FP32",
            ),
            (
                tensor("FP32", "[1, 2]", r#", "data": ["a", "b"]"#),
                b"",
                "elements of FP32",
            ),
            (
                tensor("BYTES", "[2]", r#", "data": [1, 2]"#),
                b"",
                "elements of BYTES",
            ),
            (
                tensor("FP32", "[1, 2]", sized),
                b"123456",
                "not a whole number of FP32",
            ),
            (
                tensor("FP32", "[1, 2]", sized),
                b"12345678",
                "8 bytes follow the JSON",
            ),
            (tensor("BYTES", "[1]", sized), b"\x09\0\0\0ab", "cut short"),
            (
                tensor("FP32", "[18446744073709551615, 2]", r#", "data": []"#),
                b"",
                "its shape",
            ),
            (
                tensor("FP32", "[0, 2]", r#", "data": []"#),
                b"",
                "there is no row",
            ),
            (r#"{"inputs": []}"#.to_owned(), b"", "exactly one tensor"),
            (
                r#"{"inputs": [], "outputs": [{"name": "known"}, {"name": "class"}, {"name": "known"}]}"#
                    .to_owned(),
                b"",
                "asked for twice",
            ),
            (
                r#"{"inputs": [], "outputs": [{"name": "label"}]}"#.to_owned(),
                b"",
                "`class`, `probabilities`, `known`",
            ),
        ] {
            let error = asked(&json, binary).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
        assert!(read(Some(9), b"{}", &Limits::default()).is_err());
    }
}
