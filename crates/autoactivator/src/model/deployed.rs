//! A deployed model as a model: it predicts and explains, but learns nothing more.

use super::explain::{self, Explanation};
use super::learned::{Abilities, Learned};
use super::task::Task;
use crate::consolidation::{Deployed, pack_deployed};
use crate::data::Rows;
use crate::error::Error;
use crate::format::Container;
use crate::learner::{Answer, Input};
use crate::math::Matrix;

impl Learned for Deployed {
    fn pack(&self) -> Container {
        pack_deployed(self, false)
    }

    fn boxed(&self) -> Box<dyn Learned> {
        Box::new(self.clone())
    }

    fn abilities(&self) -> Abilities {
        Abilities::new(false, false, true)
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Ok(Deployed::scores(self, x)?.to_f64())
    }

    fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        let answers = Deployed::answers(self, x, 0.0)?;
        Ok(Matrix::from_fn(answers.len(), self.classes.len(), |i, c| {
            f64::from(answers[i].probabilities[c])
        }))
    }

    fn answers(&self, x: Rows<'_>, reject: f64) -> Result<Vec<Answer>, Error> {
        Deployed::answers(self, x, reject)
    }

    fn check_rejects(&self) -> Result<(), Error> {
        Deployed::check_rejects(self)
    }

    fn known(&self, x: Rows<'_>) -> Result<Vec<f32>, Error> {
        Deployed::known(self, x)
    }

    /// All nodes form one group: a deployed model does not record which task recruited each of them.
    fn explain(&self, row: &[f32], reject: f64) -> Result<Explanation, Error> {
        let whole = Task {
            task: 1,
            nodes: self.pool.n_nodes(),
            classes: self.classes.names().to_vec(),
        };
        explain::by_nodes(self, self, vec![whole], row, reject)
    }

    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error> {
        self.classes.rename(from, to)
    }

    fn input(&self) -> &Input {
        &self.input
    }

    fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    fn deployed(&self) -> Result<&Deployed, Error> {
        Ok(self)
    }

    fn cannot(&self, _: &str) -> Error {
        Error::NoMemory
    }
}
