//! `autoactivator predict`: the class of each row as CSV on stdout; how many were right on stderr, when rows carry
//! their class.

use std::io::{BufWriter, Write};

use anyhow::Result;
use autoactivator::{Error, Labels, Learner, Model, Rows};
use cil::data::{self, Part};

use crate::args::{GroupSize, PredictArgs};

pub fn predict(args: &PredictArgs) -> Result<()> {
    let model = Model::load(&args.model)?;
    let learner = model.learner();
    let n_features = learner.n_features().ok_or(Error::NothingLearned)?;
    let (x, y) =
        data::read_maybe_labelled(&args.rows, args.data.data_dir.as_deref(), Part::Test, n_features)?;
    let predicted = predict_groups(learner, x.rows(), args.group)?;
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    writeln!(stdout, "row,class")?;
    for (row, &place) in predicted.iter().enumerate() {
        writeln!(stdout, "{row},{}", quoted(&learner.classes()[place as usize]))?;
    }
    stdout.flush()?;
    if let Some(y) = y {
        let right = right(learner, &predicted, &y);
        let percent = 100.0 * right as f64 / y.len().max(1) as f64;
        eprintln!("{right} of {} rows right ({percent:.2} %)", y.len());
    }
    Ok(())
}

fn predict_groups(learner: &dyn Learner, x: Rows<'_>, group: GroupSize) -> Result<Vec<u32>, Error> {
    match group {
        GroupSize::Rows(1) => learner.predict(x),
        GroupSize::All => learner.predict_group(x),
        GroupSize::Rows(rows) => {
            let groups: Result<Vec<_>, _> =
                x.chunks(rows).map(|group| learner.predict_group(group)).collect();
            Ok(groups?.concat())
        }
    }
}

fn right(learner: &dyn Learner, predicted: &[u32], y: &Labels) -> usize {
    let is_right = |(row, &place): (usize, &u32)| learner.classes()[place as usize] == y.name(row);
    predicted
        .iter()
        .enumerate()
        .filter(|&pair| is_right(pair))
        .count()
}

/// A CSV field, quoted when it has to be.
fn quoted(name: &str) -> String {
    if name.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
