//! Which rows of a task a unit is trained on, and which it is validated on.

use crate::data::{Rows, Table};
use crate::math::{Random, Stream};

/// The rows of a task, with some of each class kept for validation. Any first part of the others is a
/// stratified sample, as screening requires.
pub struct Split {
    pub train: Table,
    pub train_codes: Vec<usize>,
    pub validation: Table,
    pub validation_codes: Vec<usize>,
}

impl Split {
    /// `codes` are the places of the rows' classes among those of the unit. The unit's `name` names the random choice.
    pub fn new(
        x: Rows<'_>,
        inputs: &[usize],
        codes: &[usize],
        n_classes: usize,
        fraction: f64,
        seed: u64,
        name: usize,
    ) -> Self {
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
        for (row, &code) in codes.iter().enumerate() {
            of_class[code].push(row);
        }
        let mut random = Random::new(seed, Stream::Validation { task: name });
        let (mut train, mut validation) = (Vec::new(), Vec::new());
        for mut rows in of_class {
            random.shuffle(&mut rows);
            // At least one row of every class is trained on.
            let kept = ((rows.len() as f64 * fraction).round() as usize).min(rows.len() - 1);
            validation.extend(rows.drain(..kept));
            let n = rows.len() as f64;
            train.extend(
                rows.into_iter()
                    .enumerate()
                    .map(|(k, row)| ((k as f64 + 0.5) / n, row)),
            );
        }
        train.sort_by(|a, b| a.0.total_cmp(&b.0));
        let train: Vec<usize> = train.into_iter().map(|(_, row)| row).collect();
        validation.sort_unstable();
        let codes_of = |rows: &[usize]| rows.iter().map(|&row| codes[row]).collect();
        Self {
            train: x.gather_part(&train, inputs),
            train_codes: codes_of(&train),
            validation: x.gather_part(&validation, inputs),
            validation_codes: codes_of(&validation),
        }
    }
}
