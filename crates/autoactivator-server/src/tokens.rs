//! Tokens: who holds which, and how often somebody may guess.

use std::borrow::Cow;

use axum::http::{HeaderMap, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::attempts::Attempts;
use crate::client::Client;
use crate::error::Error;
use crate::problem::Problem;

/// Fewest characters of a token: 16 random ones cannot be guessed over a network.
const SHORTEST: usize = 16;

/// A secret that a client sends as a bearer token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// Takes a token from its text, without blanks around it. Refuses one that is short or cannot be sent in a header.
    pub fn new(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let characters = text.chars().count();
        if characters < SHORTEST {
            return Err(Error::ShortToken {
                characters,
                least: SHORTEST,
            });
        }
        if !text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
            return Err(Error::OddToken);
        }
        Ok(Self::digest(text.as_bytes()))
    }

    fn digest(text: &[u8]) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Digests are compared to the end, so the time it takes reveals nothing about the token.
    fn is(&self, other: &Self) -> bool {
        let difference = self.0.iter().zip(&other.0).fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(difference) == 0
    }
}

/// The tokens of a server.
#[derive(Default)]
pub(crate) struct Tokens {
    /// Allows everything.
    pub(crate) write: Option<Token>,
    /// Allows to ask, and nothing else.
    pub(crate) read: Option<Token>,
    attempts: Attempts,
}

impl Tokens {
    pub(crate) fn new(write: Option<Token>, read: Option<Token>) -> Self {
        Self {
            write,
            read,
            attempts: Attempts::default(),
        }
    }

    /// Checks that a request carries the write token.
    pub(crate) fn check_write(&self, client: Client, headers: &HeaderMap) -> Result<(), Problem> {
        let given = self.given(client, headers)?;
        if self.write.as_ref().is_some_and(|token| token.is(&given)) {
            return Ok(());
        }
        if self.read.as_ref().is_some_and(|token| token.is(&given)) {
            return Err(Problem::unauthorized(
                "the read token only allows to ask: this needs the server's token for changes",
            ));
        }
        Err(self.wrong(client))
    }

    /// Checks that a request carries one of the tokens.
    pub(crate) fn check_read(&self, client: Client, headers: &HeaderMap) -> Result<(), Problem> {
        let given = self.given(client, headers)?;
        let mut known = self.write.iter().chain(&self.read);
        if known.any(|token| token.is(&given)) {
            return Ok(());
        }
        Err(self.wrong(client))
    }

    /// The token that a request carries; none is looked at after too many wrong ones.
    fn given(&self, client: Client, headers: &HeaderMap) -> Result<Token, Problem> {
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| sent(value.as_bytes()));
        let given = given.ok_or_else(|| {
            Problem::unauthorized("this needs the server's token: send it as a bearer token")
        })?;
        self.attempts.check(client)?;
        Ok(Token::digest(&given))
    }

    fn wrong(&self, client: Client) -> Problem {
        self.attempts.failed(client);
        Problem::unauthorized("the token is wrong: send the one that the server was started with")
    }
}

/// The token in the value of a header. Clients that can only send a user and a password send it as the password of any
/// user.
fn sent(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    let with = |scheme: &str| {
        let (found, rest) = value.split_at_checked(scheme.len())?;
        found.eq_ignore_ascii_case(scheme.as_bytes()).then_some(rest)
    };
    if let Some(token) = with("Bearer ") {
        return Some(Cow::Borrowed(token));
    }
    let pair = STANDARD.decode(with("Basic ")?).ok()?;
    let colon = pair.iter().position(|&byte| byte == b':')?;
    Some(Cow::Owned(pair[colon + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_come_as_a_password() {
        assert_eq!(sent(b"Bearer a:b").as_deref(), Some(&b"a:b"[..]));
        // anybody:a:b
        assert_eq!(sent(b"basic YW55Ym9keTphOmI=").as_deref(), Some(&b"a:b"[..]));
        for wrong in ["", "Basic", "Basic anybody:a", "Basic YW55Ym9keQ==", "Digest a"] {
            assert_eq!(sent(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn short_and_odd_tokens_are_refused() {
        for text in ["", "short", "fifteen letters", "  fifteen letters\n"] {
            assert!(
                matches!(Token::new(text), Err(Error::ShortToken { .. })),
                "{text}"
            );
        }
        assert!(matches!(
            Token::new("sixteen\u{1b} letters"),
            Err(Error::OddToken)
        ));
        assert!(Token::new(" sixteen letters!\n").ok() == Token::new("sixteen letters!").ok());
    }
}
