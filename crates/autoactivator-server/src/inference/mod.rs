//! The Open Inference Protocol, version 2: the model as tensors in and out, for clients of Triton and KServe.
//!
//! [`request`] turns a body into a question, `reply` turns answers into a body. A tensor is in JSON, or it is bytes that
//! follow the JSON (the protocol's extension for binary data), which is what Triton's client sends by default.

mod reply;
pub mod request;

use std::borrow::Cow;
use std::sync::Arc;

use autoactivator::{Model, Table};
use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::app::{App, Effort};
use crate::body::Input;
use crate::client::Client;
use crate::describe::image_of;
use crate::edition::Edition;
use crate::problem::Problem;
use crate::unknown::Looks;
use crate::wanted::Wanted;
use request::{Given, Output};

/// Says how many bytes of a body are JSON, if tensors follow it as bytes.
const JSON_LENGTH: HeaderName = HeaderName::from_static("inference-header-content-length");

/// What the paths of this protocol begin with.
pub(crate) const PREFIX: &str = "/v2";

type Shared = State<Arc<App>>;
type Named = Result<Path<String>, PathRejection>;
type Answered = Result<Response, Told>;

/// A problem as clients of this protocol expect it.
pub(crate) struct Told(Problem);

impl From<Problem> for Told {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        self.0.at(PREFIX)
    }
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// The server.
pub(crate) async fn server() -> Response {
    json_response(&json!({
        "name": "autoactivator",
        "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data"],
    }))
}

/// Whether the process is alive.
pub(crate) async fn live() -> Response {
    json_response(&json!({ "live": true }))
}

/// Whether questions are answered. A model that has learned nothing can still be taught, so it is no reason not to send
/// requests here.
pub(crate) async fn ready() -> Response {
    json_response(&json!({ "ready": true }))
}

/// What goes into the model, and what comes out.
pub(crate) async fn model(State(app): Shared, model: Named) -> Answered {
    let name = checked_name(&app, model)?;
    let edition = app.edition();
    let classes = edition.model.classes();
    let mut outputs: Vec<Value> = vec![
        json!({ "name": Output::Class.name(), "datatype": "BYTES", "shape": [-1] }),
        json!({ "name": Output::Probabilities.name(), "datatype": "FP32", "shape": [-1, classes.len()] }),
    ];
    if edition.model.check_rejects().is_ok() {
        outputs.push(json!({ "name": Output::Known.name(), "datatype": "FP32", "shape": [-1] }));
    }
    Ok(json_response(&json!({
        "name": name,
        "versions": [edition.version.to_string()],
        "platform": "autoactivator",
        "inputs": [input(&app, &edition)],
        "outputs": outputs,
        "parameters": { "classes": classes, "sha256": edition.sha256 },
    })))
}

fn input(app: &App, edition: &Edition) -> Value {
    match takes(app) {
        Takes::Rows => {
            let width = edition.model.n_features().map_or(-1, |width| width as i64);
            json!({ "name": "x", "datatype": "FP32", "shape": [-1, width] })
        }
        Takes::Texts => json!({ "name": "text", "datatype": "BYTES", "shape": [-1] }),
        Takes::Images => json!({ "name": "image", "datatype": "BYTES", "shape": [-1] }),
    }
}

/// Whether the model has learned anything to answer with.
pub(crate) async fn model_ready(State(app): Shared, model: Named) -> Answered {
    let name = checked_name(&app, model)?;
    if app.edition().model.classes().is_empty() {
        let message = "the model has learned nothing yet: teach it with /v1/learn";
        return Err(Problem::unavailable("NothingLearned", message).into());
    }
    Ok(json_response(&json!({ "name": name, "ready": true })))
}

/// Answers a question.
pub(crate) async fn infer(
    State(app): Shared,
    Extension(client): Extension<Client>,
    model: Named,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let name = checked_name(&app, model)?;
    let json_length = json_length(&headers)?;
    let limit = app.limits.body_bytes;
    let received = app.read(&app.questions, client, &headers, body, limit).await?;
    let edition = app.edition();
    let effort = effort(&app, &edition, received.bytes.len());
    let at_hand = Arc::clone(&app);
    let reply = move |wanted: &Wanted| {
        let question = request::read(json_length, &received.bytes, &at_hand.limits)?;
        edition.model.check_reject(question.asked.reject)?;
        let looks = looks(&at_hand, &question.given, question.asked.reject);
        let x = rows(&at_hand, &edition.model, question.given, wanted)?;
        reply::check_size(edition.model.classes(), x.rows().len(), &at_hand.limits)?;
        let (reply, unknown) = reply::reply(&name, &edition, &x, &question.asked, wanted)?;
        at_hand.keep(&x, &unknown, question.asked.reject, looks.as_ref());
        Ok(reply)
    };
    Ok(app.answer(effort, client, reply).await?)
}

/// The name of the model, which is that of its file; any other is refused.
fn checked_name(app: &App, asked: Named) -> Result<String, Problem> {
    let Path(asked) = asked.map_err(|error| Problem::bad_request(error.body_text()))?;
    let stem = app.path.file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    if asked == name {
        return Ok(name);
    }
    let message = format!("there is no model of this name: the one that is served here is '{name}'");
    Err(Problem::not_found("UnknownModel", message))
}

fn json_length(headers: &HeaderMap) -> Result<Option<usize>, Problem> {
    let Some(value) = headers.get(JSON_LENGTH) else {
        return Ok(None);
    };
    let length = value.to_str().ok().and_then(|length| length.parse().ok());
    let wrong =
        || Problem::bad_request("the header Inference-Header-Content-Length is not a number of bytes");
    length.map(Some).ok_or_else(wrong)
}

/// What a model takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Rows,
    Texts,
    Images,
}

/// What the model takes. Rows of pixels are rows; they may come as images, too.
fn takes(app: &App) -> Takes {
    match (&app.encoder, &app.backbones) {
        (Some(_), _) => Takes::Texts,
        (None, Some(_)) => Takes::Images,
        (None, None) => Takes::Rows,
    }
}

/// How much work a question of so many bytes is. A number of a row takes at least two bytes, in JSON as well as in binary
/// data.
fn effort(app: &App, edition: &Edition, n_bytes: usize) -> Effort {
    match takes(app) {
        Takes::Texts => Effort::of_texts(n_bytes),
        Takes::Images => Effort::Much,
        Takes::Rows => {
            let width = edition.model.n_features().unwrap_or(1).max(1);
            Effort::of_rows(n_bytes, n_bytes / (2 * width) + 1, edition)
        }
    }
}

/// What the rows of an input are computed from, if those that are answered "unknown" are kept.
fn looks<'a>(app: &App, given: &Given<'a>, reject: f64) -> Option<Looks<'a>> {
    if app.keeper.is_none() || reject == 0.0 {
        return None;
    }
    Some(match (given, takes(app)) {
        (Given::Items(items), Takes::Images) => Looks::Images(items.clone()),
        (Given::Items(items), Takes::Texts) => {
            let texts = items
                .iter()
                .map(|item| String::from_utf8_lossy(item).into_owned());
            Looks::Texts(texts.collect())
        }
        (Given::Items(_), Takes::Rows) | (Given::Rows(_), _) => Looks::Rows,
    })
}

/// The rows of an input.
fn rows(app: &App, model: &Model, given: Given<'_>, wanted: &Wanted) -> Result<Table, Problem> {
    let items = match given {
        Given::Rows(table) => return app.table(model, Input::Rows(table), None, wanted),
        Given::Items(items) => items,
    };
    if app.backbones.is_some() || image_of(&**model).is_some() {
        let images = items.iter().map(|item| &**item).collect();
        return app.table(model, Input::Images(images), None, wanted);
    }
    let text = |(place, item): (usize, &Cow<'_, [u8]>)| {
        let text = str::from_utf8(item).map(str::to_owned);
        text.map_err(|_| Problem::bad_request(format!("element {place} of the input is not UTF-8")))
    };
    let texts = items
        .iter()
        .enumerate()
        .map(text)
        .collect::<Result<_, Problem>>()?;
    app.table(model, Input::Texts(texts), None, wanted)
}
