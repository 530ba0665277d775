//! The supervisory mechanism (Eq. xi_2): which batch of candidate nodes may join, and which one does.

use crate::math::{Matrix, solve_positive_definite};

/// Ridge of the small systems (GᵀG)β = Gᵀe, relative to their mean diagonal. It is of the order of the
/// rounding of single-precision products, and replaces the pseudoinverse where a batch repeats itself.
const BATCH_RIDGE: f64 = 1e-6;

/// How often r may be relaxed: 0.9, 0.99, ..., each step dividing 1 - r by ten, down to 1e-8 of what it was.
const RELAXATIONS: i32 = 8;

/// What a batch takes off the squared residual of each class: <e_c, G β_{l,c}>.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction(pub Vec<f64>);

/// Judges candidates for a layer of `n_nodes` nodes after the join, against the current residual.
pub struct Supervisor {
    /// <e_c, e_c> for every class.
    residual: Vec<f64>,
    /// L, the nodes after the join.
    n_nodes: usize,
}

/// A batch that passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Place of the batch among the candidates.
    pub batch: usize,
    /// The r under which the batch passed.
    pub r: f64,
    /// Σ_c ξ_c.
    pub xi: f64,
    /// Number of candidates that passed under that r.
    pub passed: usize,
}

impl Supervisor {
    /// A supervisor for the residual e, `(n_samples, n_classes)`.
    pub fn new(e: &Matrix<f64>, n_nodes: usize) -> Self {
        let residual = e.cols().map(|e_c| e_c.iter().map(|v| v * v).sum()).collect();
        Self { residual, n_nodes }
    }

    /// <e_c, e_c> for every class.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// Σ_c ξ_c of a batch; none unless ξ_c > 0 for every class.
    pub fn xi(&self, reduction: &Reduction, r: f64) -> Option<f64> {
        let mu = (1.0 - r) / (self.n_nodes + 1) as f64;
        let mut sum = 0.0;
        for (gain, squared) in reduction.0.iter().zip(&self.residual) {
            let xi = gain - (1.0 - r - mu) * squared; // Eq. (xi_2)
            // A class that is fitted exactly needs nothing more: it is exempt from ξ_c > 0.
            if xi <= 0.0 && *squared > 0.0 {
                return None;
            }
            sum += xi;
        }
        Some(sum)
    }

    /// The batch with the largest Σ ξ_c among those that pass under `r`.
    pub fn best(&self, candidates: &[Reduction], r: f64) -> Option<Verdict> {
        let xis: Vec<(usize, f64)> = candidates
            .iter()
            .enumerate()
            .filter_map(|(batch, reduction)| Some((batch, self.xi(reduction, r)?)))
            .collect();
        let &(batch, xi) = xis.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Verdict {
            batch,
            r,
            xi,
            passed: xis.len(),
        })
    }

    /// The places of `candidates` in the order in which they would be chosen: those that pass under the
    /// strictest r first, and among these the largest Σ ξ_c first.
    pub fn ranking(&self, candidates: &[Reduction], r: f64) -> Vec<usize> {
        let merit = |reduction: &Reduction| {
            let passes = relaxed(r).position(|r| self.xi(reduction, r).is_some());
            // Under one r, Σ ξ_c and the sum of the reductions differ by a constant.
            (passes.unwrap_or(usize::MAX), reduction.0.iter().sum::<f64>())
        };
        let merits: Vec<(usize, f64)> = candidates.iter().map(merit).collect();
        let mut ranking: Vec<usize> = (0..candidates.len()).collect();
        ranking.sort_by(|&a, &b| {
            let (a, b) = (merits[a], merits[b]);
            a.0.cmp(&b.0).then(b.1.total_cmp(&a.1))
        });
        ranking
    }
}

/// r, and the values that it is relaxed to when nothing passes: 0.9, 0.99, 0.999, ...
pub fn relaxed(r: f64) -> impl Iterator<Item = f64> {
    (0..=RELAXATIONS).map(move |k| 1.0 - (1.0 - r) * 0.1f64.powi(k))
}

/// sᵀ (GᵀG)† s for every class, with s = Gᵀe.
pub fn reduction(gram: &Matrix<f64>, s: &Matrix<f64>) -> Reduction {
    let (l, mut gram) = (gram.n_cols(), gram.clone());
    let mean_diagonal = (0..l).map(|i| gram[(i, i)]).sum::<f64>() / l as f64;
    for i in 0..l {
        gram[(i, i)] += BATCH_RIDGE * mean_diagonal;
    }
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    match solve_positive_definite(&gram, s) {
        Some(beta) => Reduction(
            s.cols()
                .zip(beta.cols())
                .map(|(s_c, beta_c)| inner(s_c, beta_c))
                .collect(),
        ),
        // Nodes that are zero everywhere or not finite reduce nothing.
        None => Reduction(vec![0.0; s.n_cols()]),
    }
}
