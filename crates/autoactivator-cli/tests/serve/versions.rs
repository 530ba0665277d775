//! Which model answered, and what a change that is sent twice counts: both also after the server was killed.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::Workplace;
use crate::http::Reply;
use crate::serving::{JSON, SMALL, Serving};

fn start(place: &Workplace) -> Serving {
    Serving::start(place, &[&["m.aact", "--quiet"], &SMALL[..]].concat())
}

/// SHA-256 of the model file.
fn digest(place: &Workplace) -> String {
    let digest = Sha256::digest(place.read("m.aact"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Version and digest of an answer.
fn version(answer: &Value) -> (u64, String) {
    let digest = answer["sha256"].as_str().unwrap_or_default();
    (answer["version"].as_u64().unwrap(), digest.to_owned())
}

#[test]
fn the_version_survives_and_the_digest_is_that_of_the_file() {
    let place = Workplace::new();
    let mut serving = start(&place);
    assert_eq!(version(&serving.read("/v1/model")), (0, digest(&place)));
    let learned = serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    assert_eq!(version(&learned), (1, digest(&place)));
    serving.learn(&json!([[2, 2]]), &["far"]);
    serving.kill();

    let mut serving = start(&place);
    let now = (2, digest(&place));
    for path in ["/v1/model", "/v1/classes", "/v1/growth"] {
        assert_eq!(version(&serving.read(path)), now, "{path}");
    }
    for path in ["/v1/predict", "/v1/explain"] {
        let answer = serving.post(path, &json!({ "rows": [[1, 1]] })).json();
        assert_eq!(version(&answer), now, "{path}");
    }
    serving.kill();

    place.write("rows.csv", "5,5,elsewhere\n");
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    let serving = start(&place);
    assert_eq!(version(&serving.read("/v1/model")), (3, digest(&place)));
}

fn learn(serving: &Serving, key: &str, class: &str) -> Reply {
    let body = json!({ "rows": [[0, 0], [1, 1]], "classes": [class, class] }).to_string();
    let key = format!("Idempotency-Key: {key}");
    serving.send("POST", "/v1/learn", &[JSON, &key], body.as_bytes())
}

fn rows(serving: &Serving, class: &str) -> Value {
    serving.read("/v1/model")["rows"][class].clone()
}

#[test]
fn a_change_that_is_sent_again_with_its_key_counts_once() {
    let place = Workplace::new();
    let mut serving = start(&place);
    let first = learn(&serving, "one", "a").json();
    assert_eq!((&first["version"], &first["repeated"]), (&json!(1), &Value::Null));
    for _ in 0..2 {
        let again = learn(&serving, "one", "a");
        assert_eq!((again.status, &again.json()["repeated"]), (200, &json!(true)));
        assert_eq!(version(&again.json()), version(&first));
        assert_eq!(rows(&serving, "a"), json!(2));
        serving.kill();
        serving = start(&place);
    }
    let other = learn(&serving, "one", "b");
    assert_eq!((other.status, other.kind()), (422, "KeyReused".to_owned()));
    assert_eq!(learn(&serving, "two", "a").status, 200);
    assert_eq!(rows(&serving, "a"), json!(4));
    assert_eq!(learn(&serving, "two words", "a").status, 400);

    // A new model in the place of one that is gone has counted nothing.
    serving.kill();
    std::fs::remove_file(place.path().join("m.aact")).unwrap();
    let serving = start(&place);
    assert_eq!(serving.read("/v1/model")["version"], json!(0));
    assert_eq!(learn(&serving, "one", "a").json()["repeated"], Value::Null);
    assert_eq!(rows(&serving, "a"), json!(2));

    // Without a key, whatever is sent counts.
    serving.learn(&json!([[0, 0], [1, 1]]), &["a", "a"]);
    assert_eq!(rows(&serving, "a"), json!(4));
}

#[test]
fn a_change_that_is_refused_does_not_use_up_its_key() {
    let place = Workplace::new();
    let serving = start(&place);
    std::fs::rename(place.path().join("m.aact"), place.path().join("kept")).unwrap();
    std::fs::create_dir(place.path().join("m.aact")).unwrap();
    let refused = learn(&serving, "one", "a");
    assert_eq!(refused.status, 503, "{refused:?}");
    std::fs::remove_dir(place.path().join("m.aact")).unwrap();
    std::fs::rename(place.path().join("kept"), place.path().join("m.aact")).unwrap();
    let learned = learn(&serving, "one", "a").json();
    assert_eq!(
        (&learned["version"], &learned["repeated"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(rows(&serving, "a"), json!(2));
}
