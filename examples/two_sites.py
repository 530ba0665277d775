"""Two sites learn apart, neither sends a row, and their models merge. They share a model that has learned something."""

from copy import deepcopy

import numpy as np

from autoactivator import Consolidation, cil

X, y, X_test, y_test = cil.data("digits")
start = np.isin(y, [0, 1])
base = Consolidation(image="8x8").fit(X[start], y[start])

here, there = deepcopy(base), deepcopy(base)
for site, digits in [(here, [2, 3, 4, 5]), (there, [6, 7, 8, 9])]:
    rows = np.isin(y, digits)
    site.partial_fit(X[rows], y[rows])
print(f"here {here.score(X_test, y_test):.0%}, there {there.score(X_test, y_test):.0%}")

here.merge(there, base=base)
print(f"merged: {here.score(X_test, y_test):.1%} of all test rows right")
