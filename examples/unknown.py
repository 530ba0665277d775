"""Answer "none of the classes I know" instead of a wrong class, and learn that class once somebody has named it."""

import numpy as np

from autoactivator import Consolidation, cil

X, y, X_test, y_test = cil.data("digits")
known = y < 9
model = Consolidation(image="8x8").fit(X[known], y[known])

# None where a row is stranger than 95 % of the rows that were learned.
answers = model.predict(X_test, reject="5%")
unknown = np.array([answer is None for answer in answers])
print(
    f"of the nines, {unknown[y_test == 9].mean():.0%} are answered with None; of the rest {unknown[y_test < 9].mean():.0%}"
)

model.partial_fit(X[~known], y[~known])
print(f"after nine was learned: {model.score(X_test, y_test):.1%} of all test rows right")
