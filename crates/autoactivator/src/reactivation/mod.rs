//! Reactivation, the paper's learner: one neural unit per task, and the unit that fits a group of rows wakes up.
//!
//! In the order of its flow: `recruit` draws candidate nodes, `screen` judges them on some rows and `judge`
//! on all of them, the [`Supervisor`] decides which of them join, and [`StepwiseFit`] keeps the output
//! weights optimal meanwhile. A [`NeuralUnit`] is what grows, its threshold says how sure it is of its own
//! rows, and [`Reactivation`] is the learner. With `gate = density`, ours, units keep [`ClassSums`] of their rows, too:
//! `density` makes a likelihood of them, `scale` says how far to believe it, a [`Gate`] is what one unit finds, `waking`
//! compares units, and `assembly` adds and removes them. With `filters`, units read images through a convolution
//! `module`.
//!
//! ```
//! use autoactivator::prelude::*;
//!
//! let mut learner = Reactivation::new(ReactivationParams::default().check()?);
//! let x: Vec<f32> = (0..40).map(|i| (i % 2) as f32 + 0.01 * i as f32).collect();
//! let y = Labels::from_names((0..40).map(|i| ["low", "high"][i % 2]));
//! learner.learn(Rows::new(&x, 1)?, &y, &mut ())?;
//! let awake = learner.reactivate(Rows::new(&[0.1, 0.2], 1)?)?;
//! assert_eq!((awake.unit, awake.classes), (0, vec![0, 0]));
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod assembly;
mod density;
mod gate;
mod judge;
mod learner;
mod least_squares;
mod module;
mod pack;
mod pack_gate;
mod params;
mod recruit;
mod scale;
mod screen;
mod split;
mod sums;
mod supervisor;
mod threshold;
mod unit;
mod waking;

/// Rows of a tile; divisible by 24 and 48, which suits the kernels of products.
const TILE_ROWS: usize = 480;

pub use density::Density;
pub use gate::{Finding, Gate, Judged, TaskRows};
pub use judge::Trial;
pub use learner::{Awakening, Reactivation};
pub use least_squares::StepwiseFit;
pub(crate) use pack::{NAME, pack, unpack};
pub use params::{GateKind, ReactivationParams, RepeatedClasses};
pub use scale::Losses;
pub use sums::ClassSums;
pub use supervisor::{Reduction, Supervisor, Verdict, reduction, relaxed};
pub use threshold::{confidence, threshold};
pub use unit::{Growth, Join, Layer, LayerGrowth, NeuralUnit, Stop};
