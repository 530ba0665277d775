//! Making features comparable before random nodes see them, based on the first task.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::fits;
use crate::data::{Rows, Table};
use crate::format::Container;
use crate::onnx::{Graph, Value};

/// Largest number of rows of the first task from which means and deviations are taken.
const SHOWN_ROWS: usize = 8192;

/// Added to each deviation, as a fraction of their mean.
const FLOOR: f64 = 0.1;

/// How features are prepared before nodes see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Features stay as they are.
    #[default]
    None,
    /// Mean 0 and deviation 1 over the first task.
    Columns,
    /// x / √(1 + |x|) of each value: near zero the value itself, far out its square root, so that large
    /// values that the first task did not foresee do not drown out the rest.
    SoftRoot,
    /// Mean 0 and deviation 1 over the first task, then rows of length √n_features.
    Standardise,
    /// A signed square root first, which tames the long tails of pooled activations; then as `Standardise`.
    SquareRoot,
    /// A signed square root, then mean 0 and deviation 1 within each row. Nothing is learned from the first
    /// task, so the pool is the same whatever task comes first.
    RowSquareRoot,
    /// Mean 0 and deviation 1 within each row, and nothing else: for rows that are no amounts, such as embeddings.
    Row,
}

impl Preparation {
    /// Whether nothing is learned from the first task.
    pub fn is_private(self) -> bool {
        matches!(
            self,
            Self::None | Self::SoftRoot | Self::RowSquareRoot | Self::Row
        )
    }
}

/// Means and deviations of the columns over the first task, which make columns comparable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standard {
    /// Subtracted from each column.
    pub shift: Vec<f32>,
    /// Multiplied with each column after the shift.
    pub scale: Vec<f32>,
}

impl Standard {
    /// Learns from the columns of `x`, each value passed through `f`.
    pub fn learn(x: Rows<'_>, f: impl Fn(f32) -> f32) -> Self {
        let step = x.len().div_ceil(SHOWN_ROWS).max(1);
        let (mut sum, mut squares, mut n) = (vec![0f64; x.n_features()], vec![0f64; x.n_features()], 0.0);
        for row in x.iter().step_by(step) {
            for ((sum, square), &v) in sum.iter_mut().zip(&mut squares).zip(row) {
                let v = f64::from(f(v));
                *sum += v;
                *square += v * v;
            }
            n += 1.0;
        }
        let deviation = |(square, sum): (&f64, &f64)| (square / n - (sum / n).powi(2)).max(0.0).sqrt();
        let deviations: Vec<f64> = squares.iter().zip(&sum).map(deviation).collect();
        // Columns that hardly vary in the first task may vary later: a floor keeps them from exploding.
        let floor = FLOOR * deviations.iter().sum::<f64>() / deviations.len().max(1) as f64;
        let floor = if floor > 0.0 { floor } else { 1.0 };
        Self {
            shift: sum.iter().map(|s| (s / n) as f32).collect(),
            scale: deviations.iter().map(|d| (1.0 / (d + floor)) as f32).collect(),
        }
    }

    /// Learns from columns that have nothing in common. A column that hardly varies in the first task may vary
    /// later: a tenth of its size keeps it from exploding.
    pub fn of_columns(x: Rows<'_>) -> Self {
        let step = x.len().div_ceil(SHOWN_ROWS).max(1);
        let n = x.iter().step_by(step).count().max(1) as f64;
        let sum_of = |part: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            let mut sums = vec![0f64; x.n_features()];
            for row in x.iter().step_by(step) {
                let columns = sums.iter_mut().zip(row).enumerate();
                columns.for_each(|(j, (sum, &v))| *sum += part(j, f64::from(v)));
            }
            sums
        };
        let means: Vec<f64> = sum_of(&|_, v| v).iter().map(|sum| sum / n).collect();
        let squares = sum_of(&|j, v| (v - means[j]).powi(2));
        let scale = |(square, mean): (&f64, &f64)| {
            let deviation = (square / n).sqrt().max(FLOOR * mean.abs());
            if deviation > 0.0 {
                (1.0 / deviation) as f32
            } else {
                1.0
            }
        };
        Self {
            scale: squares.iter().zip(&means).map(scale).collect(),
            shift: means.iter().map(|&mean| mean as f32).collect(),
        }
    }

    /// Leaves every column as it is, and takes nothing from rows.
    pub fn nothing(n_columns: usize) -> Self {
        Self {
            shift: vec![0.0; n_columns],
            scale: vec![1.0; n_columns],
        }
    }

    /// Reduced to these columns.
    pub fn select(&self, columns: &[usize]) -> Self {
        let of = |values: &[f32]| columns.iter().map(|&column| values[column]).collect();
        Self {
            shift: of(&self.shift),
            scale: of(&self.scale),
        }
    }

    /// Makes one row comparable.
    pub fn apply(&self, row: &mut [f32]) {
        for ((v, shift), scale) in row.iter_mut().zip(&self.shift).zip(&self.scale) {
            *v = (*v - shift) * scale;
        }
    }
}

impl Standard {
    /// Puts shift and scale into a container, under `prefix`. They have the units of the data, which half precision
    /// may not hold.
    pub(crate) fn pack(&self, container: &mut Container, prefix: &str) {
        container.put_single(&format!("{prefix}.shift"), &self.shift);
        container.put_single(&format!("{prefix}.scale"), &self.scale);
    }

    /// Reads shift and scale of `expected` columns back from under `prefix`.
    pub(crate) fn unpack(container: &Container, prefix: &str, expected: usize) -> Result<Self, String> {
        let shift = container.list(&format!("{prefix}.shift"))?;
        let scale = container.list(&format!("{prefix}.scale"))?;
        fits(shift.len() == expected && scale.len() == expected, prefix)?;
        Ok(Self { shift, scale })
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value, n_features: usize) -> Value {
        let shift = graph.floats(&[n_features], &self.shift);
        let scale = graph.floats(&[n_features], &self.scale);
        let centred = graph.apply("Sub", &[x, &shift]);
        graph.apply("Mul", &[&centred, &scale])
    }
}

/// A preparation and what it has learned from the first task.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// Kind of preparation.
    pub preparation: Preparation,
    /// What was learned; empty for preparations that learn nothing.
    pub standard: Standard,
}

impl Prepared {
    /// The preparation that leaves features as they are.
    pub fn nothing() -> Self {
        Self {
            preparation: Preparation::None,
            standard: Standard::default(),
        }
    }

    /// Learns means and deviations from rows of the first task.
    pub fn learn(preparation: Preparation, x: Rows<'_>) -> Self {
        let standard = if preparation == Preparation::Columns {
            Standard::of_columns(x)
        } else if preparation.looks_at_the_first_task() {
            Standard::learn(x, |v| preparation.root(v))
        } else {
            Standard::default()
        };
        Self {
            preparation,
            standard,
        }
    }

    /// The prepared rows; none when there is nothing to do.
    pub fn apply(&self, x: Rows<'_>) -> Option<Table> {
        if self.preparation == Preparation::None {
            return None;
        }
        let mut values = x.values().to_vec();
        let length = (x.n_features() as f32).sqrt();
        values.par_chunks_mut(x.n_features()).for_each(|row| {
            row.iter_mut().for_each(|v| *v = self.preparation.root(*v));
            if self.preparation == Preparation::Row {
                // Roots of the largest numbers have squares that are finite; these numbers themselves do not.
                let largest = row.iter().fold(f32::MIN_POSITIVE, |most, v| most.max(v.abs()));
                row.iter_mut().for_each(|v| *v /= largest);
            }
            if matches!(self.preparation, Preparation::RowSquareRoot | Preparation::Row) {
                let mean = row.iter().sum::<f32>() / row.len() as f32;
                row.iter_mut().for_each(|v| *v -= mean);
            }
            self.standard.apply(row);
            if !self.preparation.has_rows_of_one_length() {
                return;
            }
            let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            let factor = if norm > 0.0 { length / norm } else { 0.0 };
            row.iter_mut().for_each(|v| *v *= factor);
        });
        Some(Table::from_whole_rows(values, x.n_features()))
    }

    /// Number of floats that are stored for the preparation.
    pub fn n_floats(&self) -> usize {
        self.standard.shift.len() + self.standard.scale.len()
    }

    /// Reads the preparation back from under `prefix`, for rows of `n_features`.
    pub(crate) fn unpack(
        container: &Container,
        prefix: &str,
        preparation: Preparation,
        n_features: usize,
    ) -> Result<Self, String> {
        let n_columns = if preparation.looks_at_the_first_task() {
            n_features
        } else {
            0
        };
        Ok(Self {
            preparation,
            standard: Standard::unpack(container, prefix, n_columns)?,
        })
    }

    /// Adds the preparation to an ONNX graph.
    pub(crate) fn to_onnx(&self, graph: &mut Graph, x: &Value, n_features: usize) -> Value {
        let comparable = match self.preparation {
            Preparation::None => return x.clone(),
            Preparation::SoftRoot => soft_root(graph, x),
            Preparation::Columns | Preparation::Standardise => self.standard.to_onnx(graph, x, n_features),
            Preparation::SquareRoot => {
                let root = signed_root(graph, x);
                self.standard.to_onnx(graph, &root, n_features)
            }
            Preparation::RowSquareRoot => {
                let root = signed_root(graph, x);
                about_mean(graph, &root)
            }
            Preparation::Row => {
                let size = graph.apply("Abs", &[x]);
                let largest = graph.reduce("ReduceMax", &size);
                let least = graph.floats(&[], &[f32::MIN_POSITIVE]);
                let largest = graph.apply("Max", &[&largest, &least]);
                let scaled = graph.apply("Div", &[x, &largest]);
                about_mean(graph, &scaled)
            }
        };
        if !self.preparation.has_rows_of_one_length() {
            return comparable;
        }
        let factor = length_factor(graph, &comparable, n_features);
        graph.apply("Mul", &[&comparable, &factor])
    }
}

fn about_mean(graph: &mut Graph, x: &Value) -> Value {
    let mean = graph.reduce("ReduceMean", x);
    graph.apply("Sub", &[x, &mean])
}

fn signed_root(graph: &mut Graph, x: &Value) -> Value {
    let size = graph.apply("Abs", &[x]);
    let root = graph.apply("Sqrt", &[&size]);
    let sign = graph.apply("Sign", &[x]);
    graph.apply("Mul", &[&sign, &root])
}

fn soft_root(graph: &mut Graph, x: &Value) -> Value {
    let one = graph.floats(&[], &[1.0]);
    let size = graph.apply("Abs", &[x]);
    let more = graph.apply("Add", &[&size, &one]);
    let root = graph.apply("Sqrt", &[&more]);
    graph.apply("Div", &[x, &root])
}

/// The factor that brings each row to length √n_features; 0 for rows of zeros.
fn length_factor(graph: &mut Graph, x: &Value, n_features: usize) -> Value {
    let zero = graph.floats(&[], &[0.0]);
    let length = graph.floats(&[], &[(n_features as f32).sqrt()]);
    let norm = graph.reduce("ReduceL2", x);
    let some = graph.apply("Greater", &[&norm, &zero]);
    let factor = graph.apply("Div", &[&length, &norm]);
    graph.apply("Where", &[&some, &factor, &zero])
}

impl Preparation {
    fn looks_at_the_first_task(self) -> bool {
        matches!(self, Self::Columns | Self::Standardise | Self::SquareRoot)
    }

    /// Whether every prepared row has the length √n_features.
    pub fn has_rows_of_one_length(self) -> bool {
        matches!(
            self,
            Self::Standardise | Self::SquareRoot | Self::RowSquareRoot | Self::Row
        )
    }

    fn root(self, v: f32) -> f32 {
        match self {
            Self::SquareRoot | Self::RowSquareRoot => v.abs().sqrt().copysign(v),
            Self::SoftRoot => v / (1.0 + v.abs()).sqrt(),
            Self::None | Self::Columns | Self::Standardise | Self::Row => v,
        }
    }
}
