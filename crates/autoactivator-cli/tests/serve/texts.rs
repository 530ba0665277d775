//! Sentences over HTTP: in bodies of their own field, for a model that takes them.

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::serving::{JSON, Serving};
use crate::words;

fn ask(server: &Serving, path: &str, body: &Value) -> (u16, Value) {
    let reply = server.send("POST", path, &[JSON], body.to_string().as_bytes());
    (reply.status, serde_json::from_slice(&reply.body).unwrap())
}

#[test]
fn a_new_model_learns_sentences_and_answers_them() {
    let place = Workplace::new();
    words::write(&place, "minilm");
    let server = Serving::start(&place, &["m.aact", "--backbone", "minilm"]);
    assert_eq!(server.read("/v1/model")["takes"], "texts");
    let (mut texts, mut classes) = (Vec::new(), Vec::new());
    for line in words::intents(8).lines().skip(1) {
        let (text, class) = line.rsplit_once(',').unwrap();
        texts.push(text.trim_matches('"').to_owned());
        classes.push(class.to_owned());
    }
    let (status, learned) = ask(
        &server,
        "/v1/learn",
        &json!({ "texts": texts, "classes": classes }),
    );
    assert_eq!((status, &learned["rows"]), (200, &json!(16)), "{learned}");
    let question = json!({ "texts": ["how are you", "what is the time now"], "top": 1 });
    let (status, answers) = ask(&server, "/v1/predict", &question);
    assert_eq!(status, 200, "{answers}");
    assert_eq!(answers["answers"][0]["class"], "greeting");
    assert_eq!(answers["answers"][1]["class"], "time");
    let (status, explained) = ask(&server, "/v1/explain", &json!({ "texts": ["how are you"] }));
    assert_eq!(status, 200, "{explained}");
    // The places of files are for the owner of the model alone.
    let shown = server.read("/v1/model")["origin"].to_string();
    assert!(shown.contains("sha256") && !shown.contains("place"), "{shown}");
    let (status, _) = ask(
        &server,
        "/v1/unlearn",
        &json!({ "texts": texts[..2], "classes": classes[..2] }),
    );
    assert_eq!(status, 200);
    drop(server);
    // The next start needs no option.
    let server = Serving::start(&place, &["m.aact"]);
    assert_eq!(server.read("/v1/model")["takes"], "texts");
}

#[test]
fn what_is_no_sentence_or_not_for_this_model_is_refused() {
    let place = Workplace::new();
    words::write(&place, "minilm");
    let server = Serving::start(&place, &["m.aact", "--backbone", "minilm"]);
    for (body, status, part) in [
        (
            json!({ "texts": [""], "classes": ["a"] }),
            422,
            "sentence 0: the sentence is empty",
        ),
        (
            json!({ "texts": ["how"], "classes": [] }),
            422,
            "1 row but 0 labels",
        ),
        (
            json!({ "texts": [5], "classes": ["a"] }),
            400,
            "expected a string",
        ),
        (json!({ "texts": [], "classes": [] }), 400, "no sentence"),
        (
            json!({ "texts": ["how"], "rows": [[1]], "classes": ["a"] }),
            400,
            "not both",
        ),
        (
            json!({ "texts": ["how"], "features": ["w"], "classes": ["a"] }),
            400,
            "leave it out",
        ),
        (
            json!({ "classes": ["a"] }),
            400,
            "missing field `rows`, or `texts`",
        ),
        (
            json!({ "texts": ["a ".repeat(1 << 20)], "classes": ["a"] }),
            422,
            "2097152 bytes",
        ),
    ] {
        let (found, answer) = ask(&server, "/v1/learn", &body);
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(found == status && message.contains(part), "{found}: {answer}");
    }
    let form = b"--x\r\nContent-Disposition: form-data; name=\"image\"\r\n\r\nx\r\n--x--";
    let reply = server.send(
        "POST",
        "/v1/predict",
        &["Content-Type: multipart/form-data; boundary=x"],
        form,
    );
    assert_eq!(reply.status, 409, "{reply:?}");
    let digits = Serving::start(&place, &["digits.aact"]);
    let (status, answer) = ask(&digits, "/v1/predict", &json!({ "texts": ["how are you"] }));
    assert_eq!(
        (status, &answer["error"]["kind"]),
        (409, &json!("TakesImages")),
        "{answer}"
    );
}
