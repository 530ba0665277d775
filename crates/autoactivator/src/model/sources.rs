//! Which files a model was taught from: none counts twice, and none is taken away twice.
//!
//! Only consolidation keeps a [`Ledger`](crate::Ledger). The paper's learner refuses a class that it knows, and a
//! private model lists nothing.

use super::{Model, Receipt};
use crate::consolidation::{Ledger, Source};
use crate::data::Labels;
use crate::error::Error;

impl Model {
    /// Whether the model keeps a list of the files that it learns.
    pub fn keeps_sources(&self) -> bool {
        self.consolidation()
            .is_ok_and(|learner| !learner.params().private)
    }

    /// Refuses to learn rows of these classes from a file that they were learned from; no classes means all.
    pub fn check_new(&self, source: &Source, classes: &[String]) -> Result<(), Error> {
        match self.consolidation() {
            Ok(learner) => learner.ledger().check_new(source, classes),
            Err(_) => Ok(()),
        }
    }

    /// Refuses to unlearn rows of these classes from a file that they were unlearned from; no classes means all.
    pub fn check_there(&self, source: &Source, classes: &[String]) -> Result<(), Error> {
        match self.consolidation() {
            Ok(learner) => learner.ledger().check_there(source, classes),
            Err(_) => Ok(()),
        }
    }

    /// Remembers that the last task was learned from a file.
    pub fn enter_learned(&mut self, source: &Source, receipt: &Receipt) {
        let task = self.tasks().last().map_or(self.growth().len(), |last| last.task);
        self.enter(|ledger| ledger.learned(source, &receipt.classes(), task));
    }

    /// Remembers that rows were unlearned from a file.
    pub fn enter_unlearned(&mut self, source: &Source, y: &Labels) {
        let mut classes: Vec<String> = (0..y.len()).map(|row| y.name(row).to_owned()).collect();
        classes.sort();
        classes.dedup();
        self.enter(|ledger| ledger.unlearned(source, &classes));
    }

    fn enter(&mut self, entry: impl FnOnce(&mut Ledger)) {
        if self.keeps_sources()
            && let Ok(learner) = self.consolidation_mut()
        {
            entry(&mut learner.ledger);
        }
    }
}
