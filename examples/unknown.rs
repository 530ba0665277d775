//! Answer "none of the classes I know" instead of a wrong class.

use autoactivator::prelude::*;

/// Rows around a centre.
fn around(centre: f32, n_rows: usize) -> Result<Table, Error> {
    let value = |i: usize| centre + ((i * 7919) % 101) as f32 / 101.0;
    Table::new((0..4 * n_rows).map(value).collect(), 4)
}

fn main() -> Result<(), Error> {
    let mut model = Model::new("consolidation", &serde_json::json!({}))?;
    for (class, centre) in [("low", 0.0), ("high", 5.0)] {
        let rows = around(centre, 100)?;
        model.learn(rows.rows(), &Labels::from_names([class; 100]), &mut ())?;
    }
    // A row is unknown if it is stranger than 95 % of the rows that were learned.
    for centre in [0.0, 5.0, 50.0] {
        let rows = around(centre, 20)?;
        let answers = model.answers(rows.rows(), 0.05)?;
        let unknown = answers.iter().filter(|answer| answer.class.is_none()).count();
        println!("around {centre}: {unknown} of 20 rows are unknown");
    }
    Ok(())
}
