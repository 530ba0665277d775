//! Witnesses as tensors: rows, and for each the place of its class, how often it came and what it weighs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::witness::{Witness, Witnesses};
use crate::format::{Container, Numbers};

/// What is not a tensor.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    capacity: usize,
    bound: u64,
}

/// Rows, one after another.
#[derive(Debug)]
struct KeptRows(Vec<Arc<[f32]>>);

impl Numbers for KeptRows {
    type Number = f32;

    fn count(&self) -> usize {
        self.0.iter().map(|row| row.len()).sum()
    }

    fn each(&self, to: &mut dyn FnMut(&[f32])) {
        self.0.iter().for_each(|row| to(row));
    }
}

/// Puts the rows into a container; none if no rows are ever kept.
pub fn pack_witnesses(container: &mut Container, witnesses: &Witnesses) -> Option<Kept> {
    if witnesses.capacity() == 0 {
        return None;
    }
    let kept = witnesses.kept();
    let rows = kept.iter().map(|witness| Arc::clone(&witness.row)).collect();
    container.put_numbers("witnesses.rows", KeptRows(rows));
    let list = |f: &dyn Fn(&Witness) -> f64| kept.iter().map(f).collect::<Vec<f64>>();
    container.put_f64("witnesses.places".to_owned(), &list(&|w| f64::from(w.place)));
    container.put_f64("witnesses.copies".to_owned(), &list(&|w| w.copies));
    container.put_f64("witnesses.weights".to_owned(), &list(&|w| w.weight));
    Some(Kept {
        capacity: witnesses.capacity(),
        bound: witnesses.bound(),
    })
}

/// Reads rows of `n_inputs` features of `n_classes` classes back.
pub fn unpack_witnesses(
    container: &Container,
    kept: &Kept,
    n_inputs: usize,
    n_classes: usize,
) -> Result<Witnesses, String> {
    let rows = container.list("witnesses.rows")?;
    let places = container.list_f64("witnesses.places")?;
    let copies = container.list_f64("witnesses.copies")?;
    let weights = container.list_f64("witnesses.weights")?;
    let n = places.len();
    let fits = Some(rows.len()) == n.checked_mul(n_inputs) && copies.len() == n && weights.len() == n;
    let known = |&place: &f64| place >= 0.0 && place < n_classes as f64 && place.fract() == 0.0;
    if !fits || !places.iter().all(known) {
        return Err("its kept rows do not fit its features and classes".to_owned());
    }
    let rows = rows
        .chunks_exact(n_inputs.max(1))
        .zip(&places)
        .zip(copies.iter().zip(&weights));
    let rows =
        rows.map(|((row, &place), (&copies, &weight))| Witness::new(row, place as u32, copies, weight));
    Witnesses::restore(kept.capacity, kept.bound, rows.collect())
}
