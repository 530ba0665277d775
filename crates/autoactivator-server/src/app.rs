//! What every handler shares: the current edition, the writer and the limits; how a body is read and turned
//! into rows, and which threads do the work so that no request waits for another.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use autoactivator::math::{alone, until};
use autoactivator::{Labels, Model, Observer, Table};
use autoactivator_data::{Encoder, Extractor, Pixels};
use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rayon::ThreadPool;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::body::{Input, Lesson};
use crate::budget::{Budget, Share};
use crate::client::Client;
use crate::describe::{image_of, is_of_sentences};
use crate::drift::Watched;
use crate::edition::{Current, Edition};
use crate::guard::Guard;
use crate::held_out::HeldOut;
use crate::limits::Limits;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::room::Room;
use crate::starter::Digits;
use crate::turns::Turns;
use crate::unknown::{Keeper, Looks};
use crate::wanted::Wanted;
use crate::writer::Writer;

/// Largest body, in bytes, whose request is answered inline.
const SMALL_BODY: usize = 64 << 10;

/// Multiply-adds that are done inline: a fraction of a millisecond.
const SMALL_WORK: usize = 4 << 20;

/// Multiply-adds of a question that has turns of its own: a fraction of a second.
const SHORT_WORK: usize = 256 << 20;

/// Bytes of a question about so few words that their encoder needs a fraction of a second.
const SHORT_TEXTS: usize = 4 << 10;

/// How much work a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// So little that it is answered inline.
    Small,
    /// It waits only for others that are as short.
    Short,
    Much,
}

impl Effort {
    /// Of a question about so many rows.
    pub(crate) fn of_rows(n_bytes: usize, n_rows: usize, edition: &Edition) -> Self {
        match n_rows.saturating_mul(edition.multiply_adds) {
            _ if n_bytes > SMALL_BODY => Self::Much,
            work if work <= SMALL_WORK => Self::Small,
            work if work <= SHORT_WORK => Self::Short,
            _ => Self::Much,
        }
    }

    /// Of a question about sentences.
    pub(crate) fn of_texts(n_bytes: usize) -> Self {
        if n_bytes > SHORT_TEXTS {
            Self::Much
        } else {
            Self::Short
        }
    }
}

/// What every handler shares.
pub(crate) struct App {
    pub(crate) current: Arc<Current>,
    pub(crate) writer: Writer,
    /// The model file.
    pub(crate) path: PathBuf,
    pub(crate) limits: Limits,
    pub(crate) guard: Guard,
    /// The backbones in front of the model, if there are any.
    pub(crate) backbones: Option<Extractor>,
    /// The sentence encoder in front of the model, if there is one.
    pub(crate) encoder: Option<Encoder>,
    pub(crate) held_out: Option<HeldOut>,
    pub(crate) digits: Option<Digits>,
    pub(crate) metrics: Metrics,
    /// Keeps rows that are answered "unknown", if that is switched on.
    pub(crate) keeper: Option<Arc<Keeper>>,
    /// How well known the rows are that clients ask about.
    pub(crate) drift: Watched,
    pub(crate) log: Log,
    /// Bytes of answers that clients have not read yet.
    pub(crate) unread: Budget,
    /// Places of those that listen to changes.
    pub(crate) listeners: Budget,
    /// Threads for long work: small questions are answered inline, on threads that never wait for these.
    pub(crate) threads: ThreadPool,
    /// The room for questions, which need no token.
    pub(crate) questions: Room,
    /// Turns at questions that are neither small nor long, so that they do not wait for long ones.
    pub(crate) short: Turns,
    /// The room for changes and downloads, separate so that they need not wait for questions, nor questions for them.
    pub(crate) changes: Room,
}

/// A body that was read, and the share of its client.
pub(crate) struct Received {
    pub(crate) content_type: String,
    pub(crate) bytes: Vec<u8>,
    _share: Share,
}

impl App {
    pub(crate) fn edition(&self) -> Arc<Edition> {
        self.current.read()
    }

    /// Reads a body of at most `limit` bytes; a larger one is refused by its declared length before it is read. A client
    /// holds as much of the room as it has sent, so that those that stall hold next to nothing.
    pub(crate) async fn read(
        &self,
        room: &Room,
        client: Client,
        headers: &HeaderMap,
        body: Body,
        limit: usize,
    ) -> Result<Received, Problem> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let stated = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if stated.is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        let mut share = room.bodies.share(client);
        let arrived = timeout(self.limits.time, collect(body, limit, &mut share)).await;
        Ok(Received {
            content_type: text(header::CONTENT_TYPE).unwrap_or_default().to_owned(),
            bytes: arrived.map_err(|_| Problem::slow_body())??,
            _share: share,
        })
    }

    /// How much work a question is, judged before it is parsed: by its bytes, and by the rows that they can hold.
    pub(crate) fn effort(&self, received: &Received, edition: &Edition) -> Effort {
        let n_bytes = received.bytes.len();
        if n_bytes > SMALL_BODY || !received.content_type.starts_with("application/json") {
            return Effort::Much;
        }
        if self.encoder.is_some() && has_texts(&received.bytes) {
            return Effort::of_texts(n_bytes);
        }
        // Each row begins with a bracket, and so does the list of them.
        let brackets = received.bytes.iter().filter(|&&byte| byte == b'[').count();
        Effort::of_rows(n_bytes, brackets.saturating_sub(1).max(1), edition)
    }

    /// Answers a question: inline if it is little work, otherwise on a thread for such work.
    pub(crate) async fn answer<T: Send + 'static>(
        &self,
        effort: Effort,
        client: Client,
        reply: impl FnOnce(&Wanted) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        match effort {
            Effort::Small => reply(&Wanted::default()),
            Effort::Short => self.work(&self.short, client, reply).await,
            Effort::Much => self.work(&self.questions.turns, client, reply).await,
        }
    }

    /// Runs longer work on its own threads, once it is the client's turn. It is told when nobody waits for it
    /// any more: when the time is up, or this future is dropped because the client has gone.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        turns: &Turns,
        client: Client,
        work: impl FnOnce(&Wanted) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let late = |_| Problem::timeout("the answer took too long: ask for less at a time");
        let turn = timeout(self.limits.time, turns.wait(client)).await;
        let turn = turn.map_err(late)?;
        let (wanted, _waiting) = Wanted::new();
        let working = self.metrics.working.count();
        let (answer, done) = oneshot::channel();
        self.threads.spawn(move || {
            let _counted = (working, turn);
            // Work that panics leaves its client without an answer, and nothing else.
            if let Ok(done) = catch_unwind(AssertUnwindSafe(|| while_wanted(&wanted, work))) {
                drop(answer.send(done));
            }
        });
        let done = timeout(self.limits.time, done).await.map_err(late)?;
        done.unwrap_or_else(|_| Err(Problem::unavailable("Ending", "the server is shutting down")))
    }

    /// The rows of an input: as given, or computed from images or sentences.
    pub(crate) fn table(
        &self,
        model: &Model,
        input: Input<'_>,
        features: Option<&[String]>,
        wanted: &Wanted,
    ) -> Result<Table, Problem> {
        let images = match input {
            Input::Rows(table) => return in_order(model, table, features),
            Input::Texts(texts) => return self.sentences(model, &texts, wanted),
            Input::Images(images) => images,
        };
        if self.encoder.is_some() {
            return Err(Problem::wrong_model(
                "TakesTexts",
                "the model takes sentences, not images: send `texts`",
            ));
        }
        let most_bytes = self.limits.decoded_bytes();
        if let Some(backbones) = &self.backbones {
            return Ok(backbones.of_images(&images, most_bytes, wanted)?);
        }
        let shape = image_of(&**model).ok_or_else(|| {
            Problem::wrong_model(
                "TakesRows",
                "the model takes rows, not images: send rows, or start the server with the model's --backbone",
            )
        })?;
        Ok(Extractor::Pixels(Pixels::new(shape)?).of_images(&images, most_bytes, wanted)?)
    }

    /// What the rows of a question are computed from, if those that are answered "unknown" are kept.
    pub(crate) fn looks<'a>(&self, input: &Input<'a>, reject: f64) -> Option<Looks<'a>> {
        if self.keeper.is_none() || reject == 0.0 {
            return None;
        }
        Some(match input {
            Input::Texts(texts) => Looks::Texts(texts.clone()),
            Input::Images(images) if self.backbones.is_some() => {
                Looks::Images(images.iter().map(|image| Cow::Borrowed(*image)).collect())
            }
            // Pixels can be seen in the row itself.
            Input::Images(_) | Input::Rows(_) => Looks::Rows,
        })
    }

    /// Keeps the rows of a question that were answered "unknown", if that is switched on.
    pub(crate) fn keep(&self, x: &Table, unknown: &[usize], reject: f64, looks: Option<&Looks<'_>>) {
        if let (Some(keeper), Some(looks)) = (&self.keeper, looks) {
            keeper.offer(x, unknown, reject, looks);
        }
    }

    /// The rows of sentences.
    fn sentences(&self, model: &Model, texts: &[String], wanted: &Wanted) -> Result<Table, Problem> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        if let Some(encoder) = &self.encoder {
            return Ok(encoder.of_texts(&texts, wanted)?);
        }
        Err(if self.backbones.is_some() || image_of(&**model).is_some() {
            Problem::wrong_model(
                "TakesImages",
                "the model takes images, not sentences: send images",
            )
        } else if is_of_sentences(&**model) {
            let remedy =
                "the encoder of the model was not found: start the server with the model's --backbone";
            Problem::wrong_model("TakesRows", remedy)
        } else {
            Problem::wrong_model("TakesRows", "the model takes rows, not sentences: send rows")
        })
    }

    /// The rows and labels of a lesson.
    pub(crate) fn lesson(
        &self,
        model: &Model,
        lesson: Lesson<'_>,
        wanted: &Wanted,
    ) -> Result<(Table, Labels), Problem> {
        let mut labels = Labels::from_names(&lesson.classes);
        if let Some(weights) = lesson.weights {
            labels = labels.weighed(weights)?;
        }
        let table = self.table(model, lesson.input, lesson.features.as_deref(), wanted)?;
        Ok((table, labels))
    }
}

/// Does work on this thread for as long as it is wanted. A question whose products were divided would, while it waits for
/// the parts, begin to work on others.
fn while_wanted<T>(wanted: &Wanted, work: impl FnOnce(&Wanted) -> Result<T, Problem>) -> Result<T, Problem> {
    let still = wanted.clone();
    let work = || wanted.check().map_err(Problem::from).and_then(|()| work(wanted));
    alone(|| until(move || still.interrupted(), work))
}

/// Whether a body that is not parsed yet has sentences.
fn has_texts(bytes: &[u8]) -> bool {
    const FIELD: &[u8] = b"\"texts\"";
    bytes.windows(FIELD.len()).any(|window| window == FIELD)
}

/// Reads a body, as far as the limit and the client's share allow.
async fn collect(body: Body, limit: usize, share: &mut Share) -> Result<Vec<u8>, Problem> {
    let mut body = Limited::new(body, limit);
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.is::<LengthLimitError>() {
                too_large(limit)
            } else {
                Problem::bad_request("the body was cut off: send it again")
            }
        })?;
        let Ok(data) = frame.into_data() else { continue };
        if !share.grow(data.len()) {
            return Err(Problem::busy(
                "too much is being sent at the same time: try again later",
            ));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

fn too_large(limit: usize) -> Problem {
    Problem::too_large(format!(
        "the body is larger than {limit} bytes: send less at a time"
    ))
}

/// Rows in the order of the model's features. Rows that do not name theirs are taken as they are.
fn in_order(model: &Model, table: Table, features: Option<&[String]>) -> Result<Table, Problem> {
    let Some(names) = features else {
        return Ok(table);
    };
    let found = table.rows().n_features();
    if names.len() != found {
        let expected = names.len();
        return Err(autoactivator::Error::FeatureCount { expected, found }.into());
    }
    match model.input().places(names)? {
        None => Ok(table),
        Some(places) => {
            let row = |row: &[f32]| places.iter().map(|&at| row[at]).collect::<Vec<f32>>();
            let values = table.rows().iter().flat_map(row).collect();
            Ok(Table::new(values, found)?)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_work_ends_once_nobody_waits_for_it() {
        let rows = |at: f32| (0..36).flat_map(move |i| [at + (i % 6) as f32 * 0.01, (i / 6) as f32 * 0.01]);
        let mut model = Model::new("consolidation", &json!({})).unwrap();
        let known = Table::new(rows(0.0).chain(rows(1.0)).collect(), 2).unwrap();
        let names = (0..72).map(|i| ["left", "right"][i / 36]);
        model
            .learn(known.rows(), &Labels::from_names(names), &mut ())
            .unwrap();
        let asked = Table::new(rows(0.0).chain(rows(0.5)).chain(rows(7.0)).collect(), 2).unwrap();
        let (wanted, waiting) = Wanted::new();
        let found = while_wanted(&wanted, |_| Ok(model.discover(asked.rows())?.groups.len()));
        assert!(found.unwrap() > 0);
        let given_up = while_wanted(&wanted, |_| {
            drop(waiting);
            Ok(model.discover(asked.rows())?.groups.len())
        });
        assert_eq!(given_up.unwrap_err().kind, "Timeout");
    }
}
