//! What the addresses answer, and that it is what the command line says.

use std::io::Cursor;

use autoactivator::{Labels, Model, Table};
use image::{GrayImage, ImageFormat};
use serde_json::{Value, json};

use crate::common::Workplace;
use crate::http::form;
use crate::photos;
use crate::serving::{SMALL, Serving};

/// Rows of a digit that the starter does not know.
fn fives(serving: &Serving, n: usize) -> Value {
    serving.read(&format!("/v1/examples?class=5&n={n}"))["rows"].clone()
}

#[test]
fn a_row_counts_as_often_as_it_weighs() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    let lesson = json!({
        "rows": [[0, 0.1], [0.1, 0], [0.9, 1], [1, 0.9], [0.5, 0.5]],
        "classes": ["low", "low", "high", "high", "odd"],
        "weights": [2, 1, 0.5, 1, 0],
    });
    let learned = serving.post("/v1/learn", &lesson);
    assert_eq!(learned.status, 200, "{learned:?}");
    let learned = learned.json();
    assert_eq!(learned["classes"], json!(["low", "high"]));
    assert_eq!(learned["growth"]["rows"], json!(4.5));
    assert_eq!(
        (&learned["learned"]["weighed_by"], &learned["learned"]["left_out"]),
        (&json!("weights"), &json!(1))
    );
    let lows = json!({ "rows": [[0, 0.1], [0.1, 0]], "classes": ["low", "low"], "weights": [2, 1] });
    assert_eq!(serving.post("/v1/unlearn", &lows).status, 200);
    assert_eq!(serving.classes(), ["high"]);
}

#[test]
fn a_visitor_teaches_five_and_takes_it_back() {
    let place = Workplace::new();
    let mut serving = Serving::start(&place, &[]);
    let model = serving.read("/v1/model");
    assert_eq!(model["classes"], json!(["0", "1", "2", "3", "4"]));
    assert_eq!(model["image"], json!({ "height": 8, "width": 8, "channels": 1 }));
    assert_eq!(
        (&model["learns"], &model["undo"], &model["needs_token"]),
        (&json!(true), &json!(true), &json!(false))
    );
    let growth = serving.read("/v1/growth");
    let new: Vec<&Value> = growth["growth"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| &task["new_classes"])
        .collect();
    assert_eq!(new, [&json!(["0", "1"]), &json!(["2", "3", "4"])]);

    let rows = fives(&serving, 40);
    let changed = serving.learn(&rows, &["5"; 40]);
    assert_eq!((&changed["version"], &changed["rows"]), (&json!(1), &json!(40)));
    assert_eq!(changed["growth"]["new_classes"], json!(["5"]));
    assert_eq!(
        serving.get("/v1/examples?class=5").status,
        404,
        "what is known needs no examples"
    );

    let held_out = serving.read("/v1/held-out");
    for task in held_out["tasks"].as_array().unwrap() {
        let (rows, right) = (task["rows"].as_f64().unwrap(), task["right"].as_f64().unwrap());
        assert!(rows > 30.0 && right / rows > 0.9, "{task}");
    }
    assert_eq!(held_out["strip"].as_array().unwrap().len(), 60);
    let confused = &held_out["confused"];
    let (class, answer) = (&confused["class"], &confused["answer"]);
    assert_ne!(class, answer);
    let [taken, right] = [0, 1].map(|i| &confused["shown"][i]);
    assert_eq!([&taken["class"], &taken["answer"]], [class, answer]);
    assert_eq!([&right["class"], &right["answer"]], [answer, answer]);

    serving.kill();
    let serving = Serving::start(&place, &[]);
    assert_eq!(serving.classes(), ["0", "1", "2", "3", "4", "5"]);
    assert_eq!(
        serving.read("/v1/held-out")["tasks"],
        held_out["tasks"],
        "the same after a restart"
    );

    let body = json!({ "rows": rows, "classes": vec!["5"; 40] });
    assert_eq!(serving.post("/v1/unlearn", &body).status, 200);
    assert_eq!(serving.classes(), ["0", "1", "2", "3", "4"]);
    let again = serving.post("/v1/unlearn", &body);
    assert_eq!((again.status, again.kind()), (422, "UnknownClass".to_owned()));
    let missing = serving.send("DELETE", "/v1/classes/5", &[], b"");
    assert_eq!((missing.status, missing.kind()), (404, "UnknownClass".to_owned()));
}

#[test]
fn held_out_pictures_are_shown_as_they_are() {
    let place = Workplace::new();
    place.write("tiny.onnx", photos::backbone(3));
    place.write("tiny.toml", photos::SETTINGS);
    for (part, class, n) in [("train", "cup", 1), ("test", "cup", 2), ("test", "fork", 1)] {
        photos::write(&place, &format!("photos/{part}"), class, n);
    }
    let words = [
        "m.aact",
        "--empty",
        "--backbone",
        "tiny.onnx",
        "--held-out",
        "photos",
        "--no-cache",
    ];
    let serving = Serving::start(&place, &words);
    let strip = serving.read("/v1/held-out")["strip"].clone();
    let shown = |class: &str, picture: u8| json!({ "class": class, "answer": null, "picture": picture });
    assert_eq!(strip, json!([shown("cup", 0), shown("cup", 1), shown("fork", 2)]));
    for (number, file, kind) in [(0, "cup/000.jpg", "image/jpeg"), (1, "cup/001.png", "image/png")] {
        let picture = serving.get(&format!("/v1/held-out/{number}/picture"));
        assert_eq!(
            (picture.status, picture.header("content-type")),
            (200, Some(kind))
        );
        assert!(picture.body == place.read(&format!("photos/test/{file}")));
    }
    assert_eq!(serving.get("/v1/held-out/3/picture").kind(), "NoHeldOut");
    assert_eq!(serving.get("/v1/held-out/x/picture").status, 400);
}

#[test]
fn a_class_is_renamed_and_keeps_its_name_after_a_restart() {
    let place = Workplace::new();
    let mut serving = Serving::start(&place, &[]);
    let rename = |serving: &Serving, class: &str, name: &str| {
        serving.post(&format!("/v1/classes/{class}/rename"), &json!({ "name": name }))
    };
    let renamed = rename(&serving, "4", "four");
    assert_eq!((renamed.status, &renamed.json()["version"]), (200, &json!(1)));
    for (class, name, expected) in [
        ("4", "vier", (404, "UnknownClass")),
        ("four", "3", (422, "ClassExists")),
        ("four", " ", (400, "BadRequest")),
    ] {
        let refused = rename(&serving, class, name);
        assert_eq!(
            (refused.status, refused.kind().as_str()),
            expected,
            "{class} to {name}"
        );
    }
    serving.kill();
    let serving = Serving::start(&place, &[]);
    assert_eq!(serving.classes(), ["0", "1", "2", "3", "four"]);
}

#[test]
fn a_server_without_classes_says_so_and_learns_again() {
    let place = Workplace::new();
    let mut serving = Serving::start(&place, &[]);
    for class in 0..5 {
        let address = format!("/v1/classes/{class}");
        assert_eq!(serving.send("DELETE", &address, &[], b"").status, 200);
    }
    serving.kill();
    let serving = Serving::start(&place, &[]);
    assert_eq!(serving.classes(), Vec::<String>::new());
    let rows = vec![vec![0.5; 64]];
    let asked = serving.post("/v1/predict", &json!({ "rows": rows }));
    assert_eq!((asked.status, asked.kind()), (409, "NothingLearned".to_owned()));
    for address in ["/v1/model", "/v1/growth", "/v1/held-out"] {
        assert!(serving.read(address).is_object(), "{address}");
    }
    let lesson = json!({ "rows": [vec![0.1; 64], vec![0.9; 64]], "classes": ["low", "high"] });
    assert_eq!(serving.post("/v1/learn", &lesson).status, 200);
    assert_eq!(serving.classes(), ["low", "high"]);
}

#[test]
fn answers_are_those_of_the_command_line() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[]);
    let rows = fives(&serving, 20);
    let lines: Vec<String> = serde_json::from_value::<Vec<Vec<f32>>>(rows.clone())
        .unwrap()
        .iter()
        .map(|row| row.iter().map(f32::to_string).collect::<Vec<_>>().join(","))
        .collect();
    place.write("rows.csv", lines.join("\n") + "\n");
    for (words, asked) in [
        (&[][..], json!({})),
        (&["--proba"], json!({ "proba": true })),
        (&["--top", "2"], json!({ "top": 2 })),
        (&["--reject", "0.3"], json!({ "reject": 0.3 })),
    ] {
        let command = ["predict", "autoactivator.aact", "rows.csv", "--format", "jsonl"];
        let said = place.succeed(&[&command, words].concat()).stdout;
        let printed: Vec<Value> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let mut body = asked.clone();
        body["rows"] = rows.clone();
        let reply = serving.post("/v1/predict", &body);
        assert_eq!(reply.json()["answers"], json!(printed), "{asked}");
    }

    let said = place.succeed(&["inspect", "--json", "autoactivator.aact"]).stdout;
    let printed: Value = serde_json::from_str(&said).unwrap();
    let model = serving.read("/v1/model");
    for (name, value) in printed.as_object().unwrap() {
        // The names of learned files are not for everybody that a server answers.
        let expected = if name == "ledger" { &Value::Null } else { value };
        assert_eq!(&model[name], expected, "{name}");
    }
}

#[test]
fn an_explanation_adds_up_to_what_is_answered() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[]);
    let row = &fives(&serving, 1)[0];
    let explained = serving.post("/v1/explain", &json!({ "rows": [row] })).json();
    let answered = serving
        .post("/v1/predict", &json!({ "rows": [row], "proba": true }))
        .json();
    assert_eq!(explained["class"], answered["answers"][0]["class"]);
    assert_eq!(
        explained["probabilities"],
        answered["answers"][0]["probabilities"]
    );
    let sum =
        |values: &Value, of: &dyn Fn(&Value) -> f64| values.as_array().unwrap().iter().map(of).sum::<f64>();
    let class = explained["class"].as_str().unwrap();
    let of_groups = sum(&explained["groups"], &|group| {
        group["evidence"][class].as_f64().unwrap()
    });
    let of_nodes = sum(&explained["nodes"], &|node| node["evidence"].as_f64().unwrap());
    assert!((of_groups - of_nodes).abs() < 1e-4, "{of_groups} {of_nodes}");
    let nodes = sum(&explained["groups"], &|group| group["nodes"].as_f64().unwrap());
    assert_eq!(json!(nodes as u64), serving.read("/v1/model")["nodes"]);
    let brief = serving
        .post("/v1/explain", &json!({ "rows": [row], "top": 1 }))
        .json();
    assert_eq!(brief["probabilities"], explained["probabilities"]);
    for (group, whole) in brief["groups"]
        .as_array()
        .unwrap()
        .iter()
        .zip(explained["groups"].as_array().unwrap())
    {
        assert_eq!(group["evidence"], json!({ class: whole["evidence"][class] }));
    }
    assert_eq!(
        serving.post("/v1/explain", &json!({ "rows": [row, row] })).status,
        400
    );
}

#[test]
fn reactivation_tells_which_unit_wakes() {
    let place = Workplace::new();
    let words = [
        "r.aact",
        "--learner",
        "reactivation",
        "--t-max",
        "5",
        "--l-max",
        "30",
    ];
    let serving = Serving::start(&place, &words);
    let rows = fives(&serving, 20);
    let sixes = serving.read("/v1/examples?class=6&n=20")["rows"].clone();
    let both: Vec<Value> = [
        rows.as_array().unwrap().clone(),
        sixes.as_array().unwrap().clone(),
    ]
    .concat();
    serving.learn(&json!(both), &[["5"; 20], ["6"; 20]].concat());
    let explained = serving.post("/v1/explain", &json!({ "rows": [both[0]] })).json();
    let units = explained["units"].as_array().unwrap();
    assert_eq!(units.len(), 3);
    let distance = |unit: &Value| unit["distance"].as_f64().unwrap();
    let nearest = units
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .unwrap();
    assert_eq!(nearest["awake"], json!(true));
    assert_eq!(
        units.iter().filter(|unit| unit["awake"] == json!(true)).count(),
        1
    );
    assert_eq!(serving.read("/v1/held-out")["tasks"].as_array().unwrap().len(), 3);
    let proba = serving.post("/v1/predict", &json!({ "rows": [both[0]], "proba": true }));
    assert_eq!(
        proba.json()["answers"][0]["probabilities"]
            .as_object()
            .unwrap()
            .len(),
        7
    );
    let reject = serving.post("/v1/predict", &json!({ "rows": [both[0]], "reject": 0.1 }));
    assert_eq!(
        (reject.status, reject.kind()),
        (409, "OnlyConsolidation".to_owned())
    );
    assert_eq!(
        serving.send("DELETE", "/v1/classes/5", &[], b"").kind(),
        "OnlyConsolidation"
    );
}

#[test]
fn images_are_learned_and_predicted_like_rows() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[]);
    let rows: Vec<Vec<f32>> = serde_json::from_value(fives(&serving, 30)).unwrap();
    let png = |row: &Vec<f32>| {
        let pixels = row.iter().map(|v| (v * 255.0).round() as u8).collect();
        let mut bytes = Cursor::new(Vec::new());
        GrayImage::from_raw(8, 8, pixels)
            .unwrap()
            .write_to(&mut bytes, ImageFormat::Png)
            .unwrap();
        bytes.into_inner()
    };
    let images: Vec<Vec<u8>> = rows.iter().map(png).collect();
    let mut fields: Vec<(&str, &[u8])> = vec![("class", b"five")];
    fields.extend(images.iter().map(|image| ("image", image.as_slice())));
    let (kind, body) = form(&fields);
    let learned = serving.send("POST", "/v1/learn", &[kind], &body);
    assert_eq!((learned.status, learned.json()["rows"].clone()), (200, json!(30)));
    let mut fields: Vec<(&str, &[u8])> = images.iter().map(|image| ("image", image.as_slice())).collect();
    fields.push(("top", b"2"));
    let (kind, body) = form(&fields);
    let of_images = serving.send("POST", "/v1/predict", &[kind], &body).json();
    let seen = |row: &Vec<f32>| row.iter().map(|v| (v * 255.0).round() / 255.0).collect();
    let seen: Vec<Vec<f32>> = rows.iter().map(seen).collect();
    let of_rows = serving
        .post("/v1/predict", &json!({ "rows": seen, "top": 2 }))
        .json();
    assert_eq!(of_images, of_rows);
    assert!(of_images.to_string().contains("five"));
    let (kind, body) = form(&[("image", b"no image")]);
    let bad = serving.send("POST", "/v1/predict", &[kind], &body);
    assert_eq!((bad.status, bad.kind()), (422, "BadData".to_owned()));
    let (kind, body) = form(&[("image", &images[0])]);
    assert_eq!(
        serving.send("POST", "/v1/learn", &[kind], &body).status,
        400,
        "an image without a class"
    );
    let empty = Serving::start(&place, &[&["rows.aact"], &SMALL[..]].concat());
    let refused = empty.send("POST", "/v1/predict", &[kind], &body);
    assert_eq!((refused.status, refused.kind()), (409, "TakesRows".to_owned()));
}

#[test]
fn what_is_downloaded_is_the_model() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[]);
    serving.learn(&fives(&serving, 20), &["5"; 20]);
    let memory = serving.get("/v1/download/memory");
    assert_eq!(
        memory.header("content-disposition"),
        Some("attachment; filename=\"model.aact\"")
    );
    assert_eq!(memory.body, place.read("autoactivator.aact"));
    let model = Model::from_bytes(&serving.get("/v1/download/model").body).unwrap();
    assert_eq!((model.name(), model.classes().len()), ("deployed", 6));
    place.succeed(&["export", "autoactivator.aact", "--onnx", "-o", "model.onnx"]);
    assert_eq!(serving.get("/v1/download/onnx").body, place.read("model.onnx"));
}

#[test]
fn two_sites_that_began_from_one_model_merge() {
    let place = Workplace::new();
    let here = Serving::start(&place, &["here.aact"]);
    let base = here.get("/v1/download/memory").body;
    place.write("there.aact", &base);
    let there = Serving::start(&place, &["there.aact"]);
    here.learn(&fives(&here, 30), &["5"; 30]);
    there.learn(&there.read("/v1/examples?class=6&n=30")["rows"], &["6"; 30]);
    let other = there.get("/v1/download/memory").body;
    let (kind, body) = form(&[("model", &other), ("base", &base)]);
    let merged = here.send("POST", "/v1/merge", &[kind], &body);
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(here.classes().len(), 7);
    let rows = &here.read("/v1/model")["rows"];
    assert_eq!(
        (&rows["0"], &rows["5"], &rows["6"]),
        (&there.read("/v1/model")["rows"]["0"], &json!(30), &json!(30))
    );
    for (fields, kind_of) in [
        (vec![("model", &b"nothing"[..])], "BadModel"),
        (vec![("base", &base[..])], "BadRequest"),
        (vec![("model", &other[..other.len() / 2])], "BadModel"),
    ] {
        let (kind, body) = form(&fields);
        assert_eq!(here.send("POST", "/v1/merge", &[kind], &body).kind(), kind_of);
    }
}

/// What is merged in meets the checks of what is learned.
#[test]
fn classes_that_could_not_be_learned_are_not_merged_either() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["m.aact"], &SMALL[..]].concat());
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    let base = serving.get("/v1/download/memory").body;
    for (class, status, kind_of) in [
        ("x".repeat(101), 413, "TooLarge"),
        ("a\u{1b}b".to_owned(), 400, "BadRequest"),
    ] {
        let mut model = Model::from_bytes(&base).unwrap();
        let x = Table::new(vec![2.0, 2.0], 2).unwrap();
        model
            .learn(x.rows(), &Labels::from_names([class]), &mut ())
            .unwrap();
        let (kind, body) = form(&[("model", &model.to_bytes().unwrap()), ("base", &base)]);
        let refused = serving.send("POST", "/v1/merge", &[kind], &body);
        assert_eq!((refused.status, refused.kind()), (status, kind_of.to_owned()));
    }
    assert_eq!(serving.classes(), ["low", "high"]);
}

#[test]
fn a_model_that_has_learned_nothing_says_so() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["new.aact"], &SMALL[..]].concat());
    assert_eq!(serving.read("/v1/model")["n_features"], Value::Null);
    let early = serving.post("/v1/predict", &json!({ "rows": [[1, 2]] }));
    assert_eq!((early.status, early.kind()), (409, "NothingLearned".to_owned()));
    assert_eq!(serving.get("/v1/held-out").kind(), "NoHeldOut");
    assert_eq!(serving.get("/v1/examples?class=5").kind(), "NoExamples");
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    let narrow = serving.post("/v1/predict", &json!({ "rows": [[1]] }));
    assert_eq!((narrow.status, narrow.kind()), (422, "FeatureCount".to_owned()));
    let message = narrow.json()["error"]["message"].clone();
    assert_eq!(
        message,
        json!("rows have 1 feature, the model was learned with 2")
    );
}

#[test]
fn health_readiness_and_metrics_are_there() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["new.aact"], &SMALL[..]].concat());
    assert_eq!(serving.read("/health")["status"], json!("ok"));
    assert_eq!(serving.read("/ready")["status"], json!("ready"));
    serving.learn(&json!([[0, 0], [1, 1]]), &["low", "high"]);
    let text = String::from_utf8(serving.get("/metrics").body).unwrap();
    for line in [
        "autoactivator_classes 2",
        "autoactivator_rows_total 2",
        "autoactivator_request_seconds_count{method=\"POST\",path=\"/v1/learn\",status=\"200\"} 1",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
}

#[test]
fn the_pages_load_nothing_from_elsewhere() {
    let place = Workplace::new();
    let serving = Serving::start(&place, &[&["new.aact"], &SMALL[..]].concat());
    for path in ["/", "/docs"] {
        let page = serving.get(path);
        assert_eq!(page.status, 200);
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{policy}"
        );
        let text = String::from_utf8(page.body).unwrap();
        for wish in ["src=\"", "href=\""] {
            for address in text.split(wish).skip(1) {
                let own = ["/", "#", "data:", "assets/"]
                    .iter()
                    .any(|start| address.starts_with(start));
                assert!(
                    own && !address.starts_with("//"),
                    "{path}: {}",
                    &address[..address.len().min(60)]
                );
            }
        }
    }
    assert_eq!(serving.read("/openapi.json")["openapi"], json!("3.1.0"));
}
