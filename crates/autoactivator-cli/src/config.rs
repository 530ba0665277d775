//! The configuration file: defaults for options about places and limits, in TOML.
//!
//! [`Config::load`] finds and checks it, [`Config::defaults`] gives its values to the command line as defaults, so that
//! whatever is typed wins. Options that shape a model cannot be set: what is learned must not depend on a file that no
//! record mentions.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use autoactivator_data::dataset::user_config;
use clap::{Arg, Command};
use toml::{Table, Value};

use crate::short_help;

/// The variable that names another file; it must exist.
const VARIABLE: &str = "AUTOACTIVATOR_CONFIG";

/// A setting: an option by its name, and the command that it is for.
struct Key {
    /// The section, which is the command; none for an option of every command that has it.
    section: Option<&'static str>,
    name: &'static str,
    /// A variable that says the same, and wins.
    variable: Option<&'static str>,
    /// Whether it is a path, which is then relative to the configuration file.
    is_path: bool,
}

/// All settings.
const KEYS: [Key; 18] = [
    everywhere("data-dir", Some("AUTOACTIVATOR_DATA"), true),
    everywhere("cache", None, true),
    everywhere("runtime", None, false),
    of("predict", "reject"),
    of("serve", "listen"),
    of("serve", "cors"),
    secret("token-file", "AUTOACTIVATOR_TOKEN"),
    secret("read-token-file", "AUTOACTIVATOR_READ_TOKEN"),
    of("serve", "keep-unknown"),
    of("serve", "max-rows"),
    of("serve", "max-body"),
    of("serve", "max-model"),
    of("serve", "max-answer"),
    of("serve", "max-image"),
    of("serve", "max-unknown"),
    of("serve", "max-queue"),
    of("serve", "max-connections"),
    of("serve", "time-limit"),
];

const fn everywhere(name: &'static str, variable: Option<&'static str>, is_path: bool) -> Key {
    Key {
        section: None,
        name,
        variable,
        is_path,
    }
}

const fn of(section: &'static str, name: &'static str) -> Key {
    Key {
        section: Some(section),
        name,
        variable: None,
        is_path: false,
    }
}

const fn secret(name: &'static str, variable: &'static str) -> Key {
    Key {
        section: Some("serve"),
        name,
        variable: Some(variable),
        is_path: true,
    }
}

impl Key {
    /// How it is spelled in messages.
    fn spelled(&self) -> String {
        match self.section {
            Some(section) => format!("{section}.{}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The option of a command that it sets.
    fn option<'c>(&self, command: &'c Command) -> Option<&'c Arg> {
        let is_for = self.section.is_none_or(|section| section == command.get_name());
        let mut options = command.get_arguments();
        options.find(|option| is_for && option.get_long() == Some(self.name))
    }

    /// The option of a command or of one below it; none in a build without the command that it is for.
    fn find<'c>(&self, command: &'c Command) -> Option<&'c Arg> {
        let mut below = command.get_subcommands();
        self.option(command)
            .or_else(|| below.find_map(|below| self.find(below)))
    }
}

/// What a configuration file says.
pub struct Config {
    path: PathBuf,
    /// Each setting with its values, as they would be typed.
    settings: Vec<(&'static Key, Vec<String>)>,
}

/// Where the file is, or would be; none if the environment names no place for it.
pub fn place() -> Option<PathBuf> {
    match env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => user_config().map(|folder| folder.join("config.toml")),
    }
}

impl Config {
    /// Reads the file, if there is one.
    pub fn load() -> Result<Option<Self>> {
        let is_named = env::var_os(VARIABLE).is_some_and(|path| !path.is_empty());
        let Some(path) = place().filter(|path| is_named || path.exists()) else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        let config = Self::read(path, &text)?;
        config.check(&short_help::command())?;
        Ok(Some(config))
    }

    fn read(path: PathBuf, text: &str) -> Result<Self> {
        let name = path.display();
        let table: Table = text.parse().map_err(|error| anyhow!("{name}: {error}"))?;
        let mut settings = Vec::new();
        for (name, value) in &table {
            match value {
                Value::Table(section) => {
                    for (key, value) in section {
                        settings.push(setting(&path, Some(name), key, value)?);
                    }
                }
                value => settings.push(setting(&path, None, name, value)?),
            }
        }
        Ok(Self { path, settings })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of its settings.
    pub fn names(&self) -> Vec<String> {
        self.settings.iter().map(|(key, _)| key.spelled()).collect()
    }

    /// The value of a setting, if it is there.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let (_, values) = settings.find(|(key, _)| key.spelled() == name)?;
        values.first().map(String::as_str)
    }

    /// The command line with these defaults.
    pub fn defaults(&self, mut program: Command) -> Command {
        for (key, values) in &self.settings {
            if !key.variable.is_some_and(is_set) {
                program = with_default(program, key, values);
            }
        }
        program
    }

    /// Whether the command line takes these values; in its words.
    fn check(&self, program: &Command) -> Result<()> {
        for (key, values) in &self.settings {
            let Some(option) = key.find(program) else { continue };
            check(option, values)
                .map_err(|reason| anyhow!("{}: `{}` {reason}", self.path.display(), key.spelled()))?;
        }
        Ok(())
    }
}

/// A command, and those below it, with one default.
fn with_default(mut command: Command, key: &Key, values: &[String]) -> Command {
    if let Some(option) = key.option(&command) {
        let id = option.get_id().clone();
        command = command.mut_arg(id, |option| option.default_values(values.to_vec()));
    }
    command.mut_subcommands(|below| with_default(below, key, values))
}

/// A setting by the name that it has in a file, with its values in words.
fn setting(
    path: &Path,
    section: Option<&str>,
    name: &str,
    value: &Value,
) -> Result<(&'static Key, Vec<String>)> {
    let file = path.display();
    let found = KEYS.iter().find(|key| key.section == section && key.name == name);
    let Some(key) = found else {
        let name = section.map_or_else(|| name.to_owned(), |section| format!("{section}.{name}"));
        let known: Vec<String> = KEYS.iter().map(Key::spelled).collect();
        bail!(
            "{file}: `{name}` is not a setting; those that can be set are {}",
            known.join(", ")
        );
    };
    let values = match value {
        Value::Array(values) => values.iter().map(in_words).collect(),
        value => in_words(value).map(|value| vec![value]),
    };
    let Some(mut values) = values else {
        bail!("{file}: `{}` must be a text or a number", key.spelled());
    };
    if key.is_path {
        let folder = path.parent().unwrap_or(Path::new(""));
        for value in &mut values {
            *value = folder.join(&*value).to_string_lossy().into_owned();
        }
    }
    Ok((key, values))
}

/// A value as it would be typed.
fn in_words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Why an option does not take these values; in the words of the command line.
fn check(option: &Arg, values: &[String]) -> Result<(), String> {
    // Alone, the option has no other ones that it would exclude or need.
    let alone = Arg::new("value")
        .value_parser(option.get_value_parser().clone())
        .action(option.get_action().clone())
        .required(true);
    let taken = Command::new("configuration")
        .no_binary_name(true)
        .arg(alone.allow_hyphen_values(true))
        .try_get_matches_from(values);
    let Err(error) = taken else {
        return Ok(());
    };
    let reason = match std::error::Error::source(&error) {
        Some(source) => source.to_string(),
        None => {
            let possible = option.get_possible_values();
            let names: Vec<&str> = possible.iter().map(|value| value.get_name()).collect();
            match names[..] {
                [] => "exactly one value is needed".to_owned(),
                _ => format!("choose from {}", names.join(", ")),
            }
        }
    };
    Err(format!("is '{}': {reason}", values.join(", ")))
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_an_option() {
        let program = short_help::command();
        for key in &KEYS {
            // A build without the server lacks its command.
            let is_left_out = key
                .section
                .is_some_and(|name| program.find_subcommand(name).is_none());
            assert!(is_left_out || key.find(&program).is_some(), "{}", key.spelled());
        }
    }
}
