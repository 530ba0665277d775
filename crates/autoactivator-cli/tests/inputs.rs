//! Images and tables, learned from in one command: what works, what is refused, and that nothing is half done.

mod common;
mod photos;

use std::fs;

use common::{Workplace, clusters, without_classes};

const BACKBONE: [&str; 2] = ["--backbone", "backbone.onnx"];

fn kitchen() -> Workplace {
    let place = Workplace::new();
    place.write("backbone.onnx", photos::backbone(1));
    place.write("other.onnx", photos::backbone(2));
    for name in ["backbone.toml", "other.toml"] {
        place.write(name, photos::SETTINGS);
    }
    for class in ["mug", "plate"] {
        photos::write(&place, "photos", class, 6);
    }
    place
}

#[track_caller]
fn learn_photos(place: &Workplace, words: &[&str]) -> common::Said {
    place.succeed(&[&["learn", "m.aact", "photos"], &BACKBONE[..], words].concat())
}

#[test]
fn every_format_gives_the_same_model() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["ape", "bee", "cat"], 20));
    place.succeed(&["learn", "csv.aact", "rows.csv"]);
    for format in ["parquet", "arrow", "csv"] {
        let table = format!("table.{format}");
        place.succeed(&["features", "rows.csv", "-o", &table]);
        let model = format!("{format}.aact");
        place.succeed(&["learn", &model, &table]);
        let answers = |model: &str| place.succeed(&["predict", model, "rows.csv", "--proba"]).stdout;
        assert_eq!(answers(&model), answers("csv.aact"), "{format}");
    }
}

#[test]
fn a_second_run_computes_nothing() {
    let place = kitchen();
    learn_photos(&place, &[]);
    let model = place.read("m.aact");
    fs::remove_file(place.path().join("m.aact")).unwrap();
    learn_photos(&place, &[]);
    assert_eq!(place.read("m.aact"), model);
    assert!(
        place
            .files()
            .keys()
            .any(|path| path.starts_with(place.path().join("cache")))
    );
    fs::remove_file(place.path().join("m.aact")).unwrap();
    learn_photos(&place, &["--no-cache"]);
    assert_eq!(place.read("m.aact"), model, "what is kept is what is computed");
}

#[test]
fn another_backbone_is_refused_by_name() {
    let place = kitchen();
    learn_photos(&place, &[]);
    for command in ["learn", "predict", "eval", "unlearn"] {
        place.refuse(
            &[command, "m.aact", "photos", "--backbone", "other.onnx"],
            &[
                "learned from backbone (sha256",
                "these rows come from other (sha256",
            ],
        );
        place.refuse(
            &[
                command,
                "m.aact",
                "photos",
                "--backbone",
                "backbone.onnx",
                "--size",
                "64",
            ],
            &["--size is 64, but the model was learned with 32"],
        );
    }
    place.succeed(&[
        "features",
        "photos",
        "-o",
        "t.parquet",
        "--backbone",
        "other.onnx",
    ]);
    place.refuse(&["learn", "m.aact", "t.parquet"], &["these rows come from other"]);
}

#[test]
fn two_backbones_are_read_side_by_side() {
    let place = kitchen();
    learn_photos(&place, &["--backbone", "other.onnx"]);
    let said = place.succeed(&["inspect", "m.aact"]);
    assert!(said.stdout.contains("16 features"), "{}", said.stdout);
    assert!(said.stdout.contains("backbone (sha256"), "{}", said.stdout);
}

#[test]
fn pixels_are_learned_without_a_backbone() {
    let place = kitchen();
    place.succeed(&["learn", "m.aact", "photos"]);
    let said = place.succeed(&["eval", "m.aact", "photos"]);
    assert!(said.stdout.contains("12 of 12 rows right"), "{}", said.stdout);
    let answers = place.succeed(&["predict", "m.aact", "photos/mug/001.png"]).stdout;
    assert_eq!(answers, "row,name,class\n0,001.png,mug\n");
}

#[test]
fn a_folder_is_split_by_a_seed() {
    let place = kitchen();
    let said = learn_photos(&place, &["--split", "7"]);
    assert!(said.stderr.contains("learned 10 rows"), "{}", said.stderr);
    let words = [
        "eval",
        "m.aact",
        "photos",
        "--backbone",
        "backbone.onnx",
        "--split",
        "7",
    ];
    let said = place.succeed(&words);
    assert!(said.stdout.contains("2 of 2 rows right"), "{}", said.stdout);
}

#[test]
fn a_damaged_image_is_named_and_skipped() {
    let place = kitchen();
    place.write("photos/mug/empty.jpg", b"");
    place.write("photos/plate/text.png", b"not an image");
    let said = learn_photos(&place, &[]);
    assert!(
        said.stderr.contains("empty.jpg") && said.stderr.contains("text.png"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("2 images could not be read"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("learned 12 rows"), "{}", said.stderr);
    fs::remove_file(place.path().join("m.aact")).unwrap();
    let words = [
        "learn",
        "m.aact",
        "photos",
        "--backbone",
        "backbone.onnx",
        "--strict",
    ];
    // Threads read ahead, so which of the damaged images is found first is open.
    place.refuse(&words, &["error: photos/"]);
    assert!(!place.exists("m.aact"));
}

#[test]
fn folders_that_cannot_be_learned_from_are_refused() {
    let place = kitchen();
    fs::create_dir(place.path().join("nothing")).unwrap();
    place.write("loose/a.dat", b"no image");
    let learn = |rows: &'static str| ["learn", "m.aact", rows, "--backbone", "backbone.onnx"];
    place.refuse(&learn("nothing"), &["nothing"]);
    place.refuse(&learn("loose"), &["loose"]);
    place.refuse(&learn("absent"), &["absent"]);
    place.refuse(&learn("photos/mug"), &["carry no classes"]);
    assert!(!place.exists("m.aact"));
}

#[test]
fn a_folder_with_one_class_is_a_task_like_any_other() {
    let place = kitchen();
    learn_photos(&place, &[]);
    photos::write(&place, "one", "spoon", 6);
    place.succeed(&["learn", "m.aact", "one", "--backbone", "backbone.onnx"]);
    let said = place.succeed(&["eval", "m.aact", "one", "--backbone", "backbone.onnx", "--json"]);
    assert!(said.stdout.contains("\"accuracy\": 100.0"), "{}", said.stdout);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_named() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = kitchen();
    let class = place.path().join("photos").join(OsStr::from_bytes(b"gl\xffss"));
    fs::create_dir(&class).unwrap();
    photos::photograph("glass", 0).save(class.join("a.png")).unwrap();
    let words = ["learn", "m.aact", "photos", "--backbone", "backbone.onnx"];
    place.refuse(&words, &["gl\u{fffd}ss", "UTF-8"]);
    // A table may be called what it likes.
    let table = place.path().join(OsStr::from_bytes(b"t\xff.csv"));
    fs::write(&table, clusters(&["ape", "bee"], 9)).unwrap();
    let mut command = place.command(&["learn", "t.aact"]);
    let said = common::said(command.arg(&table));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn backbones_that_cannot_be_used_are_refused() {
    let place = kitchen();
    place.write("strange.onnx", photos::strange_backbone());
    place.write("empty.onnx", b"");
    place.write("text.onnx", b"this is no model at all, however long it may be");
    let learn = |file: &'static str| ["learn", "m.aact", "photos", "--backbone", file];
    place.refuse(&learn("strange.onnx"), &["strange.onnx", "Frobnicate"]);
    place.refuse(&learn("empty.onnx"), &["empty.onnx"]);
    place.refuse(&learn("text.onnx"), &["text.onnx"]);
    place.refuse(&learn("absent.onnx"), &["absent.onnx"]);
    let words = [&learn("backbone.onnx")[..], &["--backbone-output", "logits"]].concat();
    place.refuse(&words, &["backbone.onnx", "logits", "features"]);
    place.write("rows.csv", clusters(&["ape", "bee"], 5));
    place.refuse(
        &["learn", "m.aact", "rows.csv", "--backbone", "backbone.onnx"],
        &["needs images"],
    );
}

#[test]
fn answers_come_in_three_formats() {
    let place = Workplace::new();
    let rows = clusters(&["ape", "bee", "cat"], 20);
    place.write("rows.csv", &rows);
    place.write("new.csv", without_classes(&rows));
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    let csv = place
        .succeed(&["predict", "m.aact", "new.csv", "--top", "2"])
        .stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "row,class,class_1,probability_1,class_2,probability_2");
    assert!(lines[1].starts_with("0,ape,ape,"), "{}", lines[1]);
    let jsonl = place
        .succeed(&["predict", "m.aact", "new.csv", "--top", "1", "--format", "jsonl"])
        .stdout;
    let first: serde_json::Value = serde_json::from_str(jsonl.lines().next().unwrap()).unwrap();
    assert_eq!(first["class"], "ape");
    assert_eq!(first["top"][0]["class"], "ape");
    place.succeed(&["predict", "m.aact", "new.csv", "--proba", "-o", "answers.parquet"]);
    assert!(place.read("answers.parquet").starts_with(b"PAR1"));
    place.refuse(
        &["predict", "m.aact", "new.csv", "--format", "parquet"],
        &["--output"],
    );
    place.refuse(
        &["predict", "m.aact", "new.csv", "-o", "m.aact"],
        &["m.aact: answers cannot be written as .aact"],
    );
}

#[test]
fn eval_names_the_protocol_and_what_was_never_learned() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["ape", "bee"], 20));
    place.write("more.csv", clusters(&["ape", "bee", "cat"], 20));
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    let said = place.succeed(&["eval", "m.aact", "more.csv"]);
    assert!(
        said.stdout.contains("protocol instance: 40 of 60 rows right"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("never learned: cat"), "{}", said.stdout);
    place.write("new.csv", without_classes(&clusters(&["ape"], 3)));
    place.refuse(&["eval", "m.aact", "new.csv"], &["new.csv", "carry no classes"]);
}

#[test]
fn ids_and_true_classes_are_passed_on() {
    let place = Workplace::new();
    let rows = clusters(&["ape", "bee"], 20);
    let with_ids = |rows: &str| {
        let lines = rows.lines().enumerate();
        let lines: String = lines.map(|(row, line)| format!("A-{row},{line}\n")).collect();
        format!("order,a,b,c,d,class\n{lines}")
    };
    place.write("rows.csv", with_ids(&rows));
    place.refuse(&["learn", "m.aact", "rows.csv"], &["column 1", "is not a number"]);
    let said = place.succeed(&["learn", "m.aact", "rows.csv", "--id", "order"]);
    assert!(said.stderr.contains("4 features (a, b, c, d)"), "{}", said.stderr);
    let words = ["predict", "m.aact", "rows.csv", "--id", "order"];
    let answers = place.succeed(&words).stdout;
    assert!(
        answers.starts_with("row,name,class,true_class\n0,A-0,ape,ape\n1,A-1,bee,bee\n"),
        "{answers}"
    );
    let lines = place
        .succeed(&[&words[..], &["--format", "jsonl"]].concat())
        .stdout;
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["name"], &first["true_class"]),
        (&"A-0".into(), &"ape".into())
    );
    // The same from another format: its own answers are a table, too.
    place.succeed(&[&words[..], &["-o", "answers.parquet"]].concat());
    assert!(
        place
            .read("answers.parquet")
            .windows(10)
            .any(|bytes| bytes == b"true_class")
    );
    place.refuse(
        &["predict", "m.aact", "rows.csv", "--id", "town"],
        &["no id column 'town'"],
    );
    place.refuse(
        &[
            "predict",
            "m.aact",
            "rows.csv",
            "--id",
            "class",
            "--columns",
            "a,b,c,d",
        ],
        &["both class and id"],
    );
    place.write(
        "more.jsonl",
        "{\"order\": 7, \"a\": 0, \"b\": 0, \"c\": 0, \"d\": 0}\n",
    );
    let answers = place
        .succeed(&["predict", "m.aact", "more.jsonl", "--id", "order"])
        .stdout;
    assert!(answers.starts_with("row,name,class\n0,7,"), "{answers}");
}

#[test]
fn eval_counts_every_answer_and_writes_a_report() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["ape", "bee"], 20));
    place.write("more.csv", clusters(&["ape", "bee", "cat"], 20));
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    let said = place.succeed(&["eval", "m.aact", "more.csv", "--json", "--report", "eval.html"]);
    let found: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&found["rows"], &found["right"]), (&60.into(), &40.into()));
    assert_eq!(found["classes"][0]["answers"], serde_json::json!({"ape": 20}));
    assert_eq!(
        (&found["classes"][2]["class"], &found["classes"][2]["right"]),
        (&"cat".into(), &0.into())
    );
    let taken: u64 = found["classes"][2]["answers"]
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(taken, 20);
    assert!(found["calibration"].is_array() && found["mistakes"][0]["probability"].is_number());
    let page = String::from_utf8(place.read("eval.html")).unwrap();
    for expected in [
        "66.7 % of 60 rows are right.",
        "<b>Never learned:</b> cat",
        "class=\"numbers\"",
    ] {
        assert!(page.contains(expected), "{expected} is missing");
    }
    place.refuse(
        &["eval", "m.aact", "more.csv", "--report", "m.aact"],
        &["ends in .aact"],
    );
    place.refuse(
        &["eval", "m.aact", "more.csv", "--report", "no/where.html"],
        &["does not exist"],
    );
    place.refuse(
        &["eval", "m.aact", "more.csv", "--report", "-"],
        &["needs a file"],
    );
}

#[test]
fn a_class_that_is_not_there_is_refused() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["ape", "bee"], 20));
    place.refuse(
        &["learn", "m.aact", "rows.csv", "--classes", "dog"],
        &["'dog' is not in the data"],
    );
    place.refuse(
        &["learn", "m.aact", "rows.csv", "--classes", "ape,dog"],
        &["'dog' is not in the data"],
    );
    assert!(!place.exists("m.aact"));
}
