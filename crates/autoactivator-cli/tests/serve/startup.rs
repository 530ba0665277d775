//! A server that cannot start says how to go on, and leaves nothing behind.

use std::net::TcpListener;

use crate::common::Workplace;
use crate::serving::{SMALL, Serving};

#[test]
fn a_server_that_cannot_start_leaves_nothing_behind() {
    let place = Workplace::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    place.write("empty-token", "\n");
    place.write("short-token", "fifteen letters\n");
    place.write("long-token", "a token of the lab\n");
    place.write("wide.csv", "1,2,3,a\n");
    place.write("no.onnx", "no backbone");
    let cases: &[(&[&str], &[&str])] = &[
        (&["--listen", &taken], &["cannot listen on", "with --listen"]),
        (
            &["--listen", "192.0.2.1:80", "--token-file", "long-token"],
            &["cannot listen on 192.0.2.1:80", "with --listen"],
        ),
        (
            &["--listen", "0.0.0.0:0"],
            &["--token-file", "AUTOACTIVATOR_TOKEN"],
        ),
        (&["--token-file", "missing"], &["--token-file missing"]),
        (
            &["--token-file", "empty-token"],
            &[
                "--token-file empty-token",
                "the token has 0 characters, but needs at least 16",
                "`autoactivator token`",
            ],
        ),
        (
            &["--token-file", "short-token"],
            &["--token-file short-token", "the token has 15 characters"],
        ),
        (
            &["--read-token-file", "long-token"],
            &["the read token needs another token beside it", "--token-file"],
        ),
        (
            &["--read-token-file", "long-token", "--token-file", "long-token"],
            &["the read token needs another token beside it"],
        ),
        (&["--held-out", "missing.csv"], &["missing.csv"]),
        (
            &["--held-out", "wide.csv"],
            &["wide.csv", "rows have 3 features, the model was learned with 64"],
        ),
        (&["--backbone", "missing.onnx"], &["missing.onnx"]),
        (&["--backbone", "no.onnx"], &["no.onnx"]),
        (&["--r", "2"], &["parameter `r` is 2"]),
    ];
    for (words, expected) in cases {
        let free = ["--listen", "127.0.0.1:0"];
        let listen = if words.contains(&"--listen") {
            &[][..]
        } else {
            &free
        };
        place.refuse(&[&["serve", "m.aact"], *words, listen].concat(), expected);
    }
    let missing = ["serve", "missing/m.aact", "--listen", "127.0.0.1:0"];
    place.refuse(&missing, &["missing/m.aact", "No such file"]);
    assert!(!place.exists("m.aact"));
}

#[test]
fn an_existing_model_is_not_touched_by_a_server_that_cannot_start() {
    let place = Workplace::new();
    drop(Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat()));
    let before = place.read("m.aact");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    assert_eq!(place.run(&["serve", "m.aact", "--listen", &taken]).code, Some(2));
    assert!(place.read("m.aact") == before);
}
