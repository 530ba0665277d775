//! The paper's learner as tensors: two per former layer, one per readout, and one for all thresholds. With densities,
//! five more per unit, in `pack_gate`. The view and the filters come from the
//! seed.

use serde::{Deserialize, Serialize};

use super::learner::Reactivation;
use super::pack_gate::{pack_gate, unpack_gate};
use super::params::{GateKind, ReactivationParams};
use super::unit::{Growth, Layer, NeuralUnit};
use crate::format::Container;
use crate::params::Check;
use crate::pool::{NodeId, Nodes};

/// Name of this kind in a file.
pub const NAME: &str = "reactivation";

#[derive(Serialize, Deserialize)]
struct Description {
    parameters: ReactivationParams,
    n_features: Option<usize>,
    classes: Vec<String>,
    units: Vec<UnitDescription>,
}

#[derive(Serialize, Deserialize)]
struct UnitDescription {
    classes: Vec<u32>,
    borrowed: Vec<Vec<NodeId>>,
    growth: Growth,
}

pub fn pack(learner: &Reactivation) -> Container {
    let units = learner.units.iter().map(|unit| UnitDescription {
        classes: unit.classes.clone(),
        borrowed: unit.layers.iter().map(|layer| layer.borrowed.clone()).collect(),
        growth: unit.growth.clone(),
    });
    let mut container = Container::new(NAME);
    container.input = learner.input.clone();
    container.describe(&Description {
        parameters: learner.params().clone(),
        n_features: learner.n_features,
        classes: learner.classes.names().to_vec(),
        units: units.collect(),
    });
    for (u, unit) in learner.units.iter().enumerate() {
        for (k, layer) in unit.layers.iter().enumerate() {
            container.put_matrix(weights_name(u, k), &layer.own.weights);
            container.put_list(biases_name(u, k), &layer.own.biases);
        }
        container.put_matrix(readout_name(u), &unit.readout);
        if let Some(gate) = &unit.gate {
            pack_gate(&mut container, u, gate);
        }
    }
    let thresholds: Vec<f64> = learner.units.iter().map(|unit| unit.threshold).collect();
    container.put_f64("thresholds".to_owned(), &thresholds);
    container
}

pub fn unpack(container: &Container) -> Result<Reactivation, String> {
    let description: Description = container.description()?;
    let params = description.parameters.check().map_err(|e| e.to_string())?;
    let thresholds = container.list_f64("thresholds")?;
    if thresholds.len() != description.units.len()
        || description.units.is_empty() != description.n_features.is_none()
    {
        return Err("its units do not fit its description".to_owned());
    }
    let mut learner = Reactivation::new(params);
    learner.input = container.input.clone();
    if let Some(n_features) = description.n_features {
        learner.module = learner.module_for(n_features).map_err(|e| e.to_string())?;
    }
    learner.n_features = description.n_features;
    if learner.n_features.is_some() {
        // A unit without nodes takes no room for its features, so the file's size says nothing about them.
        learner
            .check_view(learner.n_inputs())
            .map_err(|e| e.to_string())?;
    }
    learner.classes = description.classes.into_iter().collect();
    for (unit, threshold) in description.units.into_iter().zip(thresholds) {
        let unit = unpack_unit(container, &learner, unit, threshold)?;
        learner.units.push(unit);
    }
    // Only now is it certain that the file has as many features as it says.
    learner.view = learner
        .n_features
        .and_then(|_| learner.view_for(learner.n_inputs()));
    Ok(learner)
}

fn unpack_unit(
    container: &Container,
    learner: &Reactivation,
    description: UnitDescription,
    threshold: f64,
) -> Result<NeuralUnit, String> {
    let u = learner.units.len();
    let mut n_inputs = learner.n_inputs();
    let mut layers = Vec::new();
    for (k, borrowed) in description.borrowed.into_iter().enumerate() {
        let layer = unpack_layer(container, learner, (u, k), borrowed)?;
        if layer.own.weights.n_rows() != n_inputs {
            return Err(format!("layer {k} of unit {u} has the wrong number of inputs"));
        }
        n_inputs = layer.own.len() + layer.borrowed.len();
        layers.push(layer);
    }
    let readout = container.matrix(&readout_name(u))?;
    let names = description
        .classes
        .iter()
        .map(|&place| learner.classes.names().get(place as usize));
    if layers.len() != learner.params.layers
        || readout.n_rows() != n_inputs
        || readout.n_cols() != description.classes.len()
        || readout.n_cols() == 0
        || !names.eq(description.growth.classes.iter().map(Some))
    {
        return Err(format!(
            "the readout of unit {u} does not fit its layers and classes"
        ));
    }
    let gate = match learner.params.gate {
        GateKind::Threshold => None,
        GateKind::Density => Some(unpack_gate(
            container,
            u,
            (readout.n_cols(), learner.params.gate_nodes),
        )?),
    };
    Ok(NeuralUnit {
        classes: description.classes,
        layers,
        readout,
        threshold,
        gate,
        growth: description.growth,
    })
}

fn unpack_layer(
    container: &Container,
    learner: &Reactivation,
    (u, k): (usize, usize),
    borrowed: Vec<NodeId>,
) -> Result<Layer, String> {
    let weights = container.matrix(&weights_name(u, k))?;
    let biases = container.list(&biases_name(u, k))?;
    let exists = |id: &NodeId| {
        let unit = learner.units.get(id.unit as usize);
        unit.is_some_and(|unit| (id.node as usize) < unit.layers[0].own.len())
    };
    if biases.len() != weights.n_cols() || !borrowed.iter().all(exists) || (k > 0 && !borrowed.is_empty()) {
        return Err(format!("the nodes of layer {k} of unit {u} do not fit together"));
    }
    let own = Nodes {
        weights,
        biases,
        activation: learner.params.activation,
    };
    Ok(Layer { own, borrowed })
}

fn weights_name(unit: usize, layer: usize) -> String {
    format!("unit.{unit}.layer.{layer}.weights")
}

fn biases_name(unit: usize, layer: usize) -> String {
    format!("unit.{unit}.layer.{layer}.biases")
}

fn readout_name(unit: usize) -> String {
    format!("unit.{unit}.readout")
}
