//! What sums must share to be added: the pool, and how its outputs were summed.
//!
//! A [`Binding`] travels with every partial memory, and with the pool that is sent to a worker. Bindings that
//! differ are refused, and the error names the first difference.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::learner::Consolidation;
use crate::error::Error;
use crate::format::Container;
use crate::learner::{Origin, same_origin};
use crate::params::Precision;
use crate::pool::{Pool, Standard};

/// The version, origin, pool, precision and class weights that sums were made with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    pub(crate) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<Origin>,
    /// SHA-256 of the nodes and of what makes their outputs comparable.
    pub(crate) pool: String,
    pub(crate) precision: Precision,
    pub(crate) class_weights: BTreeMap<String, f64>,
}

impl Binding {
    /// Refuses a binding that differs, naming the first difference.
    pub fn check(&self, other: &Binding) -> Result<(), Error> {
        let reason = if self.version != other.version {
            format!("version {} and version {}", self.version, other.version)
        } else if !same_origin(self.origin.as_ref(), other.origin.as_ref()) {
            "their rows come from different backbones".to_owned()
        } else if self.pool != other.pool {
            let start = |hash: &str| hash.get(..8).unwrap_or(hash).to_owned();
            format!(
                "pool {} and pool {}: they were made from different seeds, parameters or first tasks",
                start(&self.pool),
                start(&other.pool)
            )
        } else if self.precision != other.precision {
            "their products have different precision".to_owned()
        } else if self.class_weights != other.class_weights {
            "their classes have different weights".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::DifferentPools { reason })
    }
}

impl Consolidation {
    /// What sums must share with this memory to be added to it.
    pub fn binding(&self) -> Result<Binding, Error> {
        let pool = self.pool.as_deref().ok_or(Error::NoPool)?;
        Ok(Binding {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: self.input.origin.clone(),
            pool: pool_sha256(pool, &self.memory.standard)?,
            precision: self.params.precision,
            class_weights: self.params.class_weights.clone(),
        })
    }
}

/// SHA-256 of a pool and of what makes its outputs comparable.
fn pool_sha256(pool: &dyn Pool, standard: &Standard) -> Result<String, Error> {
    let mut container = Container::new("pool");
    let description = pool.pack(&mut container, "pool");
    standard.pack(&mut container, "memory");
    container.describe(&description);
    container.sha256()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_named_before_anything_else() {
        let mine = Binding {
            version: "1.0.0".to_owned(),
            origin: None,
            pool: "abc".to_owned(),
            precision: Precision::F32,
            class_weights: BTreeMap::new(),
        };
        let theirs = Binding {
            version: "2.0.0".to_owned(),
            pool: "def".to_owned(),
            ..mine.clone()
        };
        let error = mine.check(&theirs).unwrap_err().to_string();
        assert!(error.contains("version 1.0.0 and version 2.0.0"), "{error}");
        assert!(mine.check(&mine.clone()).is_ok());
    }
}
