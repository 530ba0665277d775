//! A server process of a test, ended with it.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::{self, Reply};

pub const JSON: &str = "Content-Type: application/json";

/// A new model that is small and quick.
pub const SMALL: [&str; 5] = ["--empty", "--pool", "uniform", "--pool-nodes", "20"];

/// A server that runs.
pub struct Serving {
    process: Child,
    pub address: SocketAddr,
}

impl Serving {
    /// Starts `autoactivator serve` with these words on a free port, and waits until it listens.
    #[track_caller]
    pub fn start(place: &Workplace, words: &[&str]) -> Self {
        let here: &[&str] = if words.contains(&"--listen") {
            &[]
        } else {
            &["--listen", "127.0.0.1:0"]
        };
        let words = [&["serve"], words, here].concat();
        Self::spawn(&mut place.command(&words))
    }

    #[track_caller]
    pub fn spawn(command: &mut Command) -> Self {
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening on http://") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "{:?}", process.wait());
        }
        let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap();
        let address = address.parse().unwrap();
        drain(stderr);
        Self { process, address }
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// `kill -9`.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for the process to end by itself.
    pub fn ended(&mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }

    pub fn send(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Reply {
        http::send(self.address, method, path, lines, body).unwrap()
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// What it answers to a GET that must succeed.
    #[track_caller]
    pub fn read(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[JSON], body.to_string().as_bytes())
    }

    /// Learns rows, which must succeed.
    #[track_caller]
    pub fn learn(&self, rows: &Value, classes: &[&str]) -> Value {
        let reply = self.post("/v1/learn", &json!({ "rows": rows, "classes": classes }));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// The classes it knows.
    pub fn classes(&self) -> Vec<String> {
        let model = self.read("/v1/model");
        serde_json::from_value(model["classes"].clone()).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A pipe that nobody reads would stop the process in the end.
fn drain(mut stderr: BufReader<ChildStderr>) {
    thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
}
