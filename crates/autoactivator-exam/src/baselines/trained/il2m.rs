//! Can a few statistics undo the bias towards new classes? IL2M: two memories, one of rows and one of mean probabilities.
//!
//! Belouadah and Popescu, "IL2M: class incremental learning with dual memory", ICCV 2019, Eq. 1: if a row looks like a new
//! class, the probability of each old class i becomes p(i) · μᴾ(i)/μᴺ(i) · μ(Mᴺ)/μ(Mᴾ), where μᴾ(i) is the mean probability of
//! class i for its own rows when it was new, μᴺ(i) the same now, for its exemplars, and μ(M) how sure a network was of its new rows.

use autoactivator::math::Matrix;
use autoactivator::{Error, Rows};

use super::exemplars::Exemplars;
use super::loss;
use super::material::Material;
use super::network::Network;
use super::{Lesson, Rule, Trained, Training};

/// Class-incremental learning with dual memory.
pub type Il2m = Trained<DualMemory>;

/// The rule of [`Il2m`].
#[derive(Clone, Debug)]
pub struct DualMemory {
    exemplars: Exemplars,
    /// The statistics of each class.
    classes: Vec<Statistics>,
    /// μ(Mᴺ): how sure the network is of the rows of the last task.
    sure: f32,
}

/// What is kept of a class.
#[derive(Clone, Debug, Default)]
struct Statistics {
    /// Its task.
    task: usize,
    /// μᴾ: its mean probability when it was new.
    when_new: f32,
    /// μᴺ: its mean probability now.
    now: f32,
    /// μ(Mᴾ): how sure the network was when it was new.
    sure: f32,
}

impl Il2m {
    /// With this training and so many exemplars.
    pub fn new(training: Training, budget: usize) -> Self {
        let rule = DualMemory {
            exemplars: Exemplars::new(budget, training.seed),
            classes: Vec::new(),
            sure: 1.0,
        };
        Self::under(rule, training)
    }
}

/// The mean probability of each class for its own rows, and the mean of the highest probability over all rows.
fn means(p: &Matrix<f32>, places: &[u32]) -> (Vec<f32>, f32) {
    let (mut sums, mut counts, mut highest) = (vec![0.0; p.n_cols()], vec![0.0_f32; p.n_cols()], 0.0);
    for (i, &place) in places.iter().enumerate() {
        sums[place as usize] += p[(i, place as usize)];
        counts[place as usize] += 1.0;
        highest += (0..p.n_cols()).map(|c| p[(i, c)]).fold(0.0, f32::max);
    }
    sums.iter_mut().zip(&counts).for_each(|(s, n)| *s /= n.max(1.0));
    (sums, highest / places.len().max(1) as f32)
}

impl DualMemory {
    /// Eq. 1, row by row.
    fn rectify(&self, mut p: Matrix<f32>) -> Matrix<f32> {
        let newest = self.classes.iter().map(|class| class.task).max().unwrap_or(0);
        let is_new = |c: usize| self.classes.get(c).is_some_and(|class| class.task == newest);
        for i in 0..p.n_rows() {
            let first = (0..p.n_cols()).reduce(|a, b| if p[(i, b)] > p[(i, a)] { b } else { a });
            if !first.is_some_and(is_new) {
                continue;
            }
            for (c, class) in self.classes.iter().enumerate().filter(|(c, _)| !is_new(*c)) {
                // A class without exemplars keeps its probability.
                if class.now > 0.0 {
                    p[(i, c)] *= class.when_new / class.now * self.sure / class.sure;
                }
            }
        }
        p
    }
}

impl Rule for DualMemory {
    const NAME: &'static str = "il2m";

    fn begin(&mut self, _: &Network, lesson: &Lesson<'_>, _: usize) -> Result<Material, Error> {
        let mut material = Material::of(lesson);
        material.append(&self.exemplars.material());
        Ok(material)
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, known: usize) -> Result<(), Error> {
        let (new, sure) = means(&loss::softmax(&network.scores(lesson.x), 1.0), lesson.places);
        self.sure = sure;
        self.exemplars.admit(lesson, &self.exemplars.any_order(lesson));
        let exemplars = self.exemplars.material();
        let (now, _) = means(
            &loss::softmax(&network.scores(exemplars.x()?), 1.0),
            &exemplars.places,
        );
        self.classes.resize(lesson.n_classes, Statistics::default());
        for (c, class) in self.classes.iter_mut().enumerate() {
            class.now = now[c];
            if c >= known {
                (class.task, class.when_new, class.sure) = (lesson.task, new[c], sure);
            }
        }
        Ok(())
    }

    fn scores(&self, network: &Network, x: Rows<'_>) -> Matrix<f32> {
        self.rectify(loss::softmax(&network.scores(x), 1.0))
    }

    fn model_floats(&self) -> usize {
        3 * self.classes.len() + 1
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectification_by_hand() {
        let class = |task, when_new, now, sure| Statistics {
            task,
            when_new,
            now,
            sure,
        };
        let rule = DualMemory {
            exemplars: Exemplars::new(1, 0),
            classes: vec![class(0, 0.9, 0.3, 0.8), class(1, 0.7, 0.7, 0.6)],
            sure: 0.6,
        };
        // The first row looks like the new class, the second does not.
        let p = Matrix::from_fn(2, 2, |i, c| [[0.4, 0.6], [0.7, 0.3]][i][c]);
        let rectified = rule.rectify(p);
        assert!((rectified[(0, 0)] - 0.4 * 0.9 / 0.3 * 0.6 / 0.8).abs() < 1e-6);
        assert_eq!(
            (rectified[(0, 1)], rectified[(1, 0)], rectified[(1, 1)]),
            (0.6, 0.7, 0.3)
        );
    }

    #[test]
    fn means_by_hand() {
        let p = Matrix::from_fn(3, 2, |i, c| [[0.8, 0.2], [0.4, 0.6], [0.3, 0.7]][i][c]);
        let (of_class, sure) = means(&p, &[0, 0, 1]);
        assert!((of_class[0] - 0.6).abs() < 1e-6 && (of_class[1] - 0.7).abs() < 1e-6);
        assert!((sure - 0.7).abs() < 1e-6);
    }
}
