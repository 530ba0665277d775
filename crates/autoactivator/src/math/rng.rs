//! Randomness: one seed in, everything follows.
//!
//! A [`Stream`] names what the numbers are for, so that task 3 draws the same nodes whether tasks 1 and 2 were
//! learned a moment ago or loaded from a file. Conversions to floats and ranges are spelled out here rather than
//! taken from a distribution crate: same seed, same bytes, on every machine and after every upgrade.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Number of values that one core draws at a time.
const FILLED_TOGETHER: usize = 1 << 14;

/// What a sequence of random numbers is for.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// Candidate nodes of one layer of one task's unit.
    Candidates {
        /// Task, from 0.
        task: usize,
        /// Former layer of the unit, from 0.
        layer: usize,
    },
    /// Which rows of a task are kept for validation.
    Validation {
        /// Task, from 0.
        task: usize,
    },
    /// One layer of a pool.
    Pool {
        /// The layer, the outermost first, from 0.
        layer: usize,
    },
    /// Directions that a trace is estimated along.
    Probes,
    /// The nodes that all units look through.
    View,
    /// The filters of a convolution module.
    Module,
    /// Known classes that are held back.
    HeldBack,
    /// The order of rows that have none.
    Order,
}

impl Stream {
    fn id(self) -> u64 {
        match self {
            Self::Candidates { task, layer } => ((task as u64) << 16) | layer as u64,
            Self::Validation { task } => ((task as u64) << 16) | 0xffff,
            Self::Pool { layer } => (1 << 63) | layer as u64,
            Self::Probes => 3 << 62,
            Self::View => (3 << 62) | 1,
            Self::Module => (3 << 62) | 2,
            Self::HeldBack => (3 << 62) | 3,
            Self::Order => (3 << 62) | 5,
        }
    }
}

/// A random number generator for one [`Stream`].
pub struct Random(ChaCha8Rng);

impl Random {
    /// The generator of `stream` under `seed`.
    pub fn new(seed: u64, stream: Stream) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream.id());
        Self(rng)
    }

    /// Uniform in `[-scope, scope)`, with 24 random bits.
    pub fn symmetric(&mut self, scope: f32) -> f32 {
        let unit = (self.0.next_u32() >> 8) as f32 * (1.0 / (1 << 23) as f32) - 1.0;
        unit * scope
    }

    /// Fills `values` with numbers uniform in `[-scope, scope)`: the same ones that [`Random::symmetric`]
    /// would give one by one, but drawn on all cores, since this kind of generator can start anywhere.
    pub fn fill_symmetric(&mut self, values: &mut [f32], scope: f32) {
        let start = self.0.get_word_pos();
        values
            .par_chunks_mut(FILLED_TOGETHER)
            .enumerate()
            .for_each(|(k, part)| {
                let mut random = Self(self.0.clone());
                random.0.set_word_pos(start + (k * FILLED_TOGETHER) as u128);
                part.iter_mut().for_each(|v| *v = random.symmetric(scope));
            });
        self.0.set_word_pos(start + values.len() as u128);
    }

    /// Approximately standard normal: the sum of twelve uniform numbers, which needs only additions and is
    /// therefore the same to the last bit everywhere.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.symmetric(0.5)).sum()
    }

    /// Uniform in `0..n`, for `n` up to 2³²; the bias of at most n/2⁶⁴ is negligible.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// Shuffles in place (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_at_once_are_the_same_one_by_one() {
        let mut at_once = Random::new(5, Stream::Pool { layer: 1 });
        let mut one_by_one = Random::new(5, Stream::Pool { layer: 1 });
        for n in [0, 1, 17, 3 * FILLED_TOGETHER + 5, 2] {
            let mut filled = vec![0.0; n];
            at_once.fill_symmetric(&mut filled, 0.3);
            assert!(
                filled.iter().all(|&v| v == one_by_one.symmetric(0.3)),
                "{n} numbers"
            );
        }
    }
}
