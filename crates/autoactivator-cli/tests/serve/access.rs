//! Every route of the OpenAPI document, asked with and without the token.

use serde_json::Value;

use crate::common::Workplace;
use crate::serving::{SMALL, Serving};

#[test]
fn each_route_asks_for_the_token_as_the_document_says() {
    let place = Workplace::new();
    place.write("token", "secret");
    let serving = Serving::start(
        &place,
        &[&["m.aact", "--token-file", "token"], &SMALL[..]].concat(),
    );
    let document = serving.read("/openapi.json");
    let (mut open, mut closed) = (0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, route) in methods.as_object().unwrap() {
            let needs_token = route["security"] != Value::Null;
            let (method, path) = (method.to_uppercase(), path.replace(['{', '}'], ""));
            let ask = |lines: &[&str]| serving.send(&method, &path, lines, b"").status;
            assert_eq!(ask(&[]) == 401, needs_token, "{method} {path}");
            assert_eq!(
                ask(&["Authorization: Bearer wrong"]) == 401,
                needs_token,
                "{method} {path}"
            );
            assert_ne!(ask(&["Authorization: Bearer secret"]), 401, "{method} {path}");
            *if needs_token { &mut closed } else { &mut open } += 1;
        }
    }
    assert!(open > 8 && closed > 8, "{open} open, {closed} closed");
}
