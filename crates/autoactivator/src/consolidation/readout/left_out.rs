//! What a witness would be answered had it not been learned, in closed form.
//!
//! Leaving out a row of weight ω changes the mean of its class and takes ω n/(n - ω) d dᵀ from S, d its
//! distance from that mean: a change of rank one, whose effect on every distance follows from the evidence.

use rayon::prelude::*;

use super::belief::Belief;
use super::evidence::NO_ROWS;
use super::jury::Jury;
use super::seen::Seen;
use crate::consolidation::witness::Witness;
use crate::math::Matrix;

/// Share of itself that a row may determine before its own answer is rounding: 1 - leverage must exceed this.
const FREE: f64 = 1e-6;

/// Scores of witnesses that were left out.
pub struct LeftOut {
    /// Number of rows learned, witnesses included.
    n_rows: f64,
    /// Evidence for each class, `(n_witnesses, n_classes)`.
    pub evidence: Matrix<f64>,
    /// Squared length of each class mean, as it would be without the witness, `(n_witnesses, n_classes)`.
    pub lengths: Matrix<f64>,
    /// Squared length of each witness. All three are about the mean of the other rows, in units of their scatter.
    pub own: Vec<f64>,
    /// One-hot least squares, `(n_witnesses, n_classes)`.
    pub ridge: Matrix<f64>,
    /// How far each witness is from the mean of all rows, squared, in units of how all rows scatter.
    pub apart: Vec<f64>,
}

impl LeftOut {
    /// The scores of the witnesses; `None` when a row determines its own answer entirely, which is a sign of rounding.
    pub fn new(seen: &Seen<'_>) -> Option<Self> {
        let rows = (0..seen.u.n_rows()).into_par_iter().map(|i| Row::new(seen, i));
        let rows: Option<Vec<Row>> = rows.collect();
        let rows = rows?;
        let of_each = |value: &(dyn Fn(&Row, usize) -> f64 + Sync)| {
            Matrix::filled(rows.len(), seen.u.n_cols(), |i, c| value(&rows[i], c))
        };
        Some(Self {
            n_rows: seen.n_rows(),
            evidence: of_each(&|row, c| row.evidence[c]),
            lengths: of_each(&|row, c| row.lengths[c]),
            ridge: of_each(&|row, c| row.ridge[c]),
            own: rows.iter().map(|row| row.own).collect(),
            apart: rows.iter().map(|row| row.apart).collect(),
        })
    }

    /// Squared distance of witness `i` from the mean of the class at `c`.
    pub fn distance(&self, i: usize, c: usize) -> f64 {
        self.own[i] - 2.0 * self.evidence[(i, c)] + self.lengths[(i, c)]
    }

    /// Score of the class at `c` by discriminant analysis, of `witness`, the one at `i`, with the means of classes of
    /// `counts` rows as far as they are believed.
    pub fn likely(&self, i: usize, c: usize, witness: &Witness, counts: &[f64], belief: Belief) -> f64 {
        belief.score(
            others(c, witness, counts),
            self.evidence[(i, c)],
            self.lengths[(i, c)],
        )
    }

    /// How much more often than all rows those like `witness`, the one at `i`, are of the class at `c`, by ridge: 0 says
    /// as often. It is the evidence by the scatter of all rows.
    pub fn lift(&self, i: usize, c: usize, witness: &Witness, counts: &[f64]) -> f64 {
        self.ridge[(i, c)] * (self.n_rows - witness.unit()) / others(c, witness, counts).max(NO_ROWS) - 1.0
    }

    /// d²/(1 + 1/n) to the own class, on average: how far rows lie from the mean of their class.
    pub fn spread(&self, jury: &Jury<'_>, counts: &[f64]) -> f64 {
        jury.mean(|i, witness| {
            let own = witness.place as usize;
            self.distance(i, own) / (1.0 + 1.0 / (counts[own] - witness.unit()))
        })
    }
}

/// What [`LeftOut`] has of one witness.
struct Row {
    evidence: Vec<f64>,
    lengths: Vec<f64>,
    own: f64,
    ridge: Vec<f64>,
    apart: f64,
}

impl Row {
    /// Of witness `i`; `None` if it determines its own answer.
    fn new(seen: &Seen<'_>, i: usize) -> Option<Self> {
        let Seen { u, fitted, .. } = seen;
        let (n_rows, n_classes) = (seen.n_rows(), u.n_cols());
        let witness = seen.jury.witnesses[i];
        let (own, weight) = (witness.place as usize, witness.unit());
        let mut row = Self::measured(seen, i, own, weight)?;
        let explained: f64 = (0..n_classes).map(|c| fitted[(i, c)] * u[(i, c)]).sum();
        let apart = (seen.lengths[i] - explained).max(0.0);
        let leverage = weight * (apart + 1.0 / n_rows);
        if 1.0 - leverage <= FREE {
            return None;
        }
        let ridge = |c: usize| {
            let target = if c == own { 1.0 } else { 0.0 };
            let score = fitted[(i, c)] + seen.counts[c] / n_rows;
            (score - leverage * target) / (1.0 - leverage)
        };
        row.ridge = (0..n_classes).map(ridge).collect();
        row.apart = left_out_distance(apart, weight, n_rows);
        Some(row)
    }

    /// Evidence and lengths of witness `i`, of the class at `own`; `None` if it is alone in some direction.
    fn measured(seen: &Seen<'_>, i: usize, own: usize, weight: f64) -> Option<Self> {
        let (u, inner, length) = (&seen.u, seen.inner, seen.lengths[i]);
        let (count, n_rows) = (seen.counts[own], seen.n_rows());
        // x and every m_c beside d = x - m_own, by A⁻¹. Without the row, A loses `taken` d dᵀ.
        let of_row = length - u[(i, own)];
        let of_mean = |c: usize| u[(i, c)] - inner[(c, own)];
        let to_own = of_row - of_mean(own);
        let taken = if seen.scatters {
            weight * count / (count - weight)
        } else {
            0.0
        };
        let free = 1.0 - taken * to_own;
        if free.is_nan() || free <= FREE {
            return None;
        }
        let gained = taken / free;
        let length = length + gained * of_row * of_row;
        // The mean of its own class moves away from the row, and that of all rows a little.
        let (moved, shifted) = (weight / (count - weight), weight / (n_rows - weight));
        let of_class = |c: usize| {
            let mut evidence = u[(i, c)] + gained * of_mean(c) * of_row;
            let mut squared = inner[(c, c)] + gained * of_mean(c) * of_mean(c);
            if c == own {
                evidence -= moved * of_row / free;
                squared += (moved * to_own - 2.0 * of_mean(own)) * moved / free;
            }
            let about = (1.0 + shifted) * (evidence + shifted * length);
            let squared_about = squared + shifted * (2.0 * evidence + shifted * length);
            ((n_rows - weight) * about, (n_rows - weight) * squared_about)
        };
        let (evidence, lengths) = (0..u.n_cols()).map(of_class).unzip();
        Some(Self {
            evidence,
            lengths,
            own: (n_rows - weight) * (1.0 + shifted).powi(2) * length,
            ridge: Vec::new(),
            apart: 0.0,
        })
    }
}

/// Rows of the class at `c` beside `witness`.
fn others(c: usize, witness: &Witness, counts: &[f64]) -> f64 {
    let itself = if c == witness.place as usize {
        witness.unit()
    } else {
        0.0
    };
    counts[c] - itself
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
    use super::super::evidence::{Around, Evidence};
    use super::*;
    use crate::data::Table;
    use crate::math::{Cholesky, Random, Stream, product};

    const N_NODES: usize = 8;
    const RHO: f64 = 0.7;

    /// Rows of three classes, one of which has only two.
    fn rows() -> (Vec<Vec<f64>>, Vec<u32>) {
        let mut random = Random::new(5, Stream::Pool { layer: 0 });
        let places: Vec<u32> = (0..31).map(|i| if i < 2 { 2 } else { i % 2 }).collect();
        let row = |&place: &u32| {
            let shift = place as f32 - 1.0;
            (0..N_NODES)
                .map(|j| f64::from(random.normal() + if j < 3 { shift } else { 0.0 }))
                .collect()
        };
        (places.iter().map(row).collect(), places)
    }

    /// Evidence, lengths, ridge scores, distances and lifts of a row among these sums, by explicit inverses.
    fn slow(centred: &Centred, row: &[f64]) -> [Vec<f64>; 5] {
        let (n, means) = (centred.n_rows(), centred.class_means());
        let x = Matrix::from_fn(N_NODES, 1, |j, _| row[j] - centred.means[j]);
        let with_ridge = |mut a: Matrix<f64>| {
            (0..N_NODES).for_each(|j| a[(j, j)] += RHO);
            Cholesky::new(a).unwrap()
        };
        let [whole, within] = centred.both().map(with_ridge);
        let inverse = within.solve(&means);
        let (evidence, inner) = (product(inverse.t(), x.view()), product(inverse.t(), means.view()));
        let weights = whole.solve(&centred.moments);
        let scores = product(weights.t(), x.view());
        let lifts = product(whole.solve(&means).t(), x.view());
        [
            (0..3).map(|c| n * evidence[(c, 0)]).collect(),
            (0..3).map(|c| n * inner[(c, c)]).collect(),
            (0..3).map(|c| scores[(c, 0)] + centred.counts[c] / n).collect(),
            vec![n * within.lengths(x.clone())[0], n * whole.lengths(x)[0]],
            (0..3).map(|c| n * lifts[(c, 0)]).collect(),
        ]
    }

    #[test]
    fn a_witness_left_out_is_one_that_was_never_learned() {
        let (rows, places) = rows();
        let all: Vec<&Vec<f64>> = rows.iter().collect();
        let whole = Centred::of_rows(&all, &places, 3);
        let around = Around::new(&whole);
        let evidence = Evidence::<f64>::new(&around, RHO).unwrap();
        let witnesses: Vec<Witness> = places
            .iter()
            .map(|&place| Witness::new(&[], place, 1.0, 1.0))
            .collect();
        let h = Table::new(rows.iter().flatten().map(|&v| v as f32).collect(), N_NODES).unwrap();
        let jury = Jury {
            witnesses: witnesses.iter().collect(),
            seen: vec![0.0; 3],
            h: h.rows(),
            at: (0..rows.len()).collect(),
        };
        let left_out = LeftOut::new(&Seen::new(&evidence, &jury)).unwrap();
        for i in 0..rows.len() {
            let others: Vec<usize> = (0..rows.len()).filter(|&k| k != i).collect();
            let without: Vec<&Vec<f64>> = others.iter().map(|&k| &rows[k]).collect();
            let others: Vec<u32> = others.iter().map(|&k| places[k]).collect();
            let [evidence, lengths, ridge, own, lifts] =
                slow(&Centred::of_rows(&without, &others, 3), &rows[i]);
            let same = |found: f64, truth: f64, what: &str| {
                assert!(
                    (found - truth).abs() < 1e-8 * truth.abs().max(1.0),
                    "{what} of {i}: {found} {truth}"
                );
            };
            for c in 0..3 {
                same(left_out.evidence[(i, c)], evidence[c], "evidence");
                same(left_out.lengths[(i, c)], lengths[c], "length");
                same(left_out.ridge[(i, c)], ridge[c], "ridge");
                let lift = left_out.lift(i, c, &witnesses[i], &whole.counts);
                same(lift, lifts[c], "lift");
                let distance = own[0] - 2.0 * evidence[c] + lengths[c];
                same(left_out.distance(i, c), distance, "distance");
            }
            same(left_out.own[i], own[0], "own length");
            same(left_out.apart[i], own[1], "distance from all");
        }
    }

    #[test]
    fn ridge_from_evidence_is_ridge_from_its_own_factor() {
        let (rows, places) = rows();
        let all: Vec<&Vec<f64>> = rows.iter().collect();
        let whole = Centred::of_rows(&all, &places, 3);
        let around = Around::new(&whole);
        let evidence = Evidence::<f64>::new(&around, RHO).unwrap();
        let row = [0.3, -1.0, 2.0, 0.1, 0.0, 0.5, -0.7, 1.1];
        let x = Matrix::from_fn(N_NODES, 1, |j, _| row[j] - whole.means[j]);
        let solved = evidence.factor.forward(x);
        let u = product(evidence.means.t(), solved.view());
        let [_, _, ridge, _, _] = slow(&whole, &row);
        for (c, truth) in ridge.iter().enumerate() {
            let found: f64 = (0..3).map(|k| evidence.ridge[(c, k)] * u[(k, 0)]).sum();
            assert!((found + whole.counts[c] / whole.n_rows() - truth).abs() < 1e-10);
        }
    }
}
