//! The deployed model: only the recruited nodes and their readout, which is all that prediction needs.

use super::calibration::Calibration;
use super::readout::Readout;
use super::unknown::Unknown;
use crate::data::ClassList;
use crate::data::{Labels, Rows, Table, check_rows};
use crate::error::Error;
use crate::learner::{Answer, Input, Learner, Observer, Size};
use crate::math::{Matrix, alone, argmax, argmax_among, divided};
use crate::params::Precision;
use crate::pool::Pool;

/// Rows that one thread answers at a time: enough for an efficient product, few enough for their node outputs
/// to stay in the thread's cache.
const ANSWERED_TOGETHER: usize = 512;

/// Fewer rows than this are not worth a chunk of their own.
const WORTHWHILE: usize = 32;

/// Chunks that most machines can divide among their cores.
const MANY: usize = 8;

/// The largest output of a node for a row that some node finds infinite.
const LARGEST: f32 = 1e12;

/// Recruited nodes and their readout.
#[derive(Clone, Debug, PartialEq)]
pub struct Deployed {
    /// The recruited nodes.
    pub pool: Box<dyn Pool>,
    /// Turns node outputs into scores.
    pub readout: Readout,
    /// Turns scores into probabilities.
    pub calibration: Calibration,
    /// Tells what looks like nothing learned; none if there is nothing to tell it by.
    pub unknown: Option<Unknown>,
    /// The classes, in order of arrival.
    pub classes: ClassList,
    /// What a row is.
    pub input: Input,
}

/// How one row is judged, node by node.
#[derive(Clone, Debug, PartialEq)]
pub struct Contributions {
    /// Output of each node, in the order of recruitment.
    pub outputs: Vec<f32>,
    /// Output times weight, `(n_nodes, n_classes)`.
    pub evidence: Matrix<f32>,
    /// What the score of each class begins with.
    pub biases: Vec<f32>,
}

impl Learner for Deployed {
    fn name(&self) -> &'static str {
        "deployed"
    }

    /// A deployed model has no memory to add to.
    fn learn(&mut self, _: Rows<'_>, _: &Labels, _: &mut dyn Observer) -> Result<(), Error> {
        Err(Error::NoMemory)
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn n_features(&self) -> Option<usize> {
        Some(self.pool.n_inputs())
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        let scores = self.scores(x)?;
        Ok((0..x.len()).map(|i| argmax(&scores, i) as u32).collect())
    }

    fn predict_with_probability(&self, x: Rows<'_>) -> Result<(Vec<u32>, Option<Vec<f32>>), Error> {
        let likeliest = |answer: Answer| {
            // Nothing is rejected, so every answer is a class.
            let class = answer.class.unwrap_or_default();
            (class, answer.probabilities[class as usize])
        };
        let (classes, probabilities) = self.answers(x, 0.0)?.into_iter().map(likeliest).unzip();
        Ok((classes, Some(probabilities)))
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        let scores = self.scores(x)?;
        let known = |&c: &u32| Some(c as usize).filter(|&c| c < scores.n_cols());
        let best = |i| argmax_among(&scores, i, among.iter().filter_map(known));
        let answer = |i| best(i).map(|c| c as u32).ok_or(Error::NothingLearned);
        (0..x.len()).map(answer).collect()
    }

    fn size(&self) -> Size {
        let pool = &self.pool;
        let blend = self.readout.blend.as_ref();
        let readout = self.readout.weights.values().len() + blend.map_or(0, |b| b.weights.values().len());
        let unknown = self.unknown.as_ref().map_or(0, Unknown::n_floats);
        Size {
            nodes: pool.n_nodes(),
            model_floats: pool.n_floats() + self.readout.n_floats() + unknown,
            memory_floats: 0,
            multiply_adds: pool.multiply_adds() + readout,
        }
    }
}

impl Deployed {
    /// Scores of every class, `(n_samples, n_classes)`.
    pub fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        check_rows(x, self.pool.n_inputs())?;
        let mut chunks = by_chunks(x, |rows| self.scores_of_chunk(rows));
        if chunks.len() == 1 {
            return Ok(chunks.remove(0));
        }
        let mut scores = Matrix::zeros(x.len(), self.classes.len());
        for c in 0..scores.n_cols() {
            let mut places = scores.col_mut(c);
            for chunk in &chunks {
                let place;
                (place, places) = places.split_at_mut(chunk.n_rows());
                place.copy_from_slice(chunk.col(c));
            }
        }
        Ok(scores)
    }

    fn scores_of_chunk(&self, rows: Rows<'_>) -> Matrix<f32> {
        let (_, evidence) = self.evidence(rows);
        self.readout.scores(evidence)
    }

    /// Node outputs and evidence of rows. Rows may lie so far from all that was learned that outputs are infinite; such outputs
    /// are as large as they need to be, so that there is an answer.
    fn evidence(&self, rows: Rows<'_>) -> (Table, Matrix<f32>) {
        let mut h = self.pool.outputs(rows, Precision::F32);
        let mut evidence = self.readout.evidence(h.rows().into());
        if !evidence.values().iter().all(|v| v.is_finite()) {
            h.for_each_row(|row| row.iter_mut().for_each(|v| *v = bounded(*v)));
            evidence = self.readout.evidence(h.rows().into());
        }
        (h, evidence)
    }

    /// What every node adds to the score of every class for one row; these and the biases sum up to the scores.
    pub fn contributions(&self, row: &[f32]) -> Result<Contributions, Error> {
        let row = Rows::new(row, row.len())?;
        check_rows(row, self.pool.n_inputs())?;
        let outputs = self.pool.outputs(row, Precision::F32).into_values();
        let (weights, biases) = self.readout.in_one_step();
        let evidence = Matrix::from_fn(outputs.len(), weights.n_cols(), |j, c| {
            outputs[j] * weights[(j, c)]
        });
        Ok(Contributions {
            outputs,
            evidence,
            biases,
        })
    }

    /// Refuses to answer "unknown" as long as there is nothing to tell known rows from others by.
    pub fn check_rejects(&self) -> Result<(), Error> {
        if self.classes.len() < 2 {
            let reason = "the model knows only one class; learn a second one";
            return Err(Error::CannotReject { reason });
        }
        if self.unknown.is_none() && !self.calibration.has_highest() {
            let reason = "the model keeps no rows to judge by, or only one of each class; learn more rows";
            return Err(Error::CannotReject { reason });
        }
        Ok(())
    }

    /// How well known each row is: the share of known rows that are at least as strange. Refused as long as the model
    /// cannot tell.
    pub fn known(&self, x: Rows<'_>) -> Result<Vec<f32>, Error> {
        check_rows(x, self.pool.n_inputs())?;
        let Some(unknown) = &self.unknown else {
            let reason = "the model keeps no rows to judge by, or is older; learn rows with a new one";
            return Err(Error::CannotReject { reason });
        };
        let shares = by_chunks(x, |rows| {
            let (h, evidence) = self.evidence(rows);
            unknown.shares(h.rows(), &evidence)
        });
        Ok(shares.concat())
    }

    /// Class and probabilities of each row; "unknown" where at most a share `reject` of known rows is as strange.
    /// Refuses a `reject` above 0 as long as the model cannot tell.
    pub fn answers(&self, x: Rows<'_>, reject: f64) -> Result<Vec<Answer>, Error> {
        check_rows(x, self.pool.n_inputs())?;
        if reject > 0.0 {
            self.check_rejects()?;
        }
        Ok(by_chunks(x, |rows| self.answers_to_chunk(rows, reject)).concat())
    }

    fn answers_to_chunk(&self, x: Rows<'_>, reject: f64) -> Vec<Answer> {
        let (h, evidence) = self.evidence(x);
        let unknown = self.unknown.as_ref().filter(|_| reject > 0.0);
        let shares = unknown.map(|unknown| unknown.shares(h.rows(), &evidence));
        let scores = self.readout.scores(evidence);
        let threshold = self.calibration.threshold(reject);
        let answer = |i: usize| {
            let row: Vec<f32> = (0..scores.n_cols()).map(|c| scores[(i, c)]).collect();
            let probabilities = self.calibration.probabilities(&row);
            let class = argmax(&scores, i);
            let share = shares.as_ref().map(|shares| shares[i]);
            let known = share.map_or(row[class] >= threshold, |share| share > reject as f32);
            Answer {
                class: known.then_some(class as u32),
                probabilities,
                known: share,
            }
        };
        (0..x.len()).map(answer).collect()
    }
}

fn bounded(output: f32) -> f32 {
    if output.is_nan() {
        0.0
    } else {
        output.clamp(-LARGEST, LARGEST)
    }
}

/// What `answer` says of each chunk of rows, all of nearly the same size. With enough chunks, each thread answers chunks
/// of its own; otherwise the products of a chunk use all threads.
fn by_chunks<'a, T: Send>(x: Rows<'a>, answer: impl Fn(Rows<'a>) -> T + Send + Sync) -> Vec<T> {
    let at_a_time = x.len().div_ceil(n_chunks(x.len()));
    let chunks: Vec<Rows<'a>> = x.chunks(at_a_time).collect();
    if chunks.len() < rayon::current_num_threads() {
        return chunks.into_iter().map(answer).collect();
    }
    divided(chunks, |rows| alone(|| answer(rows)))
}

/// In how many chunks rows are answered: for few of them a power of two, which most machines can divide among their
/// cores. It depends on nothing else, so that the number of threads changes no bit.
fn n_chunks(n_rows: usize) -> usize {
    let worthwhile = n_rows / WORTHWHILE;
    if worthwhile < MANY {
        1 << worthwhile.max(1).ilog2()
    } else {
        n_rows.div_ceil(ANSWERED_TOGETHER).next_multiple_of(MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consolidation::{Consolidation, ConsolidationParams};
    use crate::math::{Random, Stream};
    use crate::params::Check;
    use crate::pool::{PoolSpec, UniformSpec};

    #[test]
    fn rows_are_divided_by_their_number_alone() {
        let few: Vec<usize> = [0, 1, 63, 64, 127, 128, 255].map(n_chunks).into();
        assert_eq!(few, [1, 1, 1, 2, 2, 4, 4]);
        for n_rows in [256, 4096, 4097, 10_000, 100_003] {
            let chunks = n_chunks(n_rows);
            assert!(chunks.is_multiple_of(MANY) && n_rows.div_ceil(chunks) <= ANSWERED_TOGETHER);
        }
    }

    #[test]
    fn answers_depend_neither_on_the_number_of_threads_nor_on_how_rows_are_divided() {
        let mut random = Random::new(3, Stream::Pool { layer: 0 });
        let values: Vec<f32> = (0..600 * 12).map(|_| random.symmetric(1.0)).collect();
        let x = Rows::new(&values, 12).unwrap();
        let nodes = UniformSpec {
            nodes: 150,
            ..UniformSpec::default()
        };
        let params = ConsolidationParams {
            pool: Some(PoolSpec::Uniform(nodes)),
            ..ConsolidationParams::default()
        };
        let mut learner = Consolidation::new(params.check().unwrap());
        let names: Vec<String> = (0..90).map(|i| (i % 3).to_string()).collect();
        let taught = Rows::new(&values[..90 * 12], 12).unwrap();
        let labels = Labels::from_names(names.iter().map(String::as_str));
        learner.learn(taught, &labels, &mut ()).unwrap();
        let model = learner.deployed().unwrap();
        let one_by_one: Vec<Matrix<f32>> = x.chunks(1).map(|row| model.scores(row).unwrap()).collect();
        for n_rows in [1, 31, 33, 64, 65, 130, 300, 600] {
            let x = Rows::new(&values[..n_rows * 12], 12).unwrap();
            let expected = alone(|| model.scores(x).unwrap());
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let found = pool.unwrap().install(|| model.scores(x).unwrap());
                assert!(expected == found, "{n_rows} rows on {threads} threads");
            }
            for (i, scores) in one_by_one.iter().take(n_rows).enumerate() {
                let wrong = |c| (expected[(i, c)] - scores[(0, c)]).abs() > 1e-4;
                assert!(!(0..3).any(wrong), "row {i} of {n_rows}");
            }
        }
    }
}
