//! A convolution module: random filters that all units read images through.
//!
//! Units are separate and must stay comparable, so the filters come from the seed alone. Their outputs take the place of
//! the features: nodes over them are drawn, judged and recruited like any others, and the view looks at them, too.

use super::params::ReactivationParams;
use crate::data::{ImageShape, Rows, Table};
use crate::error::Error;
use crate::math::{Random, Stream};
use crate::params::Precision;
use crate::pool::{Convolution, ConvolutionSpec, Pool, checked_image};

/// Side of the filters, and number of cells along each side of the grid; smaller images have smaller ones.
const SIDE: usize = 5;
const GRID: usize = 4;

/// Weights that all filters together may have, 16 MB: they come from the seed, so nothing else bounds what a few bytes of
/// a model file can ask for.
const WEIGHTS: usize = 1 << 22;

/// The module of rows with `n_features` features; none if units read the features themselves.
pub fn module(params: &ReactivationParams, n_features: usize) -> Result<Option<Convolution>, Error> {
    if params.filters == 0 {
        return Ok(None);
    }
    let image = checked_image(params.image, n_features, "filters")?;
    let spec = spec(params.filters, image);
    check(&spec, image)?;
    let mut random = Random::new(params.seed, Stream::Module);
    Convolution::draw(&mut random, image, &spec).map(Some)
}

/// Refuses images that are too small for any filter, or have too many channels.
fn check(spec: &ConvolutionSpec, image: ImageShape) -> Result<(), Error> {
    let weights = (SIDE * SIDE)
        .saturating_mul(image.channels)
        .saturating_mul(spec.filters);
    let allowed = if image.height.min(image.width) < 2 {
        "0 for images of fewer than 2 x 2 pixels".to_owned()
    } else if weights > WEIGHTS {
        format!(
            "at most {} for so many channels",
            WEIGHTS / (SIDE * SIDE) / image.channels
        )
    } else {
        return Ok(());
    };
    Err(Error::Parameter {
        name: "filters".to_owned(),
        value: spec.filters.to_string(),
        allowed: format!("must be {allowed}"),
    })
}

/// Chosen on held-out training rows of FashionMNIST: a threshold of 0 was better than 0.2, and a side of 5 than one of 7.
fn spec(filters: usize, image: ImageShape) -> ConvolutionSpec {
    let smallest = image.height.min(image.width);
    let side = SIDE.min(smallest);
    ConvolutionSpec {
        filters,
        sides: vec![side],
        threshold: 0.0,
        grid: GRID.min(smallest + 1 - side),
        ..ConvolutionSpec::default()
    }
}

/// Rows as units read them.
pub enum Read<'a> {
    /// The features themselves.
    Features(Rows<'a>),
    /// The outputs of the module.
    Outputs(Table),
}

impl<'a> Read<'a> {
    /// These rows, through the module if there is one.
    pub fn new(module: Option<&Convolution>, x: Rows<'a>) -> Self {
        match module {
            None => Self::Features(x),
            Some(module) => Self::Outputs(module.outputs(x, Precision::F32)),
        }
    }

    /// What units see.
    pub fn rows(&self) -> Rows<'_> {
        match self {
            Self::Features(x) => *x,
            Self::Outputs(table) => table.rows(),
        }
    }
}
