//! Histories of changes to a small model.

use autoactivator::math::{Random, Stream};
use autoactivator::{Labels, Model, Rows};
use serde_json::json;

const WIDTH: usize = 3;

pub fn empty() -> Model {
    let pool = json!({ "kind": "gaussian", "nodes": 6, "activation": "relu" });
    Model::new("consolidation", &json!({ "pool": pool, "witnesses": 8 })).unwrap()
}

/// Rows around a place of their class.
fn rows(random: &mut Random, class: usize, n_rows: usize) -> (Vec<f32>, Labels) {
    let values = (0..n_rows * WIDTH).map(|_| class as f32 + 0.3 * random.normal());
    let names = vec![format!("class {class}"); n_rows];
    (values.collect(), Labels::from_names(names))
}

/// The model after each of `n_steps` changes: classes learned, more rows of them, rows unlearned, models merged, classes
/// renamed and dropped.
pub fn history(seed: u64, n_steps: usize) -> Vec<Model> {
    let mut random = Random::new(seed, Stream::Pool { layer: 0 });
    let mut model = empty();
    let mut models = Vec::new();
    for step in 0..n_steps {
        let (class, n_rows) = (random.below(3), 1 + random.below(4));
        let (values, labels) = rows(&mut random, class, n_rows);
        let x = Rows::new(&values, WIDTH).unwrap();
        match random.below(if step == 0 { 1 } else { 5 }) {
            0 | 1 => model.learn(x, &labels, &mut ()).unwrap(),
            2 => {
                model.learn(x, &labels, &mut ()).unwrap();
                models.push(model.clone());
                model.unlearn(x, &labels).unwrap();
            }
            3 => {
                let mut other = model.clone();
                other.learn(x, &labels, &mut ()).unwrap();
                let base = model.clone();
                model.merge(&[&other], Some(&base)).unwrap();
            }
            _ => {
                let name = model.classes()[0].clone();
                model.rename_class(&name, &format!("renamed {step}")).unwrap();
            }
        }
        models.push(model.clone());
    }
    models
}
