//! The OpenAPI document: written by hand in `openapi.json`; a test compares it with the routes.

use axum::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::unread::Kept;

/// The document.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) async fn document() -> Response {
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (Extension(Kept), kind, DOCUMENT).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::guard::Access;
    use crate::routes;

    fn documented() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    #[test]
    fn every_route_is_documented_and_nothing_else() {
        let document = documented();
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                described.insert((method.clone(), path.clone()));
            }
        }
        let routes = routes::table().into_iter();
        let routed: BTreeSet<_> = routes
            .map(|(method, path, ..)| (method.to_owned(), path.to_owned()))
            .collect();
        assert_eq!(described, routed);
    }

    #[test]
    fn routes_that_need_the_token_say_so() {
        let document = documented();
        for (method, path, access, _) in routes::table() {
            let route = &document["paths"][path][method];
            // Without a token, the server asks nobody for one.
            let expected = match access {
                Access::Open => Value::Null,
                Access::Read => json!([{ "readToken": [] }, { "token": [] }, {}]),
                Access::Write => json!([{ "token": [] }, {}]),
            };
            assert_eq!(route["security"], expected, "{method} {path}");
            for status in ["401", "429"] {
                let stated = route["responses"][status].is_object();
                assert_eq!(stated, access != Access::Open, "{method} {path} {status}");
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = documented();
        let mut waiting = vec![&document];
        let mut followed = 0;
        while let Some(value) = waiting.pop() {
            match value {
                Value::Object(fields) => {
                    if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(document.pointer(pointer).is_some(), "{reference}");
                        followed += 1;
                    }
                    waiting.extend(fields.values());
                }
                Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
        assert!(followed > 50);
    }

    #[test]
    fn its_version_is_ours() {
        assert_eq!(documented()["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}
