//! What a row would be answered if its class were new: known by one other row, and by nothing else.
//!
//! A class of one row has nobody to leave out, so no witness can say how often its rows are mistaken for others. But
//! witnesses of larger classes can, each judged as if it were of such a class. The next witness of the class stands for
//! its mean, and what its witnesses scatter is taken out of the sums, which do not know how rows of a new class scatter.
//! Witnesses are only some of the rows of their class, so this does not make them as strange as rows of new classes are.
//! What it adds to their products is therefore multiplied until they are as long as the rows of classes of one row.

use super::evidence::NO_ROWS;
use super::seen::Seen;
use crate::math::{Cholesky, Matrix, product, square_lengths};

/// Whether a class of `count` rows has one: nobody is left when it is left out.
pub fn is_single(count: f64) -> bool {
    count > 0.0 && count <= 1.0 + 1e-6
}

/// A row of a class that is known by one other row.
#[derive(Clone, Debug)]
pub struct Newcomer {
    /// Its place among the witnesses.
    pub at: usize,
    /// Evidence for each class.
    pub evidence: Vec<f64>,
    /// Squared length of each class mean.
    pub lengths: Vec<f64>,
    /// How much more often than all rows those like it are of each class, by ridge.
    pub lifts: Vec<f64>,
}

/// Witnesses of the class at `own` and the means of all classes: their products by the inverse of some scatter.
struct Products {
    own: usize,
    /// Rows by rows.
    rows: Matrix<f64>,
    /// Rows by means.
    across: Matrix<f64>,
    /// The mean of their class by means.
    own_mean: Vec<f64>,
    /// Squared lengths of the means.
    lengths: Vec<f64>,
}

impl Products {
    /// What they gain when the scatter loses that of the rows, of these weights ω, around their mean m; `None` if there is
    /// nothing else in some direction.
    ///
    /// That scatter is D diag(ω) Dᵀ, D the rows less m, so a·b gains aᵀA⁻¹D (diag(1/ω) - DᵀA⁻¹D)⁻¹ DᵀA⁻¹b.
    fn gained(&self, weights: &[f64]) -> Option<Self> {
        let (n, own) = (self.rows.n_cols(), self.own);
        let with_rows = Matrix::from_fn(n, n, |d, j| self.rows[(d, j)] - self.across[(j, own)]);
        let with_means = Matrix::from_fn(n, self.lengths.len(), |d, c| {
            self.across[(d, c)] - self.own_mean[c]
        });
        let free = Matrix::from_fn(n, n, |i, j| {
            let kept = if i == j { 1.0 / weights[i] } else { 0.0 };
            kept - (with_rows[(i, j)] - with_means[(i, own)])
        });
        let factor = Cholesky::new(free)?;
        let (with_rows, with_means) = (factor.forward(with_rows), factor.forward(with_means));
        Some(Self {
            own,
            rows: product(with_rows.t(), with_rows.view()),
            across: product(with_rows.t(), with_means.view()),
            own_mean: product(with_means.columns(own, own + 1).t(), with_means.view()).into_values(),
            lengths: square_lengths(with_means.view()),
        })
    }

    /// The same, with all points moved away from the mean: by `further` times the mean of their class.
    fn moved(&self, further: f64) -> Self {
        let own = self.own;
        let (row, mean) = (|i: usize| self.across[(i, own)], |c: usize| self.own_mean[c]);
        let more = |a: f64, b: f64| further * (a + b) + further * further * mean(own);
        let (n, n_classes) = (self.rows.n_cols(), self.lengths.len());
        Self {
            own,
            rows: Matrix::from_fn(n, n, |i, j| self.rows[(i, j)] + more(row(i), row(j))),
            across: Matrix::from_fn(n, n_classes, |i, c| self.across[(i, c)] + more(row(i), mean(c))),
            own_mean: (0..n_classes)
                .map(|c| mean(c) + more(mean(own), mean(c)))
                .collect(),
            lengths: (0..n_classes)
                .map(|c| self.lengths[c] + more(mean(c), mean(c)))
                .collect(),
        }
    }

    /// Adds `times` those of `gained`.
    fn add(&mut self, times: f64, gained: &Self) {
        let add = |to: &mut [f64], from: &[f64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += times * from);
        };
        add(self.rows.values_mut(), gained.rows.values());
        add(self.across.values_mut(), gained.across.values());
        add(&mut self.own_mean, &gained.own_mean);
        add(&mut self.lengths, &gained.lengths);
    }

    /// Row `i` beside the mean of the class at `c`; that of their own class is row `r`.
    fn to_mean(&self, i: usize, c: usize, r: usize) -> f64 {
        if c == self.own {
            self.rows[(i, r)]
        } else {
            self.across[(i, c)]
        }
    }

    /// Squared length of the mean of the class at `c`; that of their own class is row `r`.
    fn length(&self, c: usize, r: usize) -> f64 {
        if c == self.own {
            self.rows[(r, r)]
        } else {
            self.lengths[c]
        }
    }

    /// The sum of the squared lengths of the rows.
    fn sum_of_lengths(&self) -> f64 {
        (0..self.rows.n_cols()).map(|i| self.rows[(i, i)]).sum()
    }
}

/// Products of each class before they gain anything, and what they gain.
#[derive(Default)]
struct OfClasses(Vec<(Products, Products)>);

impl OfClasses {
    /// With the gains multiplied so that rows have this squared length on average.
    fn of_length(self, length: f64) -> Vec<Products> {
        let n: usize = self.0.iter().map(|(before, _)| before.rows.n_cols()).sum();
        let before: f64 = self.0.iter().map(|(before, _)| before.sum_of_lengths()).sum();
        let gained: f64 = self.0.iter().map(|(_, gained)| gained.sum_of_lengths()).sum();
        let times = ((n as f64 * length - before) / gained.max(f64::MIN_POSITIVE)).max(1.0);
        let with = |(mut before, gained): (Products, Products)| {
            before.add(times, &gained);
            before
        };
        self.0.into_iter().map(with).collect()
    }
}

/// Those of one class by A⁻¹, and by the scatter of all rows.
type Both = [(Products, Products); 2];

impl Seen<'_> {
    /// What the witnesses would be answered if their class were new; none for those that cannot say.
    pub fn newcomers(&self) -> Vec<Newcomer> {
        let counts = self.counts;
        let singles: Vec<usize> = (0..counts.len()).filter(|&c| is_single(counts[c])).collect();
        if singles.is_empty() || !self.scatters {
            return Vec::new();
        }
        let fitted_means = product(self.inner.view(), self.ridge.view());
        let (mut places, mut within, mut whole) = (Vec::new(), OfClasses::default(), OfClasses::default());
        for (own, rows) in self.jury.of_each_class(counts.len()).into_iter().enumerate() {
            if let Some([by_own, by_all]) = self.of_class(own, &rows, &fitted_means) {
                places.push(rows);
                within.0.push(by_own);
                whole.0.push(by_all);
            }
        }
        let mean = |length: &dyn Fn(usize) -> f64| {
            singles.iter().map(|&c| length(c)).sum::<f64>() / singles.len() as f64
        };
        let within = within.of_length(mean(&|c| self.inner[(c, c)]));
        // By the scatter of the others, as if the row were left out.
        let whole = whole.of_length(mean(&|c| {
            let own = fitted_means[(c, c)] / counts[c];
            own / (1.0 - own).max(NO_ROWS)
        }));
        let classes = within.iter().zip(&whole).zip(&places);
        classes
            .flat_map(|((within, whole), rows)| self.answered(rows, within, whole))
            .collect()
    }

    /// Products of the witnesses at `rows`, those of the class at `own`; none if there are no two.
    fn of_class(&self, own: usize, rows: &[usize], fitted_means: &Matrix<f64>) -> Option<Both> {
        if rows.len() < 2 {
            return None;
        }
        let weights: Vec<f64> = rows.iter().map(|&i| self.jury.witnesses[i].unit()).collect();
        // The mean of all rows without the class is further from it by this share of its own mean.
        let further = self.counts[own] / self.n_others(own);
        let within = Products {
            own,
            rows: self.blocks[own].clone(),
            across: self.u.gather_rows(rows),
            own_mean: self.inner.col(own).to_vec(),
            lengths: (0..self.u.n_cols()).map(|c| self.inner[(c, c)]).collect(),
        };
        let whole = self.by_all(&within, rows, fitted_means);
        let both = |products: Products| {
            let gained = products.gained(&weights)?;
            Some((products.moved(further), gained.moved(further)))
        };
        Some([both(within)?, both(whole)?])
    }

    /// Products by the scatter of all rows without the mean of the own class, which is n N / (N - n) m mᵀ of it.
    fn by_all(&self, within: &Products, rows: &[usize], fitted_means: &Matrix<f64>) -> Products {
        let (own, counts) = (within.own, self.counts);
        let fitted = self.fitted.gather_rows(rows);
        let between = product(within.across.view(), fitted.t());
        let row = |i: usize| fitted[(i, own)] / counts[own];
        let mean = |c: usize| fitted_means[(c, own)] / counts[own];
        let gained = 1.0 / (1.0 / counts[own] - 1.0 / self.n_rows() - mean(own));
        let each = |c: usize| counts[c].max(NO_ROWS);
        Products {
            own,
            rows: Matrix::from_fn(rows.len(), rows.len(), |i, j| {
                within.rows[(i, j)] - between[(i, j)] + gained * row(i) * row(j)
            }),
            across: Matrix::from_fn(rows.len(), counts.len(), |i, c| {
                fitted[(i, c)] / each(c) + gained * row(i) * mean(c)
            }),
            own_mean: (0..counts.len())
                .map(|c| mean(c) + gained * mean(own) * mean(c))
                .collect(),
            lengths: (0..counts.len())
                .map(|c| fitted_means[(c, c)] / each(c) + gained * mean(c) * mean(c))
                .collect(),
        }
    }

    /// Number of rows that are not of the class at `own`.
    fn n_others(&self, own: usize) -> f64 {
        self.n_rows() - self.counts[own]
    }

    /// What witnesses of one class, those at `rows`, are answered.
    fn answered(&self, rows: &[usize], within: &Products, whole: &Products) -> Vec<Newcomer> {
        let n_others = self.n_others(within.own);
        let of_each =
            |score: &dyn Fn(usize) -> f64| (0..self.u.n_cols()).map(|c| n_others * score(c)).collect();
        let newcomer = |x: usize| {
            let r = (x + 1) % rows.len();
            // The other row is the mean of its class, and the only row of it among all.
            let alone = 1.0 + whole.rows[(r, r)];
            let share = whole.rows[(x, r)] / alone;
            Newcomer {
                at: rows[x],
                evidence: of_each(&|c| within.to_mean(x, c, r)),
                lengths: of_each(&|c| within.length(c, r)),
                lifts: of_each(&|c| whole.to_mean(x, c, r) - share * whole.to_mean(r, c, r)),
            }
        };
        (0..rows.len()).map(newcomer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::centred::Centred;
    use super::super::evidence::{Around, Evidence};
    use super::super::jury::Jury;
    use super::*;
    use crate::consolidation::witness::Witness;
    use crate::data::Table;
    use crate::math::{Random, Stream};

    const N_NODES: usize = 6;
    const RHO: f64 = 0.4;

    /// Where all rows of a class are witnesses, they see each other as if the sums had none of them.
    #[test]
    fn a_newcomer_is_a_row_of_a_class_that_was_never_learned() {
        let mut random = Random::new(8, Stream::Pool { layer: 0 });
        let places: Vec<u32> = (0..25).map(|i| if i == 24 { 3 } else { i % 3 }).collect();
        let rows: Vec<Vec<f64>> = places
            .iter()
            .map(|&place| {
                let row = (0..N_NODES).map(|j| if j == place as usize { 2.0 } else { 0.0 });
                row.map(|v: f32| f64::from(v + random.normal())).collect()
            })
            .collect();
        let of = |places_: &[usize]| {
            let rows: Vec<&Vec<f64>> = places_.iter().map(|&i| &rows[i]).collect();
            Centred::of_rows(
                &rows,
                &places_.iter().map(|&i| places[i]).collect::<Vec<u32>>(),
                4,
            )
        };
        let all = of(&(0..rows.len()).collect::<Vec<_>>());
        let around = Around::new(&all);
        let evidence = Evidence::<f64>::new(&around, RHO).unwrap();
        let witnesses: Vec<Witness> = places
            .iter()
            .map(|&place| Witness::new(&[], place, 1.0, 1.0))
            .collect();
        let h = Table::new(rows[..24].iter().flatten().map(|&v| v as f32).collect(), N_NODES).unwrap();
        let jury = Jury {
            witnesses: witnesses.iter().take(24).collect(),
            seen: vec![0.0; 4],
            h: h.rows(),
            at: (0..24).collect(),
        };
        let seen = Seen::new(&evidence, &jury);
        let fitted_means = product(evidence.inner.view(), evidence.ridge.view());
        for own in 0..3 {
            let (mine, others): (Vec<usize>, Vec<usize>) =
                (0..rows.len()).partition(|&i| places[i] as usize == own);
            let without = of(&others);
            let means = without.class_means();
            let x = Matrix::from_fn(N_NODES, mine.len(), |j, i| rows[mine[i]][j] - without.means[j]);
            let [whole, within] = without.both();
            let found = seen.of_class(own, &mine, &fitted_means).unwrap();
            for (mut scatter, (mut before, gained)) in [within, whole].into_iter().zip(found) {
                (0..N_NODES).for_each(|j| scatter[(j, j)] += RHO);
                let solved = Cholesky::new(scatter).unwrap().solve(&x);
                let (by_rows, by_means) = (product(x.t(), solved.view()), product(solved.t(), means.view()));
                before.add(1.0, &gained);
                for i in 0..mine.len() {
                    for j in 0..mine.len() {
                        assert!((before.rows[(i, j)] - by_rows[(i, j)]).abs() < 1e-9);
                    }
                    for c in (0..4).filter(|&c| c != own) {
                        assert!((before.across[(i, c)] - by_means[(i, c)]).abs() < 1e-9);
                    }
                }
            }
        }
    }
}
