//! The way back: rows, memories and classes are taken out of the sums again.
//!
//! What a sum cannot have held is refused: see [`contradiction`]. After the last task is taken back, the nodes
//! that it had recruited are given back too.

use super::growth;
use super::learner::{Consolidation, lots};
use super::memory::{Memory, SLACK, slack};
use crate::data::{Labels, Rows, check_weighed_task};
use crate::error::Error;
use crate::learner::Learner;
use crate::math::{Cholesky, Matrix, is_stopped};
use crate::params::Precision;

impl Consolidation {
    /// Subtracts everything that another learner over the same pool has learned, such as what two memories
    /// have in common because they began from the same one.
    pub fn subtract(&mut self, other: &Consolidation) -> Result<(), Error> {
        let mut next = self.without(other)?;
        next.refit()?;
        *self = next;
        Ok(())
    }

    /// The sums minus those of another learner over the same pool; the readout is unchanged.
    pub(super) fn without(&self, other: &Consolidation) -> Result<Self, Error> {
        self.check_pool(other)?;
        self.check_unfaded()?;
        let mut next = self.clone();
        next.ledger = self.ledger.without(&other.ledger);
        next.memory.combine(&other.memory, -1.0)?;
        next.check_less_than(&self.memory)?;
        if next.memory.classes.is_empty() {
            next.recruited.clear();
        }
        Ok(next)
    }

    /// Unlearns rows: the memory becomes what it would have been without them. A class of which no row is
    /// left is no longer known. Rows weigh what they weighed when they were learned.
    pub fn unlearn(&mut self, x: Rows<'_>, y: &Labels) -> Result<(), Error> {
        self.memory.gram.make_room(x.len());
        let mut next = self.clone_of_learned()?;
        self.check_unfaded()?;
        check_weighed_task(x, y, self.n_features(), growth::n_tasks(&self.growth))?;
        if let Some((x, y)) = y.present_of(x) {
            return self.unlearn(x.rows(), &y);
        }
        let places = next.memory.classes.admit(y);
        if next.memory.classes.len() > self.memory.classes.len() {
            let class = &next.memory.classes.names()[self.memory.classes.len()];
            return Err(self.memory.classes.unknown(class));
        }
        for lot in lots(x, &places, y) {
            if let Some(i) = next.add(&lot, -1.0) {
                let class = &next.memory.classes.names()[lot.places[i] as usize];
                let reason = format!(
                    "a row to unlearn as '{class}' is not among the rows that are kept of those learned"
                );
                return Err(Error::NeverLearned { reason });
            }
        }
        next.check_less_than(&self.memory)?;
        next.refit()?;
        *self = next;
        Ok(())
    }

    /// Forgets a class. After the last class only the pool is left, and learning starts anew.
    pub fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        let mut next = self.clone_of_learned()?;
        next.memory.drop_class(name)?;
        next.ledger.drop_class(name);
        next.refit()?;
        *self = next;
        Ok(())
    }

    /// A copy to be changed, so that `self` stays intact on failure; refused if nothing has been learned.
    fn clone_of_learned(&self) -> Result<Self, Error> {
        if self.memory.classes.is_empty() {
            return Err(Error::NothingLearned);
        }
        Ok(self.clone())
    }

    /// Refuses to take rows at their full weight from sums in which they may have less.
    fn check_unfaded(&self) -> Result<(), Error> {
        let fading = self.params.fading;
        if fading < 1.0 {
            return Err(Error::Faded { fading });
        }
        Ok(())
    }

    /// Accepts the memory after a subtraction, unless it shows that what was subtracted had never been learned.
    fn check_less_than(&mut self, before: &Memory) -> Result<(), Error> {
        let contradiction = contradiction(&self.memory, before, self.params.precision);
        if is_stopped() {
            return Err(Error::Interrupted);
        }
        if let Some(reason) = contradiction {
            return Err(Error::NeverLearned { reason });
        }
        self.memory.drop_emptied_classes(before);
        Ok(())
    }

    /// Solves the readout again, after giving back what only tasks that are gone had needed.
    fn refit(&mut self) -> Result<(), Error> {
        if self.memory.classes.is_empty() {
            self.memory = self.memory.emptied();
            self.recruited.clear();
            self.growth.clear();
            self.deployed = None;
            return Ok(());
        }
        self.give_back();
        self.deployed = Some(self.read_out()?);
        Ok(())
    }

    /// Ends with the last task that is still there: when a task is taken back whole, the nodes that it recruited
    /// go too. Earlier tasks keep theirs, since later ones were recruited beside them.
    fn give_back(&mut self) {
        let classes = self.memory.classes.clone();
        for task in &mut self.growth {
            task.new_classes.retain(|class| classes.place(class).is_some());
        }
        while let [.., before, _] = self.growth.as_slice()
            && (before.rows - self.memory.n_rows()).abs() <= slack(self.memory.n_rows())
            && before.classes == self.memory.classes.len()
        {
            self.recruited.truncate(before.nodes);
            self.growth.pop();
        }
    }
}

/// Evidence that rows were subtracted that had never been learned; none if there is none.
///
/// Rows that were learned leave sums of the other rows behind, and these have no negative variance in any direction.
fn contradiction(after: &Memory, before: &Memory, precision: Precision) -> Option<String> {
    if after.classes.len() > before.classes.len() {
        let new = &after.classes.names()[before.classes.len()];
        return Some(format!("class '{new}' is not known"));
    }
    for (c, &count) in after.counts.iter().enumerate() {
        let name = &after.classes.names()[c];
        let slack = slack(before.counts[c] - count);
        if count < -slack {
            return Some(format!("class '{name}' would have fewer than no rows"));
        }
        let scale = before.moments.col(c).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let left = after.moments.col(c).iter().fold(0.0f64, |m, v| m.max(v.abs()));
        if count <= slack && left > SLACK * scale {
            return Some(format!("class '{name}' would keep sums without rows"));
        }
    }
    let scatter = scatter(after, before);
    if let Some(j) = (0..scatter.n_cols()).find(|&j| scatter[(j, j)] < -SLACK) {
        return Some(format!("node {j} would have a negative variance"));
    }
    let negative = !is_positive(scatter, precision);
    negative.then(|| "the rest would have a negative variance in some direction".to_owned())
}

/// Σ (h - h̄_c)(h - h̄_c)ᵀ over all classes c, in units of what each node had before; lower triangle.
fn scatter(after: &Memory, before: &Memory) -> Matrix<f64> {
    let n = after.n_nodes();
    let unit = |j: usize| 1.0 / before.gram.at(j, j).max(f64::MIN_POSITIVE).sqrt();
    let units: Vec<f64> = (0..n).map(unit).collect();
    let classes: Vec<usize> = (0..after.counts.len())
        .filter(|&c| after.counts[c] > slack(before.counts[c] - after.counts[c]))
        .collect();
    let roots: Vec<f64> = classes.iter().map(|&c| after.counts[c].sqrt()).collect();
    let means = Matrix::from_fn(classes.len(), n, |i, j| after.moments[(j, classes[i])] / roots[i]);
    let mut between = Matrix::zeros(n, n);
    crate::math::add_gram_lower(&mut between, means.view());
    let mut scatter = after.gram.to_square();
    for (j, unit) in units.iter().enumerate() {
        let column = scatter.col_mut(j)[j..].iter_mut();
        let parts = column.zip(&between.col(j)[j..]).zip(&units[j..]);
        parts.for_each(|((entry, between), other)| *entry = (*entry - between) * unit * other);
    }
    scatter
}

/// Whether a matrix in units of its former diagonal has no negative eigenvalue beyond what rounding makes of 0.
fn is_positive(mut scatter: Matrix<f64>, precision: Precision) -> bool {
    let n = scatter.n_cols();
    // Rounding adds up like a random matrix, whose largest eigenvalue grows with the root of its size.
    let slack = match precision {
        Precision::F32 => 1e-6,
        // A factor that rows are taken from is right to this.
        Precision::F64 => 1e-8,
    } * (n as f64).sqrt();
    (0..n).for_each(|j| scatter[(j, j)] += slack);
    Cholesky::new(scatter).is_some()
}
