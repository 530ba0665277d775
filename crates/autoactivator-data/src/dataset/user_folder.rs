//! The user's own folders: where data sets and computed features are kept when no other place is given.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folder of this user's data sets, whether it exists or not; none when the environment names no place for it.
pub(super) fn data_dir() -> Option<PathBuf> {
    user_cache().map(|folder| folder.join("data"))
}

/// The folder of what can be fetched or computed again for this user, whether it exists or not.
///
/// It is `autoactivator` in `XDG_CACHE_HOME`, or else in the usual place of the system: `~/.cache`,
/// `~/Library/Caches`, or `%LOCALAPPDATA%`. None when the environment names none of them.
pub fn user_cache() -> Option<PathBuf> {
    from_environment(|name| std::env::var_os(name))
}

fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would mean another folder in every working directory; the XDG rules say to ignore it.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let of_the_system = || {
        if cfg!(windows) {
            folder("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            folder("HOME").map(|home| home.join("Library").join("Caches"))
        } else {
            folder("HOME").map(|home| home.join(".cache"))
        }
    };
    let caches = folder("XDG_CACHE_HOME").or_else(of_the_system)?;
    Some(caches.join("autoactivator"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, PathBuf)]) -> Option<PathBuf> {
        from_environment(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone().into())
        })
    }

    #[test]
    fn the_environment_names_the_folder() {
        let home = std::env::temp_dir();
        let named = with(&[("XDG_CACHE_HOME", home.clone())]);
        assert_eq!(named, Some(home.join("autoactivator")));
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("XDG_CACHE_HOME", "here".into())]), None);
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn a_home_is_enough() {
        let named = with(&[("HOME", "/ada".into()), ("XDG_CACHE_HOME", "".into())]);
        assert_eq!(named, Some("/ada/.cache/autoactivator".into()));
    }
}
