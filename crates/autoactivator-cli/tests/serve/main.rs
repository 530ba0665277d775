//! `autoactivator serve` over real sockets: what it answers, what survives, whom it keeps out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may fail loudly.

mod access;
mod attack;
#[path = "../common/mod.rs"]
mod common;
mod contract;
mod demo;
mod deployed;
mod discover;
mod documents;
mod durable;
mod hostile;
mod http;
mod listening;
mod orders;
mod peak;
#[path = "../photos/mod.rs"]
mod photos;
mod process;
mod refused;
mod safe;
mod serving;
mod soak;
mod startup;
mod texts;
mod unknown;
mod versions;
#[path = "../words/mod.rs"]
mod words;
