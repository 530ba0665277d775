//! Experiment files: one exam written down, so that a figure names the file that prints it.
//!
//! [`Experiment::parse`] reads one, with parts of it laid over the rest when asked ([`Overlay`]); what learners it names
//! become [`Contender`]s.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::{ConsolidationParams, ReactivationParams};
use autoactivator_data::dataset::Dataset;
use autoactivator_exam::contender::{Contender, LearnerKind};
use autoactivator_exam::experiment::{entered, protocols, scenario_for, seeds};
use autoactivator_exam::paper::Paper;
use autoactivator_exam::protocol::Protocol;
use autoactivator_exam::run::Exam;
use autoactivator_exam::scenario::Scenario;
use serde::Deserialize;
use toml::{Table, Value};

use crate::args::RunArgs;
use crate::entrant::EntrantSection;
use crate::given::{self, laid_over};

/// What is examined, and how.
#[derive(Debug)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Data set by name or path.
    pub dataset: String,
    /// Backbones that turn its images into features, by path or by name in a data directory.
    pub backbones: Vec<String>,
    /// How the data is got when no command fetches it.
    pub how_to_get: String,
    /// How classes become tasks; what suits the data when nobody said.
    pub tasks: Option<Scenario>,
    /// One pass over all rows in random order.
    pub online: bool,
    /// How rows are shown.
    pub protocols: Vec<Protocol>,
    /// Number of runs.
    pub seeds: u64,
    /// Draw the representations of so many test rows, instead of an exam.
    pub pictures: Option<usize>,
    /// Who is examined.
    pub contenders: Vec<Contender>,
    /// What the paper prints.
    pub paper: Paper,
    /// Everything that the file says, for learners that only the command line names.
    file: Table,
}

/// Parts of an experiment file that are laid over the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// `[quick]`: for a quick look.
    Quick,
    /// `[stand_in]`: the built-in data in place of data that is not here.
    StandIn,
}

impl Overlay {
    fn key(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::StandIn => "stand_in",
        }
    }
}

/// An experiment file as it is written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    title: String,
    dataset: String,
    backbones: Vec<String>,
    how_to_get: String,
    tasks: Option<String>,
    online: bool,
    learners: Vec<LearnerKind>,
    entrants: Vec<EntrantSection>,
    protocols: Vec<String>,
    seeds: u64,
    /// Roughly what one run of one learner takes, for the time left.
    seconds: f64,
    pictures: Option<usize>,
    reactivation: ReactivationParams,
    consolidation: ConsolidationParams,
    paper: Paper,
    quick: Table,
    stand_in: Table,
}

impl Default for File {
    fn default() -> Self {
        Self {
            title: String::new(),
            dataset: "digits".to_owned(),
            backbones: Vec::new(),
            how_to_get: String::new(),
            tasks: None,
            online: false,
            learners: Vec::new(),
            entrants: Vec::new(),
            protocols: Vec::new(),
            seeds: 5,
            seconds: 5.0,
            pictures: None,
            reactivation: ReactivationParams::default(),
            consolidation: ConsolidationParams::default(),
            paper: Paper::default(),
            quick: Table::new(),
            stand_in: Table::new(),
        }
    }
}

impl Experiment {
    /// The experiment that a command line asks for.
    pub fn new(args: &RunArgs) -> Result<Self> {
        let path = Path::new(&args.dataset);
        let mut experiment = if path.extension().is_some_and(|e| e == "toml") {
            Self::read(path)?
        } else {
            let mut experiment = Self::parse("", &[])?;
            experiment.dataset.clone_from(&args.dataset);
            experiment
        };
        experiment.apply(args)?;
        Ok(experiment)
    }

    /// Reads an experiment file.
    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text, &[]).with_context(|| path.display().to_string())
    }

    /// Reads the text of an experiment file; of overlays, the last one counts.
    pub fn parse(text: &str, overlays: &[Overlay]) -> Result<Self> {
        // Read twice: the first time, errors name the line.
        let mut file: File = toml::from_str(text)?;
        let mut table: Table = toml::from_str(text)?;
        for overlay in overlays {
            if let Some(Value::Table(over)) = table.get(overlay.key()).cloned() {
                lay_over(&mut table, over);
                let place = || format!("section `{}`", overlay.key());
                file = table.clone().try_into().with_context(place)?;
            }
        }
        Self::new_from(file, &table)
    }

    /// Whether the text says what is examined when the data is not here.
    pub fn has_stand_in(text: &str) -> bool {
        toml::from_str::<Table>(text).is_ok_and(|table| table.contains_key(Overlay::StandIn.key()))
    }

    fn new_from(file: File, table: &Table) -> Result<Self> {
        seeds(0, file.seeds)?;
        let named = match (&file.learners[..], &file.entrants[..]) {
            ([], [_, ..]) => Vec::new(),
            (learners, _) => entered(learners),
        };
        let plain = named.into_iter().map(EntrantSection::plain);
        let contenders = plain
            .chain(file.entrants)
            .map(|entrant| entrant.contender(table, file.seconds))
            .collect::<Result<Vec<Contender>>>()?;
        let mut names = HashSet::new();
        if let Some(twin) = contenders.iter().find(|contender| !names.insert(&contender.name)) {
            bail!(
                "two entrants are called '{}': give each a `name` of its own",
                twin.name
            );
        }
        Ok(Self {
            title: file.title,
            dataset: file.dataset,
            backbones: file.backbones,
            how_to_get: file.how_to_get,
            tasks: file.tasks.map(|text| text.parse()).transpose()?,
            online: file.online,
            protocols: protocols(&file.protocols)?,
            seeds: file.seeds,
            pictures: file.pictures,
            contenders,
            paper: file.paper,
            file: table.clone(),
        })
    }

    /// Lets the options of the command line hold.
    fn apply(&mut self, args: &RunArgs) -> Result<()> {
        self.online |= args.online;
        self.seeds = args.seeds.unwrap_or(self.seeds);
        self.tasks = args.tasks.clone().or(self.tasks.take());
        if !args.protocols.is_empty() {
            self.protocols.clone_from(&args.protocols);
        }
        if !args.learners.is_empty() {
            let named = entered(&args.learners).into_iter().map(|kind| self.of_kind(kind));
            self.contenders = named.collect::<Result<Vec<_>>>()?.concat();
        }
        self.contenders
            .iter_mut()
            .try_for_each(|contender| apply(args, contender))
    }

    /// The contenders of a kind, or one with the parameters of the file.
    fn of_kind(&self, kind: LearnerKind) -> Result<Vec<Contender>> {
        let matching = self
            .contenders
            .iter()
            .filter(|contender| contender.learner == kind);
        let matching: Vec<Contender> = matching.cloned().collect();
        if matching.is_empty() {
            let plain = EntrantSection::plain(kind);
            return Ok(vec![plain.contender(&self.file, 1.0)?]);
        }
        Ok(matching)
    }

    /// The exam on this data, one run per seed.
    pub fn exam<'a>(&'a self, dataset: &'a Dataset, seeds: Vec<u64>) -> Result<Exam<'a>> {
        let tasks = self.tasks.clone();
        let contenders = self.contenders.iter().cloned();
        Ok(Exam {
            scenario: tasks.map_or_else(|| scenario_for(dataset.n_classes()), Ok)?,
            online: self.online,
            entrants: contenders
                .map(|contender| contender.entrant(dataset.image))
                .collect(),
            protocols: self.protocols.clone(),
            seeds,
            dataset,
        })
    }
}

/// Lets the options of the command line hold.
fn apply(args: &RunArgs, contender: &mut Contender) -> Result<()> {
    let reactivation = given::reactivation(&args.reactivation, &args.shared);
    contender.reactivation = laid_over(&contender.reactivation, &reactivation)?;
    let consolidation = given::consolidation(&args.consolidation, &args.shared);
    contender.consolidation = laid_over(&contender.consolidation, &consolidation)?;
    contender.reactivation.seed = args.seed;
    contender.consolidation.seed = args.seed;
    Ok(())
}

/// Lays one table over another: tables are laid over each other, everything else is replaced.
pub fn lay_over(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => lay_over(base, over),
            (_, value) => {
                base.insert(key, value);
            }
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
        experiment
            .contenders
            .iter()
            .map(|c| c.reactivation.t_max)
            .collect()
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
    fn what_cannot_be_meant_is_refused_with_its_place() {
        for (text, expected) in [
            ("sedes = 3", "line 1"),
            ("seeds = 0", "`seeds` is 0"),
            ("[reactivation]\nt_maxx = 1", "t_maxx"),
            ("protocols = [\"batch\"]", "not a protocol"),
            ("tasks = \"ten\"", "not a scenario"),
            ("[quick]\nsedes = 1", "section `quick`"),
            (
                "[[entrants]]\nlearner = \"reactivation\"\nreactivation.t_maxx = 1",
                "entrant 'reactivation'",
            ),
            (
                "learners = [\"nearest-mean\"]\n[[entrants]]\nlearner = \"nearest-mean\"",
                "two entrants are called 'nearest-mean'",
            ),
        ] {
            let overlays = [Overlay::Quick];
            let error = format!("{:#}", Experiment::parse(text, &overlays).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
