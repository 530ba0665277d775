//! Who can take part in an exam? What can be known before it begins is checked before it begins.
//!
//! An [`Outline`] is what is known of the data before any feature is computed.
//! [`Experiment::admit`](crate::experiment::Experiment::admit) compares it with the scenario, and leaves out each
//! [`Contender`] that could not finish.
//!
//! ```
//! use autoactivator_exam::admission::Outline;
//! use autoactivator_exam::experiment::Experiment;
//!
//! let mut experiment = Experiment::parse("tasks = '1'", &[])?;
//! experiment.admit(&Outline::of_classes(["cat", "dog", "dog"], ["cat", "dog"]))?;
//! assert_eq!(experiment.left_out[0].learner, "reactivation");
//! assert!(experiment.left_out[0].reason.contains("has only 1 row"));
//! # Ok::<(), autoactivator_exam::Error>(())
//! ```

use std::collections::BTreeMap;

use autoactivator::{Error as MethodError, ImageShape, RepeatedClasses};
use autoactivator_data::dataset::{Dataset, natural_order};
use serde::Serialize;

use crate::contender::Contender;
use crate::error::Error;
use crate::kind::LearnerKind;

/// What is known of the data before any feature is computed.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outline {
    /// The classes, in the order in which a data set counts them.
    pub classes: Vec<ClassRows>,
    /// Features of a row, where that is known.
    pub n_features: Option<usize>,
    /// The shape of each row, when rows are images.
    pub image: Option<ImageShape>,
}

/// A class and how many rows it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassRows {
    /// Its name.
    pub name: String,
    /// Rows to learn from.
    pub train: usize,
    /// Rows to be examined on.
    pub test: usize,
}

/// What a learner is about to meet.
pub(crate) struct Arrival {
    /// Whether classes come again after they were learned.
    pub repeats: bool,
    /// Whether rows come in many small parts.
    pub streams: bool,
    /// The rows that are learned.
    pub outline: Outline,
}

/// A learner without results, and why it has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Absence {
    /// The learner.
    pub learner: String,
    /// Why.
    pub reason: String,
}

impl Outline {
    /// The outline of rows with these classes.
    pub fn of_classes<'a>(
        train: impl IntoIterator<Item = &'a str>,
        test: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for class in train {
            counts.entry(class).or_default().0 += 1;
        }
        for class in test {
            counts.entry(class).or_default().1 += 1;
        }
        let of_class = |(name, (train, test)): (&str, (usize, usize))| ClassRows {
            name: name.to_owned(),
            train,
            test,
        };
        let mut classes: Vec<ClassRows> = counts.into_iter().map(of_class).collect();
        classes.sort_by(|a, b| natural_order(&a.name, &b.name));
        Self {
            classes,
            ..Self::default()
        }
    }

    /// The outline of a data set that has been read.
    pub fn of(dataset: &Dataset) -> Self {
        let (train, test) = (dataset.train.y.counts(), dataset.test.y.counts());
        let classes = dataset.train.y.names().iter().zip(train).zip(test);
        let of_class = |((name, train), test): ((&String, usize), usize)| ClassRows {
            name: name.clone(),
            train,
            test,
        };
        Self {
            classes: classes.map(of_class).collect(),
            n_features: Some(dataset.train.x.rows().n_features()),
            image: dataset.image,
        }
    }

    /// Refuses a class that lacks rows to learn from or rows to be examined on.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let lacks = |class: &ClassRows| match class {
            ClassRows { train: 0, .. } => Some("training"),
            ClassRows { test: 0, .. } => Some("test"),
            _ => None,
        };
        let lacking = self
            .classes
            .iter()
            .find_map(|class| Some((&class.name, lacks(class)?)));
        match lacking {
            None => Ok(()),
            Some((class, which)) => Err(no_rows(class, which)),
        }
    }
}

/// The error for a class without rows of a split.
pub(crate) fn no_rows(class: &str, which: &str) -> Error {
    Error::Scenario(format!(
        "class '{class}' has no {which} rows: add some, or remove the class from the data"
    ))
}

impl Contender {
    /// Why it could not finish; none if nothing is known that would stop it.
    pub(crate) fn obstacle(&self, arrival: &Arrival) -> Option<String> {
        let outline = &arrival.outline;
        let obstacle = match self.learner {
            LearnerKind::Reactivation => self
                .unfit_image(outline)
                .or_else(|| self.too_few_rows(outline))
                .or_else(|| self.repeated_class(arrival)),
            LearnerKind::Consolidation => self.unfit_image(outline),
            LearnerKind::JointRidge if arrival.streams => {
                return Some("it is fitted to all rows anew with every few rows of a stream".to_owned());
            }
            _ => None,
        };
        obstacle.map(|obstacle| obstacle.to_string())
    }

    /// A unit holds some rows of each class back, unless it is told not to.
    fn too_few_rows(&self, outline: &Outline) -> Option<MethodError> {
        let watched = self.reactivation.validation > 0.0;
        let lonely = outline.classes.iter().find(|class| class.train < 2);
        lonely.filter(|_| watched).map(|class| MethodError::TooFewRows {
            class: class.name.clone(),
            rows: class.train,
        })
    }

    /// Without tasks, every part but the first repeats classes.
    fn repeated_class(&self, arrival: &Arrival) -> Option<MethodError> {
        let refuses = self.reactivation.repeated_classes == RepeatedClasses::Refuse;
        let class = arrival
            .outline
            .classes
            .first()
            .filter(|_| refuses && arrival.repeats);
        class.map(|class| MethodError::RepeatedClass {
            class: class.name.clone(),
            task: 1,
        })
    }

    /// Some pools are made from images, and filters read them.
    fn unfit_image(&self, outline: &Outline) -> Option<MethodError> {
        let (kind, image) = match self.learner {
            LearnerKind::Reactivation if self.reactivation.filters > 0 => {
                ("filters", self.reactivation.image)
            }
            LearnerKind::Reactivation => return None,
            _ => {
                let pool = self.consolidation.pool.as_ref()?;
                (pool.needs_images()?, self.consolidation.image)
            }
        };
        let Some(shape) = image.or(outline.image) else {
            return Some(MethodError::NoImages { kind });
        };
        let n_features = outline.n_features.filter(|n| *n != shape.n_values())?;
        Some(MethodError::ImageShape {
            shape: shape.to_string(),
            n_features,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// An experiment on `rows` training rows of each class, and one test row each.
    fn admitted(text: &str, classes: &[&str], rows: usize) -> Result<Experiment, String> {
        let mut experiment = Experiment::parse(text, &[]).unwrap();
        let train = classes.iter().flat_map(|class| std::iter::repeat_n(*class, rows));
        let outline = Outline::of_classes(train, classes.iter().copied());
        let admitted = experiment.admit(&outline).map_err(|error| error.to_string());
        admitted.map(|()| experiment)
    }

    fn left_out(experiment: &Experiment) -> Vec<&str> {
        let names = experiment.left_out.iter();
        names.map(|absence| absence.learner.as_str()).collect()
    }

    #[test]
    fn classes_come_in_the_order_of_a_data_set() {
        let outline = Outline::of_classes(["10", "9", "b", "9"], ["b", "10"]);
        let found: Vec<(&str, usize, usize)> = outline
            .classes
            .iter()
            .map(|class| (class.name.as_str(), class.train, class.test))
            .collect();
        assert_eq!(found, [("9", 2, 0), ("10", 1, 1), ("b", 1, 1)]);
        assert!(
            outline
                .check()
                .unwrap_err()
                .to_string()
                .contains("'9' has no test rows")
        );
    }

    #[test]
    fn a_unit_may_have_one_class() {
        assert!(left_out(&admitted("", &["a", "b", "c"], 5).unwrap()).is_empty());
    }

    #[test]
    fn a_class_of_one_row_cannot_be_watched() {
        let classes = ["a", "b", "c", "d"];
        let lonely = admitted("", &classes, 1).unwrap();
        assert!(lonely.left_out[0].reason.contains("only 1 row"));
        let unwatched = admitted("[reactivation]\nvalidation = 0.0", &classes, 1).unwrap();
        assert!(left_out(&unwatched).is_empty());
    }

    #[test]
    fn parts_of_a_stream_repeat_classes() {
        let online =
            |rest: &str| admitted(&format!("online = true\n{rest}"), &["a", "b", "c", "d"], 5).unwrap();
        assert!(online("").left_out[0].reason.contains("repeated_classes"));
        assert!(left_out(&online("[reactivation]\nrepeated_classes = 'accept'")).is_empty());
        assert!(left_out(&online("tasks = '1'")).is_empty());
        let stream = admitted("stream = 2", &["a", "b", "c", "d"], 5).unwrap();
        assert_eq!(left_out(&stream), ["reactivation", "joint-ridge"]);
    }

    #[test]
    fn what_is_left_out_does_not_count() {
        let classes = ["a", "b", "c", "d"];
        let shot = admitted("tasks = 'B2/2'\nshots = 1", &classes, 5).unwrap();
        assert!(shot.left_out[0].reason.contains("only 1 row"));
        let error = admitted("imbalance = 10", &classes, 5).unwrap_err();
        assert!(error.contains("at most 5"), "{error}");
        let error = admitted("tasks = '1'\nshots = 1", &classes, 5).unwrap_err();
        assert!(error.contains("only one task"), "{error}");
    }

    #[test]
    fn a_pool_of_patches_needs_images() {
        let patches = "[consolidation.pool]\nkind = 'patches'\nnodes = 9\nactivation = 'relu'";
        let classes = ["a", "b", "c", "d"];
        assert_eq!(
            left_out(&admitted(patches, &classes, 5).unwrap()),
            ["consolidation"]
        );
        let mut experiment =
            Experiment::parse(&format!("[consolidation]\nimage = '2x2'\n{patches}"), &[]).unwrap();
        let outline = Outline {
            n_features: Some(5),
            ..Outline::of_classes(classes.repeat(2), classes)
        };
        experiment.admit(&outline).unwrap();
        assert!(
            experiment.left_out[0]
                .reason
                .contains("do not fit rows of 5 features")
        );
    }

    #[test]
    fn an_exam_without_learners_is_refused_with_the_reasons() {
        let error = admitted("learners = ['reactivation']", &["a", "b"], 1).unwrap_err();
        assert!(
            error.contains("reactivation: class 'a' has only 1 row"),
            "{error}"
        );
    }

    #[test]
    fn a_scenario_that_does_not_fit_is_refused() {
        let error = admitted("tasks = '3'", &["a", "b"], 5).unwrap_err();
        assert!(error.contains("3 tasks for 2 classes"), "{error}");
    }
}
