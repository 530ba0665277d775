//! Rows that were answered "unknown": kept only if that is switched on, grouped, named or dismissed, and never in the model.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::{self, form};
use crate::photos;
use crate::serving::{JSON, Serving};
use crate::words;

/// The file of the rows.
const FILE: &str = "m.aact.unknown";

/// Rows around a point; the `nth` lot of others around the same.
fn around(x: f32, y: f32, nth: usize) -> Vec<Value> {
    let row = |i: usize| {
        json!([
            x + (i % 6) as f32 * 0.01,
            y + (i / 6) as f32 * 0.01 + nth as f32 * 1e-4
        ])
    };
    (0..36).map(row).collect()
}

/// Rows that the model of [`serving`] has never seen the like of.
fn new_rows() -> Vec<Value> {
    around(0.5, 1.0, 0)
}

/// A server that knows two classes.
fn serving(place: &Workplace, words: &[&str]) -> Serving {
    let server = Serving::start(place, &[&["m.aact", "--empty"], words].concat());
    server.learn(
        &json!([around(0.0, 0.0, 0), around(1.0, 0.0, 0)].concat()),
        &[["left"; 36], ["right"; 36]].concat(),
    );
    server
}

/// Asks about rows, and counts those that are answered "unknown".
#[track_caller]
fn ask(server: &Serving, rows: &[Value]) -> usize {
    let reply = server.post("/v1/predict", &json!({ "rows": rows, "reject": 0.05 }));
    assert_eq!(reply.status, 200, "{reply:?}");
    let answers = reply.json()["answers"].as_array().unwrap().clone();
    answers.iter().filter(|answer| answer["class"].is_null()).count()
}

/// Waits until so many rows are kept: they are written beside their answers.
#[track_caller]
fn wait_for(server: &Serving, rows: usize) -> Value {
    let began = Instant::now();
    loop {
        let count = server.read("/v1/unknown");
        if count["rows"] == json!(rows) {
            return count;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{count}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn name(server: &Serving, ids: &Value, class: &str) -> http::Reply {
    server.post("/v1/unknown/learn", &json!({ "ids": ids, "class": class }))
}

fn metric(server: &Serving, name: &str) -> String {
    let text = String::from_utf8(server.get("/metrics").body).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("autoactivator_unknown_{name} ")));
    line.unwrap().to_owned()
}

#[test]
fn nothing_is_kept_unless_that_is_switched_on() {
    let place = Workplace::new();
    let server = serving(&place, &[]);
    assert_eq!(ask(&server, &new_rows()), 36);
    assert_eq!(server.read("/v1/model")["unknown"], Value::Null);
    let ids = json!({ "ids": ["0123456789abcdef"] });
    for reply in [
        server.get("/v1/unknown"),
        server.get("/v1/unknown/groups"),
        server.send("DELETE", "/v1/unknown", &[], b""),
        server.post("/v1/unknown/dismiss", &ids),
        name(&server, &ids["ids"], "top"),
    ] {
        assert_eq!((reply.status, reply.kind().as_str()), (404, "KeepsNothing"));
        let message = reply.json()["error"]["message"].to_string();
        assert!(message.contains("start it with --keep-unknown"), "{message}");
    }
    drop(server);
    assert!(!place.exists(FILE));
}

#[test]
fn only_what_was_answered_unknown_is_kept_and_never_in_the_model() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    let model = place.read("m.aact");
    assert_eq!(ask(&server, &around(0.0, 0.0, 0)[14..16]), 0, "known rows");
    let unasked = server.post("/v1/predict", &json!({ "rows": new_rows() }));
    assert_eq!(unasked.status, 200, "nobody asked for unknown");
    // Whoever draws asks with every stroke.
    let explained = json!({ "rows": [[0.5, 1.0]], "reject": 0.05 });
    assert!(server.post("/v1/explain", &explained).json()["class"].is_null());
    for _ in 0..3 {
        assert_eq!(ask(&server, &new_rows()[..20]), 20);
    }
    assert_eq!(ask(&server, &new_rows()), 36);
    let count = wait_for(&server, 36);
    assert_eq!(
        (&count["known"], &count["limit"], &count["dropped"]),
        (&json!(0), &json!(100), &json!(0))
    );
    assert_eq!(server.read("/v1/model")["unknown"]["rows"], 36);
    for (number, expected) in [("kept", "36"), ("limit", "100"), ("dropped_total", "0")] {
        assert_eq!(metric(&server, number), expected, "{number}");
    }
    assert!(place.read("m.aact") == model, "the model file is as it was");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let found = std::fs::metadata(place.path().join(FILE)).unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_inference_protocol_keeps_what_it_calls_unknown() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    let x = json!({ "name": "x", "datatype": "FP32", "shape": [2, 2], "data": [0.5, 1.0, 0.02, 0.02] });
    let body = json!({ "inputs": [x], "parameters": { "reject": 0.05 } });
    let reply = server.post("/v2/models/m/infer", &body);
    assert_eq!(reply.status, 200, "{reply:?}");
    wait_for(&server, 1);
}

#[test]
fn a_group_that_is_named_is_known_and_leaves_the_file() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    assert_eq!(ask(&server, &new_rows()), 36);
    wait_for(&server, 36);
    let before = place.read(FILE).len();
    let found = server.read("/v1/unknown/groups");
    assert_eq!(found["groups"].as_array().unwrap().len(), 1, "{found}");
    let group = &found["groups"][0];
    assert_eq!((&group["rows"], &found["reason"]), (&json!(36), &Value::Null));
    assert_eq!(group["shown"].as_array().unwrap().len(), 12);
    assert_eq!(group["shown"][0]["row"].as_array().unwrap().len(), 2);
    assert!(["left", "right"].contains(&group["nearest"]["class"].as_str().unwrap()));

    let named = name(&server, &group["ids"], "top");
    assert_eq!(named.status, 200, "{named:?}");
    let named = named.json();
    assert_eq!(
        (&named["rows"], &named["version"]),
        (&json!(36), &json!(2)),
        "{named}"
    );
    assert!(named["summary"].as_str().unwrap().contains("top"), "{named}");
    assert_eq!(server.classes(), ["left", "right", "top"]);
    assert_eq!(wait_for(&server, 0)["known"], 0);
    let after = place.read(FILE);
    assert!(
        after.len() < before && !String::from_utf8(after).unwrap().contains("\"row\""),
        "its rows are gone from the file"
    );
    let answers = server
        .post("/v1/predict", &json!({ "rows": new_rows(), "reject": 0.05 }))
        .json();
    assert_eq!(answers["answers"][14]["class"], "top");
    // The same answer as if its rows had been sent to be learned.
    let again = name(&server, &group["ids"], "top");
    assert_eq!((again.status, again.kind().as_str()), (409, "NotKept"));
}

#[test]
fn few_rows_are_shown_as_they_are_and_can_be_named_or_dismissed() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    let found = server.read("/v1/unknown/groups");
    assert_eq!(
        (&found["groups"], &found["alone"]["ids"], &found["rows"]),
        (&json!([]), &json!([]), &json!(0)),
        "{found}"
    );
    assert_eq!(ask(&server, &[json!([0.5, 1.0]), json!([9.0, 9.0])]), 2);
    wait_for(&server, 2);
    let found = server.read("/v1/unknown/groups");
    assert_eq!(
        (&found["groups"], &found["reason"]),
        (&json!([]), &Value::Null),
        "{found}"
    );
    let shown = found["alone"]["shown"].as_array().unwrap();
    assert_eq!(shown[0]["row"], json!([9.0, 9.0]), "the newest first");
    assert_eq!(shown[1]["row"], json!([0.5, 1.0]));
    let dismissed = server.post("/v1/unknown/dismiss", &json!({ "ids": [shown[0]["id"]] }));
    assert_eq!(dismissed.json(), json!({ "dismissed": 1 }));
    let dismissed = server.post("/v1/unknown/dismiss", &json!({ "ids": [shown[0]["id"]] }));
    assert_eq!(dismissed.json(), json!({ "dismissed": 0 }), "once is enough");
    wait_for(&server, 1);
    assert_eq!(name(&server, &json!([shown[1]["id"]]), "top").status, 200);
    assert_eq!(server.classes(), ["left", "right", "top"]);
    assert_eq!(ask(&server, &[json!([9.0, 9.0]), json!([-9.0, 9.0])]), 2);
    wait_for(&server, 2);
    let all = server.send("DELETE", "/v1/unknown", &[], b"");
    assert_eq!(all.json(), json!({ "dismissed": 2 }));
    wait_for(&server, 0);
}

#[test]
fn rows_that_the_model_has_come_to_know_are_new_no_longer() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    assert_eq!(ask(&server, &new_rows()), 36);
    wait_for(&server, 36);
    server.learn(&json!(around(0.5, 1.0, 1)), &["top"; 36]);
    let count = server.read("/v1/unknown");
    let (rows, known) = (count["rows"].as_u64().unwrap(), count["known"].as_u64().unwrap());
    assert!(rows + known == 36 && known > 30, "{count}");
    let found = server.read("/v1/unknown/groups");
    assert!(found["groups"].as_array().unwrap().is_empty(), "{found}");
}

#[test]
fn a_model_that_cannot_group_them_says_what_to_do() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100"]);
    assert_eq!(ask(&server, &new_rows()), 36);
    wait_for(&server, 36);
    assert_eq!(server.send("DELETE", "/v1/classes/right", &[], b"").status, 200);
    let found = server.read("/v1/unknown/groups");
    let reason = found["reason"].as_str().unwrap();
    assert!(reason.contains("learn a second one"), "{reason}");
    assert_eq!(found["alone"]["ids"].as_array().unwrap().len(), 36);
    assert_eq!(name(&server, &found["alone"]["ids"], "top").status, 200);
    assert_eq!(server.classes(), ["left", "top"]);
}

#[test]
fn the_newest_rows_are_kept_up_to_the_limit() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "5"]);
    let rows = new_rows();
    // One question with more rows than may be kept, and then one row at a time.
    assert_eq!(ask(&server, &rows[..20]), 20);
    wait_for(&server, 5);
    for row in &rows[20..30] {
        assert_eq!(ask(&server, std::slice::from_ref(row)), 1);
    }
    let began = Instant::now();
    while metric(&server, "dropped_total") != "25" {
        assert!(began.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(5));
    }
    let found = server.read("/v1/unknown/groups");
    let mut kept: Vec<&Value> = Vec::new();
    for part in found["groups"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&found["alone"]])
    {
        kept.extend(part["shown"].as_array().unwrap().iter().map(|row| &row["row"]));
    }
    let first = |row: &Value| json!(row[0].as_f64().unwrap() as f32);
    assert_eq!(kept.len(), 5, "{found}");
    assert!(
        rows[25..30]
            .iter()
            .all(|row| { kept.iter().any(|kept| first(kept) == first(row)) })
    );
    assert!(String::from_utf8(place.read(FILE)).unwrap().lines().count() <= 12);
    drop(server);
    assert_eq!(
        Serving::start(&place, &["m.aact", "--keep-unknown", "3"]).read("/v1/unknown")["rows"],
        3
    );
}

#[test]
fn refused_names_leave_everything_as_it_was() {
    let place = Workplace::new();
    let server = serving(&place, &["--keep-unknown", "100", "--max-rows", "72"]);
    assert_eq!(ask(&server, &new_rows()), 36);
    wait_for(&server, 36);
    let ids = server.read("/v1/unknown/groups")["groups"][0]["ids"].clone();
    let before = (place.read("m.aact"), place.read(FILE));
    let long = "x".repeat(101);
    let many: Vec<String> = (0..73).map(|i| format!("{i:016x}")).collect();
    for (ids, class, status) in [
        (&ids, "", 400),
        (&ids, " ", 400),
        (&ids, "a\nb", 400),
        (&ids, &long, 413),
        (&json!([]), "top", 400),
        (&json!(["0123456789abcdef"]), "top", 409),
        (&json!(["../m.aact"]), "top", 400),
        (&json!([17]), "top", 400),
        (&json!("all"), "top", 400),
        (&json!(many), "top", 413),
    ] {
        let reply = name(&server, ids, class);
        assert_eq!(reply.status, status, "{class}: {reply:?}");
    }
    for body in [
        json!({}),
        json!({ "ids": [] }),
        json!({ "ids": ids, "class": "a" }),
    ] {
        assert_eq!(server.post("/v1/unknown/dismiss", &body).status, 400, "{body}");
    }
    assert!(before == (place.read("m.aact"), place.read(FILE)));
    wait_for(&server, 36);
    assert_eq!(name(&server, &ids, "top").status, 200);
}

#[test]
fn rows_of_clients_are_for_whoever_has_the_token() {
    let place = Workplace::new();
    place.write("token", "a token for changes");
    place.write("read", "a token to read with");
    let tokens = ["--token-file", "token", "--read-token-file", "read"];
    let server = Serving::start(
        &place,
        &[&["digits.aact", "--keep-unknown", "9"], &tokens[..]].concat(),
    );
    let with = |token: &str, method, path| {
        let line = format!("Authorization: Bearer {token}");
        server.send(method, path, &[&line], b"").status
    };
    for (method, path) in [
        ("GET", "/v1/unknown"),
        ("GET", "/v1/unknown/groups"),
        ("DELETE", "/v1/unknown"),
    ] {
        assert_eq!(with("a token to read with", method, path), 401, "{method} {path}");
        assert_eq!(with("a token for changes", method, path), 200, "{method} {path}");
    }
}

#[test]
fn a_name_that_is_sent_again_counts_once() {
    let place = Workplace::new();
    let mut server = serving(&place, &["--keep-unknown", "100"]);
    assert_eq!(ask(&server, &new_rows()), 36);
    wait_for(&server, 36);
    let ids = server.read("/v1/unknown/groups")["groups"][0]["ids"].clone();
    let body = json!({ "ids": ids, "class": "top" }).to_string();
    let lines = [JSON, "Idempotency-Key: once"];
    let send = |server: &Serving| server.send("POST", "/v1/unknown/learn", &lines, body.as_bytes());
    let first = send(&server);
    assert_eq!(
        (first.status, first.json().get("repeated")),
        (200, None),
        "{first:?}"
    );
    for _ in 0..2 {
        let again = send(&server).json();
        assert_eq!(
            (&again["repeated"], &again["version"]),
            (&json!(true), &json!(2)),
            "{again}"
        );
        server.kill();
        server = Serving::start(&place, &["m.aact", "--keep-unknown", "100"]);
    }
}

#[test]
fn photographs_and_sentences_are_kept_as_somebody_can_see_them() {
    let place = Workplace::new();
    place.write("tiny.onnx", photos::backbone(7));
    place.write("tiny.toml", photos::SETTINGS);
    let server = Serving::start(
        &place,
        &["p.aact", "--backbone", "tiny.onnx", "--keep-unknown", "100"],
    );
    let image = |class: &str, number| {
        let path = place.write("one.png", b"");
        photos::photograph(class, number).save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    let post = |path: &str, fields: &[(&str, &[u8])]| {
        let (line, body) = form(fields);
        let reply = server.send("POST", path, &[line], &body);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    for class in ["apple", "bus"] {
        let images: Vec<Vec<u8>> = (0..20).map(|number| image(class, number)).collect();
        let mut fields = vec![("class", class.as_bytes())];
        fields.extend(images.iter().map(|image| ("image", image.as_slice())));
        post("/v1/learn", &fields);
    }
    let (strange, reject) = (image("a thing of another kind", 1), b"0.5".as_slice());
    let said = post("/v1/predict", &[("image", &strange), ("reject", reject)]);
    assert!(said["answers"][0]["class"].is_null(), "{said}");
    wait_for(&server, 1);
    let shown = server.read("/v1/unknown/groups")["alone"]["shown"][0].clone();
    let picture = shown["picture"].as_str().unwrap();
    assert!(
        picture.starts_with("data:image/png;base64,") && shown.get("row").is_none(),
        "{shown}"
    );
    assert_eq!(name(&server, &json!([shown["id"]]), "other").status, 200);
    drop(server);

    words::write(&place, "minilm");
    let server = Serving::start(
        &place,
        &["s.aact", "--backbone", "minilm", "--keep-unknown", "100"],
    );
    let (mut texts, mut classes) = (Vec::new(), Vec::new());
    for line in words::intents(12).lines().skip(1) {
        let (text, class) = line.rsplit_once(',').unwrap();
        texts.push(text.trim_matches('"').to_owned());
        classes.push(class.to_owned());
    }
    let lesson = json!({ "texts": texts, "classes": classes });
    assert_eq!(server.post("/v1/learn", &lesson).status, 200);
    let question = json!({ "texts": ["my name is my name"], "reject": 0.5 });
    let said = server.post("/v1/predict", &question).json();
    assert!(said["answers"][0]["class"].is_null(), "{said}");
    wait_for(&server, 1);
    let shown = server.read("/v1/unknown/groups")["alone"]["shown"][0].clone();
    assert_eq!(shown["text"], "my name is my name");
}

#[test]
fn a_file_of_something_else_is_not_written_over() {
    let place = Workplace::new();
    drop(serving(&place, &["--keep-unknown", "9"]));
    place.write(FILE, "a diary\n");
    let said = place.run(&[
        "serve",
        "m.aact",
        "--keep-unknown",
        "9",
        "--listen",
        "127.0.0.1:0",
    ]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("m.aact.unknown: it holds something else"),
        "{}",
        said.stderr
    );
    assert_eq!(place.read(FILE), b"a diary\n");
}

/// Rows of a class that the model has learned.
fn learned(server: &Serving, class: &str) -> u64 {
    let classes = server.read("/v1/classes")["classes"].clone();
    let found = classes
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["class"] == class);
    found.map_or(0, |one| one["rows"].as_f64().unwrap().round() as u64)
}

#[test]
fn kill_9_loses_no_row_that_was_seen_and_learns_none_twice() {
    let place = Workplace::new();
    let rounds: usize =
        std::env::var("AUTOACTIVATOR_KILL_ROUNDS").map_or(12, |rounds| rounds.parse().unwrap());
    let mut server = serving(&place, &["--keep-unknown", "10000", "--quiet"]);
    let (mut sent, mut cut_off) = (0, 0);
    for round in 0..rounds {
        // Far from what was learned in the rounds before.
        let rows = around(3.0 * (round + 1) as f32, 9.0, round);
        assert_eq!(ask(&server, &rows), 36);
        sent += 36;
        let began = Instant::now();
        let ids = loop {
            let found = server.read("/v1/unknown/groups");
            let mut ids = found["alone"]["ids"].as_array().unwrap().clone();
            for group in found["groups"].as_array().unwrap() {
                ids.extend(group["ids"].as_array().unwrap().iter().cloned());
            }
            if ids.len() >= 36 {
                break ids;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{found}");
        };
        let address = server.address;
        let body = json!({ "ids": ids, "class": "new" }).to_string();
        let naming = thread::spawn(move || {
            http::send(address, "POST", "/v1/unknown/learn", &[JSON], body.as_bytes()).is_err()
        });
        thread::sleep(Duration::from_millis(RandomState::new().hash_one(round) % 400));
        server.kill();
        cut_off += usize::from(naming.join().unwrap());
        server = Serving::start(&place, &["m.aact", "--keep-unknown", "10000", "--quiet"]);
        let count = server.read("/v1/unknown");
        let kept = count["rows"].as_u64().unwrap() + count["known"].as_u64().unwrap();
        assert_eq!(learned(&server, "new") + kept, sent, "round {round}: {count}");
    }
    println!("{rounds} rounds, {cut_off} names cut off: {sent} rows, each kept or learned once");
}
