//! The exam as one page.
//!
//! [`html`] puts it together, section by section: `headline`, `curves`, `answers`, `cost` and `heat` give the content,
//! `page` the shell, and `page.css` the looks.

use autoactivator::{counted, noun_for};
use serde_json::Value;

use super::curves::{figures, growth};
use super::exhibit::Exhibits;
use super::page::{escape, grid, grouped, header, named, page, section};
use super::plot::Plot;
use super::{
    Line, absent, answers, cost, distinct, headline, heat, lines, n_runs, stream, subject, three_digits,
};
use crate::admission::Absence;
use crate::protocol::Protocol;
use crate::record::{Outcome, Record, Run, Stat};
use crate::tally::{Mistake, Tally};

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

/// The results of an exam as one HTML page; `exhibits` shows the rows of [`mistakes_shown`].
pub fn html(record: &Record, exhibits: &Exhibits) -> String {
    let title = format!("{} {}", named(&record.dataset.name), escape(&record.scenario));
    let kept = subject(record).and_then(|subject| Some((subject, subject.answers.as_ref()?)));
    let of = |subject: &Outcome| match record.results.iter().any(|o| o.learner != subject.learner) {
        true => subject.learner.clone(),
        false => String::new(),
    };
    let answers = kept.map(|(subject, tally)| answers::sections(tally, &of(subject), exhibits));
    let sections = [
        head(record),
        grid(&figures(record)),
        while_learning(record),
        section("Results", &[summary(record), absences(record)].concat()),
        answers.unwrap_or_default(),
        section("The other learners", &others(record)),
        section("What it costs", &grid(&cost::figures(record))),
        section("Task by task", &heat_maps(record)),
        section("How they grow", &grid(&growth(record))),
        section(
            "How to read this",
            &[protocols(record), METRICS.to_owned()].concat(),
        ),
        section(
            "To repeat it",
            &[seeds(record), parameters(&record.parameters)].concat(),
        ),
    ];
    page(&title, &sections.concat())
}

/// The mistakes that the page shows: those of its first learner.
pub fn mistakes_shown(record: &Record) -> &[Mistake] {
    let tally = subject(record).and_then(|subject| subject.answers.as_ref());
    tally.map_or(&[], Tally::mistakes)
}

fn head(record: &Record) -> String {
    let data = &record.dataset;
    let facts = [
        (data.n_classes, "class"),
        (data.n_train, "training row"),
        (data.n_test, "test row"),
        (data.n_features, "feature"),
        (n_runs(record), "run"),
    ];
    let facts = facts.map(|(n, what)| format!("<b>{}</b> {}", grouped(n as f64), noun_for(n, what)));
    header(
        "Class-incremental learning",
        &format!("{} <span>{}</span>", named(&data.name), escape(&record.scenario)),
        &headline(record),
        &facts,
    )
}

/// The answers of the learners that the page is not about, closed until they are asked for.
fn others(record: &Record) -> String {
    let subject = subject(record).map(|subject| subject.learner.as_str());
    let others = record
        .results
        .iter()
        .filter(|o| Some(o.learner.as_str()) != subject);
    let kept = others.filter_map(|outcome| Some((outcome, outcome.answers.as_ref()?)));
    kept.map(|(outcome, tally)| answers::closed(tally, &outcome.learner))
        .collect()
}

/// The curves of a stream, if one was learned.
fn while_learning(record: &Record) -> String {
    let figures: String = stream::plots(record).iter().map(Plot::figure).collect();
    if figures.is_empty() {
        return figures;
    }
    section("While it learned", &(grid(&figures) + STREAM))
}

fn summary(record: &Record) -> String {
    let head: String = HEADINGS
        .iter()
        .map(|heading| format!("<th scope=\"col\">{heading}</th>"))
        .collect();
    let body: String = lines(record).iter().map(summary_line).collect();
    format!(
        "<div class=\"card scroll\" tabindex=\"0\"><table class=\"summary\"><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody>\
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

fn summary_line(line: &Line<'_>) -> String {
    let outcome = line.outcome;
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
        "<tr><th scope=\"row\">{}</th><td>{}</td>{cells}</tr>\n",
        escape(&outcome.learner),
        heat::protocols(line)
    )
}

fn with_deviation(stat: Stat, decimals: usize) -> String {
    format!(
        "{:.decimals$} <small>± {:.decimals$}</small>",
        stat.mean, stat.std
    )
}

/// What each protocol of the record tells the learner.
fn protocols(record: &Record) -> String {
    let names = distinct(record.results.iter().map(|outcome| outcome.protocol.as_str()));
    format!(
        "{}<p class=\"note\">The protocol is part of every figure: compare rows of the same protocol only. A learner to \
         which protocols make no difference has one row for all of them.</p>\n",
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
    let maps: String = lines(record).iter().map(heat::heat_map).collect();
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
        let page = html(&example::record(), &Exhibits::new());
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
    fn a_page_needs_nothing_from_outside() {
        let page = html(&example::record(), &Exhibits::new());
        for outside in ["<script", "http:", "https:", "href=", "url(", "@import"] {
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
        let page = html(&record, &Exhibits::new());
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
        assert!(html(&record, &Exhibits::new()).ends_with("</html>\n"));
    }
}
