//! `autoactivator features`: writes images or any other rows as a feature table.

use anyhow::{Context, Result};
use autoactivator::counted;
use autoactivator_data::Part;
use autoactivator_data::table::TableWriter;

use crate::args::{FeaturesArgs, PartName};
use crate::outputs;
use crate::rows::{Expected, RowSource};

pub fn features(args: &FeaturesArgs) -> Result<()> {
    outputs::refuse_given(&args.output, &[&args.rows.rows])?;
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
        "{}: {} of {}",
        args.output.display(),
        counted(n_rows, "row"),
        counted(n_features, "feature")
    );
    Ok(())
}
