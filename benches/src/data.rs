//! Rows to measure on: data sets by name, or generated rows where only the shape matters.

use std::path::Path;

use anyhow::{Result, ensure};
use autoactivator::math::{Random, Stream};
use autoactivator::{Labels, Table};
use autoactivator_data::dataset::{self, Dataset, Split};
use serde::Deserialize;

/// Which rows.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Hash)]
#[serde(untagged, deny_unknown_fields)]
pub enum DataSpec {
    /// A data set, or the first training rows of each of its classes.
    Named {
        /// Name or path.
        set: String,
        /// Maximum number of training rows per class; all if not given.
        rows_per_class: Option<usize>,
    },
    /// Classes around random centres, with as many test rows as training rows.
    Generated {
        /// Rows to learn from.
        rows: usize,
        /// Number of features.
        features: usize,
        /// Number of classes.
        classes: usize,
        /// Determines the centres and the rows: classes of another seed are other classes.
        #[serde(default)]
        seed: u64,
    },
}

impl DataSpec {
    /// Reads or makes the rows.
    pub fn open(&self, data_dir: Option<&Path>) -> Result<Dataset> {
        match *self {
            Self::Named {
                ref set,
                rows_per_class,
            } => {
                let mut dataset = dataset::open(set, data_dir)?;
                if let Some(most) = rows_per_class {
                    dataset.train = first_of_each_class(&dataset.train, most);
                }
                Ok(dataset)
            }
            Self::Generated {
                rows,
                features,
                classes,
                seed,
            } => generate(rows, features, classes, seed),
        }
    }
}

fn first_of_each_class(split: &Split, most: usize) -> Split {
    let mut taken = vec![0; split.y.names().len()];
    let mut is_taken = |code: u32| {
        let taken = &mut taken[code as usize];
        *taken += 1;
        *taken <= most
    };
    let rows: Vec<usize> = (0..split.y.len())
        .filter(|&row| is_taken(split.y.codes()[row]))
        .collect();
    Split {
        x: split.x.rows().gather(&rows),
        y: split.y.gather(&rows),
    }
}

/// Rows from each class in turn, with values mostly within [0, 1], like pixels.
fn generate(rows: usize, features: usize, classes: usize, seed: u64) -> Result<Dataset> {
    ensure!(
        classes >= 2 && rows >= classes,
        "{rows} rows of {classes} classes: ask for at least 2 classes and a row of each"
    );
    let mut random = Random::new(seed, Stream::Pool { layer: 0 });
    let centres: Vec<f32> = (0..classes * features).map(|_| random.symmetric(0.5)).collect();
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let mut split = || -> Result<Split> {
        let mut values = Vec::with_capacity(rows * features);
        for row in 0..rows {
            let centre = &centres[row % classes * features..][..features];
            values.extend(
                centre
                    .iter()
                    .map(|c| 0.5 + 0.5 * c + 0.25 * random.symmetric(1.0)),
            );
        }
        let codes = (0..rows).map(|row| (row % classes) as u32).collect();
        Ok(Split {
            x: Table::new(values, features)?,
            y: Labels::new(names.clone(), codes)?,
        })
    };
    Ok(Dataset {
        name: format!("generated {rows} x {features}, {classes} classes"),
        train: split()?,
        test: split()?,
        image: None,
    })
}
