//! Which experiments are published? `experiments/*.toml`, in the order of the paper, part of the program.
//!
//! [`choose`] finds those that a user names: by name, by table or figure, or by path.

use std::path::Path;

use super::{Experiment, Overlay, is_file, text};
use crate::error::Error;

/// An experiment file with its name.
///
/// ```
/// use autoactivator_exam::experiment::choose;
///
/// let chosen = choose(&["table-1".to_owned()])?;
/// let first = chosen[0].experiment(&[])?;
/// assert_eq!((first.dataset.as_str(), first.paper.place.as_str()), ("mnist", "Table 1"));
/// # Ok::<(), autoactivator_exam::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Published {
    /// Its name: that of the file.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl Published {
    /// The experiment that the file describes, with sections laid over the rest.
    pub fn experiment(&self, overlays: &[Overlay]) -> Result<Experiment, Error> {
        Experiment::parse(&self.text, overlays).map_err(|error| error.within(&self.name))
    }

    /// Its place in the paper as a word: `table-1`.
    fn place(&self) -> String {
        let place = self.experiment(&[]).map(|experiment| experiment.paper.place);
        let word = place.unwrap_or_default().to_lowercase().replace([' ', ','], "-");
        word.replace("--", "-")
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.place() == name
    }
}

macro_rules! experiments {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*]
    };
}

/// All of them.
const EXPERIMENTS: [(&str, &str); 51] = experiments![
    "mnist-reactivation",
    "mnist-consolidation",
    "mnist-consolidation-small",
    "mnist-rivals",
    "fashion-mnist-reactivation",
    "fashion-mnist-consolidation",
    "fashion-mnist-rivals",
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
    "cifar100-single-units",
    "mnist-single-units",
    "cifar100-online",
    "cifar100-nodes",
    "imagenet-r-more-nodes",
    "cifar100-base",
    "imagenet-100",
    "imagenet-1k",
    "mnist-default",
    "fashion-mnist-default",
    "cifar100-default",
    "cifar100-rivals",
    "cifar100-long-tailed",
    "cifar100-few-shot",
    "cifar100-stream",
    "mnist-recruited",
    "mnist-random",
    "mnist-density",
    "fashion-mnist-density",
    "cifar100-density",
    "mnist-thresholds",
    "fashion-mnist-thresholds",
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
pub fn choose(names: &[String]) -> Result<Vec<Published>, Error> {
    let all = published();
    if names.is_empty() {
        return Ok(all);
    }
    let mut files = Vec::new();
    for name in names {
        if is_file(Path::new(name)) {
            files.push(read(Path::new(name))?);
        } else if !all.iter().any(|experiment| experiment.is_called(name)) {
            return Err(Error::NoExperiment {
                name: name.clone(),
                places: places(&all),
                known: all.into_iter().map(|experiment| experiment.name).collect(),
            });
        }
    }
    let named = |experiment: &Published| names.iter().any(|name| experiment.is_called(name));
    Ok(all.into_iter().filter(named).chain(files).collect())
}

/// The places in the paper, each once.
fn places(all: &[Published]) -> Vec<String> {
    let mut places: Vec<String> = all.iter().map(Published::place).collect();
    places.dedup();
    places
}

fn read(path: &Path) -> Result<Published, Error> {
    Experiment::read(path, &[])?;
    let name = path.file_stem().unwrap_or(path.as_os_str());
    Ok(Published {
        name: name.to_string_lossy().into_owned(),
        text: text(path)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
                let parsed = experiment.experiment(overlays).unwrap();
                assert!(!parsed.paper.place.is_empty(), "{}", experiment.name);
                assert!(!parsed.title.is_empty(), "{}", experiment.name);
                parsed.check().unwrap();
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/experiments");
        let files = std::fs::read_dir(folder).unwrap();
        let name = |path: std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut on_disk: Vec<String> = files.map(|file| name(file.unwrap().path())).collect();
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
