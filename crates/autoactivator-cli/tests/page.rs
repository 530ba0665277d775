//! The page and the reports in a headless browser, made by the real program: `page/page.mjs` tells the stories in
//! `page/stories/`, and `page/report.mjs` looks at reports on every screen.
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
use std::sync::OnceLock;

use common::Workplace;

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

/// The browser, with the packages in place; none where something is missing.
fn ready() -> Option<&'static Path> {
    static READY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        fs::create_dir_all(place()).unwrap();
        let browser = browser().map_err(str::to_owned)?;
        install()?;
        Ok(whole(browser))
    });
    match ready {
        Ok(browser) => Some(browser),
        Err(missing) => {
            assert!(env::var_os("CI").is_none(), "the tests of the page: {missing}");
            println!("skipped: {missing}");
            None
        }
    }
}

/// Runs a script to its end, with these words.
fn tell(script: &str, words: &[&Path]) {
    let told = Command::new("node")
        .arg(scripts().join(script))
        .args(words)
        .current_dir(place())
        .output()
        .unwrap();
    println!("{}", String::from_utf8_lossy(&told.stdout));
    assert!(
        told.status.success(),
        "{}\nscreenshots in {}",
        String::from_utf8_lossy(&told.stderr),
        place().display()
    );
}

#[test]
fn the_page_tells_its_stories() {
    if let Some(browser) = ready() {
        let program = Path::new(env!("CARGO_BIN_EXE_autoactivator"));
        tell("page.mjs", &[program, browser, &backbone()]);
    }
}

#[test]
fn reports_fit_every_screen_and_paper() {
    let Some(browser) = ready() else { return };
    let at = Workplace::new();
    at.succeed(&["run", "digits", "--seeds", "1", "--report", "report-digits.html"]);
    let three = ["consolidation", "nearest-mean", "sequential-sgd"].map(|name| ["--learner", name]);
    let run = ["run", "digits", "--seeds", "2", "--report", "report-three.html"];
    at.succeed(&[&run[..], &three.concat()].concat());
    // A hundred classes of photographs; every fourth class has its last photographs from the one before.
    for class in 0..100 {
        let name = |class: u32| format!("a thing of kind {class}");
        photos::write(&at, "photos/train", &name(class), 3);
        photos::write(&at, "photos/test", &name(class), 2);
        if class % 4 == 1 {
            let path = at.write(&format!("photos/test/{}/other.png", name(class)), b"");
            photos::photograph(&name(class - 1), 7).save(path).unwrap();
        }
    }
    at.succeed(&["learn", "photos.aact", "photos", "--backbone", "none"]);
    let said = at.succeed(&["eval", "photos.aact", "photos", "--report", "report-photos.html"]);
    assert!(
        said.stderr.contains("report: report-photos.html"),
        "{}",
        said.stderr
    );
    let page = String::from_utf8(at.read("report-photos.html")).unwrap();
    assert!(
        page.contains("<img class=\"coarse\" src=\"data:image/png;base64,"),
        "no thumbnails"
    );
    assert!(
        page.contains("<rect class=\"w\"") && page.contains("<b class=\"no\">a thing of kind"),
        "no confusion"
    );
    at.succeed(&["reproduce", "digits", "--quick", "--out", "again"]);
    let pages = [
        "report-digits.html",
        "report-three.html",
        "report-photos.html",
        "again/reproduction.html",
    ];
    let pages = pages.map(|name| at.path().join(name));
    let words: Vec<&Path> = std::iter::once(browser)
        .chain(pages.iter().map(PathBuf::as_path))
        .collect();
    tell("report.mjs", &words);
}
