//! What do learners reach that are fitted in closed form, on the features of a frozen backbone? Rivals from the literature, each in a
//! short file.
//!
//! `ridge` is what RanPAC and ACIL share: random ReLU nodes and the sums of a ridge regression. [`Klda`] is streaming
//! discriminant analysis on random Fourier features.

mod acil;
mod fecam;
mod klda;
mod neighbours;
mod ranpac;
mod ridge;
mod simple_cil;
mod unit_mean;

pub use acil::Acil;
pub use fecam::FeCam;
pub use klda::Klda;
pub use neighbours::NearestNeighbours;
pub use ranpac::RanPac;
pub use simple_cil::SimpleCil;
pub use unit_mean::UnitMean;

use autoactivator::{Error, Rows, Table};

/// Rows that are turned into nodes at a time.
const CHUNK: usize = 4096;

/// The rows, each divided by its length; a row of zeros stays one.
fn unit_rows(x: Rows<'_>) -> Result<Table, Error> {
    let unit = |row: &[f32]| -> Vec<f32> {
        let mut unit = row.to_vec();
        to_unit(&mut unit);
        unit
    };
    Table::new(x.iter().flat_map(unit).collect(), x.n_features())
}

/// Divides a row by its length.
fn to_unit(row: &mut [f32]) {
    let length = row.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|v| *v /= length);
    }
}
