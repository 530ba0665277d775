"""The limit of the machine: matrix products alone, through numpy and scipy."""

import time

import numpy as np
from scipy.linalg.blas import ssyrk


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(n, times):
    """Multiply-adds per second of a square product in single precision, the best of several runs."""
    a = np.random.default_rng(0).random((n, n), np.float32)
    out = np.empty_like(a)
    return n**3 / min(seconds(lambda: np.matmul(a, a, out=out)) for _ in range(times))


def project_and_gram(x, w):
    """H = XW, then HᵀH: the products that every memory needs."""
    h = x @ w
    return ssyrk(1.0, h.T)
