//! How is a count put into words? [`counted`] finds the right form of the noun.

use std::fmt::Display;

/// A number and its noun: `1 class`, `2 classes`.
///
/// ```
/// use autoactivator::counted;
///
/// assert_eq!(counted(1, "row"), "1 row");
/// assert_eq!(counted(0, "test row"), "0 test rows");
/// assert_eq!(counted(3, "class"), "3 classes");
/// ```
pub fn counted(n: impl Display, noun: &str) -> String {
    format!("{n} {}", noun_for(&n, noun))
}

/// The form of a noun that goes with a number.
pub fn noun_for(n: impl Display, noun: &str) -> String {
    if n.to_string() == "1" {
        noun.to_owned()
    } else if noun.ends_with('s') {
        format!("{noun}es")
    } else {
        format!("{noun}s")
    }
}
