//! Where a visitor begins: a model that already knows the built-in digits 0 to 4, so that 5 can be taught.
//!
//! ```
//! use autoactivator::{ConsolidationParams, Model};
//! use autoactivator_server::starter;
//!
//! let params = ConsolidationParams { image: starter::image()?, ..starter::params() };
//! let new = Model::new("consolidation", &serde_json::to_value(params).unwrap())?;
//! assert_eq!(starter::starter(new)?.classes(), ["0", "1", "2", "3", "4"]);
//! # Ok::<(), autoactivator_server::Error>(())
//! ```

use autoactivator::pool::{ConvolutionSpec, PoolSpec};
use autoactivator::{ConsolidationParams, ImageShape, Labels, Model, Origin, ReadoutKind, Table};
use autoactivator_data::dataset::{self, Dataset};

use crate::error::Error;
use crate::held_out::HeldOut;

/// The classes of the first tasks.
const TASKS: [&[&str]; 2] = [&["0", "1"], &["2", "3", "4"]];

/// Parameters under which three drawn examples of a new digit are enough: filters tolerate how a digit drawn
/// with a mouse differs from the built-in ones.
pub fn params() -> ConsolidationParams {
    ConsolidationParams {
        pool: Some(PoolSpec::Convolution(ConvolutionSpec {
            filters: 16,
            sides: vec![3],
            padded: true,
            contrast: 0.3,
            threshold: 0.05,
            both_signs: true,
            grid: 4,
            overlap: 0,
            ..ConvolutionSpec::default()
        })),
        readout: ReadoutKind::Lda,
        shrinkage: 0.1,
        nodes_per_class: Some(25),
        ..ConsolidationParams::default()
    }
}

/// Teaches a new model the digits 0 to 4, in two tasks.
pub fn starter(mut model: Model) -> Result<Model, Error> {
    let digits = Digits::open()?;
    model.set_origin(digits.origin());
    for classes in TASKS {
        let (x, y) = digits.of_classes(classes);
        model.learn(x.rows(), &y, &mut ())?;
    }
    Ok(model)
}

/// The shape of the digits.
pub fn image() -> Result<Option<ImageShape>, Error> {
    Ok(Digits::open()?.0.image)
}

/// The built-in digits that a visitor can be shown: held-out rows, and examples of what is not learned yet.
pub(crate) struct Digits(Dataset);

impl Digits {
    fn open() -> Result<Self, Error> {
        Ok(Self(dataset::open("digits", None)?))
    }

    /// The digits, if the model began from them: a new model that learns their first task would begin as this one did.
    pub(crate) fn behind(model: &Model) -> Result<Option<Self>, Error> {
        let digits = Self::open()?;
        if model.origin() != digits.origin().as_ref() {
            return Ok(None);
        }
        let (x, y) = digits.of_classes(TASKS[0]);
        let began = model.began_with(x.rows(), &y)?;
        Ok(began.then_some(digits))
    }

    fn origin(&self) -> Option<Origin> {
        self.0
            .image
            .and_then(|shape| serde_json::to_value(autoactivator_data::Origin::Pixels(shape)).ok())
    }

    /// Training rows of some classes.
    fn of_classes(&self, classes: &[&str]) -> (Table, Labels) {
        let split = &self.0.train;
        let rows: Vec<usize> = (0..split.y.len())
            .filter(|&i| classes.contains(&split.y.name(i)))
            .collect();
        let names = Labels::from_names(rows.iter().map(|&i| split.y.name(i)));
        (split.x.rows().gather(&rows), names)
    }

    pub(crate) fn held_out(&self) -> HeldOut {
        HeldOut {
            data: "digits, test part".to_owned(),
            x: self.0.test.x.clone(),
            y: self.0.test.y.clone(),
            pictures: Vec::new(),
        }
    }

    /// At most `n` training rows of a class; none when there is no such class.
    pub(crate) fn examples(&self, class: &str, n: usize) -> Table {
        let (x, _) = self.of_classes(&[class]);
        let rows: Vec<usize> = (0..x.rows().len().min(n)).collect();
        x.rows().gather(&rows)
    }
}
