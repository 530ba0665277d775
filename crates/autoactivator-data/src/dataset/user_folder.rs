//! The user's own folders: where data sets and computed features are kept when no other place is given, and where settings
//! are looked for.

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
    CACHE.find(|name| std::env::var_os(name))
}

/// The folder of this user's settings, whether it exists or not.
///
/// It is `autoactivator` in `XDG_CONFIG_HOME`, or else in the usual place of the system: `~/.config`,
/// `~/Library/Application Support`, or `%APPDATA%`. None when the environment names none of them.
pub fn user_config() -> Option<PathBuf> {
    CONFIG.find(|name| std::env::var_os(name))
}

/// Where a kind of folder is: the variable that names it, and its usual place on each system.
struct Place {
    variable: &'static str,
    below_home: &'static str,
    below_home_of_a_mac: &'static str,
    on_windows: &'static str,
}

const CACHE: Place = Place {
    variable: "XDG_CACHE_HOME",
    below_home: ".cache",
    below_home_of_a_mac: "Library/Caches",
    on_windows: "LOCALAPPDATA",
};

const CONFIG: Place = Place {
    variable: "XDG_CONFIG_HOME",
    below_home: ".config",
    below_home_of_a_mac: "Library/Application Support",
    on_windows: "APPDATA",
};

impl Place {
    fn find(&self, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
        // A relative path would mean another folder in every working directory; the XDG rules say to ignore it.
        let folder = |name| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let of_the_system = || {
            if cfg!(windows) {
                folder(self.on_windows)
            } else if cfg!(target_os = "macos") {
                folder("HOME").map(|home| home.join(self.below_home_of_a_mac))
            } else {
                folder("HOME").map(|home| home.join(self.below_home))
            }
        };
        let place = folder(self.variable).or_else(of_the_system)?;
        Some(place.join("autoactivator"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(place: &Place, variables: &[(&str, PathBuf)]) -> Option<PathBuf> {
        place.find(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone().into())
        })
    }

    #[test]
    fn the_environment_names_the_folder() {
        let home = std::env::temp_dir();
        for (place, variable) in [(&CACHE, "XDG_CACHE_HOME"), (&CONFIG, "XDG_CONFIG_HOME")] {
            let named = with(place, &[(variable, home.clone())]);
            assert_eq!(named, Some(home.join("autoactivator")));
            assert_eq!(with(place, &[]), None);
            assert_eq!(with(place, &[(variable, "here".into())]), None);
        }
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn a_home_is_enough() {
        let home = [("HOME", "/ada".into()), ("XDG_CACHE_HOME", "".into())];
        assert_eq!(with(&CACHE, &home), Some("/ada/.cache/autoactivator".into()));
        assert_eq!(with(&CONFIG, &home), Some("/ada/.config/autoactivator".into()));
    }
}
