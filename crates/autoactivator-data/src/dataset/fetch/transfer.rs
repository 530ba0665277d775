//! One request to a mirror: the head of the answer, then its bytes as they arrive.
//!
//! A thread of its own waits for the network, so that the caller can stop at any time.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use ureq::http::Response;
use ureq::{Agent, Body};

use super::part::Origin;

/// What arrives.
pub(super) enum Event {
    /// The server answers.
    Head(Head),
    /// The next bytes.
    Bytes(Vec<u8>),
    /// All that the server wanted to send has arrived.
    End,
    /// The connection failed; another try may succeed.
    Failed(String),
    /// The address is not valid.
    BadAddress(String),
}

/// The head of an answer.
pub(super) struct Head {
    /// The HTTP status.
    pub status: u16,
    /// How many bytes follow, when the server tells.
    pub length: Option<u64>,
    /// Where the bytes that follow begin, when they are a part.
    pub start: Option<u64>,
    /// Length of the whole file, when the answer is a part and the server tells.
    pub whole: Option<u64>,
    /// What tells this version of the file from others.
    pub version: String,
}

/// The HTTP client.
pub(super) fn agent(silence: Duration) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .user_agent(concat!("autoactivator/", env!("CARGO_PKG_VERSION")))
        // Compressing a packed file again gains nothing, and would make ranges ambiguous.
        .accept_encoding("identity")
        .timeout_resolve(Some(silence))
        .timeout_connect(Some(silence))
        .timeout_recv_response(Some(silence))
        .timeout_per_read(Some(silence))
        .timeout_per_write(Some(silence));
    config.build().into()
}

/// Asks for a file from byte `skip` on; `known` is where the bytes before came from.
pub(super) fn start(agent: &Agent, url: &str, skip: u64, known: Option<Origin>) -> Receiver<Event> {
    // A few chunks ahead, so that the network need not wait for the disk, and little memory is used.
    let (sender, receiver) = sync_channel(8);
    let (agent, url) = (agent.clone(), url.to_owned());
    thread::spawn(move || pump(&agent, &url, skip, known, &sender));
    receiver
}

fn pump(agent: &Agent, url: &str, skip: u64, known: Option<Origin>, events: &SyncSender<Event>) {
    let mut request = agent.get(url);
    if let Some(origin) = known {
        request = request.header("Range", format!("bytes={skip}-"));
        if !origin.version.is_empty() {
            request = request.header("If-Range", origin.version);
        }
    }
    let response = match request.call() {
        Ok(response) => response,
        Err(error) => {
            let _ = events.send(failure(&error));
            return;
        }
    };
    if events.send(Event::Head(head(&response))).is_err() {
        return;
    }
    let mut body = response.into_body().into_reader();
    loop {
        let mut chunk = vec![0; 1 << 16];
        let event = match body.read(&mut chunk) {
            Ok(0) => Event::End,
            Ok(n) => {
                chunk.truncate(n);
                Event::Bytes(chunk)
            }
            Err(error) => Event::Failed(error.to_string()),
        };
        let last = !matches!(event, Event::Bytes(_));
        // Nobody listens any more after an interruption.
        if events.send(event).is_err() || last {
            return;
        }
    }
}

fn failure(error: &ureq::Error) -> Event {
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::RequireHttpsOnly(_) => {
            Event::BadAddress(error.to_string())
        }
        _ => Event::Failed(error.to_string()),
    }
}

fn head(response: &Response<Body>) -> Head {
    let text = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let (start, whole) = text("content-range").map_or((None, None), content_range);
    // A weak tag does not promise the same bytes.
    let tag = text("etag").filter(|tag| !tag.starts_with("W/"));
    Head {
        status: response.status().as_u16(),
        length: text("content-length").and_then(|length| length.parse().ok()),
        start,
        whole,
        version: tag
            .or_else(|| text("last-modified"))
            .unwrap_or_default()
            .to_owned(),
    }
}

/// First byte and whole length of `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`.
fn content_range(text: &str) -> (Option<u64>, Option<u64>) {
    let Some((range, whole)) = text.strip_prefix("bytes ").and_then(|rest| rest.split_once('/')) else {
        return (None, None);
    };
    let start = range.split_once('-').and_then(|(start, _)| start.parse().ok());
    (start, whole.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges() {
        assert_eq!(content_range("bytes 5-9/10"), (Some(5), Some(10)));
        assert_eq!(content_range("bytes 5-9/*"), (Some(5), None));
        assert_eq!(content_range("bytes */10"), (None, Some(10)));
        assert_eq!(content_range("lines 1-2/3"), (None, None));
    }
}
