//! Which rows of each class are kept for the exam when the data has no test set of its own.
//!
//! `dataset` asks for the rows of a table, `image` for the images of a folder; both give up one in five.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// One in five goes to the test part.
const TEST_SHARE: f64 = 0.2;

/// Splits the members of every class 80/20 into training and test members, both in their natural order.
///
/// A class of one member cannot be split: its name is the error.
pub(crate) fn hold_out<T: Copy + Ord>(
    classes: BTreeMap<&str, Vec<T>>,
    seed: u64,
) -> Result<(Vec<T>, Vec<T>), &str> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (class, mut members) in classes {
        if members.len() < 2 {
            return Err(class);
        }
        members.shuffle(&mut rng);
        let n_test = (members.len() as f64 * TEST_SHARE).round().max(1.0) as usize;
        train.extend_from_slice(&members[n_test..]);
        test.extend_from_slice(&members[..n_test]);
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok((train, test))
}
