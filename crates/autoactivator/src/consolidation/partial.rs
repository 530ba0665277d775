//! A partial memory: sums over some rows and an existing pool. A worker sends it instead of rows.
//!
//! [`Share`] takes rows in and becomes a [`Partial`]; partials over one pool add up, in any order and
//! grouping, and [`Consolidation::absorb`] adds one to a memory and solves the readout once. A partial
//! records the files that were summed, so that no file is added twice.

use super::binding::Binding;
use super::learner::{Consolidation, SUMMED_TOGETHER};
use super::ledger::Ledger;
use super::memory::Memory;
use super::witness::Witness;
use crate::data::{Chunks, Labels, Rows, check_weighed_task};
use crate::error::Error;
use crate::learner::Learner;

/// Sums over some rows and a pool, and the files that held the rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    pub(crate) binding: Binding,
    pub(crate) sums: Memory,
    pub(crate) files: Ledger,
}

impl Partial {
    /// What the sums were made with.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The files that held the rows, as far as they came from files.
    pub fn files(&self) -> &Ledger {
        &self.files
    }

    /// The sums.
    pub fn sums(&self) -> &Memory {
        &self.sums
    }

    /// Largest number of floats of a partial over `n_nodes` and `n_classes`: one triangle of G, Q, and n. Of few rows, G takes fewer.
    pub fn n_floats(n_nodes: usize, n_classes: usize) -> usize {
        n_nodes * (n_nodes + 1) / 2 + (n_nodes + 1) * n_classes
    }

    /// Adds another partial over the same pool, and returns whether it did: one whose files are all included
    /// already is skipped, as when a task was run twice.
    pub fn merge(&mut self, other: &Partial) -> Result<bool, Error> {
        self.binding.check(&other.binding)?;
        let new = self.files.admits(&other.files)?;
        if new {
            self.files.enter_all(&other.files);
            self.sums.combine(&other.sums, 1.0)?;
        }
        Ok(new)
    }
}

/// What one worker takes in: rows over the pool of a model, which itself does not change.
pub struct Share {
    /// The pool, and a memory of only this share.
    learner: Consolidation,
    binding: Binding,
    chunks: Chunks,
    files: Ledger,
    n_rows: usize,
}

impl Share {
    /// An empty share over the pool of `model`.
    pub fn of(model: &Consolidation) -> Result<Self, Error> {
        Ok(Self {
            binding: model.binding()?,
            learner: model.pool_alone(),
            chunks: Chunks::new(SUMMED_TOGETHER),
            files: Ledger::default(),
            n_rows: 0,
        })
    }

    /// A model with the pool, which also says what rows must be like.
    pub fn pool(&self) -> &Consolidation {
        &self.learner
    }

    /// Number of rows taken in.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Takes rows in.
    pub fn add(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        check_weighed_task(x, y, self.learner.n_features(), 1)?;
        self.n_rows += y.present().count();
        let learner = &mut self.learner;
        self.chunks
            .push(x, y, |x, y| learner.add_while(x, y, &mut |_| Ok(())))
    }

    /// Names a file that rows come from, by the SHA-256 of its content; returns whether it is new to the
    /// model and to this share. The rows of a file that is not new must not be taken in.
    pub fn enter(&mut self, sha256: &str, name: &str) -> bool {
        !self.learner.ledger.contains(sha256) && self.files.enter(sha256, name)
    }

    /// Ends the share and returns its sums.
    pub fn into_partial(mut self) -> Result<Partial, Error> {
        let learner = &mut self.learner;
        self.chunks
            .flush(|x, y| learner.add_while(x, y, &mut |_| Ok(())))?;
        Ok(Partial {
            binding: self.binding,
            sums: self.learner.memory,
            files: self.files,
        })
    }
}

impl Consolidation {
    /// The same pool, parameters and ledger without anything learned: all that a worker needs, and little to send.
    pub fn pool_alone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            memory: self.memory.emptied(),
            input: self.input.clone(),
            ledger: self.ledger.clone(),
            ..Self::new(self.params.clone())
        }
    }

    /// Whether a partial holds something to learn: not if it has no rows, or if all its files have been
    /// learned. Refuses a partial over another pool, and one with both learned and new files.
    pub fn accepts(&self, partial: &Partial) -> Result<bool, Error> {
        self.binding()?.check(&partial.binding)?;
        let wide = |witness: &Witness| Some(witness.row.len()) == self.n_features();
        if !partial.sums.witnesses.kept().iter().all(wide) {
            let reason = "their rows have different numbers of features".to_owned();
            return Err(Error::DifferentPools { reason });
        }
        Ok(self.ledger.admits(&partial.files)? && partial.sums.n_rows() > 0.0)
    }

    /// Learns what a partial holds, as one task, unless nothing in it is new; returns whether it did.
    pub fn absorb(&mut self, partial: &Partial) -> Result<bool, Error> {
        if !self.accepts(partial)? {
            return Ok(false);
        }
        partial.sums.check()?;
        let mut next = self.faded();
        if !next.params.private {
            next.ledger.enter_all(&partial.files);
        }
        // A sum has no order of arrival: new classes are added in the order of their names, whichever was summed first.
        let mut names: Vec<&String> = partial.sums.classes.names().iter().collect();
        names.sort();
        for name in names {
            next.memory.classes.admit_one(name);
        }
        next.memory.combine(&partial.sums, 1.0)?;
        next.consolidate()?;
        *self = next;
        Ok(true)
    }
}
