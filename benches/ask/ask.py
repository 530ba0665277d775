"""How many labels does it take? Rows are labelled in batches that are chosen at random, by margin, or by `ask`.

All three begin with the same random rows, which need not show all classes, and all are judged by the accuracy of the same
learner on the test rows. Margin sampling is scikit-activeml's, over the probabilities of that learner.
"""

import argparse
import csv
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from skactiveml.pool import uncertainty_scores

DATA = Path(os.environ["AUTOACTIVATOR_DATA"])
FOLDERS = {"clinc150": "clinc150/minilm", "cifar100-lite0": "cifar100-lite0"}


def part(name, which):
    folder = DATA / FOLDERS[name]
    features = np.load(folder / f"{which}_features.npy").astype(np.float32)
    return features, np.load(folder / f"{which}_labels.npy")


def program(*arguments):
    command = [os.environ["PROGRAM"], *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Model:
    """A model file of some labelled rows."""

    def __init__(self, folder, x, y):
        self.folder, self.file = folder, folder / "model.aact"
        self.file.unlink(missing_ok=True)
        program("learn", self.file, self.rows("labelled", x, y))

    def rows(self, name, x, y=None):
        path = self.folder / f"{name}.npz"
        np.savez(path, features=x, **({} if y is None else {"labels": y}))
        return path

    def accuracy(self, x, y):
        answers = csv.DictReader(program("predict", self.file, self.rows("test", x)).splitlines())
        return np.mean([answer["class"] for answer in answers] == y.astype(str))

    def probabilities(self, x):
        lines = program("predict", self.file, self.rows("pool", x), "--proba").splitlines()
        return np.array([[float(v) for v in line.split(",")[2:]] for line in lines[1:]])

    def ask(self, x, count):
        asked = csv.DictReader(program("ask", self.file, self.rows("pool", x), "--count", count).splitlines())
        return np.array([int(row["row"]) for row in asked])


def at_random(model, x, count, random):
    return random.choice(len(x), count, replace=False)


def by_margin(model, x, count, random):
    scores = uncertainty_scores(model.probabilities(x), method="margin_sampling")
    return np.argsort(-scores, kind="stable")[:count]


def by_asking(model, x, count, random):
    return model.ask(x, count)


RULES = {"random": at_random, "margin (scikit-activeml)": by_margin, "ask": by_asking}


def curve(rule, train, test, options, seed, folder):
    """The accuracy after each batch."""
    random = np.random.default_rng(seed)
    (x, y), order = train, random.permutation(len(train[0]))
    labelled, free = order[: options.start], order[options.start :]
    found = []
    while True:
        model = Model(folder, x[labelled], y[labelled])
        found.append(100 * model.accuracy(*test))
        if len(labelled) >= options.labels:
            return found
        chosen = rule(model, x[free], min(options.batch, options.labels - len(labelled)), random)
        labelled, free = np.append(labelled, free[chosen]), np.delete(free, chosen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", default="clinc150", choices=FOLDERS)
    for name, default in [("seeds", 1), ("start", 200), ("batch", 200), ("labels", 2000)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    train, test = part(options.set, "train"), part(options.set, "test")
    steps = list(range(options.start, options.labels, options.batch)) + [options.labels]
    print("| choice | " + " | ".join(map(str, steps)) + " | labels for the last accuracy of random choice |")
    print("|---" * (len(steps) + 2) + "|")
    goal = None
    for name, rule in RULES.items():
        with tempfile.TemporaryDirectory() as folder:
            curves = [curve(rule, train, test, options, seed, Path(folder)) for seed in range(options.seeds)]
        mean = np.mean(curves, axis=0)
        goal = mean[-1] if goal is None else goal
        reached = next((str(step) for step, accuracy in zip(steps, mean) if accuracy >= goal), "-")
        print(f"| {name} | " + " | ".join(f"{v:.2f}" for v in mean) + f" | {reached} |", flush=True)


if __name__ == "__main__":
    main()
