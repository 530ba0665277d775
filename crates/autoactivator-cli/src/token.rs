//! `autoactivator token`: a token for `serve`, which nobody can guess.

use std::io::Write;

use anyhow::{Context, Result};

use crate::terminal;

/// Bytes of a token: 256 bits.
const BYTES: usize = 32;

pub fn token() -> Result<()> {
    let mut random = [0; BYTES];
    getrandom::fill(&mut random).context("the system gives no random numbers")?;
    let digits: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(terminal::stdout(), "{digits}")?;
    Ok(())
}
