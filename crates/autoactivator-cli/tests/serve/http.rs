//! A client as small as can be: one request a connection, or bytes by hand.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The kind of the error.
    pub fn kind(&self) -> String {
        self.json()["error"]["kind"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found = fields.filter(|(field, _)| field.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim())
    }
}

/// Connects, with patience for answers of a busy machine.
pub fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}

/// Sends a request whole, with these lines in its head.
pub fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    lines: &[&str],
    body: &[u8],
) -> std::io::Result<Reply> {
    let mut stream = connect(address)?;
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !lines
        .iter()
        .any(|line| line.to_ascii_lowercase().starts_with("host:"))
    {
        head += &format!("Host: {address}\r\n");
    }
    for line in lines {
        head += &format!("{line}\r\n");
    }
    stream.write_all(head.as_bytes())?;
    stream.write_all(b"\r\n")?;
    stream.write_all(body)?;
    receive(&mut stream)
}

/// Reads a reply up to its end.
pub fn receive(stream: &mut TcpStream) -> std::io::Result<Reply> {
    let mut bytes = Vec::new();
    let (mut chunk, mut whole) = ([0; 65536], None);
    while whole.is_none_or(|n| bytes.len() < n) {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..n]);
        if whole.is_none() {
            whole = length(&bytes);
        }
    }
    let cut_off = || std::io::Error::other("the reply is cut off");
    let end = end_of_head(&bytes).ok_or_else(cut_off)?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    if whole.is_some_and(|n| bytes.len() < n) {
        return Err(cut_off());
    }
    Ok(Reply {
        status: status.ok_or_else(cut_off)?,
        head,
        body: bytes.split_off(end + 4),
    })
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n")
}

/// Bytes of the whole reply, once its head is there. Events have no end: of them, the head is enough.
fn length(bytes: &[u8]) -> Option<usize> {
    let end = end_of_head(bytes)?;
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    if head.contains("text/event-stream") {
        return Some(end + 4);
    }
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))?;
    Some(end + 4 + line.trim().parse::<usize>().ok()?)
}

/// A form of these fields, and the line that tells its boundary.
pub fn form(fields: &[(&str, &[u8])]) -> (&'static str, Vec<u8>) {
    let mut body = Vec::new();
    for (name, content) in fields {
        body.extend(format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").bytes());
        body.extend_from_slice(content);
        body.extend(b"\r\n");
    }
    body.extend(b"--edge--\r\n");
    ("Content-Type: multipart/form-data; boundary=edge", body)
}
