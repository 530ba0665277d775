//! Listeners: each hears of every change, whoever makes it; there is room for so many, and a place that is left is free.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http;
use crate::serving::{SMALL, Serving};

/// A client that listens.
struct Listener(BufReader<TcpStream>);

impl Listener {
    /// Begins to listen; the status is that of the answer.
    fn begin(address: SocketAddr) -> (u16, Self) {
        let mut stream = http::connect(address).unwrap();
        write!(stream, "GET /v1/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut listener = Self(BufReader::new(stream));
        let status = listener.line().split(' ').nth(1).unwrap().parse().unwrap();
        (status, listener)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the server has hung up");
        line
    }

    /// What the next event says.
    fn hear(&mut self) -> Value {
        loop {
            if let Some(data) = self.line().strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }
}

#[test]
fn listeners_hear_of_changes_that_others_make() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    let (status, mut listener) = Listener::begin(serving.address);
    assert_eq!(status, 200);
    assert_eq!(listener.hear()["version"], json!(0));
    let rows = json!([[0, 0.1], [0.1, 0], [0.9, 1], [1, 0.9]]);
    let learned = serving.learn(&rows, &["low", "low", "high", "high"]);
    let heard = listener.hear();
    assert_eq!(
        (&heard["version"], &heard["sha256"]),
        (&json!(1), &learned["sha256"])
    );
    // What was refused is no news; what came after it is.
    assert_eq!(
        serving
            .post("/v1/learn", &json!({ "rows": rows, "classes": [] }))
            .status,
        422
    );
    assert_eq!(serving.send("DELETE", "/v1/classes/low", &[], b"").status, 200);
    assert_eq!(listener.hear()["version"], json!(2));
    // Whoever comes late hears what is.
    let (_, mut late) = Listener::begin(serving.address);
    assert_eq!(late.hear()["version"], json!(2));
}

#[test]
fn there_is_room_for_so_many_listeners_and_questions_need_none_of_it() {
    let place = Workplace::new();
    // Two listeners, one of them from each address.
    let words = [&["m.aact", "--max-connections", "32"], &SMALL[..]].concat();
    let serving = Serving::start(&place, &words);
    let (status, mut first) = Listener::begin(serving.address);
    assert_eq!(status, 200);
    first.hear();
    assert_eq!(Listener::begin(serving.address).0, 429);
    assert_eq!(serving.get("/v1/model").status, 200);
    drop(first);
    let again = (0..200).find_map(|_| {
        sleep(Duration::from_millis(100));
        Some(Listener::begin(serving.address)).filter(|(status, _)| *status == 200)
    });
    assert!(again.is_some(), "the place of a listener that has gone is free");
}

#[test]
fn a_server_that_is_told_to_end_does_not_wait_for_listeners() {
    let place = Workplace::new();
    let mut serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    let (_, mut listener) = Listener::begin(serving.address);
    listener.hear();
    let terminate = std::process::Command::new("kill")
        .arg(serving.id().to_string())
        .status();
    if !terminate.is_ok_and(|status| status.success()) {
        println!("skipped: there is no kill");
        return;
    }
    assert!(serving.ended().success());
}
