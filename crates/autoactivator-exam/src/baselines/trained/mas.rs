//! Which weights must not move? Memory aware synapses: those that the length of the scores depends on.
//!
//! Aljundi et al., "Memory aware synapses: learning what (not) to forget", ECCV 2018: Ω is the mean over rows of
//! |∂ |scores|² / ∂ θ|, added up over tasks.

use autoactivator::Error;

use super::anchor::Anchor;
use super::ewc::CHUNK;
use super::network::{Network, add};
use super::{Lesson, Rule, Trained, Training};

/// Memory aware synapses.
pub type Mas = Trained<Sensitivity>;

/// The rule of [`Mas`].
#[derive(Clone, Debug)]
pub struct Sensitivity {
    strength: f32,
    anchor: Anchor,
}

impl Mas {
    /// With this training and penalty λ.
    pub fn new(training: Training, strength: f32) -> Self {
        let rule = Sensitivity {
            strength,
            anchor: Anchor::default(),
        };
        Self::under(rule, training)
    }
}

impl Rule for Sensitivity {
    const NAME: &'static str = "mas";

    fn hold(&self, network: &mut Network, length: f32) {
        // λ Σ Ω (θ - θ*)², without the half that an anchor has.
        self.anchor.pull(network, 2.0 * self.strength, length);
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        let mut importance = network.zeros();
        for rows in lesson.x.chunks(CHUNK) {
            lesson.go_on()?;
            let pass = network.pass(rows);
            let mut by_scores = pass.scores.clone();
            by_scores.values_mut().iter_mut().for_each(|v| *v *= 2.0);
            let lengths = network.row_by_row(&pass, by_scores, f32::abs);
            for (sum, lengths) in importance.iter_mut().zip(&lengths) {
                add(sum, 1.0 / lesson.x.len() as f32, lengths);
            }
        }
        self.anchor.hold(network, 1.0, importance);
        Ok(())
    }

    fn memory_floats(&self) -> usize {
        self.anchor.n_floats()
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::Rows;
    use autoactivator::math::Matrix;

    use super::*;

    /// One weight 2 and a bias 1: the scores of 1 and -3 are 3 and -5, and ∂ s² / ∂ w = 2 s x.
    #[test]
    fn importance_by_hand() {
        let network = Network {
            layers: vec![Matrix::from_fn(2, 1, |i, _| [2.0, 1.0][i])],
        };
        let lesson = Lesson {
            x: Rows::new(&[1.0, -3.0], 1).unwrap(),
            places: &[0, 0],
            n_classes: 1,
            task: 0,
            observer: &(),
        };
        let mut rule = Sensitivity {
            strength: 1.0,
            anchor: Anchor::default(),
        };
        rule.end(&network, &lesson, 0).unwrap();
        assert_eq!(
            rule.anchor.importance[0].values(),
            [(6.0 + 30.0) / 2.0, (6.0 + 10.0) / 2.0]
        );
    }
}
