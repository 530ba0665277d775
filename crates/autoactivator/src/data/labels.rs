//! What is known of each row besides its features: its class, and how often it counts.
//!
//! [`Labels`] are dictionary-coded: a list of class names and one code per row. Weights travel with them: a row of
//! weight w counts as w copies of that row, and one of weight 0 is as if it were not there.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Rows, Table};
use crate::error::Error;

/// Largest weight of a row: sums over weighed rows are then finite, as those over rows are.
const LARGEST_WEIGHT: f64 = 1e15;

/// Weight up to which a row is as good as absent: its products would vanish in single precision.
const NEXT_TO_NOTHING: f64 = 1e-30;

/// One class name per row, stored as codes into a list of names, and the weights of the rows if not all are 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    names: Arc<[String]>,
    codes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

/// Refuses a weight that is negative, not a number or above 1e15; the first row has the number `first_row`.
pub fn check_weights(weights: &[f64], first_row: usize) -> Result<(), Error> {
    let allowed = 0.0..=LARGEST_WEIGHT;
    match weights.iter().position(|weight| !allowed.contains(weight)) {
        Some(at) => Err(Error::BadWeight {
            row: first_row + at,
            weight: weights[at],
        }),
        None => Ok(()),
    }
}

impl Labels {
    /// Takes codes into `names`; refuses a code outside the list.
    pub fn new(names: impl Into<Arc<[String]>>, codes: Vec<u32>) -> Result<Self, Error> {
        let names = names.into();
        if let Some(row) = codes.iter().position(|&code| code as usize >= names.len()) {
            return Err(Error::LabelCode {
                row,
                code: codes[row],
                n_names: names.len(),
            });
        }
        Ok(Self {
            names,
            codes,
            weights: None,
        })
    }

    /// Encodes the given names in order of first appearance.
    pub fn from_names<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut code_of: HashMap<String, u32> = HashMap::new();
        let mut codes = Vec::new();
        for label in labels {
            let label = label.as_ref();
            let code = match code_of.get(label) {
                Some(&code) => code,
                None => {
                    let code = names.len() as u32;
                    names.push(label.to_owned());
                    code_of.insert(label.to_owned(), code);
                    code
                }
            };
            codes.push(code);
        }
        Self {
            names: names.into(),
            codes,
            weights: None,
        }
    }

    /// The same labels, of rows that count as often as they weigh; refuses a weight that is negative, not a number or
    /// above 1e15.
    ///
    /// ```
    /// use autoactivator::Labels;
    ///
    /// let y = Labels::from_names(["low", "high"]).weighed(vec![1.0, 2.5])?;
    /// assert_eq!(y.weight(1), 2.5);
    /// assert!(Labels::from_names(["low", "high"]).weighed(vec![1.0, -1.0]).is_err());
    /// # Ok::<(), autoactivator::Error>(())
    /// ```
    pub fn weighed(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        if weights.len() != self.len() {
            return Err(Error::WeightCount {
                rows: self.len(),
                weights: weights.len(),
            });
        }
        check_weights(&weights, 0)?;
        self.weights = Some(weights).filter(|weights| weights.iter().any(|&weight| weight != 1.0));
        Ok(self)
    }

    /// The same labels, of rows that count once each.
    #[must_use]
    pub fn unweighed(mut self) -> Self {
        self.weights = None;
        self
    }

    /// Refuses rows of a class without a name.
    pub(crate) fn check_names(&self) -> Result<(), Error> {
        let is_blank = |name: &String| name.trim().is_empty();
        if !self.names.iter().any(is_blank) {
            return Ok(());
        }
        let mut blank = self.names.iter().zip(self.counts());
        match blank.any(|(name, rows)| rows > 0 && is_blank(name)) {
            true => Err(Error::NoClassName),
            false => Ok(()),
        }
    }

    /// The list of names; it may hold names that no row carries.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One code per row.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The weight of each row; none if all are 1.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// The class name of row `i`.
    pub fn name(&self, i: usize) -> &str {
        &self.names[self.codes[i] as usize]
    }

    /// How often row `i` counts.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// The labels of the rows at `indices`, in that order.
    pub fn gather(&self, indices: &[usize]) -> Self {
        let weights = self.weights.as_ref();
        Self {
            names: self.names.clone(),
            codes: indices.iter().map(|&i| self.codes[i]).collect(),
            weights: weights.map(|weights| indices.iter().map(|&i| weights[i]).collect()),
        }
    }

    /// Indices of the rows that weigh something.
    pub fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).filter(|&i| self.weight(i) > NEXT_TO_NOTHING)
    }

    /// Copies the rows that weigh something; none if all of them do.
    pub(crate) fn present_of(&self, x: Rows<'_>) -> Option<(Table, Self)> {
        let absent = |&weight: &f64| weight <= NEXT_TO_NOTHING;
        self.weights()?.iter().any(absent).then(|| {
            let rows: Vec<usize> = self.present().collect();
            (x.gather(&rows), self.gather(&rows))
        })
    }

    /// Number of rows with each name, without those that weigh nothing.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        for i in self.present() {
            counts[self.codes[i] as usize] += 1;
        }
        counts
    }
}
