"""Trials of the density gate: which nodes a unit looks through, and which density it has.

Data sets are found through AUTOACTIVATOR_DATA; a fifth of the training rows is judged, each row alone. No test row is
read. A trial has no readout: a row is of the class under which it is likeliest.
"""

import gzip
import os
from pathlib import Path

import numpy as np

NODES = 200
SEED = 0


def idx(folder, name):
    """An idx file, compressed or not."""
    path = next(path for path in sorted(folder.iterdir()) if path.name.startswith(name))
    content = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    shape = np.frombuffer(content, ">i4", content[3], 4)
    return np.frombuffer(content, np.uint8, -1, 4 + 4 * len(shape)).reshape(shape)


def images(folder):
    """Training rows in [0, 1], and their classes."""
    x = idx(folder, "train-images").astype(np.float32) / 255
    return x.reshape(len(x), -1), idx(folder, "train-labels").astype(int)


def features(folder):
    """Training rows, and their classes."""
    x = np.load(folder / "train_features.npy").astype(np.float32)
    return x, np.load(folder / "train_labels.npy").astype(int).ravel()


def halves(x, y):
    """Rows to learn from and rows to judge."""
    order = np.random.default_rng(SEED).permutation(len(x))
    learned, judged = order[: len(x) * 4 // 5], order[len(x) * 4 // 5 :]
    return x[learned], y[learned], x[judged], y[judged]


def nodes(n_features, n_nodes, scope):
    """Random sigmoid nodes: a function from rows to outputs."""
    random = np.random.default_rng(SEED + 1)
    weights = random.uniform(-scope, scope, (n_features, n_nodes)).astype(np.float32)
    biases = random.uniform(-scope, scope, n_nodes).astype(np.float32)
    return lambda x: 1 / (1 + np.exp(-(x @ weights + biases)))


def shared(scatters, counts):
    """The covariance that all classes of a unit share."""
    scatter, rows, n = sum(scatters), sum(counts), len(scatters[0])
    variances = np.diag(scatter) / rows + 1e-9
    return (scatter + n * np.diag(variances)) / (rows + n)


def low_rank(scatter, count, rank):
    """A covariance of some directions and, beside them, variances alone."""
    covariance = scatter / count
    values, vectors = np.linalg.eigh(covariance)
    along = vectors[:, -rank:] * np.sqrt(values[-rank:])
    low = along @ along.T
    rest = np.diag(covariance) - np.diag(low)
    return low + np.diag(np.maximum(rest, 1e-3 * np.diag(covariance).mean()))


def likelihoods(h, y, judged, classes, tails="cauchy", rank=None):
    """ln p(row | class) of each class of a unit, up to a constant."""
    n = h.shape[1]
    groups = [h[y == c].astype(np.float64) for c in classes]
    means = [group.mean(0) for group in groups]
    scatters = [(group - mean).T @ (group - mean) for group, mean in zip(groups, means, strict=True)]
    counts = [len(group) for group in groups]
    of_unit = shared(scatters, counts)
    found = []
    for mean, scatter, count in zip(means, scatters, counts, strict=True):
        covariance = (scatter + n * of_unit) / (count + n) if rank is None else low_rank(scatter, count, rank)
        factor = np.linalg.cholesky(covariance)
        distance = (np.linalg.solve(factor, (judged - mean).T) ** 2).sum(0)
        distance = (n + 1) * np.log1p(distance) if tails == "cauchy" else distance
        found.append(-0.5 * distance - np.log(np.diag(factor)).sum())
    return found


def accuracy(views, data, tasks, **density):
    """Share of right answers; `views` has, for each unit, its outputs on the rows learned and on those judged."""
    _, y, _, y_judged = data
    units = zip(tasks, views, strict=True)
    found = [likelihoods(h, y, judged, classes, **density) for classes, (h, judged) in units]
    return 100 * (np.concatenate(found).argmax(0) == y_judged).mean()


def choices_of_nodes(data, tasks):
    """Nodes of the units' own, against one view for all."""
    x, y, x_judged, _ = data
    output = nodes(x.shape[1], 10 * NODES, 0.25)
    h, judged = output(x), output(x_judged)
    seen = lambda places: [(h[:, place], judged[:, place]) for place in places]  # noqa: E731
    mixed = output(np.random.default_rng(SEED).permuted(x[:4000], axis=1))
    apart, mine = [], []
    for classes in tasks:
        one, other = (h[y == c] for c in classes)
        fisher = (one.mean(0) - other.mean(0)) ** 2 / (one.var(0) + other.var(0))
        apart.append(np.argsort(-fisher)[:NODES])
        own = h[np.isin(y, classes)]
        unlike = (mixed.var(0) + (mixed.mean(0) - own.mean(0)) ** 2) / own.var(0)
        mine.append(np.argsort(-unlike)[:NODES])
    yield "one view for all units (used)", accuracy(seen([slice(NODES)] * len(tasks)), data, tasks)
    yield "the same, Gaussian", accuracy(seen([slice(NODES)] * len(tasks)), data, tasks, tails="gauss")
    own = [slice(NODES * t, NODES * (t + 1)) for t in range(len(tasks))]
    yield "random nodes of each unit's own", accuracy(seen(own), data, tasks)
    yield "of 2,000, those that tell its classes apart", accuracy(seen(apart), data, tasks)
    yield "of 2,000, those that tell its rows from mixed pixels", accuracy(seen(mine), data, tasks)


def choices_of_covariance(data, tasks):
    """Few rows per class: sharing a covariance, against few directions of one's own."""
    x, _, x_judged, _ = data
    output = nodes(x.shape[1], NODES, 0.025)
    views = [(output(x), output(x_judged))] * len(tasks)
    yield "shared in part (used)", accuracy(views, data, tasks)
    yield "the same, Gaussian", accuracy(views, data, tasks, tails="gauss")
    for rank in (10, 30, 80):
        yield f"{rank} directions and variances", accuracy(views, data, tasks, rank=rank)


def main():
    root = os.environ.get("AUTOACTIVATOR_DATA")
    if not root:
        raise SystemExit("set AUTOACTIVATOR_DATA to the folder of data sets")
    pairs = [[2 * t, 2 * t + 1] for t in range(5)]
    tens = [list(range(10 * t, 10 * t + 10)) for t in range(10)]
    sets = [
        ("mnist", images, pairs, choices_of_nodes),
        ("fashion-mnist", images, pairs, choices_of_nodes),
        ("cifar100-lite0", features, tens, choices_of_covariance),
    ]
    for name, read, tasks, trial in sets:
        folder = Path(root) / name
        if not folder.is_dir():
            print(f"{name}: not there, left out")
            continue
        data = halves(*read(folder))
        for choice, right in trial(data, tasks):
            print(f"{name:16}{right:6.2f} %  {choice}", flush=True)


if __name__ == "__main__":
    main()
