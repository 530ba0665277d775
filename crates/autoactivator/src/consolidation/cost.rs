//! What a readout costs, estimated before it is solved: a failed allocation would end the process.

use crate::error::Error;
use crate::math::there_is_room;

/// Bytes for each entry of each kind of matrix that a solve needs, all that exist at the same time together.
const OF_SQUARES: u64 = 8;
const OF_SPANS: u64 = 32;
const OF_WITNESSES: u64 = 16;
const OF_ANSWERS: u64 = 96;
const OF_CLASSES: u64 = 40;
const OF_MEANS: u64 = 64;

/// Refuses a readout of these numbers of nodes, of directions that rows span in them, of classes and of witnesses if it does
/// not fit into memory.
pub(super) fn check(
    n_nodes: usize,
    n_directions: usize,
    n_classes: usize,
    n_witnesses: usize,
) -> Result<(), Error> {
    let numbers = [n_nodes, n_directions, n_classes, n_witnesses];
    let bytes = bytes(numbers.map(|n| n as u64));
    if there_is_room(bytes) {
        return Ok(());
    }
    Err(Error::NoRoom {
        n_classes,
        n_nodes,
        gigabytes: bytes.div_ceil(1 << 30),
    })
}

fn bytes([n_nodes, n_directions, n_classes, n_witnesses]: [u64; 4]) -> u64 {
    // Few rows have a basis, and whole squares in it; of nodes, there are only triangles.
    let of_sums = if n_directions < n_nodes {
        OF_SPANS
    } else {
        OF_SQUARES
    };
    let parts = [
        (of_sums, n_nodes, n_directions),
        (OF_WITNESSES, n_nodes, n_witnesses),
        (OF_ANSWERS, n_witnesses, n_classes),
        (OF_CLASSES, n_classes, n_classes),
        (OF_MEANS, n_nodes, n_classes),
    ];
    let part = |(each, a, b): (u64, u64, u64)| each.saturating_mul(a).saturating_mul(b);
    parts.into_iter().map(part).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_can_hold_is_refused() {
        assert!(check(2000, 2000, 100, 4096).is_ok());
        let refused = check(1 << 15, 1 << 15, 1 << 22, 4096).unwrap_err().to_string();
        assert!(
            refused.starts_with("4194304 classes and 32768 nodes would take about"),
            "{refused}"
        );
        assert!(check(usize::MAX, 1, usize::MAX, 1).is_err());
    }
}
