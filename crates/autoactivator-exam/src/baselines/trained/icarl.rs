//! Which class do exemplars speak for? iCaRL: the one whose exemplars have the nearest mean, among the features of a network that is
//! trained on them, too.
//!
//! Rebuffi et al., "iCaRL: incremental classifier and representation learning", CVPR 2017: Algorithm 1 (nearest mean of
//! exemplars), 3 (targets of new classes are their labels, those of old classes what the network said before) and 4 (herding).

use autoactivator::math::{Matrix, Random, product};
use autoactivator::{Error, Rows};

use super::exemplars::Exemplars;
use super::loss;
use super::material::Material;
use super::network::{Gradient, Network};
use super::{Lesson, Rule, Trained, Training};

/// iCaRL.
pub type Icarl = Trained<Herd>;

/// The rule of [`Icarl`].
#[derive(Clone, Debug)]
pub struct Herd {
    exemplars: Exemplars,
    /// The network before the task, only while it is learned.
    before: Option<Network>,
    /// Means of exemplars, of length 1, `(n_inputs, n_classes)`.
    means: Matrix<f32>,
}

impl Icarl {
    /// With this training and so many exemplars.
    pub fn new(training: Training, budget: usize) -> Self {
        let rule = Herd {
            exemplars: Exemplars::new(budget, training.seed),
            before: None,
            means: Matrix::zeros(0, 0),
        };
        Self::under(rule, training)
    }
}

/// Features of length 1, as columns: `(n_inputs, n_rows)`.
fn unit_features(network: &Network, x: Rows<'_>) -> Matrix<f32> {
    let mut features = network.features(x).t().to_matrix();
    for i in 0..features.n_cols() {
        to_unit(features.col_mut(i));
    }
    features
}

fn to_unit(v: &mut [f32]) {
    let length = v.iter().map(|v| v * v).sum::<f32>().sqrt();
    if length > 0.0 {
        v.iter_mut().for_each(|v| *v /= length);
    }
}

/// The mean of some columns, of length 1.
fn unit_mean(columns: &Matrix<f32>) -> Vec<f32> {
    let mut mean = vec![0.0; columns.n_rows()];
    for column in columns.cols() {
        mean.iter_mut().zip(column).for_each(|(m, v)| *m += v);
    }
    to_unit(&mut mean);
    mean
}

/// Algorithm 4: one column after the other, so that the mean of those chosen stays closest to the mean of all.
fn herd(columns: &Matrix<f32>, n: usize) -> Vec<usize> {
    let mean: Vec<f32> = (0..columns.n_rows())
        .map(|j| columns.cols().map(|column| column[j]).sum::<f32>() / columns.n_cols() as f32)
        .collect();
    let lengths: Vec<f32> = columns.cols().map(|v| v.iter().map(|v| v * v).sum()).collect();
    let mut wanted = Matrix::zeros(columns.n_rows(), 1);
    let mut chosen = Vec::new();
    let mut is_chosen = vec![false; columns.n_cols()];
    while chosen.len() < n.min(columns.n_cols()) {
        // argmin |mean - (sum + v)/k|² = argmax v·(k mean - sum) - |v|²/2
        wanted.col_mut(0).iter_mut().zip(&mean).for_each(|(w, m)| *w += m);
        let along = product(columns.t(), wanted.view());
        let gain = |i: usize| along[(i, 0)] - 0.5 * lengths[i];
        let free = (0..columns.n_cols()).filter(|&i| !is_chosen[i]);
        let Some(best) = free.reduce(|a, b| if gain(b) > gain(a) { b } else { a }) else {
            break;
        };
        let pairs = wanted.col_mut(0).iter_mut().zip(columns.col(best));
        pairs.for_each(|(w, v)| *w -= v);
        is_chosen[best] = true;
        chosen.push(best);
    }
    chosen
}

impl Rule for Herd {
    const NAME: &'static str = "icarl";

    fn begin(&mut self, network: &Network, lesson: &Lesson<'_>, known: usize) -> Result<Material, Error> {
        self.before = network.before(known);
        let mut material = Material::of(lesson);
        material.append(&self.exemplars.material());
        Ok(material)
    }

    fn gradient(&mut self, network: &Network, batch: Material, _: &mut Random) -> Result<Gradient, Error> {
        let pass = network.pass(batch.x()?);
        let said = self
            .before
            .as_ref()
            .map(|before| batch.x().map(|x| before.scores(x)))
            .transpose()?;
        let known = said.as_ref().map_or(0, Matrix::n_cols);
        let targets = Matrix::from_fn(batch.len(), network.n_classes(), |i, c| match &said {
            Some(said) if c < known => loss::sigmoid(said[(i, c)]),
            _ => f32::from(u8::from(batch.places[i] as usize == c)),
        });
        let by_scores = loss::binary_cross_entropy(&pass.scores, &targets);
        Ok(network.gradient(&pass, by_scores))
    }

    fn end(&mut self, network: &Network, lesson: &Lesson<'_>, _: usize) -> Result<(), Error> {
        self.before = None;
        let mut order = Vec::new();
        for (class, rows) in lesson
            .by_class()
            .iter()
            .enumerate()
            .filter(|(_, rows)| !rows.is_empty())
        {
            lesson.go_on()?;
            let features = unit_features(network, lesson.x.gather(rows).rows());
            let herd = herd(&features, self.exemplars.quota(class, lesson.n_classes));
            order.extend(herd.into_iter().map(|i| rows[i]));
        }
        self.exemplars.admit(lesson, &order);
        let n_inputs = network.features(lesson.x.gather(&[0]).rows()).n_cols();
        let mut means = Matrix::zeros(n_inputs, 0);
        for exemplars in self.exemplars.by_class() {
            // A class without exemplars has no direction.
            let mut mean = vec![0.0; n_inputs];
            let mut material = Material::default();
            exemplars.iter().for_each(|e| material.push(&e.row, e.place));
            if material.len() > 0 {
                mean = unit_mean(&unit_features(network, material.x()?));
            }
            means.push(&mean);
        }
        self.means = means;
        Ok(())
    }

    fn scores(&self, network: &Network, x: Rows<'_>) -> Matrix<f32> {
        // Among means of length 1, the nearest one is the one of the smallest angle; the length of a row says nothing.
        product(network.features(x).view(), self.means.view())
    }

    fn model_floats(&self) -> usize {
        self.means.values().len()
    }

    fn memory_floats(&self) -> usize {
        self.exemplars.n_floats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Herding against the definition, tried with every column.
    #[test]
    fn herding_chooses_what_the_definition_says() {
        let mut random = Random::new(1, autoactivator::math::Stream::Probes);
        let columns = Matrix::from_fn(3, 12, |_, _| random.normal() + 0.5);
        let mean: Vec<f32> = (0..3)
            .map(|j| columns.cols().map(|c| c[j]).sum::<f32>() / 12.0)
            .collect();
        let mut expected: Vec<usize> = Vec::new();
        for k in 1..=6 {
            let distance = |i: usize| {
                let chosen = || expected.iter().chain([&i]);
                let of = |j: usize| mean[j] - chosen().map(|&i| columns[(j, i)]).sum::<f32>() / k as f32;
                (0..3).map(|j| of(j) * of(j)).sum::<f32>()
            };
            let free = (0..12).filter(|i| !expected.contains(i));
            let best = free.min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap();
            expected.push(best);
        }
        assert_eq!(herd(&columns, 6), expected);
        assert_eq!(herd(&columns, 50).len(), 12);
    }
}
