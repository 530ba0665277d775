//! Wrong labels that are found, and rows that are worth a label, from a terminal: tables, images and sentences.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;
mod words;

use common::{Said, Workplace, clusters};

/// The rows of classes a and b, and after them some of a that are called b.
fn mislabelled() -> String {
    let right = clusters(&["a", "b"], 40);
    let others = clusters(&["a", "b"], 60);
    let of_a = others
        .lines()
        .skip(80)
        .filter(|line| line.ends_with(",a"))
        .take(3);
    let wrong: Vec<String> = of_a.map(|line| line.replace(",a", ",b")).collect();
    format!("{right}{}\n", wrong.join("\n"))
}

fn rows(said: &Said) -> Vec<usize> {
    let lines = said.stdout.lines().skip(1);
    lines
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn wrong_labels_of_a_table_are_found_shown_and_replaced() {
    let place = Workplace::new();
    place.write("rows.csv", mislabelled());
    let before = place.files();
    let said = place.succeed(&[
        "suspect",
        "rows.csv",
        "--page",
        "page.html",
        "--fix",
        "better.csv",
    ]);
    let mut found = rows(&said);
    found.sort_unstable();
    assert_eq!(found, [80, 81, 82], "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.starts_with("row,label,class,label_probability,"),
        "{}",
        said.stdout
    );
    assert!(said.stderr.contains("3 suspect of 83 rows"), "{}", said.stderr);
    // Only labels that are more likely wrong than right; of few rows, few are that certain.
    let replaced = (0..=3).find(|n| said.stderr.contains(&format!(": {n} label")));
    let replaced = replaced.unwrap_or_else(|| unreachable!("{}", said.stderr));
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("row 81") && page.contains("b → a?") && !page.contains("http"));
    let better = String::from_utf8(place.read("better.csv")).unwrap();
    assert_eq!(
        better.lines().filter(|line| line.ends_with(",a")).count(),
        40 + replaced
    );
    assert_eq!(before.len() + 2, place.files().len(), "no model, nothing else");
    let lines = place.succeed(&["suspect", "rows.csv", "--count", "5", "--json"]);
    assert_eq!(lines.stdout.lines().count(), 5);
    assert!(lines.stdout.starts_with("{\"row\":8"), "{}", lines.stdout);
    assert!(
        lines.stdout.contains("\"label\":\"b\",\"class\":\"a\""),
        "{}",
        lines.stdout
    );
}

#[test]
fn a_model_judges_what_it_has_learned_without_it_and_stays_as_it_is() {
    let place = Workplace::new();
    place.write("rows.csv", mislabelled());
    place.write(
        "others.csv",
        clusters(&["a", "b"], 60).split_off(clusters(&["a", "b"], 50).len()),
    );
    place.succeed(&["learn", "model", "rows.csv"]);
    let model = place.read("model");
    let said = place.succeed(&["suspect", "rows.csv", "--model", "model", "-o", "found.csv"]);
    assert!(
        said.stderr.contains("the model has learned them"),
        "{}",
        said.stderr
    );
    let found = String::from_utf8(place.read("found.csv")).unwrap();
    let first: Vec<&str> = found
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next())
        .collect();
    assert!(
        ["80", "81", "82"].iter().all(|row| first.contains(row)),
        "{found}"
    );
    let said = place.succeed(&["suspect", "others.csv", "--model", "model"]);
    assert!(
        said.stderr.contains("none of them was learned"),
        "{}",
        said.stderr
    );
    assert_eq!(place.read("model"), model);
    place.succeed(&["export", "model", "--output", "small"]);
    place.refuse(
        &["suspect", "rows.csv", "--model", "small"],
        &["use the file with its memory"],
    );
    place.refuse(&["ask", "small", "rows.csv"], &["use the file with its memory"]);
    place.refuse(
        &["suspect", "rows.csv", "--fix", "rows.csv"],
        &["overwrite the input"],
    );
    place.refuse(
        &["suspect", "rows.csv", "--model", "model", "-o", "model"],
        &["overwrite the input"],
    );
    place.refuse(&["suspect", "rows.csv", "--fix", "better.txt"], &[".csv"]);
    place.succeed(&["learn", "sealed", "rows.csv", "--private"]);
    place.refuse(
        &["suspect", "rows.csv", "--model", "sealed"],
        &["keeps no rows", "leave it out"],
    );
}

#[test]
fn too_little_to_judge_is_a_sentence() {
    let place = Workplace::new();
    place.write("one.csv", "x,y,class\n1,2,a\n");
    place.write("class.csv", clusters(&["a"], 9));
    place.write("each.csv", "x,y,class\n1,2,a\n2,1,b\n0,5,c\n");
    place.write("none.csv", "x,y,class\n");
    place.write("empty.csv", "");
    std::fs::create_dir_all(place.path().join("inbox/later")).unwrap();
    place.write("known.csv", clusters(&["a", "b"], 9));
    place.succeed(&["learn", "model", "known.csv"]);
    let sentence = |words: &[&str], sentence: &str| {
        let said = place.succeed(words);
        assert!(said.stderr.contains(sentence), "{words:?}: {}", said.stderr);
        assert_eq!(said.stdout, "", "{words:?}");
    };
    sentence(
        &["suspect", "one.csv"],
        "one.csv: cannot judge labels: only one class",
    );
    sentence(&["suspect", "class.csv"], "only one class");
    sentence(&["suspect", "each.csv"], "more than one row");
    for nothing in ["none.csv", "empty.csv", "inbox"] {
        let said = format!("{nothing}: there are no rows yet");
        sentence(&["suspect", nothing], &said);
        sentence(&["suspect", nothing, "--model", "model"], &said);
        sentence(&["ask", "model", nothing], &said);
    }
    place.write("new.csv", "x,y\n1,2\n");
    place.succeed(&["learn", "young", "class.csv"]);
    place.refuse(
        &["suspect", "one.csv", "--model", "young"],
        &["add rows of a second one"],
    );
    place.write("bare.csv", "x,y\n1,2\n3,4\n");
    place.refuse(&["suspect", "bare.csv", "--no-label"], &["class"]);
}

#[test]
fn rows_worth_a_label() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b"], 30));
    place.write("pool.csv", clusters(&["a", "b", "c"], 30));
    place.succeed(&["learn", "model", "rows.csv"]);
    let model = place.read("model");
    let said = place.succeed(&["ask", "model", "pool.csv", "--count", "4", "--page", "page.html"]);
    assert!(
        said.stdout
            .starts_with("row,class,probability,uncertainty,known\n"),
        "{}",
        said.stdout
    );
    let found = rows(&said);
    let new = found.iter().filter(|&&row| row % 3 == 2).count();
    assert!(
        found.len() == 4 && new >= 3,
        "rows of a new class come first: {found:?}"
    );
    assert!(
        String::from_utf8(place.read("page.html"))
            .unwrap()
            .contains(&format!("row {}", found[0]))
    );
    let said = place.succeed(&["ask", "model", "pool.csv", "--count", "200", "--json"]);
    assert_eq!(said.stdout.lines().count(), 90);
    assert!(said.stderr.contains("there are only 90 rows"), "{}", said.stderr);
    place.refuse(&["ask", "model", "pool.csv", "--count", "0"], &["above 0"]);
    place.refuse(
        &["ask", "model", "pool.csv", "--count", "5000"],
        &["count", "2048"],
    );
    assert_eq!(place.read("model"), model);
}

#[test]
fn images_are_named_and_shown() {
    let place = Workplace::new();
    for class in ["red", "teal"] {
        photos::write(&place, "photos", class, 12);
    }
    photos::photograph("red", 99)
        .save(place.write("photos/teal/stray.png", b""))
        .unwrap();
    let options = ["--backbone", "none", "--page", "page.html"];
    let said = place.succeed(&[&["suspect", "photos", "--fix", "list.csv"], &options[..]].concat());
    let first = said.stdout.lines().nth(1).unwrap_or_default();
    assert!(
        first.contains(",teal/stray.png,teal,red,"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("teal/stray.png") && page.contains("data:image/png;base64,"));
    let list = String::from_utf8(place.read("list.csv")).unwrap();
    assert!(list.starts_with("file,class\nred/000.jpg,red\n"), "{list}");
    assert!(
        list.contains("teal/stray.png,red\n") && list.lines().count() == 26,
        "{list}"
    );
    place.succeed(&["learn", "model", "photos", "--backbone", "none"]);
    let said = place.succeed(&["ask", "model", "photos", "--count", "3", "--page", "page.html"]);
    assert!(said.stdout.contains("/"), "{}", said.stdout);
}

#[test]
fn sentences_are_shown() {
    let place = Workplace::new();
    words::write(&place, "data/backbones/minilm");
    let line = |i: usize| match i % 2 {
        0 => format!("the cat sat on mat {i},cats"),
        _ => format!("a dog ran to me {i},dogs"),
    };
    let lines: Vec<String> = (0..30).map(line).collect();
    place.write("said.csv", format!("text,class\n{}\n", lines.join("\n")));
    let rows = ["said.csv", "--text", "text", "--data-dir", "data"];
    place.succeed(
        &[
            &["suspect"],
            &rows[..],
            &["--page", "page.html", "--count", "4", "--fix", "list.csv"],
        ]
        .concat(),
    );
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("<blockquote>"), "{page}");
    let list = String::from_utf8(place.read("list.csv")).unwrap();
    assert!(
        list.starts_with("text,class\n") && list.lines().count() == 31,
        "{list}"
    );
}
