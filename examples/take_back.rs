//! Somebody withdraws their rows: afterwards the model answers as if it had never seen them.

use autoactivator::prelude::*;

fn main() -> Result<(), Error> {
    let value = |i: usize| ((i * 7919) % 1009) as f32 / 1009.0 + (i / 300) as f32;
    let rows = Table::new((0..600).map(value).collect(), 3)?;
    let names = Labels::from_names((0..200).map(|i| if i < 100 { "low" } else { "high" }));
    let mut model = Model::new("consolidation", &serde_json::json!({}))?;
    model.learn(rows.rows(), &names, &mut ())?;
    let before = model.predict(rows.rows())?;

    let withdrawn = Table::new(vec![9.0, 9.1, 9.2, 9.3, 9.4, 9.5], 3)?;
    let theirs = Labels::from_names(["mine", "mine"]);
    model.learn(withdrawn.rows(), &theirs, &mut ())?;
    println!("learned: {:?}", model.classes());
    model.unlearn(withdrawn.rows(), &theirs)?;

    let same = model.predict(rows.rows())? == before;
    println!("taken back: {:?}, the same answers: {same}", model.classes());
    Ok(())
}
