//! What clients and surroundings that mean no good may cost: the server goes on answering everybody else.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::common::Workplace;
use crate::http;
use crate::serving::SMALL;

#[test]
fn a_log_that_nobody_reads_stops_no_answer() {
    let place = Workplace::new();
    let words = [&["serve", "m.aact"], &SMALL[..], &["--listen", "127.0.0.1:0"]].concat();
    let mut process = place.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut unread = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        unread.read_line(&mut line).unwrap();
    }
    let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap();
    let address = address.parse().unwrap();
    let dropped = || {
        let metrics = http::send(address, "GET", "/metrics", &[], b"").unwrap();
        let text = String::from_utf8(metrics.body).unwrap();
        let name = "autoactivator_log_lines_dropped_total ";
        let count = text.lines().find_map(|line| line.strip_prefix(name));
        count.unwrap().parse::<usize>().unwrap()
    };
    // The pipe takes some thousands of lines, and so do those that wait.
    let asked = (0..40_000).take_while(|n| {
        http::send(address, "GET", "/health", &[], b"").unwrap();
        n % 500 != 0 || dropped() == 0
    });
    let asked = asked.count();
    assert!(dropped() > 0, "no line was dropped after {asked} requests");
    process.kill().unwrap();
    process.wait().unwrap();
}
