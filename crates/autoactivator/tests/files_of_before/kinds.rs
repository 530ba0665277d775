//! One small model of every kind: what is in a folder of files, and how it was made.

use autoactivator::pool::{ConvolutionSpec, PoolSpec};
use autoactivator::{Model, Partial, Share};
use serde_json::{Value, json};

use crate::rows;

/// A kind of model: the name of its file, what it is called when it is created, and its parameters.
pub struct Kind {
    pub name: String,
    learner: &'static str,
    parameters: Value,
}

const IMAGE: fn() -> Value = || json!({ "height": 8, "width": 8, "channels": 1 });

/// Few witnesses, since they make up most of a file.
const WITNESSES: usize = 6;

fn consolidation(name: &str, parameters: &Value) -> Kind {
    let mut all = json!({ "witnesses": WITNESSES, "image": IMAGE() });
    let given = parameters.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(given);
    Kind {
        name: name.to_owned(),
        learner: "consolidation",
        parameters: all,
    }
}

fn units(name: &str, parameters: &Value) -> Kind {
    let mut all = json!({ "l_max": 10, "t_max": 5, "gate_nodes": 8 });
    let given = parameters.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(given);
    Kind {
        name: name.to_owned(),
        learner: "reactivation",
        parameters: all,
    }
}

/// A pool of few nodes, of images as small as ours.
fn small(kind: &str) -> PoolSpec {
    if kind == "convolution" {
        return PoolSpec::Convolution(ConvolutionSpec {
            filters: 2,
            sides: vec![3],
            grid: 2,
            overlap: 1,
            min_deviation: 0.1,
            ..ConvolutionSpec::default()
        });
    }
    PoolSpec::named(kind).unwrap().with_nodes(12)
}

/// Every kind of model that learns.
pub fn all() -> Vec<Kind> {
    let pool = |kind: &str| json!({ "pool": small(kind) });
    let mut kinds: Vec<Kind> = PoolSpec::KINDS
        .iter()
        .map(|(kind, _)| consolidation(kind, &pool(kind)))
        .collect();
    let gaussian = |more: Value| {
        let mut all = pool("gaussian");
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let stack = |first: &str| json!({ "pool": small(first).under_second_layer(16) });
    kinds.extend([
        consolidation("stack-on-gaussian", &stack("gaussian")),
        consolidation("stack-on-convolution", &stack("convolution")),
        consolidation("private", &json!({ "private": true, "image": null, "nodes": 16 })),
        consolidation("no-witnesses", &gaussian(json!({ "witnesses": 0 }))),
        consolidation("recruited", &gaussian(json!({ "max_nodes": 8 }))),
        consolidation("ridge", &gaussian(json!({ "readout": "ridge", "prior": "seen" }))),
        consolidation("lda", &gaussian(json!({ "readout": "lda", "prior": "equal" }))),
        consolidation("nearest-mean", &gaussian(json!({ "readout": "nearest-mean" }))),
        // So many nodes that the sums are a factor.
        consolidation("few-rows", &gaussian(json!({ "nodes": 256 }))),
        consolidation("double", &gaussian(json!({ "precision": "f64" }))),
        consolidation(
            "weighed",
            &gaussian(json!({ "class_weights": { "1": 2.0 }, "fading": 0.5 })),
        ),
        units("units-by-threshold", &json!({})),
        units("units-by-density", &json!({ "gate": "density" })),
        units("units-of-filters", &json!({ "filters": 2, "image": IMAGE() })),
        units(
            "units-of-filters-by-density",
            &json!({ "filters": 2, "image": IMAGE(), "gate": "density" }),
        ),
        units("units-reused", &json!({ "reuse": true, "layers": 2 })),
        units("units-repeated", &json!({ "repeated_classes": "accept" })),
    ]);
    kinds
}

impl Kind {
    fn new_model(&self) -> Model {
        Model::new(self.learner, &self.parameters).unwrap()
    }

    /// A model that has learned two tasks, with everything that a file may say besides.
    pub fn taught(&self) -> Model {
        let mut model = self.new_model();
        model.input_mut().features = Some((0..64).map(|i| format!("f{i}")).collect());
        for task in ["first.csv", "second.csv"] {
            let (x, y) = rows(task);
            model.learn(x.rows(), &y, &mut ()).unwrap();
        }
        model
    }
}

/// A model that has only its pool, and a partial memory of two files over it.
pub fn partial() -> (Model, Partial) {
    let kind = consolidation("gaussian", &json!({ "pool": small("gaussian") }));
    let mut model = kind.new_model();
    let sample = std::iter::once(Ok::<_, autoactivator::Error>(rows("first.csv")));
    model.consolidation_mut().unwrap().begin(sample, &mut ()).unwrap();
    let mut share = Share::of(model.consolidation().unwrap()).unwrap();
    for file in ["first.csv", "second.csv"] {
        let (x, y) = rows(file);
        assert!(share.enter(&format!("{:0>64}", file.len()), file));
        share.add(x.rows(), &y).unwrap();
    }
    let partial = share.into_partial().unwrap();
    (model, partial)
}
