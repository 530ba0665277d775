//! Micro-benchmarks: the steps behind every figure, on generated rows.
//!
//! `cargo bench -p autoactivator-bench` runs all; `-- WORD ...` runs those whose names contain one of the words.

mod harness;

use anyhow::{Context, Result};
use autoactivator::consolidation::{self, Limits};
use autoactivator::math::Matrix;
use autoactivator::math::{Random, Stream};
use autoactivator::pool::Nodes;
use autoactivator::pool::{GaussianSpec, PoolSpec, Preparation, UniformSpec};
use autoactivator::reactivation::StepwiseFit;
use autoactivator::reactivation::Trial;
use autoactivator::{
    Activation, Check, Consolidation, ConsolidationParams, Learner, Model, Reactivation, ReactivationParams,
    Rows,
};
use autoactivator_bench::data::DataSpec;
use autoactivator_data::dataset::Dataset;
use harness::Harness;

fn main() -> Result<()> {
    let harness = Harness::from_args();
    if harness.wants("reactivation: ") {
        reactivation(&harness)?;
    }
    if harness.wants("consolidation: ") {
        consolidation(&harness)?;
    }
    if harness.wants("predict: ") {
        predict(&harness)?;
    }
    if harness.wants("file: ") {
        file(&harness)?;
    }
    Ok(())
}

fn generated(rows: usize, features: usize, classes: usize) -> Result<Dataset> {
    DataSpec::Generated {
        rows,
        features,
        classes,
        seed: 0,
    }
    .open(None)
}

fn learner(pool: PoolSpec, ridge: Option<f64>) -> Result<Consolidation> {
    let params = ConsolidationParams {
        pool: Some(pool),
        ridge,
        ..ConsolidationParams::default()
    };
    Ok(Consolidation::new(params.check()?))
}

fn gaussian(nodes: usize) -> PoolSpec {
    PoolSpec::Gaussian(GaussianSpec {
        nodes,
        activation: Activation::Relu,
        preparation: Preparation::None,
    })
}

/// One step of growth at the size of MNIST: 50 batches of 10 candidates, one of which joins 100 nodes.
fn reactivation(harness: &Harness) -> Result<()> {
    let data = generated(10_800, 784, 2)?;
    let x = data.train.x.rows();
    let mut random = Random::new(0, Stream::Candidates { task: 0, layer: 0 });
    let mut draw = |nodes| Nodes::draw(&mut random, 784, nodes, 0.5, Activation::Sigmoid);
    let (candidates, joined, joining) = (draw(500), draw(100), draw(10));
    let codes = data.train.y.codes();
    let y = Matrix::from_fn(
        codes.len(),
        2,
        |i, c| if codes[i] as usize == c { 1.0 } else { 0.0 },
    );
    harness.run("reactivation: outputs of 500 candidates", || {
        candidates.outputs(x.into())
    });
    let e = y.to_f32();
    harness.run("reactivation: 50 batches of 10, judged on all rows", || {
        let everybody: Vec<usize> = (0..50).collect();
        Trial::new(candidates.clone(), x.into(), e.view(), 10).go_on(&everybody, x.len())
    });
    let mut fit = StepwiseFit::new(y);
    fit.append(&joined.outputs(x.into()).to_f64());
    let g = joining.outputs(x.into()).to_f64();
    harness.run_on(
        "reactivation: 10 nodes join 100",
        || fit.clone(),
        |mut fit| {
            fit.append(&g);
            fit
        },
    );
    harness.run("reactivation: refit of 100 nodes", || fit.weights(1e-10));
    let params = ReactivationParams {
        l_max: 50,
        ..ReactivationParams::default()
    };
    let params = params.check()?;
    harness.run("reactivation: a task of 50 nodes", || {
        Reactivation::new(params.clone()).learn(x, &data.train.y, &mut ())
    });
    Ok(())
}

fn consolidation(harness: &Harness) -> Result<()> {
    let data = generated(4096, 1280, 10)?;
    let mut known = learner(gaussian(1000), None)?;
    known.observe(data.train.x.rows(), &data.train.y)?;
    harness.run_on(
        "consolidation: 4,096 rows into 1,000 nodes",
        || known.clone(),
        |mut known| known.observe(data.train.x.rows(), &data.train.y).map(|()| known),
    );
    let limits = Limits {
        max_nodes: 200,
        r: 0.9,
        expected_gain: 0.0,
    };
    harness.run("consolidation: recruiting 200 of 1,000", || {
        consolidation::recruit(known.memory(), &[], limits)
    });
    let mut given = learner(gaussian(1000), Some(1e-3))?;
    given.observe(data.train.x.rows(), &data.train.y)?;
    for (name, learner) in [
        ("consolidation: solve, ridge given", &given),
        ("consolidation: solve, ridge chosen", &known),
    ] {
        harness.run_on(
            name,
            || learner.clone(),
            |mut learner| learner.consolidate().map(|()| learner),
        );
    }
    Ok(())
}

/// A network of the paper's size: 784 features, 680 nodes, 10 classes.
fn network() -> Result<(Consolidation, Dataset)> {
    let data = generated(10_000, 784, 10)?;
    let pool = PoolSpec::Uniform(UniformSpec {
        nodes: 680,
        scope: 0.5,
        activation: Activation::Sigmoid,
    });
    let mut network = learner(pool, Some(1e-3))?;
    network.learn(data.train.x.rows(), &data.train.y, &mut ())?;
    Ok((network, data))
}

fn predict(harness: &Harness) -> Result<()> {
    let (network, data) = network()?;
    let deployed = network.deployed().context("nothing was learned")?;
    for n in [1, 64, 10_000] {
        let x = Rows::new(&data.test.x.rows().values()[..n * 784], 784)?;
        harness.run(&format!("predict: {n} rows, 784 -> 680 -> 10"), || {
            deployed.predict(x)
        });
    }
    Ok(())
}

fn file(harness: &Harness) -> Result<()> {
    let model = Model::from(network()?.0);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("model.aact");
    harness.run("file: save, memory of 680 nodes", || model.save(&path));
    harness.run("file: load, memory of 680 nodes", || Model::load(&path));
    Ok(())
}
