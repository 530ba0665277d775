"""Somebody withdraws their rows: afterwards the model is what it would have been without them."""

import numpy as np

from autoactivator import Consolidation, cil

X, y, X_test, _ = cil.data("digits")
withdrawn = np.arange(len(y)) % 10 == 0
kept = ~withdrawn

model = Consolidation(image="8x8").fit(X[kept], y[kept])
before = model.predict_proba(X_test)

model.partial_fit(X[withdrawn], y[withdrawn])
model.unlearn(X[withdrawn], y[withdrawn])
after = model.predict_proba(X_test)

difference = np.abs(after - before).max()
print(f"{withdrawn.sum()} rows learned and taken back; no probability differs by more than {difference:g}")
