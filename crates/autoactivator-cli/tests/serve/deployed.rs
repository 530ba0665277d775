//! What is deployed around a server: the proxy of docs/how-to/behind-a-proxy.md, and the dashboard that watches it.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Workplace;
use crate::serving::{SMALL, Serving};

const PROXY: &str = include_str!("../../../../docs/how-to/behind-a-proxy.md");
const DASHBOARD: &str = include_str!("../../../../deploy/grafana/dashboards/autoactivator.json");
const WATCH: &str = include_str!("../../../../docs/how-to/watch.md");

/// Names of metrics in a text, without what a histogram adds to them.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names = words.filter(|word| word.starts_with("autoactivator_"));
    names
        .map(|name| {
            let parts = ["_bucket", "_count", "_sum"];
            parts
                .iter()
                .find_map(|part| name.strip_suffix(part))
                .unwrap_or(name)
                .to_owned()
        })
        .collect()
}

/// Everything that the panels ask for.
fn queries(panel: &Value) -> Vec<String> {
    match panel {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value {
                Value::String(query) if name == "expr" => vec![query.clone()],
                value => queries(value),
            })
            .collect(),
        Value::Array(values) => values.iter().flat_map(queries).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    serving.learn(&json!([[0.0, 1.0], [1.0, 0.0]]), &["a", "b"]);
    serving.post("/v1/predict", &json!({ "rows": [[0.0, 1.0]] }));
    let exported = metrics(&String::from_utf8(serving.get("/metrics").body).unwrap());
    let queries = queries(&serde_json::from_str(DASHBOARD).unwrap());
    assert!(queries.len() > 15, "the dashboard has lost its queries");
    for query in queries.iter().map(String::as_str).chain([WATCH]) {
        let asked = metrics(query);
        assert!(!asked.is_empty(), "{query} asks for nothing of ours");
        let missing: Vec<_> = asked.difference(&exported).collect();
        assert!(missing.is_empty(), "{query}: {missing:?} is not exported");
    }
}

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The address of a port that nobody listens on.
fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// nginx with the server block of the document, between a free address and a server.
fn nginx(place: &Workplace, server: &str) -> (Running, String) {
    let (public, folder) = (free(), place.path().display());
    let block = PROXY
        .split("```nginx\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let changed = block
        .replace("listen 443 ssl", &format!("listen {public} ssl"))
        .replace("/etc/ssl/", &format!("{folder}/"))
        .replace("127.0.0.1:7878", server);
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|kind| format!("{kind}_temp_path {folder}/{kind};\n"));
    let all = format!(
        "daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{}{changed}}}\n",
        temporary.concat()
    );
    let file = place.write("nginx.conf", all);
    let started = Command::new("nginx")
        .arg("-c")
        .arg(file)
        .stderr(Stdio::null())
        .spawn();
    (Running(started.unwrap()), public)
}

#[test]
#[cfg(unix)]
fn the_proxy_of_the_document_adds_tls() {
    let place = Workplace::new();
    let certificate = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "1",
        "-subj",
        "/CN=learn.example",
    ];
    let mut openssl = Command::new("openssl");
    openssl
        .args(certificate)
        .args(["-keyout", "learn.example.key", "-out", "learn.example.pem"]);
    let has = |program: &str| {
        succeeds(Command::new(program).arg(if program == "nginx" { "-v" } else { "--version" }))
    };
    if !has("nginx") || !has("curl") || !succeeds(openssl.current_dir(place.path())) {
        println!("skipped: it needs nginx, curl and openssl");
        return;
    }
    let (token, read_token) = ("a token that allows everything", "a token that allows to ask");
    place.write("token", token);
    place.write("read-token", read_token);
    let words = [
        "m.aact",
        "--token-file",
        "token",
        "--read-token-file",
        "read-token",
    ];
    let cors = ["--cors", "https://learn.example"];
    let serving = Serving::start(&place, &[&words, &SMALL[..], &cors].concat());
    let (_proxy, public) = nginx(&place, &serving.address.to_string());

    let port = public.rsplit(':').next().unwrap();
    let ask = |path: &str, more: &[&str]| -> (String, String) {
        let address = format!("https://learn.example:{port}{path}");
        let output = Command::new("curl")
            .args([
                "--silent",
                "--noproxy",
                "*",
                "--max-time",
                "10",
                "--write-out",
                "\n%{http_code}",
            ])
            .args([
                "--cacert",
                "learn.example.pem",
                "--connect-to",
                &format!("learn.example:{port}:{public}"),
            ])
            .args(more)
            .arg(address)
            .current_dir(place.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (body, status) = text.rsplit_once('\n').unwrap();
        (status.to_owned(), body.to_owned())
    };
    let begun = Instant::now();
    while ask("/health", &[]).0 != "200" {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the proxy does not answer"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    // Through the proxy, nobody is on this machine: not without a token, not with the wrong one.
    assert_eq!(ask("/v1/classes", &[]).0, "401");
    let reads = format!("Authorization: Bearer {read_token}");
    assert_eq!(ask("/v1/classes", &["-H", &reads]).0, "200");
    // The page teaches from the address under which the browser sees it, and from no other.
    let writes = format!("Authorization: Bearer {token}");
    let lesson = r#"{"rows": [[0, 1], [1, 0]], "classes": ["a", "b"]}"#;
    let teach = |origin: &str| {
        let origin = format!("Origin: {origin}");
        let json = "Content-Type: application/json";
        ask(
            "/v1/learn",
            &["-H", &writes, "-H", &origin, "-H", json, "-d", lesson],
        )
    };
    assert_eq!(teach("https://evil.example").0, "403");
    let (status, answer) = teach("https://learn.example");
    assert_eq!(status, "200", "{answer}");
    // The first event is not held back until there are more.
    let (_, events) = ask("/v1/events", &["-H", &reads, "--no-buffer", "--max-time", "2"]);
    assert!(events.contains("event: edition"), "{events}");
}

/// The image runs the program with words that it takes, and asks a route that is there.
#[test]
fn the_image_starts_a_server() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dockerfile = fs::read_to_string(root.join("Dockerfile")).unwrap();
    let entry = dockerfile
        .lines()
        .find_map(|line| line.strip_prefix("ENTRYPOINT "))
        .unwrap();
    let words: Vec<String> = serde_json::from_str(entry).unwrap();
    assert_eq!(words[..2], ["autoactivator", "serve"]);
    let place = Workplace::new();
    place.write("token", "a token that allows everything");
    // As given, but on a free port and in this folder.
    let mut command = place.command(&["serve", "model.aact", "--listen", "0.0.0.0:0", "--quiet"]);
    assert_eq!(words[2..], ["/data/model.aact", "--listen", "0.0.0.0:7878"]);
    let serving = Serving::spawn(command.env("AUTOACTIVATOR_TOKEN", "a token that allows everything"));
    let asked = dockerfile.split("127.0.0.1:7878").nth(2).unwrap();
    let path = asked.split('"').next().unwrap();
    assert_eq!(path, "/ready");
    let here = std::net::SocketAddr::from(([127, 0, 0, 1], serving.address.port()));
    assert_eq!(
        crate::http::send(here, "GET", path, &[], b"").unwrap().status,
        200
    );
}
