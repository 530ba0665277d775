//! What a file may claim to unpack to, before any memory is given to it.
//!
//! A few bytes can claim, or truly unpack to, more than a machine holds. Honest data rarely shrinks to less than one byte
//! in [`RATIO`], and where it does it is small.

use autoactivator::math::there_is_room;

/// How many times larger than its packed bytes data may be, if it is not small anyway.
const RATIO: u64 = 256;

/// What is small: about the size of a batch, which takes as much in any case.
pub(super) const SMALL: u64 = 64 << 20;

/// The longest name of a class or a row, in bytes. A long one that many rows share takes few bytes in a file, and as many as
/// there are rows in memory.
const LONGEST_NAME: usize = 4096;

/// Refuses a name of so many bytes if it is too long to be one.
pub(super) fn check_name(n_bytes: usize) -> Result<(), String> {
    if n_bytes > LONGEST_NAME {
        return Err(format!(
            "a text of {n_bytes} bytes is no name ({LONGEST_NAME} are allowed): choose the column of the class with --label"
        ));
    }
    Ok(())
}

/// Refuses what claims to unpack to more than is likely, or to more than this process can have now.
pub(super) fn check(packed: u64, unpacked: u64, small: u64) -> Result<(), String> {
    let likely = small.max(packed.saturating_mul(RATIO));
    // The libraries that unpack do not ask for room, and would end the process.
    if unpacked > likely || !there_is_room(unpacked) {
        return Err(format!(
            "it claims that {packed} bytes unpack to {unpacked}, more than is likely or fits into memory: it is \
             damaged, or else must be written in smaller pieces or without compression"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_bounded_by_what_is_packed() {
        assert!(check(10, SMALL, SMALL).is_ok());
        assert!(check(10, SMALL + 1, SMALL).is_err());
        assert!(check(1 << 20, 200 << 20, SMALL).is_ok());
        assert!(check(u64::MAX, 1 << 60, SMALL).is_err());
        assert!(check(u64::MAX, u64::MAX, SMALL).is_err());
    }
}
