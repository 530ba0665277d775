//! Whether memory can be had, asked before it is needed: a failed allocation would end the process.

/// Whether the system would give `bytes` bytes at once. Nothing is kept.
pub fn there_is_room(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}
