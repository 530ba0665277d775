//! Another crate's learner that can be kept in files and served: this file is all it takes. Once it is
//! registered, every face knows it through [`Model`].

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::format::Container;
use autoactivator::math::Matrix;
use autoactivator::model::{self, Abilities, Detail, Explanation, Kind};
use autoactivator::prelude::*;
use autoactivator::{ClassList, Input, Size};
use serde_json::{Value, json};

/// Always answers the class that was learned last.
#[derive(Clone, Debug, Default)]
struct Latest {
    classes: ClassList,
    n_features: Option<usize>,
    input: Input,
}

impl Learner for Latest {
    fn name(&self) -> &'static str {
        "latest"
    }

    fn learn(&mut self, x: Rows<'_>, y: &Labels, _: &mut dyn Observer) -> Result<(), Error> {
        autoactivator::check_task(x, y, self.n_features, 1)?;
        self.classes.admit(y);
        self.n_features = Some(x.n_features());
        Ok(())
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn n_features(&self) -> Option<usize> {
        self.n_features
    }

    fn predict(&self, x: Rows<'_>) -> Result<Vec<u32>, Error> {
        autoactivator::check_rows(x, self.n_features.ok_or(Error::NothingLearned)?)?;
        Ok(vec![self.classes.len() as u32 - 1; x.len()])
    }

    fn predict_among(&self, x: Rows<'_>, among: &[u32]) -> Result<Vec<u32>, Error> {
        let latest = among.iter().max().copied().ok_or(Error::NothingLearned)?;
        Ok(vec![latest; x.len()])
    }

    fn size(&self) -> Size {
        Size::default()
    }
}

impl Learned for Latest {
    fn pack(&self) -> Container {
        let mut container = Container::new("latest");
        container.input = self.input.clone();
        container.describe(&json!({ "classes": self.classes(), "n_features": self.n_features }));
        container
    }

    fn boxed(&self) -> Box<dyn Learned> {
        Box::new(self.clone())
    }

    fn abilities(&self) -> Abilities {
        Abilities::new(true, false, false)
    }

    fn scores(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        Ok(Matrix::from_fn(x.len(), self.classes.len(), |_, c| c as f64))
    }

    fn probabilities(&self, x: Rows<'_>) -> Result<Matrix<f64>, Error> {
        self.scores(x)
    }

    fn answers(&self, x: Rows<'_>, _: f64) -> Result<Vec<Answer>, Error> {
        Ok(self.predict(x)?.into_iter().map(Answer::sure).collect())
    }

    fn explain(&self, _: &[f32], _: f64) -> Result<Explanation, Error> {
        Err(self.cannot("explain"))
    }

    fn rename_class(&mut self, _: &str, _: &str) -> Result<(), Error> {
        Err(self.cannot("rename a class"))
    }

    fn input(&self) -> &Input {
        &self.input
    }

    fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }
}

fn unpack(container: &Container) -> Result<Model, String> {
    let description: Value = container.description()?;
    let names = description["classes"].as_array().ok_or("it has no classes")?;
    let learner = Latest {
        classes: names
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        n_features: description["n_features"].as_u64().map(|n| n as usize),
        input: container.input.clone(),
    };
    Ok(learner.into())
}

#[test]
fn it_is_made_kept_asked_and_says_what_it_cannot() {
    model::register(Kind {
        name: "latest",
        meaning: "The class that was learned last",
        make: |_| Ok(Latest::default().into()),
        unpack,
    });
    let mut latest = Model::new("latest", &json!({})).unwrap();
    let x = Rows::new(&[0.0, 1.0], 1).unwrap();
    latest.learn(x, &Labels::from_names(["a", "b"]), &mut ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("latest.aact");
    latest.save(&path).unwrap();

    let mut read = Model::load(&path).unwrap();
    assert_eq!(read.classes(), ["a", "b"]);
    let answers = read.answer(x, Detail::Class, 0.0).unwrap();
    assert_eq!(answers[0].class, Some(1));
    let described = model::describe(&*read, 0);
    assert_eq!(
        (&described["learner"], &described["n_features"]),
        (&json!("latest"), &json!(1))
    );
    let refused = read.answer(x, Detail::Class, 0.1).unwrap_err().to_string();
    assert!(refused.contains("a latest model cannot answer"), "{refused}");
    assert!(read.unlearn(x, &Labels::from_names(["a", "b"])).is_err());
}
