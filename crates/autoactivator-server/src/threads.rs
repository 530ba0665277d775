//! Threads for long work, apart from those that answer small questions, and behind them in priority: on Linux, whoever
//! asks little goes first.

use rayon::ThreadPool;

use crate::error::Error;

/// Niceness of threads that answer long questions.
pub(crate) const ASKING: i32 = 5;

/// Niceness of threads that learn.
pub(crate) const LEARNING: i32 = 10;

/// A pool of threads with this name and niceness; as many as there are processors, unless it says how many.
pub(crate) fn pool(name: &'static str, niceness: i32, threads: Option<usize>) -> Result<ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .thread_name(move |i| format!("{name} {i}"))
        .start_handler(move |_| step_back(niceness))
        .build()
        .map_err(|cause| Error::System(std::io::Error::other(cause)))
}

/// Lowers the priority of the calling thread; only on Linux.
#[cfg_attr(not(target_os = "linux"), allow(unused_variables))]
pub(crate) fn step_back(niceness: i32) {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), niceness);
}
