//! What became of the test rows, class by class: a [`Tally`] as a part of a page.
//!
//! `classes` has the accuracy of each class, `matrix` what was taken for what, `calibration` how far probabilities can
//! be believed, and `mistakes` the rows that were answered wrongly with the most confidence.

mod calibration;
mod classes;
mod matrix;
mod mistakes;

use super::exhibit::Exhibits;
use super::page::{escape, grid, section};
use crate::tally::Tally;

/// Everything about the answers of the learner that the page is about.
pub(super) fn sections(tally: &Tally, of: &str, exhibits: &Exhibits) -> String {
    if tally.n_rows() == 0 {
        return String::new();
    }
    let of = match of {
        "" => String::new(),
        of => format!(" <span>{}</span>", escape(of)),
    };
    let figures = [classes::figure(tally), calibration::figure(tally)].concat();
    [
        section(&format!("Class by class{of}"), &grid(&figures)),
        section(&format!("What is taken for what{of}"), &matrix::figures(tally)),
        section(
            &format!("Wrong, and sure of it{of}"),
            &mistakes::cards(tally, exhibits),
        ),
    ]
    .concat()
}

/// The same in short, for a learner that the page is not about; closed until it is asked for.
pub(super) fn closed(tally: &Tally, of: &str) -> String {
    let figures = [
        classes::figure(tally),
        matrix::pairs(tally),
        calibration::figure(tally),
    ]
    .concat();
    format!(
        "<details class=\"card\"><summary>{}: class by class</summary>{}</details>\n",
        escape(of),
        grid(&figures)
    )
}
