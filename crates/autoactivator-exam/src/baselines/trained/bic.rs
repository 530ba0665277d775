//! Can two numbers undo the bias towards new classes? BiC: the scores of the last task's classes are stretched and shifted.
//!
//! Wu et al., "Large scale incremental learning", CVPR 2019: a tenth of the exemplars of each class, and as many new rows, are not
//! trained on; with them, α and β of the scores α s + β of the new classes are fitted. The loss while training is Eq. 4,
//! with λ = n/(n + m) for n old and m new classes. What is distilled is the network before with its correction, so the next network
//! needs none for these classes.

use autoactivator::math::{Matrix, Random};
use autoactivator::{Error, Rows};

use super::exemplars::Exemplars;
use super::loss;
use super::lwf::TEMPERATURE;
use super::material::Material;
use super::network::{Gradient, Network};
use super::{Lesson, Rule, Trained, Training};

/// One of so many exemplars is for the correction, and not for training.
const HELD_OUT: usize = 10;

/// Newton steps at most, to fit two numbers.
const STEPS: usize = 50;

/// How much each row counts for α = 1 and β = 0: where two classes are told apart without a mistake, the best α is infinite.
const PRIOR: f64 = 1e-3;

/// Bias correction.
pub type Bic = Trained<Corrected>;

/// The rule of [`Bic`].
#[derive(Clone, Debug)]
pub struct Corrected {
    exemplars: Exemplars,
    /// The network before the task, with its corrections, only while it is learned.
    before: Option<Network>,
    correction: Correction,
}

/// α s + β for the classes of the last task.
#[derive(Clone, Debug)]
struct Correction {
    /// The first of them.
    from: usize,
    alpha: f32,
    beta: f32,
}

impl Correction {
    /// One that changes nothing.
    fn none(from: usize) -> Self {
        Self {
            from,
            alpha: 1.0,
            beta: 0.0,
        }
    }

    /// Corrected scores.
    fn of(&self, mut scores: Matrix<f32>) -> Matrix<f32> {
        for c in self.from..scores.n_cols() {
            let stretched = |s: &mut f32| *s = self.alpha * *s + self.beta;
            scores.col_mut(c).iter_mut().for_each(stretched);
        }
        scores
    }
}

impl Bic {
    /// With this training and so many exemplars.
    pub fn new(training: Training, budget: usize) -> Self {
        let rule = Corrected {
            exemplars: Exemplars::new(budget, training.seed),
            before: None,
            correction: Correction::none(0),
        };
        Self::under(rule, training)
    }
}

impl Corrected {
    /// The exemplars that are not trained on: the most wanted of each class, which stay when others go.
    fn held_out(&self) -> Material {
        let mut material = Material::default();
        for class in self.exemplars.by_class() {
            class
                .iter()
                .take(class.len() / HELD_OUT)
                .for_each(|e| material.push(&e.row, e.place));
        }
        material
    }
}

/// α and β of the classes from `from` on that lower the cross-entropy most, by Newton's method.
fn fit(scores: &Matrix<f32>, places: &[u32], from: usize) -> Correction {
    let mut fitted = Correction::none(from);
    let prior = PRIOR * places.len() as f64;
    for _ in 0..STEPS {
        let corrected = fitted.of(scores.clone());
        let p = loss::softmax(&corrected, 1.0);
        // First and second derivatives by α and β, beginning with those of the prior.
        let (mut a, mut b) = (
            prior * f64::from(fitted.alpha - 1.0),
            prior * f64::from(fitted.beta),
        );
        let (mut aa, mut ab, mut bb) = (prior, 0.0, prior);
        for (i, &place) in places.iter().enumerate() {
            let new = |f: &dyn Fn(f64) -> f64| -> f64 {
                (from..scores.n_cols())
                    .map(|c| f64::from(p[(i, c)]) * f(f64::from(scores[(i, c)])))
                    .sum()
            };
            let (mass, mean, square) = (new(&|_| 1.0), new(&|s| s), new(&|s| s * s));
            let of_new = place as usize >= from;
            a += mean
                - if of_new {
                    f64::from(scores[(i, place as usize)])
                } else {
                    0.0
                };
            b += mass - if of_new { 1.0 } else { 0.0 };
            aa += square - mean * mean;
            ab += mean - mean * mass;
            bb += mass - mass * mass;
        }
        let determinant = aa * bb - ab * ab;
        if determinant <= 0.0 {
            break;
        }
        let step = ((bb * a - ab * b) / determinant, (aa * b - ab * a) / determinant);
        // Far from the end, a full step may lead away.
        let short = 1.0 / (step.0.abs() + step.1.abs()).max(1.0);
        fitted.alpha -= (short * step.0) as f32;
        fitted.beta -= (short * step.1) as f32;
        if step.0.abs() + step.1.abs() < 1e-5 {
            break;
        }
    }
    fitted
}

impl Rule for Corrected {
    const NAME: &'static str = "bic";

    fn begin(&mut self, network: &Network, lesson: &Lesson<'_>, known: usize) -> Result<Material, Error> {
        self.before = network.before(known);
        let order = self.exemplars.any_order(lesson);
        let mut material = Material::default();
        for class in self.exemplars.by_class() {
            class
                .iter()
                .skip(class.len() / HELD_OUT)
                .for_each(|e| material.push(&e.row, e.place));
        }
        self.exemplars.admit(lesson, &order);
        // Rows of a new class that are to be held out come first in the order, and are not trained on.
        let mut left: Vec<usize> = self
            .exemplars
            .by_class()
            .iter()
            .map(|c| c.len() / HELD_OUT)
            .collect();
        for &i in &order {
            let place = lesson.places[i];
            let left = &mut left[place as usize];
            if *left > 0 && known > 0 && place as usize >= known {
                *left -= 1;
            } else {
                material.push(lesson.x.row(i), place);
            }
        }
        Ok(material)
    }

    fn gradient(&mut self, network: &Network, batch: Material, _: &mut Random) -> Result<Gradient, Error> {
        let pass = network.pass(batch.x()?);
        let mut by_scores = loss::cross_entropy(&pass.scores, &batch.places);
        if let Some(before) = &self.before {
            let target = self.correction.of(before.scores(batch.x()?));
            let share = before.n_classes() as f32 / network.n_classes() as f32;
            let old = loss::distillation(&pass.scores, &target, TEMPERATURE);
            let pairs = by_scores.values_mut().iter_mut().zip(old.values());
            pairs.for_each(|(d, old)| *d = (1.0 - share) * *d + share * old);
        }
        Ok(network.gradient(&pass, by_scores))
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, known: usize) -> Result<(), Error> {
        self.before = None;
        self.correction = Correction::none(known);
        let held_out = self.held_out();
        if known > 0 && known < lesson.n_classes && !held_out.places.is_empty() {
            self.correction = fit(&network.scores(held_out.x()?), &held_out.places, known);
        }
        Ok(())
    }

    fn scores(&self, network: &Network, x: Rows<'_>) -> Matrix<f32> {
        self.correction.of(network.scores(x))
    }

    fn model_floats(&self) -> usize {
        2 // α and β
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of the new class are too large by 3 and too steep by 2: the correction takes that back.
    #[test]
    fn the_correction_finds_the_bias() {
        let n = 4000;
        let mut random = Random::new(1, autoactivator::math::Stream::Probes);
        let mut places = Vec::new();
        let scores = Matrix::from_fn(2, n, |_, _| 2.0 * random.normal())
            .t()
            .to_matrix();
        for i in 0..n {
            let p = loss::sigmoid(scores[(i, 1)] - scores[(i, 0)]);
            places.push(u32::from(0.5 * (random.symmetric(1.0) + 1.0) < p));
        }
        let mut biased = scores;
        biased.col_mut(1).iter_mut().for_each(|s| *s = 2.0 * *s + 3.0);
        let fitted = fit(&biased, &places, 1);
        assert!(
            (fitted.alpha - 0.5).abs() < 0.05 && (fitted.beta + 1.5).abs() < 0.15,
            "{fitted:?}"
        );
    }

    #[test]
    fn only_the_last_classes_are_corrected() {
        let correction = Correction {
            from: 1,
            alpha: 2.0,
            beta: 1.0,
        };
        let scores = Matrix::from_fn(1, 3, |_, _| 2.0);
        assert_eq!(correction.of(scores).values(), [2.0, 5.0, 5.0]);
    }
}
