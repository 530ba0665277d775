//! What targets share: model files in a form that a fuzzer can change (header and tensors, without the length and checksum
//! that bind them), and how tables are read.

use std::path::PathBuf;
use std::sync::Once;

use autoactivator_data::table::READER;
use autoactivator_data::{Columns, FeatureTable};
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

/// Reads all rows of a table, twice, from a file of this name: both times they are the same.
pub fn read_table(name: &str, bytes: &[u8]) {
    leave_readers_quiet();
    let path = place(name);
    std::fs::write(&path, bytes).expect("the file is written");
    for columns in [Columns::default(), without_classes()] {
        let Ok(table) = FeatureTable::open(&path, &columns) else {
            continue;
        };
        let shape = table.shape();
        let read = || -> Option<Vec<(usize, usize)>> {
            let batches = table.batches().ok()?.take(MOST_BATCHES);
            batches
                .map(|batch| batch.ok().map(|batch| (batch.len(), batch.x.rows().n_features())))
                .collect()
        };
        let first = read();
        assert_eq!(first, read(), "the same file has the same rows");
        for (_, width) in first.iter().flatten() {
            assert_eq!(*width, shape.n_features, "rows are as wide as the table says");
        }
    }
}

/// More than this many batches would only make the fuzzer slow.
const MOST_BATCHES: usize = 50;

fn without_classes() -> Columns {
    Columns {
        no_label: true,
        ..Columns::default()
    }
}

/// A file of this process.
fn place(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("{}-{name}", std::process::id()))
}

/// A panic of a reader's thread is reported as an error, so it is no finding.
fn leave_readers_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() != Some(READER) {
                usual(panic);
            }
        }));
    });
}
