//! Wrong and doubtful options, one line each: what is given, and what is said about it. The program ends with 2, says
//! nothing on stdout, changes no file and leaves none behind.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;
mod photos;

use common::{NEW, QUICK, Workplace, clusters};

/// What is given, and what must be said.
type Case = (&'static str, &'static [&'static str]);

/// Photographs, tables, backbones, and a model of each kind.
fn place() -> Workplace {
    let place = Workplace::new();
    for class in ["mug", "plate", "spoon"] {
        photos::write(&place, "photos", class, 6);
    }
    photos::write(&place, "one", "mug", 3);
    photos::write(&place, "lonely", "mug", 3);
    photos::write(&place, "lonely", "plate", 1);
    place.write("net.onnx", photos::backbone(1));
    place.write("net.toml", photos::SETTINGS);
    place.write("other.onnx", photos::backbone(2));
    place.write("other.toml", photos::SETTINGS);
    place.write("text.onnx", "no model at all");
    let rows = clusters(&["a", "b", "c", "d"], 10);
    place.write("rows.csv", format!("w,x,y,z,class\n{rows}"));
    place.write("narrow.csv", "x,class\n1,a\n2,b\n3,a\n4,b\n");
    place.succeed(&[
        "learn",
        "seen.aact",
        "photos",
        "--backbone",
        "net.onnx",
        "--no-cache",
    ]);
    place.succeed(&["learn", "pixels.aact", "photos"]);
    place.succeed(&["learn", "table.aact", "rows.csv"]);
    place.succeed(&[&["learn", "units.aact", "rows.csv"], &NEW[..], &QUICK].concat());
    place.succeed(&["memory", "begin", "begun.aact", "rows.csv"]);
    place.succeed(&["memory", "build", "begun.aact", "rows.csv", "-o", "rows.partial"]);
    place
}

fn refuse_all(cases: &[Case]) {
    let place = place();
    for (given, said) in cases {
        let words: Vec<&str> = given.split_whitespace().collect();
        place.refuse(&words, said);
    }
}

#[test]
fn of_run() {
    refuse_all(&[
        ("run photos --tasks 4", &["4 tasks for 3 classes"]),
        ("run photos --tasks 10/5", &["the data set has 3"]),
        (
            "run photos --backbone net.onnx --learner consolidation --pool patches",
            &["no learner", "needs images"],
        ),
        (
            "run photos --backbone absent.onnx",
            &["absent.onnx: No such file"],
        ),
        ("run photos --backbone text.onnx", &["text.onnx"]),
        (
            "run photos --backbone net.onnx --mean 1,2",
            &["--mean", "three numbers"],
        ),
        (
            "run photos --size 64",
            &["--size", "give the backbone with --backbone"],
        ),
        ("run photos --label class", &["photos: is not a table", "--label"]),
        ("run photos --split 3", &["'--split'"]),
        ("run photos/mug", &["photos/mug", "no folder per class"]),
        ("run one", &["one: there is only one class ('mug')"]),
        ("run lonely", &["lonely: class 'plate' has only one image"]),
        ("run digits --columns x", &["digits: is not a table", "--columns"]),
        (
            "run digits --learner consolidation --pool patches --image 3x3",
            &["3x3x1 do not fit rows of 64 features"],
        ),
        (
            "run digits --online --learner reactivation",
            &["no learner can take part", "repeated_classes"],
        ),
        (
            "run rows.csv --label kind",
            &["rows.csv: there is no label column 'kind'", "class"],
        ),
        (
            "run rows.csv --columns w,v",
            &["rows.csv: there is no feature column 'v'"],
        ),
        (
            "run rows.csv --backbone net.onnx",
            &["rows.csv: --backbone needs images"],
        ),
        ("run rows.csv --preset clip", &["rows.csv: --preset needs images"]),
        (
            "run rows.csv --report rows.csv",
            &["rows.csv: the name ends in .csv"],
        ),
        ("run rows.csv --json ./rows.csv", &["the name ends in .csv"]),
        (
            "run photos --report photos/mug/001.png",
            &["the name ends in .png"],
        ),
        (
            "run rows.csv --json out --report ./out",
            &["--json and --report name the same file"],
        ),
        (
            "run rows.csv --json absent/out",
            &["cannot write absent/out: its directory does not exist"],
        ),
        (
            "run rows.csv --report photos",
            &["cannot write photos: it is a directory"],
        ),
    ]);
}

#[test]
fn of_learning_images() {
    refuse_all(&[
        (
            "learn new.aact photos --size 64",
            &["--size", "give the backbone with --backbone"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --size 0",
            &["size is 0, but must be 1 to 2048"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --scale 0,1,1",
            &["net.onnx: scale", "none of them 0"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --layout nhwc",
            &["net.onnx", "takes images of 3 pixels"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --preset vgg",
            &["--preset", "vgg"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --backbone-output logits",
            &["net.onnx", "logits"],
        ),
        (
            "learn new.aact photos --backbone net.onnx --classes mug,cup",
            &["'cup' is not in the data", "mug, plate"],
        ),
        (
            "learn new.aact photos --cache here --no-cache",
            &["'--cache", "cannot be used with"],
        ),
        ("learn new.aact photos/mug", &["carry no classes"]),
        (
            "learn new.aact rows.csv --mean 1,2,3",
            &["rows.csv: --mean needs images"],
        ),
        (
            "learn seen.aact photos --backbone other.onnx",
            &["learned from net (sha256", "rows come from other (sha256"],
        ),
        (
            "learn seen.aact photos --backbone net.onnx --size 64",
            &["--size is 64", "learned with 32"],
        ),
        (
            "learn seen.aact photos --channels bgr",
            &["--channels is bgr", "learned with rgb"],
        ),
        (
            "learn seen.aact photos --mean 1,2,3",
            &["--mean is 1.0,2.0,3.0", "learned with 128.0,128.0,128.0"],
        ),
        (
            "learn seen.aact photos --preset clip",
            &["of --preset is", "learned with"],
        ),
        (
            "learn seen.aact photos --learner reactivation",
            &["seen.aact", "consolidation", "reactivation"],
        ),
        (
            "learn pixels.aact photos --backbone net.onnx",
            &["learned from pixels 20x24x3", "come from net"],
        ),
        (
            "learn table.aact photos",
            &["photos: rows have 1440 features", "learned with 4"],
        ),
        (
            "unlearn seen.aact photos --classes cup",
            &["'cup' is not in the data"],
        ),
    ]);
}

#[test]
fn of_asking_about_images() {
    refuse_all(&[
        (
            "predict seen.aact photos --backbone other.onnx",
            &["learned from net (sha256"],
        ),
        (
            "predict seen.aact photos --size 64",
            &["--size is 64", "learned with 32"],
        ),
        (
            "predict seen.aact photos -o seen.aact",
            &["seen.aact: answers cannot be written as .aact"],
        ),
        (
            "predict seen.aact photos -o ./seen.aact",
            &["cannot be written as .aact"],
        ),
        (
            "predict seen.aact photos -o photos/mug/000.jpg",
            &["cannot be written as .jpg"],
        ),
        (
            "predict table.aact rows.csv -o rows.csv",
            &["cannot write rows.csv", "the input rows.csv"],
        ),
        (
            "predict seen.aact photos -o absent/answers.csv",
            &["cannot write absent/answers.csv"],
        ),
        ("predict seen.aact photos --format parquet", &["--output"]),
        (
            "predict seen.aact photos --proba --top 2",
            &["'--proba'", "'--top <K>'"],
        ),
        ("predict seen.aact photos --top 0", &["--top"]),
        (
            "predict seen.aact photos --reject 2",
            &["--reject", "from 0 to 1"],
        ),
        (
            "predict units.aact rows.csv --proba",
            &["need a consolidation model"],
        ),
        (
            "predict pixels.aact photos --backbone net.onnx",
            &["learned from pixels 20x24x3"],
        ),
        ("predict table.aact photos --size 64", &["--size", "--backbone"]),
        ("predict seen.aact net.onnx", &["net.onnx"]),
        ("eval seen.aact photos/mug", &["carry no classes"]),
        ("eval seen.aact photos/mug/001.png", &["carry no classes"]),
        ("eval seen.aact absent", &["absent", "no such file"]),
        ("features photos -o table.txt", &["table.txt"]),
        (
            "features rows.csv -o rows.csv",
            &["cannot write rows.csv", "the input rows.csv"],
        ),
        ("export table.aact -o table.aact", &["cannot write table.aact"]),
    ]);
}

#[test]
fn of_memory() {
    refuse_all(&[
        (
            "memory begin table.aact rows.csv",
            &["table.aact: already exists"],
        ),
        ("memory begin new.aact absent.csv", &["absent.csv: No such file"]),
        ("memory begin new.aact photos", &["photos: Is a directory"]),
        (
            "memory begin new.aact rows.csv --label kind",
            &["rows.csv: there is no label column 'kind'"],
        ),
        (
            "memory begin new.aact rows.csv narrow.csv",
            &["narrow.csv", "missing: 'w', 'y', 'z'"],
        ),
        ("memory begin new.aact rows.csv --pool patches", &["needs images"]),
        ("memory begin new.aact rows.csv --pool-nodes 9", &["--pool"]),
        ("memory build begun.aact rows.csv", &["--output"]),
        (
            "memory build begun.aact rows.csv -o rows.csv",
            &["cannot write rows.csv", "the input rows.csv"],
        ),
        (
            "memory build begun.aact rows.csv -o begun.aact",
            &["cannot write begun.aact"],
        ),
        ("memory build begun.aact rows.csv -o absent/x", &["absent/x"]),
        (
            "memory build begun.aact absent.csv -o x",
            &["absent.csv: No such file"],
        ),
        (
            "memory build begun.aact narrow.csv -o x",
            &["narrow.csv", "missing: 'w', 'y', 'z'"],
        ),
        (
            "memory build units.aact rows.csv -o x",
            &["only a consolidation model"],
        ),
        (
            "memory build absent.aact rows.csv -o x",
            &["absent.aact: No such file"],
        ),
        ("memory merge begun.aact rows.csv", &["rows.csv"]),
        ("memory merge begun.aact begun.aact", &["begun.aact"]),
        (
            "memory merge begun.aact absent.partial",
            &["absent.partial: No such file"],
        ),
        (
            "memory merge units.aact rows.partial",
            &["only a consolidation model"],
        ),
    ]);
}

/// A failure in the middle leaves the answers of last time as they are.
#[test]
fn answers_are_whole_or_not_there() {
    let place = place();
    place.write("bad.csv", "w,x,y,z,class\n1,2,3,4,a\n1,2,3,nan,b\n");
    for output in ["answers.csv", "answers.jsonl", "answers.parquet"] {
        place.refuse(&["predict", "table.aact", "bad.csv", "-o", output], &["bad.csv"]);
        place.write(output, "those of last time");
        place.refuse(&["predict", "table.aact", "bad.csv", "-o", output], &["bad.csv"]);
    }
}

/// The file is named once in a message, also where two places could name it.
#[test]
fn a_file_is_named_once() {
    let place = place();
    place.write("bad.csv", "w,x,y,z,class\n1,2,3,4,a\n1,2,3,nan,b\n");
    place.write("photos/mug/bad.jpg", "no image");
    for (given, file) in [
        ("learn table.aact bad.csv", "bad.csv: line"),
        ("predict table.aact bad.csv", "bad.csv: line"),
        ("eval table.aact bad.csv", "bad.csv: line"),
        ("unlearn table.aact bad.csv", "bad.csv: line"),
        ("learn pixels.aact photos --strict", "photos/mug/bad.jpg: "),
    ] {
        let words: Vec<&str> = given.split_whitespace().collect();
        let said = place.run(&words);
        let expected = format!("error: {file}");
        assert!(said.stderr.starts_with(&expected), "{given}: {}", said.stderr);
    }
}
