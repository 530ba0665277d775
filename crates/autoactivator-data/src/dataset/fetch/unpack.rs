//! Takes named files out of a `.tar.gz`.
//!
//! A name in the archive is only compared with the wanted names and never used as a path, so that no file is written
//! outside the folder.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::{Error, io_error};

/// Archives consist of blocks of this size.
const BLOCK: u64 = 512;

/// The head of one file in an archive.
struct Header {
    /// Its name without folders.
    name: String,
    is_file: bool,
    bytes: u64,
}

/// Writes the `wanted` files of an archive into a folder; all of them must be there.
pub(super) fn unpack(
    archive: &Path,
    wanted: &[String],
    folder: &Path,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Error> {
    let bad = |reason: String| Error::BadArchive {
        path: archive.to_owned(),
        reason,
    };
    let damaged = |cause: io::Error| bad(format!("damaged archive: {cause}"));
    let file = File::open(archive).map_err(|cause| io_error(archive, cause))?;
    let mut content = MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file));
    let mut missing: Vec<&String> = wanted.iter().collect();
    while let Some(header) = next_header(&mut content).map_err(damaged)? {
        let found = missing.iter().position(|name| **name == header.name);
        let padding = header.bytes.next_multiple_of(BLOCK) - header.bytes;
        if let Some(found) = found.filter(|_| header.is_file) {
            let member = (&mut content).take(header.bytes);
            if !write_member(member, &header, folder, interrupted)? {
                let got = fs::metadata(archive).map_or(0, |found| found.len());
                return Err(Error::Interrupted { got, of: Some(got) });
            }
            missing.remove(found);
            skip(&mut content, padding).map_err(damaged)?;
        } else {
            skip(&mut content, header.bytes + padding).map_err(damaged)?;
        }
    }
    match missing.first() {
        None => Ok(()),
        Some(name) => Err(bad(format!("the archive holds no {name}"))),
    }
}

/// Writes one file, which gets its name when it is whole; false when interrupted.
fn write_member(
    mut member: impl Read,
    header: &Header,
    folder: &Path,
    interrupted: &dyn Fn() -> bool,
) -> Result<bool, Error> {
    let part = folder.join(format!("{}.part", header.name));
    let mut file = File::create(&part).map_err(|cause| io_error(&part, cause))?;
    let mut chunk = vec![0; 1 << 16];
    let mut written = 0;
    loop {
        if interrupted() {
            return Ok(false);
        }
        let n = member.read(&mut chunk).map_err(|cause| io_error(&part, cause))?;
        if n == 0 {
            break;
        }
        file.write_all(&chunk[..n])
            .map_err(|cause| io_error(&part, cause))?;
        written += n as u64;
    }
    if written < header.bytes {
        let cause = io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the archive ends before this file does",
        );
        return Err(io_error(&part, cause));
    }
    file.sync_all().map_err(|cause| io_error(&part, cause))?;
    let path = folder.join(&header.name);
    fs::rename(&part, &path).map_err(|cause| io_error(&path, cause))?;
    Ok(true)
}

/// The next head; none at the end, which is a block of zeros or the end of the data.
fn next_header(content: &mut impl Read) -> io::Result<Option<Header>> {
    let mut block = Vec::new();
    content.by_ref().take(BLOCK).read_to_end(&mut block)?;
    if block.iter().all(|&byte| byte == 0) {
        return Ok(None);
    }
    let (Some(name), Some(size), Some(kind)) = (block.get(..100), block.get(124..136), block.get(156)) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let path = text(name);
    let bytes = u64::from_str_radix(text(size).trim(), 8)
        .ok()
        .filter(|&bytes| bytes < 1 << 40)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a file has no valid length"))?;
    Ok(Some(Header {
        name: path.rsplit('/').next().unwrap_or_default().to_owned(),
        is_file: matches!(kind, b'0' | 0),
        bytes,
    }))
}

/// A field up to its first zero.
fn text(field: &[u8]) -> String {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn skip(content: &mut impl Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut content.by_ref().take(bytes), &mut io::sink())?;
    if skipped < bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        Write::write_all(&mut encoder, bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
        let mut block = vec![0; BLOCK as usize];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[156] = kind;
        block.extend_from_slice(content);
        block.resize(block.len().next_multiple_of(BLOCK as usize), 0);
        block
    }

    /// What comes of unpacking `a.bin` and `b.txt` from these entries, and the files that are then there.
    fn unpacked(entries: &[Vec<u8>]) -> (Result<(), Error>, Vec<String>) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("deep/inside");
        fs::create_dir_all(&folder).unwrap();
        let archive = place.path().join("archive.tar.gz");
        fs::write(&archive, gzip(&entries.concat())).unwrap();
        let wanted = ["a.bin", "b.txt"].map(str::to_owned);
        let done = unpack(&archive, &wanted, &folder, &|| false);
        if done.is_ok() {
            assert_eq!(fs::read(folder.join("a.bin")).unwrap(), [7; 600]);
            assert_eq!(fs::read(folder.join("b.txt")).unwrap(), b"apple\n");
        }
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            2,
            "nothing outside the folder"
        );
        let files = fs::read_dir(&folder).unwrap();
        let mut files: Vec<String> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        (done, files)
    }

    #[test]
    fn only_the_wanted_files_are_written_and_none_outside() {
        let (done, files) = unpacked(&[
            entry("set/", b'5', b""),
            entry("set/a.bin", b'0', &[7; 600]),
            entry("../../escaped.txt", b'0', b"bad"),
            entry("/tmp/also-escaped", b'0', b"bad"),
            entry("set/b.txt", b'0', b"apple\n"),
            vec![0; 1024],
        ]);
        done.unwrap();
        assert_eq!(files, ["a.bin", "b.txt"]);
    }

    #[test]
    fn a_link_is_not_a_file() {
        let (done, files) = unpacked(&[entry("a.bin", b'2', b""), entry("b.txt", b'0', b"apple\n")]);
        let error = done.unwrap_err().to_string();
        assert!(error.contains("holds no a.bin"), "{error}");
        assert_eq!(files, ["b.txt"]);
    }

    #[test]
    fn a_cut_archive_is_refused() {
        let whole = entry("a.bin", b'0', &[7; 600]);
        let (done, files) = unpacked(&[whole[..700].to_vec()]);
        assert!(done.is_err());
        assert_eq!(files, ["a.bin.part"]);
        let (done, _) = unpacked(&[whole[..100].to_vec()]);
        assert!(done.is_err());
    }
}
