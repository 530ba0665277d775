//! Two sites that never met learn over the standard pool. Neither sends a row, and their models merge.

use autoactivator::prelude::*;

/// Embeddings of one class: rows around a direction of its own.
fn embeddings(class: usize, n_rows: usize) -> Result<Table, Error> {
    let value = |i: usize, j: usize| {
        let noise = ((i * 7919 + j * 104_729 + class * 31) % 1009) as f32 / 1009.0;
        noise + ((class + 1) * (j + 3) % 7) as f32
    };
    let values = (0..n_rows).flat_map(|i| (0..64).map(move |j| value(i, j)));
    Table::new(values.collect(), 64)
}

fn learned(classes: &[usize]) -> Result<Model, Error> {
    let params = serde_json::json!({ "pool": "standard", "nodes": 128 });
    let mut model = Model::new("consolidation", &params)?;
    for &class in classes {
        let names = Labels::from_names(vec![format!("class {class}"); 200]);
        model.learn(embeddings(class, 200)?.rows(), &names, &mut ())?;
    }
    Ok(model)
}

fn main() -> Result<(), Error> {
    let (mut here, there) = (learned(&[0, 1])?, learned(&[2])?);
    here.merge(&[&there], None)?;
    let alone = learned(&[0, 1, 2])?;
    let same = here.to_bytes()? == alone.to_bytes()?;
    println!(
        "merged: {:?}, the same file as learned in one place: {same}",
        here.classes()
    );
    Ok(())
}
