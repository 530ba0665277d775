//! Laws of consolidation: the order of tasks, batches and rows does not matter; merging equals learning both;
//! unlearning undoes learning; recruitment and readout from the memory give what the rows themselves would have given.

#![allow(clippy::unwrap_used, clippy::expect_used)] // A test may fail loudly.

use autoactivator::consolidation::{self, Ended, Limits};
use autoactivator::math::{Matrix, least_squares};
use autoactivator::pool::{
    ConvolutionSpec, DifferencesSpec, FeaturesSpec, FirstTask, GaussianSpec, PatchesSpec, PoolSpec,
    Preparation, StackSpec, UniformSpec,
};
use autoactivator::reactivation;
use autoactivator::{
    Activation, Check, Consolidation, ConsolidationParams, Error, ImageShape, Labels, Learner, Memory, Model,
    Precision, ReadoutKind, Rows, Table,
};
use proptest::prelude::*;

const IMAGE: ImageShape = ImageShape {
    height: 6,
    width: 5,
    channels: 1,
};

/// Rows around one centre per class, every value reproducible.
fn rows(n_rows: usize, n_classes: usize, salt: u64) -> (Table, Labels) {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let n_features = IMAGE.n_values();
    let centre = |class: usize, feature: usize| (((class * 17 + feature * 7) % 13) as f32) / 13.0;
    let mut values = Vec::new();
    for i in 0..n_rows {
        values.extend((0..n_features).map(|j| 0.6 * centre(i % n_classes, j) + 0.4 * next()));
    }
    let names: Vec<String> = (0..n_rows).map(|i| format!("class {}", i % n_classes)).collect();
    (Table::new(values, n_features).unwrap(), Labels::from_names(names))
}

fn specs() -> Vec<PoolSpec> {
    let relu = Activation::Relu;
    let convolution = PoolSpec::Convolution(ConvolutionSpec {
        filters: 5,
        sides: vec![3, 5],
        padded: true,
        both_signs: true,
        grid: 2,
        overlap: 1,
        ..ConvolutionSpec::default()
    });
    vec![
        PoolSpec::Uniform(UniformSpec {
            nodes: 20,
            scope: 0.5,
            activation: Activation::Sigmoid,
        }),
        PoolSpec::Gaussian(GaussianSpec {
            nodes: 20,
            activation: relu,
            preparation: Preparation::Standardise,
        }),
        PoolSpec::Features(FeaturesSpec {
            preparation: Preparation::SquareRoot,
        }),
        PoolSpec::Patches(PatchesSpec {
            nodes: 20,
            activation: relu,
        }),
        PoolSpec::Differences(DifferencesSpec {
            nodes: 20,
            scale: 4.0,
            activation: Activation::Sigmoid,
        }),
        convolution.clone(),
        PoolSpec::Stack(StackSpec {
            first: Box::new(convolution),
            preparation: Preparation::Standardise,
            directions: 30,
            activations: vec![relu, Activation::Square],
            gain: 1.0,
            bias: 0.0,
        }),
    ]
}

fn params(pool: PoolSpec) -> ConsolidationParams {
    ConsolidationParams {
        pool: Some(pool),
        image: Some(IMAGE),
        ridge: Some(1e-6),
        ..ConsolidationParams::default()
    }
}

fn learner(params: &ConsolidationParams) -> Consolidation {
    Consolidation::new(params.clone().check().unwrap())
}

/// A learner with a pool made from rows that it has since forgotten.
fn with_pool(params: &ConsolidationParams) -> Consolidation {
    let (x, y) = rows(24, 2, 1);
    let mut made = learner(params);
    made.learn(x.rows(), &y, &mut ()).unwrap();
    made
}

fn pick(x: &Table, y: &Labels, indices: &[usize]) -> (Table, Labels) {
    (x.rows().gather(indices), y.gather(indices))
}

/// Largest difference of two memories, relative to the largest entry, classes matched by name.
fn difference(a: &Memory, b: &Memory) -> f64 {
    assert_eq!(a.classes().len(), b.classes().len());
    let n = a.n_nodes();
    let scale = (0..n).map(|j| a.gram().at(j, j).abs()).fold(1e-30, f64::max);
    let mut worst = 0f64;
    for j in 0..n {
        for i in j..n {
            worst = worst.max((a.gram().at(i, j) - b.gram().at(i, j)).abs() / scale);
        }
    }
    for (c, name) in a.classes().names().iter().enumerate() {
        let d = b.classes().place(name).unwrap() as usize;
        let scale = a.moments().col(c).iter().fold(1e-30f64, |m, v| m.max(v.abs()));
        for (p, q) in a.moments().col(c).iter().zip(b.moments().col(d)) {
            worst = worst.max((p - q).abs() / scale);
        }
        worst = worst.max((a.counts()[c] - b.counts()[d]).abs());
    }
    worst
}

fn names(learner: &Consolidation, x: Rows<'_>) -> Vec<String> {
    learner
        .predict(x)
        .unwrap()
        .iter()
        .map(|&c| learner.classes()[c as usize].clone())
        .collect()
}

/// Two learners over one memory may answer a row differently only if it is a tie at the given precision.
fn assert_same_answers(a: &Consolidation, b: &Consolidation, x: Rows<'_>, tolerance: f32) {
    let (left, right) = (names(a, x), names(b, x));
    let scores = a.deployed().unwrap().scores(x).unwrap();
    for (i, (left, right)) in left.iter().zip(&right).enumerate() {
        if left != right {
            let score = |name: &String| scores[(i, a.memory().classes().place(name).unwrap() as usize)];
            assert!(
                (score(left) - score(right)).abs() <= tolerance,
                "row {i}: {left} or {right}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn order_chunks_and_shards_do_not_matter(
        spec in 0usize..7, double in any::<bool>(), seed in 0u64..100, chunk in prop_oneof![Just(1usize), Just(7), Just(4096)], shards in 1usize..5,
    ) {
        let precision = if double { Precision::F64 } else { Precision::F32 };
        let params = ConsolidationParams { precision, seed, ..params(specs()[spec].clone()) };
        let tolerance = if double { 1e-9 } else { 1e-5 };
        let start = with_pool(&params);
        let (x, y) = rows(120, 4, 7 + seed);

        let mut whole = start.clone();
        whole.observe(x.rows(), &y).unwrap();
        whole.consolidate().unwrap();

        // Another order, in chunks.
        let order: Vec<usize> = (0..120).map(|i| (i * 77 + 13) % 120).collect();
        let mut chunked = start.clone();
        for part in order.chunks(chunk) {
            let (x, y) = pick(&x, &y, part);
            chunked.observe(x.rows(), &y).unwrap();
        }
        chunked.consolidate().unwrap();
        prop_assert!(difference(whole.memory(), chunked.memory()) < tolerance);
        assert_same_answers(&whole, &chunked, x.rows(), 1e-3);

        // Shards that each began from the bare pool, merged.
        let mut merged = start.clone();
        for part in order.chunks(120usize.div_ceil(shards)) {
            let (x, y) = pick(&x, &y, part);
            let mut shard = emptied(&start);
            shard.learn(x.rows(), &y, &mut ()).unwrap();
            merged.merge(&shard).unwrap();
        }
        prop_assert!(difference(whole.memory(), merged.memory()) < tolerance);
        assert_same_answers(&whole, &merged, x.rows(), 1e-3);
    }

    #[test]
    fn unlearning_undoes_learning(spec in 0usize..7, double in any::<bool>(), seed in 0u64..100) {
        let precision = if double { Precision::F64 } else { Precision::F32 };
        let params = ConsolidationParams { precision, seed, ..params(specs()[spec].clone()) };
        let before = with_pool(&params);
        let (x, y) = rows(60, 2, 1000 + seed);
        let mut after = before.clone();
        after.learn(x.rows(), &y, &mut ()).unwrap();
        after.unlearn(x.rows(), &y).unwrap();
        let tolerance = if double { 1e-9 } else { 1e-5 };
        prop_assert!(difference(before.memory(), after.memory()) < tolerance);
    }

    #[test]
    fn merging_is_commutative(seed in 0u64..100) {
        let params = ConsolidationParams { seed, ..params(specs()[0].clone()) };
        let start = with_pool(&params);
        let (mut a, mut b) = (start.clone(), start);
        let ((xa, ya), (xb, yb)) = (rows(30, 3, 5), rows(40, 4, 6));
        a.learn(xa.rows(), &ya, &mut ()).unwrap();
        b.learn(xb.rows(), &yb, &mut ()).unwrap();
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(&b).unwrap();
        ba.merge(&a).unwrap();
        prop_assert!(difference(ab.memory(), ba.memory()) < 1e-12);
    }

    #[test]
    fn a_saved_memory_goes_on_as_if_it_had_never_been_saved(spec in 0usize..7, max_nodes in prop_oneof![Just(None), Just(Some(9usize))]) {
        let params = ConsolidationParams { max_nodes, ..params(specs()[spec].clone()) };
        let mut learner = with_pool(&params);
        let mut loaded = Model::from_bytes(&Model::from(learner.clone()).to_bytes().unwrap()).unwrap();
        let (x, y) = rows(50, 5, 3);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
        loaded.learn(x.rows(), &y, &mut ()).unwrap();
        prop_assert_eq!(loaded.to_bytes().unwrap(), Model::from(learner).to_bytes().unwrap());
    }
}

/// The same pool with an empty memory: what a shard starts from.
fn emptied(learner: &Consolidation) -> Consolidation {
    let mut empty = learner.clone();
    let (x, y) = rows(24, 2, 1);
    empty.unlearn(x.rows(), &y).unwrap();
    empty
}

/// A task in batches is bit-identical to the task in one piece: when it is small, when it is so large that
/// the pool is made from a part of it, and when it is not the first.
#[test]
fn batches_of_a_task_make_the_model_of_the_whole() {
    let params = params(PoolSpec::Gaussian(GaussianSpec {
        nodes: 6,
        activation: Activation::Relu,
        preparation: Preparation::Standardise,
    }));
    for n in [50, 9_000, 70_001] {
        let (x, y) = rows(n, 3, 1);
        let mut whole = learner(&params);
        whole.learn(x.rows(), &y, &mut ()).unwrap();
        let mut streamed = learner(&params);
        let (more_x, more_y) = rows(5_000, 4, 2);
        for (x, y) in [(&x, &y), (&more_x, &more_y)] {
            let batches = || {
                let firsts = (0..y.len()).step_by(1_000);
                Ok::<_, Error>(firsts.map(move |first| {
                    let batch: Vec<usize> = (first..y.len().min(first + 1_000)).collect();
                    Ok((x.rows().gather(&batch), y.gather(&batch)))
                }))
            };
            assert_eq!(streamed.learn_batches(batches, &mut ()).unwrap(), y.len());
        }
        whole.learn(more_x.rows(), &more_y, &mut ()).unwrap();
        assert!(streamed == whole, "{n} rows");
    }
}

#[test]
fn what_two_memories_began_from_can_be_counted_once() {
    let start = with_pool(&params(specs()[0].clone()));
    let ((xa, ya), (xb, yb)) = (rows(30, 3, 5), rows(40, 4, 6));
    let (mut a, mut b, mut both) = (start.clone(), start.clone(), start.clone());
    a.learn(xa.rows(), &ya, &mut ()).unwrap();
    b.learn(xb.rows(), &yb, &mut ()).unwrap();
    both.learn(xa.rows(), &ya, &mut ()).unwrap();
    both.learn(xb.rows(), &yb, &mut ()).unwrap();
    b.subtract(&start).unwrap();
    a.merge(&b).unwrap();
    assert!(difference(a.memory(), both.memory()) < 1e-5);
    refused(b.subtract(&both), "rows");
}

#[test]
fn pools_are_reproducible_and_select_what_they_say() {
    let (x, y) = rows(40, 3, 9);
    let places: Vec<u32> = y.codes().to_vec();
    for spec in specs() {
        let task = FirstTask {
            x: x.rows(),
            places: &places,
            image: Some(IMAGE),
            seed: 5,
        };
        let pool = spec.make(&task).unwrap();
        assert_eq!(pool, spec.make(&task).unwrap(), "same seed, same pool");
        let all = pool.outputs(x.rows(), Precision::F32);
        assert_eq!(all.rows().n_features(), pool.n_nodes());
        let chosen: Vec<usize> = (0..pool.n_nodes()).rev().step_by(3).collect();
        let selected = pool.select(&chosen);
        let outputs = selected.outputs(x.rows(), Precision::F32);
        for i in 0..x.rows().len() {
            for (k, &node) in chosen.iter().enumerate() {
                let (a, b) = (outputs.rows().row(i)[k], all.rows().row(i)[node]);
                assert!(
                    (a - b).abs() <= 1e-5 * (1.0 + b.abs()),
                    "{spec:?}, node {node}: {a} is not {b}"
                );
            }
        }
        assert!(selected.n_floats() <= pool.n_floats());
    }
}

#[test]
fn a_readout_from_the_memory_is_the_one_from_the_rows() {
    let params = ConsolidationParams {
        precision: Precision::F64,
        ridge: Some(0.0),
        witnesses: 0,
        ..params(specs()[0].clone())
    };
    let mut learner = learner(&params);
    let (x, y) = rows(300, 3, 2);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let h = learner.pool().unwrap().outputs(x.rows(), Precision::F32);
    let n = h.rows().n_features();
    let design = Matrix::from_fn(300, n + 1, |i, j| {
        if j == n {
            1.0
        } else {
            f64::from(h.rows().row(i)[j])
        }
    });
    let targets = Matrix::from_fn(300, 3, |i, c| if y.codes()[i] as usize == c { 1.0 } else { 0.0 });
    let truth = least_squares(&design, &targets);
    let readout = &learner.deployed().unwrap().readout;
    for c in 0..3 {
        for j in 0..n {
            let (a, b) = (f64::from(readout.weights[(j, c)]), truth[(j, c)]);
            assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} is not {b}");
        }
    }
}

#[test]
fn recruitment_in_gram_space_is_forward_selection_on_the_rows() {
    let params = ConsolidationParams {
        precision: Precision::F64,
        ..params(specs()[0].clone())
    };
    let mut learner = learner(&params);
    let (x, y) = rows(200, 3, 4);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let limits = Limits {
        max_nodes: 5,
        r: 1.0 - 1e-12,
        expected_gain: 0.0,
    };
    let (chosen, _) = consolidation::recruit(learner.memory(), &[], limits);
    // The slow truth: try every node besides the chosen ones and keep the one with the smallest residual.
    let h = learner.pool().unwrap().outputs(x.rows(), Precision::F32);
    let targets = Matrix::from_fn(200, 3, |i, c| if y.codes()[i] as usize == c { 1.0 } else { 0.0 });
    let mut slow: Vec<usize> = Vec::new();
    while slow.len() < 5 {
        let candidates = (0..h.rows().n_features()).filter(|node| !slow.contains(node));
        let residual = |node: &usize| {
            let nodes: Vec<usize> = slow.iter().copied().chain([*node]).collect();
            let design = Matrix::from_fn(200, nodes.len() + 1, |i, j| {
                nodes.get(j).map_or(1.0, |&node| f64::from(h.rows().row(i)[node]))
            });
            let w = least_squares(&design, &targets);
            let fitted = autoactivator::math::product(design.view(), w.view());
            fitted
                .values()
                .iter()
                .zip(targets.values())
                .map(|(f, t)| (f - t) * (f - t))
                .sum::<f64>()
        };
        slow.push(
            candidates
                .min_by(|a, b| residual(a).total_cmp(&residual(b)))
                .unwrap(),
        );
    }
    assert_eq!(chosen, slow);
}

/// Forward selection straight from the definition: after every choice the whole pool is orthogonalised against it.
fn slow_recruit(memory: &Memory, limits: Limits) -> (Vec<usize>, Ended) {
    let (n, n_rows) = (memory.n_nodes(), memory.n_rows());
    let sum = |j: usize| memory.moments().cols().map(|moment| moment[j]).sum::<f64>();
    let sums: Vec<f64> = (0..n).map(sum).collect();
    let entry = |i: usize, j: usize| memory.gram().at(i, j) - sums[i] * sums[j] / n_rows;
    let mut gram = Matrix::from_fn(n, n, entry);
    let mut products = Matrix::from_fn(n, memory.counts().len(), |j, c| {
        memory.moments()[(j, c)] - sums[j] * memory.counts()[c] / n_rows
    });
    let mut residual: Vec<f64> = memory.counts().iter().map(|n| n - n * n / n_rows).collect();
    let first: Vec<f64> = (0..n).map(|j| gram[(j, j)]).collect();
    let (mut nodes, mut lowest) = (Vec::new(), f64::INFINITY);
    loop {
        if nodes.len() >= limits.max_nodes {
            return (nodes, Ended::NodeLimit);
        }
        let gain = |j: usize, c: usize| products[(j, c)].powi(2) / gram[(j, j)];
        let new = |j: &usize| !nodes.contains(j) && gram[(*j, *j)] > 1e-8 * first[*j];
        let level = nodes.len() as f64 + 1.0;
        let best = reactivation::relaxed(limits.r).find_map(|r| {
            let asked = (1.0 - r) * level / (level + 1.0);
            let passes = |j: &usize| (0..residual.len()).all(|c| gain(*j, c) > asked * residual[c]);
            let taken = |j: usize| (0..residual.len()).map(|c| gain(j, c)).sum::<f64>();
            let passed = (0..n).filter(new).filter(passes);
            passed.max_by(|&a, &b| taken(a).total_cmp(&taken(b)))
        });
        let Some(node) = best else {
            return (nodes, Ended::NoCandidate);
        };
        let before: f64 = residual.iter().sum();
        let length = gram[(node, node)];
        for (c, residual) in residual.iter_mut().enumerate() {
            let product = products[(node, c)];
            *residual -= product * product / length;
            (0..n).for_each(|j| products[(j, c)] -= product * gram[(j, node)] / length);
        }
        let along = gram.col(node).to_vec();
        for j in 0..n {
            let column = gram.col_mut(j).iter_mut().zip(&along);
            column.for_each(|(g, a)| *g -= a * along[j] / length);
        }
        let after: f64 = residual.iter().sum();
        if !nodes.is_empty() && before - after < limits.expected_gain * before {
            return (nodes, Ended::ExpectedGain);
        }
        let freedom = n_rows - (nodes.len() + 2) as f64;
        if after / (freedom * freedom) >= lowest {
            return (nodes, Ended::CrossValidation);
        }
        lowest = after / (freedom * freedom);
        nodes.push(node);
    }
}

#[test]
fn recruitment_strip_by_strip_is_forward_selection() {
    let params = ConsolidationParams {
        precision: Precision::F64,
        readout: ReadoutKind::NearestMean,
        ..params(PoolSpec::Uniform(UniformSpec {
            nodes: 1100,
            scope: 1.0,
            activation: Activation::Sigmoid,
        }))
    };
    let mut learner = learner(&params);
    let (x, y) = rows(400, 4, 6);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    for (max_nodes, expected_gain) in [(60, 0.0), (200, 0.01), (390, 0.0)] {
        let limits = Limits {
            max_nodes,
            r: 0.9,
            expected_gain,
        };
        let (nodes, ended) = consolidation::recruit(learner.memory(), &[], limits);
        assert_eq!((nodes.clone(), ended), slow_recruit(learner.memory(), limits));
        // Resuming from half of the nodes gives the same result as going through.
        let half = &nodes[..nodes.len() / 2];
        let (again, _) = consolidation::recruit(learner.memory(), half, limits);
        assert_eq!(
            again[..nodes.len().min(again.len())],
            nodes[..nodes.len().min(again.len())]
        );
    }
}

#[test]
fn many_rows_are_scored_like_each_alone() {
    for spec in specs() {
        let mut learner = learner(&params(spec.clone()));
        let (x, y) = rows(1100, 3, 8);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
        let deployed = learner.deployed().unwrap();
        let scores = deployed.scores(x.rows()).unwrap();
        for i in (0..1100).step_by(73) {
            let alone = deployed.scores(x.rows().gather(&[i]).rows()).unwrap();
            for c in 0..3 {
                let (a, b) = (scores[(i, c)], alone[(0, c)]);
                assert!(
                    (a - b).abs() < 1e-4 * (1.0 + b.abs()),
                    "{spec:?}, row {i}: {a} is not {b}"
                );
            }
        }
    }
}

#[test]
fn recruited_nodes_only_get_more() {
    let params = ConsolidationParams {
        max_nodes: Some(12),
        expected_gain: 0.02,
        ..params(specs()[0].clone())
    };
    let mut learner = learner(&params);
    let mut before = 0;
    for (task, n_classes) in [2, 3, 5].into_iter().enumerate() {
        let (x, y) = rows(90, n_classes, task as u64);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
        let growth = learner.task_growth().last().unwrap();
        assert_eq!(growth.nodes, before + growth.recruited);
        assert!(growth.nodes <= 12);
        before = growth.nodes;
    }
    assert!(before > 0);
}

#[test]
fn a_new_label_may_come_at_any_time_and_one_row_is_enough() {
    for readout in [ReadoutKind::Ridge, ReadoutKind::Lda, ReadoutKind::NearestMean] {
        let params = ConsolidationParams {
            readout,
            ..params(specs()[0].clone())
        };
        let mut learner = with_pool(&params);
        let odd = Table::new((0..30).map(|j| if j % 2 == 0 { 3.0 } else { -3.0 }).collect(), 30).unwrap();
        learner
            .learn(odd.rows(), &Labels::from_names(["odd one"]), &mut ())
            .unwrap();
        assert_eq!(names(&learner, odd.rows()), ["odd one"], "{readout:?}");
        let (x, y) = rows(24, 2, 1);
        let right = names(&learner, x.rows())
            .iter()
            .enumerate()
            .filter(|(i, name)| *name == y.name(*i))
            .count();
        assert!(right >= 22, "{readout:?}: {right} of 24 old rows");
    }
}

#[test]
fn a_class_weight_counts_like_repeated_rows() {
    let base = ConsolidationParams {
        precision: Precision::F64,
        ..params(specs()[0].clone())
    };
    let weighted = ConsolidationParams {
        class_weights: [("class 2".to_owned(), 3.0)].into(),
        ..base.clone()
    };
    let (mut a, mut b) = (with_pool(&weighted), with_pool(&base));
    let (x, y) = rows(30, 3, 3);
    a.learn(x.rows(), &y, &mut ()).unwrap();
    let repeated: Vec<usize> = (0..30)
        .flat_map(|i| vec![i; if i % 3 == 2 { 3 } else { 1 }])
        .collect();
    let (x, y) = pick(&x, &y, &repeated);
    b.learn(x.rows(), &y, &mut ()).unwrap();
    assert!(difference(a.memory(), b.memory()) < 1e-6); // rows are scaled by a root in single precision
}

#[test]
fn fading_lets_old_evidence_count_less() {
    let params = ConsolidationParams {
        fading: 0.5,
        ..params(specs()[0].clone())
    };
    let mut learner = with_pool(&params);
    let (x, y) = rows(20, 2, 8);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    assert_eq!(learner.memory().counts(), [0.5 * 12.0 + 10.0, 0.5 * 12.0 + 10.0]);
}

#[test]
fn a_dropped_class_is_predicted_no_more() {
    for readout in [ReadoutKind::Ridge, ReadoutKind::Lda] {
        let mut learner = learner(&ConsolidationParams {
            readout,
            ..params(specs()[0].clone())
        });
        let (x, y) = rows(90, 3, 2);
        learner.learn(x.rows(), &y, &mut ()).unwrap();
        learner.drop_class("class 1").unwrap();
        assert_eq!(learner.classes(), ["class 0", "class 2"]);
        let kept: Vec<usize> = (0..90).filter(|i| i % 3 != 1).collect();
        let (x, y) = pick(&x, &y, &kept);
        let right = names(&learner, x.rows())
            .iter()
            .enumerate()
            .filter(|(i, name)| *name == y.name(*i))
            .count();
        assert!(right >= 55, "{readout:?}: {right} of 60");
    }
}

#[test]
fn a_class_without_rows_is_not_known_any_more() {
    let mut learner = with_pool(&params(specs()[0].clone()));
    let before = learner.clone();
    let (x, y) = rows(90, 3, 2);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    assert_eq!(learner.classes(), ["class 0", "class 1", "class 2"]);
    learner.unlearn(x.rows(), &y).unwrap();
    assert_eq!(learner.classes(), before.classes());
    assert!(difference(before.memory(), learner.memory()) < 1e-5);
}

#[test]
fn without_its_last_class_a_model_is_its_pool_and_learns_anew() {
    let start = with_pool(&params(specs()[0].clone()));
    let (x, y) = rows(24, 2, 1);
    let mut dropped = start.clone();
    for class in ["class 0", "class 1"] {
        dropped.drop_class(class).unwrap();
    }
    for mut empty in [dropped, emptied(&start)] {
        assert!(empty.classes().is_empty());
        refused(empty.predict(x.rows()).map(|_| ()), "nothing has been learned");
        let loaded = Model::from_bytes(&Model::from(empty.clone()).to_bytes().unwrap()).unwrap();
        assert_eq!(loaded, Model::from(empty.clone()));
        empty.learn(x.rows(), &y, &mut ()).unwrap();
        assert_eq!(empty, start);
    }
}

#[test]
fn rows_that_no_node_tells_apart_can_be_learned() {
    let x = Table::new([vec![0.1; 30], vec![0.9; 30]].concat(), 30).unwrap();
    let y = Labels::from_names(["low", "high"]);
    for readout in [ReadoutKind::Ridge, ReadoutKind::Lda, ReadoutKind::NearestMean] {
        for max_nodes in [None, Some(5)] {
            for spec in specs() {
                let mut learner = learner(&ConsolidationParams {
                    readout,
                    max_nodes,
                    ..params(spec)
                });
                learner.learn(x.rows(), &y, &mut ()).unwrap();
                assert_eq!(learner.predict(x.rows()).unwrap().len(), 2);
                let model = Model::from(learner);
                assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
            }
        }
    }
}

#[test]
fn what_a_subtraction_leaves_can_be_read_out() {
    for readout in [ReadoutKind::Ridge, ReadoutKind::Lda, ReadoutKind::NearestMean] {
        for spec in specs() {
            let mut base = learner(&ConsolidationParams {
                readout,
                ..params(spec)
            });
            let (x, y) = rows(400, 2, 2);
            base.learn(x.rows(), &y, &mut ()).unwrap();
            let mut more = base.clone();
            let (x, _) = rows(12, 1, 3);
            let y = Labels::from_names(["new"; 12]);
            more.learn(x.rows(), &y, &mut ()).unwrap();
            more.subtract(&base).unwrap();
            assert_eq!(more.memory().n_rows(), 12.0);
        }
    }
}

#[test]
fn rejection_has_the_rate_that_was_asked_for() {
    let mut learner = learner(&params(specs()[0].clone()));
    let (x, y) = rows(2000, 2, 2);
    learner.learn(x.rows(), &y, &mut ()).unwrap();
    let (fresh, _) = rows(1000, 2, 77);
    let deployed = learner.deployed().unwrap();
    for rate in [0.0, 0.1, 0.5, 1.0] {
        let answers = deployed.answers(fresh.rows(), rate).unwrap();
        let unknown = answers.iter().filter(|answer| answer.class.is_none()).count() as f64 / 1000.0;
        assert!(
            (unknown - rate).abs() < 0.08,
            "{unknown} unknown at a rate of {rate}"
        );
        for answer in &answers {
            assert!((answer.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn deployed_models_predict_the_same_from_their_own_file() {
    for spec in specs() {
        let learner = with_pool(&ConsolidationParams {
            max_nodes: Some(11),
            ..params(spec)
        });
        let (x, _) = rows(50, 2, 5);
        let deployed = learner.deployed().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (whole, half) = (folder.path().join("whole.aact"), folder.path().join("half.aact"));
        let model = Model::from(learner.clone());
        model.export(&whole, false).unwrap();
        model.export(&half, true).unwrap();
        let loaded = Model::load(&whole).unwrap();
        assert_eq!(loaded.name(), "deployed");
        assert_eq!(loaded.deployed().unwrap(), deployed);
        let rounded = Model::load(&half).unwrap();
        let (a, b) = (
            deployed.predict(x.rows()).unwrap(),
            rounded.predict(x.rows()).unwrap(),
        );
        let same = a.iter().zip(&b).filter(|(a, b)| a == b).count();
        assert!(same >= 47, "{same} of 50");
        assert!(std::fs::metadata(&half).unwrap().len() < std::fs::metadata(&whole).unwrap().len());
    }
}

#[track_caller]
fn refused(result: Result<(), Error>, words: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut learner = with_pool(&params(specs()[0].clone()));
    let before = learner.clone();
    let (x, y) = rows(24, 2, 1);
    let stranger = with_pool(&ConsolidationParams {
        seed: 3,
        ..params(specs()[0].clone())
    });
    refused(learner.merge(&stranger), "different pools");
    let everything_twice: Vec<usize> = (0..24).chain(0..24).collect();
    let (xx, yy) = pick(&x, &y, &everything_twice);
    refused(learner.unlearn(xx.rows(), &yy), "rows");
    let (other, _) = rows(24, 2, 999);
    let loud = Table::new(other.rows().values().iter().map(|v| v * 40.0).collect(), 30).unwrap();
    refused(learner.unlearn(loud.rows(), &y), "cannot have been learned");
    refused(
        learner.unlearn(x.rows(), &Labels::from_names(["z"; 24])),
        "class 'z' is not known",
    );
    refused(learner.drop_class("z"), "class 'z' is not known");
    let narrow = Table::new(vec![0.5; 24 * 3], 3).unwrap();
    refused(learner.learn(narrow.rows(), &y, &mut ()), "3 features");
    refused(learner.unlearn(narrow.rows(), &y), "3 features");
    assert!(learner.predict(narrow.rows()).is_err());
    let mut deployed = learner.deployed().unwrap().clone();
    refused(deployed.learn(x.rows(), &y, &mut ()), "cannot learn");
    assert_eq!(learner, before);
}

#[test]
fn pools_that_cannot_be_made_say_why() {
    let (x, y) = rows(24, 2, 1);
    let learn = |params: ConsolidationParams| learner(&params).learn(x.rows(), &y, &mut ());
    let convolution = |spec| params(PoolSpec::Convolution(spec));
    let d = ConvolutionSpec::default;
    refused(
        learn(ConsolidationParams {
            image: None,
            ..convolution(d())
        }),
        "needs images",
    );
    let wrong = ImageShape {
        height: 7,
        width: 7,
        channels: 1,
    };
    refused(
        learn(ConsolidationParams {
            image: Some(wrong),
            ..convolution(d())
        }),
        "7x7x1",
    );
    refused(
        learn(convolution(ConvolutionSpec {
            sides: vec![9],
            ..d()
        })),
        "`sides`",
    );
    refused(
        learn(convolution(ConvolutionSpec {
            sides: vec![3],
            grid: 9,
            ..d()
        })),
        "`grid`",
    );
    refused(
        learn(convolution(ConvolutionSpec {
            sides: vec![3],
            filters: 0,
            ..d()
        })),
        "`pool` is 0 nodes",
    );
    refused(
        learn(convolution(ConvolutionSpec {
            sides: vec![3],
            grid: 2,
            filters: usize::MAX,
            ..d()
        })),
        "`pool`",
    );
    let flat = Table::new(vec![0.5; 24 * 30], 30).unwrap();
    let spec = ConvolutionSpec {
        sides: vec![3],
        grid: 2,
        ..d()
    };
    refused(
        learner(&convolution(spec)).learn(flat.rows(), &y, &mut ()),
        "no patches with contrast",
    );
    let differences = params(specs()[4].clone());
    refused(
        learner(&differences).learn(flat.rows(), &y, &mut ()),
        "different rows",
    );
}

/// Rows that are the same within each class leave nothing to scatter.
#[test]
fn classes_of_equal_rows_are_learned() {
    for n_copies in [1, 2, 50] {
        let distinct = [[0.0, 1.0], [1.0, 1.0], [5.0, -3.0]];
        let rows: Vec<f32> = (0..n_copies).flat_map(|_| distinct.concat()).collect();
        let names = (0..n_copies).flat_map(|_| ["a", "b", "c"]);
        let mut learner = Consolidation::new(ConsolidationParams::default().check().unwrap());
        learner
            .learn(Rows::new(&rows, 2).unwrap(), &Labels::from_names(names), &mut ())
            .unwrap();
        let asked = distinct.concat();
        assert_eq!(
            learner.predict(Rows::new(&asked, 2).unwrap()).unwrap(),
            [0, 1, 2],
            "{n_copies} copies"
        );
    }
}
