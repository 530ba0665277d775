"""What the tests share: small data, and the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# Modules beside the tests.
sys.path.insert(0, str(Path(__file__).parent))


def content(model_file):
    """What a model file holds, apart from what the model cannot know in Python: file names and names of columns."""
    head = 8 + int.from_bytes(model_file[:8], "little")
    header = json.loads(model_file[8:head])
    about = json.loads(header.pop("__metadata__")["autoactivator"])
    about.pop("sha256")
    about.pop("features", None)
    about["description"].pop("ledger", None)
    return header, about, model_file[head:]


@pytest.fixture
def digits():
    """The digits of scikit-learn, in [0, 1]: rows to learn from, rows to be examined on."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    return train_test_split((X / 16).astype(np.float32), y, test_size=0.25, random_state=0, stratify=y)


@pytest.fixture
def clusters():
    """Rows around four centres, in classes 0 to 3, shuffled."""
    random = np.random.default_rng(0)
    y = random.permutation(np.repeat(np.arange(4), 30))
    X = np.eye(4, 6)[y] + 0.1 * random.normal(size=(120, 6))
    return X.astype(np.float32), y


@pytest.fixture
def command_line(tmp_path):
    """Runs the command line in a folder of its own, and returns what it printed."""
    program = os.environ.get("AUTOACTIVATOR_CLI")
    if program is None:
        pytest.skip("AUTOACTIVATOR_CLI does not name the command line")

    def run(*words):
        done = subprocess.run(
            [program, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def serve(tmp_path):
    """Starts servers on free ports, and ends them with the test."""
    program = os.environ.get("AUTOACTIVATOR_CLI")
    if program is None:
        pytest.skip("AUTOACTIVATOR_CLI does not name the command line")
    processes = []

    def start(*words, token=None):
        environment = {**os.environ, **({"AUTOACTIVATOR_TOKEN": token} if token else {})}
        command = [program, "serve", "model.aact", *words, "--listen", "127.0.0.1:0", "--quiet"]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment)
        processes.append(process)
        line = process.stderr.readline()
        assert "http://" in line, line + process.stderr.read()
        return line.split("listening on ")[1].split(" ")[0]

    yield start
    for process in processes:
        process.kill()
        process.wait()
