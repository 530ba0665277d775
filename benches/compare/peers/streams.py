"""Learners from scikit-learn and river that take one task after another, with their defaults.

Each is a generator that yields its model after every task, so that the last task can be timed on its own.
"""

import numpy as np
from river import linear_model
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import SGDClassifier


def sgd(lessons, n_classes):
    """One pass over each task; the classes must be declared before the first."""
    model = SGDClassifier(random_state=0)
    for x, y in lessons:
        yield model.partial_fit(x, y, classes=np.arange(n_classes))


def lda(lessons, _):
    """Cannot add a class, so it keeps all rows and is refitted to all of them after every task."""
    for seen in range(1, len(lessons) + 1):
        x = np.concatenate([x for x, _ in lessons[:seen]])
        y = np.concatenate([y for _, y in lessons[:seen]])
        yield LinearDiscriminantAnalysis().fit(x, y)


def softmax(lessons, _):
    """Learns row by row; each row is a dictionary."""
    model = linear_model.SoftmaxRegression()
    for rows, y in lessons:
        for row, code in zip(rows, y):
            model.learn_one(row, int(code))
        yield model


def as_dictionaries(x):
    names = [str(i) for i in range(x.shape[1])]
    return [dict(zip(names, row)) for row in x.tolist()]
