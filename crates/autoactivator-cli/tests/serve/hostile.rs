//! What clients and surroundings that mean no good may cost: the server goes on answering everybody else.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::{self, connect, form};
use crate::serving::{JSON, SMALL, Serving};

/// A number of `/metrics`.
fn metric(address: SocketAddr, name: &str) -> usize {
    let metrics = http::send(address, "GET", "/metrics", &[], b"").unwrap();
    let text = String::from_utf8(metrics.body).unwrap();
    let name = format!("autoactivator_{name} ");
    let count = text.lines().find_map(|line| line.strip_prefix(&name));
    count.unwrap().parse().unwrap()
}

/// Waits until something is so, for as long as a busy machine may need.
#[track_caller]
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(
            began.elapsed() < Duration::from_secs(50),
            "{what} never came true"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_log_that_nobody_reads_stops_no_answer() {
    let place = Workplace::new();
    let words = [&["serve", "m.aact"], &SMALL[..], &["--listen", "127.0.0.1:0"]].concat();
    let mut process = place.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut unread = BufReader::new(process.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        unread.read_line(&mut line).unwrap();
    }
    let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap();
    let address = address.parse().unwrap();
    let dropped = || metric(address, "log_lines_dropped_total");
    // The pipe takes some thousands of lines, and so do those that wait.
    let asked = (0..40_000).take_while(|n| {
        http::send(address, "GET", "/health", &[], b"").unwrap();
        n % 500 != 0 || dropped() == 0
    });
    let asked = asked.count();
    assert!(dropped() > 0, "no line was dropped after {asked} requests");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A server that knows so many classes, two rows of two features of each.
fn with_classes(place: &Workplace, n: u16, words: &[&str]) -> Serving {
    let serving = Serving::start(place, &[&["m.aact", "--quiet"], &SMALL[..], words].concat());
    let names: Vec<String> = (0..2 * n).map(|i| format!("class {}", i / 2)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = (0..2 * n).map(|i| [f64::from(i).sin(), f64::from(i).cos()]);
    serving.learn(&json!(rows.collect::<Vec<_>>()), &names);
    serving
}

/// A question about many rows.
fn question(rows: u16, options: &Value) -> Value {
    let rows = (0..rows).map(|i| [f64::from(i).cos(), f64::from(i) / 7.0]);
    let mut question = json!({ "rows": rows.collect::<Vec<_>>() });
    question
        .as_object_mut()
        .unwrap()
        .extend(options.as_object().unwrap().clone());
    question
}

#[test]
fn an_answer_that_would_be_too_large_is_refused_before_it_is_computed() {
    let place = Workplace::new();
    let serving = with_classes(&place, 100, &["--max-answer", "5"]);
    for options in [json!({ "proba": true }), json!({ "top": 100 })] {
        let refused = serving.post("/v1/predict", &question(10_000, &options));
        assert_eq!((refused.status, refused.kind()), (413, "TooLarge".to_owned()));
        let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(
            message.contains("more than the limit of 5 MB: send fewer rows"),
            "{message}"
        );
    }
    for options in [json!({}), json!({ "top": 3 })] {
        let reply = serving.post("/v1/predict", &question(10_000, &options));
        assert_eq!(reply.status, 200, "{options}");
        let answer = reply.json();
        let answers = answer["answers"].as_array().unwrap();
        assert!((0..10_000).all(|row| answers[row]["row"] == json!(row)));
    }
    let some = serving.post("/v1/predict", &question(100, &json!({ "proba": true })));
    assert_eq!(
        some.json()["answers"][99]["probabilities"]
            .as_object()
            .unwrap()
            .len(),
        100
    );
}

/// Sends a request, and does not read the answer.
fn ask(serving: &Serving, path: &str, lines: &[&str], body: &[u8]) -> TcpStream {
    let mut stream = connect(serving.address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{}\r\n\r\n",
        serving.address,
        body.len(),
        lines.join("\r\n")
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

#[test]
fn who_asks_and_does_not_read_is_let_go() {
    let place = Workplace::new();
    let serving = with_classes(&place, 100, &["--time-limit", "3"]);
    let large = question(10_000, &json!({ "proba": true })).to_string();
    let unread = ask(&serving, "/v1/predict", &[JSON], large.as_bytes());
    wait_until("that the question is answered", || {
        metric(serving.address, "unread_bytes") > 1 << 20
    });
    wait_until("that nobody else is connected", || {
        metric(serving.address, "connections") == 1
    });
    assert_eq!(metric(serving.address, "unread_bytes"), 0);
    drop(unread);
}

#[test]
fn answers_that_nobody_reads_have_a_bound() {
    let place = Workplace::new();
    let serving = with_classes(&place, 100, &["--max-answer", "10"]);
    let large = question(2_000, &json!({ "proba": true }));
    let asked = large.to_string();
    let unread: Vec<TcpStream> = (0..8)
        .map(|_| ask(&serving, "/v1/predict", &[JSON], asked.as_bytes()))
        .collect();
    wait_until("that the answers are too many", || {
        serving.post("/v1/predict", &large).status == 429
    });
    assert!(metric(serving.address, "unread_bytes") <= 20 << 20);
    let small = serving.post("/v1/predict", &question(1, &json!({})));
    assert_eq!(small.status, 200);
    drop(unread);
    wait_until("that there is room again", || {
        serving.post("/v1/predict", &large).status == 200
    });
}

/// A picture that takes a while to decode and few bytes to send.
fn large_picture() -> Vec<u8> {
    let mut file = Vec::new();
    let picture = image::RgbImage::from_pixel(5000, 5000, image::Rgb([200, 10, 30]));
    let format = image::ImageFormat::Png;
    picture
        .write_to(&mut std::io::Cursor::new(&mut file), format)
        .unwrap();
    file
}

#[test]
fn work_of_clients_that_have_gone_is_given_up() {
    let place = Workplace::new();
    let words = [
        "digits.aact",
        "--quiet",
        "--time-limit",
        "600",
        "--max-body",
        "100",
    ];
    let serving = Serving::start(&place, &words);
    let picture = large_picture();
    // Minutes of work.
    let (kind, many) = form(&vec![("image", &picture[..]); 250]);
    assert!(many.len() < 100 << 20, "{} bytes", many.len());
    let gone: Vec<TcpStream> = (0..4)
        .map(|_| ask(&serving, "/v1/predict", &[kind], &many))
        .collect();
    wait_until("that somebody works", || metric(serving.address, "working") > 0);
    drop(gone);
    wait_until("that nobody works", || metric(serving.address, "working") == 0);
    let (kind, one) = form(&[("image", &picture)]);
    assert_eq!(serving.send("POST", "/v1/predict", &[kind], &one).status, 200);
}

/// Begins to send a body, without saying how long it will be, and stalls.
fn stall(serving: &Serving, path: &str, begun: &[u8]) -> TcpStream {
    let mut stream = connect(serving.address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        serving.address,
        begun.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server may have refused it by now.
    let _ = stream.write_all(&[begun, b"\r\n"].concat());
    stream
}

#[test]
fn bodies_that_stall_lock_nobody_out() {
    let place = Workplace::new();
    let serving = with_classes(&place, 2, &[]);
    let paths = ["/v1/predict", "/v1/explain", "/v1/learn", "/v1/unlearn"];
    let _stalled: Vec<TcpStream> = (0..100)
        .map(|n| stall(&serving, paths[n % 4], b"{\"rows\": [["))
        .collect();
    wait_until("that they are all connected", || {
        metric(serving.address, "in_flight") > 100
    });
    let asked = serving.post("/v1/predict", &question(10, &json!({})));
    assert_eq!(asked.status, 200, "{asked:?}");
    serving.learn(&json!([[0.5, 0.5]]), &["class 0"]);
}

#[test]
fn when_there_is_no_room_who_stalls_or_rests_makes_room() {
    let place = Workplace::new();
    let words = [&["m.aact", "--quiet"], &SMALL[..], &["--max-connections", "20"]].concat();
    let serving = Serving::start(&place, &words);
    let stalled = || stall(&serving, "/v1/predict", b"{\"rows\": [[");
    let rests = || {
        let mut stream = connect(serving.address).unwrap();
        let head = format!("GET /health HTTP/1.1\r\nHost: {}\r\n\r\n", serving.address);
        stream.write_all(head.as_bytes()).unwrap();
        http::receive(&mut stream).unwrap();
        stream
    };
    let mut open = Vec::new();
    for _ in 0..30 {
        open.extend([stalled(), rests()]);
        assert_eq!(serving.get("/health").status, 200);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_read_takes_no_more_than_a_few_times_its_bytes() {
    use crate::process::Held;

    const BYTES: usize = 16 << 20;
    let list =
        |start: &str, entry: &str, end: &str| format!("{start}{}{end}", entry.repeat(BYTES / entry.len()));
    let (tasks, config) = (r#"{"label_config": "", "tasks": ["#, r#"{"label_config": ""#);
    for (path, body) in [
        ("/v1/predict", list(r#"{"texts": ["#, r#""a","#, r#""a"]}"#)),
        (
            "/v1/learn",
            list(r#"{"rows": [[1]], "classes": ["#, r#""a","#, r#""a"]}"#),
        ),
        (
            "/v1/explain",
            list(r#"{"rows": [[1]], "features": ["#, r#""a","#, r#""a"]}"#),
        ),
        (
            "/label-studio/predict",
            list(tasks, r#"{"data":{"":0}},"#, "{}]}"),
        ),
        (
            "/label-studio/predict",
            list(tasks, r#"{"data":{"":[[]]}},"#, "{}]}"),
        ),
        ("/label-studio/predict", list(config, "<a", r#"", "tasks": []}"#)),
        (
            "/label-studio/setup",
            list(r#"{"schema": ""#, "<Choices name='a' toName='b'/>", r#""}"#),
        ),
        (
            "/v2/models/m/infer",
            list(r#"{"inputs": ["#, r#"{"datatype":"","shape":[]},"#, "{}]}"),
        ),
        (
            "/v2/models/m/infer",
            list(r#"{"inputs": [], "outputs": ["#, r#"{"name":"class"},"#, "{}]}"),
        ),
    ] {
        // Each has a server of its own: what an allocator keeps of one request would count for the next.
        let place = Workplace::new();
        let serving = with_classes(&place, 2, &[]);
        let before = Held::by(&serving, &place).peak;
        let refused = serving.send("POST", path, &[JSON], body.as_bytes());
        let (most, peak) = (6.0 * (BYTES >> 20) as f64, Held::by(&serving, &place).peak);
        assert!((400..500).contains(&refused.status), "{path}: {refused:?}");
        assert!(peak - before < most, "{}: {before} to {peak} MB", &body[..60]);
    }
}

#[test]
fn a_flood_of_questions_keeps_no_change_from_being_made() {
    let place = Workplace::new();
    let serving = with_classes(&place, 2, &["--max-body", "1"]);
    let most = [&b"{\"rows\": [["[..], &[b' '; 1_000_000]].concat();
    let _flood: Vec<TcpStream> = (1..=4)
        .map(|n| {
            let stalled = stall(&serving, "/v1/predict", &most);
            wait_until("that it has arrived", || {
                metric(serving.address, "question_bytes") >= n * 1_000_000
            });
            stalled
        })
        .collect();
    let rows = question(10_000, &json!({}))["rows"].clone();
    let asked = serving.post("/v1/predict", &json!({ "rows": rows }));
    assert_eq!((asked.status, asked.kind()), (429, "Busy".to_owned()));
    serving.learn(&rows, &vec!["class 0"; 10_000]);
    assert_eq!(serving.get("/v1/download/memory").status, 200);
}

#[test]
fn small_questions_do_not_wait_for_long_ones() {
    let place = Workplace::new();
    let serving = with_classes(&place, 400, &[]);
    let long = question(10_000, &json!({ "top": 3 }));
    let small = question(1, &json!({ "top": 3 }));
    thread::scope(|scope| {
        let ask_long = || assert_eq!(serving.post("/v1/predict", &long).status, 200);
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask_long)).collect();
        let mut answered = 0;
        while !asking.iter().all(thread::ScopedJoinHandle::is_finished) {
            assert_eq!(serving.post("/v1/predict", &small).status, 200);
            answered += 1;
        }
        println!("{answered} small questions were answered meanwhile");
        assert!(answered > 10, "{answered} small questions");
    });
}
