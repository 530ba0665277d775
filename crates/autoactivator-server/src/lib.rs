//! The HTTP face: one model that learns and predicts at the same time, and a page to teach it.
//!
//! A request goes through `guard` (is it allowed?), `routes` (what is asked?) and [`body`] (bytes to rows).
//! What only reads is then answered from the current [`Edition`], which never changes; what changes the model
//! is queued for the `writer`, which publishes the next edition once it is on disk. [`Server`] puts it all together.

mod answers;
mod app;
mod assets;
mod attempts;
pub mod body;
mod budget;
mod change;
mod client;
mod describe;
mod digest;
mod disk;
mod drift;
mod edition;
mod error;
mod events;
mod gauge;
mod guard;
mod held_out;
pub mod inference;
mod journal;
mod key;
pub mod label_studio;
mod limits;
mod listen;
mod log;
mod metrics;
mod multipart;
mod openapi;
mod pieces;
mod problem;
mod room;
mod routes;
mod server;
mod slow;
pub mod starter;
mod threads;
mod tokens;
mod turns;
mod unknown;
mod unread;
mod waiting;
mod wanted;
mod writer;

pub use edition::Edition;
pub use error::Error;
pub use held_out::HeldOut;
pub use limits::Limits;
pub use problem::Problem;
pub use server::{Options, Server};
pub use tokens::Token;
