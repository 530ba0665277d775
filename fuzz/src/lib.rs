//! Model files in a form that a fuzzer can change: header and tensors, without the length and checksum that bind them.

use sha2::{Digest, Sha256};

/// What precedes the checksum: JSON within JSON.
const CHECKSUM: &[u8] = br#"\"sha256\":\""#;

/// Number of characters in a checksum.
const LENGTH: usize = 64;

/// Builds a model file with the right length and checksum from a header, a line end and tensors. Without a line end, it
/// returns the bytes unchanged.
pub fn bound(loose: &[u8]) -> Vec<u8> {
    let Some(end) = loose.iter().position(|&byte| byte == b'\n') else {
        return loose.to_vec();
    };
    let (header, tensors) = (&loose[..end], &loose[end + 1..]);
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend_from_slice(header);
    file.extend_from_slice(tensors);
    let found = file.windows(CHECKSUM.len()).position(|window| window == CHECKSUM);
    let place = found
        .map(|at| at + CHECKSUM.len())
        .filter(|at| at + LENGTH <= file.len());
    if let Some(at) = place {
        file[at..at + LENGTH].fill(b'0');
        let digest: String = Sha256::digest(&file)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        file[at..at + LENGTH].copy_from_slice(digest.as_bytes());
    }
    file
}
