//! Discovery: rows that look like no known class, grouped into classes that might be new.
//!
//! A [`Discovery`] looks at unlabelled rows and keeps a bounded sample of those that may be unknown. [`Discovery::groups`]
//! lays them into a `space` that the memory's own sums shape, joins them in a `tree` in which known classes take part, cuts it
//! where known classes that are `held_back` come back as groups of their own, and lets a `mixture` settle where rows lie between
//! groups and known classes. [`Groups`] then says of any row which group it is in.
//!
//! ```
//! use autoactivator::prelude::*;
//! use autoactivator::discovery::Discovery;
//!
//! // Two classes are known; rows of a third arrive without a name.
//! let rows = |x: f32, y: f32| (0..30).flat_map(move |i| [x + (i % 5) as f32 * 0.01, y + (i / 5) as f32 * 0.01]);
//! let known: Vec<f32> = rows(0.0, 0.0).chain(rows(1.0, 0.0)).collect();
//! let names = (0..60).map(|i| if i < 30 { "left" } else { "right" });
//! let mut model = Model::new("consolidation", &serde_json::json!({}))?;
//! model.learn(Rows::new(&known, 2)?, &Labels::from_names(names), &mut ())?;
//! let arrived: Vec<f32> = rows(0.005, 0.005).chain(rows(0.5, 1.0)).collect();
//! let found = model.discover(Rows::new(&arrived, 2)?)?;
//! assert_eq!(found.groups.len(), 1);
//! assert!(found.placed[..30].iter().all(|row| row.group.is_none()));
//! # Ok::<(), Error>(())
//! ```

mod groups;
mod held_back;
mod mixture;
mod search;
mod space;
mod tree;

pub use groups::{Found, Group, Groups, Nearest, Placed};

use crate::consolidation::{Consolidation, Witness, Witnesses};
use crate::data::{Rows, Table};
use crate::error::Error;
use crate::model::Model;
use search::Search;

/// Largest number of rows that are grouped; what others do follows from these.
pub const SAMPLE: usize = 3072;

/// Largest number of floats that are kept of rows.
const KEPT_FLOATS: usize = 1 << 23;

/// A row is known if more than this share of known rows is at least as strange. Half of all known rows are told apart by
/// that before anything is grouped; few new ones are.
const KNOWN: f32 = 0.5;

/// Shares of known rows: of rows that are all known, each is the share of those that are as strange.
const LEVELS: [f32; 3] = [KNOWN, 0.1, 0.02];

/// How many standard deviations more rows than that are no chance.
const NO_CHANCE: f32 = 3.0;

/// Unlabelled rows that are looked at, in any number of batches.
pub struct Discovery<'a> {
    model: &'a Model,
    learner: &'a Consolidation,
    sample: Witnesses,
    n_rows: usize,
    /// Number of rows that are as strange as each of the levels; the first are those that may be unknown.
    n_strange: [usize; LEVELS.len()],
}

impl<'a> Discovery<'a> {
    /// Begins with no rows. Refuses a model that cannot tell what it does not know.
    pub fn new(model: &'a Model) -> Result<Self, Error> {
        let refused = |reason| Err(Error::CannotDiscover { reason });
        let n_features = model.n_features().ok_or(Error::NothingLearned)?;
        let learner = match (model.consolidation(), model.cannot("discover new classes")) {
            (Ok(learner), _) => learner,
            (Err(_), Error::NoMemory) => {
                return refused("a deployed model has no memory to judge by; use the file with its memory");
            }
            (Err(_), cannot) => return Err(cannot),
        };
        if learner.params().private {
            return refused("a private model keeps no rows to judge by; begin one without `private`");
        }
        if model.classes().len() < 2 {
            return refused("the model knows only one class; learn a second one");
        }
        let judges = learner
            .deployed()
            .is_some_and(|deployed| deployed.unknown.is_some());
        if !judges || !can_hold_back(learner) {
            return refused("the model keeps no rows to judge by, or too few of each class; learn more rows");
        }
        let room = (KEPT_FLOATS / n_features.max(1)).max(1);
        Ok(Self {
            model,
            learner,
            sample: Witnesses::new(2 * SAMPLE.min(room)),
            n_rows: 0,
            n_strange: [0; LEVELS.len()],
        })
    }

    /// Looks at rows, and keeps some of those that may be unknown: which ones depends on their content alone.
    pub fn observe(&mut self, x: Rows<'_>) -> Result<(), Error> {
        let shares = self.model.known(x)?;
        self.n_rows += x.len();
        for (n_strange, level) in self.n_strange.iter_mut().zip(LEVELS) {
            *n_strange += shares.iter().filter(|share| **share <= level).count();
        }
        let unknown = unknown_among(&shares);
        let rows = x.gather(&unknown);
        let one_class = vec![0; rows.rows().len()];
        self.sample.add(rows.rows(), &one_class, |_| (1.0, 1.0));
        Ok(())
    }

    /// Number of rows that were looked at.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Groups what was looked at. It may take seconds; it ends early if the work of this thread is stopped.
    pub fn groups(&self) -> Result<Groups<'a>, Error> {
        let sample = self.sample.in_use();
        let search = Search {
            learner: self.learner,
            sample: if self.something_is_new() { sample } else { &[] },
            new: self.new_share(),
        };
        Groups::find(self.model, &search)
    }

    /// Whether more rows are strange than known rows would be by chance.
    fn something_is_new(&self) -> bool {
        let n = self.n_rows as f32;
        let mut levels = self.n_strange.iter().zip(LEVELS);
        levels.any(|(&strange, level)| {
            strange as f32 - level * n > NO_CHANCE * (level * (1.0 - level) * n).sqrt()
        })
    }

    /// The share of new rows among those that may be unknown: as many known rows look unknown as look known.
    fn new_share(&self) -> f32 {
        let unknown = self.n_strange[0];
        let (unknown, known) = (unknown as f32, (self.n_rows - unknown) as f32);
        let known = known * KNOWN / (1.0 - KNOWN);
        let least = 1.0 / unknown.max(2.0);
        (1.0 - known / unknown.max(1.0)).clamp(least, 1.0 - least)
    }
}

impl Model {
    /// Groups rows that look like no known class, and says of each row which group it is in.
    pub fn discover(&self, x: Rows<'_>) -> Result<Found<'_>, Error> {
        let mut discovery = Discovery::new(self)?;
        discovery.observe(x)?;
        let groups = discovery.groups()?;
        let placed = groups.place(x)?;
        Ok(Found { groups, placed })
    }
}

/// Whether enough rows of some class are kept for it to come back as a group.
fn can_hold_back(learner: &Consolidation) -> bool {
    let mut kept = vec![0; learner.memory().counts().len()];
    let places = learner
        .memory()
        .witnesses()
        .kept()
        .iter()
        .map(|row| row.place as usize);
    places.for_each(|place| kept[place] += 1);
    kept.iter().any(|&rows| rows >= held_back::LEAST)
}

/// The indices of rows that may be unknown, by how well known each row is.
fn unknown_among(shares: &[f32]) -> Vec<usize> {
    let unknown = shares.iter().enumerate().filter(|(_, share)| **share <= KNOWN);
    unknown.map(|(i, _)| i).collect()
}

/// Rows that were kept, as one table.
fn table<'r>(rows: impl IntoIterator<Item = &'r Witness>, n_features: usize) -> Table {
    let values = rows.into_iter().flat_map(|kept| kept.row.iter());
    Table::from_whole_rows(values.copied().collect(), n_features)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::data::Labels;
    use crate::math::{Random, Stream};

    const WIDTH: usize = 12;

    /// Rows around the mean of a class; the same number gives the same class.
    fn rows(class: usize, n: usize, random: &mut Random) -> Vec<f32> {
        let mut of_class = Random::new(class as u64, Stream::View);
        let mean: Vec<f32> = (0..WIDTH).map(|_| 3.0 * of_class.normal()).collect();
        (0..n * WIDTH)
            .map(|i| mean[i % WIDTH] + random.normal())
            .collect()
    }

    fn model(n_known: usize, parameters: &serde_json::Value) -> Model {
        let mut random = Random::new(1, Stream::Probes);
        let mut model = Model::new("consolidation", parameters).unwrap();
        let x: Vec<f32> = (0..n_known)
            .flat_map(|class| rows(class, 40, &mut random))
            .collect();
        let names: Vec<String> = (0..n_known * 40).map(|i| (i / 40).to_string()).collect();
        let y = Labels::from_names(names.iter().map(String::as_str));
        model.learn(Rows::new(&x, WIDTH).unwrap(), &y, &mut ()).unwrap();
        model
    }

    fn stream(classes: std::ops::Range<usize>) -> Vec<f32> {
        let mut random = Random::new(2, Stream::Probes);
        classes.flat_map(|class| rows(class, 50, &mut random)).collect()
    }

    #[test]
    fn new_classes_are_found_and_known_ones_stay_known() {
        let model = model(8, &json!({}));
        let x = stream(4..13);
        let found = model.discover(Rows::new(&x, WIDTH).unwrap()).unwrap();
        assert_eq!(found.groups.len(), 5, "{:?}", &found.groups[..]);
        assert_eq!(found.sizes().iter().sum::<usize>(), 250);
        for class in 0..9 {
            let of_class = &found.placed[50 * class..50 * (class + 1)];
            assert!(
                of_class.iter().all(|row| row.group == of_class[0].group),
                "class {class}"
            );
            assert_eq!(of_class[0].group.is_some(), class >= 4, "class {class}");
        }
        for group in found.groups.iter() {
            assert!(
                group.tightness > group.nearest.likeness && group.known < 0.05,
                "{group:?}"
            );
            assert!(model.classes().contains(&group.nearest.class));
        }
    }

    #[test]
    fn the_order_of_rows_and_how_they_arrive_do_not_matter() {
        let model = model(6, &json!({}));
        let x = stream(4..9);
        let x = Rows::new(&x, WIDTH).unwrap();
        let at_once = model.discover(x).unwrap();
        let mut backwards = Discovery::new(&model).unwrap();
        let order: Vec<usize> = (0..x.len()).rev().collect();
        let reversed = x.gather(&order);
        for batch in reversed.rows().chunks(7) {
            backwards.observe(batch).unwrap();
        }
        let groups = backwards.groups().unwrap();
        assert_eq!(&groups[..], &at_once.groups[..]);
        let mut placed = groups.place(reversed.rows()).unwrap();
        placed.reverse();
        let of = |placed: &[Placed]| placed.iter().map(|row| row.group).collect::<Vec<_>>();
        assert_eq!(of(&placed), of(&at_once.placed));
    }

    #[test]
    fn nothing_few_rows_and_known_rows_are_no_groups() {
        let model = model(6, &json!({}));
        for x in [stream(0..0), stream(7..8)[..WIDTH].to_vec(), stream(0..6)] {
            let found = model.discover(Rows::new(&x, WIDTH).unwrap()).unwrap();
            assert!(found.groups.is_empty(), "{:?}", &found.groups[..]);
            assert!(found.placed.iter().all(|row| row.group.is_none()));
        }
        let x = stream(10..14);
        let found = model.discover(Rows::new(&x, WIDTH).unwrap()).unwrap();
        assert_eq!(found.groups.len(), 4, "where everything is unknown");
    }

    #[test]
    fn a_class_of_the_name_of_a_group_keeps_its_name() {
        let mut model = model(6, &json!({}));
        model.rename_class("3", "group-1").unwrap();
        let x = stream(5..8);
        let found = model.discover(Rows::new(&x, WIDTH).unwrap()).unwrap();
        let names: Vec<&str> = found.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["group-2", "group-3"]);
    }

    #[test]
    fn a_model_that_cannot_tell_says_what_to_do() {
        let refused = |model: &Model| Discovery::new(model).err().unwrap().to_string();
        let new = Model::new("consolidation", &json!({})).unwrap();
        assert!(refused(&new).contains("nothing has been learned yet"));
        assert!(refused(&model(1, &json!({}))).contains("learn a second one"));
        assert!(refused(&model(3, &json!({ "private": true }))).contains("begin one without `private`"));
        assert!(refused(&model(3, &json!({ "witnesses": 0 }))).contains("keeps no rows to judge by"));
        let deployed: Model = model(3, &json!({})).deployed().unwrap().clone().into();
        assert!(refused(&deployed).contains("use the file with its memory"));
    }
}
