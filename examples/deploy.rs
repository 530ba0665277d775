//! Deploy a model: what predicts as a small file of its own, and as ONNX for any other runtime.

use autoactivator::prelude::*;

fn main() -> Result<(), Error> {
    let mut model = Model::new("consolidation", &serde_json::json!({ "nodes": 256 }))?;
    let value = |i: usize| ((i * 7919) % 1009) as f32 / 1009.0 + (i / 400) as f32;
    let rows = Table::new((0..800).map(value).collect(), 8)?;
    let names = Labels::from_names((0..100).map(|i| if i < 50 { "low" } else { "high" }));
    model.learn(rows.rows(), &names, &mut ())?;
    model.save("model.aact")?;

    let half = true; // Numbers in half precision.
    model.export("small.aact", half)?;
    let small = Model::load("small.aact")?;
    println!(
        "the same answers: {}",
        small.predict(rows.rows())? == model.predict(rows.rows())?
    );

    let onnx = model.deployed()?.to_onnx();
    autoactivator::write_atomically("head.onnx", &onnx)?;
    println!("an ONNX file of {} KB", onnx.len() >> 10);
    Ok(())
}
