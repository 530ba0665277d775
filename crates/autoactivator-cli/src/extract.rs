//! `autoactivator features`: writes images or any other rows as a feature table.

use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::{Context, Result};
use autoactivator::counted;
use autoactivator_data::Part;
use autoactivator_data::table::TableWriter;

use crate::args::{FeaturesArgs, PartName};
use crate::output::{Output, Replace};
use crate::rows::{Expected, RowSource};
use crate::terminal;

pub fn features(args: &FeaturesArgs) -> Result<()> {
    let output = Output::new(&args.output, &[&args.rows.rows], Replace::Files)?;
    if let Some(file) = output.file() {
        return write(args, file);
    }
    // A table is written to a file: stdout gets a copy of it.
    let name = format!("autoactivator-stdout-{}.csv", std::process::id());
    let beside = std::env::temp_dir().join(name);
    let copied = write(args, &beside).and_then(|()| {
        io::copy(&mut File::open(&beside)?, &mut terminal::stdout())?;
        Ok(())
    });
    // A leftover in the folder for temporary files does no harm.
    let _ = std::fs::remove_file(&beside);
    copied
}

fn write(args: &FeaturesArgs, output: &Path) -> Result<()> {
    let part = match args.part {
        PartName::Train => Part::Train,
        PartName::Test => Part::Test,
    };
    let rows = RowSource::open(&args.rows, part, &Expected::default())?;
    let mut writer = TableWriter::create(output, rows.features(), rows.origin())?;
    let (mut n_rows, mut n_features) = (0, 0);
    for batch in rows.batches()? {
        let batch = batch.with_context(|| args.rows.name())?;
        (n_rows, n_features) = (n_rows + batch.len(), batch.x.rows().n_features());
        writer.write(&batch)?;
    }
    writer.finish()?;
    rows.tell_runtime();
    say!(
        "{}: {} of {}",
        args.output.display(),
        counted(n_rows, "row"),
        counted(n_features, "feature")
    );
    Ok(())
}
