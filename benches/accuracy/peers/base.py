"""What every entrant has in common."""

from dataclasses import dataclass
from typing import Optional

import numpy as np


@dataclass(frozen=True)
class Setting:
    """What an entrant is told before the first row."""

    kind: str  # "embedding", "image" or "table"
    image: Optional[tuple]
    n_classes: int  # for `partial_fit` of scikit-learn, which must know it, and for the size of arrays
    seed: int
    quick: bool = False
    balanced: bool = False  # whether a rare class should count as much as a common one


class Entrant:
    """Learns task after task. Columns of its answers are `classes`: the codes learned so far, sorted."""

    label = ""  # in tables
    incremental = True  # else it must have all rows at once
    keeps = ""  # what it keeps of the rows between tasks
    kinds = ("embedding", "image", "table")

    def __init__(self, setting):
        self.setting = setting
        self.classes = np.empty(0, int)

    def learn(self, x, y):
        """Takes in one task."""
        raise NotImplementedError

    def settle(self):
        """Whatever must happen between the last task and the first answer. Counted as learning."""

    def proba(self, x):
        """The probability of each class, or None if the entrant has only scores."""
        return None

    def scores(self, x):
        return self.proba(x)

    def strange(self, x):
        """How little each row looks like a known class: the higher, the stranger."""
        return -self.scores(x).max(1)

    def rejects(self, x, share):
        """The rows it calls unknown when it should do so for a share of the known ones, or None: no such threshold."""
        return None

    def megabytes(self):
        """Size of the saved file, or None if there is none."""
        return None

    @classmethod
    def version(cls):
        """What the results depend on besides this folder; a record of another version is not used again."""
        return ""

    def saw(self, y):
        self.classes = np.union1d(self.classes, y).astype(int)


def softmax(scores):
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def two_columns(scores):
    """scikit-learn gives one column of scores for two classes: positive for the second."""
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
