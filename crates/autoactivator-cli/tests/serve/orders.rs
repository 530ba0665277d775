//! Clients that learn, unlearn and ask at the same time: there is one order of all changes, as the versions tell, that
//! explains every answer, and no answer is older than what its client could know.
//!
//! 30 requests of each client by default; `AUTOACTIVATOR_REQUESTS=2000 cargo test --release -p autoactivator-cli --test
//! serve orders -- --nocapture` sends more.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::thread;
use std::time::Instant;

use autoactivator::math::{Random, Stream};
use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http;
use crate::serving::{JSON, SMALL, Serving};

const CLIENTS: u64 = 5;
const WIDTH: usize = 3;
const CLASSES: usize = 4;

/// Largest difference of a probability: answers are in single precision.
const TOLERANCE: f64 = 1e-4;

type Row = [f32; WIDTH];

/// What a client asked for.
#[derive(Clone, Debug)]
enum Request {
    Learn(Vec<Row>, String),
    Unlearn(Vec<Row>, String),
    Predict(Row),
}

impl Request {
    fn is_change(&self) -> bool {
        !matches!(self, Self::Predict(_))
    }

    /// The path, and the body.
    fn written(&self) -> (&'static str, Value) {
        let change = |rows: &[Row], class: &str| {
            let classes = vec![class; rows.len()];
            json!({ "rows": rows, "classes": classes })
        };
        match self {
            Self::Learn(rows, class) => ("/v1/learn", change(rows, class)),
            Self::Unlearn(rows, class) => ("/v1/unlearn", change(rows, class)),
            Self::Predict(row) => ("/v1/predict", json!({ "rows": [row], "proba": true })),
        }
    }
}

/// A request, when it was sent and answered, and the answer.
struct Event {
    request: Request,
    sent: Instant,
    answered: Instant,
    version: u64,
    answer: Value,
}

/// A client that unlearns only what it has learned.
struct Client {
    address: SocketAddr,
    number: u64,
    random: Random,
    learned: Vec<(Row, String)>,
}

impl Client {
    fn new(address: SocketAddr, number: u64) -> Self {
        Self {
            address,
            number,
            random: Random::new(number + 1, Stream::Pool { layer: 0 }),
            learned: Vec::new(),
        }
    }

    fn row(&mut self, class: usize) -> Row {
        let mut at = |j: usize| (class * (j + 1) % CLASSES) as f32 + 0.5 * self.random.normal();
        [at(0), at(1), at(2)]
    }

    fn next(&mut self) -> Request {
        let class = self.random.below(CLASSES);
        let n_rows = 1 + self.random.below(3);
        match self.random.below(10) {
            0..3 => {
                let rows: Vec<Row> = (0..n_rows).map(|_| self.row(class)).collect();
                let name = format!("class {class}");
                self.learned.extend(rows.iter().map(|&row| (row, name.clone())));
                Request::Learn(rows, name)
            }
            3..5 if !self.learned.is_empty() => {
                let (row, class) = self.learned.swap_remove(self.random.below(self.learned.len()));
                Request::Unlearn(vec![row], class)
            }
            _ => Request::Predict(self.row(class)),
        }
    }

    fn send(&mut self, at: usize) -> Event {
        let request = self.next();
        let (path, body) = request.written();
        // Now and then a change is sent a second time, as if its answer had been lost.
        let key = format!("Idempotency-Key: client-{}-{at}", self.number);
        let lines: &[&str] = if request.is_change() {
            &[JSON, &key]
        } else {
            &[JSON]
        };
        let sent = Instant::now();
        let reply = http::send(self.address, "POST", path, lines, body.to_string().as_bytes()).unwrap();
        let answered = Instant::now();
        assert_eq!(reply.status, 200, "{request:?}: {reply:?}");
        let answer = reply.json();
        if request.is_change() && self.random.below(4) == 0 {
            let again = http::send(self.address, "POST", path, lines, body.to_string().as_bytes()).unwrap();
            assert_eq!(again.json()["repeated"], json!(true), "{again:?}");
        }
        Event {
            version: answer["version"].as_u64().unwrap(),
            request,
            sent,
            answered,
            answer,
        }
    }
}

fn apply(model: &mut Model, request: &Request) {
    let (Request::Learn(rows, class) | Request::Unlearn(rows, class)) = request else {
        return;
    };
    let x = Table::new(rows.iter().flatten().copied().collect(), WIDTH).unwrap();
    let y = Labels::from_names(rows.iter().map(|_| class.clone()));
    if matches!(request, Request::Learn(..)) {
        model.learn(x.rows(), &y, &mut ()).unwrap();
    } else {
        model.unlearn(x.rows(), &y).unwrap();
    }
}

/// The probabilities of an answer are those of this model.
#[track_caller]
fn check_answer(model: &Model, row: Row, event: &Event) {
    let expected = model
        .probabilities(Table::new(row.to_vec(), WIDTH).unwrap().rows())
        .unwrap();
    let found = &event.answer["answers"][0]["probabilities"];
    for (c, class) in model.classes().iter().enumerate() {
        let (found, expected) = (found[class].as_f64().unwrap(), expected[(0, c)]);
        assert!(
            (found - expected).abs() < TOLERANCE,
            "version {}: {class} has {found}, but {expected} in the order of versions",
            event.version
        );
    }
}

/// The changes by version. Changes that were written together share one; it counts all of them.
fn by_version(events: &[Event], first: u64) -> BTreeMap<u64, Vec<&Event>> {
    let mut versions: BTreeMap<u64, Vec<&Event>> = BTreeMap::new();
    for event in events.iter().filter(|event| event.request.is_change()) {
        versions.entry(event.version).or_default().push(event);
    }
    let mut before = first;
    for (&version, changes) in &versions {
        assert_eq!(
            version - before,
            changes.len() as u64,
            "changes of version {version}"
        );
        before = version;
    }
    versions
}

/// No answer is older than what was answered before it was sent, and none knows what was sent after it.
fn check_times(events: &[Event], versions: &BTreeMap<u64, Vec<&Event>>) {
    for later in events {
        for earlier in events.iter().filter(|earlier| earlier.answered < later.sent) {
            let least = earlier.version + u64::from(later.request.is_change());
            assert!(
                later.version >= least,
                "an answer of version {} is out of date",
                later.version
            );
        }
        if let Some(changes) = versions.get(&later.version) {
            let known = changes.iter().all(|change| change.sent < later.answered);
            assert!(
                known,
                "version {} was answered before it was asked for",
                later.version
            );
        }
    }
}

#[test]
fn there_is_one_order_of_changes_that_explains_every_answer() {
    let asked = std::env::var("AUTOACTIVATOR_REQUESTS");
    let requests: usize = asked.map_or(30, |n| n.parse().unwrap());
    let place = Workplace::new();
    let words = [&["m.aact", "--quiet"], &SMALL[..]].concat();
    let serving = Serving::start(&place, &words);
    let mut first = Client::new(serving.address, CLIENTS);
    let rows: Vec<Row> = (0..4 * CLASSES).map(|i| first.row(i % CLASSES)).collect();
    let classes: Vec<String> = (0..rows.len())
        .map(|i| format!("class {}", i % CLASSES))
        .collect();
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    let begun = serving.learn(&json!(rows), &classes)["version"].as_u64().unwrap();
    let mut model = Model::load(place.path().join("m.aact")).unwrap();
    let events: Vec<Event> = thread::scope(|scope| {
        let client = |number| {
            let mut client = Client::new(serving.address, number);
            move || -> Vec<Event> { (0..requests).map(|at| client.send(at)).collect() }
        };
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(client(number))).collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().unwrap())
            .collect()
    });
    let versions = by_version(&events, begun);
    check_times(&events, &versions);
    let mut digests = BTreeMap::new();
    for event in &events {
        let digest = digests.entry(event.version).or_insert(&event.answer["sha256"]);
        assert_eq!(**digest, event.answer["sha256"], "version {}", event.version);
    }
    let mut compared = 0;
    for version in std::iter::once(begun).chain(versions.keys().copied()) {
        for change in versions.get(&version).into_iter().flatten() {
            apply(&mut model, &change.request);
        }
        for event in events.iter().filter(|event| event.version == version) {
            if let Request::Predict(row) = event.request {
                check_answer(&model, row, event);
                compared += 1;
            }
        }
    }
    let asked = events.iter().filter(|event| !event.request.is_change()).count();
    assert_eq!(
        compared, asked,
        "every answer is of a version that was acknowledged"
    );
    let together = versions.values().filter(|changes| changes.len() > 1).count();
    println!(
        "{CLIENTS} clients, {} changes in {} versions ({together} of several changes), {compared} answers explained",
        events.len() - asked,
        versions.len()
    );
    assert_eq!(
        serving.read("/v1/model")["version"].as_u64().unwrap(),
        versions.keys().last().copied().unwrap_or(begun)
    );
}
