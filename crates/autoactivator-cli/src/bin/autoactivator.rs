//! The program `autoactivator`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(autoactivator_cli::main(std::env::args_os()))
}
