//! Bad input: the program ends with 2, says on stderr what is wrong and where, says nothing on stdout, and leaves
//! every file as it was. A model file is read whole or not at all.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

mod common;

use common::{NEW, QUICK, Workplace, clusters, gzip, idx, without_classes};

/// A folder with `model`, which has learned a and b, and `next.csv` with c and d to learn next.
fn learned() -> Workplace {
    let place = Workplace::new();
    place.write("first.csv", clusters(&["a", "b"], 20));
    place.write("next.csv", clusters(&["c", "d"], 20));
    place.learn("model", "first.csv");
    place
}

/// A folder `mnist` with four idx files: 8 images of 2 × 2 pixels to learn from, 4 to be examined on.
fn idx_folder() -> Workplace {
    let place = Workplace::new();
    for (prefix, n) in [("train", 8), ("t10k", 4)] {
        let labels: Vec<u8> = (0..n).map(|i| i % 2).collect();
        let pixels: Vec<u8> = (0..n * 4).map(|i| i * 7).collect();
        let images = idx(&[0x0803, n.into(), 2, 2], &pixels);
        place.write(&format!("mnist/{prefix}-images-idx3-ubyte.gz"), gzip(images));
        place.write(
            &format!("mnist/{prefix}-labels-idx1-ubyte.gz"),
            gzip(idx(&[0x0801, n.into()], &labels)),
        );
    }
    place
}

const RUN_MNIST: [&str; 5] = ["run", "mnist", "--data-dir", ".", "--learner=nearest-mean"];

// Files and folders.

#[test]
fn a_missing_file() {
    let place = learned();
    place.refuse(&["run", "absent.csv"], &["absent.csv", "no such file"]);
    place.refuse(&["learn", "model", "absent.csv"], &["absent.csv", "no such file"]);
    place.refuse(&["learn", "new", "absent.csv"], &["absent.csv", "no such file"]);
    place.refuse(
        &["predict", "model", "absent.csv"],
        &["absent.csv", "no such file"],
    );
    place.refuse(&["predict", "absent", "next.csv"], &["absent: No such file"]);
    place.refuse(&["inspect", "absent"], &["absent: No such file"]);
}

/// What the system says is said once.
#[test]
fn a_missing_file_is_said_once() {
    let place = learned();
    for words in [
        &["inspect", "absent"][..],
        &["predict", "absent", "next.csv"],
        &["learn", "absent/model", "next.csv"],
    ] {
        let stderr = place.run(words).stderr;
        assert_eq!(
            stderr.matches("No such file or directory").count(),
            1,
            "{words:?}: {stderr}"
        );
    }
}

#[test]
fn a_missing_companion() {
    let place = idx_folder();
    std::fs::remove_file(place.path().join("mnist/t10k-labels-idx1-ubyte.gz")).unwrap();
    place.refuse(&RUN_MNIST, &["mnist", "t10k-labels-idx1-ubyte[.gz] is missing"]);
    place.write("folder/train.csv", clusters(&["a", "b"], 5));
    place.refuse(&["run", "folder"], &["folder", "test.csv[.gz] is missing"]);
}

#[test]
fn a_folder_that_is_no_data_set() {
    let place = Workplace::new();
    place.write("folder/notes.md", "nothing");
    place.refuse(&["run", "folder"], &["folder", "no data set", "train.parquet"]);
}

#[test]
fn a_folder_in_place_of_a_model() {
    let place = learned();
    place.write("folder/notes.txt", "nothing");
    place.refuse(&["learn", "folder", "next.csv"], &["folder: ", "directory"]);
    place.refuse(&["predict", "folder", "next.csv"], &["folder: ", "directory"]);
    place.refuse(&["inspect", "folder"], &["folder: ", "directory"]);
}

#[test]
fn no_data_directory() {
    let place = Workplace::new();
    for name in ["mnist", "fashion-mnist", "cifar100", "cifar100-lite0"] {
        let expected = [
            name,
            "set AUTOACTIVATOR_DATA or --data-dir to the folder that holds",
        ];
        place.refuse(&["run", name], &expected);
        place.refuse(&["learn", "model", name], &expected);
        let mut elsewhere = place.command(&["run", name]);
        place.refuse_command(
            elsewhere.env("AUTOACTIVATOR_DATA", "nowhere"),
            &[&expected[..], &["nowhere"]].concat(),
        );
    }
}

/// An exam may take hours: that its record cannot be written must be known before, and then nothing is printed.
#[test]
fn a_record_that_cannot_be_written() {
    let place = learned();
    let run = ["run", "next.csv", "--learner", "nearest-mean", "--seeds", "1"];
    place.refuse(
        &[&run[..], &["--json", "absent/out.json"]].concat(),
        &["cannot write absent/out.json"],
    );
    place.refuse(
        &[&run[..], &["--json", "."]].concat(),
        &["cannot write .: ", "directory"],
    );
}

#[test]
fn a_report_that_cannot_be_written() {
    let place = learned();
    let run = ["run", "next.csv", "--learner", "nearest-mean", "--seeds", "1"];
    place.refuse(
        &[&run[..], &["--report", "absent/page.html"]].concat(),
        &["cannot write absent/page.html"],
    );
}

#[test]
fn a_model_that_cannot_be_written() {
    let place = learned();
    place.refuse(
        &[&["learn", "absent/model", "next.csv"], &NEW[..], &QUICK].concat(),
        &["absent/model: "],
    );
}

// What is in the files.

/// Where a gzip file may be cut: in its header, or in its content.
fn cuts(whole: &[u8]) -> [usize; 3] {
    [3, 11, whole.len() / 2]
}

const IDX_FILES: [&str; 4] = [
    "mnist/train-images-idx3-ubyte.gz",
    "mnist/train-labels-idx1-ubyte.gz",
    "mnist/t10k-images-idx3-ubyte.gz",
    "mnist/t10k-labels-idx1-ubyte.gz",
];

#[test]
fn a_truncated_gzip_file_of_idx() {
    let place = idx_folder();
    for name in IDX_FILES {
        let whole = place.read(name);
        for end in cuts(&whole) {
            place.write(name, &whole[..end]);
            place.refuse(&RUN_MNIST, &[name, "truncated"]);
        }
        place.write(name, whole);
    }
    place.succeed(&[&RUN_MNIST[..], &["--tasks", "1", "--no-report"]].concat());
}

/// All content is there, but its checksum, which comes last, is not: nobody knows whether it is right.
#[test]
fn a_gzip_file_of_idx_without_its_checksum() {
    let place = idx_folder();
    for name in IDX_FILES {
        let whole = place.read(name);
        for missing in [1, 4, 8, 9] {
            place.write(name, &whole[..whole.len() - missing]);
            place.refuse(&RUN_MNIST, &[name]);
        }
        place.write(name, whole);
    }
}

#[test]
fn a_gzip_file_with_a_flipped_byte() {
    let place = idx_folder();
    for name in IDX_FILES {
        let whole = place.read(name);
        let mut damaged = whole.clone();
        // The first byte of the checksum.
        damaged[whole.len() - 8] ^= 0x10;
        place.write(name, damaged);
        place.refuse(&RUN_MNIST, &[name]);
        place.write(name, whole);
    }
}

#[test]
fn a_truncated_gzip_file_of_csv() {
    let place = learned();
    let whole = gzip(clusters(&["c", "d"], 200));
    for end in cuts(&whole)
        .into_iter()
        .chain([whole.len() - 8, whole.len() - 4, whole.len() - 1])
    {
        place.write("next.csv.gz", &whole[..end]);
        for words in [
            &["run", "next.csv.gz"][..],
            &["learn", "model", "next.csv.gz"],
            &["learn", "new", "next.csv.gz"],
            &["predict", "model", "next.csv.gz"],
        ] {
            place.refuse(words, &["next.csv.gz", "fetch the file again"]);
        }
    }
}

#[test]
fn a_truncated_file_that_is_not_packed() {
    let place = idx_folder();
    std::fs::remove_file(place.path().join("mnist/train-images-idx3-ubyte.gz")).unwrap();
    let whole = idx(&[0x0803, 8, 2, 2], &[0; 32]);
    for (end, expected) in [
        (47, "32 bytes were expected"),
        (10, "truncated"),
        (0, "truncated"),
    ] {
        place.write("mnist/train-images-idx3-ubyte", &whole[..end]);
        place.refuse(&RUN_MNIST, &["train-images-idx3-ubyte", expected]);
    }
    place.write("mnist/train-images-idx3-ubyte", [&whole[..], &[0]].concat());
    place.refuse(
        &RUN_MNIST,
        &["train-images-idx3-ubyte", "more data than the header says"],
    );
}

#[test]
fn wrong_magic() {
    let place = idx_folder();
    let images = "mnist/train-images-idx3-ubyte.gz";
    let right = place.read(images);
    place.write(images, gzip(idx(&[0x0d03, 8, 2, 2], &[0; 32])));
    place.refuse(&RUN_MNIST, &[images, "0x00000803", "0x00000d03"]);
    // A web page that says "404".
    place.write(images, "<html>not found</html>");
    place.refuse(&RUN_MNIST, &[images, "not an idx file of images"]);
    place.write(images, right);
    let labels = "mnist/t10k-labels-idx1-ubyte.gz";
    place.write(labels, gzip(idx(&[0x0803, 4], &[0; 4])));
    place.refuse(&RUN_MNIST, &[labels, "not an idx file of labels"]);
}

#[test]
fn a_header_that_promises_too_much() {
    let place = idx_folder();
    let images = "mnist/train-images-idx3-ubyte.gz";
    for head in [
        [0x0803, u32::MAX, u32::MAX, u32::MAX],
        [0x0803, 8, 0, 2],
        [0x0803, 9999, 28, 28],
    ] {
        place.write(images, gzip(idx(&head, &[0; 32])));
        place.refuse(&RUN_MNIST, &[images]);
    }
}

#[test]
fn labels_and_rows_of_different_length() {
    let place = idx_folder();
    let labels = "mnist/train-labels-idx1-ubyte.gz";
    place.write(labels, gzip(idx(&[0x0801, 7], &[0, 1, 0, 1, 0, 1, 0])));
    place.refuse(
        &RUN_MNIST,
        &[labels, "7 labels for the 8 images", "train-images-idx3-ubyte.gz"],
    );
    place.refuse(
        &["learn", "model", "mnist", "--data-dir", "."],
        &[labels, "7 labels for the 8 images"],
    );
    let place = learned();
    place.write("short.csv", "1,2,3,4,c\n5,6,7,8\n");
    for words in [
        &["run", "short.csv"][..],
        &["learn", "model", "short.csv"],
        &["predict", "model", "short.csv"],
    ] {
        place.refuse(
            words,
            &["short.csv", "line 2 has 4 columns, the first line has 5"],
        );
    }
}

#[test]
fn nan_and_infinity() {
    let place = learned();
    for value in ["NaN", "nan", "inf", "-inf", "Infinity", "1e99"] {
        place.write(
            "bad.csv",
            format!("{}0.1,{value},0.1,0.1,c\n", clusters(&["c", "d"], 10)),
        );
        for words in [
            &["run", "bad.csv"][..],
            &["learn", "model", "bad.csv"],
            &["predict", "model", "bad.csv"],
        ] {
            place.refuse(words, &["bad.csv: line 21, column 2", value, "not finite"]);
        }
    }
    place.write("first.csv", "nan,nan,nan,nan,c\n1,2,3,4,d\n");
    place.refuse(
        &["learn", "model", "first.csv"],
        &["first.csv: line 1, column 1", "not finite"],
    );
    place.write("unlabelled.csv", "1,2,3,4\n1,2,3,inf\n");
    place.refuse(
        &["predict", "model", "unlabelled.csv"],
        &["unlabelled.csv: line 2, column 4", "not finite"],
    );
}

#[test]
fn cells_that_are_no_number() {
    let place = learned();
    for (row, place_of_it) in [
        ("1,two,3,4,c", "column 2: 'two' is not a number"),
        ("1,2,,4,c", "column 3: '' is empty"),
        ("1,2,3,4,", "column 5: the class is missing"),
    ] {
        place.write("bad.csv", format!("w,x,y,z,class\n1,2,3,4,c\n{row}\n"));
        place.refuse(
            &["learn", "model", "bad.csv"],
            &["bad.csv", "line 3", place_of_it],
        );
        place.refuse(&["run", "bad.csv"], &["bad.csv", "line 3", place_of_it]);
    }
    place.write("bad.csv", b"1,2,3,4,c\n1,2,3,4,\xff\xfe\n");
    place.refuse(&["learn", "model", "bad.csv"], &["bad.csv", "line 2", "UTF-8"]);
    place.write("bad.csv", "1\n2\n");
    place.refuse(
        &["learn", "model", "bad.csv"],
        &["bad.csv", "line 1 has one column"],
    );
}

/// A first row whose values were lost is not a line of names, to be skipped without a word.
#[test]
fn a_first_row_of_empty_cells() {
    let place = learned();
    place.write("bad.csv", format!(",,,,c\n{}", clusters(&["c", "d"], 10)));
    place.refuse(&["learn", "model", "bad.csv"], &["bad.csv", "line 1, column 1"]);
}

#[test]
fn one_class_only() {
    let place = learned();
    place.write("one.csv", clusters(&["c"], 20));
    place.refuse(&["run", "one.csv"], &["one.csv", "only one class", "'c'"]);
}

#[test]
fn a_class_with_one_row() {
    let place = learned();
    place.write(
        "lonely.csv",
        clusters(&["c", "d"], 20) + "0.1,0.2,0.3,0.4,lonely\n",
    );
    place.refuse(
        &["run", "lonely.csv"],
        &["lonely.csv", "class 'lonely' has only one row"],
    );
    place.refuse(
        &["learn", "model", "lonely.csv"],
        &["class 'lonely' has only 1 row", "validation"],
    );
    // The remedy that the message offers.
    place.succeed(
        &[
            &["learn", "new", "lonely.csv", "--validation", "0"],
            &NEW[..],
            &QUICK,
        ]
        .concat(),
    );
    place.write(
        "folder/train.csv",
        clusters(&["c", "d"], 20) + "0.1,0.2,0.3,0.4,lonely\n",
    );
    place.write("folder/test.csv", clusters(&["c", "d", "lonely"], 5));
    place.refuse(
        &["run", "folder", "--learner", "reactivation"],
        &["class 'lonely' has only 1 row"],
    );
}

#[test]
fn a_task_with_no_rows() {
    let place = learned();
    for empty in ["", "w,x,y,z,class\n", "\n\n"] {
        place.write("empty.csv", empty);
        for words in [
            &["run", "empty.csv"][..],
            &["learn", "model", "empty.csv"],
            &["predict", "model", "empty.csv"],
        ] {
            place.refuse(words, &["empty.csv", "no rows"]);
        }
    }
    let absent = ["class 'z' is not in the data", "c, d"];
    place.refuse(&["learn", "model", "next.csv", "--classes", "c,z"], &absent);
    place.refuse(&["learn", "model", "next.csv", "--classes", "z"], &absent);
    place.refuse(
        &["run", "digits", "--tasks", "11"],
        &["11 tasks for 10 classes", "at least one class"],
    );
    place.refuse(&["run", "digits", "--tasks", "B10/2"], &["2 tasks for 0 classes"]);
}

#[test]
fn a_class_with_rows_in_one_split_only() {
    let place = Workplace::new();
    place.write("folder/train.csv", clusters(&["a", "b", "c"], 5));
    place.write("folder/test.csv", clusters(&["a", "b"], 5));
    place.refuse(&["run", "folder"], &["class 'c' has no test rows"]);
    place.write("folder/test.csv", clusters(&["a", "b", "c", "d"], 5));
    place.refuse(&["run", "folder"], &["class 'd' has no training rows"]);
}

#[test]
fn a_class_of_an_earlier_task() {
    let place = learned();
    place.write("again.csv", clusters(&["b", "c"], 20));
    let choice = [
        "class 'b' was already learned in task 1",
        "accept",
        "leave its rows out",
    ];
    place.refuse(&["learn", "model", "again.csv"], &choice);
    place.refuse(
        &["learn", "model", "again.csv", "--repeated-classes", "refuse"],
        &choice,
    );
}

#[test]
fn a_class_of_an_earlier_task_is_accepted_by_a_model_that_was_made_to() {
    let place = learned();
    place.write("again.csv", clusters(&["b", "c"], 20));
    let accept = [&["--repeated-classes", "accept"], &NEW[..], &QUICK].concat();
    place.succeed(&[&["learn", "open", "first.csv"], &accept[..]].concat());
    place.succeed(&[&["learn", "open", "again.csv"], &accept[..]].concat());
    let said = place.succeed(&["inspect", "open"]);
    assert!(
        said.stdout.contains("3 classes") && said.stdout.contains("2 units"),
        "{}",
        said.stdout
    );
}

/// The choice that the message offers must be there for the model that brought the message up.
#[test]
fn a_class_of_an_earlier_task_is_accepted_when_the_message_is_followed() {
    let place = learned();
    place.write("again.csv", clusters(&["b", "c"], 20));
    place.succeed(&["learn", "model", "again.csv", "--repeated-classes", "accept"]);
    let said = place.succeed(&["inspect", "model"]);
    assert!(
        said.stdout.contains("3 classes") && said.stdout.contains("2 units"),
        "{}",
        said.stdout
    );
}

/// Rows of another width than the model, which has 4 features.
fn other_widths(place: &Workplace) -> [(&'static str, &'static str); 3] {
    place.write("wide.csv", "1,2,3,4,5,c\n1,2,3,4,6,d\n".repeat(5));
    place.write("narrow.csv", "1,2,c\n1,3,d\n".repeat(5));
    [
        ("wide.csv", "5 features"),
        ("narrow.csv", "2 features"),
        ("digits", "64 features"),
    ]
}

#[test]
fn another_number_of_features() {
    let place = learned();
    for (rows, found) in other_widths(&place) {
        place.refuse(&["predict", "model", rows], &[found, "learned with 4"]);
        place.refuse(
            &["predict", "model", rows, "--group", "all"],
            &[found, "learned with 4"],
        );
        place.refuse(&["learn", "model", rows], &[found, "learned with 4"]);
    }
    place.write("folder/train.csv", clusters(&["a", "b"], 5));
    place.write("folder/test.csv", "1,2,a\n1,3,b\n");
    place.refuse(
        &["run", "folder"],
        &["folder", "training rows have 4 features, test rows have 2"],
    );
}

/// The message must say which file has the wrong width.
#[test]
fn another_number_of_features_is_said_with_the_file() {
    let place = learned();
    for (rows, _) in other_widths(&place) {
        place.refuse(&["predict", "model", rows], &[rows]);
        place.refuse(&["learn", "model", rows], &[rows]);
    }
}

// Words of the command line.

#[test]
fn an_unknown_parameter() {
    let place = learned();
    place.refuse(&["run", "digits", "--tmax", "5"], &["'--tmax'", "'--t-max'"]);
    place.refuse(&["learn", "model", "next.csv", "--lmax", "5"], &["'--lmax'"]);
    place.refuse(&["predict", "model", "next.csv", "--seed", "5"], &["'--seed'"]);
    place.refuse(&["inspect", "model", "--table"], &["'--table'"]);
    place.refuse(&["examine"], &["'examine'"]);
}

/// Each hyper-parameter with values just outside its range, and with values that are none.
#[test]
fn parameters_out_of_range() {
    let place = learned();
    let bad: [(&str, &[&str]); 10] = [
        ("step-size", &["0"]),
        ("t-max", &["0"]),
        ("l-max", &["0"]),
        ("expected-accuracy", &["0", "1.01", "101%", "NaN", "-5%"]),
        ("r", &["0", "1", "1.5", "-0.5", "NaN"]),
        ("scopes", &["0", "0.5,0", "0.5,-1", "inf", "NaN"]),
        ("ridge", &["-1e-9", "inf", "NaN"]),
        ("validation", &["1", "100%", "-0.1", "NaN"]),
        ("patience", &["0"]),
        ("layers", &["0"]),
    ];
    for (parameter, values) in bad {
        let name = format!("parameter `{}` is ", parameter.replace('-', "_"));
        for value in values {
            let option = format!("--{parameter}={value}");
            place.refuse(&["run", "digits", &option], &[&name]);
            place.refuse(
                &[&["learn", "new", "next.csv", &option], &NEW[..]].concat(),
                &[&name],
            );
        }
    }
}

#[test]
fn parameters_that_are_no_number() {
    let place = learned();
    let whole = ["step-size", "t-max", "l-max", "patience", "layers", "seed"];
    for (parameter, value) in whole
        .iter()
        .flat_map(|name| ["ten", "", "1.5", "-1", "99999999999999999999"].map(|value| (*name, value)))
        .chain(
            ["expected-accuracy", "r", "scopes", "ridge", "validation"]
                .iter()
                .flat_map(|name| ["ten", "", "0.5;1"].map(|value| (*name, value))),
        )
        .chain([("activation", "softmax"), ("repeated-classes", "maybe")])
    {
        let option = format!("--{parameter}={value}");
        let name = format!("--{parameter}");
        place.refuse(&["run", "digits", &option], &[&name, value]);
        place.refuse(&["learn", "model", "next.csv", &option], &[&name, value]);
    }
}

/// A value out of range is refused also when the model has its parameters already.
#[test]
fn parameters_out_of_range_for_a_model_that_exists() {
    let place = learned();
    for (option, name) in [
        ("--t-max=0", "`t_max`"),
        ("--r=1", "`r`"),
        ("--validation=1", "`validation`"),
    ] {
        place.refuse(&["learn", "model", "next.csv", option], &[name]);
    }
}

/// More nodes than can be counted are refused like any other value out of range.
#[test]
fn parameters_that_are_too_large() {
    let place = learned();
    let largest = usize::MAX.to_string();
    let words = ["--step-size", &largest, "--l-max", &largest, "--t-max", "1"];
    place.refuse(
        &[&["learn", "new", "next.csv"], &NEW[..], &words].concat(),
        &["parameter `"],
    );
    place.refuse(
        &[
            &["run", "next.csv", "--seeds", "1", "--learner", "reactivation"],
            &words[..],
        ]
        .concat(),
        &["parameter `"],
    );
}

/// `--ridge -1` is a number out of range, not an option nobody knows.
#[test]
fn negative_numbers_are_taken_for_numbers() {
    let place = learned();
    for parameter in [
        "step-size",
        "t-max",
        "l-max",
        "expected-accuracy",
        "r",
        "scopes",
        "ridge",
        "validation",
    ] {
        let option = format!("--{parameter}");
        let said = place.run(&["run", "digits", &option, "-1"]);
        assert_eq!(said.code, Some(2));
        let named = said.stderr.contains(&option)
            || said
                .stderr
                .contains(&format!("`{}`", parameter.replace('-', "_")));
        assert!(named, "{option} -1: {}", said.stderr);
    }
}

#[test]
fn numbers_of_seeds() {
    let place = Workplace::new();
    place.refuse(&["run", "digits", "--seeds", "0"], &["--seeds", "0"]);
    place.refuse(&["run", "digits", "--seeds", "many"], &["--seeds", "many"]);
}

/// More runs than anybody has memory for.
#[test]
fn more_runs_than_memory() {
    let place = Workplace::new();
    let last = u64::MAX.to_string();
    let run = ["run", "digits", "--learner", "nearest-mean", "--no-report"];
    place.refuse(&[&run[..], &["--seeds", &last]].concat(), &["seeds"]);
}

/// The second run would need a seed above the largest number.
#[test]
fn more_runs_than_seeds() {
    let place = Workplace::new();
    let last = u64::MAX.to_string();
    let run = ["run", "digits", "--learner", "nearest-mean", "--no-report"];
    place.refuse(
        &[&run[..], &["--seed", &last, "--seeds", "2"]].concat(),
        &["seed"],
    );
}

/// Nothing examined is no result: the last seed there is gives one run, or is refused.
#[test]
fn the_last_seed() {
    let place = Workplace::new();
    let last = u64::MAX.to_string();
    let said = place.run(&[
        "run",
        "--learner",
        "nearest-mean",
        "--no-report",
        "--json",
        "-",
        "--seeds",
        "1",
        "--seed",
        &last,
    ]);
    if said.code == Some(0) {
        let record: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(record["results"][0]["runs"].as_array().unwrap().len(), 1);
    } else {
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains("seed"), "{}", said.stderr);
    }
}

#[test]
fn an_unknown_learner() {
    let place = Workplace::new();
    place.refuse(
        &["run", "digits", "--learner", "forest"],
        &["--learner", "'forest'", "reactivation", "nearest-mean"],
    );
    place.refuse(
        &["run", "digits", "--learner", ""],
        &["--learner", "reactivation"],
    );
}

#[test]
fn a_bad_protocol() {
    let place = Workplace::new();
    for protocol in [
        "batch",
        "task-batch",
        "task-batch=0",
        "task-batch=-1",
        "task-batch=ten",
        "instance=1",
        "",
    ] {
        place.refuse(
            &["run", "digits", "--protocol", protocol],
            &["--protocol", protocol, "mixed-batch=B"],
        );
    }
}

#[test]
fn a_bad_scenario() {
    let place = Workplace::new();
    for tasks in [
        "five", "0", "10/0", "0/5", "B5", "B/5", "4,,6", "10/5/2", "2,4...", "",
    ] {
        place.refuse(
            &["run", "digits", "--tasks", tasks],
            &["--tasks", tasks, "is not a scenario", "10/5"],
        );
    }
    for (tasks, why) in [
        ("100/5", "the data set has 10: write 10/5"),
        ("4,3,2", "9 classes together, the data set has 10"),
        ("6,6,...", "starts with 12 classes"),
        ("B8/3", "3 tasks for 2 classes"),
        ("18446744073709551615", "tasks for 10 classes"),
        ("18446744073709551615,1", "the data set has 10"),
        ("B18446744073709551615/1", "classes"),
        ("99999999999999999999", "is not a scenario"),
    ] {
        place.refuse(
            &["run", "digits", "--tasks", tasks, "--seeds", "1"],
            &[tasks, why],
        );
    }
    place.refuse(
        &["run", "digits", "--tasks", "4,2,...", "--seeds", "1"],
        &["4,2,...", "4 classes left"],
    );
}

#[test]
fn a_bad_group() {
    let place = learned();
    for group in ["0", "-1", "1.5", "some", ""] {
        let option = format!("--group={group}");
        place.refuse(
            &["predict", "model", "next.csv", &option],
            &["--group", "above 0, or all"],
        );
    }
}

#[test]
fn missing_words() {
    let place = learned();
    place.refuse(&["learn", "model"], &["<ROWS>"]);
    place.refuse(&["learn"], &["<MODEL>"]);
    place.refuse(&["predict", "model"], &["<ROWS>"]);
    place.refuse(&["inspect"], &["<MODEL>"]);
    place.refuse(&["run", "digits", "--t-max"], &["--t-max"]);
}

// Model files.

/// Whatever is done with a model file that is none, it is refused by name and left alone.
#[track_caller]
fn refuse_model(place: &Workplace, content: &[u8], expected: &[&str]) {
    place.write("damaged", content);
    for words in [
        &["inspect", "damaged"][..],
        &["inspect", "damaged", "--json"],
        &["predict", "damaged", "next.csv"],
        &["learn", "damaged", "next.csv"],
    ] {
        place.refuse(words, &[&["damaged: not a usable model file"], expected].concat());
    }
}

#[test]
fn a_truncated_model() {
    let place = learned();
    let whole = place.read("model");
    for end in [
        0,
        1,
        7,
        8,
        9,
        100,
        whole.len() / 3,
        whole.len() / 2,
        whole.len() - 8,
        whole.len() - 1,
    ] {
        refuse_model(&place, &whole[..end], &[]);
    }
    refuse_model(&place, &[&whole[..], &[0]].concat(), &[]);
}

#[test]
fn a_model_from_a_newer_format() {
    let place = learned();
    let mut newer = place.read("model");
    let version = br#"format_version\":1"#;
    let at = newer
        .windows(version.len())
        .position(|window| window == version)
        .unwrap();
    newer[at + version.len() - 1] = b'9';
    refuse_model(&place, &newer, &["format version 9", "use a newer AutoActivator"]);
}

#[test]
fn a_model_with_a_flipped_byte() {
    let place = learned();
    let whole = place.read("model");
    // The length of the header, then everywhere: header, checksum, numbers.
    let places = (0..8)
        .chain((8..whole.len()).step_by(whole.len() / 25))
        .chain([whole.len() - 1]);
    for at in places {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        refuse_model(&place, &damaged, &[]);
    }
}

#[test]
fn a_file_that_is_something_else() {
    let place = learned();
    refuse_model(&place, clusters(&["a", "b"], 10).as_bytes(), &[]);
    refuse_model(&place, b"{\"format_version\": 1}", &[]);
    refuse_model(&place, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &[]);
    refuse_model(&place, &gzip(place.read("model")), &[]);
    refuse_model(&place, &[0xff; 64], &[]);
    refuse_model(&place, &[0; 64], &[]);
    // A safetensors file of somebody else, without tensors.
    refuse_model(&place, b"\x02\0\0\0\0\0\0\0{}", &["not written by AutoActivator"]);
    let header = br#"{"__metadata__":{"autoactivator":"{}"}}"#;
    refuse_model(
        &place,
        &[&(header.len() as u64).to_le_bytes()[..], header].concat(),
        &["description is damaged"],
    );
}

/// Two files given in the wrong order: the rows are no model, and stay what they are.
#[test]
fn model_and_rows_the_wrong_way_round() {
    let place = learned();
    place.refuse(
        &["learn", "next.csv", "model"],
        &["next.csv: a model is written here", "model.aact"],
    );
    place.refuse(
        &["predict", "next.csv", "model"],
        &["next.csv: not a usable model file"],
    );
    place.refuse(&["learn", "model", "model"], &["model: "]);
    place.refuse(&["run", "model"], &["model: "]);
}

/// A task that fails leaves a model as usable as before.
#[test]
fn a_model_goes_on_after_bad_input() {
    let place = learned();
    let expected = place.succeed(&["predict", "model", "first.csv"]).stdout;
    place.write("bad.csv", "1,2,3,nan,c\n");
    place.refuse(&["learn", "model", "bad.csv"], &["bad.csv"]);
    assert_eq!(place.succeed(&["predict", "model", "first.csv"]).stdout, expected);
    place.write("plain.csv", without_classes(&clusters(&["a", "b"], 20)));
    // Rows without classes have no true class to pass on.
    let plain = place.succeed(&["predict", "model", "plain.csv"]).stdout;
    let classes = expected.lines().filter_map(|line| line.rsplit_once(','));
    assert!(classes.map(|(answer, _)| answer).eq(plain.lines()));
    place.learn("model", "next.csv");
}

#[test]
fn control_characters_in_names_do_not_reach_the_terminal() {
    let place = Workplace::new();
    place.write("rows.csv", clusters(&["a", "b"], 4));
    place.succeed(&["learn", "m.aact", "rows.csv"]);
    for words in [
        &["drop-class", "m.aact", "c\u{1b}[2J"][..],
        &["inspect", "c\u{1b}[2J"],
        &["predict", "m.aact", "c\u{1b}[2J"],
        &["serve", "c\u{1b}[2J/m.aact"],
    ] {
        let said = place.run(words);
        assert_eq!(said.code, Some(2), "{words:?}");
        assert!(said.stderr.contains("c\\u{1b}[2J"), "{}", said.stderr);
        assert!(!said.stderr.contains('\u{1b}'), "{}", said.stderr);
    }
}
