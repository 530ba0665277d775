//! What can be asked about rows that are kept: how many, which groups, and to name or dismiss them. All of it needs the
//! token, since these are rows of clients.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Id, Keeper, Naming};
use crate::app::App;
use crate::body;
use crate::change::Change;
use crate::client::Client;
use crate::edition::Edition;
use crate::key::Key;
use crate::problem::Problem;
use crate::routes::{json_response, submit, versioned};
use crate::wanted::Wanted;

type Shared = State<Arc<App>>;
type Asker = Extension<Client>;
type Answered = Result<Response, Problem>;

/// How many rows are kept.
pub(crate) async fn count(State(app): Shared, Extension(client): Asker) -> Answered {
    look(&app, client, Keeper::count).await
}

/// The groups of the rows. It may take seconds.
pub(crate) async fn groups(State(app): Shared, Extension(client): Asker) -> Answered {
    look(&app, client, Keeper::groups).await
}

/// Looks at the rows with the current edition.
async fn look(
    app: &App,
    client: Client,
    look: fn(&Keeper, &Edition, &Wanted) -> Result<Value, Problem>,
) -> Answered {
    let (keeper, edition) = (keeper(app)?, app.edition());
    app.work(&app.questions.turns, client, move |wanted| {
        let found = look(&keeper, &edition, wanted)?;
        Ok(json_response(&versioned(found, &edition)))
    })
    .await
}

/// Rows, and the class that they are to be.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    ids: HashSet<Id>,
    class: String,
}

/// Learns rows under a name.
pub(crate) async fn learn(
    State(app): Shared,
    Extension(client): Asker,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let keeper = keeper(&app)?;
    let limit = app.limits.body_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    let key = Key::of(&headers, "/v1/unknown/learn", &received.bytes)?;
    let Named { ids, class } = body::json(&received.content_type, &received.bytes)?;
    check_ids(&ids)?;
    body::check_most(ids.len(), &app.limits)?;
    body::check_class(&class, &app.limits)?;
    let key = key.unwrap_or_else(Key::random);
    let naming = Naming::new(keeper, key.clone(), ids, class);
    submit(&app, Change::Name(naming), Some(key)).await
}

/// Rows that are no class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dismissed {
    ids: HashSet<Id>,
}

/// Removes rows.
pub(crate) async fn dismiss(
    State(app): Shared,
    Extension(client): Asker,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let keeper = keeper(&app)?;
    let limit = app.limits.body_bytes;
    let received = app.read(&app.changes, client, &headers, body, limit).await?;
    let Dismissed { ids } = body::json(&received.content_type, &received.bytes)?;
    check_ids(&ids)?;
    remove(&app, client, keeper, Some(ids)).await
}

/// Removes all rows.
pub(crate) async fn dismiss_all(State(app): Shared, Extension(client): Asker) -> Answered {
    let keeper = keeper(&app)?;
    remove(&app, client, keeper, None).await
}

/// Removes these rows, or all, and answers once they are gone from the disk.
async fn remove(app: &App, client: Client, keeper: Arc<Keeper>, ids: Option<HashSet<Id>>) -> Answered {
    app.work(&app.changes.turns, client, move |_| {
        let dismissed = keeper.store().dismiss(ids.as_ref())?;
        Ok(json_response(&json!({ "dismissed": dismissed })))
    })
    .await
}

fn keeper(app: &App) -> Result<Arc<Keeper>, Problem> {
    app.keeper.clone().ok_or_else(|| {
        let message = "the server keeps no rows: start it with --keep-unknown";
        Problem::not_found("KeepsNothing", message)
    })
}

fn check_ids(ids: &HashSet<Id>) -> Result<(), Problem> {
    if ids.is_empty() {
        return Err(Problem::bad_request("`ids` names no row: give at least one"));
    }
    Ok(())
}
