//! Rows that arrive somewhere: that nothing has arrived yet is no mistake.

use std::fs;
use std::path::Path;

use anyhow::Result;
use autoactivator_data::{Error, Part};

use crate::args::RowsArgs;
use crate::rows::{Expected, RowSource};

/// The rows; none, which is then said, if nothing is there.
pub fn open<'a>(args: &'a RowsArgs, part: Part, expected: &Expected<'_>) -> Result<Option<RowSource<'a>>> {
    if is_empty(&args.rows) {
        tell(args);
        return Ok(None);
    }
    RowSource::open(args, part, expected).map(Some)
}

/// What became of work on rows. That a table has none, which may show only when it is read, is said and no mistake.
pub fn settled(args: &RowsArgs, done: Result<()>) -> Result<()> {
    match done {
        Err(error) if is_of_no_rows(&error) => {
            tell(args);
            Ok(())
        }
        done => done,
    }
}

fn tell(args: &RowsArgs) {
    say!("{}: there are no rows yet", args.name());
}

fn is_of_no_rows(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<Error>());
    causes.any(Error::is_of_no_rows)
}

/// Whether a path is a folder without files, or a file without bytes.
fn is_empty(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => fs::read_dir(path)
            .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_nothing(&entry.path())))),
        Ok(found) => found.is_file() && found.len() == 0,
        Err(_) => false,
    }
}

/// A folder without files is nothing; an empty file is something, if only a broken image.
fn is_nothing(path: &Path) -> bool {
    path.is_dir() && is_empty(path)
}
