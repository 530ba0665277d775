//! Which exam is it? One [`Experiment`]: data, tasks, learners, protocols, runs and parameters, written down in a file.
//!
//! `file` reads it, with sections laid over the rest when asked ([`Overlay`]); `changes` lets a caller want something
//! otherwise; `published` holds the files that are part of the program. [`Experiment::exam`] is its [`Exam`] on a data set.
//!
//! ```
//! use autoactivator_data::dataset;
//! use autoactivator_exam::experiment::{Changes, Experiment};
//!
//! let mut experiment = Experiment::parse("learners = ['nearest-mean']\nprotocols = ['instance']", &[])?;
//! experiment.change(&Changes { seeds: Some(1), ..Changes::default() })?;
//! experiment.check()?;
//! let digits = dataset::open(&experiment.dataset, None)?;
//! let record = experiment.exam(&digits)?.run(&mut ())?;
//! assert!(record.results[0].aca.mean > 85.0);
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

mod changes;
mod entrant;
mod file;
mod published;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::Path;

use autoactivator_data::dataset::Dataset;
use toml::Table;

use crate::admission::{Absence, Arrival, Outline};
use crate::contender::Contender;
use crate::error::Error;
use crate::kind::LearnerKind;
use crate::paper::Paper;
use crate::protocol::{GroupSize, Protocol};
use crate::run::Exam;
use crate::scenario::Scenario;
use crate::supply::{Order, Supply};

pub use changes::{Changes, Given};
use entrant::EntrantSection;
use file::File;
pub use file::Overlay;
pub use published::{Published, choose, published};

/// What is examined, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Data set by name or path.
    pub dataset: String,
    /// Backbones that turn its images into features, by path or by name in a data directory.
    pub backbones: Vec<String>,
    /// How to get the data when no command fetches it.
    pub how_to_get: String,
    /// How classes become tasks; none is [`Scenario::for_classes`].
    pub tasks: Option<Scenario>,
    /// One pass over all rows in random order.
    pub online: bool,
    /// A stream without tasks, this many rows at a time.
    pub stream: Option<NonZeroUsize>,
    /// In which order classes come, and with how many rows.
    pub supply: Supply,
    /// How rows are shown.
    pub protocols: Vec<Protocol>,
    /// Number of runs.
    pub seeds: u64,
    /// Seed of the first run; each of the others has the next one.
    pub seed: u64,
    /// Draw pictures of this many test rows instead of evaluating.
    pub pictures: Option<usize>,
    /// Draw the given thresholds of groups of this many test rows instead of evaluating.
    pub given_thresholds: Option<usize>,
    /// Who is examined.
    pub contenders: Vec<Contender>,
    /// Who cannot take part, once the data is known.
    pub left_out: Vec<Absence>,
    /// What the paper prints.
    pub paper: Paper,
    /// Seconds that one run of a learner takes, if its section does not say.
    seconds: f64,
    /// Everything that the file says, for learners that only a caller names.
    file: Table,
}

impl Experiment {
    /// What a user names: an experiment file (`.toml`), or a data set, on which everything has its default.
    pub fn named(name: &str, overlays: &[Overlay]) -> Result<Self, Error> {
        let path = Path::new(name);
        if is_file(path) {
            return Self::read(path, overlays);
        }
        let mut experiment = Self::parse("", &[])?;
        name.clone_into(&mut experiment.dataset);
        Ok(experiment)
    }

    /// Reads an experiment file.
    pub fn read(path: &Path, overlays: &[Overlay]) -> Result<Self, Error> {
        Self::parse(&text(path)?, overlays).map_err(|error| error.within(&path.display().to_string()))
    }

    /// Reads the text of an experiment file, with sections laid over the rest in this order.
    pub fn parse(text: &str, overlays: &[Overlay]) -> Result<Self, Error> {
        let (file, table) = File::parse(text, overlays)?;
        first_seeds(0, file.seeds)?;
        let named = match (&file.learners[..], &file.entrants[..]) {
            ([], [_, ..]) => Vec::new(),
            (learners, _) => entered(learners),
        };
        let plain = named.into_iter().map(EntrantSection::plain);
        let contenders = plain
            .chain(file.entrants)
            .map(|entrant| entrant.contender(&table, file.seconds))
            .collect::<Result<Vec<Contender>, Error>>()?;
        refuse_twins(&contenders)?;
        Ok(Self {
            title: file.title,
            dataset: file.dataset,
            backbones: file.backbones,
            how_to_get: file.how_to_get,
            tasks: file.tasks,
            online: file.online,
            stream: file.stream,
            supply: Supply {
                order: file.order,
                imbalance: file.imbalance,
                shots: file.shots,
            },
            protocols: if file.protocols.is_empty() {
                Self::default_protocols()
            } else {
                file.protocols
            },
            seeds: file.seeds,
            seed: 0,
            pictures: file.pictures,
            given_thresholds: file.given_thresholds,
            contenders,
            left_out: Vec::new(),
            paper: file.paper,
            seconds: file.seconds,
            file: table,
        })
    }

    /// Protocols of an experiment that names none.
    pub fn default_protocols() -> Vec<Protocol> {
        vec![Protocol::Instance, Protocol::TaskBatch(GroupSize::All)]
    }

    /// Runs of an experiment that does not say how many.
    pub fn default_seeds() -> u64 {
        File::default().seeds
    }

    /// Whether the text says what is examined when the data is not here.
    pub fn has_stand_in(text: &str) -> bool {
        toml::from_str::<Table>(text).is_ok_and(|table| table.contains_key(Overlay::StandIn.name()))
    }

    /// Applies what a caller wants otherwise.
    pub fn change(&mut self, changes: &Changes) -> Result<(), Error> {
        self.online |= changes.online;
        self.stream = changes.stream.or(self.stream);
        self.supply = Supply {
            order: changes.order.unwrap_or(self.supply.order),
            imbalance: changes.imbalance.or(self.supply.imbalance),
            shots: changes.shots.or(self.supply.shots),
        };
        self.seeds = changes.seeds.unwrap_or(self.seeds);
        self.seed = changes.seed;
        if changes.tasks.is_some() {
            self.tasks.clone_from(&changes.tasks);
        }
        if !changes.protocols.is_empty() {
            self.protocols.clone_from(&changes.protocols);
        }
        if !changes.learners.is_empty() {
            let kinds = entered(&changes.learners).into_iter();
            let contenders = kinds.map(|kind| self.of_kind(kind));
            self.contenders = contenders.collect::<Result<Vec<_>, Error>>()?.concat();
        }
        for contender in &mut self.contenders {
            let place = format!("entrant '{}'", contender.name);
            changes
                .apply(contender)
                .map_err(|reason| Error::experiment(place, &reason))?;
        }
        Ok(())
    }

    /// The contenders of a kind, or one with the parameters of the file.
    fn of_kind(&self, kind: LearnerKind) -> Result<Vec<Contender>, Error> {
        let of_kind = |contender: &&Contender| contender.learner == kind;
        let matching: Vec<Contender> = self.contenders.iter().filter(of_kind).cloned().collect();
        if matching.is_empty() {
            let plain = EntrantSection::plain(kind).contender(&self.file, self.seconds)?;
            return Ok(vec![plain]);
        }
        Ok(matching)
    }

    /// Finds what is wrong with parameters and seeds, before any data is read.
    pub fn check(&self) -> Result<(), Error> {
        first_seeds(self.seed, self.seeds)?;
        self.supply.check()?;
        if self.online && self.stream.is_some() {
            return Err(Error::Scenario(
                "`online` and `stream` are two ways to go without tasks: choose one".to_owned(),
            ));
        }
        self.contenders.iter().try_for_each(Contender::check)
    }

    /// Refuses an experiment that draws pictures, where an exam is wanted.
    pub fn check_is_exam(&self) -> Result<(), Error> {
        match self.pictures.or(self.given_thresholds) {
            None => Ok(()),
            Some(_) => {
                let reason = "it draws pictures and evaluates nothing: give it to `autoactivator reproduce`";
                Err(Error::experiment("", &reason))
            }
        }
    }

    /// Refuses a scenario that does not fit the data, and leaves out learners that could not finish.
    ///
    /// It needs no features, so it can be called before any is computed.
    pub fn admit(&mut self, outline: &Outline) -> Result<(), Error> {
        let n_classes = outline.classes.len();
        let n_tasks = self.scenario(n_classes).task_sizes(n_classes)?.len();
        outline.check()?;
        let arrival = Arrival {
            repeats: self.stream.is_some() || (self.online && n_tasks > 1),
            streams: self.stream.is_some(),
            outline: self.supplied(outline)?,
        };
        let mut admitted = Vec::new();
        for contender in std::mem::take(&mut self.contenders) {
            match contender.obstacle(&arrival) {
                None => admitted.push(contender),
                Some(reason) => self.left_out.push(Absence {
                    learner: contender.name,
                    reason,
                }),
            }
        }
        self.contenders = admitted;
        if self.contenders.is_empty() {
            return Err(Error::Scenario(nobody(&self.left_out)));
        }
        Ok(())
    }

    /// The outline of what is learned in the first run: some rows may be left out. In natural order it is not known yet which,
    /// so it is the outline of all rows.
    fn supplied(&self, outline: &Outline) -> Result<Outline, Error> {
        let n_classes = outline.classes.len();
        let scenario = self.scenario(n_classes);
        let mut supplied = outline.clone();
        if self.supply.order != Order::Shuffled {
            return Ok(supplied);
        }
        for seed in first_seeds(self.seed, self.seeds)?.into_iter().rev() {
            let tasks = scenario.deal(n_classes, seed)?;
            let base = tasks.first().map_or(0, Vec::len);
            let order: Vec<usize> = tasks.concat().iter().map(|&class| class as usize).collect();
            let there: Vec<usize> = order.iter().map(|&class| outline.classes[class].train).collect();
            for (class, rows) in order.into_iter().zip(self.supply.rows(&there, base)?) {
                supplied.classes[class].train = rows;
            }
        }
        Ok(supplied)
    }

    /// How this many classes become tasks.
    fn scenario(&self, n_classes: usize) -> Scenario {
        let usual = || Scenario::for_classes(n_classes);
        self.tasks.clone().unwrap_or_else(usual)
    }

    /// The exam on this data, one run per seed.
    pub fn exam<'a>(&self, dataset: &'a Dataset) -> Result<Exam<'a>, Error> {
        let contenders = self.contenders.iter().cloned();
        Ok(Exam {
            dataset,
            scenario: self.scenario(dataset.n_classes()),
            supply: self.supply.clone(),
            online: self.online,
            stream: self.stream,
            entrants: contenders
                .map(|contender| contender.entrant(dataset.image))
                .collect(),
            protocols: self.protocols.clone(),
            seeds: first_seeds(self.seed, self.seeds)?,
            left_out: self.left_out.clone(),
        })
    }
}

/// Why nobody can take part.
fn nobody(left_out: &[Absence]) -> String {
    let reasons: Vec<String> = left_out
        .iter()
        .map(|absence| format!("{}: {}", absence.learner, absence.reason))
        .collect();
    format!("no learner can take part: {}", reasons.join("; "))
}

/// Whether a name is that of an experiment file.
fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "toml")
}

/// The text of an experiment file.
fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|cause| Error::experiment(path.display().to_string(), &cause))
}

/// The seeds of `n` runs from the first one on.
fn first_seeds(first: u64, n: u64) -> Result<Vec<u64>, Error> {
    if n == 0 {
        return Err(Error::Scenario("parameter `seeds` is 0: at least 1".to_owned()));
    }
    match first.checked_add(n - 1) {
        Some(last) => Ok((first..=last).collect()),
        None => Err(Error::Scenario(format!(
            "parameter `seed` is {first}: {n} runs need as many seeds from there on"
        ))),
    }
}

/// The learners that are named, each once; the usual ones when none is.
fn entered(named: &[LearnerKind]) -> Vec<LearnerKind> {
    let named = if named.is_empty() {
        &LearnerKind::USUAL
    } else {
        named
    };
    let first = |&i: &usize| !named[..i].contains(&named[i]);
    (0..named.len()).filter(first).map(|i| named[i]).collect()
}

/// Records know learners by name, so no two may have the same.
fn refuse_twins(contenders: &[Contender]) -> Result<(), Error> {
    let mut names = HashSet::new();
    match contenders.iter().find(|contender| !names.insert(&contender.name)) {
        None => Ok(()),
        Some(Contender { name, .. }) => {
            let reason = format!("two entrants are called '{name}': give each a `name` of its own");
            Err(Error::experiment("", &reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
tasks = \"10/5\"
[reactivation]
t_max = 7
r = 0.8
[[entrants]]
learner = \"reactivation\"
name = \"slow\"
[[entrants]]
learner = \"reactivation\"
name = \"fast\"
reactivation.t_max = 1
[quick]
seeds = 1
reactivation.t_max = 3
[stand_in]
tasks = \"5\"
";

    fn t_max(experiment: &Experiment) -> Vec<usize> {
        let contenders = experiment.contenders.iter();
        contenders.map(|c| c.reactivation.t_max).collect()
    }

    fn changes(json: &str) -> Changes {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn entrants_and_overlays_are_laid_over_the_rest() {
        let plain = Experiment::parse(FILE, &[]).unwrap();
        assert_eq!((t_max(&plain), plain.seeds), (vec![7, 1], 5));
        assert!(plain.contenders.iter().all(|c| c.reactivation.r == 0.8));
        let quick = Experiment::parse(FILE, &[Overlay::Quick, Overlay::StandIn]).unwrap();
        assert_eq!((t_max(&quick), quick.seeds), (vec![3, 1], 1));
        assert_eq!(quick.tasks.unwrap().to_string(), "5");
        assert!(Experiment::has_stand_in(FILE) && !Experiment::has_stand_in("seeds = 1"));
    }

    #[test]
    fn overlays_have_the_names_of_their_sections() {
        for overlay in [Overlay::Quick, Overlay::StandIn] {
            assert_eq!(overlay.name().parse::<Overlay>().unwrap(), overlay);
        }
        let error = "paper".parse::<Overlay>().unwrap_err().to_string();
        assert!(error.contains("section 'paper'"), "{error}");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        for (text, expected) in [
            ("sedes = 3", "line 1"),
            ("seeds = 0", "`seeds` is 0"),
            ("[reactivation]\nt_maxx = 1", "line 2"),
            ("[reactivation]\nt_maxx = 1", "t_maxx"),
            ("protocols = [\"batch\"]", "not a protocol"),
            ("seeds = 1\ntasks = \"ten\"", "line 2"),
            ("tasks = \"ten\"", "not a scenario"),
            ("[quick]\nsedes = 1", "section `quick`"),
            (
                "[[entrants]]\nlearner = \"reactivation\"\nreactivation.t_maxx = 1",
                "entrant 'reactivation': parameters of reactivation: unknown field `t_maxx`",
            ),
            (
                "learners = [\"nearest-mean\"]\n[[entrants]]\nlearner = \"nearest-mean\"",
                "two entrants are called 'nearest-mean'",
            ),
        ] {
            let overlays = [Overlay::Quick];
            let error = Experiment::parse(text, &overlays).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_file_is_named_in_its_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.toml");
        let name = path.to_str().unwrap();
        let error = || {
            Experiment::named(name, &[Overlay::Quick])
                .unwrap_err()
                .to_string()
        };
        assert!(error().starts_with(&format!("{name}: ")), "{}", error());
        for (text, place) in [
            ("sedes = 3", "TOML parse error at line 1"),
            ("seeds = 0", "parameter `seeds` is 0"),
            ("[quick]\nsedes = 1", "section `quick`: "),
            (
                "[[entrants]]\nlearner = \"reactivation\"\nreactivation.r = \"\"",
                "entrant 'reactivation': ",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(error().starts_with(&format!("{name}: {place}")), "{}", error());
        }
    }

    #[test]
    fn a_name_that_is_no_file_is_a_data_set() {
        let experiment = Experiment::named("mnist", &[]).unwrap();
        assert_eq!(experiment.dataset, "mnist");
        assert_eq!(experiment.contenders.len(), LearnerKind::USUAL.len());
        assert_eq!(experiment.protocols, Experiment::default_protocols());
        assert_eq!(experiment.seeds, Experiment::default_seeds());
    }

    #[test]
    fn changes_hold_for_every_learner() {
        let mut experiment = Experiment::parse(FILE, &[]).unwrap();
        let asked = r#"{"seeds": 2, "seed": 9, "protocols": ["instance"], "reactivation": {"t_max": 4}}"#;
        experiment.change(&changes(asked)).unwrap();
        assert_eq!(t_max(&experiment), [4, 4]);
        assert!(experiment.contenders.iter().all(|c| c.reactivation.r == 0.8));
        assert!(experiment.contenders.iter().all(|c| c.consolidation.seed == 9));
        assert_eq!(experiment.protocols, [Protocol::Instance]);
        assert_eq!(experiment.tasks.unwrap().to_string(), "10/5");
    }

    #[test]
    fn learners_that_are_asked_for_are_those_of_the_file_or_plain_ones() {
        let mut experiment = Experiment::parse(FILE, &[]).unwrap();
        let asked = r#"{"learners": ["nearest-mean", "reactivation", "nearest-mean"]}"#;
        experiment.change(&changes(asked)).unwrap();
        let names: Vec<&str> = experiment.contenders.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["nearest-mean", "slow", "fast"]);
    }

    #[test]
    fn changes_that_do_not_exist_are_refused() {
        for (json, expected) in [
            (r#"{"sedes": 1}"#, "unknown field `sedes`"),
            (r#"{"reactivation": {"t_maxx": 1}}"#, "unknown field `t_maxx`"),
            (r#"{"learners": ["svm"]}"#, "there is no learner 'svm'"),
            (r#"{"tasks": "ten"}"#, "not a scenario"),
        ] {
            let error = serde_json::from_str::<Changes>(json).unwrap_err().to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
    }

    #[test]
    fn parameters_and_seeds_are_checked_before_any_data_is_read() {
        let problem = |json: &str| {
            let mut experiment = Experiment::parse("", &[]).unwrap();
            experiment.change(&changes(json)).unwrap();
            experiment.check().unwrap_err().to_string()
        };
        assert_eq!(first_seeds(7, 3).unwrap(), [7, 8, 9]);
        assert!(problem(r#"{"seeds": 0}"#).contains("`seeds` is 0"));
        assert!(
            problem(r#"{"seeds": 2, "seed": 18446744073709551615}"#).contains("2 runs need as many seeds")
        );
        assert!(problem(r#"{"reactivation": {"t_max": 0}}"#).contains("`t_max` is 0"));
    }

    #[test]
    fn pictures_are_no_exam() {
        for text in ["pictures = 100", "given_thresholds = 10"] {
            let pictures = Experiment::parse(text, &[]).unwrap();
            assert!(pictures.check().is_ok() && pictures.check_is_exam().is_err());
        }
    }
}
