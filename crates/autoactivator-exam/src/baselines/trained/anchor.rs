//! How are weights held where they were? [`Anchor`]: a spring on each weight, as strong as the weight is important.
//!
//! EWC, SI and MAS differ only in what they call important.

use super::network::{Gradient, Network, add, n_floats};

/// Weights after the last task, and how important each of them is.
#[derive(Clone, Debug, Default)]
pub struct Anchor {
    /// θ*
    weights: Gradient,
    /// Ω
    pub importance: Gradient,
}

impl Anchor {
    /// A step of this length down strength/2 · Σ Ω (θ - θ*)², taken implicitly: (θ + a θ*)/(1 + a) with a = length · strength · Ω
    /// is between θ and θ* however strong the spring is, where a plain step would overshoot. Weights of new classes are free.
    pub fn pull(&self, network: &mut Network, strength: f32, length: f32) {
        let held = self.weights.iter().zip(&self.importance);
        for (w, (anchor, importance)) in network.layers.iter_mut().zip(held) {
            let springs = anchor.values().iter().zip(importance.values());
            for (w, (anchor, importance)) in w.values_mut().iter_mut().zip(springs) {
                let a = length * strength * importance;
                *w = (*w + a * anchor) / (1.0 + a);
            }
        }
    }

    /// Holds the weights where they are now, with the old importance, of which a part is kept, and more.
    pub fn hold(&mut self, network: &Network, kept: f32, mut importance: Gradient) {
        for (sum, old) in importance.iter_mut().zip(&self.importance) {
            add(sum, kept, old);
        }
        self.importance = importance;
        self.weights.clone_from(&network.layers);
    }

    /// Floats kept.
    pub fn n_floats(&self) -> usize {
        n_floats(&self.weights) + n_floats(&self.importance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn springs_pull_back_and_new_classes_are_free() {
        let mut network = Network::new(1, &[], 1);
        network.grow(1, 1);
        network.layers[0].values_mut().copy_from_slice(&[1.0, 2.0]);
        let mut anchor = Anchor::default();
        let important = |network: &Network, by: f32| {
            let mut importance = network.zeros();
            importance[0].values_mut().fill(by);
            importance
        };
        anchor.hold(&network, 0.5, important(&network, 4.0));
        anchor.hold(&network, 0.5, important(&network, 1.0));
        network.layers[0].values_mut()[1] = 2.5;
        network.grow(2, 1);
        network.layers[0].values_mut()[3] = 7.0;
        anchor.pull(&mut network, 10.0, 0.1);
        // Ω = 1 + 0.5 · 4 = 3, so a = 3, and a quarter of the way remains.
        assert_eq!(network.layers[0].values()[..2], [1.0, 2.125]);
        assert_eq!(network.layers[0].values()[3], 7.0);
        assert_eq!(anchor.n_floats(), 4);
    }
}
