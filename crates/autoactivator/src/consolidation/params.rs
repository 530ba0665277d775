//! Parameters of consolidation.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::data::ImageShape;
use crate::error::Error;
use crate::params::{Check, Precision, unless, within};
use crate::pool::PoolSpec;

/// Parameters of consolidation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConsolidationParams {
    /// The pool to make; none chooses convolution for images of at least 16 by 16 pixels, and otherwise the
    /// features themselves and random nodes on them, by the width and the scales of the rows.
    #[serde(deserialize_with = "named_or_described")]
    pub pool: Option<PoolSpec>,
    /// How the features of a row form an image, if they do.
    pub image: Option<ImageShape>,
    /// Largest number of nodes recruited from the pool; when neither this nor `nodes_per_class` is given, the
    /// whole pool is read.
    pub max_nodes: Option<usize>,
    /// Number of nodes recruited per known class, so that early tasks leave room for later ones.
    pub nodes_per_class: Option<usize>,
    /// *r* of the supervisory mechanism. In (0, 1).
    pub r: f64,
    /// Fraction of the residual that a node must take away to be recruited. At least 0.
    pub expected_gain: f64,
    /// Number of random nodes of the pool, if its kind has a choice; none chooses by the kind of rows. At least 1.
    pub nodes: Option<usize>,
    /// How the recruited nodes are read.
    pub readout: ReadoutKind,
    /// What the number of rows of a class says about how often it will come.
    pub prior: Prior,
    /// Number of rows in use that show how good answers are; twice as many are kept. 0 keeps none. At most 65,536.
    pub witnesses: usize,
    /// Ridge constant relative to the mean diagonal of G; none lets left-out witnesses choose it, or, without
    /// witnesses, generalised cross-validation. At least 0.
    pub ridge: Option<f64>,
    /// Shrinkage of the shared covariance of linear discriminant analysis, relative to its mean diagonal. At least 0.
    pub shrinkage: f64,
    /// Precision of the products; sums are always in double precision.
    pub precision: Precision,
    /// Factor by which old evidence is multiplied when a new task arrives. In (0, 1]; 1 forgets nothing.
    pub fading: f64,
    /// Weight of a row of each class; 1 for classes that are not named. Each above 0.
    pub class_weights: BTreeMap<String, f64>,
    /// Whether nothing but sums may be kept of rows: the pool depends on the seed alone, probabilities are not
    /// calibrated, and learned files are not listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// Seed of everything random.
    pub seed: u64,
}

/// How recruited nodes are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadoutKind {
    /// Least squares and discriminant analysis, weighed by what left-out witnesses are answered.
    #[default]
    Blend,
    /// The paper's least squares, regularised.
    Ridge,
    /// Linear discriminant analysis.
    Lda,
    /// The class with the nearest mean.
    NearestMean,
}

/// A pool by the name of its kind, or with settings.
fn named_or_described<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PoolSpec>, D::Error> {
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let given = Option::<serde_json::Value>::deserialize(deserializer)?;
    match given {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(value) => match text(&value) {
            Some(name) => PoolSpec::named(&name).map(Some).ok_or_else(|| {
                let kinds = PoolSpec::KINDS.map(|(kind, _)| kind).join(", ");
                D::Error::custom(format!("there is no pool '{name}': choose one of {kinds}"))
            }),
            None => PoolSpec::deserialize(value).map(Some).map_err(D::Error::custom),
        },
    }
}

/// What the number of rows of a class says about how often it will come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// As `Seen`, but each class is given as many rows more as classes have on average: a class of few rows may be
    /// rare, or it may just be new.
    #[default]
    Cautious,
    /// Classes come as often as their rows did: for the most right answers over rows like those learned.
    Seen,
    /// Classes come equally often: for the most right answers on average over classes.
    Equal,
}

impl Prior {
    /// What is added to the score of each class of `counts` rows.
    pub(crate) fn offsets(self, counts: &[f64]) -> Vec<f64> {
        let known = counts.iter().filter(|&&count| count > 0.0);
        let mean = counts.iter().sum::<f64>() / known.count().max(1) as f64;
        let often = |&count: &f64| match self {
            Self::Cautious => count + mean,
            Self::Seen => count,
            Self::Equal => mean,
        };
        let share = |count: &f64| (often(count) / mean.max(f64::MIN_POSITIVE)).max(1e-12);
        counts.iter().map(|count| share(count).ln()).collect()
    }

    /// How many rows of each class to expect, given that `counts` were seen; probabilities are calibrated for these. One
    /// row says nothing about how often its class will come, so the class is expected to be of the usual size. The more
    /// rows a class has, the more its own count decides.
    pub(crate) fn expected(self, counts: &[f64]) -> Vec<f64> {
        let n_rows: f64 = counts.iter().sum();
        let usual = counts.iter().map(|n| n * n).sum::<f64>() / n_rows;
        let mean = n_rows / counts.iter().filter(|&&count| count > 0.0).count() as f64;
        let expected = |&count: &f64| match self {
            _ if count <= 0.0 => 0.0,
            Self::Cautious => count + usual / count,
            Self::Seen => count,
            Self::Equal => mean,
        };
        counts.iter().map(expected).collect()
    }
}

/// Largest number of witnesses in use.
const MAX_WITNESSES: usize = 1 << 16;

impl Default for ConsolidationParams {
    fn default() -> Self {
        Self {
            pool: None,
            image: None,
            max_nodes: None,
            nodes_per_class: None,
            r: 0.9,
            expected_gain: 0.0,
            nodes: None,
            readout: ReadoutKind::Blend,
            prior: Prior::Cautious,
            witnesses: 2048,
            ridge: None,
            shrinkage: 1e-3,
            precision: Precision::F32,
            fading: 1.0,
            class_weights: BTreeMap::new(),
            private: false,
            seed: 0,
        }
    }
}

impl Check for ConsolidationParams {
    fn problem(&self) -> Option<Error> {
        let not_negative = |name, value: f64| {
            unless(
                value >= 0.0 && value.is_finite(),
                name,
                &value,
                "finite and at least 0",
            )
        };
        within("max_nodes", self.max_nodes.unwrap_or(1), usize::MAX, "at least 1")
            .or_else(|| {
                within(
                    "nodes_per_class",
                    self.nodes_per_class.unwrap_or(1),
                    usize::MAX,
                    "at least 1",
                )
            })
            .or_else(|| within("nodes", self.nodes.unwrap_or(1), usize::MAX, "at least 1"))
            .or_else(|| {
                let few = self.witnesses <= MAX_WITNESSES;
                unless(few, "witnesses", &self.witnesses, "at most 65,536")
            })
            .or_else(|| unless(self.r > 0.0 && self.r < 1.0, "r", &self.r, "above 0 and below 1"))
            .or_else(|| not_negative("expected_gain", self.expected_gain))
            .or_else(|| not_negative("ridge", self.ridge.unwrap_or(0.0)))
            .or_else(|| not_negative("shrinkage", self.shrinkage))
            .or_else(|| {
                let inside = self.fading > 0.0 && self.fading <= 1.0;
                unless(inside, "fading", &self.fading, "above 0 and at most 1")
            })
            .or_else(|| {
                let pool = self.pool.as_ref().filter(|pool| !pool.is_private())?;
                let kind = serde_json::to_value(pool).unwrap_or_default()["kind"].to_string();
                unless(
                    !self.private,
                    "pool",
                    &kind,
                    "one that takes nothing from rows, because `private` is set: leave it out, or choose standard, uniform or patches",
                )
            })
            .or_else(|| {
                let outside = self
                    .class_weights
                    .iter()
                    .find(|(_, w)| !(**w > 0.0 && w.is_finite()));
                let (name, weight) = outside?;
                unless(
                    false,
                    "class_weights",
                    &format!("{weight} for '{name}'"),
                    "finite numbers above 0",
                )
            })
    }
}
