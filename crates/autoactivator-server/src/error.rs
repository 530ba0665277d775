//! What keeps a server from starting, or ends it.

use std::net::SocketAddr;

/// A server that cannot start or continue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the method.
    #[error(transparent)]
    Method(#[from] autoactivator::Error),

    /// An error of a source of rows.
    #[error(transparent)]
    Features(#[from] autoactivator_data::Error),

    /// An address that would let other machines change the model without a token.
    #[error(
        "listening on {address} lets other machines in: set the token that they need, \
         with --token-file or the environment variable AUTOACTIVATOR_TOKEN, or listen on 127.0.0.1"
    )]
    NoToken {
        /// Where the server was to listen.
        address: SocketAddr,
    },

    /// A token that could be guessed.
    #[error(
        "the token has {characters} characters, but needs at least {least}: make one with `autoactivator token`"
    )]
    ShortToken {
        /// How many characters it has.
        characters: usize,
        /// How many it needs.
        least: usize,
    },

    /// A token that cannot be sent in a header.
    #[error(
        "the token has characters that are not letters, digits or signs of ASCII: make one with `autoactivator token`"
    )]
    OddToken,

    /// A read token without a token for changes, or the same as that.
    #[error(
        "the read token needs another token beside it, for changes: set that with --token-file or the environment \
         variable AUTOACTIVATOR_TOKEN"
    )]
    ReadTokenAlone,

    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {cause}: choose another address or port with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system reported; part of the message, so not a source of its own.
        cause: std::io::Error,
    },

    /// A file of kept rows that cannot be used.
    #[error("{}: {reason}", path.display())]
    UnknownRows {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it, and what to do.
        reason: &'static str,
    },

    /// The system did not provide threads.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}
