//! What the program says about itself: every `--help-all` is a snapshot, and so are the short helps of commands that have
//! one of their own, so that a change of words is a change to review.

mod common;

use common::Workplace;

#[track_caller]
fn help(words: &[&str]) -> String {
    let said = Workplace::new().succeed(words);
    assert_eq!(said.stderr, "");
    said.stdout
}

const COMMANDS: [&str; 24] = [
    "run",
    "reproduce",
    "learn",
    "predict",
    "eval",
    "suspect",
    "ask",
    "discover",
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
    "doctor",
    "completions",
    "man",
];

#[test]
fn the_program() {
    insta::assert_snapshot!("program", help(&["--help-all"]));
}

#[test]
fn every_command() {
    for command in COMMANDS {
        insta::assert_snapshot!(command, help(&[command, "--help-all"]));
    }
    for command in ["get", "list"] {
        insta::assert_snapshot!(format!("data-{command}"), help(&["data", command, "--help-all"]));
    }
    for command in ["list", "get", "info"] {
        let words = ["backbone", command, "--help-all"];
        insta::assert_snapshot!(format!("backbone-{command}"), help(&words));
    }
    for command in ["begin", "build", "merge"] {
        insta::assert_snapshot!(
            format!("memory-{command}"),
            help(&["memory", command, "--help-all"])
        );
    }
}

/// What a user sees first must not be long.
#[test]
fn the_short_help_is_short() {
    let mut shortened = String::new();
    for command in COMMANDS {
        let text = help(&[command, "--help"]);
        assert!(text.lines().count() < 60, "{command}: {text}");
        if text.contains("--help-all shows all options.") {
            shortened += &text;
        }
    }
    insta::assert_snapshot!("short", shortened);
}

/// A subcommand without a snapshot here is a subcommand nobody reviewed.
#[test]
fn every_subcommand_has_its_snapshot() {
    let program = help(&["--help-all"]);
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
    assert_eq!(help(&["help"]), help(&["--help-all"]));
    assert_eq!(help(&["run", "-h"]), help(&["run", "--help"]));
    for command in COMMANDS {
        assert_eq!(help(&["help", command]), help(&[command, "--help-all"]));
    }
}

/// Where the data lies on this machine is nobody's business, and would make the help differ from place to place.
#[test]
fn help_does_not_tell_the_environment() {
    let place = Workplace::new();
    let mut command = place.command(&["run", "--help-all"]);
    let said = common::said(command.env("AUTOACTIVATOR_DATA", "/somewhere"));
    assert_eq!(said.stdout, help(&["run", "--help-all"]));
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
        said.stderr.contains("Usage: autoactivator [OPTIONS] <COMMAND>"),
        "{}",
        said.stderr
    );
}
