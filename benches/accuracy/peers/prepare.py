"""How rows are scaled and constants chosen, the same way for every entrant that needs it."""

import numpy as np

import metrics
from splits import held_out

CHUNK = 4096  # rows; wide nodes of all rows at once would not fit into memory
TUNING_ROWS = 10_000


def length_one(x):
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)


def standard(x):
    """A function that gives each column of `x` mean 0 and deviation 1."""
    mean, deviation = x.mean(0, np.float64), x.std(0, dtype=np.float64)
    deviation[deviation == 0] = 1
    return lambda rows: ((rows - mean) / deviation).astype(np.float32)


def usual(kind, x):
    """The usual scaling: columns of a table are standardised by the rows `x`, all else gets length 1."""
    return standard(x) if kind == "table" else length_one


def raw_but_tables(kind, x):
    """For methods published on raw features. A table has a scale in every column, so `x`, the first task, sets it."""
    return standard(x) if kind == "table" else lambda rows: rows


def chunks(n_rows):
    return (slice(start, start + CHUNK) for start in range(0, n_rows, CHUNK))


def tuned(make, grid, x, y):
    """The constant whose model is right most often on a held-out fifth. Of equals, the one with the lower log loss."""
    if len(y) > TUNING_ROWS:
        some = held_out(y, TUNING_ROWS / len(y), seed=2)
        x, y = x[some], y[some]
    judge = held_out(y, 1 / 5, seed=3)
    return max(grid, key=lambda constant: quality(make(constant).fit(x[~judge], y[~judge]), x[judge], y[judge]))


def quality(model, x, y):
    if not hasattr(model, "predict_proba"):
        return model.score(x, y)
    proba, truth = model.predict_proba(x), np.searchsorted(model.classes_, y)
    return metrics.accuracy(truth, proba.argmax(1)), -metrics.log_loss(truth, proba)
