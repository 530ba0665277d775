"""The readout solved from nothing by scipy, in double precision: Cholesky factor of G + rho I, then all classes."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk


class Solve:
    """G, Q and the node outputs of the new rows are given; computing the outputs takes it no time."""

    def __init__(self, gram, moments, ridge=1e-3):
        self.gram = np.asfortranarray(gram.T)
        self.moments = moments
        self.rho = ridge * np.trace(gram) / len(gram)

    def teach(self, h):
        # Only one triangle is kept up to date: the factor reads no more.
        regularised = dsyrk(1.0, h.T, beta=1.0, c=self.gram.copy(order="F"), lower=True, overwrite_c=True)
        regularised[np.diag_indices(len(regularised))] += self.rho
        factor = cho_factor(regularised, lower=True, overwrite_a=True, check_finite=False)
        moments = np.column_stack([self.moments, h.sum(0)])
        self.weights = cho_solve(factor, moments, check_finite=False)

    def knows(self, h):
        """Which rows are answered with the new class, the last one."""
        return (h @ self.weights).argmax(1) == self.moments.shape[1]

    def forget(self):
        """Nothing to do: the sums that were given are as they were."""
