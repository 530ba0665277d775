//! Model files with a valid checksum that nobody learned: units whose densities cannot be are refused, without a panic
//! and without much work.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{
    Check, Error, GateKind, Labels, Learner, Model, Reactivation, ReactivationParams, Rows, Table,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const GATE_NODES: usize = 5;

/// What is done to the numbers of a tensor.
type Change = fn(&mut Vec<f64>);

fn params() -> ReactivationParams {
    ReactivationParams {
        gate: GateKind::Density,
        gate_nodes: GATE_NODES,
        t_max: 5,
        l_max: 10,
        ..ReactivationParams::default()
    }
}

fn learned() -> Reactivation {
    let mut learner = Reactivation::new(params().check().unwrap());
    let values = (0..120).map(|i| (i % 2) as f32 + 0.01 * ((i * 37) % 50) as f32);
    let x = Table::new(values.collect(), 2).unwrap();
    let y = Labels::from_names((0..60).map(|i| ["a", "b", "c"][i % 3]));
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    learner
}

/// A model file taken apart: its header, and one list of bytes for each tensor.
struct Forgery {
    description: Value,
    entry: Value,
    tensors: Vec<(String, Value, Vec<u8>)>,
}

impl Forgery {
    fn new() -> Self {
        let bytes = Model::from(learned()).to_bytes().unwrap();
        let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..start]).unwrap();
        let mut entry: Value =
            serde_json::from_str(header["__metadata__"]["autoactivator"].as_str().unwrap()).unwrap();
        let tensors = header.as_object().unwrap().iter();
        let tensors = tensors.filter(|(name, _)| *name != "__metadata__");
        let tensors = tensors.map(|(name, tensor)| {
            let at = |k: usize| start + tensor["data_offsets"][k].as_u64().unwrap() as usize;
            (name.clone(), tensor.clone(), bytes[at(0)..at(1)].to_vec())
        });
        Self {
            description: entry["description"].take(),
            tensors: tensors.collect(),
            entry,
        }
    }

    /// Gives a list of double precision other values.
    fn set(&mut self, name: &str, change: impl FnOnce(&mut Vec<f64>)) {
        let (_, tensor, bytes) = self.tensors.iter_mut().find(|(n, ..)| n == name).unwrap();
        let mut values = bytes
            .as_chunks()
            .0
            .iter()
            .map(|b| f64::from_le_bytes(*b))
            .collect();
        change(&mut values);
        tensor["shape"] = json!([values.len()]);
        *bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    }

    /// Takes all values out of a tensor, and gives it another shape.
    fn empty(&mut self, name: &str, shape: &Value) {
        let (_, tensor, bytes) = self.tensors.iter_mut().find(|(n, ..)| n == name).unwrap();
        tensor["shape"] = shape.clone();
        bytes.clear();
    }

    /// The file, under the checksum that its content asks for.
    fn bytes(mut self) -> Vec<u8> {
        self.entry["description"] = self.description;
        self.entry["sha256"] = json!("0".repeat(64));
        let mut header = json!({ "__metadata__": { "autoactivator": self.entry.to_string() } });
        let mut data = Vec::new();
        for (name, mut tensor, bytes) in self.tensors {
            tensor["data_offsets"] = json!([data.len(), data.len() + bytes.len()]);
            header[name] = tensor;
            data.extend(bytes);
        }
        let mut header = header.to_string();
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let at = 8 + header.find(&"0".repeat(64)).unwrap();
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.into_bytes());
        bytes.extend(data);
        let digest = Sha256::digest(&bytes);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes[at..at + 64].copy_from_slice(digest.as_bytes());
        bytes
    }

    #[track_caller]
    fn refused(self, reason: &str) {
        let error = Model::from_bytes(&self.bytes()).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_file_put_together_again_is_read() {
    assert!(Model::from_bytes(&Forgery::new().bytes()).is_ok());
}

/// Where the first Σ h² of the first class of a gate's sums lies: after its rows and its sums.
const FIRST_SQUARE: usize = 1 + GATE_NODES;

#[test]
fn sums_that_no_rows_have_are_refused() {
    let changes: [Change; 12] = [
        |seen| seen[0] = 0.0,
        |seen| seen[0] = -20.0,
        |seen| seen[0] = 2.5,
        |seen| seen[0] = f64::NAN,
        |seen| seen[0] = f64::INFINITY,
        |seen| seen[1] = f64::NAN,
        |seen| seen[1] = 1e300,
        |seen| seen[FIRST_SQUARE] = -1.0,
        |seen| seen[FIRST_SQUARE + 1] = 1e9,
        |seen| seen[FIRST_SQUARE] = f64::MAX,
        |seen| seen.truncate(7),
        |seen| seen.extend_from_within(..),
    ];
    for change in changes {
        let mut forgery = Forgery::new();
        forgery.set("unit.0.gate.seen", change);
        forgery.refused("unit");
    }
}

#[test]
fn judgements_that_no_rows_gave_are_refused() {
    let changes: [(&str, Change); 7] = [
        ("said", |said| said[0] = -1.0),
        ("said", Vec::clear),
        ("independence", |tau| tau[0] = 0.0),
        ("independence", |tau| tau.push(0.5)),
        ("losses", |losses| losses[3] = -1.0),
        ("losses", |losses| losses[3] = f64::NAN),
        ("losses", |losses| losses.push(1.0)),
    ];
    for (part, change) in changes {
        let mut forgery = Forgery::new();
        forgery.set(&format!("unit.0.gate.{part}"), change);
        forgery.refused("unit");
    }
}

#[test]
fn classes_that_do_not_fit_are_refused() {
    let changes: [fn(&mut Value); 5] = [
        |unit| unit["classes"] = json!(vec![0; 1_000_000]),
        |unit| unit["classes"] = json!([0, 1, 7]),
        |unit| unit["classes"] = json!([0, 1]),
        |unit| unit["growth"]["classes"] = json!(["a"]),
        |unit| unit["growth"]["classes"] = json!(["a", "b", "d"]),
    ];
    for change in changes {
        let mut forgery = Forgery::new();
        change(&mut forgery.description["units"][0]);
        forgery.refused("the readout of unit 0 does not fit its layers and classes");
    }
}

/// A unit without nodes takes no byte for a feature, so a file of a few kilobytes may claim any number of them.
#[test]
fn a_view_larger_than_its_limit_is_never_drawn() {
    for n_features in [7_000_000u64, 1 << 40, u64::MAX] {
        let mut forgery = Forgery::new();
        forgery.description["n_features"] = json!(n_features);
        forgery.empty("unit.0.layer.0.weights", &json!([0, n_features]));
        forgery.empty("unit.0.layer.0.biases", &json!([0]));
        forgery.empty("unit.0.readout", &json!([3, 0]));
        forgery.refused("must be at most 33554432");
    }
    let wide = ReactivationParams {
        gate_nodes: 10_000,
        ..params()
    };
    let mut learner = Reactivation::new(wide.check().unwrap());
    let x = vec![0.5; 4 * 3_500];
    let y = Labels::from_names(["a", "a", "b", "b"]);
    let error = learner.learn(Rows::new(&x, 3_500).unwrap(), &y, &mut ());
    assert!(matches!(error, Err(Error::Parameter { name, .. }) if name == "gate_nodes"));
}
