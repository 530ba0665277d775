//! A body in pieces: written without one large allocation, and freed piece by piece as the client reads.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// Bytes of a piece, more or less.
const PIECE: usize = 256 << 10;

/// A body that is being written, or sent.
#[derive(Default)]
pub(crate) struct Pieces {
    done: VecDeque<Bytes>,
    last: Vec<u8>,
    waiting: usize,
}

impl Pieces {
    /// Bytes that are still to be sent.
    pub(crate) fn len(&self) -> usize {
        self.waiting + self.last.len()
    }

    /// Appends text.
    pub(crate) fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// Appends bytes.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) {
        self.last.extend_from_slice(bytes);
        if self.last.len() >= PIECE {
            self.close();
        }
    }

    /// Appends another body, without copying it.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.close();
        self.waiting += other.waiting;
        self.done.append(&mut other.done);
        self.last = other.last;
    }

    fn close(&mut self) {
        let piece = std::mem::take(&mut self.last);
        self.waiting += piece.len();
        self.done.push_back(Bytes::from(piece));
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.done.is_empty() && !this.last.is_empty() {
            this.close();
        }
        let piece = this.done.pop_front();
        this.waiting -= piece.as_ref().map_or(0, Bytes::len);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.len() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_sent_and_its_length_is_known() {
        let (mut pieces, mut written) = (Pieces::default(), String::new());
        for n in 0..100_000 {
            pieces.write(&n.to_string());
            written += &n.to_string();
        }
        let mut more = Pieces::default();
        more.write_bytes(b"and more");
        pieces.append(more);
        written += "and more";
        assert_eq!(pieces.size_hint().exact(), Some(written.len() as u64));
        let (mut sent, mut frames) = (Vec::new(), 0);
        let mut context = Context::from_waker(std::task::Waker::noop());
        while let Poll::Ready(Some(Ok(frame))) = Pin::new(&mut pieces).poll_frame(&mut context) {
            sent.extend(frame.into_data().unwrap());
            frames += 1;
        }
        assert!(sent == written.as_bytes() && frames > 1 && pieces.is_end_stream());
    }
}
