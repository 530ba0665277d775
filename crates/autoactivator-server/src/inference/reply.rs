//! From answers to the body of an inference response.

use autoactivator::Table;
use autoactivator::model::Detail;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::JSON_LENGTH;
use super::request::{Asked, Output};
use crate::answers::rows_together;
use crate::edition::Edition;
use crate::limits::Limits;
use crate::pieces::Pieces;
use crate::problem::Problem;
use crate::wanted::Wanted;

/// Bytes of a number in JSON, at most.
const NUMBER: usize = 16;

/// Refuses a question whose answer might be larger than allowed, before anything is computed.
pub(super) fn check_size(classes: &[String], rows: usize, limits: &Limits) -> Result<(), Problem> {
    let longest = classes.iter().map(String::len).max().unwrap_or(0);
    let bytes = rows.saturating_mul(2 * longest + NUMBER * (classes.len() + 1));
    if bytes <= limits.answer_bytes {
        return Ok(());
    }
    Err(Problem::too_large(format!(
        "the answers to {rows} rows may take more than the limit of {} MB: send fewer rows at a time",
        limits.answer_bytes >> 20
    )))
}

/// What the model says of all rows.
#[derive(Default)]
struct Said {
    classes: Vec<Option<u32>>,
    probabilities: Vec<f32>,
    known: Vec<f32>,
}

impl Said {
    fn of(edition: &Edition, x: &Table, asked: &Asked, wanted: &Wanted) -> Result<Self, Problem> {
        let asks = |output| asked.outputs.iter().any(|(one, _)| *one == output);
        let detail = if asks(Output::Probabilities) {
            Detail::All
        } else {
            Detail::Class
        };
        let mut said = Self::default();
        x.rows().check_values()?;
        for piece in x.rows().chunks(rows_together(edition)) {
            wanted.check()?;
            for answer in edition.model.answer(piece, detail, asked.reject)? {
                said.classes.push(answer.class);
                said.probabilities.extend(answer.probabilities);
            }
            if asks(Output::Known) {
                said.known.extend(edition.model.known(piece)?);
            }
        }
        Ok(said)
    }
}

/// Answers a question: JSON, and behind it the tensors that were asked for as bytes. Beside it, the rows whose answer is
/// "unknown".
pub(super) fn reply(
    name: &str,
    edition: &Edition,
    x: &Table,
    asked: &Asked,
    wanted: &Wanted,
) -> Result<(Response, Vec<usize>), Problem> {
    let said = Said::of(edition, x, asked, wanted)?;
    let is_unknown = |&place: &usize| said.classes[place].is_none();
    let unknown = (0..said.classes.len()).filter(is_unknown).collect();
    let classes = edition.model.classes();
    let class = |class: &Option<u32>| class.map_or("", |place| classes[place as usize].as_str());
    let named = || said.classes.iter().map(class);
    let (mut json, mut binary) = (Pieces::default(), Pieces::default());
    json.write(&head(name, edition, asked));
    for (place, (output, as_bytes)) in asked.outputs.iter().enumerate() {
        let (kind, numbers, shape) = match output {
            Output::Class => ("BYTES", &[][..], json!([said.classes.len()])),
            Output::Probabilities => {
                let shape = json!([said.classes.len(), classes.len()]);
                ("FP32", &said.probabilities[..], shape)
            }
            Output::Known => ("FP32", &said.known[..], json!([said.classes.len()])),
        };
        let separator = if place == 0 { "" } else { "," };
        let name = output.name();
        json.write(&format!(
            r#"{separator}{{"name":"{name}","datatype":"{kind}","shape":{shape},"#
        ));
        let before = binary.len();
        match (as_bytes, output) {
            (true, Output::Class) => named().for_each(|class| {
                binary.write_bytes(&(class.len() as u32).to_le_bytes());
                binary.write(class);
            }),
            (true, _) => numbers
                .iter()
                .for_each(|number| binary.write_bytes(&number.to_le_bytes())),
            (false, Output::Class) => list(&mut json, named().map(|class| json!(class).to_string())),
            (false, _) => list(&mut json, numbers.iter().map(number)),
        }
        if *as_bytes {
            let size = binary.len() - before;
            json.write(&format!(r#""parameters":{{"binary_data_size":{size}}}}}"#));
        }
    }
    json.write("]}");
    if asked.outputs.iter().all(|(_, as_bytes)| !as_bytes) {
        let kind = [(header::CONTENT_TYPE, "application/json")];
        return Ok(((kind, Body::new(json)).into_response(), unknown));
    }
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (JSON_LENGTH, json.len().to_string()),
    ];
    json.append(binary);
    Ok(((headers, Body::new(json)).into_response(), unknown))
}

/// The beginning of the JSON, up to the list of outputs. The order of classes changes as the model learns, so it comes
/// with the probabilities.
fn head(name: &str, edition: &Edition, asked: &Asked) -> String {
    let mut head = Map::new();
    head.insert("model_name".to_owned(), json!(name));
    head.insert("model_version".to_owned(), json!(edition.version.to_string()));
    if let Some(id) = &asked.id {
        head.insert("id".to_owned(), json!(id));
    }
    let parameters = json!({ "classes": edition.model.classes(), "sha256": edition.sha256 });
    head.insert("parameters".to_owned(), parameters);
    let text = Value::Object(head).to_string();
    let fields = text.strip_suffix('}').unwrap_or_default();
    format!(r#"{fields},"outputs":["#)
}

/// A number in JSON: the smallest ones with an exponent, so that none is longer than [`NUMBER`].
fn number(number: &f32) -> String {
    serde_json::to_string(number).unwrap_or_default()
}

/// Writes a list as the data of a tensor, and ends the tensor.
fn list(json: &mut Pieces, items: impl Iterator<Item = String>) {
    json.write(r#""data":["#);
    for (place, item) in items.enumerate() {
        if place > 0 {
            json.write(",");
        }
        json.write(&item);
    }
    json.write("]}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_longer_than_was_said_before() {
        for n in [
            0.0,
            0.1,
            1.0 / 3.0,
            1e-7,
            f32::MIN_POSITIVE,
            1.175_494_2e-38,
            f32::from_bits(1),
        ] {
            let text = number(&n);
            assert!(text.len() < NUMBER && text.parse::<f32>() == Ok(n), "{text}");
        }
    }
}
