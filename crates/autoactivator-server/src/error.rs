//! What keeps a server from starting or ends it.

use std::net::SocketAddr;

/// A server that cannot start, or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the method.
    #[error(transparent)]
    Method(#[from] autoactivator::Error),

    /// An error of a source of rows.
    #[error(transparent)]
    Features(#[from] autoactivator_data::Error),

    /// Others could change the model.
    #[error(
        "listening on {address} lets other machines in: give a token that they need to change the model, with \
         --token-file or the variable AUTOACTIVATOR_TOKEN, or listen on 127.0.0.1"
    )]
    NoToken {
        /// Where it was to listen.
        address: SocketAddr,
    },

    /// An address that cannot be listened on.
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },

    /// The system did not give threads.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}
