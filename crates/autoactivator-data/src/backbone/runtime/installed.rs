//! Where the shared library of ONNX Runtime is looked for.
//!
//! A library that is loaded can do whatever this program can. So it is only taken from where its user installs
//! programs: the file that `ORT_DYLIB_PATH` names, the active Python environment, the `python3` on the `PATH`, and the
//! system's folders. Paths that depend on the current folder are passed over.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the library.
const VARIABLE: &str = "ORT_DYLIB_PATH";

/// Variables with the folder of the active Python environment.
const ENVIRONMENTS: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

const PYTHON: &str = if cfg!(windows) { "python.exe" } else { "python3" };

/// Prints where packages are installed. `-I` keeps the current folder out of it.
const ASK_PYTHON: [&str; 3] = [
    "-I",
    "-c",
    "import site, sysconfig; p = sysconfig.get_paths(); \
     print(p['purelib'], p['platlib'], site.getusersitepackages(), sep='\\n')",
];

/// What was found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Search {
    /// Libraries, the first choice first.
    pub(super) libraries: Vec<PathBuf>,
    /// The folders that were looked into.
    pub(super) looked: Vec<PathBuf>,
}

/// Looks for libraries, given the value of each environment variable.
pub(super) fn search(variable: impl Fn(&str) -> Option<OsString>) -> Result<Search, String> {
    if let Some(path) = variable(VARIABLE).filter(|path| !path.is_empty()) {
        return named(PathBuf::from(path));
    }
    let mut search = Search::default();
    let of_variables = |names: &[&str]| -> Vec<PathBuf> {
        let values = names.iter().filter_map(|name| variable(name));
        values.flat_map(|value| absolute_parts(&value)).collect()
    };
    for environment in of_variables(&ENVIRONMENTS) {
        search.look_into_packages(&packages(&environment));
    }
    for program in of_variables(&["PATH"]).iter().map(|folder| folder.join(PYTHON)) {
        if program.is_file() {
            let home = of_variables(&["HOME"]);
            search.look_into_packages(&packages_of_python(&program, &home, search.libraries.is_empty()));
            break;
        }
    }
    for folder in of_variables(&["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"]) {
        search.look_into(&folder);
    }
    for folder in system() {
        search.look_into(&folder);
    }
    Ok(search)
}

/// The library that the user names: no other one is tried.
fn named(path: PathBuf) -> Result<Search, String> {
    if !path.is_absolute() {
        let path = path.display();
        return Err(format!("{VARIABLE} is '{path}', but must be an absolute path"));
    }
    Ok(Search {
        libraries: vec![path],
        looked: Vec::new(),
    })
}

impl Search {
    fn look_into_packages(&mut self, packages: &[PathBuf]) {
        for folder in packages {
            self.look_into(&folder.join("onnxruntime").join("capi"));
        }
    }

    fn look_into(&mut self, folder: &Path) {
        if self.looked.iter().any(|looked| looked == folder) {
            return;
        }
        self.looked.push(folder.to_owned());
        let names = names(folder);
        for name in names.iter().filter(|name| is_library(name)) {
            // Links such as `libonnxruntime.so` lead to one file, whose name has the version.
            if let Ok(file) = folder.join(name).canonicalize()
                && !self.libraries.contains(&file)
            {
                self.libraries.push(file);
            }
        }
    }
}

/// The version of a library, from its name or from that of the package that it belongs to.
pub(super) fn version(library: &Path) -> Option<String> {
    let name = library.file_name()?.to_str()?;
    let in_name = name.split(|c: char| c != '.' && !c.is_ascii_digit());
    let in_name = in_name
        .map(|part| part.trim_matches('.'))
        .find(|part| part.contains('.'));
    in_name.map(str::to_owned).or_else(|| {
        let packages = library.parent()?.parent()?.parent()?;
        let names = names(packages);
        let of_package = |name: &String| {
            let (package, version) = name.strip_suffix(".dist-info")?.split_once('-')?;
            package.starts_with("onnxruntime").then(|| version.to_owned())
        };
        names.iter().find_map(of_package)
    })
}

fn is_library(name: &str) -> bool {
    match std::env::consts::OS {
        "windows" => name == "onnxruntime.dll",
        "macos" => name.starts_with("libonnxruntime.") && name.ends_with(".dylib"),
        _ => name.starts_with("libonnxruntime.so"),
    }
}

/// The parts of a list such as `PATH` that do not depend on the current folder.
fn absolute_parts(list: &OsString) -> Vec<PathBuf> {
    std::env::split_paths(list)
        .filter(|part| part.is_absolute())
        .collect()
}

/// The folders of packages below the folder that a Python was installed to.
fn packages(prefix: &Path) -> Vec<PathBuf> {
    if cfg!(windows) {
        return vec![prefix.join("Lib").join("site-packages")];
    }
    let mut found = Vec::new();
    for lib in ["lib", "lib64", "local/lib", "local/lib64"] {
        let lib = prefix.join(lib);
        for python in names(&lib).iter().filter(|name| name.starts_with("python3")) {
            let folders = ["site-packages", "dist-packages"].map(|kind| lib.join(python).join(kind));
            found.extend(folders.into_iter().filter(|folder| folder.is_dir()));
        }
    }
    found
}

/// The folders of packages of a Python program. It is only started if `may_ask`, and if they are not where they usually
/// are, because what lies on the `PATH` is a script that chooses between versions.
fn packages_of_python(program: &Path, home: &[PathBuf], may_ask: bool) -> Vec<PathBuf> {
    let folder = program.parent().unwrap_or(program);
    let prefix = if cfg!(windows) {
        folder
    } else {
        folder.parent().unwrap_or(folder)
    };
    let mut found = packages(prefix);
    if found.is_empty() && may_ask {
        return ask(program);
    }
    found.extend(home.iter().flat_map(|home| packages(&home.join(".local"))));
    found
}

fn ask(program: &Path) -> Vec<PathBuf> {
    let mut command = Command::new(program);
    command
        .args(ASK_PYTHON)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let answer = command.output().map(|output| output.stdout).unwrap_or_default();
    let answer = String::from_utf8_lossy(&answer);
    let folders = answer.lines().map(PathBuf::from);
    folders.filter(|folder| folder.is_absolute()).collect()
}

/// The system's folders of libraries. Windows has an ONNX Runtime of its own, which is too old.
fn system() -> Vec<PathBuf> {
    if cfg!(windows) {
        return Vec::new();
    }
    let of_architecture = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let folders = [
        "/usr/local/lib",
        "/usr/lib",
        &of_architecture,
        "/usr/lib64",
        "/opt/homebrew/lib",
    ];
    let folders = folders.into_iter().map(PathBuf::from);
    folders.filter(|folder| folder.is_dir()).collect()
}

/// The names in a folder, the highest version first.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable_by(|a, b| (b.len(), b).cmp(&(a.len(), a)));
    names
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)] // A test may fail loudly.
mod tests {
    use super::*;

    const CAPI: &str = "lib/python3.12/site-packages/onnxruntime/capi";

    /// A folder in which a Python environment has the library.
    fn environment() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join(CAPI).join("libonnxruntime.so.1.31.0");
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, "").unwrap();
        (folder, library.canonicalize().unwrap())
    }

    fn search_with(variables: &[(&str, &str)]) -> Result<Search, String> {
        search(|asked| {
            let given = variables.iter().find(|(name, _)| *name == asked);
            given.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn it_is_found_in_the_active_environment_and_beside_the_python_on_the_path() {
        let (folder, library) = environment();
        let place = folder.path().to_str().unwrap();
        let found = search_with(&[("VIRTUAL_ENV", place)]).unwrap();
        assert_eq!(found.libraries.first(), Some(&library));
        assert_eq!(version(&library).as_deref(), Some("1.31.0"));

        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(folder.path().join("bin/python3"), "").unwrap();
        let found = search_with(&[("PATH", &format!("/nowhere:{place}/bin"))]).unwrap();
        assert_eq!(found.libraries.first(), Some(&library));
    }

    #[test]
    fn links_to_one_file_count_once() {
        let (folder, library) = environment();
        let link = library.with_file_name("libonnxruntime.so");
        std::os::unix::fs::symlink(&library, link).unwrap();
        let mut search = Search::default();
        search.look_into(&folder.path().join(CAPI));
        assert_eq!(search.libraries, [library]);
    }

    #[test]
    fn nothing_is_taken_from_the_current_folder() {
        let relative = ["", ".", "venv", ":bin:."];
        for name in ["VIRTUAL_ENV", "PATH", "LD_LIBRARY_PATH"] {
            for value in relative {
                let found = search_with(&[(name, value)]).unwrap();
                assert!(
                    found.looked.iter().all(|folder| folder.is_absolute()),
                    "{found:?}"
                );
                assert_eq!(found, search_with(&[]).unwrap(), "{name}={value}");
            }
        }
    }

    #[test]
    fn a_library_that_is_named_is_the_only_one() {
        let (folder, _) = environment();
        let place = folder.path().to_str().unwrap();
        let found = search_with(&[(VARIABLE, "/mine.so"), ("VIRTUAL_ENV", place)]).unwrap();
        assert_eq!(found.libraries, [PathBuf::from("/mine.so")]);
        let reason = search_with(&[(VARIABLE, "mine.so")]).unwrap_err();
        assert!(reason.contains("must be an absolute path"), "{reason}");
    }

    #[test]
    fn without_a_version_in_its_name_the_package_has_it() {
        let (folder, library) = environment();
        let packages = folder.path().join("lib/python3.12/site-packages");
        fs::create_dir(packages.join("onnxruntime_gpu-1.20.2.dist-info")).unwrap();
        let library = library.with_file_name("onnxruntime.dll");
        assert_eq!(version(&library).as_deref(), Some("1.20.2"));
    }
}
