"""Our side: a process that does one job per line, and the rows that both sides share."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "target" / "release" / "autoactivator-bench"


@dataclass
class Shared:
    """A data set as the worker sees it: same rows, same codes, same tasks."""

    train_x: np.ndarray
    train_y: np.ndarray
    test_x: np.ndarray
    test_y: np.ndarray
    tasks: list[list[int]]  # class codes, task by task
    n_classes: int

    def train_rows(self, task):
        return np.flatnonzero(np.isin(self.train_y, self.tasks[task]))

    def test_rows(self, task):
        return np.flatnonzero(np.isin(self.test_y, self.tasks[task]))

    def lessons(self):
        """Rows and codes of each task, gathered beforehand, so that this is not timed."""
        rows = [self.train_rows(task) for task in range(len(self.tasks))]
        return [(self.train_x[r], self.train_y[r]) for r in rows]

    def aca(self, predicted):
        """Mean over tasks of the percentage of right answers, for the predicted codes of all test rows."""
        right = predicted == self.test_y
        return 100 * float(np.mean([right[self.test_rows(t)].mean() for t in range(len(self.tasks))]))


class Worker:
    def __init__(self, folder):
        self.folder = folder
        self.shared_data = {}
        self.process = subprocess.Popen(
            [str(BINARY)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        )

    def ask(self, job, **details):
        self.process.stdin.write(json.dumps({"job": job, **details}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"job `{job}`: the worker ended; see its last output above")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"job `{job}`: {answer['error']}")
        return answer

    def share(self, data, tasks, seed=0):
        key = json.dumps([data, tasks, seed])
        if key not in self.shared_data:
            answer = self.ask("share", data=data, tasks=tasks, seed=seed, folder=str(self.folder))
            rows = lambda name: np.fromfile(self.folder / name, "<f4").reshape(-1, answer["n_features"])
            codes = lambda name: np.fromfile(self.folder / name, "<u4").astype(np.int64)
            self.shared_data = {  # one at a time: the largest takes a quarter of a gigabyte
                key: Shared(
                    rows("train_x"), codes("train_y"), rows("test_x"), codes("test_y"),
                    answer["tasks"], answer["n_classes"],
                )
            }
        return self.shared_data[key]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
