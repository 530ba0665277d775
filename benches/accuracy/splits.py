"""Who sees which rows, and in which order the classes come."""

import numpy as np

TASKS = 10
ENOUGH_CLASSES = 20  # with fewer, ten tasks would be uneven: each class is a task of its own


def held_out(y, share, seed):
    """Marks a share of the rows of every class. The same seed marks the same rows."""
    rng = np.random.default_rng(seed)
    marks = np.zeros(len(y), bool)
    for code in np.unique(y):
        rows = np.flatnonzero(y == code)
        marks[rng.permutation(rows)[: int(len(rows) * share)]] = True
    return marks


def class_order(n_classes, order):
    return np.random.default_rng(order).permutation(n_classes)


def tasks(n_classes, order, split="10"):
    """The classes of each task. `split` is the number of tasks, or "classes" for one class a task."""
    one_each = split == "classes" or (split == str(TASKS) and n_classes < ENOUGH_CLASSES)
    return np.array_split(class_order(n_classes, order), n_classes if one_each else int(split))
