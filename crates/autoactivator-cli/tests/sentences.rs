//! Sentences on the command line: from tables, folders and lines, through an encoder that the model remembers.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod words;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use common::{Said, Workplace};

/// A place with sentences, and the usual encoder in its data folder.
fn place() -> Workplace {
    let place = Workplace::new();
    words::write(&place, "data/backbones/minilm");
    place.write("train.csv", words::intents(12));
    place
}

#[track_caller]
fn learned() -> Workplace {
    let place = place();
    let said = place.succeed(&[
        "learn",
        "m.aact",
        "train.csv",
        "--text",
        "text",
        "--data-dir",
        "data",
        "--nodes",
        "32",
    ]);
    for part in [
        "24 rows of 6 features",
        "class from column 'intent' (the only one beside the text)",
        "greeting 12, time 12",
        "features by ",
    ] {
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
    place
}

/// Runs a command with this on stdin.
fn given(place: &Workplace, words: &[&str], stdin: &str) -> Said {
    let mut command = place.command(words);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn a_sentence_a_line_is_answered_and_nothing_is_typed_twice() {
    let place = learned();
    let said = given(
        &place,
        &["predict", "m.aact", "-"],
        "how are you\nwhat is the time \"now\"\n",
    );
    assert_eq!(
        said.stdout, "row,name,class\n0,how are you,greeting\n1,\"what is the time \"\"now\"\"\",time\n",
        "{}",
        said.stderr
    );
    place.write("more.txt", "how are you today\n");
    let lines = place.succeed(&["predict", "m.aact", "more.txt", "--top", "1", "--format", "jsonl"]);
    assert!(
        lines.stdout.contains("\"class\":\"greeting\""),
        "{}",
        lines.stdout
    );
    // The column is remembered, too.
    let evaluated = place.succeed(&["eval", "m.aact", "train.csv"]);
    assert!(
        evaluated.stdout.contains("24 of 24 rows right"),
        "{}",
        evaluated.stdout
    );
    let inspected = place.succeed(&["inspect", "m.aact"]).stdout;
    assert!(
        inspected.contains("sentences through minilm (sha256"),
        "{inspected}"
    );
}

#[test]
fn a_new_class_next_week_and_back() {
    let place = learned();
    let before = given(
        &place,
        &["predict", "m.aact", "-", "--proba"],
        "my name is what\nhow are you\n",
    )
    .stdout;
    let names = "text,intent\nmy name is what is my name,name\nmy name my name,name\nwhat is my name,name\n";
    place.write("new.csv", names);
    place.succeed(&["learn", "m.aact", "new.csv"]);
    let said = given(&place, &["predict", "m.aact", "-"], "my name my name is\n");
    assert!(said.stdout.ends_with(",name\n"), "{}", said.stdout);
    place.refuse(&["learn", "m.aact", "new.csv"], &["already learned"]);
    place.succeed(&["unlearn", "m.aact", "new.csv"]);
    let after = given(
        &place,
        &["predict", "m.aact", "-", "--proba"],
        "my name is what\nhow are you\n",
    )
    .stdout;
    assert_eq!(after, before);
}

#[test]
fn every_kind_of_table_and_a_folder_give_the_same_answers() {
    let place = learned();
    let answers = place.succeed(&["predict", "m.aact", "train.csv"]).stdout;
    let rows: Vec<(String, String)> = words::intents(12)
        .lines()
        .skip(1)
        .filter_map(|line| line.rsplit_once(','))
        .map(|(text, class)| (text.trim_matches('"').to_owned(), class.to_owned()))
        .collect();
    let line =
        |(text, class): &(String, String)| format!("{{\"text\": \"{text}\", \"intent\": \"{class}\"}}\n");
    place.write("train.jsonl", rows.iter().map(line).collect::<String>());
    assert_eq!(
        place.succeed(&["predict", "m.aact", "train.jsonl"]).stdout,
        answers
    );
    let tabs = rows
        .iter()
        .map(|(text, class)| format!("{text}\t{class}\n"))
        .collect::<String>();
    place.write("train.tsv", tabs);
    let tabs = place.succeed(&["predict", "m.aact", "train.tsv", "--text", "1"]);
    assert_eq!(tabs.stdout, answers, "{}", tabs.stderr);
    for (row, (text, class)) in rows.iter().enumerate() {
        place.write(&format!("texts/{class}/{row:02}.txt"), format!("{text}\n"));
    }
    let folder = place.succeed(&["eval", "m.aact", "texts"]);
    assert!(folder.stdout.contains("24 of 24 rows right"), "{}", folder.stdout);
    let named = place.succeed(&["predict", "m.aact", "texts"]).stdout;
    assert!(named.contains("0,greeting/00.txt,greeting,greeting\n"), "{named}");
    // A folder of its own model, without any name of a column.
    let said = place.succeed(&[
        "learn",
        "other.aact",
        "texts",
        "--data-dir",
        "data",
        "--nodes",
        "32",
    ]);
    assert!(said.stderr.contains("class from the folders"), "{}", said.stderr);
}

#[test]
fn features_of_sentences_are_a_table_like_any_other() {
    let place = learned();
    let words = [
        "features",
        "train.csv",
        "--text",
        "text",
        "--data-dir",
        "data",
        "-o",
    ];
    for table in ["train.parquet", "rows.csv"] {
        place.succeed(&[&words[..], &[table]].concat());
    }
    // A Parquet table remembers where its rows come from.
    place.succeed(&["learn", "n.aact", "train.parquet", "--nodes", "32"]);
    let answers = given(
        &place,
        &["predict", "n.aact", "-", "--data-dir", "data"],
        "how are you\n",
    );
    assert!(
        answers.stdout.ends_with("0,how are you,greeting\n"),
        "{answers:?}"
    );
    // The model takes features, too.
    let evaluated = place.succeed(&["eval", "m.aact", "rows.csv"]);
    assert!(
        evaluated.stdout.contains("24 of 24 rows right"),
        "{}",
        evaluated.stdout
    );
}

#[test]
fn an_exam_on_sentences() {
    let place = place();
    let words = [
        "run",
        "train.csv",
        "--text",
        "text",
        "--data-dir",
        "data",
        "--tasks",
        "single",
    ];
    let more = [
        "--learner",
        "consolidation",
        "--nodes",
        "32",
        "--seeds",
        "1",
        "--no-report",
    ];
    let table = place.succeed(&[&words[..], &more].concat());
    assert!(table.stdout.contains("consolidation"), "{}", table.stdout);
    // A data set known by name, in the data folder.
    place.write("data/clinc150/train.csv", words::intents(12));
    place.write("data/clinc150/test.csv", words::intents(5));
    let words = ["run", "clinc150", "--data-dir", "data", "--tasks", "single"];
    let table = place.succeed(&[&words[..], &more].concat());
    assert!(table.stdout.contains("clinc150"), "{}", table.stdout);
    let place_of = [
        "learn",
        "c.aact",
        "clinc150",
        "--data-dir",
        "data",
        "--nodes",
        "32",
    ];
    place.succeed(&place_of);
    let evaluated = place.succeed(&["eval", "c.aact", "clinc150", "--data-dir", "data"]);
    assert!(
        evaluated.stdout.contains("10 of 10 rows right"),
        "{}",
        evaluated.stdout
    );
}

#[test]
fn the_encoder_is_named_found_again_or_missed() {
    let place = learned();
    let ask = |words: &[&str]| {
        place
            .succeed(&[&["eval", "m.aact", "train.csv"], words].concat())
            .stdout
    };
    let answers = ask(&[]);
    assert_eq!(ask(&["--backbone", "minilm", "--data-dir", "data"]), answers);
    assert_eq!(ask(&["--backbone", "data/backbones/minilm"]), answers);
    assert_eq!(ask(&["--backbone", "data/backbones/minilm/model.onnx"]), answers);
    fs::rename(
        place.path().join("data/backbones/minilm"),
        place.path().join("minilm"),
    )
    .unwrap();
    assert_eq!(ask(&[]), answers);
    fs::rename(place.path().join("minilm"), place.path().join("elsewhere")).unwrap();
    place.refuse(
        &["eval", "m.aact", "train.csv"],
        &["minilm (sha256", "was not found", "--backbone"],
    );
    assert_eq!(ask(&["--backbone", "elsewhere"]), answers);
    place.refuse(
        &["learn", "new.aact", "train.csv", "--text", "text"],
        &["no sentence encoder", "backbone get minilm"],
    );
    place.refuse(
        &[
            "eval",
            "m.aact",
            "train.csv",
            "--backbone",
            "elsewhere",
            "--pooling",
            "first",
        ],
        &["pooling is first", "mean"],
    );
    place.refuse(
        &[
            "learn",
            "m.aact",
            "train.csv",
            "--text",
            "text",
            "--backbone",
            "elsewhere",
            "--size",
            "32",
        ],
        &["--size is a setting of images"],
    );
}

#[test]
fn what_is_wrong_is_said() {
    let place = learned();
    place.refuse(
        &["learn", "x.aact", "train.csv"],
        &["column 'text' looks like text: use --text text"],
    );
    place.refuse(
        &[
            "learn",
            "x.aact",
            "train.csv",
            "--text",
            "sentence",
            "--data-dir",
            "data",
        ],
        &["no text column 'sentence'", "text, intent"],
    );
    place.write("empty.csv", "text,intent\nhow are you,greeting\n,time\n");
    place.refuse(
        &["learn", "m.aact", "empty.csv"],
        &["line 3, column 1: the sentence is empty"],
    );
    place.write("bytes.csv", b"text,intent\nhow are you,greeting\n\xff\xfe,time\n");
    place.refuse(&["eval", "m.aact", "bytes.csv"], &["not UTF-8"]);
    place.write(
        "long.csv",
        format!("text,intent\n{},time\n", "word ".repeat(300_000)),
    );
    place.refuse(
        &["eval", "m.aact", "long.csv"],
        &["the sentence has 1499999 bytes"],
    );
    place.write("numbers.npy", b"\x93NUMPY");
    place.refuse(
        &[
            "learn",
            "x.aact",
            "numbers.npy",
            "--text",
            "text",
            "--data-dir",
            "data",
        ],
        &["numbers.npy"],
    );
    let said = given(&place, &["learn", "m.aact", "-"], "how are you\n");
    assert!(
        said.code == Some(2) && said.stderr.contains("the sentences carry no classes"),
        "{said:?}"
    );
    let said = given(&place, &["predict", "m.aact", "-"], "how are you\n\nwhat\n");
    assert!(
        said.code == Some(2) && said.stderr.contains("line 2: the sentence is empty"),
        "{said:?}"
    );
    place.write("rows.csv", "1,2,a\n3,4,b\n");
    place.refuse(
        &["learn", "x.aact", "rows.csv", "--pooling", "mean"],
        &["--pooling needs sentences"],
    );
    place.refuse(
        &["memory", "begin", "x.aact", "train.csv", "--text", "text"],
        &["autoactivator features --text"],
    );
}

#[test]
fn sentences_are_not_for_models_of_images_nor_images_for_models_of_sentences() {
    let place = learned();
    for (class, value) in [("a", 10), ("b", 200)] {
        for number in 0..6 {
            let picture = image::GrayImage::from_pixel(8, 8, image::Luma([value + number]));
            place.write(&format!("pictures/{class}/{number}.png"), b"");
            picture
                .save(place.path().join(format!("pictures/{class}/{number}.png")))
                .unwrap();
        }
    }
    place.succeed(&["learn", "p.aact", "pictures"]);
    place.refuse(
        &[
            "learn",
            "p.aact",
            "train.csv",
            "--text",
            "text",
            "--data-dir",
            "data",
        ],
        &["these are sentences", "learned from images (pixels 8x8"],
    );
    place.refuse(
        &["learn", "m.aact", "pictures"],
        &[
            "the model was learned from sentences through minilm",
            "these rows come from pixels",
        ],
    );
}
