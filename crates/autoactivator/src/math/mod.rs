//! The mathematics: matrices and solves, vectorised loops, randomness, and choices from scores.
//!
//! `linalg` and `lower` are the only files that know the matrix crate. [`Matrix`] is dense and column-major; a [`View`] borrows one,
//! its transpose, or a caller's rows. [`Random`] turns one seed into everything random.
//!
//! ```
//! use autoactivator::math::{Matrix, product};
//!
//! let a = Matrix::from_fn(2, 2, |i, j| (i + 2 * j) as f64);
//! assert_eq!(product(a.view(), a.t())[(0, 0)], 4.0);
//! ```

mod alone;
mod linalg;
mod lower;
mod panels;
mod rng;
mod room;
mod scores;
mod simd;
mod span;
mod stop;
mod tile;

pub use alone::{alone, divided};
pub use linalg::{
    Matrix, Real, View, add_gram_lower, add_gram_packed, add_product, eigen, gram, least_squares,
    mirror_lower, product, product_into, rotation, square_lengths, subtract_gram_lower,
};
pub use lower::{Cholesky, Lower, solve_positive_definite};
pub use panels::Panels;
pub use rng::{Random, Stream};
pub use room::there_is_room;
pub(crate) use scores::softmax;
pub use scores::{argmax, argmax_among};
pub(crate) use simd::vectorised;
pub use span::{Span, dot};
pub use stop::until;
pub(crate) use stop::{go_on, is_stopped};
