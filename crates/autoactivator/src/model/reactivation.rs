//! The paper's learner as a model: it learns, predicts and explains. With densities it knows what is unknown, and units
//! come and go. It supports nothing that needs one memory for all tasks.

use serde::Deserialize;
use serde_json::{Value, json};

use super::explain::{self, Explanation};
use super::learned::{Abilities, Learned, refuse_change};
use super::task::Task;
use crate::data::{ImageShape, Labels, Rows};
use crate::error::Error;
use crate::format::Container;
use crate::learner::{Answer, Input, Learner};
use crate::math::Matrix;
use crate::params::Check;
use crate::reactivation::{GateKind, Reactivation, RepeatedClasses, pack};
use crate::words::counted;

impl Learned for Reactivation {
    fn pack(&self) -> Container {
        pack(self)
    }

    fn boxed(&self) -> Box<dyn Learned> {
        Box::new(self.clone())
    }

    fn abilities(&self) -> Abilities {
        Abilities::new(true, false, self.params().gate == GateKind::Density)
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Reactivation::scores(self, x)
    }

    fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Reactivation::probabilities(self, x)
    }

    fn answers(&self, x: Rows<'_>, reject: f64) -> Result<Vec<Answer>, Error> {
        let classes = self.predict(x)?;
        let known = if reject > 0.0 {
            Reactivation::known(self, x)?
        } else {
            None
        };
        let probabilities = Reactivation::probabilities(self, x)?;
        let row = |i: usize| (0..probabilities.n_cols()).map(move |c| (i, c));
        let answer = |(i, class)| {
            let known = known.as_ref().map(|known: &Vec<f32>| known[i]);
            Answer {
                class: known
                    .is_none_or(|known| f64::from(known) > reject)
                    .then_some(class),
                probabilities: row(i).map(|at| probabilities[at] as f32).collect(),
                known,
            }
        };
        Ok(classes.into_iter().enumerate().map(answer).collect())
    }

    fn known(&self, x: Rows<'_>) -> Result<Vec<f32>, Error> {
        Reactivation::known(self, x)?.ok_or_else(|| self.cannot("say how well it knows a row"))
    }

    fn explain(&self, row: &[f32], reject: f64) -> Result<Explanation, Error> {
        explain::by_units(self, row, reject)
    }

    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error> {
        Reactivation::rename_class(self, from, to)
    }

    fn input(&self) -> &Input {
        Reactivation::input(self)
    }

    fn input_mut(&mut self) -> &mut Input {
        Reactivation::input_mut(self)
    }

    fn reactivation(&self) -> Result<&Reactivation, Error> {
        Ok(self)
    }

    fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        self.check_densities("drop a class")?;
        Reactivation::drop_class(self, name)
    }

    fn check_merge(&self, other: &dyn Learned) -> Result<(), Error> {
        self.check_densities("be merged")?;
        self.check_adopt(other.reactivation()?)
    }

    /// Units that several of them have count once, so there is no need to know what they began with.
    fn merge(&mut self, others: &[&dyn Learned], _: Option<&dyn Learned>) -> Result<(), Error> {
        self.check_densities("be merged")?;
        let mut merged = self.clone();
        for other in others {
            merged.adopt(other.reactivation()?)?;
        }
        *self = merged;
        Ok(())
    }

    fn image(&self) -> Option<ImageShape> {
        self.params().image
    }

    fn parameters(&self) -> Value {
        self.params().described()
    }

    /// How repeated classes are treated may change from task to task; no other parameter may.
    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), Error> {
        if name != "repeated_classes" {
            return refuse_change(&self.parameters(), name, value);
        }
        let choice = RepeatedClasses::deserialize(value).map_err(|reason| Error::Parameter {
            name: name.to_owned(),
            value: value.to_string(),
            allowed: reason.to_string(),
        })?;
        self.set_repeated_classes(choice);
        Ok(())
    }

    fn tasks(&self) -> Vec<Task> {
        let tasks = self.units().iter().map(|unit| Task {
            task: unit.growth.task,
            nodes: unit.n_nodes(),
            classes: unit.growth.classes.clone(),
        });
        tasks.collect()
    }

    fn details(&self) -> String {
        let mut text = format!(
            "{}, seed {}\n\n",
            counted(self.units().len(), "unit"),
            self.params().seed
        );
        text += "unit  nodes  threshold  residual  accuracy  stopped by           classes\n";
        for (u, unit) in self.units().iter().enumerate() {
            let last = unit.growth.layers.last();
            let join = last.and_then(|layer| layer.joins.iter().rfind(|join| join.nodes == layer.nodes));
            let stopped = last.map_or(Value::Null, |layer| json!(layer.stopped));
            text += &format!(
                "{:>4}  {:>5}  {:>9.4}  {:>8.4}  {:>8.4}  {:<19}  {}\n",
                u + 1,
                unit.n_nodes(),
                unit.threshold,
                join.map_or(f64::NAN, |join| join.residual),
                join.map_or(f64::NAN, |join| join.accuracy),
                stopped.as_str().unwrap_or_default(),
                unit.growth.classes.join(", "),
            );
        }
        text
    }

    fn began_with(&self, x: Rows<'_>, y: &Labels) -> Result<bool, Error> {
        let mut new = Self::new(self.params().clone().check()?);
        new.learn(x, y, &mut ())?;
        Ok(new.units().first() == self.units().first())
    }
}

impl Reactivation {
    /// Refuses units that wake by thresholds: their random numbers are named after tasks, so only a row of tasks makes
    /// sense of them.
    fn check_densities(&self, what: &str) -> Result<(), Error> {
        match self.params().gate {
            GateKind::Density => Ok(()),
            GateKind::Threshold => Err(self.cannot(what)),
        }
    }
}
