//! The evaluation of one model, as text and as a page.
//!
//! ```
//! use autoactivator_exam::evaluation::Evaluation;
//! use autoactivator_exam::report::evaluation;
//! use autoactivator_exam::tally::{Seen, Tally};
//!
//! let mut tally = Tally::default();
//! tally.add(&Seen { class: "cat", answer: "dog", ..Seen::default() });
//! let known = ["cat", "dog"].map(str::to_owned).to_vec();
//! let zoo = Evaluation { data: "zoo.csv".to_owned(), known, tally };
//! assert!(evaluation::text(&zoo).starts_with("zoo.csv, protocol instance: 0 of 1 row right (0.00 %)"));
//! assert!(evaluation::html(&zoo, &Default::default()).contains("0.0 % of 1 row are right."));
//! ```

use autoactivator::{counted, noun_for};

use super::answers;
use super::exhibit::Exhibits;
use super::headline;
use super::page::{escape, grouped, header, named, note, page};
use super::table::aligned;
use crate::evaluation::Evaluation;

/// Number of classes shown in the table: those with the lowest accuracy.
const SHOWN: usize = 10;

/// The classes as an aligned table, below a line that says how many rows are right.
pub fn text(evaluation: &Evaluation) -> String {
    let tally = &evaluation.tally;
    let mut text = format!(
        "{}, protocol instance: {} of {} right ({:.2} %)\n",
        evaluation.data,
        tally.n_right(),
        counted(tally.n_rows(), "row"),
        tally.accuracy()
    );
    let strange = evaluation.never_learned();
    if !strange.is_empty() {
        text += &format!("never learned: {}\n", strange.join(", "));
    }
    let mut classes = tally.classes();
    classes.sort_by(|a, b| a.accuracy().total_cmp(&b.accuracy()));
    let heading = match classes.len() {
        n if n > SHOWN => "the hardest classes",
        _ => "class",
    };
    let mut rows = vec![
        [heading, "rows", "right %", "mostly taken for"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(classes.iter().take(SHOWN).map(|of| {
        let taken_for = of.taken_for().map_or("-", |(answer, _)| answer);
        vec![
            of.class.to_owned(),
            of.rows.to_string(),
            format!("{:.2}", of.accuracy()),
            taken_for.to_owned(),
        ]
    }));
    format!("{text}\n{}", aligned(&rows, &[0, 3]))
}

/// The evaluation as one HTML page; `exhibits` shows the rows of its mistakes.
pub fn html(evaluation: &Evaluation, exhibits: &Exhibits) -> String {
    let (tally, data) = (&evaluation.tally, named(&evaluation.data));
    let facts = [(tally.n_rows(), "row"), (tally.classes().len(), "class")];
    let facts = facts.map(|(n, what)| format!("<b>{}</b> {}", grouped(n as f64), noun_for(n, what)));
    let strange = evaluation.never_learned();
    let strange = match &strange[..] {
        [] => String::new(),
        strange => note(&format!("<b>Never learned:</b> {}", escape(&strange.join(", ")))),
    };
    let header = header(
        "Evaluation, each row judged alone",
        &data,
        &headline::of_evaluation(evaluation),
        &facts,
    );
    page(
        &data,
        &[header, strange, answers::sections(tally, "", exhibits)].concat(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{Seen, Tally};

    fn evaluation() -> Evaluation {
        let mut tally = Tally::default();
        let rows = [
            ("蝴蝶", "蝴蝶"),
            ("a very long name of a class", "蝴蝶"),
            ("<script>", "<script>"),
        ];
        for (row, (class, answer)) in rows.into_iter().enumerate() {
            tally.add(&Seen {
                row,
                class,
                answer,
                ..Seen::default()
            });
        }
        Evaluation {
            data: "<rows>.csv".into(),
            known: vec!["蝴蝶".into(), "<script>".into()],
            tally,
        }
    }

    #[test]
    fn a_text_by_hand() {
        let expected = "\
<rows>.csv, protocol instance: 2 of 3 rows right (66.67 %)
never learned: a very long name of a class

class                        rows  right %  mostly taken for
a very long name of a class     1     0.00  蝴蝶
<script>                        1   100.00  -
蝴蝶                            1   100.00  -
";
        assert_eq!(text(&evaluation()), expected);
    }

    #[test]
    fn a_page_is_whole_and_escaped() {
        let page = html(&evaluation(), &Exhibits::new());
        assert!(
            page.contains("66.7 % of 3 rows are right.") && page.contains("<b>Never learned:</b> a very")
        );
        for outside in ["<script", "http:", "https:", "href=", "url(", "@import", "<rows>"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }
}
