"""RanPAC's recipe on frozen features, written anew in numpy, beside the one of `autoactivator run`: how far apart are they?

Started by `bash benches/rivals/run`. Both have as many random ReLU nodes, and learn 100 classes in as many tasks. Nodes
and class orders are drawn independently, so the figures differ by chance, too.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

RIDGES = [10.0**e for e in range(-8, 9)]
CHUNK = 5000


def read(folder):
    """Training and test rows with their labels."""
    part = lambda name: (np.load(folder / f"{name}_features.npy"), np.load(folder / f"{name}_labels.npy").astype(int))
    return part("train"), part("test")


def nodes(x, w):
    return np.maximum(x @ w, 0)


def solve(gram, moments, ridge):
    """(G + λI)⁻¹ M, in single precision as published."""
    regularised = gram.copy()
    regularised[np.diag_indices(len(gram))] += np.float32(ridge)
    return np.linalg.solve(regularised, moments)


def choose(h, y, rng):
    """The constant that is best on the last fifth of a shuffled task.

    There are fewer rows than nodes, and Hᵀ(HHᵀ + λI)⁻¹Y = (HᵀH + λI)⁻¹HᵀY: the smaller system is solved.
    """
    order = rng.permutation(len(y))
    fit, judge = order[: len(y) * 4 // 5], order[len(y) * 4 // 5 :]
    gram, across = h[fit] @ h[fit].T, h[judge] @ h[fit].T
    error = lambda ridge: np.square(across @ solve(gram, y[fit], ridge) - y[judge]).mean()
    return min(RIDGES, key=error)


def learn(tasks, n_classes, n_nodes, rng):
    """Nodes and the head after the last task; heads before it would not change it."""
    w = rng.standard_normal((tasks[0][0].shape[1], n_nodes), np.float32)
    gram, moments = np.zeros((n_nodes, n_nodes), np.float32), np.zeros((n_nodes, n_classes), np.float32)
    one_hot = np.eye(n_classes, dtype=np.float32)
    for x, y in tasks:
        h = nodes(x, w)
        gram += h.T @ h
        moments += h.T @ one_hot[y]
    return w, solve(gram, moments, choose(h, one_hot[y], rng))


def here(folder, seed, n_nodes, n_tasks):
    """The accuracy of this version in percent, over all classes at the end."""
    (x, y), (test_x, test_y) = read(folder)
    rng = np.random.default_rng(seed)
    n_classes = y.max() + 1
    of_tasks = np.split(rng.permutation(n_classes), n_tasks)
    tasks = [(x[rows], y[rows]) for rows in (np.isin(y, classes) for classes in of_tasks)]
    w, head = learn(tasks, n_classes, n_nodes, rng)
    chunks = np.array_split(test_x, -(-len(test_x) // CHUNK))
    said = np.concatenate([(nodes(chunk, w) @ head).argmax(1) for chunk in chunks])
    return 100 * (said == test_y).mean()


def there(program, seeds, n_nodes, n_tasks):
    """The accuracy that the program reports, with the same protocol."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        words = f"run cifar100-lite0 --tasks 100/{n_tasks} --learner ranpac --protocol instance".split()
        options = f"--seeds {seeds} --random-nodes {n_nodes} --json {record} --report {folder}/report.html -q".split()
        subprocess.run([program, *words, *options], check=True)
        return json.loads(record.read_text())["results"][0]["aca"]["mean"]


def main():
    parser = argparse.ArgumentParser(prog="bash benches/rivals/run", description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program `autoactivator`")
    parser.add_argument("data", type=Path, help="the folder that holds cifar100-lite0")
    parser.add_argument("--seeds", type=int, default=1, help="runs of both, each with nodes and a class order of its own")
    parser.add_argument("--nodes", type=int, default=10_000, help="random nodes (default %(default)s)")
    parser.add_argument("--tasks", type=int, default=10, help="tasks, as many classes in each (default %(default)s)")
    args = parser.parse_args()
    ours = there(args.program, args.seeds, args.nodes, args.tasks)
    folder = args.data / "cifar100-lite0"
    others = np.mean([here(folder, seed, args.nodes, args.tasks) for seed in range(args.seeds)])
    print(f"RanPAC's recipe on cifar100-lite0, {args.nodes} nodes, {args.tasks} tasks, ACA %:", end=" ")
    print(f"autoactivator {ours:.2f}, numpy {others:.2f}, difference {ours - others:+.2f}")


if __name__ == "__main__":
    main()
