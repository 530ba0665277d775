//! Units come and go one by one: those of another learner are taken in, and a unit or one of its classes is removed.
//!
//! With `gate = density`, a unit holds nothing but what came from its own rows, and its random numbers are named after
//! its classes. So units that were learned apart and put together are those that are learned in a row.

use super::learner::Reactivation;
use super::params::{ReactivationParams, RepeatedClasses};
use super::unit::NeuralUnit;
use crate::data::ClassList;
use crate::error::Error;
use crate::learner::{have_other_names, same_origin};

impl Reactivation {
    /// Refuses a learner whose units cannot stand beside these.
    pub fn check_adopt(&self, other: &Self) -> Result<(), Error> {
        self.check_separate()?;
        let alike = |params: &ReactivationParams| ReactivationParams {
            repeated_classes: RepeatedClasses::default(),
            ..params.clone()
        };
        let widths = self.n_features.zip(other.n_features);
        let reason = if alike(&self.params) != alike(&other.params) {
            "the models have different parameters or seeds"
        } else if widths.is_some_and(|(one, other)| one != other) {
            "their rows have different numbers of features"
        } else if !same_origin(self.input.origin.as_ref(), other.input.origin.as_ref()) {
            "their rows come from different backbones"
        } else if have_other_names(&self.input, &other.input) {
            "their features have different names, or the same in another order"
        } else {
            return Ok(());
        };
        Err(fixed(reason))
    }

    /// Takes in the units of another learner, after its own; a unit that both have counts once.
    pub fn adopt(&mut self, other: &Self) -> Result<(), Error> {
        self.check_adopt(other)?;
        let mut joined = self.clone();
        joined.n_features = self.n_features.or(other.n_features);
        joined.view = self.view.clone().or_else(|| other.view.clone());
        joined.module = self.module.clone().or_else(|| other.module.clone());
        for unit in &other.units {
            joined.adopt_unit(unit)?;
        }
        *self = joined;
        Ok(())
    }

    fn adopt_unit(&mut self, unit: &NeuralUnit) -> Result<(), Error> {
        if self.units.iter().any(|own| is_same(own, unit)) {
            return Ok(());
        }
        let names = &unit.growth.classes;
        let known = || names.iter().find_map(|name| Some((name, self.task_of(name)?)));
        if self.params.repeated_classes == RepeatedClasses::Refuse
            && let Some((class, task)) = known()
        {
            let class = class.clone();
            return Err(Error::RepeatedClass { class, task });
        }
        let mut unit = unit.clone();
        let names = unit.growth.classes.iter();
        unit.classes = names.map(|name| self.classes.admit_one(name)).collect();
        self.units.push(unit);
        self.renumber();
        Ok(())
    }

    /// Removes a unit and returns it; classes that no other unit knows are forgotten.
    pub fn remove_unit(&mut self, unit: usize) -> Result<NeuralUnit, Error> {
        self.check_separate()?;
        if unit >= self.units.len() {
            return Err(fixed("there is no such unit"));
        }
        let removed = self.units.remove(unit);
        self.renumber();
        Ok(removed)
    }

    /// Forgets a class: the sums of its rows are removed. Nodes that grew with it stay; a unit without classes goes.
    pub fn drop_class(&mut self, name: &str) -> Result<(), Error> {
        self.check_separate()?;
        let place = self.classes.place(name);
        let place = place.ok_or_else(|| self.classes.unknown(name))?;
        let mut units = Vec::new();
        for unit in &self.units {
            match unit.classes.iter().position(|&class| class == place) {
                None => units.push(unit.clone()),
                Some(_) if unit.classes.len() == 1 => {}
                Some(c) => units.push(without_class(unit, c)?),
            }
        }
        self.units = units;
        self.renumber();
        Ok(())
    }

    /// Numbers tasks and classes anew: units in their order, and only the classes that a unit has.
    fn renumber(&mut self) {
        let had = |place: u32| self.units.iter().any(|unit| unit.classes.contains(&place));
        let names = self.classes.names().iter().zip(0..);
        let names = names
            .filter(|(_, place)| had(*place))
            .map(|(name, _)| name.clone());
        let classes: ClassList = names.collect();
        for (u, unit) in self.units.iter_mut().enumerate() {
            unit.growth.task = u + 1;
            let names = unit.growth.classes.iter();
            unit.classes = names.filter_map(|name| classes.place(name)).collect();
        }
        self.classes = classes;
        if self.units.is_empty() {
            (self.n_features, self.view, self.module) = (None, None, None);
        }
    }

    /// Refuses units that depend on each other.
    fn check_separate(&self) -> Result<(), Error> {
        if self.params.reuse {
            return Err(fixed("they use nodes of each other, since `reuse` is set"));
        }
        Ok(())
    }
}

/// Whether two units are the same, whatever tasks they came with.
fn is_same(own: &NeuralUnit, other: &NeuralUnit) -> bool {
    let mut other = other.clone();
    other.growth.task = own.growth.task;
    other.classes.clone_from(&own.classes);
    *own == other
}

fn without_class(unit: &NeuralUnit, c: usize) -> Result<NeuralUnit, Error> {
    let mut left = unit.clone();
    left.classes.remove(c);
    left.growth.classes.remove(c);
    left.readout = unit.readout.gather((0..unit.classes.len()).filter(|&k| k != c));
    let task = unit.growth.task;
    let gate = unit.gate.as_ref().map(|gate| gate.without_class(c));
    left.gate = gate
        .map(|gate| gate.ok_or(Error::NoDensity { task }))
        .transpose()?;
    Ok(left)
}

fn fixed(reason: &str) -> Error {
    Error::FixedUnits {
        reason: reason.to_owned(),
    }
}
