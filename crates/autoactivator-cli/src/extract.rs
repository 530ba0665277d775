//! `autoactivator features`: writes images or any other rows as a feature table.

use anyhow::{Context, Result};
use autoactivator_data::Part;
use autoactivator_data::table::TableWriter;

use crate::args::{FeaturesArgs, PartName};
use crate::rows::{Expected, RowSource};

pub fn features(args: &FeaturesArgs) -> Result<()> {
    let part = match args.part {
        PartName::Train => Part::Train,
        PartName::Test => Part::Test,
    };
    let rows = RowSource::open(&args.rows, part, &Expected::default())?;
    let mut writer = TableWriter::create(&args.output, rows.origin())?;
    let (mut n_rows, mut n_features) = (0, 0);
    for batch in rows.batches()? {
        let batch = batch.with_context(|| args.rows.name())?;
        (n_rows, n_features) = (n_rows + batch.len(), batch.x.rows().n_features());
        writer.write(&batch)?;
    }
    writer.finish()?;
    eprintln!(
        "{}: {n_rows} rows of {n_features} features",
        args.output.display()
    );
    Ok(())
}
