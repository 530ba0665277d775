"""The data: where it is, how it is read, and which rows are learned and which judged."""

import gzip
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

import numpy as np
from sklearn import datasets

from splits import held_out

QUICK_ROWS = 40  # a class
DEVELOPMENT = 1 / 4  # share of the training rows that stands for test rows
FAR_ROWS = 5000  # at most; more would not make the figure any surer


class Missing(Exception):
    """The data is not on this machine."""


@dataclass
class Table:
    """A set as it is read. Labels are codes, from 0 on."""

    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray


@dataclass
class Source:
    """Where a set comes from, and what its rows are."""

    read: object  # a function without arguments, which returns a Table
    kind: str  # "embedding", "image" or "table"
    about: str
    image: Optional[tuple] = None
    far: Optional[str] = None  # another set of the same width: none of its rows belongs to a class of this one
    outside: object = None  # a function that reads rows of no class at all


@dataclass
class Data:
    """A set as an entrant meets it."""

    name: str
    about: str
    kind: str
    image: Optional[tuple]
    fit_x: np.ndarray
    fit_y: np.ndarray
    judge_x: np.ndarray
    judge_y: np.ndarray
    far: Optional[np.ndarray]

    @property
    def n_classes(self):
        return int(self.fit_y.max()) + 1


def folder(name):
    root = os.environ.get("AUTOACTIVATOR_DATA")
    if not root or not (Path(root) / name).is_dir():
        raise Missing(f"it needs `{name}/` in the folder that AUTOACTIVATOR_DATA names")
    return Path(root) / name


def coded(train_x, train_y, test_x, test_y):
    names, codes = np.unique(train_y, return_inverse=True)
    rows = lambda x: np.ascontiguousarray(x, np.float32)
    return Table(rows(train_x), codes, rows(test_x), np.searchsorted(names, test_y))


def features(name):
    def read():
        load = lambda what: np.load(folder(name) / f"{what}.npy")
        return coded(*map(load, ("train_features", "train_labels", "test_features", "test_labels")))

    return read


def comma_separated(name):
    def read():
        parts = [np.loadtxt(folder(name) / f"{part}.csv", str, delimiter=",", skiprows=1) for part in ("train", "test")]
        return coded(*(half for rows in parts for half in (rows[:, :-1].astype(float), rows[:, -1])))

    return read


def pixels(name):
    def read():
        content = lambda what: gzip.decompress((folder(name) / f"{what}-ubyte.gz").read_bytes())
        images = lambda part: np.frombuffer(content(f"{part}-images-idx3"), np.uint8, offset=16).reshape(-1, 784)
        labels = lambda part: np.frombuffer(content(f"{part}-labels-idx1"), np.uint8, offset=8)
        scaled = lambda part: images(part).astype(np.float32) / 255
        return coded(scaled("train"), labels("train"), scaled("t10k"), labels("t10k"))

    return read


def built_in(load, largest=1):
    """scikit-learn's own sets have no test part: a quarter is set aside, always the same."""

    def read():
        x, y = load(return_X_y=True)
        test = held_out(y, 1 / 4, seed=1)
        return coded(x[~test] / largest, y[~test], x[test] / largest, y[test])

    return read


def out_of_scope():
    return np.load(folder("clinc150/minilm") / "out_of_scope_features.npy").astype(np.float32)


SETS = {
    "cifar100": Source(
        features("cifar100-lite0"), "embedding", "CIFAR-100, frozen EfficientNet-Lite0 features", far="gtsrb"
    ),
    "gtsrb": Source(
        features("gtsrb-lite0"), "embedding", "German traffic signs, frozen EfficientNet-Lite0 features", far="cifar100"
    ),
    "clinc150": Source(
        features("clinc150/minilm"), "embedding", "CLINC150 sentences, frozen MiniLM features", outside=out_of_scope
    ),
    "letter": Source(comma_separated("tables/letter"), "table", "UCI letter recognition"),
    "segment": Source(comma_separated("tables/segment"), "table", "UCI image segmentation"),
    "page-blocks": Source(comma_separated("tables/page-blocks"), "table", "UCI page blocks"),
    "mnist": Source(pixels("mnist"), "image", "MNIST pixels", (28, 28), far="fashion-mnist"),
    "fashion-mnist": Source(pixels("fashion-mnist"), "image", "FashionMNIST pixels", (28, 28), far="mnist"),
    "digits": Source(built_in(datasets.load_digits, 16), "image", "scikit-learn's digits, pixels", (8, 8)),
    "wine": Source(built_in(datasets.load_wine), "table", "scikit-learn's wine"),
    "breast-cancer": Source(built_in(datasets.load_breast_cancer), "table", "scikit-learn's breast cancer"),
    "iris": Source(built_in(datasets.load_iris), "table", "scikit-learn's iris"),
}


def prepare(name, test, quick, with_far=True):
    """The rows of a set. Test rows are read only if `test`, else a quarter of the training rows stands for them."""
    source = SETS[name]
    fit_x, fit_y, judge_x, judge_y = parts(source, test)
    if quick:
        fit, judge = few_of(fit_y, QUICK_ROWS), few_of(judge_y, QUICK_ROWS // 2)
        fit_x, fit_y, judge_x, judge_y = fit_x[fit], fit_y[fit], judge_x[judge], judge_y[judge]
    far = far_rows(source, test) if with_far else None
    return Data(name, source.about, source.kind, source.image, fit_x, fit_y, judge_x, judge_y, far)


def drawn_again(data, seed):
    """The same rows, of which another quarter is judged."""
    x, y = np.concatenate([data.fit_x, data.judge_x]), np.concatenate([data.fit_y, data.judge_y])
    judged = held_out(y, DEVELOPMENT, seed)
    return replace(data, fit_x=x[~judged], fit_y=y[~judged], judge_x=x[judged], judge_y=y[judged])


def parts(source, test):
    table = source.read()
    if test:
        return table.train_x, table.train_y, table.test_x, table.test_y
    held = held_out(table.train_y, DEVELOPMENT, seed=0)
    return table.train_x[~held], table.train_y[~held], table.train_x[held], table.train_y[held]


def far_rows(source, test):
    """Rows of no class. Where they have no test part, development sees one half and the test the other."""
    if source.outside:
        rows = source.outside()
        half = held_out(np.zeros(len(rows)), 1 / 2, seed=0)
        return rows[half == test]
    if not source.far:
        return None
    try:
        _, _, rows, _ = parts(SETS[source.far], test)
    except Missing:
        return None
    return rows[np.random.default_rng(0).permutation(len(rows))[:FAR_ROWS]]


def few_of(y, per_class, seed=0):
    """Places of at most so many rows of each class, in their order."""
    rng = np.random.default_rng(seed)
    chosen = [rng.permutation(np.flatnonzero(y == code))[:per_class] for code in np.unique(y)]
    return np.sort(np.concatenate(chosen))
