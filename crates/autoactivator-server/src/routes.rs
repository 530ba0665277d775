//! The routes and what each does: unpack, ask the edition or the writer, pack. `openapi.json` describes every one.

use std::sync::Arc;

use autoactivator::math::until;
use autoactivator::model::{Detail, describe, growth as recorded, rows_by_class};
use autoactivator::{Model, Observer};
use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Extension, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::answers;
use crate::app::{App, Received};
use crate::assets;
use crate::body::{self, Question};
use crate::change::Change;
use crate::client::Client;
use crate::describe::{image_of, image_type, shown_origin, to_client};
use crate::disk;
use crate::edition::Edition;
use crate::events::{Pace, events};
use crate::guard::{
    Access::{self, Open, Read, Write},
    guard,
};
use crate::inference;
use crate::key::Key;
use crate::label_studio;
use crate::log::log;
use crate::metrics;
use crate::openapi;
use crate::problem::Problem;
use crate::unknown::routes as unknown;
use crate::unread::{Kept, counted};
use crate::wanted::Wanted;

type Shared = State<Arc<App>>;
/// Where a request comes from.
type Asker = Extension<Client>;
type Answered = Result<Response, Problem>;

/// A route: its method and path, who may use it, and what it does.
type Route = (&'static str, &'static str, Access, MethodRouter<Arc<App>>);

/// Every route. docs/server.md says why each is open or needs a token; a test compares the two.
pub(crate) fn table() -> Vec<Route> {
    vec![
        ("get", "/", Open, get(assets::page)),
        ("get", "/assets/{name}", Open, get(assets::asset)),
        ("get", "/docs", Open, get(assets::docs)),
        ("get", "/openapi.json", Open, get(openapi::document)),
        ("get", "/health", Open, get(health)),
        ("get", "/ready", Open, get(ready)),
        ("get", "/metrics", Read, get(metrics)),
        ("get", "/v1/model", Read, get(model)),
        ("get", "/v1/classes", Read, get(classes)),
        ("delete", "/v1/classes/{class}", Write, delete(drop_class)),
        ("post", "/v1/classes/{class}/rename", Write, post(rename_class)),
        ("post", "/v1/learn", Write, post(learn)),
        ("post", "/v1/unlearn", Write, post(unlearn)),
        ("post", "/v1/merge", Write, post(merge)),
        ("post", "/v1/predict", Read, post(predict)),
        ("post", "/v1/explain", Read, post(explain)),
        ("post", "/v1/discover", Read, post(discover)),
        ("get", "/v1/unknown", Write, get(unknown::count)),
        ("delete", "/v1/unknown", Write, delete(unknown::dismiss_all)),
        ("get", "/v1/unknown/groups", Write, get(unknown::groups)),
        ("post", "/v1/unknown/learn", Write, post(unknown::learn)),
        ("post", "/v1/unknown/dismiss", Write, post(unknown::dismiss)),
        ("get", "/v1/growth", Read, get(growth)),
        ("get", "/v1/events", Read, get(listen)),
        ("get", "/v1/held-out", Write, get(held_out)),
        ("get", "/v1/held-out/{place}/picture", Write, get(picture)),
        ("get", "/v1/examples", Read, get(examples)),
        ("get", "/v1/download/memory", Write, get(download_memory)),
        ("get", "/v1/download/model", Write, get(download_model)),
        ("get", "/v1/download/onnx", Write, get(download_onnx)),
        ("get", "/v2", Read, get(inference::server)),
        ("get", "/v2/health/live", Open, get(inference::live)),
        ("get", "/v2/health/ready", Open, get(inference::ready)),
        ("get", "/v2/models/{model}", Read, get(inference::model)),
        (
            "get",
            "/v2/models/{model}/ready",
            Read,
            get(inference::model_ready),
        ),
        ("post", "/v2/models/{model}/infer", Read, post(inference::infer)),
        ("get", "/label-studio/health", Open, get(label_studio::health)),
        ("post", "/label-studio/setup", Read, post(label_studio::setup)),
        ("post", "/label-studio/predict", Read, post(label_studio::predict)),
        (
            "post",
            "/label-studio/webhook",
            Write,
            post(label_studio::webhook),
        ),
    ]
}

/// The router for all requests.
pub(crate) fn router(app: &Arc<App>) -> Router {
    let routes = table().into_iter();
    routes
        .fold(Router::new(), |router, (_, path, _, handler)| {
            router.route(path, handler)
        })
        .fallback(async |uri: Uri| {
            Problem::not_found("NotFound", "there is nothing at this address: see /docs").at(uri.path())
        })
        .method_not_allowed_fallback(async |uri: Uri| Problem::method_not_allowed().at(uri.path()))
        .layer(from_fn_with_state(Arc::clone(app), counted))
        .layer(from_fn_with_state(Arc::clone(app), guard))
        .layer(from_fn_with_state(Arc::clone(app), log))
        .with_state(Arc::clone(app))
}

const JSON: (HeaderName, &str) = (header::CONTENT_TYPE, "application/json");

pub(crate) fn json_response(value: &Value) -> Response {
    ([JSON], value.to_string()).into_response()
}

/// Adds to an answer which model gave it.
pub(crate) fn versioned(mut value: Value, edition: &Edition) -> Value {
    value["sha256"] = json!(edition.sha256);
    value["version"] = json!(edition.version);
    value
}

async fn health() -> Response {
    json_response(&json!({ "status": "ok" }))
}

async fn ready(State(app): Shared) -> Answered {
    if !app.writer.is_alive() {
        let message = "the server no longer accepts changes";
        return Err(Problem::unavailable("Ending", message));
    }
    disk::check(&app.path, app.edition().file_bytes)?;
    Ok(json_response(&json!({ "status": "ready" })))
}

async fn metrics(State(app): Shared) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, metrics::text(&app)).into_response()
}

async fn model(State(app): Shared) -> Response {
    let edition = app.edition();
    let model = &edition.model;
    let limits = &app.limits;
    let abilities = model.abilities();
    let mut described = describe(&**model, edition.file_bytes);
    described["origin"] = json!(shown_origin(&**model));
    described["image"] = json!(image_of(&**model).filter(|_| app.backbones.is_none()));
    described["takes"] = json!(match (&app.encoder, &app.backbones) {
        (Some(_), _) => "texts",
        (None, Some(_)) => "images",
        (None, None) => "rows",
    });
    described["learns"] = json!(abilities.learns);
    described["undo"] = json!(abilities.unlearns);
    described["rejects"] = json!(model.check_rejects().is_ok());
    described["rows"] = Value::Object(rows_by_class(&**model));
    described["limits"] = json!({
        "rows": limits.rows,
        "body_bytes": limits.body_bytes,
        "model_bytes": limits.model_bytes,
        "answer_bytes": limits.answer_bytes,
        "class_name": limits.class_name,
        "image_bytes": limits.image_bytes,
    });
    described["held_out"] = json!(app.held_out.is_some());
    described["drift"] = app.drift.as_json();
    described["unknown"] = json!(app.keeper.as_ref().map(|keeper| keeper.counts().as_json()));
    described["needs_token"] = json!(app.guard.needs_token());
    json_response(&versioned(described, &edition))
}

async fn classes(State(app): Shared) -> Response {
    let edition = app.edition();
    let rows = rows_by_class(&*edition.model);
    let names = edition.model.classes().iter();
    let classes: Vec<Value> = names
        .map(|class| json!({ "class": class, "rows": rows.get(class) }))
        .collect();
    json_response(&versioned(json!({ "classes": classes }), &edition))
}

async fn growth(State(app): Shared) -> Response {
    let edition = app.edition();
    let growth = recorded(&*edition.model);
    let answer = json!({ "kind": edition.model.name(), "growth": growth });
    json_response(&versioned(answer, &edition))
}

/// Tells of each new edition until the client has gone.
async fn listen(State(app): Shared, Extension(client): Asker) -> Answered {
    let full = || Problem::busy("too many are listening to changes: try again later");
    let place = app.listeners.take(client, 1).ok_or_else(full)?;
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    let body = events(app.current.listen(), place, Pace::with_patience(app.limits.time));
    Ok((kind, body).into_response())
}

async fn predict(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    ask(&app, client, &headers, body, |app, edition, question, wanted| {
        let (detail, reject) = (question.detail, question.reject);
        edition.model.check_reject(reject)?;
        answers::check_size(edition.model.classes(), detail, question.input.len(), &app.limits)?;
        let looks = app.looks(&question.input, reject);
        let x = app.table(
            &edition.model,
            question.input,
            question.features.as_deref(),
            wanted,
        )?;
        let mut seen = answers::Seen::default();
        let text = answers::written(edition, &x, detail, reject, wanted, &mut seen)?;
        if let Some(warning) = app.drift.see(&seen.known) {
            app.log.warn(&warning.to_string());
        }
        app.keep(&x, &seen.unknown, reject, looks.as_ref());
        Ok(([JSON], Body::new(text)).into_response())
    })
    .await
}

async fn explain(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    ask(&app, client, &headers, body, |app, edition, question, wanted| {
        if question.input.len() != 1 {
            return Err(Problem::bad_request(
                "only one row, image or sentence can be explained at a time",
            ));
        }
        let (detail, reject) = (question.detail, question.reject);
        edition.model.check_reject(reject)?;
        let x = app.table(
            &edition.model,
            question.input,
            question.features.as_deref(),
            wanted,
        )?;
        let explained = edition.model.explain(x.rows().row(0), reject)?;
        let explained = match detail {
            Detail::Top(k) => explained.of_top(k),
            Detail::Class | Detail::All => explained,
        };
        Ok(json_response(&versioned(json!(explained), edition)))
    })
    .await
}

/// Groups rows that look like no known class. It may take seconds, so it always waits for its turn.
async fn discover(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    let limit = app.limits.body_bytes;
    let received = app.read(&app.questions, client, &headers, body, limit).await?;
    let (at_hand, edition) = (Arc::clone(&app), app.edition());
    app.work(&app.questions.turns, client, move |wanted| {
        let question = body::predict(&received.content_type, &received.bytes, &at_hand.limits)?;
        if question.detail != Detail::Class || question.reject > 0.0 {
            let message = "`top`, `proba` and `reject` say how rows are answered: leave them out";
            return Err(Problem::bad_request(message));
        }
        let model = &edition.model;
        let x = at_hand.table(model, question.input, question.features.as_deref(), wanted)?;
        wanted.check()?;
        let given_up = wanted.clone();
        let found = until(move || given_up.interrupted(), || model.discover(x.rows()))?;
        Ok(json_response(&versioned(answers::grouped(&found), &edition)))
    })
    .await
}

/// Answers a question from the current edition.
async fn ask(
    app: &Arc<App>,
    client: Client,
    headers: &HeaderMap,
    body: Body,
    answer: impl FnOnce(&App, &Edition, Question<'_>, &Wanted) -> Answered + Send + 'static,
) -> Answered {
    let limit = app.limits.body_bytes;
    let received = app.read(&app.questions, client, headers, body, limit).await?;
    let edition = app.edition();
    let effort = app.effort(&received, &edition);
    let at_hand = Arc::clone(app);
    let reply = move |wanted: &Wanted| {
        let question = body::predict(&received.content_type, &received.bytes, &at_hand.limits)?;
        answer(&at_hand, &edition, question, wanted)
    };
    app.answer(effort, client, reply).await
}

async fn learn(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    let limit = app.limits.body_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    let key = Key::of(&headers, "/v1/learn", &received.bytes)?;
    change_by(&app, client, received, key, Change::Learn).await
}

async fn unlearn(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    let limit = app.limits.body_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    let key = Key::of(&headers, "/v1/unlearn", &received.bytes)?;
    change_by(&app, client, received, key, |x, y, _| Change::Unlearn(x, y)).await
}

async fn change_by(
    app: &Arc<App>,
    client: Client,
    received: Received,
    key: Option<Key>,
    change: fn(autoactivator::Table, autoactivator::Labels, Option<Vec<String>>) -> Change,
) -> Answered {
    let (at_hand, edition) = (Arc::clone(app), app.edition());
    let change = app
        .work(&app.changes.turns, client, move |wanted| {
            let lesson = body::learn(&received.content_type, &received.bytes, &at_hand.limits)?;
            let features = lesson.features.clone();
            let (x, y) = at_hand.lesson(&edition.model, lesson, wanted)?;
            Ok(change(x, y, features))
        })
        .await?;
    submit(app, change, key).await
}

async fn merge(State(app): Shared, Extension(client): Asker, headers: HeaderMap, body: Body) -> Answered {
    let limit = app.limits.model_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    let key = Key::of(&headers, "/v1/merge", &received.bytes)?;
    let change = app
        .work(&app.changes.turns, client, move |_| {
            let addition = body::merge(&received.content_type, &received.bytes)?;
            Ok(Change::Merge(addition.model, addition.base))
        })
        .await?;
    submit(&app, change, key).await
}

async fn drop_class(State(app): Shared, class: Result<Path<String>, PathRejection>) -> Answered {
    submit_for_class(&app, class, |class| Ok(Change::DropClass(class))).await
}

/// The new name of a class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewName {
    name: String,
}

async fn rename_class(
    State(app): Shared,
    Extension(client): Asker,
    class: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let limit = app.limits.body_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    submit_for_class(&app, class, |class| {
        let NewName { name } = body::json(&received.content_type, &received.bytes)?;
        body::check_class(&name, &app.limits)?;
        Ok(Change::RenameClass(class, name))
    })
    .await
}

/// Submits a change of the class named in the path; an unknown class is a 404.
async fn submit_for_class(
    app: &App,
    class: Result<Path<String>, PathRejection>,
    change: impl FnOnce(String) -> Result<Change, Problem>,
) -> Answered {
    let Path(class) = class.map_err(|error| Problem::bad_request(error.body_text()))?;
    let submitted = submit(app, change(class)?, None).await;
    submitted.map_err(|mut problem| {
        if problem.kind == "UnknownClass" {
            problem.status = StatusCode::NOT_FOUND;
        }
        problem
    })
}

/// Makes a change, and answers once it is on disk.
pub(crate) async fn submit(app: &App, change: Change, key: Option<Key>) -> Answered {
    let changed = timeout(app.limits.time, app.writer.change(change, key)).await;
    let late = |_| {
        Problem::timeout(
            "the change did not reach the disk in time, but still may: check /v1/classes, or send it again with the same Idempotency-Key",
        )
    };
    changed.map_err(late)?.map(|value| json_response(&value))
}

async fn held_out(State(app): Shared, Extension(client): Asker) -> Answered {
    let at_hand = Arc::clone(&app);
    let edition = app.edition();
    let look = move |wanted: &Wanted| {
        let none = || {
            let message = "the server has no held-out rows: start it with --held-out";
            Problem::not_found("NoHeldOut", message)
        };
        let held_out = at_hand.held_out.as_ref().ok_or_else(none)?;
        if edition.examined.get().is_none() {
            let pixels = image_of(&*edition.model).is_some();
            let examined = held_out.examine(&edition.model, pixels, wanted)?;
            wanted.check()?;
            let _ = edition.examined.set(versioned(examined, &edition));
        }
        Ok(json_response(edition.examined.get().unwrap_or(&Value::Null)))
    };
    app.work(&app.changes.turns, client, look).await
}

/// A held-out picture as it is on disk.
async fn picture(
    State(app): Shared,
    Extension(client): Asker,
    place: Result<Path<usize>, PathRejection>,
) -> Answered {
    let Path(place) = place.map_err(|error| Problem::bad_request(error.body_text()))?;
    let at_hand = Arc::clone(&app);
    let read = move |_: &Wanted| {
        let none = || Problem::not_found("NoHeldOut", "there is no held-out picture at this place");
        let held_out = at_hand.held_out.as_ref().ok_or_else(none)?;
        let bytes = held_out
            .picture(place, at_hand.limits.image_bytes)
            .ok_or_else(none)?;
        let kind = [(header::CONTENT_TYPE, image_type(&bytes))];
        Ok((kind, bytes).into_response())
    };
    app.work(&app.changes.turns, client, read).await
}

/// Which examples are asked for.
#[derive(Deserialize)]
struct Examples {
    class: String,
    #[serde(default = "ten")]
    n: usize,
}

fn ten() -> usize {
    10
}

async fn examples(State(app): Shared, asked: Result<Query<Examples>, QueryRejection>) -> Answered {
    let Query(asked) = asked.map_err(|error| Problem::bad_request(error.body_text()))?;
    let none = || Problem::not_found("NoExamples", "the server has no examples of this class");
    let digits = app.digits.as_ref().ok_or_else(none)?;
    if app.edition().model.classes().contains(&asked.class) {
        return Err(none());
    }
    let rows = digits.examples(&asked.class, asked.n.min(app.limits.rows));
    let rows: Vec<&[f32]> = rows.rows().iter().collect();
    if rows.is_empty() {
        return Err(none());
    }
    Ok(json_response(&json!({ "class": asked.class, "rows": rows })))
}

async fn download_memory(State(app): Shared, Extension(client): Asker) -> Answered {
    download(&app, client, 0, "model.aact", |edition| {
        Ok(to_client(&edition.model)?)
    })
    .await
}

async fn download_model(State(app): Shared, Extension(client): Asker) -> Answered {
    download(&app, client, 1, "deployed.aact", |edition| {
        let deployed = edition.model.deployed()?.clone();
        Ok(to_client(&Model::from(deployed))?)
    })
    .await
}

async fn download_onnx(State(app): Shared, Extension(client): Asker) -> Answered {
    download(&app, client, 2, "model.onnx", |edition| {
        Ok(edition.model.deployed()?.to_onnx())
    })
    .await
}

/// Sends the file at this place among the files of the current edition.
async fn download(
    app: &App,
    client: Client,
    place: usize,
    name: &'static str,
    content: impl FnOnce(&Edition) -> Result<Vec<u8>, Problem> + Send + 'static,
) -> Answered {
    let edition = app.edition();
    let make = move |wanted: &Wanted| match edition.files[place].get() {
        Some(bytes) => Ok(bytes.clone()),
        None => {
            let bytes = Bytes::from(content(&edition)?);
            // What was stopped on its way is not kept.
            wanted.check()?;
            Ok(edition.files[place].get_or_init(|| bytes).clone())
        }
    };
    let bytes = app.work(&app.changes.turns, client, make).await?;
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    Ok((Extension(Kept), headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/server.md");

    /// The lines of the table in docs/server.md: `| GET /health | open | why |`.
    fn documented() -> Vec<(String, String, Access)> {
        let lines = DOCUMENT.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            let (method, path) = cells.next()?.strip_suffix('`')?.split_once(' ')?;
            let access = match cells.next()? {
                "open" => Open,
                "read" => Read,
                "write" => Write,
                other => panic!("{line}: {other} is no access"),
            };
            Some((method.to_lowercase(), path.to_owned(), access))
        });
        lines.collect()
    }

    #[test]
    fn the_document_lists_every_route_with_its_access() {
        let routes = table().into_iter();
        let routed = routes.map(|(method, path, access, _)| (method.to_owned(), path.to_owned(), access));
        assert_eq!(documented(), routed.collect::<Vec<_>>());
    }
}
