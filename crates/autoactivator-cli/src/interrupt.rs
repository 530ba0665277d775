//! Ctrl-C, and SIGTERM where there is one: the first asks the work to stop at the next step, the second ends the process
//! at once.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether a command has taken notice, and is ending in its own way.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Installs the handlers. If that fails, the signals still end the process, but at once.
pub fn listen() {
    let _ = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    #[cfg(unix)]
    let _ = terminated::listen();
}

/// Whether the work should stop: Ctrl-C was pressed, or the process was told to terminate, and no command has
/// [answered](answer) that.
pub fn requested() -> bool {
    happened() && !ANSWERED.load(Ordering::Relaxed)
}

/// Lets a command that was asked to stop finish what it has, which would otherwise be stopped, too.
pub fn answer() {
    ANSWERED.store(true, Ordering::Relaxed);
}

/// Whether Ctrl-C was pressed, or the process was told to terminate.
pub fn happened() -> bool {
    #[cfg(unix)]
    if terminated::requested() {
        return true;
    }
    REQUESTED.load(Ordering::Relaxed)
}

/// SIGTERM, which service managers and containers send. SIGHUP is left alone, so that `nohup` works.
#[cfg(unix)]
mod terminated {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::SIGTERM;
    use signal_hook::flag;

    /// The exit code of a process that SIGTERM has ended.
    const TERMINATED: i32 = 143;

    static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    pub(super) fn listen() -> io::Result<()> {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(SIGTERM, TERMINATED, Arc::clone(&REQUESTED))?;
        flag::register(SIGTERM, Arc::clone(&REQUESTED))?;
        Ok(())
    }

    pub(super) fn requested() -> bool {
        REQUESTED.load(Ordering::Relaxed)
    }
}
