//! What does a vector database reach? k nearest neighbours among all rows, compared by cosine.
//!
//! It has nothing to learn and forgets nothing, but keeps every row, and compares each new one with all of them.

use autoactivator::math::{Matrix, product};
use autoactivator::{Error, Rows, Size};

use super::super::scored::{Baseline, Fit, Lesson};
use super::unit_rows;

/// k nearest neighbours.
pub type NearestNeighbours = Baseline<AllRows>;

/// Everything that [`NearestNeighbours`] has seen.
#[derive(Clone, Debug)]
pub struct AllRows {
    k: usize,
    /// Rows of length 1 as columns, `(n_features, n_rows)`.
    rows: Matrix<f32>,
    places: Vec<u32>,
    n_classes: usize,
}

impl NearestNeighbours {
    /// With so many neighbours.
    pub fn new(k: usize) -> Self {
        Self::around(AllRows {
            k,
            rows: Matrix::zeros(0, 0),
            places: Vec::new(),
            n_classes: 0,
        })
    }
}

impl AllRows {
    /// One vote for the class of each neighbour. The closest row of a class, with less than half a vote, decides between
    /// equally many.
    fn votes(&self, cosines: &[f32]) -> Vec<f32> {
        let mut votes: Vec<f32> = vec![-1.0; self.n_classes];
        for (cosine, &place) in cosines.iter().zip(&self.places) {
            let vote = &mut votes[place as usize];
            *vote = vote.max(*cosine);
        }
        votes
            .iter_mut()
            .for_each(|cosine| *cosine = 0.2 * (*cosine + 1.0));
        let mut order: Vec<usize> = (0..cosines.len()).collect();
        let k = self.k.min(order.len());
        if k < order.len() {
            order.select_nth_unstable_by(k, |&a, &b| cosines[b].total_cmp(&cosines[a]).then(a.cmp(&b)));
        }
        order[..k]
            .iter()
            .for_each(|&i| votes[self.places[i] as usize] += 1.0);
        votes
    }
}

impl Fit for AllRows {
    const NAME: &'static str = "nearest-neighbours";

    fn fit(&mut self, lesson: &Lesson<'_>) -> Result<(), Error> {
        let units = unit_rows(lesson.x)?;
        let mut rows = std::mem::replace(&mut self.rows, Matrix::zeros(0, 0)).into_values();
        rows.extend_from_slice(units.rows().values());
        self.places.extend_from_slice(lesson.places);
        self.n_classes = lesson.n_classes;
        let n_features = lesson.x.n_features();
        self.rows = Matrix::from_columns(rows, n_features, self.places.len()).ok_or(Error::NothingLearned)?;
        Ok(())
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f32>, Error> {
        let mut scores = Matrix::zeros(x.len(), self.n_classes);
        let units = unit_rows(x)?;
        let mut done = 0;
        // Some rows at a time: each has a cosine with every row.
        for some in units.rows().chunks(256) {
            let cosines = product(self.rows.t(), autoactivator::math::View::from(some).t());
            for (i, cosines) in cosines.cols().enumerate() {
                for (c, vote) in self.votes(cosines).into_iter().enumerate() {
                    scores[(done + i, c)] = vote;
                }
            }
            done += some.len();
        }
        Ok(scores)
    }

    fn size(&self) -> Size {
        let floats = self.rows.values().len();
        Size {
            nodes: 0,
            model_floats: floats,
            memory_floats: 0,
            multiply_adds: floats,
        }
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Learner};

    use super::*;

    #[test]
    fn neighbours_vote_and_the_closest_breaks_a_tie() -> Result<(), Error> {
        let x = [1.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.1, 1.0, 0.2, 1.0];
        let y = Labels::from_names(["right", "right", "up", "up", "up"]);
        let asked = Rows::new(&[1.0, 0.05, 0.3, 1.0, 1.0, 0.5], 2)?;
        for (k, expected) in [(1, [0, 1, 0]), (2, [0, 1, 0]), (4, [0, 1, 0]), (5, [1, 1, 1])] {
            let mut learner = NearestNeighbours::new(k);
            learner.learn(
                Rows::new(&x[..4], 2)?,
                &Labels::from_names(["right", "right"]),
                &mut (),
            )?;
            learner.learn(
                Rows::new(&x[4..], 2)?,
                &Labels::from_names(["up", "up", "up"]),
                &mut (),
            )?;
            assert_eq!(learner.predict(asked)?, expected, "k = {k}");
            let mut at_once = NearestNeighbours::new(k);
            at_once.learn(Rows::new(&x, 2)?, &y, &mut ())?;
            assert_eq!(at_once.predict(asked)?, expected);
        }
        assert_eq!(NearestNeighbours::new(1).size().model_floats, 0);
        Ok(())
    }
}
