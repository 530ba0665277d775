//! The response to a request that cannot be answered: a status, the kind of error, and a message with the remedy.
//!
//! Errors of the method keep their names and messages, the same as on the command line and in Python.

use std::time::Duration;

use autoactivator::Error;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::inference::PREFIX;

/// Longest message that is sent, in characters.
const LONGEST: usize = 2000;

/// A request that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// The name of the error.
    pub kind: String,
    /// The fact and the remedy.
    pub message: String,
    /// Seconds after which to try again.
    pub retry_after: Option<u32>,
}

impl Problem {
    fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            kind: kind.to_owned(),
            message: message.into(),
            retry_after: None,
        }
    }

    /// A malformed request.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    pub(crate) fn unauthorized(message: &str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", message)
    }

    pub(crate) fn not_found(kind: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, kind, message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "this address does not support this method: see /docs";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
    }

    pub(crate) fn slow_body() -> Self {
        let message = "the body did not arrive in time: send less at a time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "Timeout", message)
    }

    /// A request that this kind of model cannot serve.
    pub(crate) fn wrong_model(kind: &str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, kind, message)
    }

    /// A request beyond a limit.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "TooLarge", message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "UnsupportedMediaType",
            message,
        )
    }

    /// A key that came with another request before.
    pub(crate) fn key_reused() -> Self {
        let message = "this idempotency key came with another request before: use a new one for each change";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "KeyReused", message)
    }

    pub(crate) fn too_many_attempts(left: Duration) -> Self {
        let seconds = u32::try_from(left.as_secs())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let message = format!("too many wrong tokens came from this address: try again in {seconds} s");
        Self {
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyAttempts", message)
        }
    }

    pub(crate) fn busy(message: &str) -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "Busy", message)
        }
    }

    pub(crate) fn timeout(message: &str) -> Self {
        Self {
            retry_after: Some(5),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "Timeout", message)
        }
    }

    /// A server that cannot work at the moment: the disk is full, or it is shutting down.
    pub(crate) fn unavailable(kind: &str, message: impl Into<String>) -> Self {
        Self {
            retry_after: Some(5),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, kind, message)
        }
    }
}

impl From<Error> for Problem {
    /// Maps an error to a status: the request is wrong (422), the model cannot do it (409), or the disk failed (503).
    fn from(error: Error) -> Self {
        let (kind, message) = (autoactivator::kind(&error), error.to_string());
        match error {
            Error::NoMemory
            | Error::NothingLearned
            | Error::NoUseForWeights
            | Error::CannotDoubt { .. }
            | Error::CannotReject { .. }
            | Error::CannotDiscover { .. }
            | Error::OnlyConsolidation { .. } => Self::wrong_model(&kind, message),
            Error::Io { .. } | Error::Locked { .. } | Error::NotSynced { .. } | Error::Replaced { .. } => {
                Self::unavailable(&kind, message)
            }
            Error::Interrupted => Self::timeout(&message),
            _ => Self::new(StatusCode::UNPROCESSABLE_ENTITY, &kind, message),
        }
    }
}

impl From<crate::Error> for Problem {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Method(error) => error.into(),
            crate::Error::Features(error) => error.into(),
            error => Self::unavailable("System", error.to_string()),
        }
    }
}

impl From<autoactivator_data::Error> for Problem {
    fn from(error: autoactivator_data::Error) -> Self {
        match error {
            autoactivator_data::Error::Method(error) => error.into(),
            error => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                &autoactivator::kind(&error),
                error.to_string(),
            ),
        }
    }
}

impl Problem {
    /// The response to a request at this path: clients of the inference protocol expect the message alone.
    pub(crate) fn at(self, path: &str) -> Response {
        // What was sent may be quoted, however long it is.
        let message: String = self.message.chars().take(LONGEST).collect();
        let body = if path.starts_with(PREFIX) {
            json!({ "error": message })
        } else {
            json!({ "error": { "kind": self.kind, "message": message } })
        };
        self.with(&body)
    }

    fn with(self, body: &Value) -> Response {
        let mut response = (
            self.status,
            [(header::CONTENT_TYPE, "application/json")],
            body.to_string(),
        )
            .into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.at("/")
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn no_message_is_as_long_as_what_was_sent() {
        let runtime = Builder::new_current_thread().build().unwrap();
        for path in ["/v1/predict", "/v2/models/m/infer"] {
            let problem = Problem::bad_request("ü".repeat(1 << 20));
            let body = runtime.block_on(problem.at(path).into_body().collect());
            let bytes = body.unwrap().to_bytes();
            let said: Value = serde_json::from_slice(&bytes).unwrap();
            assert!(said["error"].is_object() || said["error"].is_string());
            assert!(bytes.len() < 3 * LONGEST, "{path}: {} bytes", bytes.len());
        }
    }
}
