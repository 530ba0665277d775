"""One entrant on one set: it learns task after task and then judges each row alone."""

import time

import numpy as np

import metrics
from peers.base import Setting

ASKED = 0.05  # share of known rows that may be rejected


def setting(data, order, quick, balanced=False):
    return Setting(data.kind, data.image, data.n_classes, order, quick, balanced)


def examine(make, data, tasks, order, quick):
    """Everything that is measured. `make` gives an entrant for a setting."""
    entrant = make(setting(data, order, quick))
    half = (len(tasks) + 1) // 2
    lessons = [lesson(data, classes) for classes in tasks]
    if entrant.incremental:
        learned, first = teach(entrant, lessons[:half]), entrant
    else:
        learned, first = 0.0, make(setting(data, order, quick))
        teach(first, lessons[:half])
    near = near_figures(first, data, np.concatenate(tasks[:half]))
    learned += teach(entrant, lessons[half:] if entrant.incremental else lessons)
    learned += cpu(entrant.settle)[0]
    return {"learn_seconds": learned, **near, **answers(entrant, data), **far_figures(entrant, data)}


def lesson(data, classes):
    rows = np.isin(data.fit_y, classes)
    return data.fit_x[rows], data.fit_y[rows]


def teach(entrant, lessons):
    return sum(cpu(lambda: entrant.learn(x, y))[0] for x, y in lessons)


def cpu(work):
    """CPU seconds of all threads, and the result."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def answers(entrant, data):
    truth = np.searchsorted(entrant.classes, data.judge_y)
    seconds, (proba, scores) = cpu(lambda: proba_and_scores(entrant, data.judge_x))
    top, rejected = scores.argmax(1), entrant.rejects(data.judge_x, ASKED)
    return {
        "accuracy": metrics.accuracy(truth, top),
        "by_class": metrics.by_class(truth, top),
        "calibration_error": None if proba is None else metrics.calibration_error(truth, proba),
        "log_loss": None if proba is None else metrics.log_loss(truth, proba),
        "rejected": None if rejected is None else float(np.mean(rejected)),
        "answer_seconds": 1000 * seconds / len(truth),
        "megabytes": entrant.megabytes(),
    }


def proba_and_scores(entrant, x):
    proba = entrant.proba(x)
    return proba, entrant.scores(x) if proba is None else proba


def near_figures(entrant, data, known):
    """The rows of classes that it has not met yet, beside those of the classes it has."""
    seen = np.isin(data.judge_y, known)
    if len(known) < 2 or seen.all():
        return openness("near", None, None)
    entrant.settle()
    return openness("near", entrant.strange(data.judge_x[seen]), entrant.strange(data.judge_x[~seen]))


def far_figures(entrant, data):
    if data.far is None:
        return openness("far", None, None)
    return openness("far", entrant.strange(data.judge_x), entrant.strange(data.far))


def openness(name, known, unknown):
    if known is None:
        return {f"{name}_auroc": None, f"{name}_false_positives": None}
    return {
        f"{name}_auroc": metrics.auroc(known, unknown),
        f"{name}_false_positives": metrics.false_positives(known, unknown),
    }
