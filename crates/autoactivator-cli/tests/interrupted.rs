//! Ctrl-C during a long solve: the command ends at once and leaves nothing.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::Workplace;

/// Few features, and more rows than nodes, which take many seconds to be solved.
const NODES: &str = "4500";
const ROWS: usize = 5000;

fn rows(salt: usize) -> String {
    let line = |i: usize| {
        let at = (i * 7919 + salt) as f64;
        format!("{},{},class {}\n", at.sin(), at.cos(), i % 3)
    };
    (0..ROWS).map(line).collect()
}

#[test]
fn ctrl_c_ends_a_solve_and_leaves_no_model() {
    let place = Workplace::new();
    place.write("rows.csv", rows(1));
    let learn = [
        "learn", "m.aact", "rows.csv", "--pool", "gaussian", "--nodes", NODES,
    ];
    for signal in ["-INT", "-TERM"] {
        let mut learning = place.command(&learn).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(700));
        let sent = Command::new("kill")
            .args([signal, &learning.id().to_string()])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(learning.wait().unwrap().code(), Some(130), "{signal}");
        let left: Vec<_> = place.files().into_keys().collect();
        assert_eq!(left, [place.path().join("rows.csv")], "{signal}");
    }
}
