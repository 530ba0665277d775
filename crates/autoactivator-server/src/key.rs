//! The key of a request: with the header `Idempotency-Key`, a change that is sent again counts once.

use std::hash::{BuildHasher, Hasher, RandomState};

use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::digest::sha256;
use crate::problem::Problem;

/// The header that carries a key.
const HEADER: &str = "idempotency-key";

/// Longest key, in characters.
const LONGEST: usize = 255;

/// A key and what was sent with it. Only digests are kept, and that of the request is salted with the key, so whoever
/// reads them cannot find out what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) key: String,
    pub(crate) request: String,
}

impl Key {
    /// The key of a change that is always sent in the same words, so that what comes with it need not be compared.
    pub(crate) fn made(words: &str) -> Self {
        let digest = sha256(&[words.as_bytes()]);
        Self {
            key: digest.clone(),
            request: digest,
        }
    }

    /// A key that nobody else has, for a change that came without one.
    pub(crate) fn random() -> Self {
        let number = || RandomState::new().build_hasher().finish();
        Self::made(&format!("{:016x}{:016x}", number(), number()))
    }

    /// The key of a request with this body to this route, if it has one.
    pub(crate) fn of(headers: &HeaderMap, route: &str, body: &[u8]) -> Result<Option<Self>, Problem> {
        let mut given = headers.get_all(HEADER).iter();
        let Some(value) = given.next() else {
            return Ok(None);
        };
        let key = value.as_bytes();
        let usable = (1..=LONGEST).contains(&key.len()) && key.iter().all(u8::is_ascii_graphic);
        if !usable || given.next().is_some() {
            return Err(Problem::bad_request(format!(
                "the idempotency key must be given once, with 1 to {LONGEST} letters, digits or signs: use a random one"
            )));
        }
        Ok(Some(Self {
            key: sha256(&[key]),
            request: sha256(&[key, b"\n", route.as_bytes(), b"\n", body]),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_word_and_tells_requests_apart() {
        let key = |values: &[&'static str], body: &[u8]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(HEADER, value.parse().unwrap());
            }
            Key::of(&headers, "/v1/learn", body)
        };
        assert_eq!(key(&[], b"").unwrap(), None);
        let first = key(&["a-1"], b"rows").unwrap().unwrap();
        assert_eq!(key(&["a-1"], b"rows").unwrap().unwrap(), first);
        let other = key(&["a-1"], b"others").unwrap().unwrap();
        assert!(other.key == first.key && other.request != first.request);
        for wrong in [&[""][..], &["a b"], &["a", "a"], &["ü"]] {
            assert_eq!(key(wrong, b"").unwrap_err().status.as_u16(), 400, "{wrong:?}");
        }
    }
}
