//! What does `--help` show? About ten options that most users need; `--help-all` shows everything.
//!
//! [`SHOWN`] is the whole choice. Commands that are not listed have few options and show all of them.

use clap::{Arg, Command, CommandFactory};

use crate::args::Cli;

/// The options in the short help of each command, by their ids.
const SHOWN: [(&[&str], &[&str]); 12] = [
    (
        &["run"],
        &[
            "tasks",
            "online",
            "stream",
            "learners",
            "protocols",
            "seeds",
            "json",
            "report",
            "label",
            "text",
            "backbones",
        ],
    ),
    (
        &["learn"],
        &[
            "class",
            "classes",
            "again",
            "private",
            "learner",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["predict"],
        &[
            "proba",
            "reject",
            "top",
            "format",
            "output",
            "id",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["eval"],
        &[
            "report",
            "json",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["watch"],
        &[
            "every",
            "once",
            "reject",
            "format",
            "label",
            "columns",
            "text",
            "backbones",
        ],
    ),
    (
        &["discover"],
        &[
            "output",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["suspect"],
        &[
            "model",
            "count",
            "json",
            "output",
            "page",
            "fix",
            "label",
            "columns",
            "text",
            "backbones",
        ],
    ),
    (
        &["ask"],
        &["count", "json", "output", "page", "columns", "text", "backbones"],
    ),
    (
        &["features"],
        &[
            "output",
            "part",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["unlearn"],
        &[
            "classes",
            "again",
            "label",
            "columns",
            "text",
            "backbones",
            "split",
            "data_dir",
        ],
    ),
    (
        &["serve"],
        &[
            "demo",
            "open",
            "listen",
            "empty",
            "held_out",
            "token_file",
            "cors",
            "backbones",
            "learner",
        ],
    ),
    (&["memory", "begin"], &["label", "columns", "seed", "pool"]),
];

/// The command line, with a short help that is short.
pub fn command() -> Command {
    SHOWN.iter().fold(Cli::command(), |program, (path, shown)| {
        shortened(program, path, shown)
    })
}

/// Hides the other options of the command with this path.
fn shortened(command: Command, path: &[&'static str], shown: &[&str]) -> Command {
    match path {
        // A build without the server lacks its command.
        [name, rest @ ..] if command.find_subcommand(name).is_some() => {
            command.mut_subcommand(name, |command| shortened(command, rest, shown))
        }
        [_, ..] => command,
        [] => command
            .mut_args(|option| hidden_unless(option, shown))
            .after_help("--help-all shows all options.")
            .after_long_help(""),
    }
}

fn hidden_unless(option: Arg, shown: &[&str]) -> Arg {
    let keep = option.is_positional() || shown.contains(&option.get_id().as_str());
    option.hide_short_help(!keep)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_of_the_short_help_exists() {
        for (path, shown) in SHOWN {
            let program = Cli::command();
            let command = path
                .iter()
                .try_fold(&program, |command, name| command.find_subcommand(name));
            let Some(command) = command else { continue };
            for id in shown {
                let there = command.get_arguments().any(|option| option.get_id() == id);
                assert!(there, "{path:?}: {id}");
            }
        }
    }
}
