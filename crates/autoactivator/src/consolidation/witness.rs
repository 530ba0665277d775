//! Witnesses: a bounded sample of the rows learned, chosen by their content alone.
//!
//! Sums say where classes lie, but not how often a row is judged wrong: that takes rows. A row is kept if its
//! hash is low, so which rows are kept does not depend on the order of tasks, batches or merges; rows that are
//! unlearned are removed. Up to `capacity` distinct rows are kept, and the lower half is used: after a task is
//! taken back that was no larger than the rest, the rows in use are what they were before it.

use std::sync::Arc;

use super::memory::slack;
use crate::data::Rows;

/// A row that weighs less is forgotten.
const FADED: f64 = 1e-30;

/// Distinct rows whose hash is at most `bound`, in the order of their hashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Witnesses {
    /// Largest number of distinct rows kept; 0 keeps none.
    capacity: usize,
    /// Every row learned whose hash is at most this is kept.
    bound: u64,
    rows: Vec<Witness>,
}

/// One distinct row of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    hash: u64,
    /// Place of its class.
    pub place: u32,
    /// How many times it was learned: the sum of its weights, before those of its class.
    pub copies: f64,
    /// What all its copies weigh in the sums.
    pub weight: f64,
    /// The row, which copies of a model share.
    pub row: Arc<[f32]>,
}

/// Whether a row was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LookedUp<'a> {
    /// It was, as this witness.
    Learned(&'a Witness),
    /// It was not.
    Never,
    /// A row with this hash would not have been kept.
    Untold,
}

impl Witness {
    /// A row of the class at `place`.
    pub fn new(row: &[f32], place: u32, copies: f64, weight: f64) -> Self {
        Self {
            hash: hash(row),
            place,
            copies,
            weight,
            row: row.into(),
        }
    }

    /// What the row that is left out weighs: one copy, or all of a row that counts for less.
    pub fn unit(&self) -> f64 {
        self.weight / self.copies.max(1.0)
    }

    /// What tells it from other witnesses, and orders them: its hash, and the place of its class.
    pub(crate) fn key(&self) -> (u64, u32) {
        (self.hash, self.place)
    }
}

impl Witnesses {
    /// Keeps at most `capacity` distinct rows.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            bound: u64::MAX,
            rows: Vec::new(),
        }
    }

    /// The witnesses of a file; refused if they are not what learning could have kept.
    pub(crate) fn restore(capacity: usize, bound: u64, rows: Vec<Witness>) -> Result<Self, String> {
        let in_order = rows.windows(2).all(|pair| pair[0].key() < pair[1].key());
        let positive = |v: f64| v > 0.0 && v.is_finite();
        let sound = |w: &Witness| w.hash <= bound && positive(w.copies) && positive(w.weight);
        if rows.len() > capacity || !in_order || !rows.iter().all(sound) {
            return Err("its kept rows are damaged".to_owned());
        }
        Ok(Self {
            capacity,
            bound,
            rows,
        })
    }

    /// Largest number of distinct rows kept.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Every row learned whose hash is at most this is kept.
    pub fn bound(&self) -> u64 {
        self.bound
    }

    /// All rows kept.
    pub fn kept(&self) -> &[Witness] {
        &self.rows
    }

    /// The rows to judge by: those with the lowest hashes, at most half the capacity.
    pub fn in_use(&self) -> &[Witness] {
        &self.rows[..self.rows.len().min(self.capacity.div_ceil(2))]
    }

    /// Whether a row was learned, as far as the rows that are kept can tell. Of the classes that it may have been learned
    /// for, the one at `place` comes first.
    pub(crate) fn look_up(&self, row: &[f32], place: Option<u32>) -> LookedUp<'_> {
        let hash = hash(row);
        if self.capacity == 0 || hash > self.bound {
            return LookedUp::Untold;
        }
        let first = self.rows.partition_point(|witness| witness.hash < hash);
        let alike = || {
            self.rows[first..]
                .iter()
                .take_while(|witness| witness.hash == hash)
        };
        let same = alike().find(|witness| Some(witness.place) == place);
        match same.or_else(|| alike().next()) {
            Some(witness) => LookedUp::Learned(witness),
            None => LookedUp::Never,
        }
    }

    /// What a row of each of `n_classes` classes weighs on average; 1 where none is kept.
    pub(crate) fn usual_units(&self, n_classes: usize) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); n_classes];
        for witness in &self.rows {
            let (units, rows) = &mut sums[witness.place as usize];
            *units += witness.unit();
            *rows += 1.0;
        }
        let mean = |(units, rows): (f64, f64)| if rows > 0.0 { units / rows } else { 1.0 };
        sums.into_iter().map(mean).collect()
    }

    /// Number of floats kept.
    pub fn n_floats(&self) -> usize {
        self.rows.iter().map(|witness| witness.row.len() + 3).sum()
    }

    /// Takes rows in; `counts` says for how many copies each stands, and what it weighs.
    pub(crate) fn add(&mut self, x: Rows<'_>, places: &[u32], counts: impl Fn(usize) -> (f64, f64)) {
        if self.capacity == 0 {
            return;
        }
        for (i, (row, &place)) in x.iter().zip(places).enumerate() {
            if hash(row) <= self.bound {
                let (copies, weight) = counts(i);
                self.put(Witness::new(row, place, copies, weight), 1.0);
                self.shrink(2 * self.capacity);
            }
        }
        self.shrink(self.capacity);
    }

    /// Removes rows that are unlearned, and returns the index of the first that was never learned, if that shows: every
    /// row learned with a hash up to the bound is kept.
    pub(crate) fn remove(
        &mut self,
        x: Rows<'_>,
        places: &[u32],
        counts: impl Fn(usize) -> (f64, f64),
    ) -> Option<usize> {
        if self.capacity == 0 {
            return None;
        }
        for (i, (row, &place)) in x.iter().zip(places).enumerate() {
            let (copies, weight) = counts(i);
            let kept = hash(row) <= self.bound;
            if kept && !self.put(Witness::new(row, place, copies, weight), -1.0) {
                return Some(i);
            }
        }
        None
    }

    /// Adds the witnesses of a memory (`sign` 1) or removes them (`sign` -1); `places` are those of its classes here.
    pub(crate) fn combine(&mut self, other: &Witnesses, places: &[u32], sign: f64) {
        // A sample of what only one of them has kept would say nothing about the rows of the other.
        self.capacity = self.capacity.min(other.capacity);
        self.bound = self.bound.min(other.bound);
        for witness in &other.rows {
            let witness = Witness {
                place: places[witness.place as usize],
                ..witness.clone()
            };
            self.put(witness, sign);
        }
        let bound = self.bound;
        self.rows.retain(|witness| witness.hash <= bound);
        self.shrink(self.capacity);
    }

    /// Adds or removes one row; returns whether that was possible.
    fn put(&mut self, witness: Witness, sign: f64) -> bool {
        match self.rows.binary_search_by_key(&witness.key(), Witness::key) {
            Ok(at) => {
                let known = &mut self.rows[at];
                known.copies += sign * witness.copies;
                known.weight += sign * witness.weight;
                let (left, slack) = (known.copies, slack(witness.copies));
                if left <= slack {
                    self.rows.remove(at);
                }
                return left >= -slack;
            }
            Err(at) if sign > 0.0 => self.rows.insert(at, witness),
            Err(_) => return false,
        }
        true
    }

    /// Lowers the bound until at most `limit` rows are left, if there are more.
    fn shrink(&mut self, limit: usize) {
        if self.rows.len() <= limit {
            return;
        }
        let first_out = self.rows[self.capacity].hash;
        self.bound = first_out.saturating_sub(1);
        let bound = self.bound;
        self.rows.retain(|witness| witness.hash <= bound);
    }

    /// Lets the rows weigh `factor` of what they did.
    pub(crate) fn fade(&mut self, factor: f64) {
        self.rows.iter_mut().for_each(|witness| witness.weight *= factor);
        // What weighs next to nothing has no say any more.
        self.rows.retain(|witness| witness.weight > FADED);
    }

    /// Keeps the rows of the classes at the places `kept`, which move to the front in that order.
    pub(crate) fn keep_classes(&mut self, kept: &[usize]) {
        let place = |old: u32| kept.iter().position(|&k| k == old as usize);
        self.rows.retain_mut(|witness| match place(witness.place) {
            Some(new) => {
                witness.place = new as u32;
                true
            }
            None => false,
        });
        self.rows.sort_unstable_by_key(Witness::key);
    }
}

/// A hash of a row's values that is the same on every machine.
pub(super) fn hash(row: &[f32]) -> u64 {
    let mixed = |h: u64| {
        let h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        h ^ (h >> 31)
    };
    let step = |h: u64, v: &f32| {
        // 0 and -0 are the same number.
        let bits = if *v == 0.0 { 0 } else { v.to_bits() };
        (h ^ u64::from(bits))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    mixed(row.iter().fold(row.len() as u64, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rows: impl Iterator<Item = usize>, capacity: usize) -> Witnesses {
        let mut witnesses = Witnesses::new(capacity);
        rows.for_each(|i| one(&mut witnesses, i, 1.0));
        witnesses
    }

    fn one(witnesses: &mut Witnesses, i: usize, sign: f64) {
        let row = [i as f32, 0.5];
        let (row, places) = (Rows::new(&row, 2).unwrap(), [(i % 3) as u32]);
        if sign > 0.0 {
            witnesses.add(row, &places, |_| (1.0, 1.0));
        } else {
            assert_eq!(witnesses.remove(row, &places, |_| (1.0, 1.0)), None);
        }
    }

    #[test]
    fn a_row_that_was_never_learned_is_found_out() {
        let mut witnesses = taken(0..10, 64);
        let other = [3.0, 0.500_000_1];
        let other = Rows::new(&other, 2).unwrap();
        assert_eq!(witnesses.remove(other, &[0], |_| (1.0, 1.0)), Some(0));
    }

    #[test]
    fn rows_that_are_kept_tell_whether_others_were_learned() {
        let witnesses = taken(0..1000, 64);
        let told = |i: f32, place: u32| witnesses.look_up(&[i, 0.5], Some(place));
        let places = |i: usize| (i % 3) as u32;
        let learned = (0..1000).filter(|&i| matches!(told(i as f32, places(i)), LookedUp::Learned(_)));
        assert_eq!(learned.count(), 64);
        let never = (1000..9000)
            .filter(|&i| told(i as f32, 0) == LookedUp::Never)
            .count();
        assert!((300..800).contains(&never), "a fair share of the others: {never}");
        let kept = &witnesses.kept()[0];
        let as_other = witnesses.look_up(&kept.row, Some(kept.place + 1));
        assert_eq!(as_other, LookedUp::Learned(kept), "whatever it is called now");
        assert_eq!(Witnesses::new(0).look_up(&[1.0, 0.5], None), LookedUp::Untold);
        assert_eq!(witnesses.usual_units(4), [1.0; 4]);
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let forward = taken(0..1000, 64);
        assert_eq!(forward, taken((0..1000).rev(), 64));
        assert_eq!(forward.kept().len(), 64);
        let mut merged = taken(0..300, 64);
        merged.combine(&taken(300..1000, 64), &[0, 1, 2], 1.0);
        assert_eq!(merged, forward);
    }

    #[test]
    fn what_is_taken_back_leaves_the_rows_in_use() {
        let before = taken(0..1000, 64);
        let mut after = before.clone();
        (1000..1500).for_each(|i| one(&mut after, i, 1.0));
        (1000..1500).for_each(|i| one(&mut after, i, -1.0));
        assert_eq!(after.in_use(), before.in_use());
    }

    #[test]
    fn a_row_that_comes_often_is_kept_once() {
        let mut witnesses = taken((0..500).map(|_| 7), 8);
        assert_eq!((witnesses.kept().len(), witnesses.kept()[0].copies), (1, 500.0));
        (0..500).for_each(|_| one(&mut witnesses, 7, -1.0));
        assert!(witnesses.kept().is_empty());
    }

    #[test]
    fn fractions_of_a_row_add_up_and_are_taken_back() {
        let row = [7.0, 0.5];
        let row = Rows::new(&row, 2).unwrap();
        let weights: Vec<f64> = (1..2000).map(|i| f64::from(i) * 1e-4 / 3.0).collect();
        let mut witnesses = Witnesses::new(8);
        for &w in &weights {
            witnesses.add(row, &[0], |_| (w, 2.0 * w));
        }
        let witness = &witnesses.kept()[0];
        assert!((witness.copies - weights.iter().sum::<f64>()).abs() < 1e-9);
        assert!((witness.unit() - 2.0).abs() < 1e-9, "one copy of many");
        for (i, &w) in weights.iter().enumerate().rev() {
            assert_eq!(witnesses.kept().len(), 1, "{i} are left");
            assert_eq!(witnesses.remove(row, &[0], |_| (w, 2.0 * w)), None);
        }
        assert!(witnesses.kept().is_empty());
        witnesses.add(row, &[0], |_| (0.25, 0.5));
        assert_eq!(witnesses.kept()[0].unit(), 0.5, "all of a light row");
        assert_eq!(witnesses.remove(row, &[0], |_| (0.3, 0.6)), Some(0));
    }

    #[test]
    fn a_sample_of_rows_is_a_fair_one() {
        let mean: f32 = taken(0..10_000, 1000)
            .kept()
            .iter()
            .map(|w| w.row[0])
            .sum::<f32>()
            / 1000.0;
        assert!((mean - 5000.0).abs() < 300.0, "{mean}");
    }
}
