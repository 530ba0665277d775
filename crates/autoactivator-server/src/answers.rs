//! The answers to rows: how large they may become, computed and written piece by piece.

use autoactivator::Table;
use autoactivator::discovery::Found;
use autoactivator::model::{Detail, object};

use serde_json::{Value, json};

use crate::edition::Edition;
use crate::limits::Limits;
use crate::pieces::Pieces;
use crate::problem::Problem;
use crate::wanted::Wanted;

/// Largest number of scores that are computed together.
const SCORES_TOGETHER: usize = 1 << 20;

/// Most multiply-adds that are done between two looks at whether the answer is still wanted.
const WORK_TOGETHER: usize = 1 << 30;

/// Bytes of an answer to a row besides names and probabilities, at most.
const FRAME: usize = 96;

/// Bytes of an entry of `top` besides the name of its class, at most.
const ENTRY: usize = 48;

/// Bytes of an entry of `probabilities` besides the name of its class, at most.
const PROBABILITY: usize = 24;

/// The largest size, in bytes, of the answers to `rows` rows.
fn most_bytes(classes: &[String], detail: Detail, rows: usize) -> usize {
    let quoted = |name: &String| serde_json::to_string(name).map_or(0, |text| text.len());
    let longest = classes.iter().map(quoted).max().unwrap_or(0);
    let probabilities = match detail {
        Detail::Class => 0,
        Detail::Top(k) => k.min(classes.len()) * (longest + ENTRY),
        Detail::All => classes.iter().map(|name| quoted(name) + PROBABILITY).sum(),
    };
    rows.saturating_mul(FRAME + longest + probabilities)
}

/// Refuses a question whose answer might be larger than allowed, before anything is computed.
pub(crate) fn check_size(
    classes: &[String],
    detail: Detail,
    rows: usize,
    limits: &Limits,
) -> Result<(), Problem> {
    let bytes = most_bytes(classes, detail, rows);
    if bytes <= limits.answer_bytes {
        return Ok(());
    }
    let remedy = match detail {
        Detail::All => "send fewer rows at a time, or ask for `top` instead of `proba`",
        Detail::Top(_) => "send fewer rows at a time, or ask for a smaller `top`",
        Detail::Class => "send fewer rows at a time",
    };
    Err(Problem::too_large(format!(
        "the answers to {rows} rows may take {} MB, more than the limit of {} MB: {remedy}",
        bytes.div_ceil(1 << 20),
        limits.answer_bytes >> 20
    )))
}

/// Number of rows that are judged between two looks at whether the answer is still wanted.
pub(crate) fn rows_together(edition: &Edition) -> usize {
    let by_scores = SCORES_TOGETHER / edition.model.classes().len().max(1);
    let by_work = WORK_TOGETHER / edition.multiply_adds.max(1);
    by_scores.min(by_work).max(1)
}

/// Groups of rows, and the name of the group that each row is in.
pub(crate) fn grouped(found: &Found<'_>) -> Value {
    let groups = found.groups.iter().zip(found.sizes()).map(|(group, rows)| {
        let mut described = json!(group);
        described["rows"] = json!(rows);
        described
    });
    let rows = found.placed.iter().map(|placed| {
        let name = placed.group.map(|group| &found.groups[group].name);
        json!({ "group": name, "likeness": placed.likeness })
    });
    json!({ "groups": groups.collect::<Vec<Value>>(), "rows": rows.collect::<Vec<Value>>() })
}

/// What is seen of rows while they are answered, if "unknown" was asked for.
#[derive(Default)]
pub(crate) struct Seen {
    /// How well known each row is.
    pub(crate) known: Vec<f32>,
    /// The rows that were answered "unknown".
    pub(crate) unknown: Vec<usize>,
}

/// The answers to rows, as JSON. Only the text grows with their number; what is computed for it is freed piece by piece,
/// and nothing more is computed once nobody waits for it.
/// The text is complete before any of it is sent, so an error is still an error and no thread waits for a slow client.
pub(crate) fn written(
    edition: &Edition,
    x: &Table,
    detail: Detail,
    reject: f64,
    wanted: &Wanted,
    seen: &mut Seen,
) -> Result<Pieces, Problem> {
    let (model, classes) = (&edition.model, edition.model.classes());
    let together = rows_together(edition);
    if x.rows().len() > together {
        // Errors name the row, counted from the first of all.
        x.rows().check_values()?;
    }
    let mut text = Pieces::default();
    let mut row = 0;
    let mut separator = "{\"answers\":[";
    for piece in x.rows().chunks(together) {
        wanted.check()?;
        for found in model.answer(piece, detail, reject)? {
            let answer = object(classes, &found, detail, row, None);
            text.write(&format!("{separator}{answer}"));
            seen.known.extend(found.known);
            if found.class.is_none() {
                seen.unknown.push(row);
            }
            separator = ",";
            row += 1;
        }
    }
    wanted.check()?;
    let (sha256, version) = (&edition.sha256, edition.version);
    text.write(&format!("],\"sha256\":\"{sha256}\",\"version\":{version}}}"));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use autoactivator::{Labels, Model, Rows};
    use axum::body::Body;
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::*;

    fn edition(n_classes: usize) -> Edition {
        let params = json!({ "pool": "uniform", "nodes": 10, "seed": 1 });
        let mut model = Model::new("consolidation", &params).unwrap();
        let values: Vec<f32> = (0..4 * n_classes).map(|i| (i as f32 * 0.7).sin()).collect();
        let names: Vec<String> = (0..2 * n_classes)
            .map(|i| format!("class \"{}\" \\ ü", i / 2))
            .collect();
        let y = Labels::from_names(&names);
        model.learn(Rows::new(&values, 2).unwrap(), &y, &mut ()).unwrap();
        Edition::new(model, 7, 0, "digest".to_owned())
    }

    fn read(text: Pieces) -> Value {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let bytes = runtime.block_on(Body::new(text).collect()).unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn no_answer_is_larger_than_was_said_before() {
        let edition = edition(30);
        let x = Table::new((0..40).map(|i| i as f32 / 7.0).collect(), 2).unwrap();
        for (detail, reject) in [(Detail::Class, 0.0), (Detail::Top(3), 0.1), (Detail::All, 0.1)] {
            let text = written(
                &edition,
                &x,
                detail,
                reject,
                &Wanted::default(),
                &mut Seen::default(),
            )
            .unwrap();
            let most = most_bytes(edition.model.classes(), detail, 20);
            assert!(text.len() <= most, "{detail:?}: {} of {most}", text.len());
            let answer = read(text);
            assert_eq!(answer["answers"].as_array().unwrap().len(), 20);
            assert_eq!(answer["answers"][19]["row"], json!(19));
            assert_eq!(answer["version"], json!(7));
        }
    }

    #[test]
    fn an_answer_that_may_be_too_large_is_refused_beforehand() {
        let classes: Vec<String> = (0..2000).map(|i| format!("class {i}")).collect();
        let check = |detail, rows| check_size(&classes, detail, rows, &Limits::default());
        assert!(check(Detail::Class, 10_000).is_ok() && check(Detail::Top(3), 10_000).is_ok());
        assert!(check(Detail::All, 100).is_ok());
        let refused = check(Detail::All, 10_000).unwrap_err();
        assert!(
            refused.message.contains("`top` instead of `proba`"),
            "{refused:?}"
        );
        assert_eq!(refused.status.as_u16(), 413);
        assert!(check(Detail::Top(2000), 10_000).is_err());
    }

    #[test]
    fn what_nobody_waits_for_is_given_up() {
        let (wanted, waiting) = Wanted::new();
        let (edition, x) = (edition(2), Table::new(vec![0.5; 4], 2).unwrap());
        let mut seen = Seen::default();
        assert!(written(&edition, &x, Detail::All, 0.0, &wanted, &mut seen).is_ok());
        drop(waiting);
        assert!(written(&edition, &x, Detail::All, 0.0, &wanted, &mut seen).is_err());
    }
}
