//! How far does a random layer take ridge regression? RanPAC's recipe, without its trained first session: 10,000 random ReLU nodes, and a
//! ridge constant that is chosen anew for each task.
//!
//! McDonnell et al., "RanPAC: random projections and pre-trained models for continual learning", NeurIPS 2023. As in the
//! published program, the constant is the one of 10⁻⁸ to 10⁸ that is best on the last fifth of a task after a fit to the other rows; then
//! all sums so far are solved with it. Rows are shuffled first, since those of a data set may be sorted. Of a task with more than
//! 5,000 rows, 5,000 choose.

use autoactivator::Error;
use autoactivator::math::{Cholesky, Matrix, Random, Stream, product};

use super::super::scored::{Baseline, Lesson};
use super::ridge::{Recipe, ReluNodes, ReluRidge};

/// Exponents of the ridge constants that are tried.
const EXPONENTS: std::ops::RangeInclusive<i32> = -8..=8;

/// Rows of a task that choose the constant, at most.
const CHOOSING: usize = 5000;

/// RanPAC's recipe.
pub type RanPac = Baseline<ReluRidge<RandomProjection>>;

/// The recipe of [`RanPac`].
#[derive(Clone, Debug)]
pub struct RandomProjection;

impl Recipe for RandomProjection {
    const NAME: &'static str = "ranpac";
    // What is large enough for a few rows may be too small for the precision of all sums.
    const HIGHEST: f32 = 1e8;

    fn weight(random: &mut Random, _: usize) -> f32 {
        random.normal()
    }

    fn constant(nodes: &ReluNodes, lesson: &Lesson<'_>, seed: u64) -> Result<f32, Error> {
        let mut order: Vec<usize> = (0..lesson.x.len()).collect();
        Random::new(seed, Stream::Validation { task: lesson.task }).shuffle(&mut order);
        order.truncate(CHOOSING);
        let places: Vec<u32> = order.iter().map(|&i| lesson.places[i]).collect();
        let h = nodes.outputs(lesson.x.gather(&order).rows());
        choose(&h, &places, lesson.n_classes, lesson)
    }
}

/// The constant that is best for the last fifth of these rows after a fit to the others.
///
/// The fit is solved for rows, not for nodes, since there are fewer: what H w is for other rows follows from products of rows alone,
/// Hᵥ Hᵀ (H Hᵀ + λI)⁻¹ Y.
fn choose(h: &Matrix<f32>, places: &[u32], n_classes: usize, lesson: &Lesson<'_>) -> Result<f32, Error> {
    let n = h.n_rows() * 4 / 5;
    let y = |from: usize, rows: usize| {
        let is_of = |i: usize, c: usize| f32::from(u8::from(places[from + i] as usize == c));
        Matrix::from_fn(rows, n_classes, is_of)
    };
    let (fitted, judged) = (h.view().rows(0..n), h.view().rows(n..h.n_rows()));
    let gram = product(fitted, fitted.t());
    let across = product(judged, fitted.t());
    let (y, wanted) = (y(0, n), y(n, h.n_rows() - n));
    let mut best = (f64::INFINITY, RandomProjection::HIGHEST);
    for exponent in EXPONENTS {
        lesson.go_on()?;
        let ridge = 10.0_f32.powi(exponent);
        let mut a = gram.clone();
        (0..n).for_each(|i| a[(i, i)] += ridge);
        // Constants too small for single precision have no factor.
        let Some(factor) = Cholesky::new(a) else { continue };
        let said = product(across.view(), factor.solve(&y).view());
        let pairs = said.values().iter().zip(wanted.values());
        let loss: f64 = pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum();
        if loss < best.0 {
            best = (loss, ridge);
        }
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use autoactivator::Rows;

    use super::super::ridge::RidgeSums;
    use super::*;

    /// The choice among rows is that among nodes, (HᵀH + λI)⁻¹ HᵀY, tried with every constant.
    #[test]
    fn the_constant_is_the_best_of_all_on_the_last_fifth() -> Result<(), Error> {
        let values: Vec<f32> = (0..200).map(|i| ((i * 37) % 101) as f32 / 101.0 - 0.4).collect();
        let places: Vec<u32> = (0..50).map(|i| ((i * 7) % 5 / 2) as u32).collect();
        let x = Rows::new(&values, 4)?;
        let lesson = Lesson {
            x,
            places: &places,
            n_classes: 3,
            task: 0,
            observer: &(),
        };
        let nodes = ReluNodes::draw(4, 60, 3, Random::normal);
        let h = nodes.outputs(x);
        let loss = |exponent: i32| {
            let mut sums = RidgeSums::new(60);
            sums.add(&nodes, Rows::new(&values[..160], 4).ok()?, &places[..40], 3);
            let weights = sums.solve(10.0_f32.powi(exponent))?;
            let said = product(h.view().rows(40..50), weights.view());
            let wanted = |i: usize, c: usize| f32::from(u8::from(places[40 + i] as usize == c));
            let of = |i: usize| (0..3).map(|c| (said[(i, c)] - wanted(i, c)).powi(2)).sum::<f32>();
            Some((0..10).map(of).sum::<f32>())
        };
        let losses = (-4..=8).filter_map(|e| Some((loss(e)?, e)));
        let best = losses
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, e)| 10.0_f32.powi(e));
        assert_eq!(Some(choose(&h, &places, 3, &lesson)?), best);
        Ok(())
    }
}
