//! The OpenAPI document: written by hand in `openapi.json`, which a test holds against the routes.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The document.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

pub(crate) async fn document() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT).into_response()
}
