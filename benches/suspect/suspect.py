"""Finds labels that were flipped at random, beside cleanlab, and prints the average precision and the seconds of both.

5 % of the training labels become another class, drawn at random. Ours is the whole command, from the file to the ranking
of all rows. cleanlab gets out-of-fold probabilities of scikit-learn's logistic regression (five folds, default settings),
and ranks by self-confidence, once all rows and once only those that `find_label_issues` returns.
"""

import csv
import gzip
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from cleanlab.filter import find_label_issues
from cleanlab.rank import get_label_quality_scores
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict

FLIPPED = 0.05
FOLDS = 5
DATA = Path(os.environ["AUTOACTIVATOR_DATA"])


def arrays(folder):
    features = np.load(DATA / folder / "train_features.npy").astype(np.float32)
    return features, np.load(DATA / folder / "train_labels.npy")


def digits():
    with gzip.open(DATA / "digits/digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return table[:, :-1], table[:, -1].astype(int)


def table(name):
    with open(DATA / "tables" / name / "train.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[:-1] for row in rows], dtype=np.float32), np.array([row[-1] for row in rows])


SETS = {
    "digits": digits,
    "clinc150": lambda: arrays("clinc150/minilm"),
    "cifar100-lite0": lambda: arrays("cifar100-lite0"),
    "gtsrb-lite0": lambda: arrays("gtsrb-lite0"),
    "letter": lambda: table("letter"),
    "segment": lambda: table("segment"),
}
USUAL = ["digits", "clinc150", "cifar100-lite0"]


def flipped(codes, seed):
    """Labels of which a share is another class, and which of them."""
    random = np.random.default_rng(seed)
    wrong = random.random(len(codes)) < FLIPPED
    n_classes = codes.max() + 1
    noisy = codes.copy()
    noisy[wrong] = (codes[wrong] + random.integers(1, n_classes, wrong.sum())) % n_classes
    return noisy, wrong


def ours(x, codes):
    """How much each label is doubted, and the seconds of the command."""
    with tempfile.TemporaryDirectory() as folder:
        rows, found = Path(folder) / "rows.npz", Path(folder) / "found.csv"
        np.savez(rows, features=x, labels=codes)
        began = time.perf_counter()
        command = [os.environ["PROGRAM"], "suspect", rows, "--count", str(len(x)), "--output", found]
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - began
        ranked = [int(row["row"]) for row in csv.DictReader(found.open())]
    doubt = np.zeros(len(x))
    doubt[ranked] = np.arange(len(ranked), 0, -1)
    return doubt, seconds


def cleanlab(x, codes):
    """How much each label is doubted, the rows that are returned in order, and the seconds."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations at their limit
        probabilities = cross_val_predict(LogisticRegression(), x, codes, cv=FOLDS, method="predict_proba")
    issues = find_label_issues(codes, probabilities, return_indices_ranked_by="self_confidence")
    seconds = time.perf_counter() - began
    return 1 - get_label_quality_scores(codes, probabilities, method="self_confidence"), issues, seconds


def precision_of_list(found, wrong):
    """Average precision of a list that need not hold all rows."""
    hits = wrong[found]
    precision = np.cumsum(hits) / np.arange(1, len(found) + 1)
    return (precision * hits).sum() / wrong.sum()


def main():
    print("| set | rows | classes | ours | cleanlab, all rows | cleanlab, its list | ours, s | cleanlab, s | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or USUAL:
        x, labels = SETS[name]()
        codes = np.unique(labels, return_inverse=True)[1]
        noisy, wrong = flipped(codes, seed=0)
        doubt, seconds = ours(x, noisy)
        theirs, issues, their_seconds = cleanlab(x, noisy)
        figures = [average_precision_score(wrong, doubt), average_precision_score(wrong, theirs)]
        figures.append(precision_of_list(issues, wrong))
        precisions = " | ".join(f"{figure:.4f}" for figure in figures)
        times = f"{seconds:.2f} | {their_seconds:.2f} | {their_seconds / seconds:.0f}"
        print(f"| {name} | {len(x)} | {codes.max() + 1} | {precisions} | {times} |", flush=True)


if __name__ == "__main__":
    main()
