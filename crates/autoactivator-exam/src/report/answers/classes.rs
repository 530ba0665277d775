//! The accuracy of each class: a bar for each, or for the hardest ones beside a picture of all.

use crate::report::page::escape;
use crate::tally::{OfClass, Tally};

/// With at most this many classes, each has a bar of its own, in their order.
const MOST_BARS: usize = 20;

/// Of more classes, this many have a bar: the hardest ones.
const HARDEST: usize = 12;

/// The picture of all classes.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 120.0;

/// Accuracy by class.
pub(super) fn figure(tally: &Tally) -> String {
    let mut classes = tally.classes();
    if classes.len() <= MOST_BARS {
        return card("Accuracy of each class", "", &bars(&classes));
    }
    classes.sort_by(|a, b| a.accuracy().total_cmp(&b.accuracy()));
    let title = format!("Accuracy of {} classes, the hardest first", classes.len());
    card(&title, &all(&classes), &bars(&classes[..HARDEST]))
}

fn card(title: &str, picture: &str, bars: &str) -> String {
    format!(
        "<figure class=\"card\"><figcaption><b>{title}</b></figcaption>{picture}<table class=\"bars\">{bars}</table></figure>\n"
    )
}

fn bars(classes: &[OfClass<'_>]) -> String {
    let bar = |of: &OfClass<'_>| {
        let (class, accuracy) = (escape(of.class), of.accuracy());
        let taken_for = match of.taken_for() {
            Some((answer, rows)) => format!("{rows} taken for {}", escape(answer)),
            None => String::new(),
        };
        format!(
            "<tr><th scope=\"row\">{class}</th><td class=\"bar\"><i style=\"width:{accuracy:.1}%\"></i></td>\
             <td>{accuracy:.1} %</td><td>{} of {}</td><td class=\"what\">{taken_for}</td></tr>\n",
            of.right, of.rows
        )
    };
    classes.iter().map(bar).collect()
}

/// A thin column for each class, with its name where the pointer rests.
fn all(classes: &[OfClass<'_>]) -> String {
    let step = WIDTH / classes.len() as f64;
    let column = |(at, of): (usize, &OfClass<'_>)| {
        let height = of.accuracy() / 100.0 * HEIGHT;
        format!(
            "<rect x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{height:.1}\"><title>{}: {:.1} % of {}</title></rect>",
            at as f64 * step,
            HEIGHT - height,
            step * 0.85,
            escape(of.class),
            of.accuracy(),
            of.rows
        )
    };
    let columns: String = classes.iter().enumerate().map(column).collect();
    format!(
        "<svg class=\"columns\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Accuracy of all classes\">{columns}</svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Seen;

    fn tally(n: usize) -> Tally {
        let mut tally = Tally::default();
        for class in 0..n {
            for row in 0..10 {
                let answer = if row < class % 10 {
                    "<other>"
                } else {
                    &class.to_string()
                };
                let class = &class.to_string();
                tally.add(&Seen {
                    row,
                    class,
                    answer,
                    ..Seen::default()
                });
            }
        }
        tally
    }

    #[test]
    fn a_few_classes_have_a_bar_each_in_their_order() {
        let figure = figure(&tally(10));
        assert_eq!(figure.matches("<tr>").count(), 10);
        assert!(
            figure.contains("width:70.0%\"></i></td><td>70.0 %</td><td>7 of 10</td>"),
            "{figure}"
        );
        assert!(figure.contains("3 taken for &lt;other&gt;"), "{figure}");
        assert!(figure.find(">0</th>") < figure.find(">9</th>"));
    }

    #[test]
    fn of_many_classes_the_hardest_have_a_bar_and_all_a_column() {
        let figure = figure(&tally(200));
        assert_eq!(
            (figure.matches("<tr>").count(), figure.matches("<rect").count()),
            (HARDEST, 200)
        );
        assert!(figure.contains(">10.0 %</td>") && !figure.contains(">100.0 %</td>"));
    }
}
