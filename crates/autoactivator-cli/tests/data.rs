//! `autoactivator data` as its users meet it. Where `AUTOACTIVATOR_DATA` names a folder with the real files, they are
//! served on this machine and fetched with their published checksums; elsewhere those tests say that they are skipped.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;

use common::{Workplace, said};
use serde_json::Value;

/// Serves the files of a folder, `damage`d on the way; gives the address.
fn serve(folder: PathBuf, damage: fn(&mut Vec<u8>)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = answer(stream.unwrap(), &folder, damage);
        }
    });
    address
}

fn answer(mut stream: TcpStream, folder: &Path, damage: fn(&mut Vec<u8>)) -> std::io::Result<()> {
    let lines = BufReader::new(stream.try_clone()?).lines();
    let request: Vec<String> = lines
        .map(Result::unwrap)
        .take_while(|line| !line.is_empty())
        .collect();
    let file = request[0].split([' ', '/']).nth(2).unwrap();
    match fs::read(folder.join(file)) {
        Ok(mut content) => {
            damage(&mut content);
            let length = content.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            )?;
            stream.write_all(&content)
        }
        Err(_) => write!(
            stream,
            "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        ),
    }
}

fn real(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("AUTOACTIVATOR_DATA").map(|folder| PathBuf::from(folder).join(name));
    let found = folder.filter(|folder| folder.join("t10k-labels-idx1-ubyte.gz").is_file());
    if found.is_none() {
        eprintln!("skipped: AUTOACTIVATOR_DATA does not name a folder with {name}/");
    }
    found
}

#[test]
fn real_files_are_fetched_and_found_without_any_variable() {
    for name in ["mnist", "fashion-mnist"] {
        let Some(folder) = real(name) else { return };
        let place = Workplace::new();
        let address = serve(folder.clone(), |_| {});
        let get = ["data", "get", name, "--from", &address];
        let fetched = place.succeed(&get);
        let expected = place.path().join("cache/autoactivator/data").join(name);
        assert_eq!(fetched.stdout, format!("{}\n", expected.display()));
        assert!(
            fetched.stderr.contains("fetched, content verified"),
            "{}",
            fetched.stderr
        );
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap();
            let copy = fs::read(expected.join(file.file_name())).unwrap();
            assert!(copy == fs::read(file.path()).unwrap(), "{:?}", file.file_name());
        }
        let again = place.succeed(&get);
        assert_eq!(again.stdout, fetched.stdout);
        assert!(again.stderr.contains("already here"), "{}", again.stderr);

        let listed = place.succeed(&["data", "list"]).stdout;
        assert!(listed.contains(&expected.display().to_string()), "{listed}");
        let exam = ["--learner", "nearest-mean", "--seeds", "1", "--no-report"];
        place.succeed(&[&["run", name], &exam[..]].concat());
    }
}

#[test]
fn a_corrupted_file_is_refused() {
    let Some(folder) = real("mnist") else { return };
    let place = Workplace::new();
    let address = serve(folder, |content| {
        let middle = content.len() / 2;
        content[middle] ^= 1;
    });
    let said = place.run(&["data", "get", "mnist", "--from", &address]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(
        said.stderr.contains("wrong content: expected sha256 ba891046"),
        "{}",
        said.stderr
    );
    assert_eq!(place.files().len(), 0, "nothing unverified is left");
}

#[test]
fn names_that_cannot_be_fetched() {
    let place = Workplace::new();
    let get = |name| ["data", "get", name];
    place.refuse(&get("digits"), &["'digits'", "built in"]);
    place.refuse(
        &get("cifar100-lite0"),
        &["made from images", "mnist, fashion-mnist, cifar100"],
    );
    place.refuse(&get("minst"), &["'minst'", "not known", "fashion-mnist"]);
    place.refuse(&["data", "get", "mnist", "minst"], &["'minst'"]);
}

#[test]
fn a_mirror_that_has_nothing_or_is_none() {
    let place = Workplace::new();
    let address = serve(place.path().to_owned(), |_| {});
    place.refuse(
        &["data", "get", "cifar100", "--from", &address],
        &["/cifar-100-binary.tar.gz: the server answers with status 404"],
    );
    place.refuse(
        &["data", "get", "mnist", "--from", "no address"],
        &["no address/train-images-idx3-ubyte.gz: "],
    );
}

#[test]
fn a_folder_that_cannot_be_written_to() {
    let place = Workplace::new();
    place.write("file", "");
    let get = ["data", "get", "mnist", "--from", "http://127.0.0.1:9"];
    place.refuse(
        &[&get[..], &["--data-dir", "file"]].concat(),
        &["file/mnist.part: ", "--data-dir"],
    );
    // What only the environment names is passed over.
    let address = serve(place.path().to_owned(), |_| {});
    let mut command = place.command(&["data", "get", "mnist", "--from", &address]);
    let passed = said(command.env("AUTOACTIVATOR_DATA", "file"));
    assert!(passed.stderr.contains("status 404"), "{}", passed.stderr);
    assert!(place.path().join("cache/autoactivator/data").is_dir());
}

#[test]
fn the_list() {
    let place = Workplace::new();
    let listed = place.succeed(&["data", "list"]).stdout;
    insta::assert_snapshot!("data-list-of-nothing", listed);

    place.write("here/mnist/train-images-idx3-ubyte.gz", [0; 1000]);
    place.write("here/cifar100-lite0/train_features.npy", [0; 2000]);
    place.write(
        "here/fashion-mnist.part/train-images-idx3-ubyte.gz.part",
        [0; 3000],
    );
    let list = ["data", "list", "--json", "--data-dir", "here"];
    let listed: Value = serde_json::from_str(&place.succeed(&list).stdout).unwrap();
    let of = |name: &str| {
        let mut found = listed.as_array().unwrap().iter();
        found.find(|set| set["name"] == name).unwrap().clone()
    };
    assert_eq!(of("digits")["state"], "built-in");
    assert_eq!(of("digits")["rows"], 1797);
    assert_eq!(of("mnist")["state"], "incomplete");
    assert_eq!(of("fashion-mnist")["state"], "incomplete");
    assert_eq!(of("fashion-mnist")["bytes"], 3000);
    assert_eq!(of("cifar100")["state"], "fetchable");
    assert_eq!(of("cifar100-lite0")["state"], "here");
    assert_eq!(of("cifar100-lite0")["classes"], 100);
    assert_eq!(
        of("cifar100-lite0")["path"],
        Path::new("here").join("cifar100-lite0").display().to_string()
    );
}
