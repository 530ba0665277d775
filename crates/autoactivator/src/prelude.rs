//! What most programs need, in one line: `use autoactivator::prelude::*;`.
//!
//! ```
//! use autoactivator::prelude::*;
//!
//! let mut model = Model::new("consolidation", &serde_json::json!({}))?;
//! model.learn(Rows::new(&[0.0, 1.0], 1)?, &Labels::from_names(["off", "on"]), &mut ())?;
//! assert_eq!(model.predict(Rows::new(&[0.9], 1)?)?, [1]);
//! # Ok::<(), Error>(())
//! ```

pub use crate::consolidation::{Consolidation, ConsolidationParams, Deployed};
pub use crate::data::{Labels, Rows, Table};
pub use crate::error::Error;
pub use crate::learner::{Answer, Learner, Observer};
pub use crate::model::{Learned, Model, ModelFile};
pub use crate::params::Check;
pub use crate::reactivation::{Reactivation, ReactivationParams};
