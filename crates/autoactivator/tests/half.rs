//! Half precision: what is written can be read again, or is refused with the remedy and leaves nothing behind.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::{Labels, Model, Table};
use serde_json::json;

fn rows(scale: f32) -> (Table, Labels) {
    let value = |i: usize| ((i * 7919) % 101) as f32 / 101.0;
    let x = (0..60).flat_map(|i| (0..3).map(move |j| scale * (value(3 * i + j) + (i % 2) as f32)));
    let y = (0..60).map(|i| if i % 2 == 0 { "even" } else { "odd" });
    (Table::new(x.collect(), 3).unwrap(), Labels::from_names(y))
}

#[test]
fn features_of_any_size() {
    let (mut written, mut refused) = (0, 0);
    for pool in [
        json!({}),
        json!({ "pool": "gaussian" }),
        json!({ "pool": "features" }),
    ] {
        for exponent in [-30, -20, -10, -8, -7, -6, -5, -4, 0, 3, 4, 5, 6, 7, 8, 10, 14] {
            let (x, y) = rows(10f32.powi(exponent));
            let mut parameters = pool.clone();
            if parameters["pool"] != json!("features") {
                parameters["nodes"] = json!(24);
            }
            let mut model = Model::new("consolidation", &parameters).unwrap();
            model.learn(x.rows(), &y, &mut ()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("half.aact");
            match model.export(&path, true) {
                Ok(_) => {
                    let loaded = Model::load(&path).unwrap();
                    loaded.predict(x.rows()).unwrap();
                    written += 1;
                }
                Err(error) => {
                    assert!(
                        error.to_string().contains("store it in single precision"),
                        "{error}"
                    );
                    let left = std::fs::read_dir(folder.path()).unwrap();
                    let left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
                    assert!(
                        left.iter().all(|name| name.to_string_lossy().ends_with(".lock")),
                        "{left:?}"
                    );
                    refused += 1;
                }
            }
            model.export(&path, false).unwrap();
            assert_eq!(
                Model::load(&path).unwrap().predict(x.rows()).unwrap(),
                model.predict(x.rows()).unwrap()
            );
        }
    }
    assert!(written > 0 && refused > 0, "{written} and {refused}");
}
