//! The page and its files, embedded from `web/` beside the sources. Nothing is loaded from anywhere else; the
//! content security policy makes the browser enforce that.

use axum::Extension;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::unread::Kept;

/// Only our own files; images and videos may also be made by the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      media-src 'self' blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; \
                      manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Which of the machine's devices the page may use.
const PERMISSIONS: &str = "camera=(self), microphone=(), geolocation=()";

/// A file of `web/`.
struct Asset {
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $content_type:literal) => {
        Asset {
            name: $name,
            content_type: $content_type,
            content: include_bytes!(concat!("../web/", $name)),
        }
    };
}

const PAGE: Asset = asset!("index.html", "text/html; charset=utf-8");

const DOCS: Asset = asset!("docs.html", "text/html; charset=utf-8");

/// All files that the pages refer to, as `/assets/NAME`.
const ASSETS: &[Asset] = &[
    asset!("api.js", "text/javascript; charset=utf-8"),
    asset!("bars.js", "text/javascript; charset=utf-8"),
    asset!("base.css", "text/css; charset=utf-8"),
    asset!("below.css", "text/css; charset=utf-8"),
    asset!("camera.js", "text/javascript; charset=utf-8"),
    asset!("check.js", "text/javascript; charset=utf-8"),
    asset!("classes.js", "text/javascript; charset=utf-8"),
    asset!("docs.css", "text/css; charset=utf-8"),
    asset!("docs.js", "text/javascript; charset=utf-8"),
    asset!("dom.js", "text/javascript; charset=utf-8"),
    asset!("downloads.js", "text/javascript; charset=utf-8"),
    asset!("events.js", "text/javascript; charset=utf-8"),
    asset!("exam.js", "text/javascript; charset=utf-8"),
    asset!("examples.js", "text/javascript; charset=utf-8"),
    asset!("face.js", "text/javascript; charset=utf-8"),
    asset!("facts.js", "text/javascript; charset=utf-8"),
    asset!("fold.js", "text/javascript; charset=utf-8"),
    asset!("history.js", "text/javascript; charset=utf-8"),
    asset!("icon.svg", "image/svg+xml"),
    asset!("ink.js", "text/javascript; charset=utf-8"),
    asset!("kinds.js", "text/javascript; charset=utf-8"),
    asset!("layout.js", "text/javascript; charset=utf-8"),
    asset!("live.js", "text/javascript; charset=utf-8"),
    asset!("main.js", "text/javascript; charset=utf-8"),
    asset!("network.js", "text/javascript; charset=utf-8"),
    asset!("pad.js", "text/javascript; charset=utf-8"),
    asset!("page.css", "text/css; charset=utf-8"),
    asset!("photo.js", "text/javascript; charset=utf-8"),
    asset!("pictures.js", "text/javascript; charset=utf-8"),
    asset!("pixels.js", "text/javascript; charset=utf-8"),
    asset!("sample.js", "text/javascript; charset=utf-8"),
    asset!("show.js", "text/javascript; charset=utf-8"),
    asset!("store.js", "text/javascript; charset=utf-8"),
    asset!("tasks.js", "text/javascript; charset=utf-8"),
    asset!("teach.js", "text/javascript; charset=utf-8"),
    asset!("unknown.js", "text/javascript; charset=utf-8"),
    asset!("units.js", "text/javascript; charset=utf-8"),
    asset!("verdict.js", "text/javascript; charset=utf-8"),
];

pub(crate) async fn page() -> Response {
    respond(&PAGE)
}

pub(crate) async fn docs() -> Response {
    respond(&DOCS)
}

pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, Problem> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    found
        .map(respond)
        .ok_or_else(|| Problem::not_found("NotFound", "the page has no such file"))
}

fn respond(asset: &Asset) -> Response {
    let headers = [
        (header::CONTENT_TYPE, asset.content_type),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::HeaderName::from_static("permissions-policy"), PERMISSIONS),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (Extension(Kept), headers, asset.content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_beside_the_sources_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/web");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        let mut served: Vec<&str> = ASSETS
            .iter()
            .chain([&PAGE, &DOCS])
            .map(|asset| asset.name)
            .collect();
        served.sort_unstable();
        assert_eq!(served, there);
    }
}
