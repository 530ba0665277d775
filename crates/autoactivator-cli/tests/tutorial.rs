//! Every command in the documents, page by page and in the order in which it stands there, on data that is made here.
//!
//! Commands are the lines `$ autoactivator ...` in blocks of the language `console`. A page that has some must be in
//! [`PAGES`].

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;
mod words;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Said, Workplace, clusters, without_classes};

/// Makes the files that a page speaks of.
type Make = fn(&Workplace);

/// The documents with commands.
const PAGES: [(&str, Make); 12] = [
    ("tutorial.md", kitchen),
    ("tutorial-text.md", tickets),
    ("tutorial-tables.md", parts),
    ("install.md", parts),
    ("command-line.md", parts),
    ("how-to/add-a-class.md", parts_and_photographs),
    ("how-to/take-back.md", learned_parts),
    ("how-to/merge-sites.md", sites),
    ("how-to/scale-out.md", pieces),
    ("how-to/reject.md", learned_parts),
    ("how-to/onnx.md", learned_parts),
    ("suspect.md", doubtful),
];

/// Photographs of three classes, of two more that come later, and a backbone.
fn kitchen(place: &Workplace) {
    place.write("dinov2_small.onnx", photos::backbone(1));
    for part in ["train", "test"] {
        for class in ["mug", "plate", "spoon"] {
            photos::write_large(place, &format!("photos/{part}"), class, 12);
        }
    }
    photos::write_large(place, "new", "fork", 12);
    for number in 0..12 {
        let path = place.write(&format!("knives/{number:03}.png"), b"");
        photos::photograph("knife", number).save(path).unwrap();
    }
}

/// Sentences of some classes, and an encoder in the cache.
fn tickets(place: &Workplace) {
    words::write(place, "cache/autoactivator/backbones/minilm");
    place.write("tickets.csv", words::intents(12));
    place.write("questions.txt", "how are you today\nwhat is the time\n");
    place.write(
        "new-tickets.csv",
        "text,intent\nmy name is the name,name\nwhat is my name,name\n",
    );
}

/// Rows with the names of their columns.
fn table(classes: &[&str], n: usize) -> String {
    format!("width,height,weight,length,kind\n{}", clusters(classes, n))
}

/// Tables of some classes that arrive one after another.
fn parts(place: &Workplace) {
    let monday = table(&["bolt", "nut"], 40);
    let new = table(&["bolt", "screw"], 5);
    place.write(
        "withdrawn.csv",
        monday.lines().take(9).collect::<Vec<_>>().join("\n") + "\n",
    );
    place.write("monday.csv", monday);
    place.write("tuesday.csv", table(&["screw"], 40));
    place.write("wednesday.csv", table(&["rivet", "pin"], 20));
    place.write("screws.csv", table(&["screw"], 12));
    place.write("test.csv", table(&["bolt", "nut"], 10));
    place.write("sample.csv", table(&["bolt", "nut", "screw"], 20));
    place.write("new.csv", without_classes(&new));
}

/// The same with a model of Monday's table.
fn learned_parts(place: &Workplace) {
    parts(place);
    place.succeed(&["learn", "parts.aact", "monday.csv"]);
}

/// The same with a model of photographs, and some of a new class.
fn parts_and_photographs(place: &Workplace) {
    learned_parts(place);
    place.write("tiny.onnx", photos::backbone(1));
    place.write("tiny.toml", photos::SETTINGS);
    for class in ["mug", "plate"] {
        photos::write(place, "photos", class, 12);
    }
    place.succeed(&["learn", "kitchen.aact", "photos", "--backbone", "tiny.onnx"]);
    photos::write(place, ".", "forks", 12);
}

/// What lies at two sites, before the page has made the model that both begin with.
fn sites(place: &Workplace) {
    parts(place);
    place.succeed(&["memory", "begin", "site-a.aact", "sample.csv"]);
    place.write("site-b.aact", place.read("site-a.aact"));
}

/// Three pieces of one table.
fn pieces(place: &Workplace) {
    for (piece, class) in ["bolt", "nut", "screw"].into_iter().enumerate() {
        place.write(&format!("part-{piece}.csv"), table(&[class, "pin"], 20));
    }
    place.write("test.csv", table(&["bolt", "nut"], 10));
}

/// Rows of which one has a wrong label, a model, and rows without labels.
fn doubtful(place: &Workplace) {
    let rows = table(&["bolt", "nut"], 40);
    place.write("rows.csv", rows.replacen(",bolt\n", ",nut\n", 1));
    place.write("unlabelled.csv", without_classes(&rows));
    place.succeed(&["learn", "model.aact", "rows.csv"]);
}

fn documents() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The commands of a document, word by word.
fn commands(document: &str) -> Vec<Vec<String>> {
    let mut inside = false;
    let lines = document.lines().filter(|line| {
        if line.starts_with("```") {
            inside = *line == "```console";
        }
        inside
    });
    let typed = lines.filter_map(|line| line.strip_prefix("$ autoactivator "));
    typed
        .map(|words| words.split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// Runs every command of a page, which must succeed; returns what each of them said.
fn run(page: &str) -> (Workplace, Vec<(String, Said)>) {
    let text = fs::read_to_string(documents().join(page)).unwrap();
    let (_, make) = PAGES.iter().find(|(name, _)| *name == page).unwrap();
    let place = Workplace::new();
    make(&place);
    let commands = commands(&text).into_iter().map(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let said = place.run(&words);
        assert_eq!(said.code, Some(0), "{page}: {words:?}: {}", said.stderr);
        (words.join(" "), said)
    });
    let said = commands.collect();
    (place, said)
}

#[test]
fn photographs() {
    let (place, said) = run("tutorial.md");
    assert!(said.len() > 12, "the tutorial has lost its commands");
    for (command, said) in said.iter().filter(|(command, _)| command.starts_with("eval")) {
        assert!(
            said.stdout.contains("36 of 36 rows right"),
            "{command}: {}",
            said.stdout
        );
    }
    assert!(place.exists("answers.csv") && place.exists("answers.parquet") && place.exists("head.onnx"));
    let answers = String::from_utf8(place.read("answers.csv")).unwrap();
    assert!(
        answers.starts_with("row,name,class,true_class\n0,mug/"),
        "{answers}"
    );
    assert!(!answers.contains(",spoon,"), "a dropped class is not an answer");
}

#[test]
fn sentences() {
    let (_, said) = run("tutorial-text.md");
    assert!(said.len() > 3, "the tutorial has lost its commands");
    assert!(
        said.last().unwrap().1.stdout.contains("name"),
        "the new class is known"
    );
}

#[test]
fn tables() {
    let (place, said) = run("tutorial-tables.md");
    assert!(said.len() > 9, "the tutorial has lost its commands");
    assert!(
        said[1].1.stdout.contains("20 of 20 rows right"),
        "{}",
        said[1].1.stdout
    );
    assert!(place.exists("parts.onnx") && place.exists("answers.jsonl"));
}

#[test]
fn every_other_page() {
    for (page, _) in PAGES {
        if !page.starts_with("tutorial") && documents().join(page).exists() {
            let (_, said) = run(page);
            assert!(!said.is_empty(), "{page} has lost its commands");
        }
    }
}

/// What the page on rejecting says happens: the class that was left out is not known.
#[test]
fn a_class_that_was_left_out_is_unknown() {
    let (_, said) = run("how-to/reject.md");
    let (command, said) = &said[3];
    assert!(command.contains("tuesday.csv"), "{command}");
    let unknown = said.stdout.matches("unknown").count();
    assert!(unknown >= 36, "{unknown} of 40: {}", said.stdout);
}

/// The files below a folder whose names have this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path, ending),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect()
}

/// A page with commands that nobody runs would be wrong one day: it is in [`PAGES`], or another test reads it.
#[test]
fn every_page_with_commands_is_tested() {
    let tests = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), "rs");
    let tests: Vec<String> = tests
        .iter()
        .map(|test| fs::read_to_string(test).unwrap())
        .collect();
    for path in files(&documents(), "md") {
        let name = path.strip_prefix(documents()).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        let is_read = || tests.iter().any(|test| test.contains(&format!("docs/{name}\"")));
        let is_tested = PAGES.iter().any(|(page, _)| *page == name) || is_read();
        let commands = commands(&fs::read_to_string(&path).unwrap());
        assert!(commands.is_empty() || is_tested, "{name}: add it to PAGES");
    }
}
