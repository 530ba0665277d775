//! Sentences, in the order of data flow: where they are (`folder`, `lines`, and tables with a column of text), which
//! encoder takes them (`place`, `spec`), their tokens (`tokenizer`), and rows (`encoder`, and `stream` for many).
//!
//! ```no_run
//! use std::path::Path;
//!
//! use autoactivator_data::{Encoder, Runtime, TextSpec, text};
//!
//! let files = text::find(Some(Path::new("minilm")), None)?;
//! let encoder = Encoder::open(&files, TextSpec::default(), Runtime::Auto)?;
//! let rows = encoder.of_texts(&["how do I freeze my account?"], &())?;
//! assert_eq!(rows.rows().n_features(), encoder.n_features());
//! # Ok::<(), autoactivator_data::Error>(())
//! ```

mod encoder;
mod folder;
mod groups;
mod lines;
mod place;
mod pooling;
mod source;
mod spec;
mod stream;
#[cfg(feature = "text")]
mod tokenizer;
#[cfg(not(feature = "text"))]
#[path = "no_tokenizer.rs"]
mod tokenizer;

pub use encoder::Encoder;
pub use folder::TextFolder;
pub use lines::TextLines;
pub use place::{EncoderFiles, Lost, find, find_again};
pub use source::TextSource;
pub use spec::TextSpec;
pub use stream::{TextOptions, TextRows};
