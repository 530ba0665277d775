//! The classes a learner knows, in order of arrival.

use std::collections::HashMap;

use super::Labels;
use crate::error::Error;

/// Class names in order of arrival; the index of a name is its place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassList {
    names: Vec<String>,
    places: HashMap<String, u32>,
}

impl ClassList {
    /// The names, in order of arrival.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether nothing has arrived yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The place of `name`, if it has arrived.
    pub fn place(&self, name: &str) -> Option<u32> {
        self.places.get(name).copied()
    }

    /// Admits the classes of the labelled rows and returns the place of each row's class.
    ///
    /// New classes are admitted in the order of the label list, so the order of the rows does not matter.
    pub fn admit(&mut self, y: &Labels) -> Vec<u32> {
        let counts = y.counts();
        let names = y.names().iter().zip(counts);
        let place_of: Vec<u32> = names
            .map(|(name, count)| if count > 0 { self.admit_one(name) } else { u32::MAX })
            .collect();
        y.codes().iter().map(|&code| place_of[code as usize]).collect()
    }

    /// Renames a class; refuses a name that another class has.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let place = self.place(from).ok_or_else(|| self.unknown(from))?;
        if from == to {
            return Ok(());
        }
        if to.trim().is_empty() {
            return Err(Error::NoClassName);
        }
        if self.place(to).is_some() {
            return Err(Error::ClassExists { class: to.to_owned() });
        }
        self.places.remove(from);
        self.places.insert(to.to_owned(), place);
        self.names[place as usize] = to.to_owned();
        Ok(())
    }

    /// The error for a class that is not known.
    pub(crate) fn unknown(&self, name: &str) -> Error {
        Error::UnknownClass {
            class: name.to_owned(),
            known: self.names.join(", "),
        }
    }

    /// The place of `name`, which is admitted if it is new.
    pub(crate) fn admit_one(&mut self, name: &str) -> u32 {
        self.place(name).unwrap_or_else(|| {
            let place = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.places.insert(name.to_owned(), place);
            place
        })
    }
}

impl FromIterator<String> for ClassList {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut list = Self::default();
        for name in names {
            list.admit_one(&name);
        }
        list
    }
}
