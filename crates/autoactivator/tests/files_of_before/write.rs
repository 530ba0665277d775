//! Writes a folder of files by today's version: `AUTOACTIVATOR_WRITE_FILES=FOLDER cargo test --release -p autoactivator
//! --test files_of_before`. To be done before a change in what is stored.

use std::fs;
use std::path::Path;

use autoactivator::Model;
use serde_json::{Map, Value, json};

use crate::{kinds, rows};

/// Writes models, partial memories and answers.
pub fn write(folder: &Path) {
    fs::create_dir_all(folder.join("learned")).unwrap();
    for kind in kinds::all() {
        let mut model = kind.taught();
        put(folder, &kind.name, &model);
        if kind.name == "gaussian" {
            let deployed = model.deployed().unwrap();
            for (name, half) in [("deployed", false), ("deployed-half", true)] {
                let bytes = deployed.to_bytes(half).unwrap();
                fs::write(folder.join(format!("{name}.aact")), &bytes).unwrap();
                answer(folder, name, &Model::from_bytes(&bytes).unwrap());
            }
        }
        let (x, y) = rows("third.csv");
        model.learn(x.rows(), &y, &mut ()).unwrap();
        answer(&folder.join("learned"), &kind.name, &model);
    }
    let (mut model, partial) = kinds::partial();
    fs::write(folder.join("pool.aact"), model.to_bytes().unwrap()).unwrap();
    fs::write(folder.join("sums.partial"), partial.to_bytes(false).unwrap()).unwrap();
    fs::write(folder.join("single.partial"), partial.to_bytes(true).unwrap()).unwrap();
    model.consolidation_mut().unwrap().absorb(&partial).unwrap();
    answer(&folder.join("learned"), "absorbed", &model);
}

fn put(folder: &Path, name: &str, model: &Model) {
    let bytes = model.to_bytes().unwrap();
    fs::write(folder.join(format!("{name}.aact")), bytes).unwrap();
    answer(folder, name, model);
}

/// What a model answers, line by line.
fn answer(folder: &Path, name: &str, model: &Model) {
    let (x, _) = rows("asked.csv");
    let known = model.known(x.rows()).ok();
    let answers = model.answers(x.rows(), 0.0).unwrap();
    let mut text = String::new();
    for (i, answer) in answers.iter().enumerate() {
        let pairs = model.classes().iter().zip(&answer.probabilities);
        let probabilities: Map<String, Value> = pairs.map(|(class, p)| (class.clone(), json!(p))).collect();
        let line = json!({
            "class": model.classes()[answer.class.unwrap() as usize],
            "probabilities": probabilities,
            "known": known.as_ref().map(|known| known[i]),
        });
        text += &format!("{line}\n");
    }
    fs::write(folder.join(format!("{name}.jsonl")), text).unwrap();
}
