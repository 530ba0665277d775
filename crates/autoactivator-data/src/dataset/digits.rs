//! The built-in data set: 1,797 handwritten digits of 8 × 8 pixels, so that an exam needs no download.
//!
//! [`open`] reads the embedded table and splits it with `split`.

use std::path::Path;

use autoactivator::{ImageShape, Table};

use super::Dataset;
use super::rows::NamedRows;
use super::split::split;
use crate::error::Error;
use crate::table::embedded_csv;

pub(super) const NAME: &str = "digits";

/// Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0.
const FILE: &[u8] = include_bytes!("../../assets/digits.csv.gz");

const SHAPE: ImageShape = ImageShape {
    height: 8,
    width: 8,
    channels: 1,
};

/// The largest pixel value; pixels are scaled to [0, 1] by it.
const WHITE: f32 = 16.0;

/// Opens the built-in digits.
pub(super) fn open() -> Result<Dataset, Error> {
    let path = Path::new("built-in digits");
    let rows = embedded_csv(path, FILE)?;
    let pixels = rows.x.rows().values().iter().map(|&pixel| pixel / WHITE);
    let scaled = NamedRows {
        x: Table::new(pixels.collect(), rows.x.rows().n_features())?,
        y: rows.y.unwrap_or_default(),
    };
    let (train, test) = split(path, &scaled)?;
    Dataset::new(NAME.to_owned(), path, train, test, Some(SHAPE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_digits_are_there_scaled_and_split() {
        let digits = open().unwrap();
        let (train, test) = (digits.train.x.rows(), digits.test.x.rows());
        assert_eq!(train.len() + test.len(), 1797);
        assert_eq!(train.n_features(), 64);
        assert!(train.values().iter().all(|pixel| (0.0..=1.0).contains(pixel)));
        assert_eq!(
            digits.test.y.names(),
            ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
        );
        assert!(digits.test.y.counts().iter().all(|&n| (34..=38).contains(&n)));
    }

    #[test]
    fn the_split_is_always_the_same() {
        assert_eq!(open().unwrap().test.x, open().unwrap().test.x);
    }
}
