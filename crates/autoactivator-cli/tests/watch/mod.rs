//! `watch`: what arrives is learned or predicted once, whatever happens to the process meanwhile.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::common::{Workplace, clusters, without_classes};

/// A folder with a table to learn, and one to predict.
fn filled() -> Workplace {
    let place = Workplace::new();
    place.write("in/first.csv", clusters(&["a", "b"], 30));
    place.write("in/inbox/asked.csv", without_classes(&clusters(&["b", "a"], 2)));
    place
}

fn once(place: &Workplace) -> String {
    let words = ["watch", "in", "model", "--every", "0.05", "--once"];
    place.succeed(&words).stderr
}

fn text(place: &Workplace, name: &str) -> String {
    String::from_utf8(place.read(name)).unwrap()
}

/// Starts the program and leaves it running.
fn watching(place: &Workplace, every: &str) -> Child {
    let mut command = place.command(&["watch", "in", "model", "--every", every]);
    command.stderr(Stdio::null()).spawn().unwrap()
}

fn wait_for(place: &Workplace, name: &str) {
    let end = Instant::now() + Duration::from_secs(60);
    while !place.exists(name) {
        assert!(Instant::now() < end, "{name} never came");
        sleep(Duration::from_millis(5));
    }
}

/// The files that the model has learned, with what it says of each.
fn ledger(place: &Workplace) -> Map<String, Value> {
    let said = place.succeed(&["inspect", "model", "--json"]).stdout;
    let described: Value = serde_json::from_str(&said).unwrap();
    described["ledger"].as_object().unwrap().clone()
}

#[test]
fn what_arrives_is_learned_and_then_asked_about() {
    let place = filled();
    let said = once(&place);
    assert!(said.contains("learned 60 rows"), "{said}");
    assert_eq!(
        text(&place, "in/answered/1/answers.csv"),
        "row,class\n0,b\n1,a\n2,b\n3,a\n"
    );
    for done in ["in/learned/1/first.csv", "in/answered/1/files/asked.csv"] {
        assert!(place.exists(done), "{done}");
    }
    assert!(!place.exists("in/first.csv") && !place.exists("in/inbox/asked.csv"));
    let before = place.read("model");
    once(&place);
    assert!(place.read("model") == before, "nothing was there");
    place.write("in/second.csv", clusters(&["c", "d"], 30));
    let said = once(&place);
    assert!(said.contains("2 new classes"), "{said}");
    assert!(place.exists("in/learned/2/second.csv"));
}

#[test]
fn the_same_rows_are_not_learned_again() {
    let place = filled();
    once(&place);
    let before = place.read("model");
    place.write("in/copy.csv", clusters(&["a", "b"], 30));
    let said = once(&place);
    assert!(said.contains("not learned again"), "{said}");
    assert!(place.read("model") == before && place.exists("in/learned/2/copy.csv"));
}

/// A process that was killed after it had written the model, and before the batch had its name; and one that was killed
/// before it had learned anything.
#[test]
fn what_a_killed_process_left_is_done_once() {
    let place = filled();
    once(&place);
    let before = place.read("model");
    place.write("in/.learning/first.csv", clusters(&["a", "b"], 30));
    place.write(
        "in/.answering/files/asked.csv",
        without_classes(&clusters(&["a"], 1)),
    );
    once(&place);
    assert!(place.read("model") == before);
    assert!(place.exists("in/learned/2/first.csv"));
    assert_eq!(text(&place, "in/answered/2/answers.csv"), "row,class\n0,a\n");
    place.write("in/.learning/second.csv", clusters(&["c"], 30));
    let said = once(&place);
    assert!(said.contains("learned 30 rows"), "{said}");
}

/// Killed at moments that are spread over its work, the process loses no table and learns none twice.
#[test]
#[cfg(unix)]
fn kill_9_at_any_moment_loses_nothing() {
    let rounds: u64 = std::env::var("AUTOACTIVATOR_KILL_ROUNDS").map_or(6, |n| n.parse().unwrap());
    let place = Workplace::new();
    place.write("in/inbox/none.txt", "");
    for round in 0..rounds {
        // Other rows each time: equal ones would be known.
        let rows = clusters(&["a", "b"], 20).replace("0.1", &format!("0.1{round:03}"));
        place.write(&format!("in/{round}.csv"), rows);
        let mut child = watching(&place, "0.05");
        sleep(Duration::from_millis(90 + 37 * round % 260));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    once(&place);
    once(&place);
    let learned = place.files().into_keys().filter(|path| {
        let path = path.to_string_lossy();
        path.contains("/in/learned/") && path.ends_with(".csv")
    });
    assert_eq!(learned.count() as u64, rounds);
    let ledger = ledger(&place);
    assert_eq!(ledger.len() as u64, rounds);
    assert!(ledger.values().all(|file| file["more"].is_null()), "{ledger:?}");
}

#[test]
fn a_file_that_is_still_written_is_left_alone() {
    let place = filled();
    let mut child = watching(&place, "0.4");
    wait_for(&place, "in/learned/1");
    let whole = clusters(&["c", "d"], 40);
    let end = Instant::now() + Duration::from_millis(1500);
    let mut written = 0;
    while Instant::now() < end {
        written = (written + 10).min(whole.len() / 2);
        place.write("in/slow.csv", &whole[..written]);
        sleep(Duration::from_millis(5));
        assert!(place.exists("in/slow.csv"), "it was taken while it was written");
    }
    place.write("in/slow.csv", &whole);
    wait_for(&place, "in/learned/2");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(text(&place, "in/learned/2/slow.csv"), whole);
}

#[test]
fn folders_of_images_are_learned_by_their_names() {
    use super::photos;
    let place = Workplace::new();
    photos::write(&place, "in", "sun", 6);
    photos::write(&place, "in", "sea", 6);
    photos::write(&place, "asked", "sun", 1);
    place.write("in/inbox/what.jpg", place.read("asked/sun/000.jpg"));
    place.write("in/notes.md", "not a row");
    let said = once(&place);
    assert!(said.contains("learned 12 rows"), "{said}");
    assert_eq!(
        text(&place, "in/answered/1/answers.csv"),
        "row,name,class\n0,what.jpg,sun\n"
    );
    assert!(place.exists("in/learned/1/sea/000.jpg") && place.exists("in/notes.md"));
}

#[test]
fn what_cannot_be_read_is_put_aside_with_the_reason() {
    let place = filled();
    place.write("in/bad.csv", "1,2,a\n1,b\n");
    let said = once(&place);
    assert!(said.contains("warning: failed/1: "), "{said}");
    assert!(place.exists("in/failed/1/bad.csv"));
    assert!(!text(&place, "in/failed/1/why.txt").is_empty());
    assert!(place.exists("in/learned/1/first.csv"), "the others are learned");
}

#[test]
fn ctrl_c_ends_it_and_nothing_to_do_is_no_error() {
    let place = Workplace::new();
    place.write("in/inbox/.keep", "");
    assert!(once(&place).contains("in: nothing has arrived yet"));
    assert!(!place.exists("model"));
    place.write("in/inbox/early.csv", without_classes(&clusters(&["a"], 2)));
    assert!(once(&place).contains("in/inbox: waits until something has been learned"));
    assert!(place.exists("in/inbox/early.csv"), "it waits for a model");
    #[cfg(unix)]
    {
        place.write("in/first.csv", clusters(&["a", "b"], 10));
        let mut child = watching(&place, "0.05");
        wait_for(&place, "in/answered/1");
        let id = child.id().to_string();
        std::process::Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b"], 10));
    place.write("in/inbox/.keep", "");
    place.refuse(
        &["watch", "nowhere", "model", "--once"],
        &["nowhere", "no such folder"],
    );
    place.succeed(&["learn", "private", "rows.csv", "--private"]);
    place.refuse(
        &["watch", "in", "private", "--once"],
        &["lists what it has learned"],
    );
    place.refuse(&["watch", "in", "rows.csv", "--once"], &["rows.csv"]);
}

#[test]
fn rows_that_have_become_strange_cause_a_warning() {
    let place = filled();
    once(&place);
    let far: String = (0..200).map(|i| format!("{},9,-9,9\n", 9 + i % 3)).collect();
    place.write("in/inbox/far.csv", far);
    let said = once(&place);
    assert!(said.contains("warning: rows have become stranger"), "{said}");
    place.write("rows.csv", clusters(&["a", "b"], 50));
    let said = place.succeed(&["eval", "model", "rows.csv"]);
    assert!(
        said.stdout.contains("stranger than 95 % of known rows"),
        "{}",
        said.stdout
    );
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
}
