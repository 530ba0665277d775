"""Incremental classifiers on random nodes: what comes nearest to our own method."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.spatial.distance import pdist

from splits import held_out

from .base import Entrant, softmax
from .covariance import SharedCovariance, oracle_approximating
from .prepare import chunks, raw_but_tables


class RandomNodes(Entrant):
    """The first task sets the scale of a table's columns and the nodes; then they are fixed."""

    def __init__(self, setting):
        super().__init__(setting)
        self.rng = np.random.default_rng(setting.seed)
        self.scale = None

    def learn(self, x, y):
        self.saw(y)
        if self.scale is None:
            self.scale = raw_but_tables(self.setting.kind, x)
            self.start(self.scale(x))
        self.add(self.scale(x), y)

    def start(self, x):
        raise NotImplementedError

    def add(self, x, y):
        raise NotImplementedError

    def nodes(self, x):
        raise NotImplementedError

    def by_chunk(self, answer, x):
        """An answer for all rows, from nodes that are there for some rows at a time."""
        return np.concatenate([answer(self.nodes(self.scale(x[part]))) for part in chunks(len(x))])


class RanPac(RandomNodes):
    """RanPAC (McDonnell et al. 2023) without its trained first session: random ReLU nodes and a ridge readout.

    It chooses its ridge constant on a fifth of the last task. Here a fifth of every task is set aside, as sums of its
    own, so that the choice is made for all classes: a better constant, above all where a task has one class.
    """

    label = "RanPAC's recipe"
    keeps = "sums"
    ridges = [10.0**e for e in range(-8, 9)]

    def start(self, x):
        n_nodes = 1000 if self.setting.quick else 10_000
        self.w = self.rng.standard_normal((x.shape[1], n_nodes), np.float32)
        self.fit, self.judge = (RidgeSums(n_nodes, self.setting.n_classes) for _ in range(2))

    def nodes(self, x):
        return np.maximum(x @ self.w, 0)

    def add(self, x, y):
        judge = held_out(y, 1 / 5, self.setting.seed)
        for sums, rows, codes in ((self.fit, x[~judge], y[~judge]), (self.judge, x[judge], y[judge])):
            for part in chunks(len(rows)):
                sums.add(self.nodes(rows[part]), codes[part])

    def settle(self):
        errors = [self.judge.error(self.fit.head(ridge)) for ridge in self.ridges]
        every = self.fit.plus(self.judge)
        heads = (every.head(ridge) for ridge in self.ridges[np.argmin(errors) :])
        self.head = next(head for head in heads if head is not None)

    def scores(self, x):
        return self.by_chunk(lambda h: h @ self.head[:, self.classes], x)


class RidgeSums:
    """Sums of a least-squares fit, in single precision as published."""

    def __init__(self, n_nodes, n_classes):
        self.gram = np.zeros((n_nodes, n_nodes), np.float32)
        self.moments = np.zeros((n_nodes, n_classes), np.float32)

    def add(self, h, y):
        self.gram += h.T @ h
        self.moments += h.T @ np.eye(self.moments.shape[1], dtype=np.float32)[y]

    def plus(self, other):
        both = RidgeSums(*self.moments.shape)
        both.gram, both.moments = self.gram + other.gram, self.moments + other.moments
        return both

    def head(self, ridge):
        """The readout, or None if the constant is too small for single precision."""
        regularised = self.gram.copy().T  # symmetric, and in the order of columns that LAPACK overwrites
        regularised[np.diag_indices(len(regularised))] += np.float32(ridge)
        try:
            return cho_solve(cho_factor(regularised, lower=True, overwrite_a=True), self.moments)
        except LinAlgError:
            return None

    def error(self, head):
        """The squared error of a readout on the rows of these sums, but for a constant."""
        if head is None:
            return np.inf
        return float(np.sum(head * (self.gram @ head - 2 * self.moments), dtype=np.float64))


class Klda(RandomNodes):
    """KLDA (Momeni et al. 2025): random Fourier features of an RBF kernel, then LDA with one covariance.

    The kernel is as wide as the median distance between rows of the first task. The published pseudo-inverse is at a
    loss where there are not many more rows than nodes, so the covariance is shrunk.
    """

    label = "KLDA"
    keeps = "means and one covariance"

    def start(self, x):
        n_nodes = 1000 if self.setting.quick else 5000
        some = x[self.rng.permutation(len(x))[:1000]]
        width = np.median(pdist(some)) or 1.0
        self.omega = (self.rng.standard_normal((x.shape[1], n_nodes)) / width).astype(np.float32)
        self.b = self.rng.uniform(0, 2 * np.pi, n_nodes).astype(np.float32)
        self.sums = SharedCovariance(self.setting.n_classes, n_nodes)

    def nodes(self, x):
        return np.float32(np.sqrt(2 / len(self.b))) * np.cos(x @ self.omega + self.b)

    def add(self, x, y):
        for part in chunks(len(x)):
            self.sums.add(self.nodes(x[part]), y[part])

    def settle(self):
        self.sums.solve(self.classes, oracle_approximating)

    def scores(self, x):
        return self.by_chunk(self.sums.scores, x)

    def proba(self, x):
        return softmax(self.scores(x))

    def strange(self, x):
        return self.by_chunk(self.sums.distance, x)
