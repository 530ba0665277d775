//! Label Studio's protocol for models: its annotations teach the model, and its tasks get predictions.
//!
//! [`request`] reads what Label Studio sends; `config` finds out from the labelling interface what is labelled, and with
//! which choices. Nothing is remembered between requests: each of them brings its interface along.

mod config;
mod field;
pub mod request;

use std::sync::Arc;

use autoactivator::model::{Detail, class_of};
use autoactivator::{Labels, Model, Table};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::answers;
use crate::app::{App, Effort, Received};
use crate::body::{self, Input};
use crate::change::Change;
use crate::client::Client;
use crate::edition::Edition;
use crate::key::Key;
use crate::problem::Problem;
use crate::room::Room;
use crate::routes::submit;
use crate::wanted::Wanted;
use config::Interface;
use request::{Item, Lesson, Tasks};

type Shared = State<Arc<App>>;
type Sent = (Extension<Client>, HeaderMap, Body);
type Answered = Result<Response, Problem>;

/// Who sent a request, and what.
async fn received(
    app: &App,
    room: &Room,
    (Extension(client), headers, body): Sent,
) -> Result<(Client, Received), Problem> {
    let limit = app.limits.body_bytes;
    let received = app.read(room, client, &headers, body, limit).await?;
    Ok((client, received))
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// What Label Studio shows as the version of a model.
fn version(edition: &Edition) -> String {
    let digest = edition.sha256.get(..8).unwrap_or_default();
    format!("{}-{digest}", edition.version)
}

/// Whether the process is alive.
pub(crate) async fn health() -> Response {
    json_response(&json!({ "status": "UP" }))
}

/// Label Studio connects: the interface must be one whose labels can be learned.
pub(crate) async fn setup(State(app): Shared, sent: Sent) -> Answered {
    let (client, received) = received(&app, &app.questions, sent).await?;
    let edition = app.edition();
    let reply = move |_: &Wanted| {
        request::setup(&received.content_type, &received.bytes)?;
        Ok(json_response(&json!({ "model_version": version(&edition) })))
    };
    app.answer(Effort::Much, client, reply).await
}

/// Predicts the choice for each task.
pub(crate) async fn predict(State(app): Shared, sent: Sent) -> Answered {
    let (client, received) = received(&app, &app.questions, sent).await?;
    let (at_hand, edition) = (Arc::clone(&app), app.edition());
    let reply = move |wanted: &Wanted| {
        let tasks = request::tasks(&received.content_type, &received.bytes, &at_hand.limits)?;
        let results = predicted(&at_hand, &edition, tasks, wanted)?;
        Ok(json_response(
            &json!({ "results": results, "model_version": version(&edition) }),
        ))
    };
    app.answer(Effort::Much, client, reply).await
}

fn predicted(app: &App, edition: &Edition, tasks: Tasks, wanted: &Wanted) -> Result<Vec<Value>, Problem> {
    let Tasks { interface, items } = tasks;
    let model = &edition.model;
    // A project begins before anything is labelled.
    if items.is_empty() || model.classes().is_empty() {
        let nothing = json!({ "result": [], "score": 0.0, "model_version": version(edition) });
        return Ok(vec![nothing; items.len()]);
    }
    answers::check_size(model.classes(), Detail::Top(1), items.len(), &app.limits)?;
    let x = rows(app, model, &items, wanted)?;
    let mut results = Vec::with_capacity(items.len());
    for piece in x.rows().chunks(answers::rows_together(edition)) {
        wanted.check()?;
        for answer in model.answer(piece, Detail::Top(1), 0.0)? {
            let class = class_of(model.classes(), &answer).unwrap_or_default();
            let sure = answer
                .class
                .and_then(|place| answer.probabilities.get(place as usize));
            results.push(json!({
                "result": [chosen(&interface, class)],
                "score": sure.copied().unwrap_or(0.0),
                "model_version": version(edition),
            }));
        }
    }
    Ok(results)
}

/// A choice as Label Studio writes it.
fn chosen(interface: &Interface, class: &str) -> Value {
    json!({
        "from_name": interface.from_name,
        "to_name": interface.to_name,
        "type": "choices",
        "value": { "choices": [class] },
    })
}

/// Learns annotations. A webhook that comes again counts once; what is no new annotation teaches nothing.
pub(crate) async fn webhook(State(app): Shared, sent: Sent) -> Answered {
    let (client, received) = received(&app, &app.changes, sent).await?;
    let (at_hand, edition) = (Arc::clone(&app), app.edition());
    let read = move |wanted: &Wanted| {
        let lesson = request::lesson(&received.content_type, &received.bytes, &at_hand.limits)?;
        let Lesson { items, classes, key } = lesson;
        if items.is_empty() {
            return Ok(None);
        }
        let x = rows(&at_hand, &edition.model, &items, wanted)?;
        Ok(Some((
            Change::Learn(x, Labels::from_names(&classes), None),
            Key::made(&key),
        )))
    };
    match app.work(&app.changes.turns, client, read).await? {
        Some((change, key)) => submit(&app, change, Some(key)).await,
        None => Ok(json_response(
            &json!({ "rows": 0, "summary": "nothing to learn" }),
        )),
    }
}

/// The rows of what is labelled.
fn rows(app: &App, model: &Model, items: &[Item], wanted: &Wanted) -> Result<Table, Problem> {
    let images: Vec<&[u8]> = items.iter().filter_map(Item::image).collect();
    let input = if images.is_empty() {
        Input::Texts(items.iter().filter_map(Item::text).map(str::to_owned).collect())
    } else {
        Input::Images(images)
    };
    body::check_input(&input, &app.limits)?;
    app.table(model, input, None, wanted)
}
