//! Which weights must not move? Online EWC: those with much Fisher information.
//!
//! Kirkpatrick et al., "Overcoming catastrophic forgetting in neural networks", PNAS 2017, with one running sum for all
//! tasks as in Schwarz et al., "Progress & Compress", ICML 2018.

use autoactivator::Error;
use autoactivator::math::{Random, Stream};

use super::anchor::Anchor;
use super::loss;
use super::network::{Network, add};
use super::{Lesson, Rule, Trained, Training};

/// Rows that importance is computed from at a time.
pub const CHUNK: usize = 1024;

/// γ: how much of the old importance is kept. All of it: no task counts less than another.
const KEPT: f32 = 1.0;

/// Online elastic weight consolidation.
pub type Ewc = Trained<Fisher>;

/// The rule of [`Ewc`].
#[derive(Clone, Debug)]
pub struct Fisher {
    strength: f32,
    seed: u64,
    anchor: Anchor,
}

impl Ewc {
    /// With this training and penalty λ.
    pub fn new(training: Training, strength: f32) -> Self {
        let rule = Fisher {
            strength,
            seed: training.seed,
            anchor: Anchor::default(),
        };
        Self::under(rule, training)
    }
}

impl Rule for Fisher {
    const NAME: &'static str = "ewc";

    fn hold(&self, network: &mut Network, length: f32) {
        self.anchor.pull(network, self.strength, length);
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        let task = lesson.task;
        let mut random = Random::new(
            self.seed,
            Stream::Candidates {
                task,
                layer: usize::from(u16::MAX) - 1,
            },
        );
        let mut fisher = network.zeros();
        for rows in lesson.x.chunks(CHUNK) {
            lesson.go_on()?;
            let pass = network.pass(rows);
            // Classes are drawn from the network's own answers: with the true ones it would not be Fisher information.
            let p = loss::softmax(&pass.scores, 1.0);
            let drawn: Vec<u32> = (0..rows.len())
                .map(|i| draw(|c| p[(i, c)], p.n_cols(), &mut random))
                .collect();
            let mut by_scores = p;
            drawn
                .iter()
                .enumerate()
                .for_each(|(i, &c)| by_scores[(i, c as usize)] -= 1.0);
            let squares = network.row_by_row(&pass, by_scores, |v| v * v);
            for (sum, squares) in fisher.iter_mut().zip(&squares) {
                add(sum, 1.0 / lesson.x.len() as f32, squares);
            }
        }
        self.anchor.hold(network, KEPT, fisher);
        Ok(())
    }

    fn memory_floats(&self) -> usize {
        self.anchor.n_floats()
    }
}

/// A class, drawn with these probabilities.
fn draw(p: impl Fn(usize) -> f32, n_classes: usize, random: &mut Random) -> u32 {
    let mut rest = 0.5 * (random.symmetric(1.0) + 1.0);
    for c in 0..n_classes {
        rest -= p(c);
        if rest < 0.0 {
            return c as u32;
        }
    }
    n_classes.saturating_sub(1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_drawn_as_often_as_they_are_likely() {
        let mut random = Random::new(3, Stream::Probes);
        let p = [0.2, 0.0, 0.8];
        let mut counts = [0; 3];
        (0..10_000).for_each(|_| counts[draw(|c| p[c], 3, &mut random) as usize] += 1);
        assert!((1800..2200).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
    }
}
