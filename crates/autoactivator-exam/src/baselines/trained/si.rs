//! Which weights must not move? Synaptic intelligence: those whose path has lowered the loss.
//!
//! Zenke, Poole and Ganguli, "Continual learning through synaptic intelligence", ICML 2017, Eq. 3 to 5.

use autoactivator::Error;
use autoactivator::math::Random;

use super::anchor::Anchor;
use super::material::Material;
use super::network::{Gradient, Network};
use super::{Lesson, Rule, Trained, Training, cross_entropy};

/// ξ, which keeps weights that hardly moved from becoming infinitely important.
const DAMPING: f32 = 0.1;

/// Synaptic intelligence.
pub type Si = Trained<Path>;

/// The rule of [`Si`].
#[derive(Clone, Debug)]
pub struct Path {
    strength: f32,
    anchor: Anchor,
    /// θ before the task.
    start: Gradient,
    /// The gradient of the task's own loss at the last step.
    slope: Gradient,
    /// ω: how much each weight has lowered the loss during the task.
    lowered: Gradient,
}

impl Si {
    /// With this training and penalty c.
    pub fn new(training: Training, strength: f32) -> Self {
        let rule = Path {
            strength,
            anchor: Anchor::default(),
            start: Gradient::new(),
            slope: Gradient::new(),
            lowered: Gradient::new(),
        };
        Self::under(rule, training)
    }
}

impl Rule for Path {
    const NAME: &'static str = "si";

    fn begin(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<Material, Error> {
        self.start.clone_from(&network.layers);
        self.lowered = network.zeros();
        Ok(Material::of(lesson))
    }

    fn gradient(&mut self, network: &Network, batch: Material, _: &mut Random) -> Result<Gradient, Error> {
        self.slope = cross_entropy(network, &batch)?;
        Ok(self.slope.clone())
    }

    fn stepped(&mut self, step: &Gradient) {
        for ((sum, slope), step) in self.lowered.iter_mut().zip(&self.slope).zip(step) {
            let moved = slope.values().iter().zip(step.values());
            let pairs = sum.values_mut().iter_mut().zip(moved);
            pairs.for_each(|(sum, (slope, step))| *sum -= slope * step);
        }
    }

    fn hold(&self, network: &mut Network, length: f32) {
        // c Σ Ω (θ - θ*)², without the half that an anchor has.
        self.anchor.pull(network, 2.0 * self.strength, length);
    }

    fn end(&mut self, network: &Network, _: &Lesson<'_>, _: usize) -> Result<(), Error> {
        let mut importance = std::mem::take(&mut self.lowered);
        for ((omega, now), start) in importance.iter_mut().zip(&network.layers).zip(&self.start) {
            let way = now.values().iter().zip(start.values());
            let pairs = omega.values_mut().iter_mut().zip(way);
            pairs.for_each(|(omega, (now, start))| {
                *omega = omega.max(0.0) / ((now - start) * (now - start) + DAMPING);
            });
        }
        self.anchor.hold(network, 1.0, importance);
        (self.start, self.slope) = Default::default();
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

    /// One weight goes from 0 to 1 in two steps, down slopes of -2 and -1; the bias stays.
    #[test]
    fn importance_by_hand() {
        let mut network = Network {
            layers: vec![Matrix::zeros(2, 1)],
        };
        let lesson = Lesson {
            x: Rows::new(&[1.0], 1).unwrap(),
            places: &[0],
            n_classes: 1,
            task: 0,
            observer: &(),
        };
        let of = |weight: f32| vec![Matrix::from_fn(2, 1, |i, _| if i == 0 { weight } else { 0.0 })];
        let mut rule = Path {
            strength: 1.0,
            anchor: Anchor::default(),
            start: Gradient::new(),
            slope: Gradient::new(),
            lowered: Gradient::new(),
        };
        rule.begin(&network, &lesson, 0).unwrap();
        for slope in [-2.0, -1.0] {
            rule.slope = of(slope);
            network.step(&of(0.5));
            rule.stepped(&of(0.5));
        }
        rule.end(&network, &lesson, 0).unwrap();
        let expected = (2.0 * 0.5 + 1.0 * 0.5) / (1.0 + DAMPING);
        assert!((rule.anchor.importance[0][(0, 0)] - expected).abs() < 1e-6);
        assert_eq!(rule.anchor.importance[0][(1, 0)], 0.0);
    }
}
