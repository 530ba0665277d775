//! Laws of partial memories: however rows are divided, the sums are those of one machine; nothing is added
//! twice; and what does not belong together is refused with the reason.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::{
    Check, Consolidation, ConsolidationParams, Error, Labels, Learner, Model, Partial, Precision, Share,
    Table,
};
use proptest::prelude::*;

const N_FEATURES: usize = 5;

/// Reproducible rows of three classes.
fn rows(n_rows: usize, salt: usize) -> (Table, Labels) {
    let value = |i: usize, j: usize| {
        let noise = ((i * 7919 + j * 104_729 + salt * 1_299_709) % 1009) as f32 / 1009.0;
        (i % 3 * (j + 1)) as f32 / 4.0 + noise
    };
    let values = (0..n_rows).flat_map(|i| (0..N_FEATURES).map(move |j| value(i, j)));
    let names = (0..n_rows).map(|i| ["a", "b", "c"][i % 3]);
    (
        Table::new(values.collect(), N_FEATURES).unwrap(),
        Labels::from_names(names),
    )
}

/// Few nodes: these tests are about sums.
fn params(precision: Precision, seed: u64) -> ConsolidationParams {
    ConsolidationParams {
        precision,
        seed,
        nodes: Some(200),
        ..ConsolidationParams::default()
    }
}

fn begun(precision: Precision, seed: u64) -> Consolidation {
    let mut model = Consolidation::new(params(precision, seed).check().unwrap());
    let sample = std::iter::once(Ok::<_, Error>(rows(60, 0)));
    model.begin(sample, &mut ()).unwrap();
    model
}

/// The sums of these rows, entered as one file.
fn partial(model: &Consolidation, x: &Table, y: &Labels, rows: &[usize], file: &str) -> Partial {
    let mut share = Share::of(model).unwrap();
    assert!(share.enter(file, &format!("{file}.parquet")));
    share.add(x.rows().gather(rows).rows(), &y.gather(rows)).unwrap();
    share.into_partial().unwrap()
}

/// The largest difference of two memories, relative to their largest values.
fn difference(a: &Consolidation, b: &Consolidation) -> f64 {
    let (a, b) = (a.memory(), b.memory());
    assert_eq!(a.classes(), b.classes());
    let relative = |a: &[f64], b: &[f64]| {
        let scale = b.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let apart = a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        apart / scale
    };
    relative(a.gram().to_square().values(), b.gram().to_square().values())
        .max(relative(a.moments().values(), b.moments().values()))
        .max(relative(a.counts(), b.counts()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any assignment of rows to workers, any order and grouping of their sums.
    #[test]
    fn however_rows_are_shared_out_the_memory_is_that_of_one_machine(
        workers in prop::collection::vec(0usize..4, 40..200),
        single in any::<bool>(),
        f64_products in any::<bool>(),
    ) {
        let precision = if f64_products { Precision::F64 } else { Precision::F32 };
        let (x, y) = rows(workers.len(), 1);
        let mut alone = begun(precision, 0);
        alone.learn(x.rows(), &y, &mut ()).unwrap();

        let mut shared = begun(precision, 0);
        let partials: Vec<Partial> = (0..4).rev().filter_map(|worker| {
            let mine: Vec<usize> = (0..workers.len()).filter(|&i| workers[i] == worker).collect();
            (!mine.is_empty()).then(|| {
                let sums = partial(&shared, &x, &y, &mine, &worker.to_string());
                Partial::from_bytes(&sums.to_bytes(single).unwrap()).unwrap()
            })
        }).collect();
        let mut sum = partials[0].clone();
        for partial in &partials[1..] {
            prop_assert!(sum.merge(partial).unwrap());
        }
        prop_assert!(shared.absorb(&sum).unwrap());
        let tolerance = if single || !f64_products { 1e-5 } else { 1e-12 };
        prop_assert!(difference(&shared, &alone) < tolerance, "{}", difference(&shared, &alone));
        prop_assert_eq!(shared.predict(x.rows()).unwrap(), alone.predict(x.rows()).unwrap());
        prop_assert_eq!(shared.ledger().len(), partials.len());
    }
}

#[test]
fn a_pool_that_was_begun_is_the_one_that_learning_makes() {
    let (x, y) = rows(60, 0);
    let mut learned = Consolidation::new(params(Precision::F32, 0).check().unwrap());
    learned.learn(x.rows(), &y, &mut ()).unwrap();
    let mut model = begun(Precision::F32, 0);
    assert_eq!(model.pool(), learned.pool());
    assert!(matches!(model.predict(x.rows()), Err(Error::NothingLearned)));
    let all: Vec<usize> = (0..60).collect();
    let sums = partial(&model, &x, &y, &all, "rows");
    model.absorb(&sums).unwrap();
    assert_eq!(model.memory(), learned.memory());
    assert_eq!(model.deployed(), learned.deployed());
}

#[test]
fn a_pool_alone_is_small_and_comes_back_from_a_file() {
    let mut model = begun(Precision::F32, 0);
    let (x, y) = rows(60, 0);
    let empty = Model::from(model.clone()).to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&empty).unwrap(), Model::from(model.clone()));
    let before = model.pool_alone();
    let all: Vec<usize> = (0..60).collect();
    let sums = partial(&model, &x, &y, &all, "rows");
    model.absorb(&sums).unwrap();
    let full = Model::from(model.clone()).to_bytes().unwrap();
    assert!(empty.len() * 2 < full.len());
    assert_eq!(model.pool_alone().memory(), before.memory());
    assert_eq!(model.pool_alone().binding().unwrap(), before.binding().unwrap());
    assert!(
        model.pool_alone().ledger().contains("rows"),
        "workers must know what was learned"
    );
}

#[test]
fn nothing_is_added_twice() {
    let mut model = begun(Precision::F32, 0);
    let (x, y) = rows(90, 1);
    let thirds: Vec<Vec<usize>> = (0..3).map(|t| (t * 30..t * 30 + 30).collect()).collect();
    let sums: Vec<Partial> = (0..3)
        .map(|t| partial(&model, &x, &y, &thirds[t], &format!("file-{t}")))
        .collect();
    assert!(model.absorb(&sums[0]).unwrap());
    let once = model.clone();
    assert!(!model.absorb(&sums[0]).unwrap(), "a job that is started again");
    assert_eq!(model, once);
    let mut mixed = sums[1].clone();
    assert!(mixed.merge(&sums[0]).unwrap());
    assert!(!mixed.merge(&sums[0]).unwrap(), "a task that was tried twice");
    let error = model.absorb(&mixed).unwrap_err();
    assert!(
        matches!(&error, Error::AlreadyLearned { file } if file == "file-0.parquet"),
        "{error}"
    );
    assert_eq!(model, once, "an error changes nothing");
    assert!(model.absorb(&sums[1]).unwrap());
    let mut kept = Model::from_bytes(&Model::from(model.clone()).to_bytes().unwrap()).unwrap();
    let kept = kept.consolidation_mut().unwrap();
    assert!(!kept.absorb(&sums[1]).unwrap(), "the ledger is in the file");
    let mut share = Share::of(kept).unwrap();
    assert!(!share.enter("file-1", "another name"));
    assert!(share.enter("file-2", "file-2") && !share.enter("file-2", "again"));
    let nothing = Share::of(kept).unwrap().into_partial().unwrap();
    assert!(!kept.absorb(&nothing).unwrap(), "no rows, no task");
}

#[test]
fn models_that_have_learned_one_file_cannot_be_added_without_their_base() {
    let base = begun(Precision::F32, 0);
    let (x, y) = rows(90, 1);
    let third = |t: usize| -> Vec<usize> { (t * 30..t * 30 + 30).collect() };
    let sums = |t: usize| partial(&base, &x, &y, &third(t), &format!("file-{t}"));
    let mut here = base.clone();
    here.absorb(&sums(0)).unwrap();
    let common = here.clone();
    let mut there = here.clone();
    here.absorb(&sums(1)).unwrap();
    there.absorb(&sums(2)).unwrap();
    assert!(matches!(
        here.clone().merge(&there),
        Err(Error::AlreadyLearned { .. })
    ));
    there.subtract(&common).unwrap();
    assert_eq!(there.ledger().len(), 1);
    here.merge(&there).unwrap();
    assert_eq!((here.ledger().len(), here.memory().n_rows()), (3, 90.0));
}

#[test]
fn what_does_not_belong_together_is_refused_by_name() {
    let model = begun(Precision::F32, 0);
    let (x, y) = rows(30, 1);
    let all: Vec<usize> = (0..30).collect();
    let refused = |other: &Consolidation, expected: &str| {
        let sums = partial(other, &x, &y, &all, "file");
        let error = model.clone().absorb(&sums).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        let error = partial(&model, &x, &y, &all, "mine").merge(&sums).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    refused(&begun(Precision::F32, 1), "made from different seeds");
    refused(&begun(Precision::F64, 0), "different precision");
    let mut elsewhere = model.clone();
    elsewhere.input_mut().origin = Some(serde_json::json!("another backbone"));
    refused(&elsewhere, "different backbones");
    let weighted = ConsolidationParams {
        class_weights: [("a".to_owned(), 2.0)].into(),
        ..params(Precision::F32, 0)
    };
    let mut weighted = Consolidation::new(weighted.check().unwrap());
    let sample = std::iter::once(Ok::<_, Error>(rows(60, 0)));
    weighted.begin(sample, &mut ()).unwrap();
    refused(&weighted, "different weights");
    let nothing = Consolidation::new(params(Precision::F32, 0).check().unwrap());
    assert!(matches!(Share::of(&nothing), Err(Error::NoPool)));
    let mut share = Share::of(&model).unwrap();
    let narrow = Table::new(vec![0.0; 6], 3).unwrap();
    let error = share
        .add(narrow.rows(), &Labels::from_names(["a", "b"]))
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::FeatureCount {
                expected: 5,
                found: 3
            }
        ),
        "{error}"
    );
}

#[test]
fn a_file_is_as_large_as_its_sums_and_says_when_it_is_damaged_or_of_another_kind() {
    let model = begun(Precision::F32, 0);
    let (x, y) = rows(30, 1);
    let all: Vec<usize> = (0..30).collect();
    let sums = partial(&model, &x, &y, &all, "file");
    let (double, single) = (sums.to_bytes(false).unwrap(), sums.to_bytes(true).unwrap());
    let n_floats = sums.sums().gram().n_floats() + 3 * (model.memory().n_nodes() + 1);
    assert!(
        n_floats < Partial::n_floats(model.memory().n_nodes(), 3),
        "of few rows, a factor is smaller"
    );
    let kept = 30 * (4 * N_FEATURES + 3 * 8);
    let header = |bytes: &[u8], float: usize| bytes.len() - float * n_floats - kept;
    assert!(header(&double, 8) < 2048, "{}", header(&double, 8));
    assert!(single.len() < double.len() / 2 + kept + 1024);
    assert_eq!(
        Partial::from_bytes(&double).unwrap().to_bytes(false).unwrap(),
        double
    );
    for cut in [0, 7, 100, double.len() / 2, double.len() - 1] {
        assert!(Partial::from_bytes(&double[..cut]).is_err(), "{cut}");
    }
    for at in (0..double.len()).step_by(997) {
        let mut flipped = double.clone();
        flipped[at] ^= 1;
        assert!(Partial::from_bytes(&flipped).is_err(), "byte {at}");
    }
    let error = Model::from_bytes(&double).unwrap_err();
    assert!(error.contains("memory merge"), "{error}");
    let error = Partial::from_bytes(&Model::from(model).to_bytes().unwrap()).unwrap_err();
    assert!(error.contains("not a partial memory"), "{error}");
}

#[test]
fn a_file_without_a_ledger_is_what_it_always_was() {
    let (x, y) = rows(60, 0);
    let mut learner = Consolidation::new(params(Precision::F32, 0).check().unwrap());
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let bytes = Model::from(learner).to_bytes().unwrap();
    let ledger = b"ledger";
    assert!(!bytes.windows(ledger.len()).any(|window| window == ledger));
}
