//! Another crate's pool: this file is all it takes. A model learns over it, is kept in a file, read again,
//! and written as ONNX.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::Precision;
use autoactivator::format::Container;
use autoactivator::onnx::{Graph, Value};
use autoactivator::pool::{self, Pool, described};
use autoactivator::prelude::*;
use serde_json::{Value as Json, json};

/// Nodes that output the distances of a row to fixed places on a line.
#[derive(Clone, Debug)]
struct Distances(Vec<f32>);

impl Pool for Distances {
    fn n_inputs(&self) -> usize {
        1
    }

    fn n_nodes(&self) -> usize {
        self.0.len()
    }

    fn outputs(&self, x: Rows<'_>, _: Precision) -> Table {
        let distances = x
            .values()
            .iter()
            .flat_map(|v| self.0.iter().map(move |at| (v - at).abs()));
        Table::new(distances.collect(), self.n_nodes()).unwrap()
    }

    fn select(&self, nodes: &[usize]) -> Box<dyn Pool> {
        Box::new(Self(nodes.iter().map(|&node| self.0[node]).collect()))
    }

    fn n_floats(&self) -> usize {
        self.0.len()
    }

    fn multiply_adds(&self) -> usize {
        self.0.len()
    }

    fn pack(&self, container: &mut Container, prefix: &str) -> Json {
        container.put_list(format!("{prefix}.places"), &self.0);
        described("distances", &json!({}))
    }

    fn to_onnx(&self, graph: &mut Graph, x: &Value) -> Value {
        let places = graph.floats(&[self.0.len()], &self.0);
        let differences = graph.apply("Sub", &[x, &places]);
        graph.apply("Abs", &[&differences])
    }

    fn boxed(&self) -> Box<dyn Pool> {
        Box::new(self.clone())
    }
}

fn unpack(container: &Container, prefix: &str, _: &Json) -> Result<Box<dyn Pool>, String> {
    Ok(Box::new(Distances(container.list(&format!("{prefix}.places"))?)))
}

#[test]
fn it_is_learned_over_kept_and_read_again() {
    let values = [0.0, 0.1, 1.0, 1.1, 2.0, 2.1];
    let x = Rows::new(&values, 1).unwrap();
    let y = Labels::from_names(["low", "low", "middle", "middle", "high", "high"]);
    let params = ConsolidationParams::default().check().unwrap();
    let own = Box::new(Distances(vec![0.0, 1.0, 2.0]));
    let mut learner = Consolidation::over(params, own, x).unwrap();
    learner.learn(x, &y, &mut ()).unwrap();
    let model = Model::from(learner);
    let bytes = model.to_bytes().unwrap();

    let unknown = Model::from_bytes(&bytes).unwrap_err();
    assert!(unknown.contains("unknown kind 'distances'"), "{unknown}");
    pool::register("distances", unpack);
    let read = Model::from_bytes(&bytes).unwrap();
    assert!(read == model);
    assert_eq!(read.predict(x).unwrap(), [0, 0, 1, 1, 2, 2]);
    assert!(!read.deployed().unwrap().to_onnx().is_empty());
}
