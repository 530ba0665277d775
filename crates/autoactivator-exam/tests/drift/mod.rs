//! How often does [`Drift`] warn about quiet rows, and how soon about a new class? On real rows.
//!
//! A fifth of the classes is held back, the others are learned from the training rows. A stream is drawn from the test
//! rows: quiet ones are of known classes; in the others, one row in twenty is of one class that was held back. In the
//! suite this is done with the built-in digits, and with `AUTOACTIVATOR_DRIFT=1` also with what is in `AUTOACTIVATOR_DATA`.

use std::path::PathBuf;

use autoactivator::model::Drift;
use autoactivator::{Check, Consolidation, ConsolidationParams, Learner};
use autoactivator_data::dataset::{self, Dataset};
use autoactivator_exam::scenario::Scenario;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const STREAMS: usize = 200;
const QUIET: usize = 1000;
const SHARE: f64 = 0.05;
const SOON: u64 = 300;
const LATE: usize = 3000;

/// How well known the test rows are: those of classes that were learned, and those of each class that was not.
struct Known {
    known: Vec<f32>,
    new: Vec<Vec<f32>>,
}

fn judged(dataset: &Dataset) -> Known {
    let n_new = (dataset.n_classes() / 5).max(1);
    let known = dataset.n_classes() - n_new;
    let tasks: Scenario = format!("{known},{n_new}").parse().unwrap();
    let tasks = tasks.tasks(dataset, 0).unwrap();
    let params = ConsolidationParams::default();
    let mut learner = Consolidation::new(params.check().unwrap());
    let x = dataset.train.x.rows().gather(&tasks[0].train);
    let y = dataset.train.y.gather(&tasks[0].train);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let of = |rows: &[usize]| {
        let x = dataset.test.x.rows().gather(rows);
        learner.deployed().unwrap().known(x.rows()).unwrap()
    };
    let codes = dataset.test.y.codes();
    let new = tasks[1].classes.iter().map(|&class| {
        let rows: Vec<usize> = (0..codes.len()).filter(|&row| codes[row] == class).collect();
        of(&rows)
    });
    Known {
        known: of(&tasks[0].test),
        new: new.collect(),
    }
}

/// The number of quiet streams that are warned about, and for each of the others, after how many rows.
fn warned(rows: &Known) -> (usize, Vec<u64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let first = |stream: &[f32]| Drift::default().see(stream).map(|warning| warning.row);
    let mut quiet = 0;
    for _ in 0..STREAMS {
        let mut stream = Vec::new();
        while stream.len() < QUIET {
            let mut more = rows.known.clone();
            more.shuffle(&mut rng);
            stream.extend(more);
        }
        quiet += usize::from(first(&stream[..QUIET]).is_some());
    }
    let mut delays = Vec::new();
    for nth in 0..STREAMS {
        let class = &rows.new[nth % rows.new.len()];
        let mut stream = Vec::new();
        for _ in 0..LATE {
            let of = if rng.random_bool(SHARE) {
                class
            } else {
                &rows.known
            };
            stream.push(of[rng.random_range(0..of.len())]);
        }
        delays.push(first(&stream).unwrap_or(u64::MAX));
    }
    delays.sort_unstable();
    (quiet, delays)
}

#[test]
fn quiet_rows_are_quiet_and_new_classes_are_found() {
    let mut sets = vec![("digits".to_owned(), dataset::open("digits", None).unwrap())];
    let folder = std::env::var_os("AUTOACTIVATOR_DATA").map(PathBuf::from);
    if let (Some(folder), Some(_)) = (folder, std::env::var_os("AUTOACTIVATOR_DRIFT")) {
        for name in [
            "mnist",
            "cifar100-lite0",
            "clinc150/minilm",
            "tables/letter",
            "tables/segment",
        ] {
            let path = folder.join(name).display().to_string();
            sets.push((
                name.to_owned(),
                dataset::open(&path, None).unwrap().thinned(20_000, 10_000),
            ));
        }
    } else {
        eprintln!("other data is skipped: set AUTOACTIVATOR_DRIFT and AUTOACTIVATOR_DATA");
    }
    println!(
        "| data | quiet streams of {QUIET} warned about | a new class found within {SOON} rows | median |"
    );
    for (name, dataset) in sets {
        let (quiet, delays) = warned(&judged(&dataset));
        let soon = delays.iter().filter(|&&delay| delay <= SOON).count();
        let median = match delays[STREAMS / 2] {
            u64::MAX => format!("> {LATE}"),
            rows => rows.to_string(),
        };
        println!("| {name} | {quiet} of {STREAMS} | {soon} of {STREAMS} | {median} |");
        // What is stated: at most one false warning in 10,000 rows. Chance adds two deviations. Test rows of other data may
        // differ from training rows, as those of CLINC150 do: then a warning is no false one.
        assert!(name != "digits" || quiet <= 29, "{quiet} of {STREAMS}");
    }
}
