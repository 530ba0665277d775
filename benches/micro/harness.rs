//! A small harness: repeats a piece of work until its median is reliable, and prints the median and the spread.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Time spent on each piece of work; at least three runs, however long they take.
const BUDGET: Duration = Duration::from_millis(500);
const MOST_RUNS: usize = 10_000;

/// Runs every benchmark whose name contains one of the arguments; all of them if there are none.
pub struct Harness {
    words: Vec<String>,
}

impl Harness {
    /// Reads the arguments, and ignores cargo's own flags.
    pub fn from_args() -> Self {
        let words = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
        println!(
            "{:<44}{:>12}{:>12}{:>12}{:>8}",
            "", "median", "lowest", "highest", "runs"
        );
        Self {
            words: words.collect(),
        }
    }

    /// Whether a benchmark, or group of benchmarks, is asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }

    /// Times `work`.
    pub fn run<T>(&self, name: &str, mut work: impl FnMut() -> T) {
        self.run_on(name, || (), |()| work());
    }

    /// Times `work` on an input that `fresh` makes for each run, which is not timed.
    pub fn run_on<S, T>(&self, name: &str, mut fresh: impl FnMut() -> S, mut work: impl FnMut(S) -> T) {
        if !self.wants(name) {
            return;
        }
        black_box(work(fresh())); // warms the caches
        let (mut taken, mut spent) = (Vec::new(), Duration::ZERO);
        while taken.len() < 3 || (spent < BUDGET && taken.len() < MOST_RUNS) {
            let input = fresh();
            let start = Instant::now();
            let output = black_box(work(black_box(input)));
            let elapsed = start.elapsed();
            drop(output);
            spent += elapsed;
            taken.push(elapsed);
        }
        taken.sort_unstable();
        let shown = |time: Duration| format!("{time:.2?}");
        println!(
            "{name:<44}{:>12}{:>12}{:>12}{:>8}",
            shown(taken[taken.len() / 2]),
            shown(taken[0]),
            shown(taken[taken.len() - 1]),
            taken.len()
        );
    }
}
