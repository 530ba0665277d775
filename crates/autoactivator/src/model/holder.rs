//! Who holds a lock: written into the lock file by its holder, read by whoever is refused.
//!
//! The file holds one line, such as `4711 autoactivator serve`. Since when is the time at which it was written. Whatever
//! else is in the file, the one who reads it still gets a sentence.

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process;
use std::time::Duration;

/// Largest part of a lock file that is read, in bytes.
const LINE: u64 = 200;

/// Writes this process into its lock file, over what an earlier holder may have left there.
pub(super) fn write(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{} {}", process::id(), program())
}

/// The program and its command, such as `autoactivator serve` or `python train.py`. Nothing else of the command line is
/// shown to others.
fn program() -> String {
    let name = |word: String| {
        let name = Path::new(&word).file_name().unwrap_or_default().to_string_lossy();
        name.chars().filter(|c| !c.is_control()).take(40).collect()
    };
    let mut words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    let program: String = words.next().map_or_else(String::new, name);
    match words.next().filter(|word| !word.starts_with('-')) {
        Some(command) => format!("{program} {}", name(command)),
        None => program,
    }
}

/// Says who holds the lock of this file, and for how long.
pub(super) fn read(path: &Path) -> String {
    let Some((id, program, age)) = written(path) else {
        return "another process is changing this model".to_owned();
    };
    let program = match program.as_str() {
        "" => String::new(),
        program => format!(" ({program})"),
    };
    format!("process {id}{program} has held this model{}", lasting(age))
}

/// What the holder wrote, and how long ago; none if the file is missing or damaged.
fn written(path: &Path) -> Option<(u32, String, Option<Duration>)> {
    let file = File::open(path).ok()?;
    let age = file.metadata().and_then(|data| data.modified()).ok();
    let mut bytes = Vec::new();
    file.take(LINE).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let line = text.lines().next()?;
    let (id, program) = line.split_once(' ').unwrap_or((line, ""));
    let program = program.chars().filter(|c| !c.is_control()).collect();
    // A clock that was set back gives no age.
    Some((
        id.parse().ok()?,
        program,
        age.and_then(|then| then.elapsed().ok()),
    ))
}

/// An age in words.
fn lasting(age: Option<Duration>) -> String {
    let Some(minutes) = age.map(|age| age.as_secs() / 60) else {
        return String::new();
    };
    let (number, unit) = match minutes {
        0 => return " for less than a minute".to_owned(),
        1..60 => (minutes, "minute"),
        60..1440 => (minutes / 60, "hour"),
        _ => (minutes / 1440, "day"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!(" for {number} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_holder_is_named_with_its_age() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, "what an earlier and longer holder has left here").unwrap();
        write(&mut File::options().write(true).open(&path).unwrap()).unwrap();
        let said = read(&path);
        let start = format!("process {} (", process::id());
        assert!(said.starts_with(&start), "{said}");
        assert!(
            said.ends_with(") has held this model for less than a minute"),
            "{said}"
        );
    }

    #[test]
    fn a_damaged_lock_file_is_no_obstacle() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let unknown = "another process is changing this model";
        assert_eq!(read(&path), unknown);
        for damaged in [
            &b""[..],
            b"\n",
            b"serve",
            b"-1 serve",
            b"99999999999 serve",
            &[0xff; 300],
        ] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(read(&path), unknown, "{damaged:?}");
        }
        fs::write(&path, "17\n").unwrap();
        assert_eq!(
            read(&path),
            "process 17 has held this model for less than a minute"
        );
        fs::write(&path, "17 a\x1b[2Jb\nc").unwrap();
        assert_eq!(
            read(&path),
            "process 17 (a[2Jb) has held this model for less than a minute"
        );
    }

    #[test]
    fn ages_are_told_in_words() {
        let minutes = |n: u64| lasting(Some(Duration::from_secs(60 * n)));
        assert_eq!(minutes(0), " for less than a minute");
        assert_eq!(minutes(1), " for 1 minute");
        assert_eq!(minutes(59), " for 59 minutes");
        assert_eq!(minutes(60), " for 1 hour");
        assert_eq!(minutes(1439), " for 23 hours");
        assert_eq!(minutes(3 * 1440), " for 3 days");
        assert_eq!(lasting(None), "");
    }
}
