//! Fetching against a server on this machine that misbehaves in every way a mirror can.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autoactivator_data::dataset::fetch::{
    self, Checksum, Entry, Error, Fetcher, Got, Item, Kind, Patience, Watcher,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const FILE: &str = "rows.gz";

/// What a server does with one request; the last of its manners also answers all further ones.
#[derive(Clone, Copy)]
enum Manner {
    /// Sends what was asked for.
    Serve,
    /// Promises everything and hangs up after so many bytes.
    CutAfter(usize),
    /// Sends the whole file whatever was asked for.
    IgnoreRange,
    /// Sends so many bytes more than the file has, without telling how many.
    Longer(usize),
    /// Answers with this status and nothing else.
    Status(u16),
    /// Sends the client elsewhere.
    Redirect,
    /// Says nothing.
    Silence,
}

/// A mirror of one file.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(content: Vec<u8>, tag: &'static str, manners: Vec<Manner>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/sets", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        std::thread::spawn(move || {
            for (i, stream) in listener.incoming().enumerate() {
                let manner = manners[i.min(manners.len() - 1)];
                // A client that hangs up is no reason for this server to end.
                let _ = answer(stream.unwrap(), &content, tag, manner, &seen);
            }
        });
        Self { url, requests }
    }

    /// The requests so far, each with all its headers.
    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    content: &[u8],
    tag: &str,
    manner: Manner,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines();
    let request: Vec<String> = lines
        .map(Result::unwrap)
        .take_while(|line| !line.is_empty())
        .collect();
    let request = request.join("\n");
    seen.lock().unwrap().push(request.clone());
    let same_version = header(&request, "if-range").is_none_or(|version| version == tag);
    let start = header(&request, "range")
        .filter(|_| same_version && !matches!(manner, Manner::IgnoreRange))
        .map(|range| {
            let start = range
                .trim_start_matches("bytes=")
                .trim_end_matches('-')
                .parse::<usize>();
            start.unwrap()
        });
    let whole = content.len();
    let (head, body) = match (manner, start) {
        (Manner::Status(status), _) => (format!("{status} No\r\nContent-Length: 0"), &[][..]),
        (Manner::Redirect, _) => (
            format!("302 Found\r\nLocation: /sets/moved/{FILE}\r\nContent-Length: 0"),
            &[][..],
        ),
        (Manner::Silence, _) => {
            std::thread::sleep(Duration::from_secs(3));
            return Ok(());
        }
        (Manner::Longer(_), _) => ("200 OK".to_owned(), content),
        (_, Some(start)) if start >= whole => (
            format!("416 No\r\nContent-Range: bytes */{whole}\r\nContent-Length: 0"),
            &[][..],
        ),
        (_, Some(start)) => (
            format!(
                "206 Part\r\nContent-Range: bytes {start}-{}/{whole}\r\nContent-Length: {}",
                whole - 1,
                whole - start
            ),
            &content[start..],
        ),
        (_, None) => (format!("200 OK\r\nContent-Length: {whole}"), content),
    };
    write!(
        stream,
        "HTTP/1.1 {head}\r\nETag: {tag}\r\nConnection: close\r\n\r\n"
    )?;
    match manner {
        Manner::CutAfter(n) => stream.write_all(&body[..n.min(body.len())]),
        Manner::Longer(n) => {
            stream.write_all(body)?;
            stream.write_all(&vec![0; n])
        }
        _ => stream.write_all(body),
    }
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let headers = request.lines().filter_map(|line| line.split_once(": "));
    let mut found = headers.filter(|(found, _)| found.eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value)
}

/// Content that compresses badly, so that lengths on the way are lengths of the content.
fn content() -> Vec<u8> {
    let mut random: u64 = 1;
    let bytes = (0..200_000).map(|_| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 56) as u8
    });
    bytes.collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn sha256(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn entry(mirrors: &[&Server]) -> Entry {
    let content = content();
    Entry {
        name: "rows".to_owned(),
        mirrors: mirrors.iter().map(|server| server.url.clone()).collect(),
        items: vec![Item {
            file: FILE.to_owned(),
            path: FILE.to_owned(),
            bytes: content.len() as u64,
            checksum: Checksum::Published(sha256(&content)),
            kind: Kind::Packed,
        }],
    }
}

fn good(manners: Vec<Manner>) -> Server {
    Server::new(gzip(&content()), "\"one\"", manners)
}

fn fetcher(tries: u32) -> Fetcher {
    Fetcher::new(Patience {
        tries,
        pause: Duration::from_millis(1),
        silence: Duration::from_secs(1),
    })
}

/// All files below a folder, as paths relative to it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            let name = path.file_name().unwrap();
            found.extend(files(&path).iter().map(|file| Path::new(name).join(file)));
        } else {
            found.push(path.strip_prefix(folder).unwrap().to_owned());
        }
    }
    found.sort();
    found
}

/// The data set is there, and nothing else is.
#[track_caller]
fn assert_complete(folder: &TempDir) {
    assert_eq!(files(folder.path()), [Path::new("rows").join(FILE)]);
    let found = fs::read(folder.path().join("rows").join(FILE)).unwrap();
    assert!(found == gzip(&content()), "the content is not what was served");
}

/// Nothing is there that could be taken for the data set.
#[track_caller]
fn assert_nothing(folder: &TempDir) {
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_whole_download_and_then_nothing_to_do() {
    let (server, folder) = (good(vec![Manner::Serve]), tempfile::tempdir().unwrap());
    let entry = entry(&[&server]);
    assert_eq!(
        fetcher(1).get(&entry, folder.path(), &mut ()).unwrap(),
        Got::Fetched
    );
    assert_complete(&folder);
    assert_eq!(
        fetcher(1).get(&entry, folder.path(), &mut ()).unwrap(),
        Got::AlreadyHere
    );
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_same_content_packed_otherwise_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = flate2::GzBuilder::new()
        .filename("other")
        .mtime(7)
        .write(Vec::new(), Compression::best());
    encoder.write_all(&content()).unwrap();
    let repacked = Server::new(encoder.finish().unwrap(), "\"one\"", vec![Manner::Serve]);
    fetcher(1)
        .get(&entry(&[&repacked]), folder.path(), &mut ())
        .unwrap();
    let plain = Server::new(content(), "\"one\"", vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    fetcher(1).get(&entry(&[&plain]), folder.path(), &mut ()).unwrap();
}

#[test]
fn a_cut_connection_is_resumed_at_once() {
    let server = good(vec![
        Manner::CutAfter(50_000),
        Manner::Status(503),
        Manner::CutAfter(60_000),
        Manner::Serve,
    ]);
    let folder = tempfile::tempdir().unwrap();
    let mut notes = Notes::default();
    fetcher(4)
        .get(&entry(&[&server]), folder.path(), &mut notes)
        .unwrap();
    assert_complete(&folder);
    let requests = server.requests();
    let ranges: Vec<_> = requests.iter().map(|request| header(request, "range")).collect();
    let expected = [
        None,
        Some("bytes=50000-"),
        Some("bytes=50000-"),
        Some("bytes=110000-"),
    ];
    assert_eq!(ranges, expected);
    assert_eq!(header(&requests[1], "if-range"), Some("\"one\""));
    assert_eq!(notes.0.len(), 3);
    assert!(notes.0[0].contains("trying again"), "{}", notes.0[0]);
}

#[test]
fn a_connection_that_stays_cut_says_how_far_it_got_and_the_next_call_resumes() {
    let server = good(vec![
        Manner::CutAfter(40_000),
        Manner::CutAfter(40_000),
        Manner::Serve,
    ]);
    let folder = tempfile::tempdir().unwrap();
    let entry = entry(&[&server]);
    let error = fetcher(2).get(&entry, folder.path(), &mut ()).unwrap_err();
    let whole = gzip(&content()).len();
    let said = error.to_string();
    assert!(matches!(error, Error::Cut { got: 80_000, .. }), "{said}");
    assert!(said.contains(&format!("80000 of {whole} bytes")), "{said}");
    assert!(said.contains("the same command resumes"), "{said}");
    assert!(!folder.path().join("rows").exists());

    fetcher(1).get(&entry, folder.path(), &mut ()).unwrap();
    assert_complete(&folder);
    assert_eq!(header(&server.requests()[2], "range"), Some("bytes=80000-"));
}

#[test]
fn a_redirect_is_followed_also_when_resuming() {
    let server = good(vec![
        Manner::Redirect,
        Manner::CutAfter(70_000),
        Manner::Redirect,
        Manner::Serve,
    ]);
    let folder = tempfile::tempdir().unwrap();
    fetcher(2)
        .get(&entry(&[&server]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
    assert_eq!(header(&server.requests()[3], "range"), Some("bytes=70000-"));
}

#[test]
fn a_server_that_ignores_ranges_begins_anew() {
    let server = good(vec![Manner::CutAfter(50_000), Manner::IgnoreRange]);
    let folder = tempfile::tempdir().unwrap();
    fetcher(2)
        .get(&entry(&[&server]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
}

/// Everything had arrived, but the program ended before the file got its name.
#[test]
fn a_whole_beginning_needs_no_more_bytes() {
    let server = good(vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    let staging = folder.path().join("rows.part");
    fs::create_dir(&staging).unwrap();
    fs::write(staging.join("rows.gz.part"), gzip(&content())).unwrap();
    let from = format!("{}/{FILE}\n\"one\"\n", server.url);
    fs::write(staging.join("rows.gz.part.from"), from).unwrap();
    fetcher(1)
        .get(&entry(&[&server]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_beginning_of_another_version_or_of_garbage_is_not_continued() {
    for tag in ["\"one\"", "\"another\""] {
        let server = good(vec![Manner::Serve]);
        let folder = tempfile::tempdir().unwrap();
        let staging = folder.path().join("rows.part");
        fs::create_dir(&staging).unwrap();
        fs::write(staging.join("rows.gz.part"), [7; 1000]).unwrap();
        let from = format!("{}/{FILE}\n{tag}\n", server.url);
        fs::write(staging.join("rows.gz.part.from"), from).unwrap();
        fetcher(1)
            .get(&entry(&[&server]), folder.path(), &mut ())
            .unwrap();
        assert_complete(&folder);
    }
}

#[test]
fn wrong_content_is_deleted_and_the_next_mirror_tried() {
    let mut wrong = content();
    wrong[100_000] ^= 1;
    let bad = Server::new(gzip(&wrong), "\"bad\"", vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(3)
        .get(&entry(&[&bad]), folder.path(), &mut ())
        .unwrap_err()
        .to_string();
    for part in [FILE, &sha256(&content()), &sha256(&wrong), "deleted"] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(bad.requests().len(), 1, "the same bytes would come again");
    assert_nothing(&folder);

    let mut notes = Notes::default();
    let good = good(vec![Manner::Serve]);
    fetcher(3)
        .get(&entry(&[&bad, &good]), folder.path(), &mut notes)
        .unwrap();
    assert_complete(&folder);
    assert!(notes.0[0].contains("wrong content"), "{:?}", notes.0);
}

#[test]
fn damaged_gzip_is_wrong_content() {
    let mut packed = gzip(&content());
    packed.truncate(100_000);
    for packed in [packed, vec![0x1f, 0x8b, 0, 0, 0], Vec::new()] {
        let server = Server::new(packed, "\"bad\"", vec![Manner::Serve]);
        let folder = tempfile::tempdir().unwrap();
        let error = fetcher(1)
            .get(&entry(&[&server]), folder.path(), &mut ())
            .unwrap_err();
        assert!(matches!(error, Error::WrongContent { .. }), "{error}");
        assert_nothing(&folder);
    }
}

#[test]
fn too_long_content_is_not_read_to_its_end() {
    let told = Server::new(vec![0; 10_000_000], "\"bad\"", vec![Manner::Serve]);
    let untold = good(vec![Manner::Longer(10_000_000)]);
    // A small file that unpacks to a large one.
    let bomb = Server::new(gzip(&vec![0; 5_000_000]), "\"bad\"", vec![Manner::Serve]);
    for (server, expected) in [
        (told, "the server sends more"),
        (untold, "the server sends more"),
        (bomb, "found more than 200000 bytes"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let error = fetcher(1)
            .get(&entry(&[&server]), folder.path(), &mut ())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
        assert_nothing(&folder);
    }
}

#[test]
fn a_refusal_is_final_for_its_mirror_only() {
    let absent = good(vec![Manner::Status(404)]);
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(3)
        .get(&entry(&[&absent]), folder.path(), &mut ())
        .unwrap_err();
    assert!(matches!(error, Error::Refused { status: 404, .. }), "{error}");
    assert!(error.to_string().contains(FILE), "{error}");
    assert_eq!(absent.requests().len(), 1);

    let both = fetcher(1).get(&entry(&[&absent, &absent]), folder.path(), &mut ());
    let error = both.unwrap_err().to_string();
    assert!(
        error.contains("none of 2 mirrors") && error.contains("404"),
        "{error}"
    );

    let good = good(vec![Manner::Serve]);
    fetcher(1)
        .get(&entry(&[&absent, &good]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
}

/// A second mirror that has nothing must not cost what came from the first.
#[test]
fn what_one_mirror_gave_outlives_the_failure_of_another() {
    let first = good(vec![Manner::CutAfter(90_000), Manner::Serve]);
    let second = good(vec![Manner::Status(404)]);
    let folder = tempfile::tempdir().unwrap();
    let entry = entry(&[&first, &second]);
    fetcher(1).get(&entry, folder.path(), &mut ()).unwrap_err();
    fetcher(1).get(&entry, folder.path(), &mut ()).unwrap();
    assert_complete(&folder);
    assert_eq!(header(&first.requests()[1], "range"), Some("bytes=90000-"));
}

#[test]
fn silence_and_absence_end_in_an_error() {
    let silent = good(vec![Manner::Silence]);
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(1)
        .get(&entry(&[&silent]), folder.path(), &mut ())
        .unwrap_err();
    assert!(matches!(error, Error::Cut { got: 0, .. }), "{error}");

    let mut nobody = entry(&[&silent]);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    nobody.mirrors = vec![format!("http://{free}/")];
    let error = fetcher(2).get(&nobody, folder.path(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::Cut { got: 0, .. }), "{error}");

    for nonsense in ["", "no address", "ftp://host/folder"] {
        nobody.mirrors = vec![nonsense.to_owned()];
        let error = fetcher(2).get(&nobody, folder.path(), &mut ()).unwrap_err();
        assert!(matches!(error, Error::BadAddress { .. }), "{nonsense}: {error:?}");
    }
}

#[test]
fn an_interruption_keeps_what_has_arrived() {
    struct Impatient(u64);
    impl Watcher for Impatient {
        fn received(&mut self, _file: &str, done: u64, _of: Option<u64>) {
            self.0 = done;
        }
        fn note(&mut self, _message: &str) {}
        fn interrupted(&self) -> bool {
            self.0 > 0
        }
    }
    let server = good(vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    let mut watcher = Impatient(0);
    let error = fetcher(1)
        .get(&entry(&[&server]), folder.path(), &mut watcher)
        .unwrap_err();
    assert!(
        matches!(error, Error::Interrupted { got, .. } if got == watcher.0),
        "{error}"
    );
    fetcher(1)
        .get(&entry(&[&server]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
    let expected = format!("bytes={}-", watcher.0);
    assert_eq!(header(&server.requests()[1], "range"), Some(expected.as_str()));
}

#[test]
fn a_folder_that_cannot_be_made_is_named_with_a_remedy() {
    let server = good(vec![Manner::Serve]);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    let error = fetcher(1)
        .get(&entry(&[&server]), &file, &mut ())
        .unwrap_err()
        .to_string();
    assert!(error.contains("file") && error.contains("--data-dir"), "{error}");
    assert_eq!(server.requests().len(), 0);
}

/// Only the files that are missing or wrong are fetched again.
#[test]
fn a_damaged_file_is_replaced() {
    let server = good(vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rows")).unwrap();
    fs::write(folder.path().join("rows").join(FILE), "damaged").unwrap();
    fetcher(1)
        .get(&entry(&[&server]), folder.path(), &mut ())
        .unwrap();
    assert_complete(&folder);
}

#[test]
fn an_archive_is_verified_and_then_unpacked() {
    let mut header = vec![0; 512];
    header[..9].copy_from_slice(b"set/a.bin");
    header[124..135].copy_from_slice(b"00000000003");
    let mut tar = header;
    tar.extend_from_slice(b"abc");
    tar.resize(2048, 0);
    let archive = gzip(&tar);
    let server = Server::new(
        archive.clone(),
        "\"one\"",
        vec![Manner::CutAfter(20), Manner::Serve],
    );
    let mut entry = entry(&[&server]);
    entry.items[0] = Item {
        file: "set.tar.gz".to_owned(),
        path: "set.tar.gz".to_owned(),
        bytes: archive.len() as u64,
        checksum: Checksum::Published(sha256(&archive)),
        kind: Kind::Archive {
            members: vec!["a.bin".to_owned()],
        },
    };
    let folder = tempfile::tempdir().unwrap();
    fetcher(2).get(&entry, folder.path(), &mut ()).unwrap();
    assert_eq!(files(folder.path()), [Path::new("rows").join("a.bin")]);
    assert_eq!(fs::read(folder.path().join("rows/a.bin")).unwrap(), b"abc");
    assert_eq!(
        fetcher(1).get(&entry, folder.path(), &mut ()).unwrap(),
        Got::AlreadyHere
    );

    entry.items[0].checksum = Checksum::Published(sha256(b"something else"));
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(1).get(&entry, folder.path(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::WrongContent { .. }), "{error}");
    assert_nothing(&folder);
}

/// A file whose publisher states no checksum.
fn unpublished(mirrors: &[&Server], known: Option<String>) -> Entry {
    let mut entry = entry(mirrors);
    entry.items[0].file = "net.onnx".to_owned();
    entry.items[0].path = format!("onnx/{FILE}");
    entry.items[0].bytes = 1 << 20;
    entry.items[0].checksum = Checksum::Pinned(known);
    entry
}

#[test]
fn content_without_a_published_checksum_is_pinned() {
    let server = Server::new(
        b"first".to_vec(),
        "\"one\"",
        vec![Manner::CutAfter(2), Manner::Serve],
    );
    let entry = unpublished(&[&server], None);
    let folder = tempfile::tempdir().unwrap();
    let get = |entry: &Entry| fetcher(2).get(entry, folder.path(), &mut ());
    assert_eq!(get(&entry).unwrap(), Got::Fetched);
    assert!(server.requests()[0].starts_with("GET /sets/onnx/rows.gz "));
    assert!(server.requests()[1].contains("ange: bytes=2-"), "it is resumed");
    assert_eq!(get(&entry).unwrap(), Got::AlreadyHere);
    let pin = format!("{}  net.onnx\n", sha256(b"first"));
    assert_eq!(
        fs::read_to_string(folder.path().join("rows/net.onnx.sha256")).unwrap(),
        pin
    );
    let pinned = fetch::pinned(&entry, folder.path()).unwrap();
    assert_eq!(pinned, [("net.onnx".to_owned(), sha256(b"first"))]);

    // Another content is refused, whether it lies there or is fetched again.
    let net = folder.path().join("rows/net.onnx");
    fs::write(&net, "second").unwrap();
    let error = get(&entry).unwrap_err().to_string();
    assert!(
        error.contains("was pinned") && error.contains("net.onnx.sha256"),
        "{error}"
    );
    fs::remove_file(&net).unwrap();
    let other = Server::new(b"second".to_vec(), "\"two\"", vec![Manner::Serve]);
    let error = get(&unpublished(&[&other], None)).unwrap_err();
    assert!(matches!(error, Error::WrongContent { .. }), "{error}");
    assert!(!net.exists());
    assert_eq!(get(&entry).unwrap(), Got::Fetched);
}

#[test]
fn content_that_is_known_to_be_right_needs_no_pin() {
    let server = Server::new(b"first".to_vec(), "\"one\"", vec![Manner::Serve]);
    let entry = unpublished(&[&server], Some(sha256(b"first")));
    let folder = tempfile::tempdir().unwrap();
    for expected in [Got::Fetched, Got::AlreadyHere] {
        assert_eq!(fetcher(1).get(&entry, folder.path(), &mut ()).unwrap(), expected);
    }
    assert!(fetch::pinned(&entry, folder.path()).unwrap().is_empty());
    assert_eq!(files(folder.path()), [Path::new("rows").join("net.onnx")]);
}

#[test]
fn what_is_too_long_is_refused_even_if_nothing_is_known_of_it() {
    let server = Server::new(vec![7; 2 << 20], "\"one\"", vec![Manner::Serve]);
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(1).get(&unpublished(&[&server], None), folder.path(), &mut ());
    assert!(matches!(error.unwrap_err(), Error::TooLong { .. }));
    assert_nothing(&folder);
}

#[test]
fn a_folder_or_a_file_here_is_a_mirror_too() {
    let here = tempfile::tempdir().unwrap();
    let source = here.path().join(FILE);
    fs::write(&source, gzip(&content())).unwrap();
    for mirror in [here.path(), &source] {
        let mut entry = entry(&[]);
        entry.mirrors = vec![mirror.display().to_string()];
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            fetcher(1).get(&entry, folder.path(), &mut ()).unwrap(),
            Got::Fetched
        );
        assert_eq!(files(folder.path()), [Path::new("rows").join(FILE)]);
    }
    fs::write(&source, b"something else").unwrap();
    let mut entry = entry(&[]);
    entry.mirrors = vec![source.display().to_string()];
    let folder = tempfile::tempdir().unwrap();
    let error = fetcher(1).get(&entry, folder.path(), &mut ()).unwrap_err();
    assert!(matches!(error, Error::WrongContent { .. }), "{error}");
    assert_nothing(&folder);
    assert!(source.exists(), "the file that was given stays");
}

/// Keeps the notes of a fetch.
#[derive(Default)]
struct Notes(Vec<String>);

impl Watcher for Notes {
    fn received(&mut self, _file: &str, _done: u64, _of: Option<u64>) {}

    fn note(&mut self, message: &str) {
        self.0.push(message.to_owned());
    }

    fn interrupted(&self) -> bool {
        false
    }
}
