//! Every route of the OpenAPI document, asked with each token and without one; and who guesses.

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http;
use crate::serving::{SMALL, Serving};

const READ: &str = "Authorization: Bearer a token to read with";
const WRITE: &str = "Authorization: Bearer a token for changes";

fn start(place: &Workplace, words: &[&str]) -> Serving {
    place.write("token", "a token for changes");
    place.write("read-token", "a token to read with\n");
    Serving::start(
        place,
        &[&["m.aact", "--token-file", "token"], &SMALL[..], words].concat(),
    )
}

#[test]
fn each_route_asks_for_the_token_that_the_document_says() {
    let place = Workplace::new();
    let serving = start(&place, &["--read-token-file", "read-token"]);
    let document = serving.read("/openapi.json");
    let (mut open, mut read, mut write) = (0, 0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let (method, path) = (method.to_uppercase(), path.replace(['{', '}'], ""));
            let refused = |lines: &[&str]| serving.send(&method, &path, lines, b"").status == 401;
            let asked = (refused(&[]), refused(&[READ]), refused(&[WRITE]));
            let (count, expected) = match &route["security"] {
                Value::Null => (&mut open, (false, false, false)),
                security if security[0]["readToken"].is_array() => (&mut read, (true, false, false)),
                _ => (&mut write, (true, true, false)),
            };
            assert_eq!(asked, expected, "{method} {path}");
            *count += 1;
        }
    }
    assert!(open > 4 && read > 5 && write > 8, "{open}, {read}, {write}");
}

#[test]
fn everybody_may_ask_where_the_server_is_public() {
    let place = Workplace::new();
    let mut serving = start(&place, &["--public", "--listen", "0.0.0.0:0"]);
    serving.address.set_ip([127, 0, 0, 1].into());
    assert_eq!(serving.get("/v1/model").status, 200);
    assert_eq!(serving.get("/v1/download/model").status, 401);
    let both = ["serve", "--public", "--read-token-file", "read-token"];
    assert_eq!(place.run(&both).code, Some(2));
}

#[test]
fn who_guesses_has_to_wait() {
    let place = Workplace::new();
    let serving = start(&place, &["--quiet"]);
    let ask = |line: &str| serving.send("GET", "/v1/download/memory", &[line], b"");
    let guesses: Vec<http::Reply> = (0..100)
        .map(|n| ask(&format!("Authorization: Bearer a guess of the token {n}")))
        .collect();
    let answered = guesses.iter().filter(|reply| reply.status == 401).count();
    assert!((10..50).contains(&answered), "{answered} guesses were looked at");
    let refused = ask(WRITE);
    assert_eq!(
        (refused.status, refused.kind()),
        (429, "TooManyAttempts".to_owned())
    );
    assert!(refused.header("retry-after").is_some());
    assert_eq!(serving.read("/v1/model")["needs_token"], json!(true));
}

#[test]
fn a_token_is_made_that_the_server_takes() {
    let place = Workplace::new();
    let made = place.succeed(&["token"]).stdout;
    let other = place.succeed(&["token"]).stdout;
    assert!(made != other && made.trim().len() == 64, "{made}");
    place.write("made", &made);
    let words = [&["m.aact", "--token-file", "made"], &SMALL[..]].concat();
    let serving = Serving::start(&place, &words);
    let line = format!("Authorization: Bearer {}", made.trim());
    assert_eq!(
        serving.send("GET", "/v1/download/memory", &[&line], b"").status,
        200
    );
}
