//! What do units make of rows, seen by eye? t-SNE of the raw inputs and of the outputs of all units after each task.
//!
//! [`embed`] grows the units and gives one [`Picture`] before and one after each task. Nobody tells which unit is whose:
//! a row's representation is the outputs of all units so far, side by side.
//!
//! ```
//! use autoactivator::{Check, ReactivationParams};
//! use autoactivator_data::dataset;
//! use autoactivator_exam::t_sne::embed;
//!
//! let digits = dataset::open("digits", None)?.thinned(300, 200);
//! let params = ReactivationParams { t_max: 5, l_max: 20, ..ReactivationParams::default() };
//! let pictures = embed(&digits, &"10/2".parse()?, params.check()?, 150, &mut ())?;
//! assert_eq!(pictures[0].title, "raw inputs");
//! assert_eq!(pictures[0].places.len(), pictures[0].classes.len());
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use autoactivator::{Checked, Error as MethodError, Learner, Reactivation, ReactivationParams, Rows};
use bhtsne::tSNE;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::run::{Progress, Relay};
use crate::scenario::{Scenario, Task};
use autoactivator_data::dataset::Dataset;

/// How many neighbours a row roughly has.
const PERPLEXITY: f32 = 20.0;

/// The fewest rows that [`PERPLEXITY`] makes sense for.
const FEWEST: usize = 70;

/// One picture: a place in the plane for each row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Picture {
    /// What was embedded.
    pub title: String,
    /// Where each row lies.
    pub places: Vec<[f32; 2]>,
    /// The class of each row.
    pub classes: Vec<String>,
}

/// The pictures of one run on about `n_rows` test rows; those after early tasks show the rows of their classes only,
/// and are left out where these are too few.
pub fn embed(
    dataset: &Dataset,
    scenario: &Scenario,
    params: Checked<ReactivationParams>,
    n_rows: usize,
    progress: &mut dyn Progress,
) -> Result<Vec<Picture>, Error> {
    let seed = params.seed;
    let tasks = scenario.tasks(dataset, seed)?;
    let mut learner = Reactivation::new(params);
    let shown = shown(&tasks, n_rows);
    let test = dataset.test.x.rows();
    let mut pictures = vec![picture(
        "raw inputs".to_owned(),
        dataset,
        &shown.concat(),
        test.n_features(),
        |rows| Ok(test.gather(rows).into_values()),
    )?];
    for (t, task) in tasks.iter().enumerate() {
        progress.task("t-sne", seed, t + 1, tasks.len());
        let x = dataset.train.x.rows().gather(&task.train);
        let y = dataset.train.y.gather(&task.train);
        learner.learn(x.rows(), &y, &mut Relay(progress))?;
        let width = learner.units().iter().map(|unit| unit.classes.len()).sum();
        let title = format!("outputs of {} after task {}", units(t + 1), t + 1);
        pictures.push(picture(title, dataset, &shown[..=t].concat(), width, |rows| {
            Ok(side_by_side(&learner, test.gather(rows).rows()))
        })?);
        if progress.interrupted() {
            return Err(MethodError::Interrupted.into());
        }
    }
    pictures.retain(|picture| !picture.places.is_empty());
    Ok(pictures)
}

fn units(n: usize) -> String {
    if n == 1 {
        "one unit".to_owned()
    } else {
        format!("{n} units")
    }
}

/// Evenly spaced test rows of each task.
fn shown(tasks: &[Task], n_rows: usize) -> Vec<Vec<usize>> {
    let total: usize = tasks.iter().map(|task| task.test.len()).sum();
    let step = total.div_ceil(n_rows.max(1)).max(1);
    let of_task = |task: &Task| task.test.iter().copied().step_by(step).collect();
    tasks.iter().map(of_task).collect()
}

/// The outputs of all units, row by row.
fn side_by_side(learner: &Reactivation, x: Rows<'_>) -> Vec<f32> {
    let units = learner.units();
    let outputs: Vec<_> = units.iter().map(|unit| unit.outputs(x.into(), units)).collect();
    let row = |i: usize| {
        outputs
            .iter()
            .flat_map(move |unit| (0..unit.n_cols()).map(move |c| unit[(i, c)]))
    };
    (0..x.len()).flat_map(row).collect()
}

fn picture(
    title: String,
    dataset: &Dataset,
    rows: &[usize],
    width: usize,
    values: impl Fn(&[usize]) -> Result<Vec<f32>, Error>,
) -> Result<Picture, Error> {
    let (places, shown) = if rows.len() < FEWEST {
        (Vec::new(), &[][..])
    } else {
        (t_sne(&values(rows)?, width), rows)
    };
    let class = |&row: &usize| dataset.test.y.name(row).to_owned();
    Ok(Picture {
        title,
        places,
        classes: shown.iter().map(class).collect(),
    })
}

/// The exact method from a fixed start, on one thread: sums in another order would give another picture.
fn t_sne(values: &[f32], width: usize) -> Vec<[f32; 2]> {
    let rows: Vec<&[f32]> = values.chunks(width.max(1)).collect();
    let fit = || {
        let mut t_sne: tSNE<'_, f32, &[f32]> = tSNE::new(&rows);
        t_sne.perplexity(PERPLEXITY).initial_embedding(start(rows.len()));
        t_sne.exact(|a, b| a.iter().zip(*b).map(|(a, b)| (a - b).powi(2)).sum());
        t_sne.embedding()
    };
    // If that thread cannot be started, the shared ones have to do.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let places = one.map_or_else(|_| fit(), |one| one.install(fit));
    places.chunks_exact(2).map(|place| [place[0], place[1]]).collect()
}

/// A small sunflower: rows start apart, in no order that their classes would have.
fn start(n: usize) -> Vec<f32> {
    let golden = 2.399_963_2_f32;
    let place = |i: usize| {
        let (sin, cos) = (golden * i as f32).sin_cos();
        let radius = 1e-2 * ((i + 1) as f32 / n as f32).sqrt();
        [radius * cos, radius * sin]
    };
    (0..n).flat_map(place).collect()
}

#[cfg(test)]
mod tests {
    use autoactivator::Check;

    use super::*;
    use autoactivator_data::dataset as data;

    struct Quiet;

    impl Progress for Quiet {
        fn task(&mut self, _: &str, _: u64, _: usize, _: usize) {}
        fn grown(&mut self, _: &autoactivator::Step) {}
        fn observed(&mut self, _: usize, _: Option<usize>) {}
        fn interrupted(&self) -> bool {
            false
        }
    }

    #[test]
    fn pictures_are_always_the_same_and_show_classes_apart() {
        let digits = data::open("digits", None).unwrap();
        let scenario: Scenario = "10/2".parse().unwrap();
        let params = ReactivationParams {
            t_max: 3,
            l_max: 50,
            ..ReactivationParams::default()
        };
        let embed = || {
            embed(
                &digits,
                &scenario,
                params.clone().check().unwrap(),
                300,
                &mut Quiet,
            )
            .unwrap()
        };
        let pictures = embed();
        assert_eq!(pictures, embed());
        let titles: Vec<&str> = pictures.iter().map(|picture| picture.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "raw inputs",
                "outputs of one unit after task 1",
                "outputs of 2 units after task 2"
            ]
        );
        let neighbours = |picture: &Picture| {
            let nearest = |i: usize| {
                let [x, y] = picture.places[i];
                let distance = |j: &usize| (picture.places[*j][0] - x).hypot(picture.places[*j][1] - y);
                let others = (0..picture.places.len()).filter(|&j| j != i);
                others.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
            };
            let same = |&i: &usize| picture.classes[i] == picture.classes[nearest(i)];
            (0..picture.places.len()).filter(same).count() as f64 / picture.places.len() as f64
        };
        assert!(neighbours(&pictures[0]) > 0.7, "{}", neighbours(&pictures[0]));
        assert!(neighbours(&pictures[1]) > 0.7, "{}", neighbours(&pictures[1]));
    }

    #[test]
    fn too_few_rows_give_no_picture() {
        let digits = data::open("digits", None).unwrap();
        let params = ReactivationParams {
            t_max: 1,
            l_max: 10,
            ..ReactivationParams::default()
        };
        let pictures = embed(
            &digits,
            &"10/5".parse().unwrap(),
            params.check().unwrap(),
            20,
            &mut Quiet,
        );
        assert_eq!(pictures.unwrap(), []);
    }
}
