//! The pool for data about which nothing was specified.
//!
//! Five rules, from what the first task shows. Images of some size get filters and random nodes on them. Wide
//! rows whose length tells nothing, because it is always the same or made of amounts, such as embeddings of length 1,
//! pooled activations or pixels, are directions: they are brought to one length, and random nodes are squares of
//! projections. Amounts have long tails, so their roots are taken first; of values with a sign, which have none, a root
//! would only blow up the smallest. Everything else is a table of columns with units of their own, which are made comparable one by
//! one; random nodes are thresholds if there are few columns, and half-planes if there are many. Rows that are
//! too wide for any of this get random nodes alone.

use super::{
    Activation, ConvolutionSpec, FeaturesSpec, FirstTask, GaussianSpec, PoolSpec, Preparation, Recipe,
    StackSpec,
};
use crate::data::Rows;

/// Height and width from which filters tell more about an image than its pixels do.
const SMALLEST_IMAGE: usize = 16;

/// Number of columns from which rows may be directions.
const WIDE: usize = 64;

/// Number of columns that must take part in the length of rows for rows to be directions. A class of images leaves
/// some of them dark, so this is a fraction of the width.
const TAKING_PART: f64 = 16.0;

/// How much lengths may differ to be the same.
const SAME_LENGTH: f64 = 0.01;

/// Number of random nodes for each of many columns, and at most: accuracy still rises beyond, but costs grow with the
/// square.
const ON_MANY_COLUMNS: (usize, usize) = (32, 4096);

/// Number of random nodes on a table of columns.
const ON_COLUMNS: usize = 2048;

/// Number of random nodes on filters.
const ON_FILTERS: usize = 4096;

/// Largest number of nodes of a default pool: beyond it, rows are too wide for their features to be nodes too.
const MOST_NODES: usize = 3 << 12;

/// Number of weights of the random nodes on rows that are too wide, and the most nodes they are for.
const ON_TOO_WIDE: (usize, usize) = (1 << 25, 2048);

/// The pool for a first task.
pub(crate) fn default_pool(task: &FirstTask<'_>) -> PoolSpec {
    match task.image {
        Some(shape) if shape.height.min(shape.width) >= SMALLEST_IMAGE => {
            filters(shape.height.min(shape.width))
        }
        _ if is_too_wide(task.x.n_features()) => projections(task.x.n_features(), Preparation::Standardise),
        _ if are_directions(task.x) => directions(task.x),
        _ if task.x.n_features() >= WIDE => many_columns(task.x.n_features()),
        _ => columns(),
    }
}

/// Filters of several sizes read over a grid, and random nodes on them.
fn filters(smallest: usize) -> PoolSpec {
    let filters = PoolSpec::Convolution(ConvolutionSpec {
        filters: 64,
        sides: [3, 5, 7, 11].into_iter().filter(|s| s * 2 <= smallest).collect(),
        padded: true,
        contrast: 0.3,
        threshold: 0.05,
        both_signs: true,
        grid: 4,
        overlap: smallest / 14,
        ..ConvolutionSpec::default()
    });
    let mut spec = StackSpec::over(filters, 0);
    spec.activations = vec![Activation::Relu, Activation::Square];
    spec.set_nodes(ON_FILTERS);
    PoolSpec::Stack(spec)
}

/// Rows brought to one length, and squares of projections. Nothing is learned from the first task.
fn directions(x: Rows<'_>) -> PoolSpec {
    let preparation = if are_amounts(x) {
        Preparation::RowSquareRoot
    } else {
        Preparation::Row
    };
    let first = PoolSpec::Features(FeaturesSpec { preparation });
    PoolSpec::Stack(StackSpec {
        preparation: Preparation::None,
        activations: vec![Activation::Square],
        ..StackSpec::over(first, on_many(x.n_features()))
    })
}

/// Columns made comparable, and random nodes that change from one side of a plane to the other. A first task of
/// one class shows little of how far away later ones lie, so nodes see soft roots of the columns.
fn columns() -> PoolSpec {
    let first = PoolSpec::Features(FeaturesSpec::default());
    PoolSpec::Stack(StackSpec {
        preparation: Preparation::SoftRoot,
        activations: vec![Activation::Tanh],
        gain: 2.0,
        bias: 2.0,
        ..StackSpec::over(first, ON_COLUMNS)
    })
}

/// Columns made comparable, and random nodes on their soft roots.
fn many_columns(n_features: usize) -> PoolSpec {
    PoolSpec::Features(FeaturesSpec::default()).under_second_layer(on_many(n_features))
}

/// Whether rows have too many features for each to be a node: sums grow with the square of the nodes.
pub(crate) fn is_too_wide(n_features: usize) -> bool {
    n_features + on_many(n_features) > MOST_NODES
}

/// Random nodes alone, so many that their weights fit.
fn projections(n_features: usize, preparation: Preparation) -> PoolSpec {
    let (weights, most) = ON_TOO_WIDE;
    PoolSpec::Gaussian(GaussianSpec {
        nodes: (weights / n_features).clamp(64, most),
        preparation,
        ..GaussianSpec::default()
    })
}

/// Number of random nodes on this many columns.
pub(super) fn on_many(n_features: usize) -> usize {
    let (each, most) = ON_MANY_COLUMNS;
    each.saturating_mul(n_features).min(most)
}

/// Whether rows are directions: they are amounts or have one length, and the effective number of columns that make up
/// their length, (Σ v)²/Σ v² with v the mean square of each column, is large. Columns of different units have few,
/// since the largest unit dominates.
fn are_directions(x: Rows<'_>) -> bool {
    if x.n_features() < WIDE {
        return false;
    }
    let mut squares = vec![0f64; x.n_features()];
    for row in x.iter() {
        let columns = squares.iter_mut().zip(row);
        columns.for_each(|(square, &v)| *square += f64::from(v) * f64::from(v));
    }
    let sum: f64 = squares.iter().sum();
    let of_squares: f64 = squares.iter().map(|v| v * v).sum();
    let wide = of_squares > 0.0 && sum * sum >= TAKING_PART * of_squares;
    wide && (are_amounts(x) || have_one_length(x))
}

/// Whether nothing is below zero.
fn are_amounts(x: Rows<'_>) -> bool {
    x.values().iter().all(|&v| v >= 0.0)
}

/// Whether all rows have the same length, but for the rounding of half precision.
fn have_one_length(x: Rows<'_>) -> bool {
    let square = |row: &[f32]| row.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
    let lengths = x.iter().map(|row| square(row).sqrt());
    let (least, most) = lengths.fold((f64::INFINITY, 0f64), |(least, most), length| {
        (least.min(length), most.max(length))
    });
    most - least <= SAME_LENGTH * most
}

/// The pool that takes nothing from rows: features pass through their soft roots, whose scale needs no first task.
pub(crate) fn private_pool(n_features: usize) -> PoolSpec {
    let preparation = Preparation::SoftRoot;
    if is_too_wide(n_features) {
        return projections(n_features, preparation);
    }
    let directions = (8 * n_features).clamp(128, 2048);
    PoolSpec::Features(FeaturesSpec { preparation }).under_second_layer(directions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(n_features: usize) -> (usize, bool) {
        let values: Vec<f32> = (0..3 * n_features).map(|i| (i % 7) as f32 - 3.0).collect();
        let task = FirstTask {
            x: Rows::new(&values, n_features).unwrap(),
            places: &[0, 1, 0],
            image: None,
            seed: 0,
        };
        let spec = default_pool(&task);
        (spec.n_nodes(n_features), matches!(spec, PoolSpec::Gaussian(_)))
    }

    #[test]
    fn only_rows_that_are_too_wide_get_random_nodes_alone() {
        assert_eq!(nodes(10), (10 + 2048, false));
        assert_eq!(nodes(768), (768 + 4096, false));
        assert_eq!(nodes(8192), (8192 + 4096, false));
        assert_eq!(nodes(8193), (2048, true));
        assert_eq!(nodes(30_000), (1118, true));
        assert_eq!(nodes(1 << 20), (64, true));
    }
}
