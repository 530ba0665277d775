//! Every command of docs/tutorial.md, on photographs and a backbone that are made here.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;
mod words;

use common::{Workplace, said};

const TUTORIAL: &str = include_str!("../../../docs/tutorial.md");

/// The words after each `$ autoactivator`.
fn commands() -> Vec<Vec<&'static str>> {
    let lines = TUTORIAL
        .lines()
        .filter_map(|line| line.strip_prefix("$ autoactivator "));
    lines.map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn every_command_of_the_tutorial_runs() {
    let place = Workplace::new();
    place.write("dinov2_small.onnx", photos::backbone(1));
    for part in ["train", "test"] {
        for class in ["mug", "plate", "spoon"] {
            photos::write_large(&place, &format!("photos/{part}"), class, 12);
        }
    }
    photos::write_large(&place, "new", "fork", 12);
    for number in 0..12 {
        let path = place.write(&format!("knives/{number:03}.png"), b"");
        photos::photograph("knife", number).save(path).unwrap();
    }
    words::write(&place, "cache/autoactivator/backbones/minilm");
    place.write("tickets.csv", words::intents(12));
    place.write("questions.txt", "how are you today\nwhat is the time\n");
    let commands = commands();
    assert!(commands.len() > 15, "the tutorial has lost its commands");
    let mut evaluations = Vec::new();
    for words in commands {
        let said = said(&mut place.command(&words));
        assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
        if words[0] == "eval" {
            evaluations.push(said.stdout);
        }
    }
    for evaluation in &evaluations {
        assert!(evaluation.contains("36 of 36 rows right"), "{evaluation}");
    }
    assert!(place.exists("answers.csv") && place.exists("answers.parquet") && place.exists("head.onnx"));
    let answers = String::from_utf8(place.read("answers.csv")).unwrap();
    assert!(
        answers.starts_with("row,name,class,true_class\n0,mug/"),
        "{answers}"
    );
    assert!(!answers.contains(",spoon,"), "a dropped class is not an answer");
}
