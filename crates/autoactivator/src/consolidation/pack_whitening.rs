//! How far rows are from all rows, as tensors.

use std::sync::Arc;

use super::whitening::{Form, Whitening};
use crate::format::{Container, Numbers};
use crate::math::Matrix;
use crate::pool::Standard;

/// Puts a whitening into a container.
pub fn pack_whitening(container: &mut Container, whitening: &Whitening) {
    container.put_single("unknown.shift", &whitening.standard.shift);
    container.put_single("unknown.scale", &whitening.standard.scale);
    match &whitening.form {
        Form::Triangle(whitening) => {
            container.put_numbers("unknown.whitening", Upper(Arc::clone(whitening)));
        }
        Form::Span {
            basis,
            within,
            beyond,
        } => {
            container.needs_version(2);
            container.put_single("unknown.basis", basis.values());
            container.put_numbers("unknown.within", Upper(Arc::new(within.clone())));
            container.put_single("unknown.beyond", &[*beyond]);
        }
    }
}

/// Reads one; the error says what does not fit.
pub fn unpack_whitening(container: &Container) -> Result<Whitening, String> {
    let shift = container.list("unknown.shift")?;
    let scale = container.list("unknown.scale")?;
    let n = shift.len();
    let misfit = || "what tells \"unknown\" does not fit its nodes and classes".to_owned();
    let form = if container.has("unknown.basis") {
        let basis = container.list("unknown.basis")?;
        let n_directions = basis.len().checked_div(n).ok_or_else(misfit)?;
        let (&[beyond], Some(basis)) = (
            container.list("unknown.beyond")?.as_slice(),
            Matrix::from_columns(basis, n, n_directions),
        ) else {
            return Err(misfit());
        };
        let within = square(&container.list("unknown.within")?, n_directions).ok_or_else(misfit)?;
        Form::Span {
            basis,
            within,
            beyond,
        }
    } else {
        let whitening = square(&container.list("unknown.whitening")?, n).ok_or_else(misfit)?;
        Form::Triangle(Arc::new(whitening))
    };
    if scale.len() != n {
        return Err(misfit());
    }
    Ok(Whitening {
        standard: Standard { shift, scale },
        form,
    })
}

/// The upper triangle of a square matrix, column after column.
#[derive(Debug)]
struct Upper(Arc<Matrix<f32>>);

impl Numbers for Upper {
    type Number = f32;

    fn count(&self) -> usize {
        let n = self.0.n_cols();
        n * (n + 1) / 2
    }

    fn each(&self, to: &mut dyn FnMut(&[f32])) {
        let columns = self.0.cols().enumerate();
        columns.for_each(|(j, column)| to(&column[..=j]));
    }
}

/// A square matrix with this upper triangle; `None` if it has another size.
fn square(upper: &[f32], n: usize) -> Option<Matrix<f32>> {
    let expected = n.checked_add(1).and_then(|m| m.checked_mul(n))? / 2;
    if upper.len() != expected {
        return None;
    }
    let mut square = Matrix::zeros(n, n);
    let mut rest = upper;
    for j in 0..n {
        let (column, after) = rest.split_at(j + 1);
        square.col_mut(j)[..=j].copy_from_slice(column);
        rest = after;
    }
    Some(square)
}
