"""How well are new classes found? Some classes are learned; a stream has as many rows of these as of classes that were not.

For each set and draw of classes: the number of groups, how many of the truly new rows are in the group of their class, and what
a model is worth that learns the groups, each under the name that most of its rows have. Beside it, k-means on rows of length 1
that is told the number of classes: on the whole stream, and on the new rows alone, which it is also told.

With --choose, learned rows, stream and judged rows all come from the training rows: that is what choices were made by.
"""

import argparse
import csv
import gzip
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

DATA = Path(os.environ["AUTOACTIVATOR_DATA"])
PROGRAM = os.environ.get("AUTOACTIVATOR", "autoactivator")
CHOSEN_BY = 100  # added to the seeds of the draws that choices were made by
STREAMED = 2 / 3  # of the test rows; the others judge


def idx(name):
    with gzip.open(DATA / "mnist" / name) as file:
        return np.frombuffer(file.read(), np.uint8, offset=16 if "images" in name else 8)


def mnist():
    parts = []
    for part in ("train", "t10k"):
        images = idx(f"{part}-images-idx3-ubyte.gz").reshape(-1, 784).astype(np.float32) / 255
        parts += [images, idx(f"{part}-labels-idx1-ubyte.gz").astype(int)]
    return parts


def arrays(folder):
    parts = []
    for part in ("train", "test"):
        x = np.load(DATA / folder / f"{part}_features.npy").astype(np.float32)
        parts += [x, np.load(DATA / folder / f"{part}_labels.npy")]
    names = np.unique(parts[1])
    return [parts[0], np.searchsorted(names, parts[1]), parts[2], np.searchsorted(names, parts[3])]


SETS = {
    "mnist": (mnist, 7, ["--image", "28x28"]),
    "cifar100-lite0": (lambda: arrays("cifar100-lite0"), 80, []),
    "clinc150": (lambda: arrays("clinc150/minilm"), 120, []),
}


def drawn(y, n_known, seed, first):
    """Which classes are known: in the first draw on test rows the first ones, else by the seed."""
    classes = np.unique(y)
    order = classes if first else np.random.default_rng(seed).permutation(classes)
    return order[:n_known], order[n_known:]


def parts(x, y, shares, seed):
    """The rows of each class divided by these shares."""
    random = np.random.default_rng(seed)
    found = [[] for _ in shares]
    for label in np.unique(y):
        rows = random.permutation(np.flatnonzero(y == label))
        ends = np.round(np.cumsum(shares) * len(rows)).astype(int)
        for part, start, end in zip(found, [0, *ends[:-1]], ends):
            part.extend(rows[start:end])
    return [(x[rows], y[rows]) for rows in found]


def run(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def save(folder, name, x, y=None):
    """A table of rows, with labels if there are any."""
    if y is None:
        np.save(folder / f"{name}.npy", x)
        return folder / f"{name}.npy"
    np.savez(folder / f"{name}.npz", features=x, labels=np.array([f"c{label}" for label in y]))
    return folder / f"{name}.npz"


def discover(folder, model, name, x):
    """The group of each row; -1 for none."""
    groups = np.full(len(x), -1)
    for row in csv.DictReader(run("discover", model, save(folder, name, x)).splitlines()):
        groups[int(row["row"])] = int(row["class"].split("-")[1])
    return groups


def matched(y, groups):
    """Share of rows in the group of their class, if each class has one group and each group one class."""
    labels, found = np.unique(y), np.unique(groups[groups >= 0])
    together = np.array([[np.sum((y == a) & (groups == b)) for b in found] for a in labels])
    if together.size == 0:
        return 0.0
    return together[linear_sum_assignment(-together)].sum() / len(y)


def k_means(x, n_groups):
    x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return KMeans(n_groups, n_init=3, random_state=0).fit_predict(x)


def accuracy(folder, model, lessons, judge):
    """What a copy of the model answers right after these lessons."""
    copy = folder / "copy.aact"
    copy.write_bytes(model.read_bytes())
    x, y = lessons
    if len(x):
        run("learn", copy, save(folder, "lesson", x, y))
    answers = csv.DictReader(run("predict", copy, save(folder, "judge", judge[0])).splitlines())
    answers = np.array([row["class"] for row in answers])
    return np.mean(answers == np.array([f"c{label}" for label in judge[1]]))


def measure(name, seed, choose, peers):
    read, n_known, options = SETS[name]
    train_x, train_y, test_x, test_y = read()
    known, new = drawn(train_y, n_known, seed, first=not choose and seed == 0)
    if choose:
        learned, streamed, judge = parts(train_x, train_y, (0.7, 0.2, 0.1), seed)
    else:
        learned = (train_x, train_y)
        streamed, judge = parts(test_x, test_y, (STREAMED, 1 - STREAMED), seed)
    random = np.random.default_rng(seed)
    new_rows = np.flatnonzero(np.isin(streamed[1], new))
    known_rows = random.permutation(np.flatnonzero(np.isin(streamed[1], known)))[: len(new_rows)]
    order = random.permutation(np.concatenate([new_rows, known_rows]))
    x, y = streamed[0][order], streamed[1][order]
    is_new = np.isin(y, new)
    with tempfile.TemporaryDirectory() as place:
        folder, lesson = Path(place), np.isin(learned[1], known)
        model = folder / "model.aact"
        run("learn", model, save(folder, "known", learned[0][lesson], learned[1][lesson]), *options)
        groups = discover(folder, model, "stream", x)
        alone = discover(folder, model, "alone", x[is_new])
        named = groups.copy()
        for group in np.unique(groups[groups >= 0]):
            named[groups == group] = np.bincount(y[groups == group]).argmax()
        inside = groups >= 0
        learned_groups = accuracy(folder, model, (x[inside], named[inside]), judge)
        learned_truth = accuracy(folder, model, (x[is_new], y[is_new]), judge)
    figures = {
        "classes": len(new),
        "groups": len(np.unique(groups[inside])),
        "new": matched(y[is_new], groups[is_new]),
        "found": np.mean(inside[is_new]),
        "purity": np.mean(named[inside] == y[inside]) if inside.any() else 0.0,
        "alone groups": len(np.unique(alone[alone >= 0])),
        "alone": matched(y[is_new], alone),
        "named": learned_groups,
        "truth": learned_truth,
    }
    if peers:
        figures["k-means"] = matched(y[is_new], k_means(x, n_known + len(new))[is_new])
        figures["k-means alone"] = matched(y[is_new], k_means(x[is_new], len(new)))
    return figures


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    asked.add_argument("--draws", type=int, default=3)
    asked.add_argument("--choose", action="store_true", help="use training rows only")
    asked.add_argument("--no-peers", action="store_true")
    asked = asked.parse_args()
    print(f"{'set':15} draw  groups     new rows %  k-means %  alone: groups  rows %  k-means %  learned %  of truth %")
    for name in asked.sets:
        for draw in range(asked.draws):
            seed = draw + CHOSEN_BY * asked.choose
            f = measure(name, seed, asked.choose, not asked.no_peers)
            kmeans = [f"{100 * f[key]:9.1f}" if key in f else "        -" for key in ("k-means", "k-means alone")]
            print(
                f"{name:15} {draw:4}  {f['groups']:3} of {f['classes']:<3} {100 * f['new']:10.1f}  {kmeans[0]}"
                f"  {f['alone groups']:13}  {100 * f['alone']:6.1f}  {kmeans[1]}"
                f"  {100 * f['named']:9.1f}  {100 * f['named'] / f['truth']:10.1f}"
                f"   # found {100 * f['found']:.0f} %, pure {100 * f['purity']:.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
