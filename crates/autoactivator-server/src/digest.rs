//! SHA-256 as text.

use sha2::{Digest, Sha256};

/// The digest of some parts, one after another, in hexadecimal digits.
pub(crate) fn sha256(parts: &[&[u8]]) -> String {
    let mut sha = Sha256::new();
    parts.iter().for_each(|part| sha.update(part));
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_sha256sum_prints() {
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[b"a", b"bc"]), known);
    }
}
