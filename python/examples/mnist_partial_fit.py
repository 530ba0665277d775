"""MNIST in five tasks of two classes, one call of ``partial_fit`` each, beside scikit-learn's own ``partial_fit``.

Every row is judged alone (protocol ``instance``). Our estimator gets each task and nothing else; scikit-learn's
estimators are told all classes in advance. Needs AUTOACTIVATOR_DATA.

Run it with ``python python/examples/mnist_partial_fit.py``.
"""

import gzip
import os
import time
import tomllib
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from autoactivator import Consolidation

EXPERIMENT = Path(__file__).resolve().parents[2] / "crates/autoactivator-exam/experiments/mnist-consolidation.toml"


def read(name):
    """Reads an idx file, gzipped or not."""
    folder = Path(os.environ["AUTOACTIVATOR_DATA"]) / "mnist"
    file = folder / name
    data = file.read_bytes() if file.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
    n_dimensions = data[3]
    shape = np.frombuffer(data, ">i4", n_dimensions, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape[0], -1)


def mnist():
    """Pixels in [0, 1] and digits, for training and for testing."""
    images = [read(f"{part}-images-idx3-ubyte").astype(np.float32) / 255 for part in ("train", "t10k")]
    digits = [read(f"{part}-labels-idx1-ubyte").ravel().astype(np.int64) for part in ("train", "t10k")]
    return images[0], digits[0], images[1], digits[1]


def entrants():
    """The estimators, and what each is told besides the rows."""
    parameters = tomllib.loads(EXPERIMENT.read_text(encoding="utf-8"))["consolidation"]
    everything = {"classes": np.arange(10)}
    return {
        "autoactivator.Consolidation": (Consolidation(image="28x28", **parameters), {}),
        "sklearn SGDClassifier": (SGDClassifier(random_state=0), everything),
        "sklearn MLPClassifier": (MLPClassifier(random_state=0), everything),
    }


def learn(model, told):
    """Learns the five tasks; returns the accuracy on the classes seen after each, and the total seconds."""
    X, y, X_test, y_test = mnist()
    seen, seconds = [], 0.0
    for task in range(5):
        rows = y // 2 == task
        X_task, y_task = X[rows], y[rows]
        start = time.perf_counter()
        model.partial_fit(X_task, y_task, **told)
        seconds += time.perf_counter() - start
        known = y_test // 2 <= task
        seen.append(100 * model.score(X_test[known], y_test[known]))
    return seen, seconds


def main():
    print("| estimator | after task 1 | 2 | 3 | 4 | accuracy % after 5 (all ten classes) | seconds to learn |")
    print("|---|---|---|---|---|---|---|")
    for name, (model, told) in entrants().items():
        seen, seconds = learn(model, told)
        print(f"| {name} | {' | '.join(f'{accuracy:.2f}' for accuracy in seen)} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
