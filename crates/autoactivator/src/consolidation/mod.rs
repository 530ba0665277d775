//! Consolidation: one additive memory for all tasks. It is exact in any order of tasks; memories merge, and
//! rows can be unlearned.
//!
//! In the order of its flow: a pool's outputs are summed into the [`Memory`]; `forward` recruits nodes in
//! Gram space; `readout` solves for scores, judged by [`Witnesses`]; [`Calibration`] turns scores into
//! probabilities; [`Unknown`] tells what looks like nothing learned; a [`Deployed`] model predicts. A [`Partial`] holds sums over some rows, to be
//! added elsewhere, its [`Binding`] says what sums must share, and the [`Ledger`] keeps any file from being
//! learned twice. [`Consolidation`] is the learner.
//!
//! ```
//! use autoactivator::prelude::*;
//!
//! let learn = |values: &[f32], classes: &[&str], model: &mut Consolidation| {
//!     model.learn(Rows::new(values, 2)?, &Labels::from_names(classes), &mut ())
//! };
//! let mut both = Consolidation::new(ConsolidationParams::default().check()?);
//! learn(&[0.0, 0.1, 0.9, 1.0], &["low", "high"], &mut both)?;
//! let mut more = both.clone();
//! learn(&[0.0, 1.0, 0.1, 0.9], &["left", "left"], &mut more)?;
//! // What was learned can be unlearned: the sums are what they were.
//! more.unlearn(Rows::new(&[0.0, 1.0, 0.1, 0.9], 2)?, &Labels::from_names(["left", "left"]))?;
//! assert_eq!(more.classes(), both.classes());
//! # Ok::<(), autoactivator::Error>(())
//! ```

mod ask;
mod binding;
mod calibration;
mod cost;
mod deployed;
mod factor;
mod forward;
mod gram;
mod growth;
mod learner;
mod ledger;
mod memory;
mod onnx;
mod pack;
mod pack_partial;
mod pack_whitening;
mod pack_witnesses;
mod params;
mod partial;
mod pending;
mod readout;
mod scatter;
mod slot;
mod suspect;
mod triangle;
mod unknown;
mod unlearn;
mod whitening;
mod witness;

pub use ask::{MOST_ASKED, Question};
pub use binding::Binding;
pub use calibration::Calibration;
pub use deployed::{Contributions, Deployed};
pub use forward::{Ended, Limits, recruit};
pub use gram::Gram;
pub use growth::TaskGrowth;
pub use learner::{Consolidation, POOL_ROWS};
pub use ledger::{Ledger, Source};
pub use memory::{Evidence, Memory};
pub(crate) use pack::{DEPLOYED, NAME, pack, pack_deployed, unpack, unpack_deployed};
pub(crate) use pack_partial::NAME as PARTIAL;
pub use params::{ConsolidationParams, Prior, ReadoutKind};
pub use partial::{Partial, Share};
pub use readout::{Blend, Centred, Readout, Solution, Wanted};
pub(crate) use scatter::Scatter;
pub use suspect::{Membership, Suspect, Suspects};
pub use unknown::{Unknown, Usual};
pub use whitening::Whitening;
pub use witness::{Witness, Witnesses};
