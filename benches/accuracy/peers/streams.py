"""Incremental classifiers on the features themselves."""

import numpy as np
from sklearn.linear_model import SGDClassifier

from .base import Entrant, softmax
from .covariance import SharedCovariance, published
from .prepare import length_one, raw_but_tables, usual


class StreamingLda(Entrant):
    """Deep SLDA (Hayes and Kanan 2020): running class means and one running covariance, with their shrinkage.

    The covariance here is exactly that of all rows around their class means, which the published update approximates.
    """

    label = "streaming LDA"
    keeps = "means and one covariance"

    def __init__(self, setting):
        super().__init__(setting)
        self.sums = None

    def learn(self, x, y):
        self.saw(y)
        if self.sums is None:
            self.sums = SharedCovariance(self.setting.n_classes, x.shape[1])
        self.sums.add(x, y)

    def settle(self):
        self.sums.solve(self.classes, published)

    def scores(self, x):
        return self.sums.scores(x)

    def proba(self, x):
        return softmax(self.scores(x))

    def strange(self, x):
        return self.sums.distance(x)


class NearestMean(Entrant):
    """The class whose mean has the smallest angle to the row."""

    label = "nearest mean, cosine"
    keeps = "means"

    def __init__(self, setting):
        super().__init__(setting)
        self.sums, self.scale = None, None

    def learn(self, x, y):
        self.saw(y)
        if self.sums is None:
            self.scale = raw_but_tables(self.setting.kind, x)
            self.sums = np.zeros((self.setting.n_classes, x.shape[1]))
        np.add.at(self.sums, y, length_one(self.scale(x)))

    def scores(self, x):
        return length_one(self.scale(x)) @ length_one(self.sums[self.classes]).T


class Sgd(Entrant):
    """One pass over each task. All classes are declared before the first, since scikit-learn must know them."""

    label = "SGD with `partial_fit`"
    keeps = "weights"

    def __init__(self, setting):
        super().__init__(setting)
        self.model = SGDClassifier(loss="log_loss", random_state=setting.seed)
        self.scale = None
        self.saw(np.arange(setting.n_classes))

    def learn(self, x, y):
        self.scale = self.scale or usual(self.setting.kind, x)
        self.model.partial_fit(self.scale(x), y, classes=self.classes)

    def proba(self, x):
        return self.model.predict_proba(self.scale(x))
