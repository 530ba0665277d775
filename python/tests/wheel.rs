//! Builds the wheel in a Python environment of its own, under the target folder, and runs the tests of the package.
//!
//! Where there is no Python it says so and passes, unless it runs in continuous integration (`CI=true`).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may fail loudly.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use autoactivator::{Check, Consolidation, ConsolidationParams, Labels, Learner, Model, Rows};

/// Where everything of this test lies.
fn place() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("python-tests")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[track_caller]
fn succeed(command: &mut Command) {
    let status = command
        .status()
        .unwrap_or_else(|cause| panic!("{command:?}: {cause}"));
    assert!(status.success(), "{command:?}: {status}");
}

/// Whether this machine has a Python that can make environments.
fn has_python() -> bool {
    let asked = Command::new("python3")
        .args([
            "-c",
            "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))",
        ])
        .output();
    asked.is_ok_and(|output| output.status.success())
}

/// The programs of an environment that holds what the tests need; made anew when that changes.
fn environment() -> PathBuf {
    let (environment, needed) = (
        place().join("environment"),
        root().join("python/tests/requirements.txt"),
    );
    let (programs, made_for) = (environment.join("bin"), environment.join("made-for.txt"));
    if fs::read(&made_for).ok() != Some(fs::read(&needed).unwrap()) {
        succeed(
            Command::new("python3")
                .args(["-m", "venv", "--clear"])
                .arg(&environment),
        );
        succeed(
            Command::new(programs.join("pip"))
                .args(["install", "--quiet", "--disable-pip-version-check", "-r"])
                .arg(&needed),
        );
        fs::copy(&needed, &made_for).unwrap();
    }
    programs
}

/// Builds the wheel with the profile and into the target folder of everything else, so that little is compiled anew.
fn wheel(programs: &Path) -> PathBuf {
    let wheels = place().join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    succeed(
        Command::new(programs.join("maturin"))
            .args(["build", "--quiet", "--release", "--locked", "--manifest-path"])
            .arg(root().join("python/Cargo.toml"))
            .arg("--out")
            .arg(&wheels)
            .arg("--target-dir")
            .arg(place().parent().unwrap()),
    );
    let mut found = fs::read_dir(&wheels).unwrap().map(|entry| entry.unwrap().path());
    let wheel = found
        .find(|path| path.extension() == Some(OsStr::new("whl")))
        .unwrap();
    let name = wheel.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        name.contains("-cp311-abi3-"),
        "{name}: one wheel for every Python from 3.11 on"
    );
    wheel
}

/// The command line, which the tests compare with.
fn command_line() -> PathBuf {
    let target = place().parent().unwrap().to_owned();
    succeed(
        Command::new(env!("CARGO"))
            .args([
                "build",
                "--quiet",
                "--release",
                "--locked",
                "--package",
                "autoactivator-cli",
            ])
            .arg("--target-dir")
            .arg(&target)
            .current_dir(root()),
    );
    target.join("release/autoactivator")
}

/// A model file that the library itself writes, from rows that `test_faces.py` makes by the same rule.
fn library_model() -> PathBuf {
    let value = |i: usize, j: usize| ((i * 7 + j * 13) % 17) as f32 / 16.0 + (i % 3) as f32;
    let x: Vec<f32> = (0..120).flat_map(|i| (0..6).map(move |j| value(i, j))).collect();
    let y = Labels::from_names((0..120).map(|i| (i % 3).to_string()));
    let mut learner = Consolidation::new(ConsolidationParams::default().check().unwrap());
    learner.learn(Rows::new(&x, 6).unwrap(), &y, &mut ()).unwrap();
    let path = place().join("library.aact");
    Model::from(learner).save(&path).unwrap();
    path
}

#[test]
fn the_wheel_passes_its_tests() {
    if !has_python() {
        assert!(
            env::var_os("CI").is_none(),
            "the tests of the Python package need python3, 3.11 or newer, with venv"
        );
        println!("skipped: there is no python3, 3.11 or newer, with venv");
        return;
    }
    fs::create_dir_all(place()).unwrap();
    let programs = environment();
    let wheel = wheel(&programs);
    succeed(
        Command::new(programs.join("pip"))
            .args(["install", "--quiet", "--disable-pip-version-check"])
            .args(["--force-reinstall", "--no-deps"])
            .arg(&wheel),
    );
    succeed(
        Command::new(programs.join("pytest"))
            .args([
                "-q",
                "-p",
                "no:cacheprovider",
                "--import-mode=importlib",
                "--doctest-modules",
                // The Avalanche strategy needs torch, which this environment is spared.
                "--doctest-ignore-import-errors",
            ])
            .arg("-c")
            .arg(root().join("python/pyproject.toml"))
            .arg(root().join("python/tests"))
            .args(["--pyargs", "autoactivator"])
            .env("AUTOACTIVATOR_CLI", command_line())
            .env("AUTOACTIVATOR_LIBRARY_MODEL", library_model())
            .current_dir(place()),
    );
}
