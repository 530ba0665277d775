"""Linear discriminant analysis from sums: the part that streaming LDA and KLDA share."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from .prepare import chunks


class SharedCovariance:
    """Sums of rows by class, and the sum of their outer products. They can be added to at any time."""

    def __init__(self, n_classes, width):
        self.counts = np.zeros(n_classes)
        self.sums = np.zeros((n_classes, width))
        self.products = np.zeros((width, width))

    def add(self, x, y):
        for part in chunks(len(x)):
            rows = x[part].astype(np.float64)
            self.products += rows.T @ rows
            np.add.at(self.sums, y[part], rows)
        self.counts += np.bincount(y, minlength=len(self.counts))

    def solve(self, classes, shrinkage):
        """`shrinkage` gives the weight and the diagonal that the covariance is pulled towards."""
        counts, sums = self.counts[classes], self.sums[classes]
        means = sums / counts[:, None]
        covariance = (self.products - sums.T @ means) / counts.sum()
        weight, diagonal = shrinkage(covariance, counts.sum())
        covariance *= 1 - weight
        covariance[np.diag_indices(len(covariance))] += weight * diagonal
        self.factor = cho_factor(covariance, lower=True, overwrite_a=True)
        self.directions = cho_solve(self.factor, means.T)
        self.offsets = -np.einsum("cf,fc->c", means, self.directions) / 2

    def scores(self, x):
        return x @ self.directions + self.offsets

    def distance(self, x):
        """The squared Mahalanobis distance to the nearest mean."""
        distances = np.empty(len(x))
        for part in chunks(len(x)):
            white = solve_triangular(self.factor[0], x[part].T.astype(np.float64), lower=True)
            distances[part] = np.square(white).sum(0) - 2 * self.scores(x[part]).max(1)
        return distances


def published(covariance, n_rows):
    """That of Hayes and Kanan."""
    return 1e-4, 1.0


def oracle_approximating(covariance, n_rows):
    """OAS (Chen et al. 2010): the fewer rows and the flatter the spectrum, the more."""
    mean, square = np.trace(covariance) / len(covariance), np.mean(np.square(covariance))
    weight = (square + mean**2) / ((n_rows + 1) * (square - mean**2 / len(covariance)))
    return min(1.0, weight), mean
