#![allow(missing_docs)]
use autoactivator::consolidation::*;
use autoactivator::params::Check;
use autoactivator::{Labels, Learner, Rows};
use std::time::Instant;

fn rows(classes: std::ops::Range<usize>, per: usize, width: usize, seed: u64) -> (Vec<f32>, Vec<String>) {
    let mut out = Vec::new();
    let mut names = Vec::new();
    let next = |s: &mut u64| {
        *s = s
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((*s >> 40) as f32 / (1u64 << 23) as f32) - 1.0
    };
    for c in classes {
        for i in 0..per {
            let mut of_class = c as u64 * 7919 + 17;
            let mut own = seed.wrapping_mul(0x9e3779b97f4a7c15) ^ (c as u64 * 1_000_003 + i as u64 * 31 + 5);
            for _ in 0..4 {
                next(&mut own);
            }
            out.extend((0..width).map(|_| next(&mut of_class) + 1.5 * (next(&mut own) + next(&mut own))));
            names.push(format!("c{c}"));
        }
    }
    (out, names)
}

#[test]
fn time_it() {
    let env = |n: &str, d: usize| std::env::var(n).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let (nodes, classes, per) = (env("NODES", 2560), env("CLASSES", 100), env("PER", 100));
    let params = ConsolidationParams {
        nodes: Some(nodes),
        ..Default::default()
    };
    let mut learner = Consolidation::new(params.check().unwrap());
    let (x, names) = rows(0..classes, per, 768, 1);
    let x = Rows::new(&x, 768).unwrap();
    let at = Instant::now();
    learner.learn(x, &Labels::from_names(&names), &mut ()).unwrap();
    eprintln!(
        "first {:?} nodes {} ridge {:?}",
        at.elapsed(),
        learner.memory().n_nodes(),
        learner.deployed().unwrap().readout.ridge
    );
    for step in 0..env("STEPS", 4) {
        let k = env("ROWS", 3);
        let (x, names) = rows(classes + step..classes + step + 1, k, 768, 2);
        let x = Rows::new(&x, 768).unwrap();
        let at = Instant::now();
        learner.learn(x, &Labels::from_names(&names), &mut ()).unwrap();
        let took = at.elapsed();
        if std::env::var("CHECK").is_ok() {
            let mut truth = learner.clone();
            truth
                .solve_from_nothing(Some(learner.deployed().unwrap().readout.ridge))
                .unwrap();
            let (q, _) = rows(0..classes + 5, 3, 768, 9);
            let q = Rows::new(&q, 768).unwrap();
            let a = learner.deployed().unwrap().scores(q).unwrap();
            let b = truth.deployed().unwrap().scores(q).unwrap();
            let (mut worst, mut size) = (0f32, 0f32);
            for (a, b) in a.values().iter().zip(b.values()) {
                worst = worst.max((a - b).abs());
                size = size.max(b.abs());
            }
            let ka = learner.deployed().unwrap().known(q).unwrap();
            let kb = truth.deployed().unwrap().known(q).unwrap();
            let kw = ka
                .iter()
                .zip(&kb)
                .map(|(a, b)| (a - b).abs())
                .fold(0f32, f32::max);
            let kd = ka.iter().sum::<f32>() / ka.len() as f32;
            eprintln!("  worst {worst} of {size}; known worst {kw} mean {kd}");
            eprintln!(
                "  {:?}\n  {:?}",
                learner.deployed().unwrap().calibration,
                truth.deployed().unwrap().calibration
            );
            let (ua, ub) = (
                learner.deployed().unwrap().unknown.as_ref().unwrap(),
                truth.deployed().unwrap().unknown.as_ref().unwrap(),
            );
            eprintln!("  {:?}\n  {:?}", ua.usual, ub.usual);
        }
        eprintln!(
            "step {:?} ridge {:?}",
            took,
            learner.deployed().unwrap().readout.ridge
        );
    }
}
