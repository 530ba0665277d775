//! The room for one kind of request: bytes of bodies, and turns at work. Questions and changes have rooms of their own,
//! so that no flood of questions, which need no token, keeps a change from being made.

use crate::budget::Budget;
use crate::limits::Limits;
use crate::turns::Turns;

/// The room for one kind of request.
pub(crate) struct Room {
    /// Bytes of bodies that are being read or worked on.
    pub(crate) bodies: Budget,
    /// Turns at longer work.
    pub(crate) turns: Turns,
}

impl Room {
    /// The room for questions. There is always a turn that no single client can take.
    pub(crate) fn for_questions(limits: &Limits, processors: usize) -> Self {
        Self {
            bodies: Budget::new(limits.all_questions()),
            turns: Turns::new(processors, processors + processors.div_ceil(2)),
        }
    }

    /// The room for everything that needs the token: lessons that are being prepared, models to merge, downloads.
    pub(crate) fn for_changes(limits: &Limits, processors: usize) -> Self {
        let turns = processors.div_ceil(2);
        Self {
            bodies: Budget::new(limits.all_changes()),
            turns: Turns::new(turns, turns),
        }
    }
}
