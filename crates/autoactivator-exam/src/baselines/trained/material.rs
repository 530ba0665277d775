//! What is a network trained on? [`Material`]: rows with their classes, of a task, of a batch, or kept from before.

use autoactivator::Rows;

use super::super::scored::Lesson;
use super::exemplars::Exemplar;

/// Rows and the class of each.
#[derive(Clone, Debug, Default)]
pub struct Material {
    values: Vec<f32>,
    width: usize,
    /// The class of each row.
    pub places: Vec<u32>,
}

impl Material {
    /// Those of a task.
    pub fn of(lesson: &Lesson<'_>) -> Self {
        Self {
            values: lesson.x.values().to_vec(),
            width: lesson.x.n_features(),
            places: lesson.places.to_vec(),
        }
    }

    /// Some rows of these.
    pub fn gather(&self, rows: &[usize]) -> Self {
        let mut some = Self::default();
        rows.iter().for_each(|&i| some.push(self.row(i), self.places[i]));
        some
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[f32], place: u32) {
        self.width = row.len();
        self.values.extend_from_slice(row);
        self.places.push(place);
    }

    /// Adds the rows of others.
    pub fn append(&mut self, other: &Self) {
        self.width = self.width.max(other.width);
        self.values.extend_from_slice(&other.values);
        self.places.extend_from_slice(&other.places);
    }

    /// These rows, and those of exemplars after them.
    pub fn with(mut self, exemplars: &[&Exemplar]) -> Self {
        exemplars.iter().for_each(|e| self.push(&e.row, e.place));
        self
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    /// The rows.
    pub fn x(&self) -> Result<Rows<'_>, autoactivator::Error> {
        Rows::new(&self.values, self.width)
    }

    /// Values that are kept, classes not counted.
    pub fn n_floats(&self) -> usize {
        self.values.len()
    }
}
