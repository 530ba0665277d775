//! What one additive memory makes possible, from a terminal: learn, predict with probabilities and "unknown", merge,
//! unlearn, drop a class, export - and every refusal leaves every file as it was.

mod common;
mod photos;
mod watch;

use common::{Workplace, clusters};

/// A model that has learned classes a and b, and the csv files of some tasks.
fn learned() -> Workplace {
    let place = Workplace::new();
    place.write("first.csv", clusters(&["a", "b"], 30));
    place.write("second.csv", clusters(&["c", "d"], 30));
    place.write("third.csv", clusters(&["e", "f"], 30));
    place.succeed(&["learn", "model", "first.csv"]);
    place
}

#[test]
fn probabilities_and_unknown() {
    let place = learned();
    let said = place.succeed(&["predict", "model", "first.csv", "--proba"]);
    assert!(
        said.stdout.starts_with("row,class,true_class,a,b\n0,a,a,"),
        "{}",
        said.stdout
    );
    let said = place.succeed(&["predict", "model", "first.csv", "--reject", "100%"]);
    assert!(
        said.stdout.lines().skip(1).all(|line| line.contains(",unknown,")),
        "{}",
        said.stdout
    );
    assert!(said.stderr.contains("60 unknown"), "{}", said.stderr);
    place.refuse(&["predict", "model", "first.csv", "--reject", "2"], &["--reject"]);
    place.refuse(
        &["predict", "model", "first.csv", "--proba", "--group", "5"],
        &["--proba"],
    );
}

#[test]
fn sites_that_began_from_one_model_merge_to_what_one_site_would_have_learned() {
    let place = learned();
    for (site, task) in [("site-a", "second.csv"), ("site-b", "third.csv")] {
        place.write(site, place.read("model"));
        place.succeed(&["learn", site, task]);
    }
    let said = place.succeed(&["merge", "all", "site-a", "site-b", "--base", "model"]);
    assert!(said.stderr.contains("180 rows, 6 classes"), "{}", said.stderr);
    place.succeed(&["learn", "model", "second.csv"]);
    place.succeed(&["learn", "model", "third.csv"]);
    for task in ["first.csv", "second.csv", "third.csv"] {
        let (one, merged) = (
            place.succeed(&["predict", "model", task]),
            place.succeed(&["predict", "all", task]),
        );
        assert_eq!(one.stdout, merged.stdout);
    }
}

#[test]
fn several_sites_merge_at_once() {
    let place = learned();
    place.write("fourth.csv", clusters(&["g", "h"], 30));
    let tasks = ["second.csv", "third.csv", "fourth.csv"];
    for (site, task) in ["site-a", "site-b", "site-c"].into_iter().zip(tasks) {
        place.write(site, place.read("model"));
        place.succeed(&["learn", site, task]);
    }
    let said = place.succeed(&["merge", "all", "site-a", "site-b", "site-c", "--base", "model"]);
    assert!(said.stderr.contains("240 rows, 8 classes"), "{}", said.stderr);
    for task in tasks {
        place.succeed(&["learn", "model", task]);
    }
    for task in tasks {
        let (one, merged) = (
            place.succeed(&["predict", "model", task]),
            place.succeed(&["predict", "all", task]),
        );
        assert_eq!(one.stdout, merged.stdout);
    }
}

#[test]
fn a_class_gets_another_name_and_keeps_what_was_learned() {
    let place = learned();
    let before = place.succeed(&["predict", "model", "first.csv"]).stdout;
    place.succeed(&["rename-class", "model", "a", "apple"]);
    let after = place.succeed(&["predict", "model", "first.csv"]).stdout;
    assert_eq!(after, before.replace(",a,", ",apple,"));
    place.refuse(&["rename-class", "model", "a", "c"], &["class 'a' is not known"]);
    place.refuse(&["rename-class", "model", "apple", "b"], &["already a class 'b'"]);
    place.refuse(&["rename-class", "model", "apple", " "], &["no name"]);
    place.succeed(&["learn", "units", "first.csv", "--learner", "reactivation"]);
    place.succeed(&["rename-class", "units", "b", "berry"]);
    let said = place.succeed(&["inspect", "units"]);
    assert!(said.stdout.contains("classes: a, berry\n"), "{}", said.stdout);
    place.refuse(
        &["drop-class", "units", "a"],
        &["units", "a reactivation model cannot"],
    );
}

#[test]
fn the_readout_may_change_and_the_pool_may_not() {
    let place = learned();
    place.succeed(&["learn", "model", "second.csv", "--readout", "lda"]);
    let said = place.succeed(&["inspect", "model", "--json"]);
    assert!(said.stdout.contains("\"readout\": \"lda\""), "{}", said.stdout);
    place.refuse(
        &[
            "learn",
            "model",
            "third.csv",
            "--readout",
            "ridge",
            "--nodes",
            "7",
        ],
        &["parameter `nodes` is", "cannot be changed"],
    );
}

#[test]
fn unlearning_and_dropping() {
    let place = learned();
    place.succeed(&["learn", "model", "second.csv"]);
    let said = place.succeed(&["unlearn", "model", "second.csv", "--classes", "d"]);
    assert!(said.stderr.contains("90 rows"), "{}", said.stderr);
    place.succeed(&["drop-class", "model", "c"]);
    let said = place.succeed(&["inspect", "model"]);
    assert!(said.stdout.contains("classes: a, b\n"), "{}", said.stdout);
    assert!(
        said.stdout.contains("memory for further learning"),
        "{}",
        said.stdout
    );
}

#[test]
fn exported_models_predict_the_same_and_learn_no_more() {
    let place = learned();
    place.succeed(&["export", "model", "-o", "deployed"]);
    place.succeed(&["export", "model", "-o", "half", "--half"]);
    place.succeed(&["export", "model", "-o", "model.onnx", "--onnx"]);
    let whole = place.succeed(&["predict", "model", "first.csv"]);
    assert_eq!(
        whole.stdout,
        place.succeed(&["predict", "deployed", "first.csv"]).stdout
    );
    assert_eq!(
        whole.stdout,
        place.succeed(&["predict", "half", "first.csv"]).stdout
    );
    let size = |name: &str| place.read(name).len();
    assert!(size("half") < size("deployed") && size("deployed") < size("model") && size("model.onnx") > 0);
    place.refuse(&["learn", "deployed", "second.csv"], &["cannot learn"]);
    place.refuse(&["unlearn", "deployed", "first.csv"], &["deployed", "memory"]);
}

#[test]
fn half_precision_is_read_again_before_it_is_called_a_success() {
    let place = Workplace::new();
    for (scale, name) in [
        ("e6", "large"),
        ("e-5", "small"),
        ("e-9", "tiny"),
        ("e12", "huge"),
    ] {
        let rows = (0..40).map(|i| format!("{i}.5{scale},{}.25{scale},{}\n", 7 * i % 11, ["a", "b"][i % 2]));
        place.write("rows.csv", rows.collect::<String>());
        place.succeed(&["learn", name, "rows.csv", "--nodes", "16"]);
        let exported = place.run(&["export", name, "-o", "half.aact", "--half"]);
        if exported.code == Some(0) {
            place.succeed(&["predict", "half.aact", "rows.csv"]);
            std::fs::remove_file(place.path().join("half.aact")).unwrap();
        } else {
            let said = exported.stderr;
            assert!(
                said.contains("single precision") && !place.exists("half.aact"),
                "{said}"
            );
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let place = learned();
    place.succeed(&["learn", "stranger", "second.csv", "--seed", "9"]);
    place.write("narrow.csv", "1,a\n2,b\n");
    place.refuse(
        &["merge", "all", "model", "stranger"],
        &["model and stranger", "different pools"],
    );
    place.refuse(&["merge", "all", "model"], &["2 values required"]);
    place.refuse(
        &["unlearn", "model", "second.csv"],
        &["second.csv", "class 'c' is not known"],
    );
    place.refuse(&["unlearn", "model", "narrow.csv"], &["narrow.csv", "1 feature"]);
    place.refuse(&["drop-class", "model", "z"], &["class 'z' is not known", "a, b"]);
    place.refuse(&["learn", "model", "second.csv", "--seed", "3"], &["`seed` is 0"]);
    place.refuse(&["learn", "model", "second.csv", "--fading", "0"], &["`fading`"]);
    place.refuse(&["export", "model", "-o", "absent/file"], &["absent/file"]);
    place.refuse(
        &["learn", "new", "first.csv", "--pool", "convolution"],
        &["needs images", "`image`"],
    );
    // Rows learned once can be taken back once.
    place.succeed(&["unlearn", "model", "first.csv"]);
    place.refuse(
        &["unlearn", "model", "first.csv"],
        &["first.csv", "already unlearned"],
    );
}

#[test]
fn without_its_last_class_a_model_is_a_pool_that_can_learn_again() {
    let place = learned();
    let before = place.succeed(&["predict", "model", "first.csv"]);
    for class in ["a", "b"] {
        place.succeed(&["drop-class", "model", class]);
    }
    place.refuse(
        &["predict", "model", "first.csv"],
        &["nothing has been learned yet"],
    );
    place.refuse(&["drop-class", "model", "a"], &["nothing has been learned yet"]);
    place.succeed(&["inspect", "model"]);
    place.succeed(&["learn", "model", "first.csv"]);
    assert_eq!(
        place.succeed(&["predict", "model", "first.csv"]).stdout,
        before.stdout
    );
}

#[test]
fn a_column_weighs_the_rows() {
    let place = Workplace::new();
    let header = "a,b,w,class\n";
    let rows = [
        "0,0.1,2,low",
        "0.1,0,1,low",
        "0.9,1,3,high",
        "1,0.9,1,high",
        "0.5,0.4,0,odd",
    ];
    place.write("weighed.csv", format!("{header}{}\n", rows.join("\n")));
    let copies = |row: &&str| {
        let cells: Vec<&str> = row.split(',').collect();
        format!("{},{},{}\n", cells[0], cells[1], cells[3]).repeat(cells[2].parse().unwrap())
    };
    let copied: String = rows.iter().map(copies).collect();
    place.write("copied.csv", format!("a,b,class\n{copied}"));
    let said = place
        .succeed(&["learn", "m.aact", "weighed.csv", "--weight", "w"])
        .stderr;
    assert!(said.contains("learned 4 rows of 2 features (a, b)"), "{said}");
    assert!(
        said.contains("; weighed by column 'w'; 1 row left out; "),
        "{said}"
    );
    place.succeed(&["learn", "c.aact", "copied.csv"]);
    let rows_of = |model: &str| {
        let said = place.succeed(&["inspect", model, "--json"]).stdout;
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        (said["growth"][0]["rows"].clone(), said["classes"].clone())
    };
    assert_eq!(rows_of("m.aact"), rows_of("c.aact"));
    let unlearn = [
        "unlearn",
        "m.aact",
        "weighed.csv",
        "--classes",
        "low",
        "--weight",
        "w",
    ];
    assert!(place.succeed(&unlearn).stderr.contains("4 rows, 1 class"));
}

#[test]
fn wrong_weights_are_refused() {
    let place = Workplace::new();
    let before = "a,b,w,class\n0,0.1,2,low\n";
    for (row, words) in [
        (
            "1,1,-2,high",
            "row 1 weighs -2: a weight says how often the row counts",
        ),
        ("1,1,NaN,high", "line 3, column 3: 'NaN' is not finite"),
        ("1,1,heavy,high", "line 3, column 3: 'heavy' is not a number"),
        ("1,1,,high", "line 3, column 3: '' is empty"),
    ] {
        place.write("t.csv", format!("{before}{row}\n"));
        place.refuse(&["learn", "m.aact", "t.csv", "--weight", "w"], &[words]);
    }
    place.write("t.csv", format!("{before}1,1,2,high\n"));
    for (words, reason) in [
        (&["t.csv", "--weight", "v"][..], "there is no weight column 'v'"),
        (
            &["t.csv", "--weight", "w", "--columns", "a,w"],
            "cannot be both feature and weight",
        ),
        (
            &["t.csv", "--weight", "w", "--label", "w"],
            "cannot be both class and weight",
        ),
        (&["digits", "--weight", "w"], "--weight chooses a column"),
        (
            &["t.csv", "--weight", "w", "--learner", "reactivation"],
            "counts every row once",
        ),
    ] {
        place.refuse(&[&["learn", "m.aact"], words].concat(), &[reason]);
    }
    assert!(!place.exists("m.aact"));
}
