//! Whatever rows are learned, and in whatever order a model is changed, it answers or says why not, and the
//! result can be saved and read again.

#![allow(clippy::unwrap_used)] // A test may fail loudly.

use autoactivator::pool::{
    ConvolutionSpec, DifferencesSpec, FeaturesSpec, PatchesSpec, PoolSpec, Preparation, StackSpec,
    UniformSpec,
};
use autoactivator::{
    Activation, Check, Consolidation, ConsolidationParams, ImageShape, Labels, Learner, Model, Reactivation,
    ReactivationParams, ReadoutKind, RepeatedClasses, Table,
};
use proptest::prelude::*;

const IMAGE: ImageShape = ImageShape {
    height: 3,
    width: 4,
    channels: 1,
};

fn spec() -> impl Strategy<Value = Option<PoolSpec>> {
    let activation = Activation::Relu;
    let stack = |preparation| {
        PoolSpec::Stack(StackSpec {
            first: Box::new(PoolSpec::Features(FeaturesSpec { preparation })),
            preparation,
            directions: 20,
            activations: vec![Activation::Relu, Activation::Square],
            gain: 1.0,
            bias: 0.0,
        })
    };
    prop_oneof![
        Just(None),
        Just(Some(stack(Preparation::None))),
        Just(Some(stack(Preparation::Standardise))),
        Just(Some(stack(Preparation::SquareRoot))),
        Just(Some(stack(Preparation::RowSquareRoot))),
        Just(Some(stack(Preparation::Row))),
        Just(Some(PoolSpec::Uniform(UniformSpec {
            nodes: 9,
            scope: 0.5,
            activation: Activation::Sigmoid,
        }))),
        Just(Some(PoolSpec::Patches(PatchesSpec { nodes: 9, activation }))),
        Just(Some(PoolSpec::Differences(DifferencesSpec {
            nodes: 9,
            scale: 1.0,
            activation,
        }))),
        Just(Some(PoolSpec::Convolution(ConvolutionSpec {
            filters: 3,
            sides: vec![3],
            padded: true,
            both_signs: true,
            grid: 2,
            ..ConvolutionSpec::default()
        }))),
    ]
}

fn params() -> impl Strategy<Value = ConsolidationParams> {
    let readout = prop_oneof![
        Just(ReadoutKind::Ridge),
        Just(ReadoutKind::Lda),
        Just(ReadoutKind::NearestMean)
    ];
    let ridge = prop_oneof![Just(None), Just(Some(0.0)), Just(Some(1e-3))];
    let limit = || prop_oneof![Just(None), Just(Some(1usize)), Just(Some(4))];
    (
        spec(),
        readout,
        ridge,
        limit(),
        limit(),
        prop_oneof![Just(1.0), Just(0.5)],
    )
        .prop_map(
            |(pool, readout, ridge, max_nodes, nodes_per_class, fading)| ConsolidationParams {
                pool,
                image: Some(IMAGE),
                readout,
                ridge,
                max_nodes,
                nodes_per_class,
                fading,
                ..ConsolidationParams::default()
            },
        )
}

/// Values that repeat more often than not, and some unexpected ones.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => Just(0.0f32),
        4 => Just(1.0),
        2 => -1.0f32..1.0,
        1 => prop::sample::select(vec![-1.0, 255.0, 1e-30, 1e-45, 1e8, 1e14, -1e15, 1e16, f32::MAX]),
    ]
}

fn task() -> impl Strategy<Value = (Table, Labels)> {
    (1usize..7).prop_flat_map(|n| {
        let values = prop::collection::vec(value(), n * IMAGE.n_values());
        let names = prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "d"]), n);
        (values, names).prop_map(|(values, names)| {
            (
                Table::new(values, IMAGE.n_values()).unwrap(),
                Labels::from_names(names),
            )
        })
    })
}

#[derive(Clone, Debug)]
enum Deed {
    Learn((Table, Labels)),
    UnlearnTheLast,
    Drop(&'static str),
    MergeWithItself,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let deed = prop_oneof![
        3 => task().prop_map(Deed::Learn),
        1 => Just(Deed::UnlearnTheLast),
        1 => prop::sample::select(vec!["a", "b", "c", "d"]).prop_map(Deed::Drop),
        1 => Just(Deed::MergeWithItself),
    ];
    prop::collection::vec(deed, 1..7)
}

/// Carries out a deed and returns whether it was accepted; a refused one changes nothing.
fn carry_out(deed: &Deed, learner: &mut Consolidation, last: &mut Option<(Table, Labels)>) -> bool {
    match deed {
        Deed::Learn((x, y)) => {
            let learned = learner.learn(x.rows(), y, &mut ()).is_ok();
            if learned {
                *last = Some((x.clone(), y.clone()));
            }
            learned
        }
        Deed::UnlearnTheLast => last
            .take()
            .is_some_and(|(x, y)| learner.unlearn(x.rows(), &y).is_ok()),
        Deed::Drop(class) => learner.drop_class(class).is_ok(),
        Deed::MergeWithItself => {
            let other = learner.clone();
            learner.merge(&other).is_ok()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn consolidation_answers_or_says_why_not(params in params(), deeds in deeds(), (asked, _) in task()) {
        let mut learner = Consolidation::new(params.check().unwrap());
        let mut last = None;
        for deed in &deeds {
            let before = learner.clone();
            if !carry_out(deed, &mut learner, &mut last) {
                prop_assert_eq!(&learner, &before, "refused, and yet changed by {:?}", deed);
            }
            let bytes = Model::from(learner.clone()).to_bytes().unwrap();
            let read = Model::from_bytes(&bytes).map_err(|error| TestCaseError::fail(format!("{deed:?}: {error}")))?;
            prop_assert_eq!(read, Model::from(learner.clone()), "read again after {:?}", deed);
        }
        match learner.predict(asked.rows()) {
            Ok(places) => prop_assert!(places.iter().all(|&c| (c as usize) < learner.classes().len())),
            Err(_) => prop_assert!(learner.classes().is_empty() || asked.rows().check_values().is_err()),
        }
        if let Some(deployed) = learner.deployed().filter(|_| asked.rows().check_values().is_ok()) {
            let reject = if deployed.check_rejects().is_ok() { 0.05 } else { 0.0 };
            for answer in deployed.answers(asked.rows(), reject).unwrap() {
                let sum: f32 = answer.probabilities.iter().sum();
                prop_assert!((sum - 1.0).abs() < 1e-3, "{:?}", answer.probabilities);
            }
        }
    }

    #[test]
    fn reactivation_answers_or_says_why_not(tasks in prop::collection::vec(task(), 1..4), (asked, _) in task()) {
        let params = ReactivationParams { repeated_classes: RepeatedClasses::Accept, t_max: 3, l_max: 30, ..ReactivationParams::default() };
        let mut learner = Reactivation::new(params.check().unwrap());
        for (x, y) in &tasks {
            let before = learner.clone();
            if learner.learn(x.rows(), y, &mut ()).is_err() {
                prop_assert_eq!(&learner, &before);
            }
            let model = Model::from(learner.clone());
            prop_assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        }
        match learner.predict(asked.rows()) {
            Ok(places) => prop_assert!(places.iter().all(|&c| (c as usize) < learner.classes().len())),
            Err(_) => prop_assert!(learner.classes().is_empty() || asked.rows().check_values().is_err()),
        }
    }
}

/// Nodes that take the scale of a first task of tiny numbers find others infinite.
#[test]
fn a_row_that_is_infinitely_far_away_has_an_answer() {
    let params = ConsolidationParams {
        readout: ReadoutKind::Ridge,
        ..ConsolidationParams::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    let row =
        |value: f32| Table::new((0..12).map(|j| if j == 2 { value } else { 0.0 }).collect(), 12).unwrap();
    learner
        .learn(row(1e-30).rows(), &Labels::from_names(["a"]), &mut ())
        .unwrap();
    let answers = learner.deployed().unwrap().answers(row(1e8).rows(), 0.0).unwrap();
    assert_eq!(answers[0].probabilities, [1.0]);
}
