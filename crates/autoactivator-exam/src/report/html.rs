//! The exam as one self-contained page: no script, no request to anywhere, light or dark as the reader likes it.
//!
//! [`html`] puts the page together, section by section; `heat` and `curves` give the pictures, `page.css` the looks.

use autoactivator::{counted, noun_for};
use serde_json::Value;

use super::curves::figures;
use super::heat::heat_map;
use super::plot::Plot;
use super::{absent, distinct, n_runs, stream, three_digits};
use crate::admission::Absence;
use crate::protocol::Protocol;
use crate::record::{Outcome, Record, Run, Stat};

const STYLE: &str = include_str!("page.css");

const HEADINGS: [&str; 13] = [
    "Learner",
    "Protocol",
    "ACA %",
    "Balanced %",
    "AIA %",
    "BWT",
    "Forgetting",
    "Nodes",
    "Model MB",
    "Memory MB",
    "Mult-adds a row",
    "Learn&nbsp;s",
    "Predict&nbsp;s",
];

const METRICS: &str = "<p class=\"note\"><b>ACA</b>: mean accuracy on all tasks after the last one. \
    <b>Balanced</b>: mean over classes instead, each counted alike whatever its task and its number of rows. \
    <b>AIA</b>: the same after each task, averaged. \
    <b>BWT</b>: mean change of a task's accuracy from when it was learned to the end, as a fraction. \
    <b>Forgetting</b>: mean loss from a task's best accuracy to the end, as a fraction. \
    <b>Model</b>: what is needed to predict, four bytes a number. \
    <b>Memory</b>: what is kept beside it, only to go on learning. \
    Each figure is the mean over the runs, ± the sample standard deviation.</p>\n";

const STREAM: &str = "<p class=\"note\">Each row was predicted before it was learned, and nobody said where a task \
    ends. First sights are rows of a class that the learner had not learned yet: no answer can be right, so they are \
    counted apart.</p>\n";

const SCALE: &str =
    "<div class=\"scale\"><span>0 %</span><i></i><span>100 % of test rows right</span></div>\n";

/// The results of an exam as one HTML page.
pub fn html(record: &Record) -> String {
    let title = format!("{} {}", escape(&record.dataset.name), escape(&record.scenario));
    let sections = [
        header(record),
        section(
            "Results",
            &[
                summary(record),
                absences(record),
                protocols(record),
                METRICS.to_owned(),
            ]
            .concat(),
        ),
        section("Task by task", &grid(&figures(record))),
        while_learning(record),
        section("Accuracy on each task after each task", &heat_maps(record)),
        section(
            "To repeat it",
            &[seeds(record), parameters(&record.parameters)].concat(),
        ),
    ];
    page(&title, &sections.concat())
}

/// A whole page around its content.
pub(super) fn page(title: &str, content: &str) -> String {
    // The policy makes "no request to anywhere" a promise that the browser keeps.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{content}</main>\n</body>\n</html>\n"
    )
}

/// Makes text safe inside an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

fn header(record: &Record) -> String {
    let data = &record.dataset;
    let facts = [
        (data.n_classes, "class"),
        (data.n_train, "training row"),
        (data.n_test, "test row"),
        (data.n_features, "feature"),
        (n_runs(record), "run"),
    ];
    let facts: String = facts
        .map(|(n, what)| format!("<li><b>{}</b> {}</li>", grouped(n as f64), noun_for(n, what)))
        .concat();
    format!(
        "<header><p class=\"kicker\">Class-incremental exam</p>\n<h1>{} <span>{}</span></h1>\n\
         <ul class=\"facts\">{facts}</ul></header>\n",
        escape(&data.name),
        escape(&record.scenario)
    )
}

pub(super) fn section(title: &str, content: &str) -> String {
    format!("<section><h2>{title}</h2>\n{content}</section>\n")
}

/// The curves of a stream, if one was learned.
fn while_learning(record: &Record) -> String {
    let figures: String = stream::plots(record).iter().map(Plot::figure).collect();
    if figures.is_empty() {
        return figures;
    }
    section("While it learned", &(grid(&figures) + STREAM))
}

pub(super) fn grid(figures: &str) -> String {
    format!("<div class=\"grid\">{figures}</div>\n")
}

fn summary(record: &Record) -> String {
    let head: String = HEADINGS
        .iter()
        .map(|heading| format!("<th scope=\"col\">{heading}</th>"))
        .collect();
    let body: String = record.results.iter().map(summary_line).collect();
    format!(
        "<div class=\"card scroll\"><table class=\"summary\"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>\
         </table></div>\n"
    )
}

/// The learners without results, and why.
fn absences(record: &Record) -> String {
    let line = |(how, absence): (&str, &Absence)| {
        let (learner, reason) = (escape(&absence.learner), escape(&absence.reason));
        format!("<p class=\"note\"><b>{learner}</b> {how}: {reason}</p>\n")
    };
    absent(record).map(line).collect()
}

fn summary_line(outcome: &Outcome) -> String {
    let figures = [
        format!("<b>{}</b>", with_deviation(outcome.aca, 2)),
        with_deviation(outcome.balanced, 2),
        with_deviation(outcome.aia, 2),
        with_deviation(outcome.bwt, 3),
        with_deviation(outcome.forgetting, 3),
        grouped(outcome.nodes),
        three_digits(outcome.model_mb),
        three_digits(outcome.memory_mb),
        grouped(outcome.multiply_adds),
        three_digits(outcome.learn_seconds),
        three_digits(outcome.predict_seconds),
    ];
    let cells: String = figures.map(|figure| format!("<td>{figure}</td>")).concat();
    format!(
        "<tr><th scope=\"row\">{}</th><td><code>{}</code></td>{cells}</tr>\n",
        escape(&outcome.learner),
        escape(&outcome.protocol)
    )
}

fn with_deviation(stat: Stat, decimals: usize) -> String {
    format!(
        "{:.decimals$} <small>± {:.decimals$}</small>",
        stat.mean, stat.std
    )
}

/// A count, its digits in groups of three: `60,000`.
fn grouped(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut grouped = String::new();
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        grouped.push(digit);
        if place > 0 && place % 3 == 0 {
            grouped.push(',');
        }
    }
    grouped
}

/// What each protocol of the record tells the learner.
fn protocols(record: &Record) -> String {
    let names = distinct(record.results.iter().map(|outcome| outcome.protocol.as_str()));
    format!(
        "{}<p class=\"note\">The protocol is part of every figure: compare rows of the same protocol only.</p>\n",
        meanings(&names)
    )
}

/// What each of these protocols tells the learner.
pub(super) fn meanings(protocols: &[&str]) -> String {
    let meanings: String = protocols.iter().map(|name| meaning(name)).collect();
    format!("<dl class=\"protocols\">{meanings}</dl>\n")
}

fn meaning(name: &str) -> String {
    let meaning = name.parse().map_or("", Protocol::meaning);
    format!("<dt><code>{}</code></dt><dd>{meaning}</dd>", escape(name))
}

fn heat_maps(record: &Record) -> String {
    let maps: String = record.results.iter().map(heat_map).collect();
    format!(
        "<p class=\"note\">Row: after learning that task. Column: examined on that task. Mean of {}, percent.</p>\n\
         {SCALE}{}",
        counted(n_runs(record), "run"),
        grid(&maps)
    )
}

/// Seeds, and the order in which each let the classes arrive.
fn seeds(record: &Record) -> String {
    let runs = record.results.first().map_or(&[][..], |outcome| &outcome.runs);
    let seeds: Vec<String> = runs.iter().map(|run| run.seed.to_string()).collect();
    let orders: String = runs.iter().map(class_order).collect();
    format!(
        "<p>Version {}, seeds {}.</p>\n<details class=\"card\"><summary>Order of the classes</summary>\
         <dl class=\"pairs\">{orders}</dl></details>\n",
        escape(&record.version),
        seeds.join(", ")
    )
}

fn class_order(run: &Run) -> String {
    let mut classes = run.class_order.iter().map(|class| escape(class));
    let tasks = run
        .task_sizes
        .iter()
        .map(|&size| classes.by_ref().take(size).collect::<Vec<_>>().join(", "));
    let tasks = tasks.collect::<Vec<_>>().join(" <i>|</i> ");
    format!("<dt>seed {}</dt><dd>{tasks}</dd>", run.seed)
}

/// The parameters of each learner.
fn parameters(parameters: &Value) -> String {
    let learners = parameters.as_object().into_iter().flatten();
    learners
        .map(|(learner, values)| learner_parameters(learner, values))
        .collect()
}

fn learner_parameters(learner: &str, values: &Value) -> String {
    let pairs: String = match values.as_object() {
        Some(values) if values.is_empty() => "<dt>no parameters</dt>".to_owned(),
        Some(values) => values.iter().map(|(name, value)| pair(name, value)).collect(),
        None => pair("", values),
    };
    format!(
        "<details class=\"card\"><summary>Parameters of {}</summary><dl class=\"pairs\">{pairs}</dl></details>\n",
        escape(learner)
    )
}

fn pair(name: &str, value: &Value) -> String {
    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!(
        "<dt>{}</dt><dd><code>{}</code></dd>",
        escape(name),
        escape(&value)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::example;

    #[test]
    fn a_page_tells_everything_about_the_exam() {
        let page = html(&example::record());
        for expected in [
            "<title>digits 4/2</title>",
            "<b>55.00 <small>± 7.07</small></b>",
            "<code>task-batch=all</code>",
            "Each test row is judged alone",
            "Version 0.1.0, seeds 0, 1.",
            "<dt>scopes</dt><dd><code>[0.5,1.0]</code></dd>",
            "3, 0 <i>|</i> 2, 1",
            "no parameters",
        ] {
            assert!(page.contains(expected), "{expected} is missing");
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 539_784.2].map(grouped),
            ["0", "999", "1,000", "539,784"]
        );
    }

    #[test]
    fn a_page_needs_nothing_from_outside() {
        let page = html(&example::record());
        for outside in ["<script", "http:", "https:", "src=", "href=", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn every_text_is_escaped() {
        let evil = "<script>alert('&\"')</script>";
        let mut record = example::record();
        record.version = evil.into();
        record.scenario = evil.into();
        record.dataset.name = evil.into();
        record.parameters = json!({evil: {evil: evil}});
        record.left_out = vec![Absence {
            learner: evil.into(),
            reason: evil.into(),
        }];
        for outcome in &mut record.results {
            outcome.learner = evil.into();
            outcome.protocol = evil.into();
            for run in &mut outcome.runs {
                run.class_order = vec![evil.into(); 4];
                run.growth = vec![json!({"stopped": evil, "joins": [{"residual": 1.0}]})];
            }
        }
        let page = html(&record);
        assert!(!page.contains("<script"));
        assert!(page.contains("&lt;script&gt;alert(&#39;&amp;&quot;&#39;)&lt;/script&gt;"));
    }

    #[test]
    fn an_empty_record_is_a_page_all_the_same() {
        let record = Record {
            results: Vec::new(),
            parameters: json!(null),
            ..example::record()
        };
        assert!(html(&record).ends_with("</html>\n"));
    }
}
