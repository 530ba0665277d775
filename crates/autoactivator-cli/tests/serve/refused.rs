//! Wrong and doubtful requests: each is refused with a message that helps, and not a byte of the model file changes.

use std::io::Write;

use serde_json::json;

use crate::common::{Workplace, clusters};
use crate::http::{connect, form, receive};
use crate::serving::{JSON, SMALL, Serving};

const TOKEN: &str = "Authorization: Bearer secret of the lab";
const WRONG: &str = "Authorization: Bearer secrets of the lab";
const FORM: &str = "Content-Type: multipart/form-data; boundary=edge";
const TEXT: &str = "Content-Type: text/csv";

/// Method and path, lines of the head, body, status, and a piece of the message.
type Case<'a> = (&'a str, &'a [&'a str], &'a [u8], u16, &'a str);

/// Sends each request, which must be refused as its case says and change nothing.
fn all_refused(place: &Workplace, serving: &Serving, file: &str, cases: &[Case<'_>]) {
    let before = place.read(file);
    let version = serving.read("/v1/model")["version"].clone();
    for &(target, lines, body, status, says) in cases {
        let (method, path) = target.split_once(' ').unwrap();
        let reply = serving.send(method, path, lines, body);
        let case = format!(
            "{target} {}",
            String::from_utf8_lossy(&body[..body.len().min(80)])
        );
        assert_eq!(reply.status, status, "{case}: {reply:?}");
        let message = reply.json()["error"]["message"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert!(message.contains(says), "{case}: {message}");
        assert!(place.read(file) == before, "{case}: the model file has changed");
    }
    assert_eq!(serving.read("/v1/model")["version"], version);
}

/// One class name longer than allowed.
fn long_name() -> Vec<u8> {
    json!({ "rows": [[0, 0]], "classes": ["n".repeat(101)] })
        .to_string()
        .into_bytes()
}

#[test]
#[rustfmt::skip] // One line a case.
fn a_wrong_request_is_told_why_and_changes_nothing() {
    let place = Workplace::new();
    place.write("token", "secret of the lab");
    let words = [&["m.aact"], &SMALL[..], &["--token-file", "token", "--max-rows", "4", "--max-body", "1"]].concat();
    let serving = Serving::start(&place, &words);
    let lesson = br#"{"rows": [[0, 0], [1, 1], [0, 1]], "classes": ["low", "high", "low"]}"#;
    assert_eq!(serving.send("POST", "/v1/learn", &[JSON, TOKEN], lesson).status, 200);
    place.write("rows.csv", clusters(&["a", "b"], 20));
    place.succeed(&[&["learn", "other.aact", "rows.csv", "--seed", "9"], &SMALL[1..]].concat());
    place.succeed(&["export", "other.aact", "-o", "deployed.aact"]);
    assert_eq!(serving.send("PUT", "/v1/learn", &[TOKEN], b"").header("allow"), Some("POST"));
    let (other, deployed) = (place.read("other.aact"), place.read("deployed.aact"));
    let with = |fields: &[(&str, &[u8])]| form(fields).1;
    let json: &[&str] = &[JSON, TOKEN];
    let sent: &[&str] = &[FORM, TOKEN];
    let none: &[&str] = &[TOKEN];

    all_refused(&place, &serving, "m.aact", &[
        // What is no request for a route.
        ("GET /v1/nothing", none, b"", 404, "see /docs"),
        ("GET /v1/learn", none, b"", 405, "see /docs"),
        ("PUT /v1/classes/low", none, b"", 405, "see /docs"),
        ("POST /v1/model", json, b"{}", 405, "see /docs"),
        // Who does not know the token.
        ("POST /v1/learn", &[JSON], lesson, 401, "send it as a bearer token"),
        ("POST /v1/learn", &[JSON, WRONG], lesson, 401, "the token is wrong"),
        ("POST /v1/unlearn", &[JSON], lesson, 401, "send it as a bearer token"),
        ("DELETE /v1/classes/low", &[], b"", 401, "send it as a bearer token"),
        ("GET /v1/download/memory", &[], b"", 401, "send it as a bearer token"),
        ("GET /v1/download/memory", &[WRONG], b"", 401, "the token is wrong"),
        ("GET /v1/nothing", &[], b"", 401, "send it as a bearer token"),
        // What is not the kind of body that the route takes.
        ("POST /v1/learn", none, b"", 415, "send application/json"),
        ("POST /v1/learn", &[TEXT, TOKEN], b"0,0,low", 415, "send application/json"),
        ("POST /v1/predict", &[TEXT, TOKEN], b"0,0", 415, "send application/json"),
        ("POST /v1/merge", json, b"{}", 415, "multipart/form-data"),
        ("POST /v1/classes/low/rename", sent, &with(&[("name", b"small")]), 415, "send application/json"),
        // What is no JSON, or not the JSON that is expected.
        ("POST /v1/learn", json, b"", 400, "the body is empty"),
        ("POST /v1/learn", json, b"rows and classes", 400, "not a JSON object"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["lo"#, 400, "EOF while parsing"),
        ("POST /v1/learn", json, br#"[[[0, 0]], ["low"]]"#, 400, "not a JSON object"),
        ("POST /v1/learn", json, br#"{"rows": "0 0", "classes": ["low"]}"#, 400, "expected a list of rows"),
        ("POST /v1/learn", json, br#"{"rows": [0, 0], "classes": ["low"]}"#, 400, "expected a row: a list of numbers"),
        ("POST /v1/learn", json, br#"{"rows": [["0", "0"]], "classes": ["low"]}"#, 400, "expected a number"),
        ("POST /v1/learn", json, br#"{"rows": [[0, null]], "classes": ["low"]}"#, 400, "expected a number"),
        ("POST /v1/learn", json, br#"{"rows": [[0, NaN]], "classes": ["low"]}"#, 400, "expected value at line 1"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 1e99]], "classes": ["low"]}"#, 400, "number out of range"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 1e30]], "classes": ["low"]}"#, 422, "at most 1e15"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0], [1]], "classes": ["low", "low"]}"#, 400, "row 1 has 1 features, but row 0 has 2"),
        ("POST /v1/learn", json, br#"{"rows": [[]], "classes": ["low"]}"#, 422, "at least one column is needed"),
        ("POST /v1/learn", json, br#"{"rows": [], "classes": []}"#, 400, "give at least one"),
        ("POST /v1/learn", json, br#"{"rows": [[0]], "classes": ["low"]}"#, 422, "rows have 1 feature, the model was learned with 2"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["low"], "seed": 1}"#, 400, "unknown field `seed`"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "rows": [[1, 1]], "classes": ["low"]}"#, 400, "duplicate field `rows`"),
        // Classes.
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]]}"#, 400, "missing field `classes`"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0], [1, 1]], "classes": ["low"]}"#, 422, "2 rows but 1 label"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["low", "high"]}"#, 422, "1 row but 2 labels"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": "low"}"#, 400, "expected a list"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": [7]}"#, 400, "expected a string"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": [""]}"#, 400, "a class has no name"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": [" \t"]}"#, 400, "a class has no name"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["lo\u0000w"]}"#, 400, "control characters"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["lo\u001b[2Jw"]}"#, 400, "control characters"),
        ("POST /v1/learn", json, &long_name(), 413, "longer than 100 characters"),
        // Weights.
        ("POST /v1/learn", json, br#"{"rows": [[0, 0], [1, 1]], "classes": ["a", "b"], "weights": [1, -2]}"#, 422, "row 1 weighs -2: a weight says how often the row counts"),
        ("POST /v1/unlearn", json, br#"{"rows": [[0, 0], [1, 1]], "classes": ["a", "b"], "weights": [1]}"#, 422, "1 weight for 2 rows: give one weight per row"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["a"], "weights": [1e16]}"#, 422, "make it a number from 0 to 1e15"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["a"], "weights": [NaN]}"#, 400, "expected value"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["a"], "weights": ["2"]}"#, 400, "expected a number"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["a"], "weights": 2}"#, 400, "expected a list"),
        ("POST /v1/learn", json, br#"{"rows": [[0, 0]], "classes": ["a"], "weights": [0]}"#, 422, "only rows of zero weight"),
        // More than a limit allows.
        ("POST /v1/learn", json, br#"{"rows": [[0,0],[0,0],[0,0],[0,0],[0,0]], "classes": ["a","a","a","a","a"]}"#, 413, "5 rows exceed the limit of 4"),
        ("POST /v1/predict", json, br#"{"rows": [[0,0],[0,0],[0,0],[0,0],[0,0]]}"#, 413, "5 rows exceed the limit of 4"),
        // Questions.
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "top": 0}"#, 400, "`top` is 0: it must be above 0"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "top": -1}"#, 400, "expected a whole number"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "top": 2, "proba": true}"#, 400, "give `top` or `proba`, not both"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "reject": 1.5}"#, 400, "`reject` is 1.5: it must be from 0 to 1"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "reject": -0.1}"#, 400, "`reject` is -0.1: it must be from 0 to 1"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0]], "classes": ["low"]}"#, 400, "unknown field `classes`"),
        ("POST /v1/predict", json, br#"{"rows": [[0, 0, 0]]}"#, 422, "rows have 3 features, the model was learned with 2"),
        ("POST /v1/explain", json, br#"{"rows": [[0, 0], [1, 1]]}"#, 400, "only one row, image or sentence can be explained at a time"),
        ("POST /v1/predict", sent, &with(&[("image", b"no image")]), 409, "the model takes rows, not images"),
        ("POST /v1/predict", sent, &with(&[("picture", b"no image")]), 400, "unknown field `picture`"),
        ("POST /v1/predict", sent, &with(&[]), 400, "give at least one"),
        ("POST /v1/learn", sent, &with(&[("image", b"no image")]), 400, "send the field `class` first"),
        ("GET /v1/examples?class=5", none, b"", 404, "no examples of this class"),
        ("GET /v1/held-out", none, b"", 404, "start it with --held-out"),
        // What was never learned.
        ("POST /v1/unlearn", json, br#"{"rows": [[9, 9]], "classes": ["high"]}"#, 422, "these rows cannot have been learned"),
        ("POST /v1/unlearn", json, br#"{"rows": [[1, 1], [1, 1]], "classes": ["high", "high"]}"#, 422, "these rows cannot have been learned"),
        ("POST /v1/unlearn", json, br#"{"rows": [[0, 0]], "classes": ["middle"]}"#, 422, "class 'middle' is not known: the model knows low, high"),
        ("DELETE /v1/classes/middle", none, b"", 404, "class 'middle' is not known"),
        ("POST /v1/classes/middle/rename", json, br#"{"name": "small"}"#, 404, "class 'middle' is not known"),
        ("POST /v1/classes/low/rename", json, br#"{"name": "high"}"#, 422, "there is already a class 'high'"),
        ("POST /v1/classes/low/rename", json, br#"{"name": ""}"#, 400, "a class has no name"),
        ("POST /v1/classes/low/rename", json, br#"{}"#, 400, "missing field `name`"),
        // Models that do not fit.
        ("POST /v1/merge", sent, b"", 400, "cut short"),
        ("POST /v1/merge", sent, &with(&[("model", b"nothing")]), 422, "not a usable model file"),
        ("POST /v1/merge", sent, &with(&[("model", &other[..other.len() / 2])]), 422, "not a usable model file"),
        ("POST /v1/merge", sent, &with(&[("model", &deployed)]), 409, "a deployed model"),
        ("POST /v1/merge", sent, &with(&[("model", &other)]), 422, "only memories over one pool can be merged"),
        ("POST /v1/merge", sent, &with(&[("base", &other)]), 400, "the form has no file `model`"),
    ]);

    // A body over the limit is refused by its stated length: not a byte of it is read.
    let before = place.read("m.aact");
    let mut stream = connect(serving.address).unwrap();
    let head = format!("POST /v1/learn HTTP/1.1\r\nHost: {}\r\n{JSON}\r\n{TOKEN}\r\nContent-Length: 1048577\r\n\r\n", serving.address);
    stream.write_all(head.as_bytes()).unwrap();
    let reply = receive(&mut stream).unwrap();
    assert_eq!(reply.status, 413, "{reply:?}");
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("larger than 1048576 bytes"));
    assert!(place.read("m.aact") == before);
}

#[test]
#[rustfmt::skip] // One line a case.
fn a_model_that_cannot_answer_unknown_yet_says_so() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    assert_eq!(serving.read("/v1/model")["rejects"], json!(false));
    all_refused(&place, &serving, "m.aact", &[
        ("POST /v1/predict", &[JSON], br#"{"rows": [[0, 0]], "reject": 0.1}"#, 409, "nothing has been learned yet"),
    ]);
    serving.learn(&json!([[0, 0], [0, 1]]), &["low", "low"]);
    let remedy = "the model knows only one class; learn a second one, or leave out `reject`";
    all_refused(&place, &serving, "m.aact", &[
        ("POST /v1/predict", &[JSON], br#"{"rows": [[0, 0]], "reject": 0.1}"#, 409, remedy),
        ("POST /v1/explain", &[JSON], br#"{"rows": [[0, 0]], "reject": 0.1}"#, 409, remedy),
    ]);
    let asked = json!({ "rows": [[0, 0]], "reject": 0.0 });
    assert_eq!(serving.post("/v1/predict", &asked).json()["answers"][0]["class"], json!("low"));
    place.write("rows.csv", "0,0\n");
    place.write("answers.csv", "as it was");
    place.refuse(&["predict", "m.aact", "rows.csv", "--reject", "0.1", "-o", "answers.csv"], &["cannot answer \"unknown\" yet", remedy]);

    serving.learn(&json!([[1, 1], [1, 0.9]]), &["high", "high"]);
    assert_eq!(serving.read("/v1/model")["rejects"], json!(true));
    let asked = json!({ "rows": [[0, 0]], "reject": 0.1 });
    assert_eq!(serving.post("/v1/predict", &asked).status, 200);
    assert_eq!(serving.send("DELETE", "/v1/classes/high", &[], b"").status, 200);
    all_refused(&place, &serving, "m.aact", &[
        ("POST /v1/predict", &[JSON], br#"{"rows": [[0, 0]], "reject": 0.1}"#, 409, remedy),
    ]);
}
