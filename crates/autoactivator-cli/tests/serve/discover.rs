//! New classes over HTTP: grouped, named and learned.

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::serving::Serving;

/// Rows around a point.
fn rows(x: f32, y: f32) -> Vec<Value> {
    let row = |i: usize| json!([x + (i % 6) as f32 * 0.01, y + (i / 6) as f32 * 0.01]);
    (0..36).map(row).collect()
}

#[test]
fn rows_of_a_new_class_are_grouped_named_and_learned() {
    let place = Workplace::new();
    let server = Serving::start(&place, &["m.aact", "--empty"]);
    let asked = json!({ "rows": rows(0.0, 0.0) });
    let too_early = server.post("/v1/discover", &asked);
    assert_eq!(
        (too_early.status, too_early.kind().as_str()),
        (409, "NothingLearned")
    );
    server.learn(&json!(rows(0.0, 0.0)), &["left"; 36]);
    let too_early = server.post("/v1/discover", &asked);
    assert_eq!(
        (too_early.status, too_early.kind().as_str()),
        (409, "CannotDiscover")
    );
    server.learn(&json!(rows(1.0, 0.0)), &["right"; 36]);

    let version = server.read("/v1/model")["version"].clone();
    let known = [rows(0.0, 0.0), rows(1.0, 0.0)].concat();
    let known = server.post("/v1/discover", &json!({ "rows": known })).json();
    assert_eq!(known["groups"], json!([]), "{known}");
    let both = [rows(0.0, 0.0), rows(0.5, 1.0)].concat();
    let found = server.post("/v1/discover", &json!({ "rows": both })).json();
    assert_eq!(found["groups"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["version"], version, "asking changes nothing");
    let of = |row: usize| found["rows"][row]["group"].clone();
    assert!((0..36).all(|row| of(row).is_null()), "{found}");
    assert!((36..72).all(|row| of(row) == "group-1"), "{found}");

    server.learn(&json!(rows(0.5, 1.0)), &["top"; 36]);
    let answers = server
        .post("/v1/predict", &json!({ "rows": [[0.53, 1.02]] }))
        .json();
    assert_eq!(answers["answers"][0]["class"], "top");
}

#[test]
fn what_cannot_be_grouped_is_refused() {
    let place = Workplace::new();
    let server = Serving::start(&place, &["m.aact", "--empty"]);
    server.learn(
        &json!([rows(0.0, 0.0), rows(1.0, 0.0)].concat()),
        &[["left"; 36], ["right"; 36]].concat(),
    );
    for (body, status) in [
        (json!({ "rows": [[0.0, 0.0, 0.0]] }), 422),
        (json!({ "rows": [[0.0, 0.0]], "top": 1 }), 400),
        (json!({ "rows": [[0.0, 0.0]], "reject": 0.1 }), 400),
        (json!({ "rows": [[0.0, 0.0]] }), 200),
    ] {
        assert_eq!(server.post("/v1/discover", &body).status, status, "{body}");
    }
}
