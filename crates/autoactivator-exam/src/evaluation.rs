//! How good is one model on rows whose class is known? An [`Evaluation`] names the data and has a [`Tally`] of its rows.
//!
//! [`run`](crate::run) examines learners task by task; this is for a model that has learned already, each row judged
//! alone. [`report::evaluation`](crate::report::evaluation) shows it.
//!
//! ```
//! use autoactivator_exam::evaluation::Evaluation;
//! use autoactivator_exam::tally::{Seen, Tally};
//!
//! let mut tally = Tally::default();
//! tally.add(&Seen { class: "emu", answer: "ape", ..Seen::default() });
//! let evaluation = Evaluation {
//!     data: "zoo.csv".to_owned(),
//!     known: vec!["ape".to_owned(), "bee".to_owned()],
//!     tally,
//! };
//! assert_eq!(evaluation.as_json()["never_learned"][0], "emu");
//! ```

use serde_json::{Value, json};

use crate::tally::Tally;

/// What a model made of rows whose class is known.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The data, as the user named it.
    pub data: String,
    /// The classes that the model has learned.
    pub known: Vec<String>,
    /// What became of the rows.
    pub tally: Tally,
}

impl Evaluation {
    /// Classes of the rows that the model has never learned.
    pub fn never_learned(&self) -> Vec<&str> {
        let classes = self.tally.classes().into_iter().map(|of| of.class);
        classes
            .filter(|class| !self.known.iter().any(|known| known == class))
            .collect()
    }

    /// Everything as JSON: the tally, with what it is of.
    pub fn as_json(&self) -> Value {
        let mut all = json!({
            "data": self.data,
            "protocol": "instance",
            "never_learned": self.never_learned(),
        });
        if let (Value::Object(all), Value::Object(tally)) = (&mut all, self.tally.as_json()) {
            all.extend(tally);
        }
        all
    }
}
