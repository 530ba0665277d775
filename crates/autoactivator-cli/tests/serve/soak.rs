//! Mixed traffic for as long as is asked for: what the process holds at the end is what it held in the beginning, and the
//! sums are those of a model that learns afresh what is left.
//!
//! A few seconds by default; `bash benches/soak/run 60` asks for an hour, and prints a line every few seconds.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use autoactivator::math::{Random, Stream};
use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::{self, Reply, connect, form};
use crate::process::Held;
use crate::serving::{JSON, Serving};

const WIDTH: usize = 6;

/// Classes that are there all the time.
const CLASSES: usize = 5;

/// Largest difference of an entry of G from that of a fresh model, relative to the largest. Rows are taken back beside others
/// than they came with, and products in single precision then round otherwise: over many requests, a random walk.
const DRIFT: f64 = 1e-6;
const STEP: f64 = 1e-8;

/// More descriptors or threads than this beside those of the beginning are a leak.
const SLACK: usize = 24;

const WORDS: [&str; 7] = [
    "m.aact",
    "--quiet",
    "--empty",
    "--pool",
    "gaussian",
    "--pool-nodes",
    "64",
];

type Row = [f32; WIDTH];
type Rows = Vec<(Row, String)>;

/// What all clients know.
struct Truth {
    address: SocketAddr,
    stop: AtomicBool,
    requests: AtomicUsize,
    /// Rows that are learned and were not unlearned, beside the first ones.
    left: Mutex<Rows>,
    /// Rows of classes that were dropped: how they scatter stays in the sums.
    dropped: Mutex<Vec<Rows>>,
}

impl Truth {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    /// Sends a request that must be answered well.
    #[track_caller]
    fn send(&self, method: &str, path: &str, lines: &[&str], body: &[u8]) -> Reply {
        let reply = http::send(self.address, method, path, lines, body).unwrap();
        assert_eq!(
            reply.status,
            200,
            "{method} {path}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        self.requests.fetch_add(1, Ordering::Relaxed);
        reply
    }

    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[JSON], body.to_string().as_bytes())
    }

    #[track_caller]
    fn change(&self, path: &str, rows: &Rows) {
        let classes: Vec<&String> = rows.iter().map(|(_, class)| class).collect();
        let rows: Vec<Row> = rows.iter().map(|(row, _)| *row).collect();
        self.post(path, &json!({ "rows": rows, "classes": classes }));
    }
}

/// Rows around the place of a class.
fn some_of(random: &mut Random, class: usize, name: &str, n: usize) -> Rows {
    let mut row =
        || -> Row { std::array::from_fn(|j| (class * (j + 1) % CLASSES) as f32 + 0.7 * random.normal()) };
    (0..n).map(|_| (row(), name.to_owned())).collect()
}

fn random(client: u64) -> Random {
    Random::new(client, Stream::Pool { layer: 0 })
}

/// Learns rows of the lasting classes, and unlearns some of its own.
fn teach(truth: &Truth, client: u64) {
    let mut random = random(client);
    let mut mine: Rows = Vec::new();
    while truth.goes_on() {
        let class = random.below(CLASSES);
        let n = 1 + random.below(8);
        let rows = some_of(&mut random, class, &format!("class {class}"), n);
        truth.change("/v1/learn", &rows);
        mine.extend(rows);
        while mine.len() > 40 {
            let row = mine.swap_remove(random.below(mine.len()));
            truth.change("/v1/unlearn", &vec![row]);
        }
    }
    truth.left.lock().unwrap().extend(mine);
}

/// Brings a class of its own, renames it and drops it.
fn rename_and_drop(truth: &Truth) {
    let mut random = random(100);
    let mut round = 0;
    while truth.goes_on() {
        round += 1;
        let (name, other) = (format!("passing-{round}"), format!("renamed-{round}"));
        let rows = some_of(&mut random, round, &name, 3);
        truth.change("/v1/learn", &rows);
        let body = json!({ "name": other });
        truth.post(&format!("/v1/classes/{name}/rename"), &body);
        truth.send("DELETE", &format!("/v1/classes/{other}"), &[], b"");
        truth.dropped.lock().unwrap().push(rows);
        pause(truth, Duration::from_secs(5));
    }
}

/// Takes the model home, teaches it there, and merges what it has learned.
fn merge(truth: &Truth) {
    let mut random = random(200);
    while truth.goes_on() {
        let base = truth.send("GET", "/v1/download/memory", &[], b"").body;
        let mut model = Model::from_bytes(&base).unwrap();
        let class = random.below(CLASSES);
        let rows = some_of(&mut random, class, &format!("class {class}"), 2);
        let (x, y) = table(&rows);
        model.learn(x.rows(), &y, &mut ()).unwrap();
        let taught = model.to_bytes().unwrap();
        let (kind, body) = form(&[("model", &taught), ("base", &base)]);
        let merged = http::send(truth.address, "POST", "/v1/merge", &[kind], &body).unwrap();
        // A class of the base may have been dropped in the meantime.
        assert!([200, 409, 422].contains(&merged.status), "{merged:?}");
        if merged.status == 200 {
            truth.left.lock().unwrap().extend(rows);
        }
        pause(truth, Duration::from_secs(2));
    }
}

/// Asks for everything that can be asked for.
fn ask(truth: &Truth, client: u64) {
    let mut random = random(300 + client);
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
        "/v1/download/model",
        "/v1/download/onnx",
        "/v1/download/memory",
    ];
    while truth.goes_on() {
        let n = [1, 1, 1, 30, 1000][random.below(5)];
        let rows: Vec<Row> = some_of(&mut random, 1, "", n)
            .into_iter()
            .map(|(row, _)| row)
            .collect();
        let bodies = [
            json!({ "rows": rows }),
            json!({ "rows": rows, "top": 2 }),
            json!({ "rows": rows, "proba": true, "reject": 0.05 }),
            json!({ "rows": rows, "features": ["f", "e", "d", "c", "b", "a"], "top": 1 }),
        ];
        truth.post("/v1/predict", &bodies[random.below(4)]);
        truth.post("/v1/explain", &json!({ "rows": [rows[0]] }));
        truth.send("GET", paths[random.below(paths.len())], &[], b"");
        let refused: [(&str, &[u8]); 3] = [
            ("/v1/predict", b"{\"rows\": [[1,"),
            ("/v1/learn", b"nothing"),
            ("/v1/predict", b"{}"),
        ];
        for (path, body) in refused {
            let reply = http::send(truth.address, "POST", path, &[JSON], body).unwrap();
            assert!(reply.status >= 400 && reply.status < 500, "{reply:?}");
        }
    }
}

/// Sends half of a request, or a whole one whose answer it does not wait for.
fn abandon(truth: &Truth) {
    let mut random = random(400);
    while truth.goes_on() {
        let rows: Vec<Row> = some_of(&mut random, 1, "", 2000)
            .into_iter()
            .map(|(row, _)| row)
            .collect();
        let body = json!({ "rows": rows, "proba": true }).to_string();
        let head = format!(
            "POST /v1/predict HTTP/1.1\r\nHost: {}\r\n{JSON}\r\nContent-Length: {}\r\n\r\n",
            truth.address,
            body.len()
        );
        let request = [head.as_bytes(), body.as_bytes()].concat();
        let sent = if random.below(2) == 0 {
            request.len()
        } else {
            random.below(request.len())
        };
        if let Ok(mut stream) = connect(truth.address) {
            let _ = stream.write_all(&request[..sent]);
        }
        pause(truth, Duration::from_millis(30));
    }
}

/// Sends byte by byte, and reads byte by byte.
fn dawdle(truth: &Truth) {
    let body = json!({ "rows": [[0, 0, 0, 0, 0, 0]] }).to_string();
    let request = format!(
        "POST /v1/predict HTTP/1.1\r\nHost: {}\r\n{JSON}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        truth.address,
        body.len()
    );
    while truth.goes_on() {
        let mut stream = connect(truth.address).unwrap();
        for byte in request.as_bytes() {
            if stream.write_all(&[*byte]).is_err() || !truth.goes_on() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let mut byte = [0];
        while truth.goes_on() && matches!(stream.read(&mut byte), Ok(1)) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Waits, but not beyond the end.
fn pause(truth: &Truth, time: Duration) {
    let began = Instant::now();
    while truth.goes_on() && began.elapsed() < time {
        thread::sleep(Duration::from_millis(20));
    }
}

fn table(rows: &Rows) -> (Table, Labels) {
    let values = rows.iter().flat_map(|(row, _)| *row).collect();
    let labels = Labels::from_names(rows.iter().map(|(_, class)| class.clone()));
    (Table::new(values, WIDTH).unwrap(), labels)
}

/// A model that began as the server's did, and has learned what is left.
fn fresh(mut model: Model, truth: &Truth) -> Model {
    let mut learn = |rows: &Rows| {
        let (x, y) = table(rows);
        model.learn(x.rows(), &y, &mut ()).unwrap();
    };
    learn(&truth.left.lock().unwrap());
    let dropped = truth.dropped.lock().unwrap();
    learn(&dropped.iter().flatten().cloned().collect());
    for rows in &*dropped {
        model.drop_class(&rows[0].1).unwrap();
    }
    model
}

/// Largest difference of two sums G, relative to the largest entry; and of the probabilities of some rows.
fn drift(found: &Model, fresh: &Model) -> (f64, f64) {
    let gram = |model: &Model| model.consolidation().unwrap().memory().gram().to_square();
    let (a, b) = (gram(found), gram(fresh));
    let largest = b.values().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let (x, _) = table(&some_of(&mut random(500), 2, "", 100));
    let probabilities = |model: &Model| {
        let found = model.probabilities(x.rows()).unwrap();
        let by_name: BTreeMap<&String, Vec<f64>> = model
            .classes()
            .iter()
            .enumerate()
            .map(|(c, name)| (name, found.col(c).to_vec()))
            .collect();
        by_name.into_values().flatten().collect::<Vec<f64>>()
    };
    let gram = apart(a.values(), b.values()) / largest;
    (gram, apart(&probabilities(found), &probabilities(fresh)))
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_held_after_long_traffic_is_what_was_held_before() {
    let asked = std::env::var("AUTOACTIVATOR_SOAK_SECONDS");
    let seconds: u64 = asked.map_or(6, |seconds| seconds.parse().unwrap());
    let place = Workplace::new();
    let serving = Serving::start(&place, &WORDS);
    let truth = Truth {
        address: serving.address,
        stop: AtomicBool::new(false),
        requests: AtomicUsize::new(0),
        left: Mutex::default(),
        dropped: Mutex::default(),
    };
    let mut first = random(0);
    let first: Rows = (0..CLASSES)
        .flat_map(|class| some_of(&mut first, class, &format!("class {class}"), 10))
        .collect();
    truth.change("/v1/learn", &first);
    let began = Model::load(place.path().join("m.aact")).unwrap();
    let look = || Held::by(&serving, &place);
    let before = look();
    println!("   time  {}  requests", Held::TITLES);
    thread::scope(|scope| {
        let truth = &truth;
        scope.spawn(move || teach(truth, 1));
        scope.spawn(move || teach(truth, 2));
        scope.spawn(move || rename_and_drop(truth));
        scope.spawn(move || merge(truth));
        scope.spawn(move || ask(truth, 1));
        scope.spawn(move || ask(truth, 2));
        scope.spawn(move || abandon(truth));
        scope.spawn(move || dawdle(truth));
        let began = Instant::now();
        for tenth in 1..=10 {
            let until = Duration::from_secs(seconds) * tenth / 10;
            thread::sleep(until.saturating_sub(began.elapsed()));
            let requests = truth.requests.load(Ordering::Relaxed);
            println!(
                "{:>6.0} s  {}  {requests:>8}",
                began.elapsed().as_secs_f64(),
                look()
            );
        }
        truth.stop.store(true, Ordering::Relaxed);
    });
    let after = settled(&look, &before);
    let found = Model::load(place.path().join("m.aact")).unwrap();
    let (gram, probabilities) = drift(&found, &fresh(began, &truth));
    println!(
        "at the end  {after}\n{} rows left, {} classes dropped: G is {gram:.1e} from a fresh sum, probabilities {probabilities:.1e}",
        truth.left.lock().unwrap().len() + first.len(),
        truth.dropped.lock().unwrap().len(),
    );
    let walked = STEP * (truth.requests.load(Ordering::Relaxed) as f64).sqrt();
    assert!(gram < DRIFT.max(walked), "G is {gram:e} from a fresh sum");
    assert!(
        after.descriptors <= before.descriptors + SLACK,
        "{before}, then {after}"
    );
    assert!(after.threads <= before.threads + SLACK, "{before}, then {after}");
}

/// What is held once the connections of clients that have gone are closed.
fn settled(look: &dyn Fn() -> Held, before: &Held) -> Held {
    let began = Instant::now();
    loop {
        let now = look();
        if now.descriptors <= before.descriptors + 1 || began.elapsed() > Duration::from_secs(20) {
            return now;
        }
        thread::sleep(Duration::from_millis(200));
    }
}
