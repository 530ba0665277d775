//! The gate of a unit as tensors: its sums of the view and of its own outputs, how independent nodes are, what scales
//! cost, and known distances.

use super::gate::{Gate, Judged};
use super::scale::Losses;
use super::sums::ClassSums;
use crate::format::Container;
use crate::math::Matrix;

pub fn pack_gate(container: &mut Container, u: usize, gate: &Gate) {
    container.put_f64(gate_name(u, "seen"), &flat(&gate.seen));
    container.put_f64(gate_name(u, "said"), &flat(&gate.said));
    container.put_f64(gate_name(u, "independence"), &[gate.judged.independence]);
    container.put_f64(gate_name(u, "losses"), gate.judged.losses.values());
    container.put_list(gate_name(u, "known"), &gate.judged.known);
}

/// The gate of unit `u`, which has `n_classes` classes and looks through `n_nodes` nodes.
pub fn unpack_gate(
    container: &Container,
    u: usize,
    (n_classes, n_nodes): (usize, usize),
) -> Result<Gate, String> {
    let wrong = || format!("the densities of unit {u} do not fit its classes");
    let seen = container.list_f64(&gate_name(u, "seen"))?;
    let said = container.list_f64(&gate_name(u, "said"))?;
    let seen = raised(&seen, n_classes, n_nodes).ok_or_else(wrong)?;
    let said = raised(&said, n_classes, n_classes).ok_or_else(wrong)?;
    let independence = container.list_f64(&gate_name(u, "independence"))?;
    let independence = match independence[..] {
        [tau] if tau > 0.0 && tau <= 1.0 => tau,
        _ => return Err(wrong()),
    };
    let losses = Losses::from_values(container.list_f64(&gate_name(u, "losses"))?).ok_or_else(wrong)?;
    let known = container.list(&gate_name(u, "known"))?;
    if !known.is_sorted() || known.first().is_some_and(|&d| d < 0.0) {
        return Err(wrong());
    }
    let judged = Judged {
        independence,
        losses,
        known,
    };
    Gate::from_sums(seen, said, judged).ok_or_else(wrong)
}

/// The sums of classes, one after the other: rows, sums, and the lower triangle of the products, column by column.
fn flat(classes: &[ClassSums]) -> Vec<f64> {
    let of_class = |class: &ClassSums| {
        let triangle = (0..class.n_outputs()).flat_map(|j| class.products.col(j)[j..].to_vec());
        let sums = std::iter::once(class.rows).chain(class.sum.iter().copied());
        sums.chain(triangle).collect::<Vec<f64>>()
    };
    classes.iter().flat_map(of_class).collect()
}

/// The way back from [`flat`]; none if the numbers cannot be the sums of this many classes and outputs.
fn raised(flat: &[f64], n_classes: usize, n: usize) -> Option<Vec<ClassSums>> {
    let length = 1 + n + n * (n + 1) / 2;
    if flat.len() != n_classes.checked_mul(length)? {
        return None;
    }
    let of_class = |flat: &[f64]| {
        let (sums, mut triangle) = flat[1..].split_at(n);
        let mut products = Matrix::zeros(n, n);
        for j in 0..n {
            let (column, rest) = triangle.split_at(n - j);
            products.col_mut(j)[j..].copy_from_slice(column);
            triangle = rest;
        }
        ClassSums {
            rows: flat[0],
            sum: sums.to_vec(),
            products,
        }
    };
    let classes: Vec<ClassSums> = flat.chunks_exact(length).map(of_class).collect();
    classes.iter().all(ClassSums::are_possible).then_some(classes)
}

fn gate_name(unit: usize, part: &str) -> String {
    format!("unit.{unit}.gate.{part}")
}
