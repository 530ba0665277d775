"""What the peers calculate from sums, against the same from rows."""

import numpy as np
import pytest

from peers import ENTRANTS
from peers.base import Setting
from peers.covariance import SharedCovariance, published
from peers.random_nodes import RidgeSums

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 20)
X = (RNG.standard_normal((60, 4)) + 3 * np.eye(4)[Y]).astype(np.float32)
INCREMENTAL = ("ranpac", "klda", "slda", "nearest-mean", "knn")


def test_discriminant_analysis_is_the_mahalanobis_distance():
    sums = SharedCovariance(3, 4)
    sums.add(X, Y)
    sums.solve(np.arange(3), published)
    means = np.stack([X[Y == code].mean(0) for code in range(3)]).astype(float)
    around = X - means[Y]
    inverse = np.linalg.inv((1 - 1e-4) * around.T @ around / 60 + 1e-4 * np.eye(4))
    away = X[:, None, :] - means
    distances = np.einsum("ncf,fg,ncg->nc", away, inverse, away)
    assert sums.distance(X) == pytest.approx(distances.min(1), rel=1e-6)
    assert (sums.scores(X).argmax(1) == distances.argmin(1)).all()


def test_error_from_sums_is_the_error_on_rows():
    sums = RidgeSums(4, 3)
    sums.add(X, Y)
    head = sums.head(0.1)
    target = np.eye(3, dtype=np.float32)[Y]
    assert sums.error(head) == pytest.approx(np.square(X @ head - target).sum() - 60, rel=1e-4)


@pytest.mark.parametrize("name", INCREMENTAL)
def test_an_incremental_entrant_learns_class_after_class(name):
    entrant = ENTRANTS[name](Setting("embedding", None, 3, seed=0, quick=True))
    for code in (2, 0, 1):
        entrant.learn(X[Y == code], Y[Y == code])
    entrant.settle()
    assert entrant.classes.tolist() == [0, 1, 2]
    assert np.mean(entrant.scores(X).argmax(1) == Y) > 0.8
    strange = entrant.strange(X)
    assert strange.shape == (60,) and np.isfinite(strange).all()
