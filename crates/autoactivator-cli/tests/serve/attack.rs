//! The worst that can be asked without a token, all at once, of a server with 2,000 classes and 2 GB of addresses: it
//! survives, and whoever behaves is answered all the time.
//!
//! A few seconds by default; `AUTOACTIVATOR_ATTACK_SECONDS=600 cargo test --release -p autoactivator-cli --test serve
//! attack -- --nocapture` takes ten minutes.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use autoactivator::math::{Random, Stream};
use autoactivator::{Labels, Model, Table};
use serde_json::json;

use crate::common::Workplace;
use crate::http::{self, connect};
use crate::process::Held;
use crate::serving::{JSON, Serving};

const WIDTH: usize = 16;
const CLASSES: usize = 2000;
const TOKEN: &str = "Authorization: Bearer a token for changes";

/// Kilobytes of addresses that the server may use.
const ADDRESSES: &str = "2000000";

/// A model of many classes, three rows each.
fn model() -> Model {
    let pool = json!({ "kind": "gaussian", "nodes": 256 });
    let mut model = Model::new("consolidation", &json!({ "pool": pool, "witnesses": 512 })).unwrap();
    let mut random = Random::new(1, Stream::Pool { layer: 0 });
    let values = (0..3 * CLASSES * WIDTH).map(|_| random.normal()).collect();
    let names = (0..3 * CLASSES).map(|i| format!("class {}", i % CLASSES));
    let x = Table::new(values, WIDTH).unwrap();
    model
        .learn(x.rows(), &Labels::from_names(names), &mut ())
        .unwrap();
    model
}

/// Starts the server where it may use few addresses. Glibc keeps some for each thread that allocates; two of these are
/// as good.
fn start(place: &Workplace) -> Serving {
    place.write("token", "a token for changes");
    let words = [
        "serve",
        "m.aact",
        "--quiet",
        "--token-file",
        "token",
        "--public",
        "--listen",
        "127.0.0.1:0",
        "--time-limit",
        "10",
    ];
    let served = place.command(&words);
    let mut limited = Command::new("sh");
    limited
        .arg("-c")
        .arg(format!("ulimit -v {ADDRESSES}; exec \"$0\" \"$@\""))
        .arg(served.get_program())
        .args(served.get_args())
        .current_dir(place.path())
        .env("MALLOC_ARENA_MAX", "2");
    Serving::spawn(&mut limited)
}

/// What attackers share.
struct Attack {
    address: SocketAddr,
    stop: AtomicBool,
    sent: AtomicUsize,
}

impl Attack {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Sends bytes and reads the answer, if there is one; being refused is no failure.
    fn send(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) {
        let _ = http::send(self.address, method, path, lines, body);
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends the head of a request and as much of a body as the server takes, and keeps the connection.
    fn leave_open(&self, head: &str, body: &[u8]) -> Option<TcpStream> {
        let mut stream = connect(self.address).ok()?;
        stream.set_write_timeout(Some(Duration::from_millis(200))).ok()?;
        let _ = write!(stream, "{head}");
        let _ = stream.write_all(body);
        self.sent.fetch_add(1, Ordering::Relaxed);
        Some(stream)
    }
}

fn rows(n: usize) -> Vec<[f32; WIDTH]> {
    let mut random = Random::new(2, Stream::Pool { layer: 0 });
    (0..n).map(|_| std::array::from_fn(|_| random.normal())).collect()
}

fn head(path: &str, lines: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{JSON}\r\n{lines}\r\n\r\n")
}

/// Questions that are as long as they may be.
fn ask_for_much(attack: &Attack) {
    let all = rows(10_000);
    let bodies = [
        json!({ "rows": all, "top": 3, "reject": 0.05 }).to_string(),
        json!({ "rows": all, "proba": true }).to_string(),
        json!({ "rows": all[..500], "proba": true }).to_string(),
        json!({ "rows": all, "top": 2000 }).to_string(),
    ];
    while attack.goes_on() {
        for body in bodies.iter().take_while(|_| attack.goes_on()) {
            attack.send("POST", "/v1/predict", &[JSON], body.as_bytes());
            attack.send("POST", "/v1/explain", &[JSON], body.as_bytes());
        }
    }
}

/// Long questions whose answers nobody reads, or that nobody waits for.
fn ask_and_leave(attack: &Attack) {
    let body = json!({ "rows": rows(1000), "proba": true }).to_string();
    let head = head("/v1/predict", &format!("Content-Length: {}", body.len()));
    let mut open = Vec::new();
    while attack.goes_on() {
        open.extend(attack.leave_open(&head, body.as_bytes()));
        if open.len() > 20 {
            open.drain(..10);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Bodies that never end, claims of large ones, and heads that are never whole.
fn stall(attack: &Attack) {
    let part = [&b"{\"rows\": [["[..], &[b'1'; 100_000]].concat();
    let chunk = [format!("{:x}\r\n", part.len()).as_bytes(), &part, b"\r\n"].concat();
    let mut open = Vec::new();
    while attack.goes_on() {
        for path in ["/v1/predict", "/v1/explain", "/v1/learn", "/v1/merge"] {
            open.extend(attack.leave_open(&head(path, "Transfer-Encoding: chunked"), &chunk));
            open.extend(attack.leave_open(&head(path, "Content-Length: 30000000"), &part));
        }
        open.extend(attack.leave_open("GET / HTTP/1.1\r\nHost: x\r\nX: ", &[b'a'; 4000]));
        if open.len() > 300 {
            open.drain(..100);
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Bodies that are large, deep or strange.
fn send_strange(attack: &Attack) {
    let deep = [vec![b'['; 1 << 20], vec![b']'; 1 << 20]].concat();
    let large = [&b"{\"rows\": ["[..], &b"[1,1,1,1],".repeat(3_000_000)].concat();
    let names = format!(
        "{{\"rows\": [[1]], \"features\": [\"{}\"]}}",
        "a\",\"".repeat(500_000)
    );
    let parts = b"--edge\r\nContent-Disposition: form-data; name=\"row\"\r\n\r\n1\r\n".repeat(100_000);
    let form = "Content-Type: multipart/form-data; boundary=edge";
    while attack.goes_on() {
        for body in [
            &deep[..],
            &large,
            names.as_bytes(),
            b"{\"rows\": [[1e999]]}",
            b"\xff\xfe",
        ] {
            attack.send("POST", "/v1/predict", &[JSON], body);
        }
        for path in ["/v1/predict", "/v1/explain", "/v1/learn", "/v1/merge"] {
            attack.send("POST", path, &[form], &parts);
            attack.send("POST", path, &["Content-Type: application/octet-stream"], &large);
        }
    }
}

/// Bodies of as many entries as fit: each takes a few bytes, and would take many once it is read or answered.
fn send_many_entries(attack: &Attack) {
    const BYTES: usize = 30 << 20;
    let list =
        |start: &str, entry: &str, end: &str| format!("{start}{}{end}", entry.repeat(BYTES / entry.len()));
    let row = json!({ "name": "x", "datatype": "FP32", "shape": [100, WIDTH], "data": rows(100) });
    let bodies = [
        ("/v1/predict", list(r#"{"texts": ["#, r#""a","#, r#""a"]}"#)),
        (
            "/v1/explain",
            list(r#"{"rows": [[1]], "features": ["#, r#""a","#, r#""a"]}"#),
        ),
        (
            "/label-studio/predict",
            list(
                r#"{"label_config": "", "tasks": ["#,
                r#"{"data":{"":0}},"#,
                "{}]}",
            ),
        ),
        (
            "/label-studio/setup",
            list(r#"{"schema": ""#, "<Choices name='a' toName='b'/>", r#""}"#),
        ),
        (
            "/v2/models/m/infer",
            list(r#"{"inputs": ["#, r#"{"datatype":"","shape":[]},"#, "{}]}"),
        ),
        (
            "/v2/models/m/infer",
            list(
                &format!(r#"{{"inputs": [{row}], "outputs": ["#),
                r#"{"name":"probabilities"},"#,
                r#"{"name":"class"}]}"#,
            ),
        ),
    ];
    while attack.goes_on() {
        for (path, body) in bodies.iter().take_while(|_| attack.goes_on()) {
            attack.send("POST", path, &[JSON], body.as_bytes());
        }
    }
}

/// Groupings of many rows, whose clients go away.
fn group_and_leave(attack: &Attack) {
    let body = json!({ "rows": rows(4000) }).to_string();
    let head = head("/v1/discover", &format!("Content-Length: {}", body.len()));
    while attack.goes_on() {
        let left = attack.leave_open(&head, body.as_bytes());
        thread::sleep(Duration::from_secs(1));
        drop(left);
    }
}

/// Time between two wrong tokens. Thirty within a minute shut out their own address, and here that is everybody's;
/// `access.rs` tests that.
const BETWEEN_GUESSES: Duration = Duration::from_secs(3);

/// Everything that can be read, changes without a token, and guesses.
fn knock(attack: &Attack) {
    let paths = [
        "/",
        "/docs",
        "/openapi.json",
        "/health",
        "/ready",
        "/metrics",
        "/v1/model",
        "/v1/classes",
        "/v1/growth",
        "/v1/examples",
        "/v1/held-out",
        "/v1/download/memory",
        "/nowhere",
    ];
    let (began, mut guesses) = (Instant::now(), 0);
    while attack.goes_on() {
        for path in paths {
            attack.send("GET", path, &[], b"");
        }
        if began.elapsed() >= guesses * BETWEEN_GUESSES {
            guesses += 1;
            let token = format!("Authorization: Bearer a guess of a token {guesses}");
            attack.send("POST", "/v1/learn", &[JSON, &token], b"{}");
        }
        attack.send("DELETE", "/v1/classes/class%201", &[], b"");
    }
}

/// Hundreds of connections that say nothing.
fn hold(attack: &Attack) {
    let mut open = Vec::new();
    while attack.goes_on() {
        open.extend((0..50).filter_map(|_| connect(attack.address).ok()));
        if open.len() > 500 {
            open.drain(..250);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Asks one row at a time, and returns how long each answer took.
fn behave(attack: &Attack) -> Vec<Duration> {
    let body = json!({ "rows": rows(1), "top": 3 }).to_string();
    let mut took = Vec::new();
    while attack.goes_on() {
        let began = Instant::now();
        let reply = http::send(attack.address, "POST", "/v1/predict", &[JSON], body.as_bytes());
        let reply = reply.unwrap_or_else(|error| panic!("after {} answers: {error}", took.len()));
        assert_eq!(reply.status, 200, "after {} answers: {reply:?}", took.len());
        took.push(began.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
    took
}

/// Learns a row of a known class now and then, which must not be refused either.
fn teach(attack: &Attack) -> Vec<Duration> {
    let body = json!({ "rows": rows(1), "classes": ["class 7"] }).to_string();
    let mut took = Vec::new();
    while attack.goes_on() {
        let began = Instant::now();
        let reply = http::send(
            attack.address,
            "POST",
            "/v1/learn",
            &[JSON, TOKEN],
            body.as_bytes(),
        );
        let reply = reply.unwrap_or_else(|error| panic!("after {} lessons: {error}", took.len()));
        // A machine that is too busy may need longer than the time limit.
        assert!(matches!(reply.status, 200 | 503 | 504), "{reply:?}");
        took.push(began.elapsed());
        thread::sleep(Duration::from_secs(1));
    }
    took
}

/// Median, 99th percentile and largest, in milliseconds.
fn summary(mut took: Vec<Duration>) -> String {
    took.sort();
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let n = took.len();
    format!(
        "{n} answered, median {:.0} ms, p99 {:.0} ms, longest {:.0} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    )
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_behaves_is_answered_during_an_attack() {
    let asked = std::env::var("AUTOACTIVATOR_ATTACK_SECONDS");
    let seconds: u64 = asked.map_or(10, |seconds| seconds.parse().unwrap());
    let place = Workplace::new();
    model().save(place.path().join("m.aact")).unwrap();
    let mut serving = start(&place);
    let attack = Attack {
        address: serving.address,
        stop: AtomicBool::new(false),
        sent: AtomicUsize::new(0),
    };
    let (asked, taught) = thread::scope(|scope| {
        let attack = &attack;
        for attacker in [
            ask_for_much,
            ask_for_much,
            ask_and_leave,
            stall,
            send_strange,
            send_many_entries,
            send_many_entries,
            group_and_leave,
            knock,
            hold,
        ] {
            scope.spawn(move || attacker(attack));
        }
        let asked = scope.spawn(move || behave(attack));
        let taught = scope.spawn(move || teach(attack));
        thread::sleep(Duration::from_secs(seconds));
        println!("held: {}\n      {}", Held::TITLES, Held::by(&serving, &place));
        attack.stop.store(true, Ordering::Relaxed);
        (asked.join().unwrap(), taught.join().unwrap())
    });
    println!("questions: {}\nlessons: {}", summary(asked), summary(taught));
    println!(
        "{} hostile requests in {seconds} s",
        attack.sent.load(Ordering::Relaxed)
    );
    assert_eq!(serving.get("/v1/model").status, 200);
    serving.kill();
}
