//! Model files from strangers are refused with a reason, or work for everything that a model can do.
#![no_main]

use autoactivator::{Labels, Learned, Learner, Model, Partial, Rows};
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
    let bytes = model.to_bytes().expect("what was read can be written");
    let again = Model::from_bytes(&bytes).expect("what was written is read");
    assert_eq!(again.to_bytes().expect("again"), bytes, "the same model gives the same bytes");
    use_it(model);
});

fn use_it(mut model: Model) {
    let Some(width) = model.n_features().filter(|&width| width <= WIDEST) else {
        return;
    };
    let values: Vec<f32> = (0..2 * width).map(|i| (i % 7) as f32 / 7.0).collect();
    let Ok(x) = Rows::new(&values, width) else {
        return;
    };
    if let Ok(found) = model.predict(x) {
        let n_classes = model.classes().len();
        assert!(found.iter().all(|&class| (class as usize) < n_classes));
    }
    let _ = model.predict_group(x);
    let _ = model.growth();
    let _ = model.scores(x);
    let _ = model.answers(x, 0.05);
    let _ = model.explain(x.row(0), 0.05);
    let _ = model.details();
    if model.abilities().unlearns {
        let _ = model.deployed().map(|deployed| deployed.to_onnx());
        let y = Labels::from_names(["new", "newer"]);
        let other = model.clone();
        let _ = model.learn(x, &y, &mut ());
        let _ = model.unlearn(x, &y);
        let _ = model.merge(&[&other], None);
        let first = model.classes().first().cloned();
        let _ = first.map(|class| model.drop_class(&class));
    }
    let last = model.classes().last().cloned();
    let _ = last.map(|class| model.rename_class(&class, "renamed"));
}
