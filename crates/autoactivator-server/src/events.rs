//! What listeners are told: each new edition of the model, as server-sent events.
//!
//! A listener has a task of its own, which waits for the next edition and hands over a few bytes. Nothing is kept for one
//! that listens slowly: it hears of the latest edition only, and is let go when it takes nothing for too long.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};

use crate::budget::Share;
use crate::edition::Edition;

/// How long things take between the server and a listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How often a listener hears that the server is still there.
    heartbeat: Duration,
    /// How long it may take nothing.
    patience: Duration,
    /// How long one request listens. Whoever still wants to know asks again, so that nobody who has gone is kept for good.
    longest: Duration,
}

impl Pace {
    pub(crate) fn with_patience(patience: Duration) -> Self {
        Self {
            heartbeat: Duration::from_secs(5),
            patience,
            longest: Duration::from_secs(30 * 60),
        }
    }
}

const STILL_HERE: Bytes = Bytes::from_static(b": still here\n\n");

/// The body of an answer that goes on: the current edition, then every change, with a sign of life in between.
pub(crate) fn events(editions: watch::Receiver<Arc<Edition>>, place: Share, pace: Pace) -> Body {
    let (sender, told) = mpsc::channel(1);
    tokio::spawn(tell(editions, sender, pace));
    Body::new(Events { told, _place: place })
}

/// Tells a listener until it has gone, takes nothing for as long as patience lasts, or has listened for long enough.
async fn tell(mut editions: watch::Receiver<Arc<Edition>>, listener: mpsc::Sender<Bytes>, pace: Pace) {
    let end = Instant::now() + pace.longest;
    editions.mark_changed();
    while Instant::now() < end {
        let said = match timeout(pace.heartbeat, editions.changed()).await {
            Ok(Ok(())) => event(&editions.borrow_and_update()),
            // The server ends.
            Ok(Err(_)) => return,
            Err(_) => STILL_HERE,
        };
        let taken = timeout(pace.patience, listener.send(said)).await;
        if !matches!(taken, Ok(Ok(()))) {
            return;
        }
    }
}

fn event(edition: &Edition) -> Bytes {
    let said = json!({ "version": edition.version, "sha256": edition.sha256 });
    Bytes::from(format!(
        "event: edition\nid: {}\ndata: {said}\n\n",
        edition.version
    ))
}

/// What a listener reads.
struct Events {
    told: mpsc::Receiver<Bytes>,
    _place: Share,
}

impl HttpBody for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let told = self.get_mut().told.poll_recv(context);
        told.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use autoactivator::Model;
    use http_body_util::BodyExt;
    use tokio::runtime::{Builder, Runtime};
    use tokio::time::sleep;

    use super::*;
    use crate::budget::Budget;
    use crate::client::Client;
    use crate::edition::Current;

    const QUICK: Pace = Pace {
        heartbeat: Duration::from_millis(20),
        patience: Duration::from_millis(20),
        longest: Duration::from_secs(60),
    };

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_time().build().unwrap()
    }

    fn edition(version: u64) -> Edition {
        let model = Model::new("consolidation", &json!({})).unwrap();
        Edition::new(model, version, 0, format!("digest {version}"))
    }

    fn listening(current: &Current, listeners: &Budget, pace: Pace) -> Body {
        let client = Client::at(IpAddr::from([10, 0, 0, 1]));
        events(current.listen(), listeners.take(client, 1).unwrap(), pace)
    }

    async fn heard(body: &mut Body) -> String {
        let frame = body.frame().await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    }

    #[test]
    fn a_listener_hears_of_this_edition_of_the_next_and_that_the_server_is_there() {
        runtime().block_on(async {
            let patient = Pace {
                patience: Duration::from_secs(60),
                ..QUICK
            };
            let (current, listeners) = (Current::new(edition(3)), Budget::new(2));
            let mut body = listening(&current, &listeners, patient);
            assert_eq!(
                heard(&mut body).await,
                "event: edition\nid: 3\ndata: {\"version\":3,\"sha256\":\"digest 3\"}\n\n"
            );
            assert_eq!(heard(&mut body).await, ": still here\n\n");
            current.publish(Arc::new(edition(4)));
            let next = [
                heard(&mut body).await,
                heard(&mut body).await,
                heard(&mut body).await,
            ];
            assert!(next.iter().any(|said| said.contains("digest 4")), "{next:?}");
            drop(current);
            while body.frame().await.is_some() {}
        });
    }

    #[test]
    fn a_listener_that_takes_nothing_is_let_go_and_has_missed_only_what_is_outdated() {
        runtime().block_on(async {
            let (current, listeners) = (Current::new(edition(0)), Budget::new(2));
            let mut body = listening(&current, &listeners, QUICK);
            assert_eq!(listeners.in_use(), 1);
            (1..100).for_each(|version| current.publish(Arc::new(edition(version))));
            sleep(20 * QUICK.patience).await;
            // What had been handed over before it was let go.
            assert!(heard(&mut body).await.contains("digest 99"));
            assert!(body.frame().await.is_none());
            drop(body);
            assert_eq!(listeners.in_use(), 0);
        });
    }

    #[test]
    fn nobody_listens_forever() {
        runtime().block_on(async {
            let brief = Pace {
                longest: Duration::from_millis(50),
                ..QUICK
            };
            let (current, listeners) = (Current::new(edition(0)), Budget::new(2));
            let mut body = listening(&current, &listeners, brief);
            while body.frame().await.is_some() {}
        });
    }
}
