//! Does the paper's shape come out? Each [`Claim`] about the order of figures is answered row by row, yes or no.
//!
//! [`verdicts`] reads l and T_max from the parameters in the record, nodes and seconds from its results.

use crate::paper::Claim;
use crate::record::Record;
use crate::report::first_of_each_learner;

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the paper says.
    pub claim: &'static str,
    /// Which two settings are compared.
    pub compared: String,
    /// Their figures here.
    pub figures: String,
    /// Whether it comes out.
    pub holds: bool,
}

/// One learner of the record, as the claims see it.
#[derive(Clone, Copy)]
struct Setting {
    l: u64,
    t_max: u64,
    nodes: f64,
    seconds: f64,
}

/// The answers to all claims.
pub fn verdicts(record: &Record, claims: &[Claim]) -> Vec<Verdict> {
    let mut settings = settings(record);
    settings.sort_by_key(|setting| (setting.l, setting.t_max));
    let answers = claims.iter().flat_map(|claim| match claim {
        Claim::MoreCandidatesFewerNodes => more_candidates(&settings),
        Claim::OneByOneFewerNodes => steps(&settings, "l = 1 needs fewer nodes", |s| s.nodes, "nodes", 0),
        Claim::BatchesFaster => batches_faster(&settings),
    });
    answers.collect()
}

fn settings(record: &Record) -> Vec<Setting> {
    let outcomes = first_of_each_learner(record).into_iter();
    let setting = |outcome: &crate::record::Outcome| {
        let parameters = &record.parameters[outcome.learner.as_str()];
        Some(Setting {
            l: parameters["step_size"].as_u64()?,
            t_max: parameters["t_max"].as_u64()?,
            nodes: outcome.nodes,
            seconds: outcome.learn_seconds,
        })
    };
    outcomes.filter_map(setting).collect()
}

/// Neighbours in T_max under the same l.
fn more_candidates(settings: &[Setting]) -> Vec<Verdict> {
    let neighbours = settings.windows(2).filter(|pair| pair[0].l == pair[1].l);
    let answer = |pair: &[Setting]| Verdict {
        claim: "a larger T_max needs fewer nodes",
        compared: format!("l = {}, T_max {} to {}", pair[0].l, pair[0].t_max, pair[1].t_max),
        figures: format!("{:.0} to {:.0} nodes", pair[0].nodes, pair[1].nodes),
        holds: pair[1].nodes < pair[0].nodes,
    };
    neighbours.map(answer).collect()
}

fn batches_faster(settings: &[Setting]) -> Vec<Verdict> {
    // The same comparison, the other way round: what one by one takes more of is what batches save.
    let slower = steps(settings, "l = 10 is faster", |s| -s.seconds, "s", 2);
    slower
        .into_iter()
        .map(|verdict| Verdict {
            figures: verdict.figures.replace('-', ""),
            ..verdict
        })
        .collect()
}

/// The smallest l beside every larger one under the same T_max: its value is to be below.
fn steps(
    settings: &[Setting],
    claim: &'static str,
    value: impl Fn(&Setting) -> f64,
    unit: &str,
    decimals: usize,
) -> Vec<Verdict> {
    let Some(smallest) = settings.iter().map(|setting| setting.l).min() else {
        return Vec::new();
    };
    let mut answers = Vec::new();
    for one in settings.iter().filter(|setting| setting.l == smallest) {
        let others = settings.iter().filter(|s| s.l > smallest && s.t_max == one.t_max);
        answers.extend(others.map(|other| Verdict {
            claim,
            compared: format!("T_max = {}, l = {} and l = {}", one.t_max, one.l, other.l),
            figures: format!("{:.decimals$} and {:.decimals$} {unit}", value(one), value(other)),
            holds: value(one) < value(other),
        }));
    }
    answers
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::example;

    /// A record of learners with these l, T_max, nodes and seconds.
    fn record(settings: &[(u64, u64, f64, f64)]) -> Record {
        let mut record = example::record();
        let outcome = record.results[0].clone();
        record.results.clear();
        record.parameters = json!({});
        for &(l, t_max, nodes, learn_seconds) in settings {
            let learner = format!("l {l} T {t_max}");
            record.parameters[&learner] = json!({"step_size": l, "t_max": t_max});
            record.results.push(crate::record::Outcome {
                learner,
                nodes,
                learn_seconds,
                ..outcome.clone()
            });
        }
        record
    }

    fn holds(record: &Record, claim: Claim) -> Vec<bool> {
        verdicts(record, &[claim])
            .iter()
            .map(|verdict| verdict.holds)
            .collect()
    }

    #[test]
    fn the_shape_of_the_paper_and_its_opposite() {
        let paper = record(&[
            (1, 1, 692.0, 12.87),
            (1, 10, 640.0, 18.38),
            (10, 1, 700.0, 6.76),
            (10, 10, 680.0, 10.92),
        ]);
        let claims = [
            Claim::MoreCandidatesFewerNodes,
            Claim::OneByOneFewerNodes,
            Claim::BatchesFaster,
        ];
        for claim in claims {
            assert_eq!(holds(&paper, claim), [true, true], "{claim:?}");
        }
        let opposite = record(&[
            (1, 1, 600.0, 1.0),
            (1, 10, 600.0, 1.0),
            (10, 1, 500.0, 2.0),
            (10, 10, 600.0, 1.0),
        ]);
        for claim in claims {
            assert_eq!(holds(&opposite, claim), [false, false], "{claim:?}");
        }
    }

    #[test]
    fn answers_name_what_they_compare() {
        let record = record(&[(10, 50, 670.0, 19.7), (1, 50, 586.0, 28.3)]);
        let answer = &verdicts(&record, &[Claim::BatchesFaster])[0];
        assert_eq!(answer.compared, "T_max = 50, l = 1 and l = 10");
        assert_eq!(answer.figures, "28.30 and 19.70 s");
        assert!(answer.holds);
        assert_eq!(
            holds(&record, Claim::MoreCandidatesFewerNodes),
            Vec::<bool>::new()
        );
    }

    #[test]
    fn records_that_do_not_tell_give_no_answer() {
        assert_eq!(verdicts(&example::record(), &[Claim::BatchesFaster]), []);
    }
}
