//! What was acknowledged is there after `kill -9`, at whatever moment; nothing needs repair.
//!
//! 25 rounds by default; `AUTOACTIVATOR_KILL_ROUNDS=500 cargo test --release -p autoactivator-cli --test serve killed`
//! runs the long one.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use autoactivator::Model;
use serde_json::json;

use crate::common::Workplace;
use crate::http;
use crate::serving::{JSON, SMALL, Serving};

/// Learn requests at a time.
const LEARNERS: usize = 4;

/// Milliseconds after which a server is killed at the latest.
const LONGEST: u64 = 300;

fn rounds() -> usize {
    let given = std::env::var("AUTOACTIVATOR_KILL_ROUNDS").ok();
    given.map_or(25, |rounds| rounds.parse().unwrap())
}

/// Rows of one class: those acknowledged, and those that may have been learned beside.
#[derive(Default, Clone, Copy)]
struct Sent {
    acknowledged: usize,
    uncertain: usize,
}

/// Teaches rows of one class, one after the other, until the server is gone.
fn teach(address: SocketAddr, class: &str, stop: &AtomicBool) -> Sent {
    let mut sent = Sent::default();
    while !stop.load(Ordering::Relaxed) {
        let n = sent.acknowledged as f64;
        let body = json!({ "rows": [[n.sin(), n.cos(), 1.0]], "classes": [class] }).to_string();
        match http::send(address, "POST", "/v1/learn", &[JSON], body.as_bytes()) {
            Ok(reply) if reply.status == 200 => sent.acknowledged += 1,
            Ok(reply) => panic!("{reply:?}"),
            Err(_) => {
                sent.uncertain += 1;
                break;
            }
        }
    }
    sent
}

/// Asks until the server is gone.
fn ask(address: SocketAddr, stop: &AtomicBool, answered: &AtomicUsize) {
    let body = json!({ "rows": [[0.5, 0.5, 1.0]], "top": 2 }).to_string();
    while !stop.load(Ordering::Relaxed) {
        match http::send(address, "POST", "/v1/predict", &[JSON], body.as_bytes()) {
            // Nothing is known before the first rows are.
            Ok(reply) => assert!(matches!(reply.status, 200 | 409), "{reply:?}"),
            Err(_) => break,
        }
        answered.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    let place = Workplace::new();
    let words = [&["m.aact"], &SMALL[..], &["--quiet"]].concat();
    let classes: Vec<String> = (0..LEARNERS).map(|i| format!("class {i}")).collect();
    let mut expected: BTreeMap<&str, Sent> = BTreeMap::new();
    let answered = AtomicUsize::new(0);
    for round in 0..rounds() {
        let mut serving = Serving::start(&place, &words);
        let address = serving.address;
        let leftover = place
            .files()
            .into_keys()
            .find(|path| path.extension().is_some_and(|end| end == "tmp"));
        assert_eq!(leftover, None, "what the last writer left is gone");
        let stop = AtomicBool::new(false);
        let sent: Vec<Sent> = thread::scope(|scope| {
            let taught: Vec<_> = classes
                .iter()
                .map(|class| scope.spawn(|| teach(address, class, &stop)))
                .collect();
            let asked = scope.spawn(|| ask(address, &stop, &answered));
            let random = RandomState::new().hash_one(round);
            thread::sleep(Duration::from_millis(random % LONGEST));
            serving.kill();
            stop.store(true, Ordering::Relaxed);
            asked.join().unwrap();
            taught.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (class, sent) in classes.iter().zip(sent) {
            let all = expected.entry(class).or_default();
            all.acknowledged += sent.acknowledged;
            all.uncertain += sent.uncertain;
        }
        check(&place, &mut expected, round);
    }
    let learned: usize = expected.values().map(|sent| sent.acknowledged).sum();
    let answered = answered.into_inner();
    println!(
        "{} rounds: {learned} learns acknowledged, {answered} predictions answered",
        rounds()
    );
    assert!(learned > rounds() / 2 && answered > rounds());
}

/// The file can be read, and holds every acknowledged row. What it holds now is certain from here on.
fn check(place: &Workplace, expected: &mut BTreeMap<&str, Sent>, round: usize) {
    let model = Model::load(place.path().join("m.aact")).unwrap();
    let memory = model.consolidation().unwrap().memory();
    let names = memory.classes().names().iter().map(String::as_str);
    let counts: BTreeMap<&str, f64> = names.zip(memory.counts().iter().copied()).collect();
    for (class, sent) in expected {
        let there = counts.get(class).copied().unwrap_or(0.0).round() as usize;
        let possible = sent.acknowledged..=sent.acknowledged + sent.uncertain;
        assert!(
            possible.contains(&there),
            "round {round}, {class}: {there} rows, {possible:?} expected"
        );
        *sent = Sent {
            acknowledged: there,
            uncertain: 0,
        };
    }
}

#[test]
fn a_second_writer_is_kept_out() {
    let place = Workplace::new();
    let mut serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    place.write("rows.csv", "0,0,low\n1,1,high\n");
    for words in [
        &["serve", "m.aact", "--listen", "127.0.0.1:0"][..],
        &["learn", "m.aact", "rows.csv"],
        &["unlearn", "m.aact", "rows.csv"],
        &["drop-class", "m.aact", "low"],
    ] {
        let said = place.run(words);
        assert_eq!(said.code, Some(2), "{words:?}");
        let holder = format!(
            "m.aact: process {} (autoactivator serve) has held this model for less than a minute: stop it, or wait",
            serving.id()
        );
        assert!(said.stderr.contains(&holder), "{}", said.stderr);
    }
    place.succeed(&["predict", "m.aact", "rows.csv"]);
    serving.kill();
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    let left: Vec<_> = place
        .files()
        .into_keys()
        .filter(|path| path.to_string_lossy().contains(".lock"))
        .collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
}

#[test]
fn rows_of_a_private_model_never_reach_the_disk() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact", "--private"], &SMALL[..]].concat());
    let value = 0.736_519_2_f32;
    serving.learn(&json!([[value, value, value], [0, 0, 0]]), &["a", "b"]);
    for (path, content) in place.files() {
        for needle in [value.to_le_bytes().to_vec(), value.to_string().into_bytes()] {
            let found = content.windows(needle.len()).any(|window| window == needle);
            assert!(!found, "{}", path.display());
        }
    }
}

#[test]
fn a_disk_that_refuses_changes_nothing() {
    let place = Workplace::new();
    std::fs::create_dir(place.path().join("kept")).unwrap();
    let serving = Serving::start(&place, &[&["kept/m.aact"], &SMALL[..]].concat());
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    std::fs::rename(place.path().join("kept"), place.path().join("moved")).unwrap();
    let refused = serving.post("/v1/learn", &json!({ "rows": [[2, 2]], "classes": ["far"] }));
    assert_eq!((refused.status, refused.kind()), (503, "Io".to_owned()));
    let unready = serving.get("/ready");
    assert_eq!((unready.status, unready.kind()), (503, "Io".to_owned()));
    assert_eq!(
        serving.classes(),
        ["low", "high"],
        "what is not on disk is not answered either"
    );
    std::fs::rename(place.path().join("moved"), place.path().join("kept")).unwrap();
    assert_eq!(serving.get("/ready").status, 200);
    serving.learn(&json!([[2, 2]]), &["far"]);
    assert_eq!(serving.classes(), ["low", "high", "far"]);
}

#[cfg(unix)]
#[test]
fn sigterm_ends_the_server_like_ctrl_c() {
    for signal in ["-TERM", "-INT"] {
        let place = Workplace::new();
        let mut serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
        serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
        let id = serving.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &id]).status();
        assert!(sent.unwrap().success());
        assert_eq!(serving.ended().code(), Some(0), "{signal}");
        let left: Vec<_> = place.files().into_keys().collect();
        assert!(
            !left.iter().any(|path| path.to_string_lossy().contains(".lock")),
            "{signal}: {left:?}"
        );
    }
}

/// Neither another name nor a lost lock file lets a second server in, and what somebody else has put in the place of the
/// model is not overwritten.
#[cfg(unix)]
#[test]
fn a_model_that_is_served_has_one_history() {
    let place = Workplace::new();
    let at = |name: &str| place.path().join(name);
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    std::fs::hard_link(at("m.aact"), at("hard.aact")).unwrap();
    std::os::unix::fs::symlink("m.aact", at("soft.aact")).unwrap();
    std::fs::remove_file(at(".m.aact.lock")).unwrap();
    place.write("rows.csv", "0,0,low\n1,1,high\n");
    for name in ["m.aact", "hard.aact", "soft.aact"] {
        for words in [
            &["serve", name, "--listen", "127.0.0.1:0"][..],
            &["learn", name, "rows.csv"],
        ] {
            let said = place.run(words);
            assert_eq!(said.code, Some(2), "{words:?}");
            assert!(
                said.stderr.contains("another process is changing this file"),
                "{}",
                said.stderr
            );
        }
    }
    let other = std::fs::read(at("m.aact")).unwrap();
    std::fs::write(at("new.aact"), &other).unwrap();
    std::fs::rename(at("new.aact"), at("m.aact")).unwrap();
    let refused = serving.post("/v1/learn", &json!({ "rows": [[2, 2]], "classes": ["far"] }));
    assert_eq!((refused.status, refused.kind()), (503, "Replaced".to_owned()));
    assert_eq!(std::fs::read(at("m.aact")).unwrap(), other);
    assert_eq!(serving.classes(), ["low", "high"]);
}
