//! Which rows are kept for replay? [`Exemplars`]: a fixed number of rows, equally many of each class seen so far.
//!
//! Every rival with a budget keeps them here; they differ in the order in which rows of a class are preferred.

use autoactivator::math::{Random, Stream};

use super::super::scored::Lesson;
use super::material::Material;

/// Rows kept of the classes seen so far, within a budget.
#[derive(Clone, Debug)]
pub struct Exemplars {
    budget: usize,
    seed: u64,
    /// The rows of each class, the most wanted first.
    classes: Vec<Vec<Exemplar>>,
}

/// A row that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Exemplar {
    /// Its features.
    pub row: Vec<f32>,
    /// Its class.
    pub place: u32,
    /// What the network said of it when it was kept; empty unless a rival asks for it.
    pub scores: Vec<f32>,
}

impl Exemplars {
    /// None yet.
    pub fn new(budget: usize, seed: u64) -> Self {
        Self {
            budget,
            seed,
            classes: Vec::new(),
        }
    }

    /// How many rows of a class may be kept; a remainder goes to the classes that came first.
    pub fn quota(&self, class: usize, n_classes: usize) -> usize {
        self.budget / n_classes + usize::from(class < self.budget % n_classes)
    }

    /// The rows of a task in random order.
    pub fn any_order(&self, lesson: &Lesson<'_>) -> Vec<usize> {
        let mut order: Vec<usize> = (0..lesson.x.len()).collect();
        let task = lesson.task;
        Random::new(
            self.seed,
            Stream::Candidates {
                task,
                layer: usize::from(u16::MAX) - 1,
            },
        )
        .shuffle(&mut order);
        order
    }

    /// Makes room for the classes of a task, and keeps its rows in this order of preference until the quota of their class
    /// is reached.
    pub fn admit(&mut self, lesson: &Lesson<'_>, order: &[usize]) {
        self.classes.resize(lesson.n_classes, Vec::new());
        let quotas: Vec<usize> = (0..lesson.n_classes)
            .map(|c| self.quota(c, lesson.n_classes))
            .collect();
        for (kept, &quota) in self.classes.iter_mut().zip(&quotas) {
            kept.truncate(quota);
        }
        for &i in order {
            let place = lesson.places[i];
            let kept = &mut self.classes[place as usize];
            if kept.len() < quotas[place as usize] {
                kept.push(Exemplar {
                    row: lesson.x.row(i).to_vec(),
                    place,
                    scores: Vec::new(),
                });
            }
        }
    }

    /// All of them, class by class.
    pub fn iter(&self) -> impl Iterator<Item = &Exemplar> {
        self.classes.iter().flatten()
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Exemplar> {
        self.classes.iter_mut().flatten()
    }

    /// Those of each class, the most wanted first.
    pub fn by_class(&self) -> &[Vec<Exemplar>] {
        &self.classes
    }

    /// As many of them as asked for, each drawn from all of them.
    pub fn draw(&self, n: usize, random: &mut Random) -> Vec<&Exemplar> {
        let all: Vec<&Exemplar> = self.iter().collect();
        let n = if all.is_empty() { 0 } else { n };
        (0..n).map(|_| all[random.below(all.len())]).collect()
    }

    /// All of them, to train on.
    pub fn material(&self) -> Material {
        let mut material = Material::default();
        self.iter()
            .for_each(|exemplar| material.push(&exemplar.row, exemplar.place));
        material
    }

    /// What they cost: every value of a row and every score. Classes cost nothing, as rows are kept class by class.
    pub fn n_floats(&self) -> usize {
        self.iter()
            .map(|exemplar| exemplar.row.len() + exemplar.scores.len())
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use autoactivator::Rows;

    use super::*;

    #[test]
    fn the_budget_is_divided_again_when_classes_arrive() {
        let mut exemplars = Exemplars::new(7, 0);
        let values: Vec<f32> = (0..20).map(|v| v as f32).collect();
        let lesson = |places: &'static [u32], n_classes, task| Lesson {
            x: Rows::new(&values[..places.len()], 1).unwrap(),
            places,
            n_classes,
            task,
            observer: &(),
        };
        exemplars.admit(
            &lesson(&[0, 0, 0, 0, 0, 0, 1, 1], 2, 0),
            &[5, 4, 3, 2, 1, 0, 7, 6],
        );
        let counts = |e: &Exemplars| e.by_class().iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(
            counts(&exemplars),
            [4, 2],
            "a quota of 4 and 3, but one class has only two rows"
        );
        assert_eq!(exemplars.by_class()[0][0].row, [5.0], "the most wanted first");
        exemplars.admit(&lesson(&[2, 2, 2], 3, 1), &[0, 1, 2]);
        assert_eq!(counts(&exemplars), [3, 2, 2]);
        assert_eq!(exemplars.n_floats(), 7, "rows of one feature");
        let mut random = Random::new(1, Stream::Probes);
        assert_eq!(exemplars.draw(50, &mut random).len(), 50);
        assert!(Exemplars::new(7, 0).draw(50, &mut random).is_empty());
    }
}
