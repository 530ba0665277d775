//! Opens the page in the user's browser, through the opener of the system. Where there is none, a line says so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::thread;

/// The program that opens addresses, and its first arguments.
const OPENER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    ("cmd", &["/C", "start", ""])
} else {
    ("xdg-open", &[])
};

/// Opens the page of a server without waiting for the browser.
pub fn open(address: SocketAddr) {
    let url = format!("http://{}/", reachable(address));
    let (program, words) = OPENER;
    let mut opener = Command::new(program);
    opener.args(words).arg(&url);
    opener
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    thread::spawn(move || {
        if !opener.status().is_ok_and(|status| status.success()) {
            say!("note: {program} opened no browser: open {url} yourself");
        }
    });
}

/// The address under which this machine reaches a server, also one that listens on all addresses.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}
