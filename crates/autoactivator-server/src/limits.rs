//! How much a request may ask for: every bound in one place, each with the option that changes it.

use std::time::Duration;

/// The most that a request may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Rows or images per request.
    pub rows: usize,
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Bytes of a body that holds model files.
    pub model_bytes: usize,
    /// Bytes of the answers to one request for predictions.
    pub answer_bytes: usize,
    /// Bytes of an image file.
    pub image_bytes: usize,
    /// Pixels of an image.
    pub image_pixels: usize,
    /// Characters of a class name.
    pub class_name: usize,
    /// Classes that a model may know.
    pub classes: usize,
    /// Rows that are kept because they were answered "unknown"; 0 keeps none.
    pub unknown_rows: usize,
    /// Bytes of the file that they are kept in.
    pub unknown_bytes: usize,
    /// Changes that may wait in the writer's queue.
    pub queue: usize,
    /// Simultaneous connections.
    pub connections: usize,
    /// How long a request may take to arrive, how long to be answered, and how long a client may take to read on.
    pub time: Duration,
}

/// How long a connection may take to send the head of a request, and how long an idle one is kept.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(15);

impl Default for Limits {
    fn default() -> Self {
        Self {
            rows: 10_000,
            body_bytes: 32 << 20,
            model_bytes: 256 << 20,
            answer_bytes: 64 << 20,
            image_bytes: 16 << 20,
            image_pixels: 40_000_000,
            class_name: 100,
            classes: 10_000,
            unknown_rows: 0,
            unknown_bytes: 64 << 20,
            queue: 64,
            connections: 16_000,
            time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// Listeners to changes of the model. Each holds a connection, and most connections are for questions.
    pub(crate) fn listeners(&self) -> usize {
        (self.connections / 16).max(2)
    }

    /// Bytes of all questions that are being read or worked on at the same time.
    pub(crate) fn all_questions(&self) -> usize {
        8 * self.body_bytes
    }

    /// Bytes of all changes that are being read or prepared at the same time: one client may send a model and a lesson.
    pub(crate) fn all_changes(&self) -> usize {
        2 * (self.model_bytes + self.body_bytes)
    }

    /// Bytes of all answers that clients have not read yet.
    pub(crate) fn all_answers(&self) -> usize {
        4 * self.answer_bytes
    }

    /// Bytes that a decoded image may occupy.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        // At most four channels of two bytes each.
        8 * self.image_pixels as u64
    }
}
