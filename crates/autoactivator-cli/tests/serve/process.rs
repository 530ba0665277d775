//! What a server process holds, as the system tells; Linux only.

use std::fmt;
use std::fs;

use crate::common::Workplace;
use crate::serving::Serving;

/// Memory, descriptors and threads of a process, and the size of its model file.
pub struct Held {
    /// Megabytes that are resident, and the most that ever were.
    pub resident: f64,
    pub peak: f64,
    pub descriptors: usize,
    pub threads: usize,
    /// Bytes of the model file and of the journal beside it.
    pub file: u64,
    pub journal: u64,
}

impl Held {
    /// The titles of what [`Display`](fmt::Display) shows.
    pub const TITLES: &str = "  RSS MB  peak MB  descriptors  threads  model bytes  journal bytes";

    /// What a server holds now, with the model `m.aact`.
    pub fn by(serving: &Serving, place: &Workplace) -> Self {
        let process = format!("/proc/{}", serving.id());
        let status = fs::read_to_string(format!("{process}/status")).unwrap();
        let number = |name: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse().unwrap()
        };
        let size = |name: &str| fs::metadata(place.path().join(name)).map_or(0, |file| file.len());
        Self {
            resident: number("VmRSS:") / 1024.0,
            peak: number("VmHWM:") / 1024.0,
            descriptors: fs::read_dir(format!("{process}/fd")).unwrap().count(),
            threads: number("Threads:") as usize,
            file: size("m.aact"),
            journal: size(".m.aact.changes"),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:>8.1} {:>8.1} {:>12} {:>8} {:>12} {:>14}",
            self.resident, self.peak, self.descriptors, self.threads, self.file, self.journal
        )
    }
}
