//! ONNX files: a graph under construction, and just enough of the file format to write it.
//!
//! Pools add their own steps to a [`Graph`], see [`Pool::to_onnx`](crate::pool::Pool::to_onnx); the result is
//! a standard file for any ONNX runtime. Operators of the default domain suffice.
//!
//! ```
//! use autoactivator::onnx::{Element, Graph};
//!
//! let mut graph = Graph::default();
//! let x = graph.input("x", 3);
//! let halved = graph.apply_scalar("Mul", &x, 0.5);
//! graph.output("half", &halved, Element::Float, &[3]);
//! let bytes = graph.into_file("halves", &[("made for", "an example")]);
//! assert!(!bytes.is_empty());
//! ```

mod graph;
mod proto;

pub use graph::{Graph, Value};
pub use proto::{Attribute, Element};
