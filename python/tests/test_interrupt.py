"""Ctrl-C in the middle of long calls: Python's own exception, and an estimator as it was before."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

PRELUDE = """
import sys
import numpy as np
from autoactivator import Consolidation, Reactivation, cil

random = np.random.default_rng(0)
X, y = random.random((40_000, 400), dtype=np.float32), random.integers(0, 10, 40_000)
first, later = y < 5, y >= 5
"""

LEARNING = """
model = {estimator}.partial_fit(X[first][:2000], y[first][:2000])
before, classes = model._model.to_bytes(), model.classes_
print("ready", flush=True)
try:
    model.partial_fit(np.repeat(X[later], 8, axis=0), np.repeat(y[later], 8))
    print("learned")
except KeyboardInterrupt:
    same = model._model.to_bytes() == before and model.classes_ is classes
    print("interrupted, as it was" if same else "interrupted, changed")
"""

PREDICTING = """
model = Consolidation().fit(X[:2000], y[:2000])
rows = np.repeat(X, 20, axis=0)
print("ready", flush=True)
try:
    model.predict(rows)
    print("predicted")
except KeyboardInterrupt:
    print("interrupted, as it was")
"""

EXAM = """
print("ready", flush=True)
try:
    cil.run((X, y, X, y), learners=["reactivation"], reactivation={"expected_accuracy": 1.0, "patience": 99})
    print("examined")
except KeyboardInterrupt:
    print("interrupted, as it was")
"""


@pytest.mark.parametrize(
    "script",
    [
        LEARNING.format(estimator="Consolidation()"),
        LEARNING.format(estimator="Reactivation(t_max=200, expected_accuracy=1.0)"),
        PREDICTING,
        EXAM,
    ],
    ids=["consolidation", "reactivation", "predict", "exam"],
)
def test_ctrl_c(script):
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.6)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    said, _ = process.communicate(timeout=60)
    print(f"stopped after {time.monotonic() - start:.2f} s")
    assert said == "interrupted, as it was\n"
    assert process.returncode == 0
