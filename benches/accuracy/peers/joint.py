"""Classifiers of scikit-learn that need all rows at once. They collect the tasks and fit at the end."""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from .base import Entrant, two_columns
from .prepare import tuned, usual


class Joint(Entrant):
    incremental = False
    keeps = "rows"

    def __init__(self, setting):
        super().__init__(setting)
        self.tasks = []

    def learn(self, x, y):
        self.saw(y)
        self.tasks.append((x, y))

    def settle(self):
        x, y = (np.concatenate(part) for part in zip(*self.tasks))
        self.scale = usual(self.setting.kind, x)
        self.model = self.fitted(self.scale(x), y)

    def fitted(self, x, y):
        raise NotImplementedError

    def proba(self, x):
        return self.model.predict_proba(self.scale(x))


class Logistic(Joint):
    label = "logistic regression, tuned"
    grid = [10.0**e for e in range(-2, 5)]

    def fitted(self, x, y):
        weights = "balanced" if self.setting.balanced else None
        make = lambda c, steps: LogisticRegression(C=c, max_iter=steps, class_weight=weights)
        c = tuned(lambda c: make(c, 200), self.grid, x, y)
        return make(c, 500).fit(x, y)


class Svm(Joint):
    label = "linear SVM, tuned"

    def fitted(self, x, y):
        # Larger constants help only tables, and on many wide rows liblinear takes minutes for them.
        grid = [10.0**e for e in range(-3, 4 if self.setting.kind == "table" else 2)]
        make = lambda c: LinearSVC(C=c, random_state=0)
        return make(tuned(make, grid, x, y)).fit(x, y)

    def proba(self, x):
        return None

    def scores(self, x):
        return two_columns(self.model.decision_function(self.scale(x)))


class Lda(Joint):
    label = "linear discriminant analysis"

    def fitted(self, x, y):
        return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(x, y)


class Forest(Joint):
    label = "random forest"
    kinds = ("table",)

    def fitted(self, x, y):
        return RandomForestClassifier(n_estimators=100 if self.setting.quick else 500, random_state=0).fit(x, y)
