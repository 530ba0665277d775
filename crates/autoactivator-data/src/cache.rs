//! Features that were computed before: one file per backbone and settings, looked up by the content of the image or
//! sentence.
//!
//! A file is a header and records of one length: SHA-256 of the image's bytes, its features, a checksum. Records are
//! only ever added, under a lock, so that several processes can share a file. A record that was cut short, as by a killed
//! process, is overwritten by the next one. Any other damage shows in the checksum, and the image is computed again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::hash::hex;
use crate::origin::{Identity, Settings, TextIdentity, Tokens};

/// Rises whenever the same image and settings give another tensor, so that features of an older version are not reused.
const PREPROCESSING: u32 = 1;

/// The same for a sentence and its tokens.
const TOKENISING: u32 = 1;

/// Opens every cache file; the digit rises with the format.
const MAGIC: &[u8; 8] = b"AAFEAT1\n";

/// Magic, the digest of the identity, the number of features.
const HEADER: usize = 8 + DIGEST + 8;

/// Bytes of a SHA-256.
const DIGEST: usize = 32;

/// Bytes of a checksum.
const CHECKSUM: usize = 16;

/// A folder of features that were computed before.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// SHA-256 of the bytes of an image or sentence.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Content([u8; DIGEST]);

impl Content {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl Cache {
    /// Keeps features in this folder, which is made when it is first needed.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// What is kept of one backbone. A file of another kind is replaced.
    pub(crate) fn of(&self, identity: &Identity, n_features: usize) -> Result<Kept, String> {
        self.under(digest(identity), n_features)
    }

    /// What is kept of one sentence encoder.
    pub(crate) fn of_encoder(&self, identity: &TextIdentity, n_features: usize) -> Result<Kept, String> {
        self.under(digest_of_encoder(identity), n_features)
    }

    fn under(&self, digest: [u8; DIGEST], n_features: usize) -> Result<Kept, String> {
        let path = self.folder.join(hex(&digest[..16]) + ".features");
        Kept::open(&path, digest, n_features)
            .map_err(|cause| format!("{}: features are not kept: {cause}", path.display()))
    }
}

/// What tells the features of one backbone from those of another.
///
/// Settings are written as in the versions that had fewer of them, so that their features are still found: what came
/// later follows where it differs from what they did.
fn digest(identity: &Identity) -> [u8; DIGEST] {
    let Identity { sha256, settings, .. } = identity;
    let Settings {
        output,
        size,
        layout,
        channels,
        mean,
        scale,
        resize,
        filter,
        tokens,
        mirror,
    } = settings;
    let output = match output.names() {
        [only] => format!("{only:?}"),
        names => format!("{names:?}"),
    };
    let mut text = format!(
        "{PREPROCESSING} {sha256} Settings {{ output: {output}, size: {size:?}, layout: {layout:?}, channels: \
         {channels:?}, mean: {mean:?}, scale: {scale:?}, resize: {resize:?}, filter: {filter:?} }}"
    );
    if *tokens != Tokens::default() {
        text += &format!(" {tokens:?}");
    }
    if *mirror {
        text += " mirror";
    }
    Sha256::digest(text).into()
}

/// What tells the features of one sentence encoder from those of another.
fn digest_of_encoder(identity: &TextIdentity) -> [u8; DIGEST] {
    let TextIdentity {
        sha256,
        tokenizer,
        settings,
        ..
    } = identity;
    Sha256::digest(format!("text {TOKENISING} {sha256} {tokenizer} {settings:?}")).into()
}

/// The features of one backbone that are kept.
pub(crate) struct Kept {
    path: PathBuf,
    file: Mutex<File>,
    header: [u8; HEADER],
    n_features: usize,
    /// Where the record of each image begins.
    records: HashMap<Content, u64>,
}

impl Kept {
    fn open(path: &Path, digest: [u8; DIGEST], n_features: usize) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)?;
        let mut kept = Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            header: header(digest, n_features),
            n_features,
            records: HashMap::new(),
        };
        kept.index()?;
        Ok(kept)
    }

    /// Finds the records that are there.
    fn index(&mut self) -> io::Result<()> {
        let length = self.record_length();
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_header(&mut file, &self.header)? {
            return Ok(());
        }
        let mut reader = io::BufReader::with_capacity(1 << 20, &mut *file);
        let mut at = HEADER as u64;
        let mut content = [0; DIGEST];
        while read_whole(&mut reader, &mut content)? {
            self.records.insert(Content(content), at);
            at += length;
            reader.seek_relative(length as i64 - DIGEST as i64)?;
        }
        Ok(())
    }

    fn record_length(&self) -> u64 {
        (DIGEST + 4 * self.n_features + CHECKSUM) as u64
    }

    /// The features of an image; none when they are damaged or not kept.
    pub(crate) fn get(&self, content: Content) -> Option<Vec<f32>> {
        let &at = self.records.get(&content)?;
        let mut record = vec![0; self.record_length() as usize];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(at)).ok()?;
            file.read_exact(&mut record).ok()?;
        }
        let (body, checksum) = record.split_at_checked(record.len() - CHECKSUM)?;
        let (key, features) = body.split_at_checked(DIGEST)?;
        if key != content.0 || checksum != self.checksum(body) {
            return None;
        }
        let value = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Some(features.chunks_exact(4).map(value).collect())
    }

    /// Keeps the features of some images.
    pub(crate) fn add(&self, features: &[(Content, Vec<f32>)]) -> Result<(), String> {
        if features.is_empty() {
            return Ok(());
        }
        let mut records = Vec::new();
        for (content, row) in features {
            let start = records.len();
            records.extend_from_slice(&content.0);
            records.extend(row.iter().flat_map(|value| value.to_le_bytes()));
            let checksum = self.checksum(&records[start..]);
            records.extend_from_slice(&checksum);
        }
        self.append(&records)
            .map_err(|cause| format!("{}: features are not kept: {cause}", self.path.display()))
    }

    fn append(&self, records: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.lock()?;
        let written = self.append_locked(&mut file, records);
        file.unlock()?;
        written
    }

    fn append_locked(&self, file: &mut File, records: &[u8]) -> io::Result<()> {
        if !has_header(file, &self.header)? {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(&self.header)?;
        }
        let length = file.metadata()?.len();
        let torn = (length - HEADER as u64) % self.record_length();
        file.seek(SeekFrom::Start(length - torn))?;
        file.write_all(records)
    }

    /// Covers the header too, so that no record is taken for that of another backbone.
    fn checksum(&self, body: &[u8]) -> [u8; CHECKSUM] {
        let whole = Sha256::new()
            .chain_update(self.header)
            .chain_update(body)
            .finalize();
        let mut checksum = [0; CHECKSUM];
        checksum.copy_from_slice(&whole[..CHECKSUM]);
        checksum
    }
}

fn header(digest: [u8; DIGEST], n_features: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..8 + DIGEST].copy_from_slice(&digest);
    header[8 + DIGEST..].copy_from_slice(&(n_features as u64).to_le_bytes());
    header
}

/// Reads the header; the file then stands at its first record.
fn has_header(file: &mut File, header: &[u8; HEADER]) -> io::Result<bool> {
    let mut found = [0; HEADER];
    file.rewind()?;
    Ok(read_whole(file, &mut found)? && &found == header)
}

/// Fills the buffer; false when the file ends first.
fn read_whole(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::{Channels, Filter, Layout, Resize};

    fn identity(change: impl Fn(&mut Settings)) -> Identity {
        let mut settings = Settings {
            output: vec!["features".to_owned()].into(),
            size: 128,
            layout: Layout::Nchw,
            channels: Channels::Rgb,
            mean: [127.0; 3],
            scale: [128.0; 3],
            resize: Resize::Stretch,
            filter: Filter::Bicubic,
            tokens: Tokens::First,
            mirror: false,
        };
        change(&mut settings);
        Identity {
            name: "net".to_owned(),
            sha256: "0123".to_owned(),
            settings,
            place: None,
            runtime: None,
        }
    }

    #[test]
    fn features_of_earlier_versions_are_found() {
        // As the version with one output, no mirror images and the first token wrote it.
        let before = "1 0123 Settings { output: \"features\", size: 128, layout: Nchw, channels: Rgb, mean: [127.0, 127.0, \
                      127.0], scale: [128.0, 128.0, 128.0], resize: Stretch, filter: Bicubic }";
        let before: [u8; DIGEST] = Sha256::digest(before).into();
        assert_eq!(digest(&identity(|_| {})), before);
        let mut digests = vec![before];
        digests.push(digest(&identity(|settings| settings.mirror = true)));
        digests.push(digest(&identity(|settings| settings.tokens = Tokens::Mean)));
        let two = vec!["features".to_owned(), "before".to_owned()];
        digests.push(digest(&identity(|settings| settings.output = two.clone().into())));
        let different: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(different.len(), digests.len());
    }
}
