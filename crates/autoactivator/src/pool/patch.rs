//! Nodes with a receptive field: each sees one rectangle of an image, and stores weights only for that rectangle.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Activation, FirstTask, Layer, Pool, Recipe, USUAL_NODES, check_image, described, fits, read_description,
};
use crate::data::{ImageShape, Rows, Table};
use crate::error::Error;
use crate::format::Container;
use crate::math::{Panels, Random};
use crate::onnx::{Graph, Value};
use crate::params::Precision;

/// Name of this kind in a file.
pub(super) const KIND: &str = "patches";

/// Smallest and largest side of a receptive field, as fractions of the image's.
const SIDES: (f32, f32) = (0.2, 0.8);

/// Number of draws of two rows before the search for a difference is given up.
const DRAWS_OF_TWO_ROWS: usize = 1000;

/// Random nodes on random rectangles of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatchesSpec {
    /// Number of nodes.
    pub nodes: usize,
    /// g.
    pub activation: Activation,
}

impl Default for PatchesSpec {
    fn default() -> Self {
        Self {
            nodes: USUAL_NODES,
            activation: Activation::Relu,
        }
    }
}

impl Recipe for PatchesSpec {
    fn n_nodes(&self, _: usize) -> usize {
        self.nodes
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.nodes = nodes;
    }

    fn is_private(&self) -> bool {
        true
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let image = task.image("patches")?;
        let pool = Patches::random(&mut task.random(layer), image, self.nodes, self.activation);
        Ok(Box::new(pool))
    }
}

/// Patches whose weights are the difference of two rows of different classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DifferencesSpec {
    /// Number of nodes.
    pub nodes: usize,
    /// Length of the difference after scaling.
    pub scale: f32,
    /// g.
    pub activation: Activation,
}

impl Default for DifferencesSpec {
    fn default() -> Self {
        Self {
            nodes: USUAL_NODES,
            scale: 4.0,
            activation: Activation::Sigmoid,
        }
    }
}

impl Recipe for DifferencesSpec {
    fn n_nodes(&self, _: usize) -> usize {
        self.nodes
    }

    fn set_nodes(&mut self, nodes: usize) {
        self.nodes = nodes;
    }

    fn is_private(&self) -> bool {
        false
    }

    fn make(&self, task: &FirstTask<'_>, layer: usize) -> Result<Box<dyn Pool>, Error> {
        let image = task.image("differences")?;
        Ok(Box::new(Patches::differences(
            &mut task.random(layer),
            task,
            image,
            self,
        )?))
    }
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// First row of pixels.
    pub top: usize,
    /// First column of pixels.
    pub left: usize,
    /// Number of rows of pixels.
    pub height: usize,
    /// Number of columns of pixels.
    pub width: usize,
}

/// Nodes that see one rectangle each.
#[derive(Clone, Debug, PartialEq)]
pub struct Patches {
    /// Shape of the images.
    pub image: ImageShape,
    /// The rectangle that each node sees.
    pub fields: Vec<Field>,
    /// Weights of each node, only for its field.
    pub weights: Vec<Vec<f32>>,
    /// b, one per node.
    pub biases: Vec<f32>,
    /// g.
    pub activation: Activation,
}

impl Patches {
    /// Nodes with normal weights on random rectangles, scaled to the size of the field.
    pub fn random(random: &mut Random, image: ImageShape, n_nodes: usize, activation: Activation) -> Self {
        let mut pool = Self::none(image, activation);
        for _ in 0..n_nodes {
            let field = Field::random(random, image);
            let size = field.pixels(image).count();
            let deviation = 2.0 / (size as f32).sqrt();
            let weights = (0..size).map(|_| deviation * random.normal()).collect();
            pool.push(field, weights, 0.5 * random.normal());
        }
        pool
    }

    /// Nodes whose weights are differences of two rows of different classes, seen through random rectangles;
    /// a node is zero half-way between its two rows.
    pub fn differences(
        random: &mut Random,
        task: &FirstTask<'_>,
        image: ImageShape,
        spec: &DifferencesSpec,
    ) -> Result<Self, Error> {
        let mut pool = Self::none(image, spec.activation);
        for _ in 0..spec.nodes {
            let (field, weights, bias) = difference(random, task, image, spec.scale)?;
            pool.push(field, weights, bias);
        }
        Ok(pool)
    }

    fn none(image: ImageShape, activation: Activation) -> Self {
        Self {
            image,
            fields: Vec::new(),
            weights: Vec::new(),
            biases: Vec::new(),
            activation,
        }
    }

    fn push(&mut self, field: Field, weights: Vec<f32>, bias: f32) {
        self.fields.push(field);
        self.weights.push(weights);
        self.biases.push(bias);
    }

    /// The nodes with zeros outside their fields, so that one product answers all of them.
    pub fn spread(&self) -> Layer {
        let mut weights = Panels::zeros(self.image.n_values(), self.fields.len());
        for (j, (field, values)) in self.fields.iter().zip(&self.weights).enumerate() {
            let places = field.pixels(self.image).zip(values);
            places.for_each(|(pixel, &w)| weights.set(pixel, j, w));
        }
        Layer::new(weights, self.biases.clone(), self.activation)
    }
}

fn difference(
    random: &mut Random,
    task: &FirstTask<'_>,
    image: ImageShape,
    scale: f32,
) -> Result<(Field, Vec<f32>, f32), Error> {
    for _ in 0..DRAWS_OF_TWO_ROWS {
        let (a, b) = (random.below(task.x.len()), random.below(task.x.len()));
        if task.places[a] == task.places[b] {
            continue;
        }
        let field = Field::random(random, image);
        let (a, b) = (task.x.row(a), task.x.row(b));
        let weights: Vec<f32> = field.pixels(image).map(|pixel| a[pixel] - b[pixel]).collect();
        let square: f32 = weights.iter().map(|w| w * w).sum();
        if square < 1e-6 {
            continue;
        }
        let factor = scale / square.sqrt();
        let middle: f32 = field
            .pixels(image)
            .zip(&weights)
            .map(|(pixel, w)| w * (a[pixel] + b[pixel]) * 0.5)
            .sum();
        return Ok((
            field,
            weights.iter().map(|w| w * factor).collect(),
            -middle * factor,
        ));
    }
    Err(Error::NothingToCut {
        what: "two different rows of different classes",
    })
}

impl Field {
    fn random(random: &mut Random, image: ImageShape) -> Self {
        let mut side = |length: usize| {
            let fraction = SIDES.0 + (SIDES.1 - SIDES.0) * 0.5 * (random.symmetric(1.0) + 1.0);
            ((length as f32 * fraction).round() as usize).clamp(1, length)
        };
        let (height, width) = (side(image.height), side(image.width));
        Self {
            top: random.below(image.height - height + 1),
            left: random.below(image.width - width + 1),
            height,
            width,
        }
    }

    /// Indices of the field's values in a row of features.
    pub fn pixels(self, image: ImageShape) -> impl Iterator<Item = usize> {
        let line = image.width * image.channels;
        let rows = self.top..self.top + self.height;
        rows.flat_map(move |y| {
            let start = y * line + self.left * image.channels;
            start..start + self.width * image.channels
        })
    }
}

impl Pool for Patches {
    fn n_inputs(&self) -> usize {
        self.image.n_values()
    }

    fn n_nodes(&self) -> usize {
        self.fields.len()
    }

    fn outputs(&self, x: Rows<'_>, precision: Precision) -> Table {
        Table::from_whole_rows(self.spread().outputs(x, precision), self.n_nodes())
    }

    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        let mut selected = Self::none(self.image, self.activation);
        for &node in nodes {
            selected.push(self.fields[node], self.weights[node].clone(), self.biases[node]);
        }
        Box::new(selected)
    }

    fn n_floats(&self) -> usize {
        self.weights.iter().map(Vec::len).sum::<usize>() + self.biases.len()
    }

    fn multiply_adds(&self) -> usize {
        self.n_floats()
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        container.put_list(format!("{prefix}.weights"), &self.weights.concat());
        container.put_list(format!("{prefix}.biases"), &self.biases);
        described(
            KIND,
            &Description {
                image: self.image,
                fields: self.fields.clone(),
                activation: self.activation,
            },
        )
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        self.spread().nodes().to_onnx(graph, x)
    }

    fn boxed(&self) -> Box<dyn Pool> {
        Box::new(self.clone())
    }
}

#[derive(Serialize, Deserialize)]
struct Description {
    image: ImageShape,
    fields: Vec<Field>,
    activation: Activation,
}

pub(super) fn unpack(
    container: &Container,
    prefix: &str,
    description: &Json,
) -> Result<Box<dyn Pool>, String> {
    let Description {
        image,
        fields,
        activation,
    } = read_description(description)?;
    check_image(image, prefix)?;
    let inside = |start: usize, length: usize, side: usize| {
        length > 0 && start.checked_add(length).is_some_and(|end| end <= side)
    };
    let whole = |f: &Field| inside(f.top, f.height, image.height) && inside(f.left, f.width, image.width);
    fits(fields.iter().all(whole), prefix)?;
    let values = container.list(&format!("{prefix}.weights"))?;
    let biases = container.list(&format!("{prefix}.biases"))?;
    let sizes: Vec<usize> = fields
        .iter()
        .map(|f| f.height * f.width * image.channels)
        .collect();
    fits(
        sizes.iter().sum::<usize>() == values.len() && biases.len() == fields.len(),
        prefix,
    )?;
    let mut values = values.into_iter();
    let weights = sizes
        .iter()
        .map(|&size| values.by_ref().take(size).collect())
        .collect();
    Ok(Box::new(Patches {
        image,
        fields,
        weights,
        biases,
        activation,
    }))
}
