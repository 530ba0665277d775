//! Model files that somebody else wrote: refused with a reason, or good for everything that a model is asked.
#![no_main]

use autoactivator::{Labels, Learner, Model, Partial, Rows};
use autoactivator_fuzz::bound;
use libfuzzer_sys::fuzz_target;

/// More than this many features would only make the fuzzer slow.
const WIDEST: usize = 4096;

fuzz_target!(|loose: &[u8]| {
    let file = bound(loose);
    if let Ok(partial) = Partial::from_bytes(&file) {
        let _ = partial.clone().merge(&partial);
    }
    let Ok(model) = Model::from_bytes(&file) else {
        return;
    };
    let bytes = model.to_bytes();
    let again = Model::from_bytes(&bytes).expect("what was written is read");
    assert_eq!(again.to_bytes(), bytes, "the same model gives the same bytes");
    use_it(model);
});

fn use_it(mut model: Model) {
    let Some(width) = model.learner().n_features().filter(|&width| width <= WIDEST) else {
        return;
    };
    let values: Vec<f32> = (0..2 * width).map(|i| (i % 7) as f32 / 7.0).collect();
    let Ok(x) = Rows::new(&values, width) else {
        return;
    };
    if let Ok(found) = model.learner().predict(x) {
        let n_classes = model.learner().classes().len();
        assert!(found.iter().all(|&class| (class as usize) < n_classes));
    }
    let _ = model.learner().predict_group(x);
    let _ = model.learner().growth();
    if let Model::Deployed(deployed) = &model {
        let _ = deployed.to_onnx();
    }
    if let Model::Consolidation(learner) = &mut model {
        let y = Labels::from_names(["new", "newer"]);
        let other = learner.clone();
        let _ = learner.learn(x, &y, &mut ());
        let _ = learner.unlearn(x, &y);
        let _ = learner.merge(&other);
        let first = learner.classes().first().cloned();
        let _ = first.map(|class| learner.drop_class(&class));
    }
}
