//! Tells a column of classes from a column of measurements, which would become a class per value.
//!
//! Only a column that nobody named is judged: the last one of a file without a better clue.

use std::collections::HashMap;

/// Classes up to this number are never taken for measurements, if they are whole numbers.
const FEW: usize = 20;

/// Rows of a class, on average, from which whole numbers without gaps are codes of classes.
const ROWS_OF_A_CLASS: usize = 10;

/// Counts the values of a column while its rows arrive.
#[derive(Default)]
pub(super) struct Values {
    counts: HashMap<String, usize>,
    n_rows: usize,
    /// Whether a value was no number: then they are names.
    named: bool,
    fraction: bool,
}

impl Values {
    /// Takes the values of more rows.
    pub fn add(&mut self, classes: &[String]) {
        if self.named {
            return;
        }
        self.n_rows += classes.len();
        for class in classes {
            match self.counts.get_mut(class) {
                Some(count) => *count += 1,
                None => self.add_new(class),
            }
        }
    }

    fn add_new(&mut self, class: &str) {
        match class.parse::<f64>() {
            Ok(number) => self.fraction |= number.fract() != 0.0,
            Err(_) => self.named = true,
        }
        self.counts.insert(class.to_owned(), 1);
    }

    /// Why these look like measurements; none when they do not.
    pub fn measured(&self) -> Option<String> {
        let n = self.counts.len();
        if self.named || n < 3 {
            return None;
        }
        if self.fraction {
            return Some(format!("{n} different numbers, some of them fractions"));
        }
        let codes = self.n_rows >= ROWS_OF_A_CLASS * n && self.are_without_gaps();
        (n > FEW && !codes).then(|| format!("{n} different numbers in {} rows", self.n_rows))
    }

    /// Whether the values are 0 to n - 1, or 1 to n.
    fn are_without_gaps(&self) -> bool {
        let n = self.counts.len();
        let has = |value: usize| self.counts.contains_key(&value.to_string());
        (0..n).all(has) || (1..=n).all(has)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(values: impl Iterator<Item = String>) -> bool {
        let mut counted = Values::default();
        counted.add(&values.collect::<Vec<_>>());
        counted.measured().is_some()
    }

    #[test]
    fn measurements_are_told_from_codes_and_names() {
        assert!(measured((0..40).map(|i| format!("{}.5", i % 22))));
        assert!(measured((0..3001).map(|i| i.to_string())));
        assert!(measured((0..5000).map(|i| (18 + i % 70).to_string())), "ages");
        assert!(!measured((0..5000).map(|i| (i % 100).to_string())), "codes");
        assert!(!measured((0..12).map(|i| (i % 3).to_string())));
        assert!(!measured((0..300).map(|i| format!("bird {i}"))));
        assert!(
            !measured(["0.5", "1.5"].into_iter().map(str::to_owned)),
            "two sizes"
        );
    }
}
