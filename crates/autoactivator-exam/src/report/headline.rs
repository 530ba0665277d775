//! The result in a sentence or two that need no explanation: how many rows are right, and what was forgotten.
//!
//! The exam's is about its first learner, the one that stands first in the table. Everything follows from the record.

use autoactivator::counted;

use super::subject;
use crate::evaluation::Evaluation;
use crate::metrics::mean;
use crate::record::{Outcome, Record};

/// Points of accuracy that a task may lose and still count as known.
const NOTHING: f64 = 0.5;

/// Points that are worth a sentence when another learner loses them, or is ahead by them.
const MUCH: f64 = 5.0;
const AHEAD: f64 = 0.1;

/// Numbers that are written as words.
const WORDS: [&str; 13] = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// What an exam comes to.
pub fn of_exam(record: &Record) -> String {
    let Some(subject) = subject(record) else {
        return String::new();
    };
    let rivals: Vec<&Outcome> = record
        .results
        .iter()
        .filter(|outcome| outcome.protocol == subject.protocol && outcome.learner != subject.learner)
        .collect();
    let sentences = [
        Some(what_is_right(subject, record)),
        most_forgetful(subject, &rivals),
        best(subject, &rivals),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn what_is_right(subject: &Outcome, record: &Record) -> String {
    let n_tasks = subject.runs.first().map_or(0, |run| run.task_sizes.len());
    let who = match record.results.iter().any(|o| o.learner != subject.learner) {
        true => format!("{}: ", subject.learner),
        false => String::new(),
    };
    let percent = format!("{who}{:.1} %", subject.aca.mean);
    let Some(lost) = lost_of_first(subject) else {
        return match n_tasks {
            0 | 1 => format!("{percent} of the test rows are right."),
            _ => format!("{percent} of the test rows are right after one pass over everything."),
        };
    };
    let first = if lost > NOTHING {
        format!("the first task has lost {} since it was learned", points(lost))
    } else if lost < -NOTHING {
        "the first task is known better than on the first day".to_owned()
    } else {
        "the first task is still known as on the first day".to_owned()
    };
    format!("{percent} after {} tasks; {first}.", in_words(n_tasks))
}

/// The learner that forgot most of the first task, if that is much more than the subject did.
fn most_forgetful(subject: &Outcome, rivals: &[&Outcome]) -> Option<String> {
    let own = lost_of_first(subject)?;
    let lost = |outcome: &&&Outcome| lost_of_first(outcome).unwrap_or(0.0);
    let worst = rivals.iter().max_by(|a, b| lost(a).total_cmp(&lost(b)))?;
    let points_lost = lost(&worst);
    (points_lost > own.max(0.0) + MUCH)
        .then(|| format!("{} forgot {} of it.", worst.learner, points(points_lost)))
}

/// The best learner, if it is not the subject.
fn best(subject: &Outcome, rivals: &[&Outcome]) -> Option<String> {
    let best = rivals.iter().max_by(|a, b| a.aca.mean.total_cmp(&b.aca.mean))?;
    let ahead = best.aca.mean - subject.aca.mean >= AHEAD;
    ahead.then(|| format!("The best here is {} with {:.1} %.", best.learner, best.aca.mean))
}

/// Points of accuracy that the first task has lost since it was learned; none if it was tested once.
fn lost_of_first(outcome: &Outcome) -> Option<f64> {
    let of_run = |matrix: &Vec<Vec<f64>>| match &matrix[..] {
        [first, .., last] => Some(first.first()? - last.first()?),
        _ => None,
    };
    let lost: Option<Vec<f64>> = outcome.runs.iter().map(|run| of_run(&run.accuracy)).collect();
    let lost = lost.filter(|lost| !lost.is_empty())?;
    Some(mean(lost.into_iter()))
}

/// What the evaluation of one model comes to.
pub fn of_evaluation(evaluation: &Evaluation) -> String {
    let tally = &evaluation.tally;
    let (rows, accuracy) = (counted(tally.n_rows(), "row"), tally.accuracy());
    let mut sentences = vec![format!("{accuracy:.1} % of {rows} are right.")];
    let hardest = tally
        .classes()
        .into_iter()
        .filter(|of| of.right < of.rows)
        .min_by(|a, b| a.accuracy().total_cmp(&b.accuracy()));
    if let Some((of, (answer, _))) = hardest.and_then(|of| Some((of, of.taken_for()?))) {
        sentences.push(format!(
            "The hardest class is {} with {:.0} %, mostly taken for {answer}.",
            of.class,
            of.accuracy()
        ));
    }
    if let Some(expected) = tally.expected() {
        sentences.push(match expected - accuracy {
            gap if gap > 2.0 => format!("It is too sure of itself: it expected {expected:.1} %."),
            gap if gap < -2.0 => format!("It is too modest: it expected {expected:.1} %."),
            _ => format!("It is as sure as it should be: it expected {expected:.1} %."),
        });
    }
    sentences.join(" ")
}

/// Points of accuracy in words: whole ones where that says enough.
fn points(points: f64) -> String {
    let shown = if points < 10.0 {
        format!("{points:.1}")
    } else {
        format!("{points:.0}")
    };
    let unit = if shown == "1.0" { "point" } else { "points" };
    format!("{shown} {unit}")
}

fn in_words(n: usize) -> String {
    WORDS
        .get(n)
        .map_or_else(|| n.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::tally::{Seen, Tally};

    #[test]
    fn an_exam_in_words_by_hand() {
        // The first task of `reactivation` fell from 96 to 40 and from 98 to 50, a mean of 52; the best is nearest-mean.
        let record = example::record();
        assert_eq!(
            of_exam(&record),
            "reactivation: 55.0 % after two tasks; the first task has lost 52 points since it was learned. \
             The best here is nearest-mean with 85.0 %."
        );
    }

    #[test]
    fn what_others_forgot_is_said() {
        let mut record = example::record();
        record.results.swap(0, 1);
        record.results.remove(2);
        record.results[1].protocol = record.results[0].protocol.clone();
        record.results[1].learner = "sequential-sgd".into();
        assert_eq!(
            of_exam(&record),
            "reactivation: 98.0 % after two tasks; the first task is still known as on the first day. \
             sequential-sgd forgot 52 points of it."
        );
    }

    #[test]
    fn a_single_learner_is_not_named_and_a_single_test_tells_nothing_of_forgetting() {
        let mut record = example::record();
        record.results.truncate(1);
        for run in &mut record.results[0].runs {
            run.accuracy.remove(0);
        }
        assert_eq!(
            of_exam(&record),
            "55.0 % of the test rows are right after one pass over everything."
        );
        record.results.clear();
        assert_eq!(of_exam(&record), "");
    }

    #[test]
    fn an_evaluation_in_words_by_hand() {
        let mut tally = Tally::default();
        for (row, (class, answer)) in [("a", "a"), ("b", "a"), ("b", "b"), ("b", "b")]
            .into_iter()
            .enumerate()
        {
            let probability = Some(0.9);
            tally.add(&Seen {
                row,
                name: None,
                class,
                answer,
                probability,
            });
        }
        let evaluation = Evaluation {
            data: "rows.csv".into(),
            known: Vec::new(),
            tally,
        };
        assert_eq!(
            of_evaluation(&evaluation),
            "75.0 % of 4 rows are right. The hardest class is b with 67 %, mostly taken for a. \
             It is too sure of itself: it expected 90.0 %."
        );
    }
}
