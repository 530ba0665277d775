//! Puts tables into a document, between two marks. The command replaces everything between them.

use std::path::Path;

use anyhow::{Context, Result, bail};
use autoactivator::write_atomically;

const BEGIN: &str = "<!-- reproduce:begin -->";
const END: &str = "<!-- reproduce:end -->";

/// Refuses a document without the marks, before anything is computed.
pub fn check(document: &Path) -> Result<()> {
    filled(document, "").map(|_| ())
}

/// Puts the tables between the marks.
pub fn write(document: &Path, tables: &str) -> Result<()> {
    Ok(write_atomically(document, filled(document, tables)?.as_bytes())?)
}

fn filled(document: &Path, tables: &str) -> Result<String> {
    let text = std::fs::read_to_string(document).with_context(|| document.display().to_string())?;
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        bail!(
            "{}: the lines {BEGIN} and {END} are missing: the tables go between them",
            document.display()
        );
    };
    Ok(format!("{before}{BEGIN}\n\n{tables}\n{END}{after}"))
}
