//! How far probabilities can be believed: of the answers that were said to be right with 90 %, 90 % should be.

use crate::report::chart::{Area, Axis};
use crate::tally::{Step, Tally};

const SIDE: f64 = 300.0;
const HEIGHT: f64 = 290.0;

/// The calibration curve; nothing if the learner tells no probabilities.
pub(super) fn figure(tally: &Tally) -> String {
    let Some(expected) = tally.expected() else {
        return String::new();
    };
    let area = Area {
        left: 42.0,
        right: 42.0 + SIDE,
        top: 12.0,
        bottom: HEIGHT - 46.0,
    };
    let (across, up) = (Axis::linear(0.0, 100.0, 5), Axis::linear(0.0, 100.0, 5));
    let steps: Vec<&Step> = tally.calibration().iter().filter(|step| step.rows > 0).collect();
    let place = |step: &&Step| {
        let right = 100.0 * step.right as f64 / step.rows as f64;
        (area.x(&across, 100.0 * step.probability), area.y(&up, right))
    };
    let most = steps.iter().map(|step| step.rows).max().unwrap_or(1) as f64;
    let line: Vec<String> = steps
        .iter()
        .map(place)
        .map(|(x, y)| format!("{x:.1} {y:.1}"))
        .collect();
    let dot = |step: &&Step| {
        let (x, y) = place(step);
        format!(
            "<circle class=\"sure\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"><title>{} answers said to be {:.1} % sure: \
             {:.1} % right</title></circle>",
            3.0 + 7.0 * (step.rows as f64 / most).sqrt(),
            step.rows,
            100.0 * step.probability,
            100.0 * step.right as f64 / step.rows as f64
        )
    };
    let dots: String = steps.iter().map(dot).collect();
    format!(
        "<figure class=\"card\"><figcaption><b>How sure, and how often right</b></figcaption>\
         <svg class=\"small\" viewBox=\"0 0 {:.0} {HEIGHT}\" role=\"img\" aria-label=\"Calibration\">{}\
         <path class=\"leader\" d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"currentColor\" stroke-dasharray=\"5 5\"/>\
         <path class=\"line first\" d=\"M{}\" stroke=\"#2f7fc4\"/>{dots}</svg>\
         <p class=\"note\">On the dashed line, probabilities are what they say; below it, the learner is too sure. A \
         larger dot stands for more rows. In all it expected <b>{expected:.1} %</b> to be right, and <b>{:.1} %</b> \
         are.</p></figure>\n",
        area.right + 16.0,
        area.axes(&across, &up, "probability of the answer, %"),
        area.left,
        area.bottom,
        area.right,
        area.top,
        line.join("L"),
        tally.accuracy()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Seen;

    #[test]
    fn a_dot_lies_where_its_answers_are_by_hand() {
        let mut tally = Tally::default();
        assert_eq!(figure(&tally), "");
        for (row, answer) in ["a", "a", "a", "b"].into_iter().enumerate() {
            let probability = Some(0.95);
            tally.add(&Seen {
                row,
                name: None,
                class: "a",
                answer,
                probability,
            });
        }
        let figure = figure(&tally);
        assert!(
            figure.contains("4 answers said to be 95.0 % sure: 75.0 % right"),
            "{figure}"
        );
        // 42 + 0.95 · 300 across; 232 of 232 + 12 up, less three quarters.
        assert!(figure.contains("cx=\"327.0\" cy=\"70.0\""), "{figure}");
        assert!(figure.contains("expected <b>95.0 %</b>"), "{figure}");
    }
}
