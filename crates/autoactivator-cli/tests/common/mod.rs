//! What the black-box tests share: a folder to work in, the program run inside it, and small data to give it.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)] // Each test file uses its part; a test may fail loudly.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

/// Parameters under which a unit grows in no time.
pub const QUICK: [&str; 4] = ["--t-max", "5", "--l-max", "30"];

/// The kind of model that these tests are about, as `learn` is told when it makes a new one.
pub const NEW: [&str; 2] = ["--learner", "reactivation"];

/// Features of the rows of [`clusters`].
pub const N_FEATURES: usize = 4;

/// A folder of its own for each test, in which the program runs.
pub struct Workplace(TempDir);

/// What the program said, and how it ended.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Workplace {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, and the folders it lies in.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Every file below the folder, by its path, with its content.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let content = fs::read(&path).unwrap();
                    files.insert(path, content);
                }
            }
        }
        files
    }

    /// The program with these words, in this folder, with nothing of the caller's environment that it listens to.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autoactivator"));
        command
            .args(words)
            .current_dir(self.path())
            .env_remove("AUTOACTIVATOR_DATA")
            .env_remove("VIRTUAL_ENV")
            .env_remove("CONDA_PREFIX")
            .env_remove("ORT_DYLIB_PATH")
            .env("XDG_CACHE_HOME", self.path().join("cache"))
            .env("XDG_CONFIG_HOME", self.path().join("config"))
            .env_remove("AUTOACTIVATOR_CONFIG")
            .env_remove("NO_COLOR")
            .env("NO_PROXY", "*")
            .env_remove("RUST_BACKTRACE")
            .env("COLUMNS", "100");
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, words: &[&str]) -> Said {
        said(&mut self.command(words))
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    pub fn succeed(&self, words: &[&str]) -> Said {
        let said = self.run(words);
        assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
        said
    }

    /// Learns a task into a model file with [`QUICK`] parameters.
    #[track_caller]
    pub fn learn(&self, model: &str, rows: &str) -> Said {
        self.succeed(&[&["learn", model, rows], &NEW[..], &QUICK].concat())
    }
}

/// Runs a command to its end.
pub fn said(command: &mut Command) -> Said {
    let output = command.output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Rows of well separated clusters as csv, `n` for each class, the classes by turns; always the same.
pub fn clusters(classes: &[&str], n: usize) -> String {
    let mut random: u64 = 1;
    let mut text = String::new();
    for row in 0..n * classes.len() {
        let class = classes[row % classes.len()];
        for feature in 0..N_FEATURES {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let noise = (random >> 40) as f64 / (1_u64 << 24) as f64 - 0.5;
            text += &format!("{:.5},", centre(class, feature) + 0.1 * noise);
        }
        text += class;
        text += "\n";
    }
    text
}

/// Where the cluster of a class lies: by its name, so that a class lies there in every file.
fn centre(class: &str, feature: usize) -> f64 {
    let name: usize = class.bytes().map(usize::from).sum();
    (name * (feature + 3) % 7) as f64 / 7.0
}

/// The same rows without their classes.
pub fn without_classes(csv: &str) -> String {
    csv.lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_owned() + "\n")
        .collect()
}

/// Packs bytes as gzip does.
pub fn gzip(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes.as_ref()).unwrap();
    encoder.finish().unwrap()
}

/// An idx file: big-endian numbers, then bytes.
pub fn idx(head: &[u32], body: &[u8]) -> Vec<u8> {
    let head = head.iter().flat_map(|number| number.to_be_bytes());
    head.chain(body.iter().copied()).collect()
}

impl Workplace {
    /// The program with these words must fail as it should, and say all of `expected`.
    #[track_caller]
    pub fn refuse(&self, words: &[&str], expected: &[&str]) {
        self.refuse_command(&mut self.command(words), expected);
    }

    #[track_caller]
    pub fn refuse_command(&self, command: &mut Command, expected: &[&str]) {
        let before = self.files();
        let Said { code, stdout, stderr } = said(command);
        let words: Vec<_> = command.get_args().collect();
        assert!(!stderr.contains("panicked"), "{words:?}: {stderr}");
        assert_eq!(code, Some(2), "{words:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{words:?}: {stderr}");
        for part in expected {
            assert!(
                stderr.contains(part),
                "{words:?}: '{part}' is missing in: {stderr}"
            );
        }
        assert_eq!(stdout, "", "{words:?}: nothing on stdout");
        assert!(self.files() == before, "{words:?}: a file was changed");
    }
}
