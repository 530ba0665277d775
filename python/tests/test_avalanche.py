"""The Avalanche strategy: on stand-ins where torch is not installed, on the real ones where they are."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autoactivator import Consolidation

HERE = Path(__file__).resolve().parent


@pytest.fixture
def standin(monkeypatch):
    """The strategy's module over stand-ins of torch and Avalanche."""
    names = ["torch", "avalanche", "avalanche.training", "avalanche.training.templates", "autoactivator.avalanche"]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(HERE / "standin")
    yield importlib.import_module("autoactivator.avalanche")
    for name in names:
        sys.modules.pop(name, None)


class Experience:
    def __init__(self, X, y):
        self.X, self.y = X, y

    def batches(self, size):
        from torch import Tensor

        for start in range(0, len(self.y), size):
            yield Tensor(self.X[start : start + size]), Tensor(self.y[start : start + size])


class Backbone:
    """A frozen model: doubles its inputs, in the shape of images."""

    def eval(self):
        return self

    def __call__(self, x):
        return type(x)(2 * x.array[:, :, None])


def test_strategy_learns_experience_after_experience(standin, clusters):
    X, y = clusters
    experiences = [Experience(X[np.isin(y, task)], y[np.isin(y, task)]) for task in [[2, 3], [0, 1]]]
    strategy = standin.Incremental(backbone=Backbone(), learner=Consolidation(), train_mb_size=16, eval_mb_size=32)
    nothing, _ = strategy.eval(experiences)
    assert nothing <= 0.5, "nothing has been learned yet"
    strategy.train(experiences[0])
    half, loss = strategy.eval(experiences)
    assert half == 0.5 and np.isfinite(loss)
    strategy.train(experiences[1])
    assert strategy.eval(experiences)[0] == 1.0
    assert strategy.learner.n_features_in_ == 6


def test_example_runs_where_avalanche_is_installed():
    pytest.importorskip("torch")
    pytest.importorskip("avalanche")
    example = HERE.parent / "examples/avalanche_strategy.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "all ten classes" in done.stdout
