//! What the program says about itself: every `--help` is a snapshot, so that a change of words is a change to review.

mod common;

use common::Workplace;

#[track_caller]
fn help(words: &[&str]) -> String {
    let said = Workplace::new().succeed(words);
    assert_eq!(said.stderr, "");
    said.stdout
}

const COMMANDS: [&str; 18] = [
    "run",
    "reproduce",
    "learn",
    "predict",
    "eval",
    "watch",
    "features",
    "inspect",
    "memory",
    "merge",
    "unlearn",
    "drop-class",
    "rename-class",
    "export",
    "serve",
    "token",
    "data",
    "backbone",
];

#[test]
fn the_program() {
    insta::assert_snapshot!("program", help(&["--help"]));
}

#[test]
fn every_command() {
    for command in COMMANDS {
        insta::assert_snapshot!(command, help(&[command, "--help"]));
    }
    for command in ["get", "list"] {
        insta::assert_snapshot!(format!("data-{command}"), help(&["data", command, "--help"]));
    }
    for command in ["list", "get", "info"] {
        let words = ["backbone", command, "--help"];
        insta::assert_snapshot!(format!("backbone-{command}"), help(&words));
    }
    for command in ["begin", "build", "merge"] {
        insta::assert_snapshot!(format!("memory-{command}"), help(&["memory", command, "--help"]));
    }
}

/// A subcommand without a snapshot here is a subcommand nobody reviewed.
#[test]
fn every_subcommand_has_its_snapshot() {
    let program = help(&["--help"]);
    let commands = program
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = commands.collect();
    let reviewed = COMMANDS.iter().chain(&["help"]);
    assert!(commands.iter().eq(reviewed), "{commands:?}");
}

#[test]
fn help_as_a_word_is_the_same_as_an_option() {
    assert_eq!(help(&["help"]), help(&["--help"]));
    for command in COMMANDS {
        assert_eq!(help(&["help", command]), help(&[command, "--help"]));
    }
}

/// Where the data lies on this machine is nobody's business, and would make the help differ from place to place.
#[test]
fn help_does_not_tell_the_environment() {
    let place = Workplace::new();
    let mut command = place.command(&["run", "--help"]);
    let said = common::said(command.env("AUTOACTIVATOR_DATA", "/somewhere"));
    assert_eq!(said.stdout, help(&["run", "--help"]));
}

#[test]
fn version() {
    let expected = format!("autoactivator {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(help(&["--version"]), expected);
    assert_eq!(help(&["-V"]), expected);
}

#[test]
fn no_word_at_all_shows_the_help_and_is_an_error() {
    let said = Workplace::new().run(&[]);
    assert_eq!(said.code, Some(2));
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.contains("Usage: autoactivator <COMMAND>"),
        "{}",
        said.stderr
    );
}
