//! Tables as other programs write them, and wrong or doubtful ones: learned as meant, or refused with the remedy, and
//! never anything else. What is refused changes no file and leaves none behind.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

mod common;

use common::{Workplace, clusters};

/// What is in the table, the options, and what must be said.
type Case = (&'static str, &'static str, &'static [&'static str]);

/// A model that was learned from named columns, and a table with its columns the other way round.
fn place() -> Workplace {
    let place = Workplace::new();
    let rows = clusters(&["a", "b"], 20);
    let turned = rows.lines().map(|line| {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells[..4].reverse();
        cells.join(",") + "\n"
    });
    place.write(
        "turned.csv",
        "z,y,x,w,kind\n".to_owned() + &turned.collect::<String>(),
    );
    place.write("rows.csv", format!("w,x,y,z,kind\n{rows}"));
    place.succeed(&["learn", "model.aact", "rows.csv"]);
    place
}

#[test]
fn tables_that_are_refused() {
    let place = place();
    let cases: &[Case] = &[
        ("", "", &["no rows"]),
        ("w,x,kind\n", "", &["no rows"]),
        ("1\n2\n", "", &["one column"]),
        ("w,x,kind\n1,,a\n", "", &["line 2, column 2", "is empty"]),
        (
            "w,x,kind\n1,two,a\n",
            "",
            &["line 2, column 2", "'two' is not a number", "--label"],
        ),
        ("w,x,kind\n1,NaN,a\n", "", &["'NaN' is not finite"]),
        ("w,x,kind\n1,2,\n", "", &["the class is missing"]),
        ("w,x,kind\n1,2,a\n3,b\n", "", &["line 3 has 2 columns"]),
        (
            "w,x,kind\n1,2,\"a\n3,4,b\n",
            "",
            &["line 2", "is a quote missing?"],
        ),
        ("w,x,kind\n1,2,\"a", "", &["line 2", "is a quote missing?"]),
        ("w,\"x,kind\n1,2,a\n", "", &["line 1", "is a quote missing?"]),
        (
            "w,x,kind\n1,2,a\n3,4,b\"c\n",
            "",
            &["line 3", "double the quotes"],
        ),
        ("w,x,kind\n1,2,a\0\n", "", &["line 2", "NUL", "UTF-8"]),
        ("w,w,kind\n1,2,a\n", "", &["two columns are called 'w'"]),
        (
            "w;x;kind\n1,5;2,5;a\n3,5;4,5;b\n",
            "",
            &["has a comma", "--decimal-comma"],
        ),
        ("1,x,a\n2,3,b\n", "", &["line 1, column 2", "--header"]),
        ("3,9,label\n5,6,a\n7,8,b\n", "", &["--header or --no-header"]),
        (
            "2019,2020,2021,kind\n5,6,1,a\n7,8,1,b\n5,5,5,a\n",
            "",
            &["--header or --no-header"],
        ),
        (",w,kind\n5,1,a\n2,2,b\n", "", &["the first column has no name"]),
        (
            "w,x\n1,1.5\n2,2.5\n3,3.5\n",
            "",
            &["looks like a measurement", "--label", "--no-label"],
        ),
        ("w,x\n1,2\n2,4\n3,9\n", "--no-label", &["no classes"]),
        (
            "w,x,kind\n1,2,a\n",
            "--label species",
            &["no label column 'species'"],
        ),
        ("w,x,kind\n1,2,a\n", "--columns w,v", &["no feature column 'v'"]),
        (
            "w,x,kind\n1,2,a\n",
            "--label kind --columns w,kind",
            &["both feature and class"],
        ),
        ("1,2,a\n3,4,b\n", "--label 9", &["no label column '9'"]),
        ("w,x,kind\n1,2,a\n", "--delimiter ;;", &["one character"]),
        (
            "w,x,kind\n1,2,a\n",
            "--header --no-header",
            &["cannot be used with"],
        ),
        ("{\"w\": 1, \"kind\": \"a\"}\n", "", &["'kind'", "--label"]),
        ("[{\"w\": 1}]", "", &["JSON"]),
        ("<html><body>404</body></html>", "", &["HTML"]),
        ("PK\u{3}\u{4} a workbook", "", &["rows.xlsx"]),
        ("SQLite format 3\0", "", &["SQLite"]),
        ("%PDF-1.7", "", &["PDF"]),
    ];
    for (content, options, said) in cases {
        place.write("rows.xlsx", content);
        let options: Vec<&str> = options.split_whitespace().collect();
        place.refuse(
            &[&["learn", "new.aact", "rows.xlsx"], &options[..]].concat(),
            said,
        );
    }
}

#[test]
fn what_does_not_fit_the_model_is_refused() {
    let place = place();
    let rows = clusters(&["a", "b"], 2);
    let cases: &[Case] = &[
        ("w,x,y,q,kind\n", "", &["missing: 'z'", "not among them: 'q'"]),
        ("w,x,y,kind\n", "", &["missing: 'z'"]),
        ("w,x,y,z,q,kind\n", "", &["not among them"]),
        ("w,x,y,z,kind\n", "--columns w,x,y", &["missing: 'z'"]),
    ];
    for (header, options, said) in cases {
        let columns = header.matches(',').count();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let mut row: Vec<&str> = cells[..4].iter().copied().cycle().take(columns).collect();
            row.push(cells[4]);
            row.join(",") + "\n"
        };
        let body: String = rows.lines().map(row).collect();
        place.write("other.csv", format!("{header}{body}"));
        let options: Vec<&str> = options.split_whitespace().collect();
        for command in ["learn", "predict", "eval", "unlearn"] {
            place.refuse(
                &[&[command, "model.aact", "other.csv"], &options[..]].concat(),
                said,
            );
        }
    }
    let cases: &[(&str, &[&str])] = &[
        (
            "learn model.aact rows.csv",
            &["already learned", "in task 1, as rows.csv", "again"],
        ),
        ("learn model.aact rows.csv --classes a", &["already learned"]),
        ("learn - rows.csv", &["cannot be one"]),
        ("learn new.parquet rows.csv", &["ends in .parquet"]),
        (
            "predict model.aact rows.csv -o rows.csv",
            &["cannot write rows.csv", "the input rows.csv"],
        ),
        (
            "predict model.aact rows.csv -o ./rows.csv",
            &["the input rows.csv"],
        ),
        ("predict model.aact rows.csv -o link.csv", &["the input rows.csv"]),
        ("predict model.aact rows.csv -o hard.csv", &["the input rows.csv"]),
        ("predict model.aact rows.csv -o copy", &["it is a model"]),
        ("predict model.aact rows.csv -o out.xlsx", &[".xlsx", ".parquet"]),
        (
            "predict model.aact rows.csv -o out.csv --format jsonl",
            &["contradicts --format"],
        ),
        ("predict model.aact rows.csv --format parquet", &["--output"]),
        ("export model.aact -o model.aact", &["the input model.aact"]),
        (
            "export model.aact -o ./model.aact --force",
            &["the input model.aact"],
        ),
        (
            "export model.aact -o copy.aact",
            &["it exists already", "--force"],
        ),
        ("export model.aact -o foo.csv", &[".aact"]),
        ("export model.aact -o foo.aact --onnx", &[".onnx"]),
        ("export model.aact -o foo.onnx --half", &["--half"]),
        ("features rows.csv -o rows.csv", &["the input rows.csv"]),
        ("features rows.csv -o out.xlsx", &["must end in"]),
        ("merge model.aact model.aact copy.aact", &["the input model.aact"]),
        ("merge copy.aact model.aact model.aact", &["it exists already"]),
        (
            "memory build model.aact rows.csv -o rows.csv",
            &["the input rows.csv"],
        ),
        ("run rows.csv --report copy.aact", &["ends in .aact"]),
        (
            "unlearn faded.aact rows.csv",
            &["`fading` is 0.5", "drop the class"],
        ),
    ];
    place.write("copy", place.read("model.aact"));
    place.write("copy.aact", place.read("model.aact"));
    place.succeed(&["learn", "faded.aact", "rows.csv", "--fading", "0.5"]);
    std::fs::hard_link(place.path().join("rows.csv"), place.path().join("hard.csv")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("rows.csv", place.path().join("link.csv")).unwrap();
    for (given, said) in cases
        .iter()
        .filter(|(given, _)| cfg!(unix) || !given.contains("link"))
    {
        place.refuse(&given.split_whitespace().collect::<Vec<_>>(), said);
    }
}

/// What each table says, the options, and what is understood of it.
#[test]
fn tables_are_learned_as_meant() {
    let place = Workplace::new();
    let cases: &[(&str, &str, &str)] = &[
        (
            "0,1,2,label\n5,6,7,a\n8,9,1,b\n",
            "",
            "2 rows of 3 features (0, 1, 2); class from column 'label'",
        ),
        (
            "0,1,2,3,4\n5,6,7,8,1\n5,6,7,9,2\n",
            "",
            "2 rows of 4 features (0, 1, 2, 3); class from column '4'",
        ),
        (
            ",w,x,kind\n0,5,6,a\n1,6,7,b\n",
            "",
            "2 rows of 2 features (w, x); class from column 'kind'",
        ),
        (
            "\"\",\"w\",\"kind\"\n\"1\",5,\"a\"\n\"2\",6,\"b\"\n",
            "",
            "2 rows of 1 feature (w)",
        ),
        (
            "\u{feff}w;x;kind\r\n1,5;2;a\r\n3,5;4;b\r\n",
            "--decimal-comma",
            "2 rows of 2 features (w, x)",
        ),
        (
            "sep=;\nw;x;kind\n1;2;a\n3;4;b\n",
            "",
            "2 rows of 2 features (w, x)",
        ),
        (
            "w\tx\tkind\n1\t2\ta b\n3\t4\tc\n",
            "",
            "2 new classes: a b 1, c 1",
        ),
        (
            "1.0e+00 2.0e+00 0.0e+00\n3.0e+00 4.0e+00 1.0e+00\n",
            "",
            "2 new classes: 0 1, 1 1",
        ),
        (
            "a,1,2\nb,3,4\n",
            "--label 1 --no-header",
            "class from column 1 (as asked)",
        ),
        (
            "2019,2020,2021,kind\n5,6,1,a\n7,8,1,b\n5,5,5,a\n",
            "--header",
            "3 rows of 3 features (2019, 2020, 2021)",
        ),
        (
            "w,x\n1,1.5\n2,2.5\n3,3.5\n",
            "--label x",
            "3 new classes: 1.5 1, 2.5 1, 3.5 1",
        ),
        (
            "class,w,x\na,1,2\nb,3,4\n",
            "",
            "class from column 'class' (by its name)",
        ),
    ];
    for (content, options, said) in cases {
        place.write("rows.csv", content);
        let options: Vec<&str> = options.split_whitespace().collect();
        let _ = std::fs::remove_file(place.path().join("m.aact"));
        let learned = place.succeed(&[&["learn", "m.aact", "rows.csv"], &options[..]].concat());
        assert!(learned.stderr.contains(said), "{content}: {}", learned.stderr);
    }
}

#[test]
fn columns_in_another_order_are_put_right() {
    let place = place();
    let said = place.succeed(&["eval", "model.aact", "turned.csv"]).stdout;
    assert_eq!(
        said.replace("turned.csv", "rows.csv"),
        place.succeed(&["eval", "model.aact", "rows.csv"]).stdout
    );
    place.write("bare.csv", clusters(&["a", "b"], 20));
    let bare = place.succeed(&["eval", "model.aact", "bare.csv"]);
    assert!(bare.stderr.contains("have no names"), "{}", bare.stderr);
}

/// Halves that were learned apart, one of them with its columns the other way round, are one model.
#[test]
fn halves_merge_to_the_whole_whatever_the_order_of_columns() {
    let place = place();
    let half = |name: &str, skip: usize| {
        let text = String::from_utf8(place.read(name)).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap();
        let rows = lines.skip(skip).step_by(2).map(|line| format!("{line}\n"));
        format!("{header}\n{}", rows.collect::<String>())
    };
    // Rows alternate between two classes, so each half has one of them.
    place.write("one.csv", half("rows.csv", 0));
    place.write("two.csv", half("turned.csv", 1));
    place.succeed(&["memory", "begin", "begun.aact", "rows.csv"]);
    for (model, rows) in [
        ("whole.aact", "rows.csv"),
        ("one.aact", "one.csv"),
        ("two.aact", "two.csv"),
    ] {
        place.write(model, place.read("begun.aact"));
        place.succeed(&["learn", model, rows]);
    }
    place.succeed(&["merge", "both.aact", "one.aact", "two.aact"]);
    let scores = |model: &str| place.succeed(&["predict", model, "rows.csv"]).stdout;
    assert_eq!(scores("both.aact"), scores("whole.aact"));
    let sums = |model: &str| place.succeed(&["inspect", model, "--json"]).stdout;
    let rows = |model: &str| serde_json::from_str::<serde_json::Value>(&sums(model)).unwrap();
    assert_eq!(rows("both.aact")["features"], rows("whole.aact")["features"]);
    assert_eq!(rows("both.aact")["classes"], rows("whole.aact")["classes"]);
}

/// A disk that takes no more leaves what was there, and nothing half-written beside it.
#[cfg(unix)]
#[test]
fn a_full_disk_destroys_nothing() {
    let place = place();
    let many = String::from_utf8(place.read("rows.csv")).unwrap();
    let body: String = many.lines().skip(1).map(|line| format!("{line}\n")).collect();
    place.write("many.csv", format!("w,x,y,z,kind\n{}", body.repeat(100)));
    for (output, words) in [
        ("answers.csv", "predict model.aact many.csv -o answers.csv"),
        ("table.csv", "features many.csv -o table.csv"),
        ("out.onnx", "export model.aact -o out.onnx --force"),
        (
            "report.html",
            "run many.csv --learner nearest-mean --report report.html",
        ),
        ("model.aact", "learn model.aact many.csv"),
    ] {
        if output != "model.aact" {
            place.write(output, "before");
        }
        let before = place.files();
        // The limit is what a full disk is to a program: a write that fails.
        let program = env!("CARGO_BIN_EXE_autoactivator");
        let limited = format!("trap '' XFSZ; ulimit -f 2; exec {program} {words}");
        let mut shell = std::process::Command::new("bash");
        let said = common::said(shell.args(["-c", &limited]).current_dir(place.path()));
        assert_eq!(said.code, Some(2), "{words}: {}", said.stderr);
        assert!(place.files() == before, "{words}");
    }
}

/// Answers and rows through pipes.
#[test]
fn a_dash_is_stdin_and_stdout() {
    use std::io::Write;
    let place = place();
    let mut child = place
        .command(&["predict", "model.aact", "-", "-o", "-"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&place.read("rows.csv"))
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        place.succeed(&["predict", "model.aact", "rows.csv"]).stdout
    );
    assert!(!place.exists("-"));
    for words in [
        "run - --learner nearest-mean --no-report",
        "memory begin begun.aact -",
        "memory build begun.aact - -o sums",
    ] {
        let mut command = place.command(&words.split_whitespace().collect::<Vec<_>>());
        command.stdin(std::fs::File::open(place.path().join("rows.csv")).unwrap());
        let said = common::said(&mut command);
        assert_eq!(said.code, Some(0), "{words}: {}", said.stderr);
        assert!(!said.stdout.contains("autoactivator-"), "{}", said.stdout);
    }
    let mut merge = place.command(&["memory", "merge", "begun.aact", "-"]);
    merge.stdin(std::fs::File::open(place.path().join("sums")).unwrap());
    assert_eq!(common::said(&mut merge).code, Some(0));
    let csv = place.succeed(&["features", "rows.csv", "-o", "-"]).stdout;
    assert!(csv.starts_with("w,x,y,z,class\n"), "{csv}");
}
