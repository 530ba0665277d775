"""What is measured. All are fractions, not percentages; `truth` and `answers` are places of columns."""

import numpy as np
from scipy.stats import rankdata

BINS = 15
SMALLEST = 1e-12


def accuracy(truth, answers):
    return float(np.mean(truth == answers))


def by_class(truth, answers):
    """The mean over classes of the share of right answers: a rare class counts as much as a common one."""
    return float(np.mean([np.mean(answers[truth == code] == code) for code in np.unique(truth)]))


def calibration_error(truth, proba):
    """Expected calibration error of the top answer: what is claimed against what is right, in bins of equal width."""
    claimed, right = proba.max(1), proba.argmax(1) == truth
    bins = np.minimum((claimed * BINS).astype(int), BINS - 1)
    gaps = [abs(np.sum(claimed[bins == b]) - np.sum(right[bins == b])) for b in range(BINS)]
    return float(np.sum(gaps) / len(truth))


def log_loss(truth, proba):
    return float(-np.mean(np.log(np.maximum(proba[np.arange(len(truth)), truth], SMALLEST))))


def auroc(known, unknown):
    """How often an unknown row is stranger than a known one; a draw counts half."""
    ranks = rankdata(np.concatenate([known, unknown]))[len(known) :]
    wins = ranks.sum() - len(unknown) * (len(unknown) + 1) / 2
    return float(wins / (len(known) * len(unknown)))


def false_positives(known, unknown, kept=0.95):
    """The share of unknown rows that pass as known when at least 95 % of the known rows do."""
    limit = np.sort(known)[int(np.ceil(kept * len(known))) - 1]
    return float(np.mean(unknown <= limit))


def harmonic_mean(a, b):
    return 2 * a * b / (a + b) if a + b else 0.0


def ranks(values, high_is_good):
    """The place of each value, 1 for the best. Equal values share the mean of their places."""
    return rankdata(-np.asarray(values) if high_is_good else np.asarray(values))
