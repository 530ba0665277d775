//! How convolutional nodes are made: which filters are cut, and how they are read.

use serde::{Deserialize, Serialize};

use super::Convolution;
use crate::data::ImageShape;
use crate::error::Error;
use crate::pool::{FirstTask, Pool, Recipe};

/// How filters are cut and read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ConvolutionSpec {
    /// Number of filters.
    pub filters: usize,
    /// Sides of the square filters; the filters are divided among them.
    pub sides: Vec<usize>,
    /// Whether zeros around the image let every pixel be the centre of a patch.
    pub padded: bool,
    /// Standard deviation of pixel values that a patch needs to become a filter.
    pub min_deviation: f32,
    /// Constant added to the local contrast.
    pub contrast: f32,
    /// Threshold subtracted from the normalised response.
    pub threshold: f32,
    /// Whether negative responses form nodes of their own.
    pub both_signs: bool,
    /// Number of cells along each side of the grid.
    pub grid: usize,
    /// Number of positions by which each cell reaches into its neighbours.
    pub overlap: usize,
    /// Power that the mean response is raised to.
    pub power: f32,
}

impl Default for ConvolutionSpec {
    fn default() -> Self {
        Self {
            filters: 128,
            sides: vec![7],
            padded: false,
            min_deviation: 0.15,
            contrast: 1.0,
            threshold: 0.2,
            both_signs: false,
            grid: 4,
            overlap: 2,
            power: 0.5,
        }
    }
}

impl ConvolutionSpec {
    /// Refuses a specification that does not suit images of this shape.
    pub(super) fn check(&self, image: ImageShape) -> Result<(), Error> {
        let wrong = |name: &str, value: String, allowed: &str| {
            Err(Error::Parameter {
                name: name.to_owned(),
                value,
                allowed: format!("must be {allowed}"),
            })
        };
        let smallest = image.height.min(image.width);
        if self.filters == 0 {
            return wrong("filters", self.filters.to_string(), "at least 1");
        }
        if self.sides.is_empty() || self.sides.iter().any(|&side| !(2..=smallest).contains(&side)) {
            return wrong(
                "sides",
                format!("{:?}", self.sides),
                "one or more, each from 2 to the side of the image",
            );
        }
        if self.padded && self.sides.iter().any(|side| side % 2 == 0) {
            return wrong("sides", format!("{:?}", self.sides), "odd while `padded` is on");
        }
        let positions = self
            .sides
            .iter()
            .map(|side| {
                if self.padded {
                    smallest
                } else {
                    smallest - side + 1
                }
            })
            .min();
        if self.grid == 0 || positions.is_some_and(|positions| self.grid > positions) {
            return wrong(
                "grid",
                self.grid.to_string(),
                "from 1 to the number of positions of the largest filter",
            );
        }
        if !(self.contrast > 0.0 && self.contrast.is_finite()) {
            return wrong("contrast", self.contrast.to_string(), "finite and above 0");
        }
        if !(self.threshold >= 0.0 && self.threshold.is_finite()) {
            return wrong("threshold", self.threshold.to_string(), "finite and at least 0");
        }
        if !(self.power > 0.0 && self.power <= 2.0) {
            return wrong("power", self.power.to_string(), "above 0 and at most 2");
        }
        Ok(())
    }

    /// Number of zeros on each side of the image for filters of this side.
    pub(super) fn padding(&self, side: usize) -> usize {
        if self.padded { side / 2 } else { 0 }
    }
}

impl Recipe for ConvolutionSpec {
    /// One node for each filter, sign and cell.
    fn n_nodes(&self, _: usize) -> usize {
        let signs = if self.both_signs { 2 } else { 1 };
        self.filters
            .saturating_mul(signs)
            .saturating_mul(self.grid.saturating_mul(self.grid))
    }

    /// Sets the number of filters.
    fn set_nodes(&mut self, nodes: usize) {
        self.filters = nodes;
    }

    /// Filters are cut from images.
    fn is_private(&self) -> bool {
        false
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let image = task.image("convolution")?;
        Ok(Box::new(Convolution::cut(
            &mut task.random(layer),
            task,
            image,
            self,
        )?))
    }
}
