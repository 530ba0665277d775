//! What grows with use: a model that is taught again and again keeps the size of its file, and its history is folded.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Table};
use serde_json::{Value, json};

fn rows(salt: usize) -> (Table, Labels) {
    let x = (0..8).map(|i| ((i * 31 + salt * 17) % 97) as f32 / 97.0);
    let y = (0..4).map(|i| if i % 2 == 0 { "a" } else { "b" });
    (Table::new(x.collect(), 2).unwrap(), Labels::from_names(y))
}

#[test]
fn a_file_does_not_grow_with_the_number_of_tasks() {
    let mut model = Model::new("consolidation", &json!({ "pool": "features", "witnesses": 0 })).unwrap();
    let mut sizes = Vec::new();
    for task in 1..=600 {
        let (x, y) = rows(task);
        model.learn(x.rows(), &y, &mut ()).unwrap();
        if task % 300 == 0 {
            sizes.push(model.to_bytes().unwrap().len());
        }
    }
    assert!(sizes[1] < sizes[0] + 300, "{sizes:?}"); // Numbers get longer.
    let growth = model.consolidation().unwrap().task_growth().to_vec();
    assert_eq!((growth[0].task, growth[0].rows), (1, 4.0));
    let last = growth.last().unwrap();
    assert_eq!((last.task, last.rows), (600, 2400.0));
    assert_eq!(growth.iter().map(|entry| entry.tasks).sum::<usize>(), 600);
    assert!(model.details().contains("\n101-500  "), "{}", model.details());

    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(again == model);
    // The newest tasks can still be taken back one by one.
    let (x, y) = rows(600);
    model.unlearn(x.rows(), &y).unwrap();
    let growth = model.consolidation().unwrap().task_growth();
    assert_eq!(growth.last().unwrap().task, 599);
}

#[test]
fn a_class_without_a_name_is_neither_learned_nor_merged() {
    let mut model = Model::new("consolidation", &json!({ "pool": "features" })).unwrap();
    let (x, y) = rows(1);
    model.learn(x.rows(), &y, &mut ()).unwrap();
    let before = model.clone();
    let nameless = Labels::from_names(["a", " ", "a", "a"]);
    let error = model.learn(x.rows(), &nameless, &mut ()).unwrap_err().to_string();
    assert!(error.contains("no name") && model == before, "{error}");
    assert!(model.check_merge(&*before).is_ok());

    // A file may say what no lesson does.
    let mut container = before.pack();
    let mut description: Value = container.description().unwrap();
    description["classes"][0] = json!(" ");
    container.describe(&description);
    let stranger = Model::from_bytes(&container.to_bytes().unwrap()).unwrap();
    for refused in [model.check_merge(&*stranger), model.merge(&[&stranger], None)] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("no name"), "{error}");
    }
    assert!(model == before);
}
