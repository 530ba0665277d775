//! A partial memory: sums of some rows over a pool that was made before. What a worker sends, instead of rows.
//!
//! [`Share`] takes rows in and leaves a [`Partial`]; partials over one pool add up, in any order and grouping, and
//! [`Consolidation::absorb`] adds one to a memory and reads out once. Sums remember the files they were made of, so that
//! no file is added twice.

use super::binding::Binding;
use super::learner::{Consolidation, SUMMED_TOGETHER};
use super::ledger::Ledger;
use super::memory::Memory;
use crate::data::{Chunks, Labels, Rows, Table, check_task};
use crate::error::Error;
use crate::learner::Learner;

/// Sums of some rows over a pool, and the files that held them.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial {
    pub(crate) binding: Binding,
    pub(crate) sums: Memory,
    pub(crate) files: Ledger,
}

impl Partial {
    /// What its sums were made with.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// The files that held its rows, where they came from files.
    pub fn files(&self) -> &Ledger {
        &self.files
    }

    /// The sums.
    pub fn sums(&self) -> &Memory {
        &self.sums
    }

    /// Numbers in a partial over `n_nodes` and `n_classes`: one triangle of G, Q, and n.
    pub fn n_floats(n_nodes: usize, n_classes: usize) -> usize {
        n_nodes * (n_nodes + 1) / 2 + (n_nodes + 1) * n_classes
    }

    /// Adds another one over the same pool, and says whether it did: one whose files are all here already is passed over,
    /// as after a task that was tried twice.
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

/// What one worker takes in: rows over the pool of a model, which itself stays as it is.
pub struct Share {
    /// The pool, and a memory of this share alone.
    learner: Consolidation,
    binding: Binding,
    chunks: Chunks,
    files: Ledger,
    n_rows: usize,
}

impl Share {
    /// Nothing taken in, over the pool of `model`.
    pub fn of(model: &Consolidation) -> Result<Self, Error> {
        Ok(Self {
            binding: model.binding()?,
            learner: model.pool_alone(),
            chunks: Chunks::new(SUMMED_TOGETHER),
            files: Ledger::default(),
            n_rows: 0,
        })
    }

    /// The pool, and what its rows must be like.
    pub fn pool(&self) -> &Consolidation {
        &self.learner
    }

    /// Rows taken in.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Takes rows in.
    pub fn add(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        check_task(x, y, self.learner.n_features(), 1)?;
        self.n_rows += x.len();
        let learner = &mut self.learner;
        self.chunks
            .push(x, y, |x, y| learner.add_while(x, y, &mut |_| Ok(())))
    }

    /// Names a file that rows come from, by the SHA-256 of its content; says whether it is new to the model and to
    /// this share. The rows of one that is not must not be taken in.
    pub fn enter(&mut self, sha256: &str, name: &str) -> bool {
        !self.learner.ledger.contains(sha256) && self.files.enter(sha256, name)
    }

    /// The sums.
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
    /// The same pool, parameters and ledger without anything learned: what a worker needs, and little to send.
    pub fn pool_alone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            memory: Memory::new(self.memory.n_nodes(), self.memory.standard.clone()),
            origin: self.origin.clone(),
            ledger: self.ledger.clone(),
            ..Self::new(self.params.clone())
        }
    }

    /// Whether a partial holds something to learn: not when it has no rows, or when its files have all been learned. One
    /// over another pool is refused, and one of whose files some have been learned and some have not.
    pub fn accepts(&self, partial: &Partial) -> Result<bool, Error> {
        self.binding()?.check(&partial.binding)?;
        Ok(self.ledger.admits(&partial.files)? && partial.sums.n_rows() > 0.0)
    }

    /// Learns what a partial holds, as one task, unless there is nothing new in it; says whether it did. Some of its
    /// rows calibrate probabilities, where they are given; without them these stay as they were.
    pub fn absorb(&mut self, partial: &Partial, rows: Option<(&Table, &Labels)>) -> Result<bool, Error> {
        if !self.accepts(partial)? {
            return Ok(false);
        }
        if let Some((x, y)) = rows {
            check_task(x.rows(), y, self.n_features(), self.growth.len() + 1)?;
        }
        let mut next = self.faded();
        next.ledger.enter_all(&partial.files);
        // A sum has no order of arrival: new classes come in the order of their names, whoever summed first.
        let mut names: Vec<&String> = partial.sums.classes.names().iter().collect();
        names.sort();
        for name in names {
            next.memory.classes.admit_one(name);
        }
        next.memory.combine(&partial.sums, 1.0)?;
        match rows {
            Some((x, y)) => next.end_task_by_some_of(x.rows(), y)?,
            None => next.consolidate()?,
        }
        *self = next;
        Ok(true)
    }
}
