//! `autoactivator reproduce`: repeats the paper's tables and figures, and shows the results beside the printed ones.
//!
//! Choose experiments ([`choose`]) → see which data is here → compute what is not in the [`store`] → show it with
//! [`autoactivator_exam::report::reproduction`]. The exam is the same as in `autoactivator run`.

mod args;
mod docs;
mod progress;
mod store;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use autoactivator::{Check, ReactivationParams, write_atomically};
use autoactivator_data::dataset::Dataset;
use autoactivator_exam::experiment::{Experiment, Overlay, Published, choose};
use autoactivator_exam::given::given;
use autoactivator_exam::report::reproduction::{
    Drawing, Reproduced, Reproduction, Status, html, markdown, summary,
};
use autoactivator_exam::run::{Entrant, Exam};
use autoactivator_exam::t_sne::embed;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub use args::ReproduceArgs;
use progress::ReproduceBar;
use store::{Key, Store};

use crate::args::DataArgs;
use crate::dataset;
use crate::image_args::ImageArgs;
use crate::interrupt;
use crate::terminal;

/// Training and test rows with `--quick`.
const QUICK_ROWS: (usize, usize) = (10_000, 2_000);

/// An experiment, whether it can be run, and on which data.
struct Plan {
    name: String,
    experiment: Experiment,
    /// The data set that the experiment asks for.
    asked: String,
    stand_in: bool,
    /// Why it cannot be run, and what to do about it.
    not_run: Option<String>,
}

pub fn reproduce(args: &ReproduceArgs) -> Result<()> {
    let chosen = choose(&args.names)?;
    if args.list {
        return list(&chosen);
    }
    if let Some(document) = &args.write_docs {
        docs::check(document)?;
    }
    let plans = chosen
        .iter()
        .map(|published| plan(published, args))
        .collect::<Result<Vec<Plan>>>()?;
    tell_what_is_missing(&plans);
    let folder = args.folder();
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let reproduction = Reproduction {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        quick: args.quick,
        experiments: compute(plans, args, &Store::new(&folder))?,
    };
    deliver(&reproduction, args, &folder)
}

fn list(chosen: &[Published]) -> Result<()> {
    let mut stdout = terminal::stdout();
    for published in chosen {
        let experiment = published.experiment(&[])?;
        let place = &experiment.paper.place;
        writeln!(
            stdout,
            "{:<38}  {place:<24}  {}",
            published.name, experiment.title
        )?;
    }
    Ok(())
}

fn plan(published: &Published, args: &ReproduceArgs) -> Result<Plan> {
    let parse = |overlays: &[Overlay]| -> Result<Experiment> {
        let experiment = published.experiment(overlays)?;
        experiment.check().with_context(|| published.name.clone())?;
        Ok(experiment)
    };
    let quick: &[Overlay] = if args.quick { &[Overlay::Quick] } else { &[] };
    let mut experiment = parse(quick)?;
    let asked = experiment.dataset.clone();
    let missing = dataset::missing(&experiment, &args.data);
    let stand_in = missing.is_some() && Experiment::has_stand_in(&published.text);
    if stand_in {
        experiment = parse(&[quick, &[Overlay::StandIn]].concat())?;
    }
    if args.quick {
        experiment.seeds = 1;
    }
    Ok(Plan {
        name: published.name.clone(),
        experiment,
        asked,
        stand_in,
        not_run: missing,
    })
}

/// Reports each missing data set once, and what happens instead.
fn tell_what_is_missing(plans: &[Plan]) {
    let mut told: Vec<&str> = Vec::new();
    for plan in plans {
        if let Some(missing) = &plan.not_run
            && !told.contains(&missing.as_str())
        {
            told.push(missing);
            let instead = if plan.stand_in {
                format!("the built-in digits stand in for {}", plan.asked)
            } else {
                "not run".to_owned()
            };
            say!("missing: {missing} ({instead})");
        }
    }
}

impl Plan {
    fn can_run(&self) -> bool {
        self.not_run.is_none() || self.stand_in
    }

    /// What its rows depend on.
    fn rows(&self) -> (String, Vec<String>) {
        (self.experiment.dataset.clone(), self.experiment.backbones.clone())
    }

    /// Expected seconds for all sittings.
    fn seconds(&self) -> f64 {
        let one: f64 = self.experiment.contenders.iter().map(|c| c.seconds).sum();
        if self.can_run() {
            one * self.experiment.seeds as f64
        } else {
            0.0
        }
    }
}

/// Computes what is not in the store yet, data set by data set.
fn compute(plans: Vec<Plan>, args: &ReproduceArgs, store: &Store) -> Result<Vec<Reproduced>> {
    let mut order: Vec<usize> = (0..plans.len()).collect();
    order.sort_by_key(|&place| plans[place].rows());
    let mut bar = ReproduceBar::new(plans.iter().map(Plan::seconds).sum());
    let mut open: Option<((String, Vec<String>), Dataset)> = None;
    let mut statuses: Vec<Option<Status>> = plans.iter().map(|_| None).collect();
    for (nth, &place) in order.iter().enumerate() {
        let plan = &plans[place];
        if !plan.can_run() {
            continue;
        }
        let rows = plan.rows();
        if open.as_ref().is_none_or(|(open, _)| *open != rows) {
            // Free the previous data set before the next one is read.
            drop(open.take());
            let data = open_data(plan, args).with_context(|| plan.name.clone())?;
            open = Some((rows, data));
        }
        let Some((_, data)) = &open else { continue };
        let status = examine(plan, data, store, &mut bar).with_context(|| plan.name.clone());
        if status.is_err() {
            bar.finish();
            if interrupt::requested() {
                say!("what is done is kept: the same command goes on from there");
            }
        }
        statuses[place] = Some(status?);
        let left = bar.left().map_or_else(String::new, |left| format!(", {left}"));
        bar.tell(&format!(
            "{}: done, {} of {}{left}",
            plan.name,
            nth + 1,
            order.len()
        ));
    }
    bar.finish();
    let results = plans.into_iter().zip(statuses);
    Ok(results.map(|(plan, status)| reproduced(plan, status)).collect())
}

fn open_data(plan: &Plan, args: &ReproduceArgs) -> Result<Dataset> {
    let images = ImageArgs {
        backbones: dataset::backbones(&plan.experiment, &args.data)?,
        ..ImageArgs::default()
    };
    let data: &DataArgs = &args.data;
    let dataset = dataset::open(&plan.experiment.dataset, &images, data)?;
    Ok(if args.quick {
        dataset.thinned(QUICK_ROWS.0, QUICK_ROWS.1)
    } else {
        dataset
    })
}

fn examine(plan: &Plan, data: &Dataset, store: &Store, bar: &mut ReproduceBar) -> Result<Status> {
    let exam = plan.experiment.exam(data)?;
    if let Some(drawing) = drawing(plan, &exam, store, bar)? {
        return Ok(Status::Drawn {
            drawing,
            data: exam.dataset_record(),
            scenario: exam.scenario_label(),
            stand_in: plan.stand_in,
        });
    }
    let mut sittings = Vec::new();
    for (entrant, contender) in exam.entrants.iter().zip(&plan.experiment.contenders) {
        let mut of_entrant = Vec::new();
        for &seed in &exam.seeds {
            bar.begin(&plan.name, contender.seconds);
            let key = store.key(&plan.name, &entrant.name, seed, settings(&exam, entrant));
            of_entrant.push(kept_or(&key, bar, |bar| Ok(exam.sit(entrant, seed, bar)?))?);
        }
        sittings.push(of_entrant);
    }
    Ok(Status::Examined {
        record: Box::new(exam.record(&sittings)),
        stand_in: plan.stand_in,
    })
}

/// Loads the result stored under a key, or computes and stores it.
fn kept_or<T>(
    key: &Key,
    bar: &mut ReproduceBar,
    compute: impl FnOnce(&mut ReproduceBar) -> Result<T>,
) -> Result<T>
where
    T: Serialize + DeserializeOwned,
{
    if let Some(kept) = key.load() {
        bar.end(false);
        return Ok(kept);
    }
    let result = compute(bar)?;
    key.save(&result)?;
    bar.end(true);
    Ok(result)
}

/// Everything that a sitting depends on, except its seed.
fn settings(exam: &Exam<'_>, entrant: &Entrant<'_>) -> Value {
    let protocols: Vec<String> = exam.protocols.iter().map(ToString::to_string).collect();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "dataset": exam.dataset_record(),
        "scenario": exam.scenario_label(),
        "protocols": protocols,
        "parameters": entrant.parameters,
    })
}

/// What an experiment draws instead of examining.
fn drawing(plan: &Plan, exam: &Exam<'_>, store: &Store, bar: &mut ReproduceBar) -> Result<Option<Drawing>> {
    let Some((entrant, contender)) = exam.entrants.first().zip(plan.experiment.contenders.first()) else {
        return Ok(None);
    };
    let (data, scenario) = (exam.dataset, &exam.scenario);
    let params = |seed| {
        let params = contender.reactivation.clone();
        ReactivationParams { seed, ..params }.check()
    };
    let key = |rows: usize, seed| {
        let mut settings = settings(exam, entrant);
        settings["rows"] = json!(rows);
        store.key(&plan.name, &entrant.name, seed, settings)
    };
    if let Some(rows) = plan.experiment.pictures {
        let seed = contender.reactivation.seed;
        bar.begin(&plan.name, contender.seconds);
        let embed = |bar: &mut ReproduceBar| Ok(embed(data, scenario, params(seed)?, rows, bar)?);
        let pictures = kept_or(&key(rows, seed), bar, embed)?;
        return Ok(Some(Drawing::Representations(pictures)));
    }
    let Some(size) = plan.experiment.given_thresholds else {
        return Ok(None);
    };
    let mut orders = Vec::new();
    for &seed in &exam.seeds {
        bar.begin(&plan.name, contender.seconds);
        let given = |bar: &mut ReproduceBar| Ok(given(data, scenario, params(seed)?, size, bar)?);
        orders.push(kept_or(&key(size, seed), bar, given)?);
    }
    Ok(Some(Drawing::GivenThresholds(orders)))
}

fn reproduced(plan: Plan, status: Option<Status>) -> Reproduced {
    let contenders = &plan.experiment.contenders;
    let quoted = contenders.iter().filter(|contender| !contender.quotes.is_empty());
    let methods = contenders.iter().filter(|contender| contender.is_method());
    Reproduced {
        name: plan.name,
        dataset: plan.asked,
        quotes: quoted.map(|c| (c.name.clone(), c.quotes.clone())).collect(),
        methods: methods.map(|c| c.name.clone()).collect(),
        status: status.unwrap_or_else(|| Status::NotRun(plan.not_run.unwrap_or_default())),
        title: plan.experiment.title,
        paper: plan.experiment.paper,
    }
}

fn deliver(reproduction: &Reproduction, args: &ReproduceArgs, folder: &Path) -> Result<()> {
    let tables = markdown(reproduction);
    let tables_file = folder.join("reproduction.md");
    write_atomically(&tables_file, tables.as_bytes())?;
    let page = folder.join("reproduction.html");
    write_atomically(&page, html(reproduction).as_bytes())?;
    write_pictures(reproduction, folder)?;
    if let Some(document) = &args.write_docs {
        docs::write(document, &tables)?;
        write_pictures(reproduction, document.parent().unwrap_or(Path::new("")))?;
    }
    write!(terminal::stdout(), "{}", summary(reproduction))?;
    say!("report: {}, tables: {}", page.display(), tables_file.display());
    Ok(())
}

/// The pictures that the tables refer to, beside them.
fn write_pictures(reproduction: &Reproduction, folder: &Path) -> Result<()> {
    for (name, svg) in reproduction.experiments.iter().filter_map(Reproduced::picture) {
        write_atomically(folder.join(name), svg.as_bytes())?;
    }
    Ok(())
}
