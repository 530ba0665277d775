//! Which sentences go through an encoder together: those of equally many tokens.
//!
//! So nothing is padded, no work is done for padding, and the features of a sentence do not depend on its neighbours.

use std::collections::BTreeMap;

/// The most tokens of a group. More of them are hardly faster, and leave a core idle at the end.
const TOKENS: usize = 512;

/// The places of sentences of these lengths, group by group; the longest first, so that no long group is left for the
/// end. A few sentences are divided among `threads`.
pub(super) fn groups(lengths: &[usize], threads: usize) -> Vec<Vec<usize>> {
    let mut of_length: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, &length) in lengths.iter().enumerate() {
        of_length.entry(length).or_default().push(place);
    }
    let all: usize = lengths.iter().sum();
    let tokens = all.div_ceil(threads.max(1)).clamp(1, TOKENS);
    let groups = of_length.into_iter().rev().flat_map(|(length, places)| {
        let sentences = (tokens / length.max(1)).max(1);
        places
            .chunks(sentences)
            .map(<[usize]>::to_vec)
            .collect::<Vec<_>>()
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_sentence_once_and_one_length_each() {
        let lengths = [5, 300, 5, 7, 600, 5, 7];
        let found = groups(&lengths, 1);
        assert_eq!(found, [vec![4], vec![1], vec![3, 6], vec![0, 2, 5]]);
        let many = groups(&[10; 1000], 2);
        assert!(many.iter().all(|group| group.len() <= 51));
        assert_eq!(many.concat(), (0..1000).collect::<Vec<_>>());
        assert_eq!(groups(&[8; 4], 2), [vec![0, 1], vec![2, 3]]);
        assert_eq!(groups(&[], 2), Vec::<Vec<usize>>::new());
    }
}
