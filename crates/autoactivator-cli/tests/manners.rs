//! How the program behaves at home: how much it says and in which colours, its configuration file, what it finds on a
//! machine, and what a package installs beside it.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;

use std::process::Command;

use common::{Workplace, clusters, said};
use serde_json::Value;

/// A model and the rows that it was learned from.
fn learned() -> Workplace {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b"], 30));
    place.learn("model", "rows.csv");
    place
}

#[test]
fn quiet_says_only_what_went_wrong() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b", "B"], 30));
    let said = place.succeed(&["learn", "model", "rows.csv", "--quiet"]);
    assert!(said.stderr.starts_with("warning: the classes"), "{}", said.stderr);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    place.refuse(&["learn", "model", "rows.csv", "-q"], &["already learned"]);
    place.refuse_word(&["-q", "-v", "inspect", "model"], "cannot be used with");
}

#[test]
fn verbose_says_how_long_it_took() {
    let place = learned();
    let said = place.succeed(&["inspect", "model", "-v"]);
    assert!(said.stderr.starts_with("done in "), "{}", said.stderr);
    let usual = place.succeed(&["inspect", "model"]);
    assert_eq!((usual.stderr.as_str(), usual.stdout), ("", said.stdout));
}

/// The exam takes seconds; without a terminal it says so line by line, and no line moves a cursor.
#[test]
fn progress_is_lines_where_stderr_is_no_terminal() {
    let place = Workplace::new();
    let words = ["run", "digits", "--no-report", "--learner", "reactivation"];
    let said = place.succeed(&[&words[..], &["--seeds", "200", "--verbose"]].concat());
    let progress: Vec<&str> = said
        .stderr
        .lines()
        .filter(|line| line.contains(" tasks ["))
        .collect();
    assert!(!progress.is_empty(), "{}", said.stderr);
    assert!(
        progress.iter().all(|line| line.contains("reactivation, seed")),
        "{progress:?}"
    );
    assert!(!said.stderr.contains(['\r', '\u{1b}', '█']), "{}", said.stderr);
    let quiet = place.succeed(&[&words[..], &["--seeds", "1", "--quiet"]].concat());
    assert_eq!(quiet.stderr, "");
}

/// What `script`, which gives a command a terminal, shows of an error.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Workplace, variables: &[(&str, &str)]) -> Option<String> {
    let program = place.command(&[]);
    let typed = format!("{} inspect nothing", program.get_program().display());
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &typed, "/dev/null"]);
    terminal
        .current_dir(place.path())
        .env_remove("NO_COLOR")
        .env("TERM", "xterm");
    terminal.envs(variables.iter().copied());
    let shown = terminal.output().ok()?;
    Some(String::from_utf8_lossy(&shown.stdout).into_owned())
}

#[test]
#[cfg(target_os = "linux")]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let place = Workplace::new();
    let Some(shown) = on_a_terminal(&place, &[]) else {
        println!("skipped: there is no `script`");
        return;
    };
    assert!(shown.contains("\u{1b}[31merror:\u{1b}[0m "), "{shown:?}");
    for plain in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let shown = on_a_terminal(&place, &[plain]).unwrap();
        assert!(
            shown.contains("error: ") && !shown.contains('\u{1b}'),
            "{shown:?}"
        );
    }
    place.refuse(&["inspect", "nothing"], &["error: "]);
}

impl Workplace {
    /// Writes the configuration file that the program finds.
    fn configure(&self, text: &str) {
        self.write("config/autoactivator/config.toml", text);
    }

    /// A command line that makes no sense must be refused with these words.
    #[track_caller]
    fn refuse_word(&self, words: &[&str], expected: &str) {
        let said = self.run(words);
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.stderr);
        assert!(said.stderr.contains(expected), "{words:?}: {}", said.stderr);
    }
}

#[test]
fn the_configuration_gives_defaults_and_what_is_typed_wins() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b"], 60));
    place.write("far.csv", "9,-9,9,-9\n");
    place.succeed(&["learn", "model", "rows.csv"]);
    let ask = ["predict", "model", "far.csv", "--no-label"];
    let typed = ["predict", "model", "far.csv", "--no-label", "--reject", "0"];
    assert!(!place.succeed(&ask).stdout.contains("unknown"));
    place.configure("[predict]\nreject = \"5%\"\n");
    assert!(place.succeed(&ask).stdout.contains("unknown"));
    assert!(!place.succeed(&typed).stdout.contains("unknown"));
    let told = place.succeed(&["inspect", "model", "-v"]).stderr;
    assert!(
        told.starts_with("configuration: ") && told.contains("config.toml"),
        "{told}"
    );
}

#[test]
fn paths_in_the_configuration_are_relative_to_it_and_variables_win() {
    let place = Workplace::new();
    place.write("config/autoactivator/data/backbones/other.txt", "");
    place.configure("data-dir = \"data\"\n");
    place.write("there/mnist/files.txt", "");
    let folders = |said: common::Said| -> Vec<String> {
        let found: Value = serde_json::from_str(&said.stdout).unwrap();
        let folders = found["data_folders"].as_array().unwrap();
        folders
            .iter()
            .map(|folder| folder["path"].as_str().unwrap().to_owned())
            .collect()
    };
    let configured = folders(place.succeed(&["doctor", "--json"]));
    assert!(
        configured[0].ends_with("config/autoactivator/data"),
        "{configured:?}"
    );
    let mut command = place.command(&["doctor", "--json"]);
    let named = folders(said(
        command.env("AUTOACTIVATOR_DATA", place.path().join("there")),
    ));
    assert!(named[0].ends_with("there"), "{named:?}");
    // A data set is looked for where the configuration says.
    place.refuse(
        &["run", "mnist", "--no-report"],
        &["no folder `mnist` in", "config/autoactivator/data"],
    );
}

#[test]
fn a_wrong_configuration_is_an_error_that_names_file_and_key() {
    let place = learned();
    for (text, expected) in [
        (
            "colour = 1\n",
            "`colour` is not a setting; those that can be set are data-dir, ",
        ),
        (
            "[predict]\nreject = 2\n",
            "`predict.reject` is '2': expected a number from 0 to 1",
        ),
        ("[predict]\nnodes = 2\n", "`predict.nodes` is not a setting"),
        (
            "runtime = \"gpu\"\n",
            "`runtime` is 'gpu': runtime is 'gpu', but must be auto",
        ),
        ("data-dir = true\n", "`data-dir` must be a text or a number"),
        ("cache = [\"a\", \"b\"]\n", "`cache` is "),
        ("reject\n", "config.toml: TOML parse error at line 1"),
        #[cfg(unix)]
        (
            "[serve]\nlisten = \"nowhere\"\n",
            "`serve.listen` is 'nowhere': invalid socket address",
        ),
    ] {
        place.configure(text);
        place.refuse(
            &["inspect", "model"],
            &["config/autoactivator/config.toml: ", expected],
        );
        // Help and the doctor work all the same.
        assert_eq!(place.run(&["inspect", "--help"]).code, Some(0));
        let told = place.succeed(&["doctor"]).stdout;
        assert!(told.contains("not usable: "), "{told}");
    }
    let mut command = place.command(&["inspect", "model"]);
    place.refuse_command(
        command.env("AUTOACTIVATOR_CONFIG", "nothing.toml"),
        &["cannot read the configuration nothing.toml"],
    );
}

#[test]
fn the_doctor_says_what_is_here() {
    let place = Workplace::new();
    place.write("cache/autoactivator/features/one", vec![0; 2_000_000]);
    place.write("data/mnist/rows.txt", "");
    let told = place.succeed(&["doctor", "--data-dir", "data"]).stdout;
    for part in [
        &format!("version        {}", env!("CARGO_PKG_VERSION")),
        "digits (built in)",
        "mnist (data/mnist)",
        "clinc150 (not here)",
        "dinov2 (not here)",
        "features: 1 file, 2.0 MB",
        "configuration  none (it would be ",
    ] {
        assert!(told.contains(part), "'{part}' is missing in:\n{told}");
    }
    let all = place.succeed(&["doctor", "--json"]).stdout;
    let all: Value = serde_json::from_str(&all).unwrap();
    assert!(all["cores"].as_u64().unwrap() > 0);
    assert_eq!(all["cache"]["files"], 1);
    assert!(all["server"]["is_free"].is_boolean());
    // Either a version, or the reason why there is none.
    assert_ne!(
        all["onnxruntime"]["version"].is_null(),
        all["onnxruntime"]["reason"].is_null()
    );
}

/// `bash .ci/completions` loads them in the shells.
#[test]
fn completions_and_manual_pages_have_every_command() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&["completions", shell]).stdout;
        assert!(
            script.contains("drop-class") && script.contains("help-all"),
            "{shell}"
        );
    }
    place.refuse_word(&["completions", "dos"], "possible values: bash");
    let said = place.succeed(&["man", "pages/man1"]);
    assert!(said.stderr.starts_with("pages/man1: "), "{}", said.stderr);
    for page in [
        "autoactivator",
        "autoactivator-drop-class",
        "autoactivator-memory-merge",
    ] {
        let text = String::from_utf8(place.read(&format!("pages/man1/{page}.1"))).unwrap();
        assert!(
            text.contains(".SH SYNOPSIS") && text.contains("quiet"),
            "{page}: {text}"
        );
    }
}
