//! The published experiments: `experiments/*.toml`, in the order of the paper, part of the program.
//!
//! [`choose`] finds those that a user names: by name, by table or figure, or by path.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::experiment::Experiment;

/// An experiment file with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Its name: that of the file.
    pub name: String,
    /// What it says.
    pub text: String,
}

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../autoactivator-exam/experiments/", $name, ".toml")))),*]
    };
}

/// All of them.
const EXPERIMENTS: [(&str, &str); 35] = experiments![
    "mnist-reactivation",
    "mnist-consolidation",
    "mnist-consolidation-small",
    "fashion-mnist-reactivation",
    "fashion-mnist-consolidation",
    "cifar100-reactivation",
    "cifar100-consolidation",
    "cifar100-25-reactivation",
    "cifar100-25-consolidation",
    "imagenet-r",
    "mnist-candidates",
    "mnist-candidates-three-joins",
    "mnist-candidates-unscreened",
    "fashion-mnist-candidates",
    "fashion-mnist-candidates-three-joins",
    "fashion-mnist-candidates-unscreened",
    "fashion-mnist-candidates-wider-scopes",
    "mnist-t-sne",
    "fashion-mnist-expected-accuracy",
    "mnist-ablation",
    "fashion-mnist-ablation",
    "cifar100-ablation",
    "cifar100-uneven-4",
    "cifar100-uneven-10",
    "mnist-time",
    "cifar100-single",
    "cifar100-online",
    "cifar100-nodes",
    "imagenet-r-more-nodes",
    "cifar100-base",
    "imagenet-100",
    "imagenet-1k",
    "mnist-recruited",
    "mnist-random",
    "digits",
];

/// All published experiments.
pub fn published() -> Vec<Published> {
    let published = |(name, text): (&str, &str)| Published {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    EXPERIMENTS.map(published).to_vec()
}

/// Those that are named, each once, in the order of the paper; all when none is.
pub fn choose(names: &[String]) -> Result<Vec<Published>> {
    let all = published();
    if names.is_empty() {
        return Ok(all);
    }
    let mut files = Vec::new();
    for name in names {
        if is_file(name) {
            files.push(read(Path::new(name))?);
        } else if !all.iter().any(|experiment| is_meant(experiment, name)) {
            let known: Vec<&str> = all.iter().map(|experiment| experiment.name.as_str()).collect();
            bail!(
                "there is no experiment '{name}': name a table or figure ({}), an experiment file, or one of {}",
                places(&all).join(", "),
                known.join(", ")
            );
        }
    }
    let named = |experiment: &Published| names.iter().any(|name| is_meant(experiment, name));
    Ok(all.into_iter().filter(named).chain(files).collect())
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "toml")
}

fn is_meant(experiment: &Published, name: &str) -> bool {
    experiment.name == name || place(experiment) == name
}

/// The places in the paper, each once.
fn places(all: &[Published]) -> Vec<String> {
    let mut places: Vec<String> = all.iter().map(place).collect();
    places.dedup();
    places
}

/// The place in the paper as a word: `table-1`.
fn place(experiment: &Published) -> String {
    let place = Experiment::parse(&experiment.text, &[]).map(|experiment| experiment.paper.place);
    let word = place.unwrap_or_default().to_lowercase().replace([' ', ','], "-");
    word.replace("--", "-")
}

fn read(path: &Path) -> Result<Published> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Experiment::parse(&text, &[]).with_context(|| path.display().to_string())?;
    let name = path
        .file_stem()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    Ok(Published { name, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Overlay;

    fn names(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        choose(&words).unwrap().into_iter().map(|e| e.name).collect()
    }

    #[test]
    fn every_file_is_sound_with_and_without_its_overlays_and_says_where_it_belongs() {
        for experiment in published() {
            for overlays in [
                &[][..],
                &[Overlay::Quick],
                &[Overlay::StandIn],
                &[Overlay::Quick, Overlay::StandIn],
            ] {
                let parsed = Experiment::parse(&experiment.text, overlays);
                let parsed = parsed.unwrap_or_else(|e| panic!("{}: {e:#}", experiment.name));
                assert!(!parsed.paper.place.is_empty(), "{}", experiment.name);
                assert!(!parsed.title.is_empty(), "{}", experiment.name);
                parsed
                    .contenders
                    .iter()
                    .for_each(|contender| contender.check().unwrap());
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../autoactivator-exam/experiments");
        let mut on_disk: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        let mut known: Vec<String> = published().into_iter().map(|e| e.name).collect();
        on_disk.sort();
        known.sort();
        assert_eq!(known, on_disk);
    }

    #[test]
    fn experiments_are_named_by_name_or_place() {
        assert_eq!(
            names(&["mnist-time", "mnist-reactivation"]),
            ["mnist-reactivation", "mnist-time"]
        );
        assert!(names(&["table-4"]).contains(&"fashion-mnist-candidates".to_owned()));
        assert_eq!(names(&[]).len(), EXPERIMENTS.len());
        let error = choose(&["tabel-1".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("table-1") && error.contains("mnist-candidates"),
            "{error}"
        );
    }
}
