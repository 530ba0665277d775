//! Who may do what: some routes need a bearer token; pages of other sites and other names for this machine are refused.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Extension, MatchedPath, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::client::Client;
use crate::problem::Problem;
use crate::routes;
use crate::tokens::Tokens;

/// Who may use a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everybody who can connect.
    Open,
    /// Whoever has the read token or the write token, unless reading is open: on this machine without a read token, and
    /// where the server was told so.
    Read,
    /// Whoever has the write token, if the server has one.
    Write,
}

/// Headers that every response has.
const ALWAYS: [(HeaderName, HeaderValue); 3] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// The checks that every request must pass.
pub(crate) struct Guard {
    tokens: Tokens,
    /// Whether everybody who can connect may ask.
    open_to_read: bool,
    /// Method, path and access of every route.
    accesses: Vec<(&'static str, &'static str, Access)>,
    /// Origins whose pages may use this server too.
    cors: Vec<String>,
    /// Whether only this machine can connect.
    loopback: bool,
}

impl Guard {
    pub(crate) fn new(tokens: Tokens, public: bool, cors: Vec<String>, loopback: bool) -> Self {
        Self {
            open_to_read: public || (loopback && tokens.read.is_none()),
            tokens,
            accesses: routes::table()
                .into_iter()
                .map(|(method, path, access, _)| (method, path, access))
                .collect(),
            cors,
            loopback,
        }
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.tokens.write.is_some()
    }

    fn check_request(&self, client: Client, request: &Request) -> Result<(), Problem> {
        check_target(request)?;
        // A browser asks what is allowed before it sends the token.
        if self.is_preflight(request) {
            return self.check_host(request.headers());
        }
        let route = request.extensions().get::<MatchedPath>();
        self.check(
            client,
            request.method(),
            route.map(MatchedPath::as_str),
            request.headers(),
        )
    }

    /// Whether the browser of a page of a listed origin asks what it may send.
    fn is_preflight(&self, request: &Request) -> bool {
        let origin = request.headers().get(header::ORIGIN);
        request.method() == Method::OPTIONS && origin.is_some_and(|origin| self.is_listed(origin))
    }

    /// Checks a request for a route, or for none.
    fn check(
        &self,
        client: Client,
        method: &Method,
        route: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<(), Problem> {
        self.check_host(headers)?;
        if !method.is_safe() {
            self.check_origin(headers)?;
        }
        match self.access(method, route) {
            Access::Open => Ok(()),
            Access::Read if self.open_to_read => Ok(()),
            Access::Read => self.tokens.check_read(client, headers),
            Access::Write if self.tokens.write.is_none() => Ok(()),
            Access::Write => self.tokens.check_write(client, headers),
        }
    }

    /// The access of a route; whatever is not in the table needs the write token.
    fn access(&self, method: &Method, route: Option<&str>) -> Access {
        // What answers GET answers HEAD.
        let method = if method == Method::HEAD {
            "get"
        } else {
            method.as_str()
        };
        let found = self
            .accesses
            .iter()
            .find(|(named, path, _)| named.eq_ignore_ascii_case(method) && route == Some(*path));
        found.map_or(Access::Write, |(_, _, access)| *access)
    }

    /// The domain of another site can be made to resolve to this machine; the request then carries that name
    /// as its host.
    fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        // A proxy in front might take another of them for the right one, or check none.
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Problem::bad_request(
                "a request needs exactly one Host header: send it once",
            ));
        };
        if self.loopback && !is_local(host) {
            return Err(Problem::forbidden(
                "this server is for this machine only: address it as localhost or 127.0.0.1",
            ));
        }
        Ok(())
    }

    /// Browsers send the site that a request comes from; other programs need not.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let allowed = match headers.get(header::ORIGIN) {
            Some(origin) => self.is_listed(origin) || is_same(origin, text("host")),
            None => matches!(text("sec-fetch-site"), None | Some("same-origin" | "none")),
        };
        if allowed {
            return Ok(());
        }
        Err(Problem::forbidden(
            "pages of other sites may not use this server: allow their origin with --cors",
        ))
    }

    fn is_listed(&self, origin: &HeaderValue) -> bool {
        self.cors
            .iter()
            .any(|listed| listed.as_bytes() == origin.as_bytes())
    }

    /// Lets a page of a listed origin read the response.
    fn open(&self, origin: Option<&HeaderValue>, response: &mut Response) {
        if self.cors.is_empty() {
            return;
        }
        let headers = response.headers_mut();
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        if let Some(origin) = origin.filter(|origin| self.is_listed(origin)) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        }
    }
}

/// Checks a request before any of its body is read, and adds the headers that every response has.
pub(crate) async fn guard(
    State(app): State<Arc<App>>,
    Extension(client): Extension<Client>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match app.guard.check_request(client, &request) {
        Err(problem) => problem.at(request.uri().path()),
        Ok(()) if app.guard.is_preflight(&request) => preflight(),
        Ok(()) => next.run(request).await,
    };
    app.guard.open(origin.as_ref(), &mut response);
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.entry(name).or_insert(value);
    }
    response
}

fn preflight() -> Response {
    let allowed = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, idempotency-key",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, allowed).into_response()
}

/// A target may be a whole address, which counts more than the Host header: both must name the same host.
fn check_target(request: &Request) -> Result<(), Problem> {
    let host = request.headers().get(header::HOST).map(HeaderValue::as_bytes);
    match request.uri().authority() {
        Some(named) if Some(named.as_str().as_bytes()) != host => Err(Problem::bad_request(
            "the address of the request and its Host header name different hosts: send the same in both",
        )),
        _ => Ok(()),
    }
}

/// Whether a host header names this machine as seen from itself.
fn is_local(host: &HeaderValue) -> bool {
    let authority = host.to_str().ok().and_then(|host| host.parse::<Authority>().ok());
    authority.is_some_and(|authority| {
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let address = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    })
}

/// Whether an origin is the address that the request was sent to.
fn is_same(origin: &HeaderValue, host: Option<&str>) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let named = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    named.is_some() && named == host
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Token;

    const WRITE: &str = "a token for changes";
    const READ: &str = "a token to read with";

    fn guard(write: Option<&str>, read: Option<&str>, loopback: bool) -> Guard {
        let token = |text| Token::new(text).unwrap();
        Guard::new(
            Tokens::new(write.map(token), read.map(token)),
            false,
            Vec::new(),
            loopback,
        )
    }

    fn client() -> Client {
        Client::at([10, 0, 0, 1].into())
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |&(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value));
        pairs.iter().map(pair).collect()
    }

    fn status(guard: &Guard, method: &Method, path: &str, pairs: &[(&'static str, &'static str)]) -> u16 {
        let mut headers = headers(pairs);
        headers
            .entry("host")
            .or_insert(HeaderValue::from_static("localhost:1"));
        match guard.check(client(), method, Some(path), &headers) {
            Ok(()) => 200,
            Err(problem) => problem.status.as_u16(),
        }
    }

    #[test]
    fn other_names_of_this_machine_are_refused_on_loopback() {
        let (guard, elsewhere) = (guard(None, None, true), guard(Some(WRITE), None, false));
        let get = |host| status(&guard, &Method::GET, "/", &[("host", host)]);
        for host in [
            "localhost",
            "LOCALHOST:7878",
            "127.0.0.1:7878",
            "127.1.2.3",
            "[::1]:80",
        ] {
            assert_eq!(get(host), 200, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "[::2]",
            "127.0.0.1.evil.example",
        ] {
            assert_eq!(get(host), 403, "{host}");
        }
        assert_eq!(
            status(&elsewhere, &Method::GET, "/", &[("host", "birds.example")]),
            200
        );
    }

    #[test]
    fn pages_of_other_sites_may_not_ask() {
        let cors = vec!["https://lab.example".to_owned()];
        let guard = Guard::new(Tokens::default(), false, cors, true);
        let post = |pairs: &[_]| {
            let all = [&[("host", "localhost:1")], pairs].concat();
            status(&guard, &Method::POST, "/v1/learn", &all)
        };
        assert_eq!(post(&[]), 200);
        assert_eq!(post(&[("origin", "http://localhost:1")]), 200);
        assert_eq!(post(&[("origin", "https://lab.example")]), 200);
        assert_eq!(post(&[("sec-fetch-site", "same-origin")]), 200);
        for origin in [
            "http://localhost:2",
            "https://evil.example",
            "null",
            "localhost:1",
            "",
        ] {
            assert_eq!(post(&[("origin", origin)]), 403, "{origin}");
        }
        assert_eq!(post(&[("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[("sec-fetch-site", "same-site")]), 403);
    }

    #[test]
    fn the_whole_token_is_needed() {
        let guard = guard(Some(WRITE), None, false);
        let with = |token| status(&guard, &Method::POST, "/v1/learn", &[("authorization", token)]);
        assert_eq!(with("Bearer a token for changes"), 200);
        assert_eq!(with("bearer a token for changes"), 200);
        for token in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer a token for change",
            "Bearer a token for changes ",
            "Bearer A token for changes",
            "Basic a token for changes",
            "a token for changes",
        ] {
            assert_eq!(with(token), 401, "{token}");
        }
    }

    #[test]
    fn each_route_needs_the_token_that_its_table_says() {
        const NONE: &[(&str, &str)] = &[];
        const WITH_READ: &[(&str, &str)] = &[("authorization", "Bearer a token to read with")];
        const WITH_WRITE: &[(&str, &str)] = &[("authorization", "Bearer a token for changes")];
        let nobody = guard(None, None, true);
        let (here, on_network) = (guard(Some(WRITE), None, true), guard(Some(WRITE), None, false));
        let with_both = guard(Some(WRITE), Some(READ), true);
        let write = Token::new(WRITE).ok();
        let public = Guard::new(Tokens::new(write, None), true, Vec::new(), false);
        for (method, path, access, _) in routes::table() {
            let sent = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let needs = |needed| if needed { 401 } else { 200 };
            let (closed, changes) = (access != Access::Open, access == Access::Write);
            for (guard, pairs, expected) in [
                (&nobody, NONE, 200),
                (&here, NONE, needs(changes)),
                (&public, NONE, needs(changes)),
                (&on_network, NONE, needs(closed)),
                (&with_both, NONE, needs(closed)),
                (&with_both, WITH_READ, needs(changes)),
                (&with_both, WITH_WRITE, 200),
                (&on_network, WITH_WRITE, 200),
            ] {
                assert_eq!(status(guard, &sent, path, pairs), expected, "{method} {path}");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_needs_the_token() {
        let guard = guard(Some(WRITE), None, true);
        assert_eq!(status(&guard, &Method::HEAD, "/health", &[]), 200);
        assert_eq!(status(&guard, &Method::HEAD, "/v1/download/memory", &[]), 401);
        assert_eq!(status(&guard, &Method::POST, "/", &[]), 401);
        assert_eq!(status(&guard, &Method::GET, "/v1/learn", &[]), 401);
        assert_eq!(status(&guard, &Method::OPTIONS, "/v1/learn", &[]), 401);
        let host = headers(&[("host", "localhost:1")]);
        assert!(guard.check(client(), &Method::GET, None, &host).is_err());
    }
}
