//! What a witness would be answered had it not been learned, in closed form.
//!
//! Leaving out a row of weight ω changes the mean of its class and takes ω n/(n - ω) d dᵀ from S, d its
//! distance from that mean: a change of rank one, whose effect on every distance follows from the evidence.

use super::evidence::Evidence;
use crate::consolidation::witness::Witness;
use crate::data::Table;
use crate::math::{Matrix, Real, product};

/// Share of itself that a row may determine before its own answer is rounding: 1 - leverage must exceed this.
const FREE: f64 = 1e-6;

/// Witnesses that can be left out: those whose class has other rows.
pub struct Jury<'a> {
    pub witnesses: Vec<&'a Witness>,
    /// Their node outputs about the mean, `(n, n_witnesses)`.
    pub columns: Matrix<f64>,
    /// The same as the pool puts them out.
    pub outputs: Table,
}

/// Scores of witnesses that were left out.
pub struct LeftOut {
    /// -N/2 times the squared distance to each class mean, `(n_witnesses, n_classes)`.
    pub lda: Matrix<f64>,
    /// One-hot least squares, `(n_witnesses, n_classes)`.
    pub ridge: Matrix<f64>,
    /// How far each witness is from the mean of all rows, squared, in units of their scatter.
    pub apart: Vec<f64>,
}

impl LeftOut {
    /// The scores of `jury`; `None` when a row determines its own answer entirely, which is a sign of rounding.
    pub fn new<T: Real>(evidence: &Evidence<'_, T>, jury: &Jury<'_>) -> Option<Self> {
        let centred = evidence.around.centred;
        let (n_rows, n_classes) = (centred.n_rows(), centred.counts.len());
        let columns = &jury.columns;
        let cast = Matrix::from_fn(columns.n_rows(), columns.n_cols(), |i, j| {
            T::nearest(columns[(i, j)])
        });
        let solved = evidence.factor.forward(cast);
        let u = product(solved.t(), evidence.means.view());
        let u = Matrix::from_fn(u.n_rows(), n_classes, |i, c| u[(i, c)].into());
        let fitted = product(u.view(), evidence.ridge.view());
        let mut out = Self {
            lda: Matrix::zeros(jury.witnesses.len(), n_classes),
            ridge: Matrix::zeros(jury.witnesses.len(), n_classes),
            apart: Vec::new(),
        };
        let inner = &evidence.inner;
        for (i, witness) in jury.witnesses.iter().enumerate() {
            let own = witness.place as usize;
            let (weight, count) = (witness.unit(), centred.counts[own]);
            let length: f64 = solved.col(i).iter().map(|&v| v.into() * v.into()).sum();
            let distance = |c: usize| length - 2.0 * u[(i, c)] + inner[(c, c)];
            let moved = count / (count - weight);
            let taken = if evidence.around.scatters {
                weight * moved
            } else {
                0.0
            };
            let to_own = distance(own);
            let free = 1.0 - taken * to_own;
            let explained: f64 = (0..n_classes).map(|c| fitted[(i, c)] * u[(i, c)]).sum();
            let apart = (length - explained).max(0.0);
            let leverage = weight * (apart + 1.0 / n_rows);
            if !(free > FREE && 1.0 - leverage > FREE) {
                return None;
            }
            for c in 0..n_classes {
                let along = length - u[(i, c)] - u[(i, own)] + inner[(own, c)];
                let left = if c == own {
                    moved * moved * to_own / free
                } else {
                    distance(c) + taken * along * along / free
                };
                out.lda[(i, c)] = -0.5 * (n_rows - weight) * left;
                let target = if c == own { 1.0 } else { 0.0 };
                let score = fitted[(i, c)] + centred.counts[c] / n_rows;
                out.ridge[(i, c)] = (score - leverage * target) / (1.0 - leverage);
            }
            out.apart.push(left_out_distance(apart, weight, n_rows));
        }
        Some(out)
    }

    /// N d²/(1 + 1/n) to the own class, on average: how far rows lie from the mean of their class.
    pub fn spread(&self, jury: &Jury<'_>, counts: &[f64]) -> f64 {
        let (mut sum, mut copies) = (0.0, 0.0);
        for (i, witness) in jury.witnesses.iter().enumerate() {
            let own = witness.place as usize;
            let others = counts[own] - witness.unit();
            sum += witness.copies * -2.0 * self.lda[(i, own)] / (1.0 + 1.0 / others);
            copies += witness.copies;
        }
        if copies > 0.0 { sum / copies } else { 0.0 }
    }
}

/// (N - ω) times the squared distance from the mean of the others, of a row of weight ω at distance
/// `apart` from the mean of all, by the scatter of the others.
pub fn left_out_distance(apart: f64, weight: f64, n_rows: f64) -> f64 {
    let moved = n_rows / (n_rows - weight).max(f64::MIN_POSITIVE);
    let free = (1.0 - weight * moved * apart).max(FREE);
    (n_rows - weight) * moved * moved * apart / free
}

#[cfg(test)]
mod tests {
    use super::super::centred::Centred;
    use super::super::evidence::Around;
    use super::*;
    use crate::math::{Cholesky, Random, Stream, gram};
    use crate::pool::Standard;

    const N_NODES: usize = 8;
    const RHO: f64 = 0.7;

    /// Rows of three classes, one of which has only two.
    fn rows() -> (Vec<Vec<f64>>, Vec<u32>) {
        let mut random = Random::new(5, Stream::Pool { layer: 0 });
        let places: Vec<u32> = (0..31).map(|i| if i < 2 { 2 } else { i % 2 }).collect();
        let row = |&place: &u32| {
            let shift = f64::from(place) - 1.0;
            (0..N_NODES)
                .map(|j| f64::from(random.normal()) + if j < 3 { shift } else { 0.0 })
                .collect()
        };
        (places.iter().map(row).collect(), places)
    }

    /// Sums about the mean, straight from their definition.
    fn centred(rows: &[&Vec<f64>], places: &[u32]) -> Centred {
        let n = rows.len() as f64;
        let means: Vec<f64> = (0..N_NODES)
            .map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n)
            .collect();
        let about = Matrix::from_fn(rows.len(), N_NODES, |i, j| rows[i][j] - means[j]);
        let count = |c: usize| places.iter().filter(|&&place| place as usize == c).count() as f64;
        let of_class = |c: usize| (0..rows.len()).filter(move |&i| places[i] as usize == c);
        Centred {
            gram: gram(about.view()),
            moments: Matrix::from_fn(N_NODES, 3, |j, c| of_class(c).map(|i| about[(i, j)]).sum()),
            counts: (0..3).map(count).collect(),
            means,
            standard: Standard::nothing(N_NODES),
        }
    }

    /// Distances and ridge scores of a row among these sums, by explicit inverses.
    fn slow(centred: &Centred, row: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
        let (n, means) = (centred.n_rows(), centred.class_means());
        let x = Matrix::from_fn(N_NODES, 1, |j, _| row[j] - centred.means[j]);
        let with_ridge = |mut a: Matrix<f64>| {
            (0..N_NODES).for_each(|j| a[(j, j)] += RHO);
            Cholesky::new(a).unwrap()
        };
        let (within, whole) = (
            with_ridge(centred.scatter(&means)),
            with_ridge(centred.gram.clone()),
        );
        let distance = |c: usize| {
            let apart = Matrix::from_fn(N_NODES, 1, |j, _| x[(j, 0)] - means[(j, c)]);
            -0.5 * n * within.lengths(apart)[0]
        };
        let weights = whole.solve(&centred.moments);
        let scores = product(weights.t(), x.view());
        (
            (0..3).map(distance).collect(),
            (0..3).map(|c| scores[(c, 0)] + centred.counts[c] / n).collect(),
            n * whole.lengths(x)[0],
        )
    }

    #[test]
    fn a_witness_left_out_is_one_that_was_never_learned() {
        let (rows, places) = rows();
        let all: Vec<&Vec<f64>> = rows.iter().collect();
        let whole = centred(&all, &places);
        let around = Around::new(&whole);
        let evidence = Evidence::<f64>::new(&around, RHO).unwrap();
        let witnesses: Vec<Witness> = places
            .iter()
            .map(|&place| Witness::new(&[], place, 1.0, 1.0))
            .collect();
        let jury = Jury {
            witnesses: witnesses.iter().collect(),
            columns: Matrix::from_fn(N_NODES, rows.len(), |j, i| rows[i][j] - whole.means[j]),
            outputs: Table::new(vec![0.0], 1).unwrap(),
        };
        let left_out = LeftOut::new(&evidence, &jury).unwrap();
        for i in 0..rows.len() {
            let others: Vec<usize> = (0..rows.len()).filter(|&k| k != i).collect();
            let without: Vec<&Vec<f64>> = others.iter().map(|&k| &rows[k]).collect();
            let others: Vec<u32> = others.iter().map(|&k| places[k]).collect();
            let (lda, ridge, apart) = slow(&centred(&without, &others), &rows[i]);
            for c in 0..3 {
                assert!(
                    (left_out.lda[(i, c)] - lda[c]).abs() < 1e-8 * lda[c].abs(),
                    "lda of {i}, {c}"
                );
                assert!(
                    (left_out.ridge[(i, c)] - ridge[c]).abs() < 1e-9,
                    "ridge of {i}, {c}"
                );
            }
            assert!(
                (left_out.apart[i] - apart).abs() < 1e-8 * apart,
                "{i}: {} {apart}",
                left_out.apart[i]
            );
        }
    }

    #[test]
    fn ridge_from_evidence_is_ridge_from_its_own_factor() {
        let (rows, places) = rows();
        let all: Vec<&Vec<f64>> = rows.iter().collect();
        let whole = centred(&all, &places);
        let around = Around::new(&whole);
        let evidence = Evidence::<f64>::new(&around, RHO).unwrap();
        let row = [0.3, -1.0, 2.0, 0.1, 0.0, 0.5, -0.7, 1.1];
        let x = Matrix::from_fn(N_NODES, 1, |j, _| row[j] - whole.means[j]);
        let solved = evidence.factor.forward(x);
        let u = product(evidence.means.t(), solved.view());
        let (_, ridge, _) = slow(&whole, &row);
        for (c, truth) in ridge.iter().enumerate() {
            let found: f64 = (0..3).map(|k| evidence.ridge[(c, k)] * u[(k, 0)]).sum();
            assert!((found + whole.counts[c] / whole.n_rows() - truth).abs() < 1e-10);
        }
    }
}
