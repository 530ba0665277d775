//! The activation functions g, fast without compiler flags: plain branch-free arithmetic that the compiler
//! vectorises, compiled for the widest instruction set of the machine at hand.

use crate::math::vectorised;
use crate::onnx::{Graph, Value};
use serde::{Deserialize, Serialize};

/// An activation function g.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Activation {
    /// 1 / (1 + e⁻ˣ), bounded as the paper's theorem requires.
    #[default]
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// max(0, x).
    Relu,
    /// x².
    Square,
}

impl Activation {
    /// Adds g of every value to an ONNX graph.
    pub fn to_onnx(self, graph: &mut Graph, x: &Value) -> Value {
        match self {
            Self::Sigmoid => graph.apply("Sigmoid", &[x]),
            Self::Tanh => graph.apply("Tanh", &[x]),
            Self::Relu => graph.apply("Relu", &[x]),
            Self::Square => graph.apply("Mul", &[x, x]),
        }
    }

    /// Replaces every `v` by g(v + bias).
    pub fn apply(self, values: &mut [f32], bias: f32) {
        match self {
            Self::Sigmoid => with_one(values, bias, sigmoid),
            Self::Tanh => with_one(values, bias, tanh),
            Self::Relu => with_one(values, bias, relu),
            Self::Square => with_one(values, bias, square),
        }
    }

    /// Replaces every `v` by g(v + bias), where each run of values takes all the `biases` in turn.
    pub fn apply_in_turn(self, values: &mut [f32], biases: &[f32]) {
        match self {
            Self::Sigmoid => in_turn(values, biases, sigmoid),
            Self::Tanh => in_turn(values, biases, tanh),
            Self::Relu => in_turn(values, biases, relu),
            Self::Square => in_turn(values, biases, square),
        }
    }
}

fn with_one(values: &mut [f32], bias: f32, g: impl Fn(f32) -> f32) {
    vectorised(
        #[inline(always)]
        || values.iter_mut().for_each(|v| *v = g(*v + bias)),
    );
}

fn in_turn(values: &mut [f32], biases: &[f32], g: impl Fn(f32) -> f32) {
    vectorised(
        #[inline(always)]
        || {
            for run in values.chunks_exact_mut(biases.len().max(1)) {
                run.iter_mut().zip(biases).for_each(|(v, bias)| *v = g(*v + bias));
            }
        },
    );
}

#[inline(always)]
fn square(x: f32) -> f32 {
    x * x
}

#[inline(always)]
fn relu(x: f32) -> f32 {
    // Written so that NaN stays NaN, which `f32::max` would swallow.
    if x < 0.0 { 0.0 } else { x }
}

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

#[inline(always)]
fn tanh(x: f32) -> f32 {
    // Near zero 1 - 2/(e²ˣ + 1) cancels, so an odd polynomial takes over there (minimax, |x| < 0.625).
    let square = x * x;
    let near = ((((-5.704_988_7e-3 * square + 2.063_908_8e-2) * square - 5.373_971_6e-2) * square
        + 1.333_144_2e-1)
        * square
        - 3.333_328e-1)
        * square
        * x
        + x;
    let far = 1.0 - 2.0 / (exp(2.0 * x) + 1.0);
    if x.abs() < 0.625 { near } else { far }
}

/// eˣ to about 1e-7 relative: x = n ln 2 + f, a polynomial for eᶠ, and 2ⁿ written into the exponent bits.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³: adding and subtracting it rounds to the nearest integer.
    // Beyond these bounds the result is 0 or infinite for every use here; NaN passes through both selections.
    let x = if x > 88.0 { 88.0 } else { x };
    let x = if x < -87.0 { -87.0 } else { x };
    let n = (x * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let f = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let p = ((((1.987_569_1e-4 * f + 1.398_199_9e-3) * f + 8.333_452e-3) * f + 4.166_579_6e-2) * f
        + 1.666_666_6e-1)
        * f
        + 0.5;
    let mantissa = p * f * f + f + 1.0;
    mantissa * f32::from_bits(((n as i32 + 127) << 23) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error on a grid, absolute and relative.
    fn worst(g: Activation, exact: impl Fn(f64) -> f64) -> (f64, f64) {
        let grid: Vec<f32> = (-40_000..=40_000).map(|i| i as f32 * 5e-4).collect();
        let mut values = grid.clone();
        g.apply(&mut values, 0.0);
        grid.iter()
            .zip(&values)
            .fold((0.0, 0.0), |(absolute, relative), (&x, &v)| {
                let truth = exact(f64::from(x));
                let error = (f64::from(v) - truth).abs();
                (
                    error.max(absolute),
                    (error / truth.abs().max(1e-30)).max(relative),
                )
            })
    }

    #[test]
    fn close_to_double_precision() {
        for (absolute, relative) in [
            worst(Activation::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
            worst(Activation::Tanh, f64::tanh),
        ] {
            assert!(absolute < 2e-7, "{absolute}");
            assert!(relative < 3e-7, "{relative}");
        }
    }

    #[test]
    fn biases_in_turn_are_biases_one_by_one() {
        let biases: Vec<f32> = (0..37).map(|j| j as f32 * 0.3 - 5.0).collect();
        let values: Vec<f32> = (0..37 * 11).map(|i| (i * 29 % 101) as f32 * 0.1 - 5.0).collect();
        for g in [
            Activation::Sigmoid,
            Activation::Tanh,
            Activation::Relu,
            Activation::Square,
        ] {
            let mut in_turn = values.clone();
            g.apply_in_turn(&mut in_turn, &biases);
            for (i, (&v, &of_turn)) in values.iter().zip(&in_turn).enumerate() {
                let mut alone = [v];
                g.apply(&mut alone, biases[i % biases.len()]);
                assert_eq!(alone[0].to_bits(), of_turn.to_bits(), "{g:?} of {v}");
            }
        }
    }

    #[test]
    fn saturates_and_keeps_nan() {
        let inf = f32::INFINITY;
        for (g, low, high) in [
            (Activation::Sigmoid, 0.0, 1.0),
            (Activation::Tanh, -1.0, 1.0),
            (Activation::Relu, 0.0, inf),
        ] {
            let mut values = [-inf, inf, f32::NAN, -f32::MAX, 0.0];
            g.apply(&mut values, 0.0);
            assert!((values[0] - low).abs() < 1e-37, "{g:?} at -inf is {}", values[0]);
            assert_eq!(values[1], high);
            assert!(values[2].is_nan());
            assert!((values[3] - low).abs() < 1e-37);
        }
    }
}
