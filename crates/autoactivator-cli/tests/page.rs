//! The page in a headless browser, asked of the real program: `page/page.mjs` tells the stories in `page/stories/`.
//!
//! It needs node, npm and Chromium; playwright-core and axe-core are installed under the target folder, where the
//! screenshots stay. Where something is missing it says so and passes, unless it runs in continuous integration (`CI=true`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may fail loudly.

mod common;
mod photos;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names that Chromium goes by.
const BROWSERS: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Where packages, model files and screenshots of this test lie.
fn place() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("page-tests")
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page")
}

fn works(program: &str) -> bool {
    let asked = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// The browser to use, or what is missing.
fn browser() -> Result<&'static str, &'static str> {
    for program in ["node", "npm"] {
        if !works(program) {
            return Err("there is no node with npm");
        }
    }
    let found = BROWSERS.into_iter().find(|browser| works(browser));
    found.ok_or("there is no Chromium")
}

/// The packages of `page/package.json`, installed anew when that changes.
fn install() -> Result<(), String> {
    let (needed, made_for) = (scripts().join("package.json"), place().join("made-for.json"));
    if fs::read(&made_for).ok() == Some(fs::read(&needed).unwrap()) {
        return Ok(());
    }
    fs::copy(&needed, place().join("package.json")).unwrap();
    let installed = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--loglevel=error",
        ])
        .current_dir(place())
        .status();
    if !installed.is_ok_and(|status| status.success()) {
        return Err("npm cannot install playwright-core and axe-core".to_owned());
    }
    fs::copy(&needed, &made_for).unwrap();
    Ok(())
}

/// Whole paths of programs: a browser is started by path.
fn whole(program: &str) -> PathBuf {
    let folders = env::var_os("PATH").unwrap();
    let mut places = env::split_paths(&folders).map(|folder| folder.join(program));
    places.find(|path| path.is_file()).unwrap()
}

/// A backbone that sees colours, for pages that take photographs.
fn backbone() -> PathBuf {
    let path = place().join("tiny.onnx");
    fs::write(&path, photos::backbone(7)).unwrap();
    fs::write(path.with_extension("toml"), photos::SETTINGS).unwrap();
    path
}

#[test]
fn the_page_tells_its_stories() {
    fs::create_dir_all(place()).unwrap();
    let ready = browser()
        .map_err(str::to_owned)
        .and_then(|browser| install().map(|()| whole(browser)));
    let browser = match ready {
        Ok(browser) => browser,
        Err(missing) => {
            assert!(env::var_os("CI").is_none(), "the tests of the page: {missing}");
            println!("skipped: {missing}");
            return;
        }
    };
    let told = Command::new("node")
        .arg(scripts().join("page.mjs"))
        .arg(env!("CARGO_BIN_EXE_autoactivator"))
        .arg(browser)
        .arg(backbone())
        .current_dir(place())
        .output()
        .unwrap();
    let (said, wrong) = (
        String::from_utf8_lossy(&told.stdout),
        String::from_utf8_lossy(&told.stderr),
    );
    println!("{said}");
    assert!(
        told.status.success(),
        "{wrong}\nscreenshots in {}",
        place().display()
    );
}
