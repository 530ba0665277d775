//! Consolidation as a model: it supports every operation.

use serde_json::{Value, json};

use super::explain::{self, Explanation};
use super::learned::{Abilities, Learned, refuse_change};
use super::task::Task;
use crate::consolidation::{Consolidation, ConsolidationParams, Deployed, pack};
use crate::data::{ImageShape, Labels, Rows};
use crate::error::Error;
use crate::format::Container;
use crate::learner::{Answer, Input, Learner};
use crate::math::Matrix;
use crate::params::{self, Check};
use crate::words::counted;

/// The parameters by which a memory is read out.
const OF_THE_READOUT: [&str; 4] = ["readout", "prior", "ridge", "shrinkage"];

impl Learned for Consolidation {
    fn pack(&self) -> Container {
        pack(self)
    }

    fn boxed(&self) -> Box<dyn Learned> {
        Box::new(self.clone())
    }

    fn abilities(&self) -> Abilities {
        Abilities::new(true, true, true)
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Learned::scores(Learned::deployed(self)?, x)
    }

    fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Learned::probabilities(Learned::deployed(self)?, x)
    }

    fn answers(&self, x: Rows<'_>, reject: f64) -> Result<Vec<Answer>, Error> {
        Learned::deployed(self)?.answers(x, reject)
    }

    fn check_rejects(&self) -> Result<(), Error> {
        if self.params().private {
            let reason = "a private model keeps no rows to judge by; begin one without `private`";
            return Err(Error::CannotReject { reason });
        }
        Learned::deployed(self)?.check_rejects()
    }

    fn known(&self, x: Rows<'_>) -> Result<Vec<f32>, Error> {
        self.check_rejects()?;
        Learned::deployed(self)?.known(x)
    }

    fn explain(&self, row: &[f32], reject: f64) -> Result<Explanation, Error> {
        explain::by_nodes(self, Learned::deployed(self)?, self.tasks(), row, reject)
    }

    fn rename_class(&mut self, from: &str, to: &str) -> Result<(), Error> {
        Consolidation::rename_class(self, from, to)
    }

    fn input(&self) -> &Input {
        Consolidation::input(self)
    }

    fn input_mut(&mut self) -> &mut Input {
        Consolidation::input_mut(self)
    }

    /// What predicts is exported alone, so it learns of it at once.
    fn set_labels(&mut self, kind: Option<String>) {
        self.input.labels.clone_from(&kind);
        if let Some(deployed) = &mut self.deployed {
            deployed.input.labels = kind;
        }
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!(self.params());
        // Files leave it out when it is not set.
        parameters["private"] = json!(self.params().private);
        parameters
    }

    /// What is solved from the memory may change from task to task; what the memory was made with may not.
    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), Error> {
        if !OF_THE_READOUT.contains(&name) {
            return refuse_change(&self.parameters(), name, value);
        }
        let mut asked = json!(self.params());
        asked[name] = value.clone();
        self.params = params::read::<ConsolidationParams>(&asked)?.check()?;
        Ok(())
    }

    fn image(&self) -> Option<ImageShape> {
        self.params().image
    }

    fn about_pool(&self) -> Option<String> {
        let (pool, wide) = (self.pool()?, self.was_too_wide());
        wide.then(|| {
            format!(
                "rows of {} features are too wide to be nodes themselves: {} random nodes were chosen; --nodes sets \
                 their number, --pool another kind",
                pool.n_inputs(),
                pool.n_nodes()
            )
        })
    }

    fn tasks(&self) -> Vec<Task> {
        let (mut nodes, known) = (0, self.classes());
        let tasks = self.task_growth().iter().map(|growth| {
            // A merge takes over nodes before it recruits, so what counts is the number of nodes afterwards.
            let recruited = growth.nodes.saturating_sub(nodes);
            nodes = growth.nodes;
            let classes = growth.new_classes.iter().filter(|class| known.contains(class));
            Task {
                task: growth.task,
                nodes: recruited,
                classes: classes.cloned().collect(),
            }
        });
        tasks.collect()
    }

    fn details(&self) -> String {
        let mut text = format!("seed {}\n", self.params().seed);
        if !self.ledger().is_empty() {
            text += &format!("{} in the ledger\n", counted(self.ledger().len(), "file"));
        }
        text += "\ntask  rows so far  classes  recruited  nodes     ridge  recruitment ended by\n";
        for task in self.task_growth() {
            let ended = task
                .ended
                .map_or_else(|| json!("the whole pool is read"), |ended| json!(ended));
            let number = match task.tasks {
                1 => task.task.to_string(),
                tasks => format!("{}-{}", task.task + 1 - tasks, task.task),
            };
            text += &format!(
                "{number:>4}  {:>11}  {:>7}  {:>9}  {:>5}  {:>8.1e}  {}\n",
                (task.rows * 1e3).round() / 1e3,
                task.classes,
                task.recruited,
                task.nodes,
                task.ridge,
                ended.as_str().unwrap_or_default(),
            );
        }
        text
    }

    fn began_with(&self, x: Rows<'_>, y: &Labels) -> Result<bool, Error> {
        let mut new = Self::new(self.params().clone().check()?);
        new.learn(x, y, &mut ())?;
        Ok(new.pool == self.pool)
    }

    fn consolidation(&self) -> Result<&Consolidation, Error> {
        Ok(self)
    }

    fn consolidation_mut(&mut self) -> Result<&mut Consolidation, Error> {
        Ok(self)
    }

    fn deployed(&self) -> Result<&Deployed, Error> {
        Consolidation::deployed(self).ok_or(Error::NothingLearned)
    }

    fn warm_up(&self) {
        Consolidation::warm_up(self);
    }

    fn unlearn(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        Consolidation::unlearn(self, x, y)
    }

    fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        Consolidation::drop_class(self, name)
    }

    fn check_merge(&self, other: &dyn Learned) -> Result<(), Error> {
        Consolidation::check_merge(self, other.consolidation()?)
    }

    fn merge(&mut self, others: &[&dyn Learned], base: Option<&dyn Learned>) -> Result<(), Error> {
        let others = others.iter().map(|other| other.consolidation());
        let others = others.collect::<Result<Vec<&Consolidation>, Error>>()?;
        let base = base.map(Learned::consolidation).transpose()?;
        self.merge_all(&others, base)
    }
}
