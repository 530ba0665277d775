//! Which learners are there? [`LearnerKind`]: each by name, what it is, and which parameters it has.
//!
//! A [`contender`](crate::contender) is one of a kind with its parameters.
//!
//! ```
//! use autoactivator_exam::kind::LearnerKind;
//!
//! assert_eq!(LearnerKind::ALL.len(), 26);
//! assert_eq!(LearnerKind::Ewc.name(), "ewc");
//! assert!(LearnerKind::Replay.keeps_exemplars() && !LearnerKind::Ewc.keeps_exemplars());
//! ```

use serde::Deserialize;
use serde::de::Error as _;

/// Learners by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnerKind {
    /// One memory for all tasks.
    Consolidation,
    /// The paper's: one neural unit per task.
    Reactivation,
    /// Nearest class mean.
    NearestMean,
    /// Streaming linear discriminant analysis.
    StreamingLda,
    /// Random nodes fitted to all rows at once: upper bound of its kind.
    JointRidge,
    /// Softmax regression by gradient descent, task after task: lower bound.
    SequentialSgd,
    /// Nearest class mean of rows of length 1.
    UnitMean,
    /// Cosine prototypes.
    SimpleCil,
    /// k nearest neighbours among all rows.
    NearestNeighbours,
    /// A Mahalanobis distance for each class.
    FeCam,
    /// Kernel LDA.
    Klda,
    /// Random ReLU nodes and recursive least squares.
    Acil,
    /// Random ReLU nodes and ridge regression.
    RanPac,
    /// A network trained task after task.
    FineTuning,
    /// A network trained anew on all rows.
    Joint,
    /// Elastic weight consolidation.
    Ewc,
    /// Synaptic intelligence.
    Si,
    /// Memory aware synapses.
    Mas,
    /// Learning without forgetting.
    Lwf,
    /// Orthogonal weights modification.
    Owm,
    /// Experience replay.
    Replay,
    /// Dark experience replay.
    Der,
    /// A network trained anew on exemplars alone.
    Gdumb,
    /// Nearest mean of exemplars.
    Icarl,
    /// Bias correction.
    Bic,
    /// Dual memory.
    Il2m,
}

impl LearnerKind {
    /// All of them, in the order of tables.
    pub const ALL: [Self; 26] = [
        Self::Consolidation,
        Self::Reactivation,
        Self::NearestMean,
        Self::StreamingLda,
        Self::JointRidge,
        Self::SequentialSgd,
        Self::UnitMean,
        Self::SimpleCil,
        Self::NearestNeighbours,
        Self::FeCam,
        Self::Klda,
        Self::Acil,
        Self::RanPac,
        Self::FineTuning,
        Self::Joint,
        Self::Ewc,
        Self::Si,
        Self::Mas,
        Self::Lwf,
        Self::Owm,
        Self::Replay,
        Self::Der,
        Self::Gdumb,
        Self::Icarl,
        Self::Bic,
        Self::Il2m,
    ];

    /// Those of an exam that names none: ours, and simple ones that take seconds.
    pub const USUAL: [Self; 6] = [
        Self::Consolidation,
        Self::Reactivation,
        Self::NearestMean,
        Self::StreamingLda,
        Self::JointRidge,
        Self::SequentialSgd,
    ];

    /// The name in records and on the command line.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// What it is, in a few words.
    pub fn meaning(self) -> &'static str {
        self.described().1
    }

    fn described(self) -> (&'static str, &'static str) {
        match self {
            Self::Consolidation => ("consolidation", "One memory for all tasks"),
            Self::Reactivation => ("reactivation", "The paper's: one neural unit per task"),
            Self::NearestMean => ("nearest-mean", "Nearest class mean"),
            Self::StreamingLda => ("streaming-lda", "Streaming linear discriminant analysis"),
            Self::JointRidge => (
                "joint-ridge",
                "Random nodes fitted to all rows at once: upper bound of its kind",
            ),
            Self::SequentialSgd => (
                "sequential-sgd",
                "Softmax regression by gradient descent, task after task: lower bound",
            ),
            Self::UnitMean => ("unit-mean", "Nearest class mean of rows of length 1"),
            Self::SimpleCil => ("simple-cil", "Class means compared by angle"),
            Self::NearestNeighbours => ("nearest-neighbours", "k nearest neighbours; keeps all rows"),
            Self::FeCam => ("fecam", "Mahalanobis distance with a covariance for each class"),
            Self::Klda => ("klda", "Random Fourier features, then discriminant analysis"),
            Self::Acil => ("acil", "Random ReLU nodes, then recursive least squares"),
            Self::RanPac => (
                "ranpac",
                "Random ReLU nodes, then ridge regression with a chosen constant",
            ),
            Self::FineTuning => ("fine-tuning", "A network trained task after task: lower bound"),
            Self::Joint => ("joint", "A network trained anew on all rows: upper bound"),
            Self::Ewc => ("ewc", "Online elastic weight consolidation"),
            Self::Si => ("si", "Synaptic intelligence"),
            Self::Mas => ("mas", "Memory aware synapses"),
            Self::Lwf => ("lwf", "Learning without forgetting"),
            Self::Owm => ("owm", "Orthogonal weights modification"),
            Self::Replay => ("er", "Experience replay; keeps exemplars"),
            Self::Der => ("der++", "Dark experience replay; keeps exemplars"),
            Self::Gdumb => ("gdumb", "The network trained on exemplars alone"),
            Self::Icarl => ("icarl", "Nearest mean of exemplars"),
            Self::Bic => ("bic", "Bias correction; keeps exemplars"),
            Self::Il2m => ("il2m", "Rectified probabilities; keeps exemplars"),
        }
    }

    /// Whether it is a network that is trained by gradient descent, with the parameters that all of these share.
    pub fn is_trained(self) -> bool {
        matches!(
            self,
            Self::FineTuning | Self::Joint | Self::Ewc | Self::Si | Self::Mas | Self::Lwf | Self::Owm
        ) || self.keeps_exemplars()
    }

    /// Whether it keeps as many rows as it is told.
    pub fn keeps_exemplars(self) -> bool {
        matches!(
            self,
            Self::Replay | Self::Der | Self::Gdumb | Self::Icarl | Self::Bic | Self::Il2m
        )
    }

    /// How strongly it keeps what it knows unless it is told; none for learners without such a number.
    pub fn strength(self) -> Option<f64> {
        match self {
            Self::Ewc => Some(100.0),
            Self::Si => Some(1.0),
            Self::Mas => Some(0.1),
            Self::Lwf => Some(1.0),
            Self::Owm => Some(3e-3),
            Self::Der => Some(0.03),
            _ => None,
        }
    }

    /// How many random nodes it has unless it is told; none for learners without any, and for those of the method.
    pub fn random_nodes(self) -> Option<usize> {
        match self {
            Self::Klda => Some(5000),
            Self::Acil => Some(8192),
            Self::RanPac => Some(10_000),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for LearnerKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let of_name = |kind: &Self| kind.name() == name;
        Self::ALL.into_iter().find(of_name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            D::Error::custom(format!("there is no learner '{name}': name one of {known}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_that_files_use() {
        for kind in LearnerKind::ALL {
            let read: LearnerKind = serde_json::from_value(json!(kind.name())).unwrap();
            assert_eq!(read, kind);
        }
        let error = serde_json::from_value::<LearnerKind>(json!("svm"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("no learner 'svm'") && error.contains("der++"),
            "{error}"
        );
    }

    #[test]
    fn the_usual_ones_come_first() {
        assert_eq!(LearnerKind::ALL[..LearnerKind::USUAL.len()], LearnerKind::USUAL);
    }
}
