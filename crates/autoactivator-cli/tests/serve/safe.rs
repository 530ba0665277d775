//! Whom the server keeps out, and what does not bring it down.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::{self, connect, form, receive};
use crate::serving::{JSON, SMALL, Serving};

fn small(place: &Workplace, words: &[&str]) -> Serving {
    Serving::start(place, &[&["m.aact"], &SMALL[..], words].concat())
}

fn lesson() -> Value {
    json!({ "rows": [[0, 0], [1, 1]], "classes": ["low", "high"] })
}

#[test]
fn others_are_let_in_only_with_a_token() {
    let place = Workplace::new();
    let words = [&["serve", "m.aact"], &SMALL[..], &["--listen", "0.0.0.0:0"]].concat();
    let said = place.run(&words);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--token-file"), "{}", said.stderr);

    let mut command = place.command(&words);
    let mut serving = Serving::spawn(command.env("AUTOACTIVATOR_TOKEN", "long and very random"));
    serving.address.set_ip([127, 0, 0, 1].into());
    let body = lesson().to_string();
    let learn =
        |lines: &[&str]| serving.send("POST", "/v1/learn", &[&[JSON], lines].concat(), body.as_bytes());
    let none = learn(&[]);
    assert_eq!((none.status, none.kind()), (401, "Unauthorized".to_owned()));
    assert_eq!(none.header("www-authenticate"), Some("Bearer"));
    assert_eq!(learn(&["Authorization: Bearer long and very randoM"]).status, 401);
    assert_eq!(serving.send("DELETE", "/v1/classes/low", &[], b"").status, 401);
    assert_eq!(learn(&["Authorization: Bearer long and very random"]).status, 200);
    let ask = |path: &str, lines: &[&str]| serving.send("GET", path, lines, b"");
    for path in ["/v1/model", "/metrics", "/v1/classes", "/v1/download/model"] {
        assert_eq!(ask(path, &[]).status, 401, "{path}");
    }
    let model = ask("/v1/model", &["Authorization: Bearer long and very random"]);
    assert_eq!(model.json()["needs_token"], json!(true));
    assert_eq!(ask("/health", &[]).status, 200);

    place.write("token", "the token from a file\n");
    drop(serving);
    let serving = small(&place, &["--token-file", "token"]);
    let learn = |token| {
        serving
            .send("POST", "/v1/learn", &[JSON, token], body.as_bytes())
            .status
    };
    assert_eq!(
        (
            learn("Authorization: Bearer the token from a file"),
            learn("X: y")
        ),
        (200, 401)
    );
}

#[test]
fn pages_of_other_sites_are_kept_out_unless_asked() {
    let place = Workplace::new();
    let serving = small(&place, &["--cors", "https://lab.example"]);
    let body = lesson().to_string();
    let learn = |line: &str| serving.send("POST", "/v1/learn", &[JSON, line], body.as_bytes());
    for line in [
        "Origin: https://evil.example",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Host: evil.example",
    ] {
        let refused = learn(line);
        assert_eq!(
            (refused.status, refused.kind()),
            (403, "Forbidden".to_owned()),
            "{line}"
        );
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
    assert_eq!(
        serving
            .send("GET", "/v1/model", &["Host: evil.example"], b"")
            .status,
        403
    );
    assert_eq!(learn(&format!("Origin: http://{}", serving.address)).status, 200);
    let listed = learn("Origin: https://lab.example");
    assert_eq!(
        (listed.status, listed.header("access-control-allow-origin")),
        (200, Some("https://lab.example"))
    );
    let asks = [
        "Origin: https://lab.example",
        "Access-Control-Request-Method: POST",
    ];
    let preflight = serving.send("OPTIONS", "/v1/learn", &asks, b"");
    assert_eq!(preflight.status, 204);
    assert!(
        preflight
            .header("access-control-allow-headers")
            .unwrap()
            .contains("authorization")
    );
    assert_eq!(
        serving
            .send("OPTIONS", "/v1/learn", &["Origin: https://evil.example"], b"")
            .status,
        405
    );
    assert_eq!(place.run(&["serve", "--cors", "*"]).code, Some(2));
}

#[test]
fn a_request_names_one_host() {
    let place = Workplace::new();
    let serving = small(&place, &[]);
    let get = |target: &str, lines: &str| {
        let mut stream = connect(serving.address).unwrap();
        let head = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{lines}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        receive(&mut stream).unwrap()
    };
    let ask = |lines: &str| get("/health", lines);
    for lines in ["", "Host: localhost\r\nHost: localhost\r\n"] {
        let refused = ask(lines);
        assert_eq!(
            (refused.status, refused.kind()),
            (400, "BadRequest".to_owned()),
            "{lines}"
        );
    }
    assert_eq!(ask("Host: localhost\r\n").status, 200);
    for (target, status) in [
        ("http://localhost/health", 200),
        ("http://evil.example/health", 400),
    ] {
        assert_eq!(get(target, "Host: localhost\r\n").status, status, "{target}");
    }
}

#[test]
fn a_body_of_a_gigabyte_is_refused_at_the_limit() {
    let place = Workplace::new();
    let serving = small(&place, &["--max-body", "1", "--max-model", "2"]);
    let host = serving.address;
    for path in [
        "/v1/learn",
        "/v1/predict",
        "/v1/unlearn",
        "/v1/explain",
        "/v1/merge",
    ] {
        // By what it says about itself: not a byte of it is read.
        let mut stream = connect(host).unwrap();
        let head =
            format!("POST {path} HTTP/1.1\r\nHost: {host}\r\n{JSON}\r\nContent-Length: 1073741824\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let reply = receive(&mut stream).unwrap();
        assert_eq!(
            (reply.status, reply.kind()),
            (413, "TooLarge".to_owned()),
            "{path}"
        );
    }
    // By reading, when it says nothing: up to the limit and what is under way.
    let mut stream = connect(host).unwrap();
    let head =
        format!("POST /v1/learn HTTP/1.1\r\nHost: {host}\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [&b"10000\r\n"[..], &[b' '; 0x10000], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 1 << 30 && stream.write_all(&chunk).is_ok() {
        sent += 0x10000;
    }
    assert!(sent < 64 << 20, "{sent} bytes were taken");
    assert_eq!(serving.get("/health").status, 200);
    assert_eq!(serving.read("/v1/model")["version"], json!(0));
}

#[test]
fn more_than_the_limits_is_refused() {
    let place = Workplace::new();
    let serving = small(&place, &["--max-rows", "3", "--max-image", "1"]);
    let four = json!({ "rows": [[1], [2], [3], [4]], "classes": ["a", "b", "c", "d"] });
    assert_eq!(serving.post("/v1/learn", &four).kind(), "TooLarge");
    assert_eq!(
        serving
            .post("/v1/predict", &json!({ "rows": four["rows"] }))
            .kind(),
        "TooLarge"
    );
    let long = json!({ "rows": [[1]], "classes": ["é".repeat(101)] });
    assert_eq!(serving.post("/v1/learn", &long).kind(), "TooLarge");
    let fits = json!({ "rows": [[1], [2]], "classes": ["é".repeat(100), "b"] });
    assert_eq!(serving.post("/v1/learn", &fits).status, 200);
    let (kind, body) = form(&[("image", &vec![0; (1 << 20) + 1])]);
    assert_eq!(
        serving.send("POST", "/v1/predict", &[kind], &body).kind(),
        "TooLarge"
    );
    // The head of a PNG that claims 60,000 pixels a side.
    let digits = Serving::start(&place, &["digits.aact"]);
    let mut bomb = b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR".to_vec();
    bomb.extend([0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (kind, body) = form(&[("image", &bomb)]);
    let refused = digits.send("POST", "/v1/predict", &[kind], &body);
    assert_eq!((refused.status, refused.kind()), (422, "BadData".to_owned()));
}

#[test]
fn a_body_that_dawdles_is_given_up() {
    let place = Workplace::new();
    let serving = small(&place, &["--time-limit", "1"]);
    let mut stream = connect(serving.address).unwrap();
    let head = format!(
        "POST /v1/learn HTTP/1.1\r\nHost: {}\r\n{JSON}\r\nContent-Length: 100\r\n\r\n{{",
        serving.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let reply = receive(&mut stream).unwrap();
    assert_eq!((reply.status, reply.kind()), (408, "Timeout".to_owned()));
}

#[test]
fn too_many_changes_are_put_off() {
    let place = Workplace::new();
    let serving = small(&place, &["--max-queue", "1", "--quiet"]);
    serving.post("/v1/learn", &lesson());
    let rows: Vec<[f64; 2]> = (0..2000)
        .map(|i| [f64::from(i).sin(), f64::from(i).cos()])
        .collect();
    let body = json!({ "rows": rows, "classes": vec!["many"; rows.len()] }).to_string();
    let (address, body) = (serving.address, body.as_bytes());
    let learn = move || http::send(address, "POST", "/v1/learn", &[JSON], body).unwrap();
    let replies: Vec<http::Reply> = thread::scope(|scope| {
        let threads: Vec<_> = (0..24).map(|_| scope.spawn(learn)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let learned = replies.iter().filter(|reply| reply.status == 200).count();
    let busy: Vec<&http::Reply> = replies.iter().filter(|reply| reply.status == 429).collect();
    assert_eq!(learned + busy.len(), replies.len());
    assert!(
        learned > 0 && !busy.is_empty(),
        "{learned} learned, {} put off",
        busy.len()
    );
    assert!(
        busy.iter()
            .all(|reply| reply.kind() == "Busy" && reply.header("retry-after").is_some())
    );
    assert_eq!(serving.read("/v1/model")["rows"]["many"], json!(2000 * learned));
}

#[test]
fn no_path_of_a_request_reaches_the_file_system() {
    let place = Workplace::new();
    place.write("secret.txt", "secret");
    let serving = small(&place, &[]);
    serving.post("/v1/learn", &lesson());
    let before = place.files();
    for path in [
        "/assets/../secret.txt",
        "/assets/..%2fsecret.txt",
        "/assets/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/assets//etc/passwd",
        "/../secret.txt",
        "//etc/passwd",
        "/v1/download/../../secret.txt",
        "/v1/download/secret.txt",
        "/assets/index.html%00.js",
    ] {
        let reply = serving.get(path);
        assert!(matches!(reply.status, 400 | 404), "{path}: {reply:?}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("secret\n"));
    }
    for class in ["..%2f..%2fm.aact", "%2e%2e", "%2fetc%2fpasswd"] {
        assert_eq!(
            serving
                .send("DELETE", &format!("/v1/classes/{class}"), &[], b"")
                .status,
            404,
            "{class}"
        );
    }
    // A class may be called anything that can be printed: it is a name, never a path.
    let named = json!({ "rows": [[5, 5]], "classes": ["../../etc/passwd"] });
    assert_eq!(serving.post("/v1/learn", &named).status, 200);
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        place.files().keys().collect::<Vec<_>>()
    );
}

/// Connections that say nothing, as many as wanted and as this process may have.
fn idle(serving: &Serving, wanted: usize) -> Vec<TcpStream> {
    let mut idle = Vec::new();
    while idle.len() < wanted {
        match TcpStream::connect(serving.address) {
            Ok(stream) => idle.push(stream),
            // No more files for this process; leave some for what follows.
            Err(_) => {
                idle.truncate(idle.len().saturating_sub(50));
                break;
            }
        }
    }
    idle
}

#[test]
fn thousands_that_say_nothing_do_not_stop_others() {
    let place = Workplace::new();
    let serving = small(&place, &["--quiet"]);
    serving.post("/v1/learn", &lesson());
    let idle = idle(&serving, 10_000);
    println!("{} idle connections", idle.len());
    assert!(idle.len() > 400);
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(
            serving.post("/v1/predict", &json!({ "rows": [[1, 1]] })).status,
            200
        );
    }
    assert_eq!(serving.post("/v1/learn", &lesson()).status, 200);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn when_there_is_no_room_the_silent_go_first() {
    let place = Workplace::new();
    let serving = small(&place, &["--max-connections", "50"]);
    let mut idle = idle(&serving, 300);
    for _ in 0..20 {
        assert_eq!(serving.get("/health").status, 200);
    }
    idle[0].set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert!(
        matches!(idle[0].read(&mut [0]), Ok(0)) || gone(&idle[0]),
        "the first of them was sent away"
    );
}

fn gone(stream: &TcpStream) -> bool {
    let mut stream = stream;
    matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

#[test]
fn predictions_do_not_wait_for_learning() {
    let place = Workplace::new();
    let serving = Serving::start(
        &place,
        &[
            "m.aact",
            "--empty",
            "--pool",
            "uniform",
            "--pool-nodes",
            "1500",
            "--quiet",
        ],
    );
    let rows: Vec<Vec<f64>> = (0..2000)
        .map(|i| (0..20).map(|j| f64::from(i * j % 17)).collect())
        .collect();
    let classes: Vec<String> = (0..2000).map(|i| (i % 5).to_string()).collect();
    let body = json!({ "rows": rows, "classes": classes });
    let began = Instant::now();
    assert_eq!(serving.post("/v1/learn", &body).status, 200);
    let one_learn = began.elapsed();
    thread::scope(|scope| {
        let learning =
            scope.spawn(|| (0..3).for_each(|_| assert_eq!(serving.post("/v1/learn", &body).status, 200)));
        let (mut slowest, mut asked) = (Duration::ZERO, 0);
        while !learning.is_finished() {
            let began = Instant::now();
            let reply = serving.post("/v1/predict", &json!({ "rows": [rows[asked % 2000]] }));
            assert_eq!(reply.status, 200);
            slowest = slowest.max(began.elapsed());
            asked += 1;
        }
        println!("a learn took {one_learn:?}; the slowest of {asked} predictions meanwhile {slowest:?}");
        assert!(asked > 10, "{asked} predictions during three learns");
    });
}

#[test]
fn requests_are_logged_without_what_they_hold() {
    let place = Workplace::new();
    let words = [&["serve", "m.aact"], &SMALL[..], &["--listen", "127.0.0.1:0"]].concat();
    let log = std::fs::File::create(place.path().join("log")).unwrap();
    let mut process = place.command(&words).stderr(log).spawn().unwrap();
    let text = || String::from_utf8(place.read("log")).unwrap();
    let address = loop {
        if let Some(line) = text().lines().find(|line| line.contains("http://")) {
            break line
                .split("http://")
                .nth(1)
                .unwrap()
                .split(' ')
                .next()
                .unwrap()
                .parse()
                .unwrap();
        }
        thread::sleep(Duration::from_millis(20));
    };
    let body = json!({ "rows": [[0.625, 1], [1, 1]], "classes": ["confidential", "b"] }).to_string();
    let lines = [JSON, "Authorization: Bearer hidden"];
    http::send(address, "POST", "/v1/learn", &lines, body.as_bytes()).unwrap();
    http::send(address, "DELETE", "/v1/classes/confidential", &[], b"").unwrap();
    http::send(address, "GET", "/made-up?q=confidential", &[], b"").unwrap();
    // Lines are written after the answer.
    let began = Instant::now();
    while !text().contains("GET - 404") && began.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(20));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    let text = text();
    for line in [
        "POST /v1/learn 200",
        "DELETE /v1/classes/{class} 200",
        "GET - 404",
    ] {
        assert!(text.lines().any(|l| l.starts_with(line)), "{line} in {text}");
    }
    for secret in ["confidential", "0.625", "hidden"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

/// The client of a lesson that takes too long is told so, and nothing of it is learned later.
#[test]
fn a_lesson_ends_with_its_time() {
    let place = Workplace::new();
    let words = [
        "m.aact",
        "--quiet",
        "--empty",
        "--pool",
        "gaussian",
        "--pool-nodes",
        "4000",
        "--time-limit",
        "1",
    ];
    let serving = Serving::start(&place, &words);
    let rows: Vec<[f64; 2]> = (0..4400)
        .map(|i| [f64::from(i).sin(), f64::from(i).cos()])
        .collect();
    let classes: Vec<&str> = (0..4400).map(|i| ["low", "high"][i % 2]).collect();
    let lesson = json!({ "rows": rows, "classes": classes });
    let late = serving.post("/v1/learn", &lesson);
    if late.status == 200 {
        println!("skipped: this machine is so fast that the lesson is no long one");
        return;
    }
    assert_eq!(late.kind(), "Timeout", "{late:?}");
    let rename = || serving.post("/v1/classes/low/rename", &json!({ "name": "lower" }));
    let mut renamed = rename();
    while renamed.kind() == "Timeout" {
        renamed = rename();
    }
    assert!([404, 409].contains(&renamed.status), "{renamed:?}");
    assert_eq!(serving.read("/v1/model")["version"], json!(0));
}
