//! The shared library of ONNX Runtime, loaded once.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ort::LoadDynamicError;
use ort::environment::Environment;

use super::Refusal;
use super::installed::{self, Search};

const REMEDY: &str =
    "install it with `pip install onnxruntime`, or name its shared library in ORT_DYLIB_PATH";

/// ONNX Runtime, ready to make sessions.
pub(super) struct Library {
    pub(super) environment: Environment,
    pub(super) version: String,
}

/// The library, which is looked for when it is first needed.
pub(super) fn library() -> Result<&'static Library, Refusal> {
    static LIBRARY: OnceLock<Result<Library, Refusal>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| load(installed::search(|name| std::env::var_os(name))))
        .as_ref()
        .map_err(Clone::clone)
}

/// Loads the first library that can be used.
fn load(found: Result<Search, String>) -> Result<Library, Refusal> {
    let Search { libraries, looked } = found.map_err(Refusal::Unusable)?;
    if libraries.is_empty() {
        return Err(Refusal::Absent(absent(&looked)));
    }
    let mut reasons = Vec::new();
    for path in &libraries {
        match open(path) {
            Ok(library) => return Ok(library),
            Err(reason) => reasons.push(reason),
        }
    }
    let reasons = reasons.join("; ");
    Err(Refusal::Unusable(format!(
        "ONNX Runtime cannot be used: {reasons}: {REMEDY}"
    )))
}

fn open(path: &Path) -> Result<Library, String> {
    let builder = ort::init_from(path).map_err(|error| reason(&error))?;
    // Some builds of the library report to their maker by default.
    let environment = builder.with_name("autoactivator").with_telemetry(false).build();
    Ok(Library {
        environment: environment.map_err(|error| format!("{}: {error}", path.display()))?,
        version: installed::version(path).unwrap_or_else(|| "of unknown version".to_owned()),
    })
}

/// What is wrong with a library; the system's own words are the cause of the error.
fn reason(error: &LoadDynamicError) -> String {
    match error {
        LoadDynamicError::Dlopen { error, path } => match error.source() {
            Some(cause) => cause.to_string(),
            None => format!("{}: {error}", path.display()),
        },
        _ => error.to_string(),
    }
}

fn absent(looked: &[PathBuf]) -> String {
    let looked: Vec<String> = looked.iter().map(|path| path.display().to_string()).collect();
    format!("ONNX Runtime was not found in {}: {REMEDY}", looked.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_where_it_was_looked_for_and_what_to_do() {
        let search = Search {
            libraries: Vec::new(),
            looked: vec![PathBuf::from("/a/capi"), PathBuf::from("/b")],
        };
        let reason = load(Ok(search)).err().map(|refusal| refusal.to_string());
        let reason = reason.unwrap_or_default();
        for part in [
            "not found in /a/capi, /b",
            "pip install onnxruntime",
            "ORT_DYLIB_PATH",
        ] {
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let search = Search {
            libraries: vec![PathBuf::from(file!())],
            looked: Vec::new(),
        };
        let refusal = load(Ok(search)).err();
        let named = matches!(&refusal, Some(Refusal::Unusable(reason)) if reason.contains("library.rs"));
        assert!(named, "{refusal:?}");
    }
}
