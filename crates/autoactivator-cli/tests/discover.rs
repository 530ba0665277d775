//! Discovery on the command line: from tables, folders of images and sentences to groups that can be renamed and learned.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;
mod words;

use std::fs;

use common::Workplace;

/// Lines of a csv table around some points, one class each.
fn table(points: &[(f32, f32, &str)]) -> String {
    let lines = points.iter().flat_map(|&(x, y, class)| {
        (0..36).map(move |i| {
            format!(
                "{},{},{class}\n",
                x + (i % 6) as f32 * 0.01,
                y + (i / 6) as f32 * 0.01
            )
        })
    });
    format!("width,height,class\n{}", lines.collect::<String>())
}

fn learned() -> Workplace {
    let place = Workplace::new();
    place.write("known.csv", table(&[(0.0, 0.0, "left"), (1.0, 0.0, "right")]));
    place.succeed(&["learn", "m.aact", "known.csv"]);
    place
}

#[test]
fn rows_of_a_table_are_grouped_and_the_groups_can_be_learned() {
    let place = learned();
    let before = place.read("m.aact");
    place.write(
        "inbox.csv",
        table(&[(0.0, 0.0, "?"), (0.5, 1.0, "?")]).replace(",?", ",x"),
    );
    let said = place.succeed(&["discover", "m.aact", "inbox.csv", "-o", "groups"]);
    assert_eq!(place.read("m.aact"), before, "the model is not changed");
    assert!(
        said.stderr.contains("72 rows: 1 class may be new"),
        "{}",
        said.stderr
    );
    let listed: Vec<&str> = said.stdout.lines().collect();
    assert_eq!((listed[0], listed.len()), ("row,name,class,likeness", 37));
    assert!(listed[1].starts_with("36,,group-1,"), "{}", listed[1]);

    let page = String::from_utf8(place.read("groups/index.html")).unwrap();
    for part in [
        "<h2>group-1</h2>",
        "36 rows, tightness",
        "The nearest known class is",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let proposed = String::from_utf8(place.read("groups/groups.csv")).unwrap();
    assert!(
        proposed.starts_with("width,height,class\n") && proposed.lines().count() == 37,
        "{proposed}"
    );
    place.write("named.csv", proposed.replace("group-1", "top"));
    place.succeed(&["learn", "m.aact", "named.csv"]);
    let said = place.succeed(&["discover", "m.aact", "inbox.csv"]);
    assert!(
        said.stderr.contains("nothing that looks like a new class"),
        "{}",
        said.stderr
    );
    assert_eq!(said.stdout, "");
}

#[test]
fn images_are_copied_into_a_folder_for_each_group() {
    let place = Workplace::new();
    for class in ["apple", "bus"] {
        photos::write(&place, "known", class, 24);
    }
    photos::write(&place, "inbox", "later", 24);
    place.succeed(&[
        "learn",
        "m.aact",
        "known",
        "--backbone",
        "none",
        "--image",
        "12x12x3",
    ]);
    let said = place.succeed(&["discover", "m.aact", "inbox", "-o", "groups"]);
    assert!(
        said.stdout.contains("later/000.jpg,group-1,"),
        "{} {}",
        said.stdout,
        said.stderr
    );
    let copies = fs::read_dir(place.path().join("groups/group-1")).unwrap().count();
    assert!(copies > 12, "{copies}");
    assert_eq!(
        place.read("groups/group-1/later-000.jpg"),
        place.read("inbox/later/000.jpg")
    );
    let page = String::from_utf8(place.read("groups/index.html")).unwrap();
    assert!(
        page.contains("<img src=\"data:image/"),
        "pictures are in the page"
    );
    fs::rename(
        place.path().join("groups/group-1"),
        place.path().join("groups/cat"),
    )
    .unwrap();
    let said = place.succeed(&["learn", "m.aact", "groups"]);
    assert!(said.stderr.contains("cat"), "{}", said.stderr);
}

#[test]
fn sentences_are_listed_with_a_class_to_rename() {
    let place = Workplace::new();
    words::write(&place, "data/backbones/minilm");
    place.write("known.csv", words::intents(12));
    let options = ["--text", "text", "--data-dir", "data", "--nodes", "32"];
    place.succeed(&[&["learn", "m.aact", "known.csv"], &options[..]].concat());
    place.write("inbox.txt", "is it a test, or not\n".repeat(3) + "how are you\n");
    let said = place.succeed(&[
        "discover",
        "m.aact",
        "inbox.txt",
        "--data-dir",
        "data",
        "-o",
        "groups",
    ]);
    // Three equal sentences are one row, which is no group.
    assert!(
        said.stderr
            .contains("4 rows: nothing that looks like a new class"),
        "{}",
        said.stderr
    );
    assert!(!place.exists("groups"));
}

#[test]
fn an_inbox_without_anything_new_is_a_sentence() {
    let place = learned();
    fs::create_dir_all(place.path().join("inbox/later")).unwrap();
    place.write("empty.csv", "");
    place.write("header.csv", "width,height\n");
    place.write("one.csv", "width,height\n0.5,1\n");
    place.write("same.csv", table(&[(0.0, 0.0, "left"), (1.0, 0.0, "right")]));
    for (inbox, sentence) in [
        ("inbox", "inbox: there are no rows yet"),
        ("empty.csv", "empty.csv: there are no rows yet"),
        ("header.csv", "header.csv: there are no rows yet"),
        ("one.csv", "1 row: nothing that looks like a new class"),
        ("same.csv", "72 rows: nothing that looks like a new class"),
    ] {
        let said = place.succeed(&["discover", "m.aact", inbox, "-o", "groups"]);
        assert!(said.stderr.contains(sentence), "{inbox}: {}", said.stderr);
        assert!(said.stdout.is_empty() && !place.exists("groups"), "{inbox}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_is_written() {
    let place = learned();
    place.write("inbox.csv", table(&[(0.5, 1.0, "x")]));
    place.write("there/file", "mine");
    place.succeed(&["learn", "private.aact", "known.csv", "--private"]);
    place.succeed(&["learn", "units.aact", "known.csv", "--learner", "reactivation"]);
    place.succeed(&["export", "m.aact", "--output", "small.aact"]);
    let before = place.files();
    for (words, part) in [
        (
            &["m.aact", "inbox.csv", "-o", "there"][..],
            "there: it exists already; choose another name",
        ),
        (
            &["m.aact", "there", "-o", "there/groups"],
            "it would become part of the input there",
        ),
        (
            &["m.aact", "inbox.csv", "-o", "no/where"],
            "its directory does not exist",
        ),
        (&["m.aact", "inbox.csv", "-o", "-"], "a folder is written here"),
        (&["private.aact", "inbox.csv"], "begin one without `private`"),
        (
            &["units.aact", "inbox.csv"],
            "a reactivation model cannot discover new classes",
        ),
        (&["small.aact", "inbox.csv"], "use the file with its memory"),
        (&["m.aact", "missing.csv"], "missing.csv"),
    ] {
        let said = place.run(&[&["discover"], words].concat());
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.stderr);
        assert!(said.stderr.contains(part), "{words:?}: {}", said.stderr);
    }
    assert!(place.files() == before);
}
