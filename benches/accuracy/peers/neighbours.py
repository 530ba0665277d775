"""Nearest neighbours: nothing to learn, every row to keep."""

from sklearn.neighbors import KNeighborsClassifier

from .joint import Joint
from .prepare import tuned


class Neighbours(Joint):
    label = "k nearest neighbours, tuned"
    incremental = True  # rows can be added at any time
    grid = [1, 5, 10]

    def fitted(self, x, y):
        # Between rows of length 1, the order by distance is the order by cosine. Weights break ties between votes.
        make = lambda k: KNeighborsClassifier(k, weights="distance")
        return make(tuned(make, self.grid, x, y)).fit(x, y)

    def strange(self, x):
        """The distance to the last of the neighbours."""
        return self.model.kneighbors(self.scale(x))[0][:, -1]
