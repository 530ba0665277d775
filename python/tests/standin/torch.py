"""As much of torch as the Avalanche strategy touches, over NumPy: for machines without the real one."""

from contextlib import contextmanager

import numpy as np


class Tensor:
    def __init__(self, array):
        self.array = np.asarray(array)

    def __len__(self):
        return len(self.array)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array

    def max(self):
        return self.array.max()

    def argmax(self, dim):
        return Tensor(self.array.argmax(axis=dim))


def as_tensor(array, device=None):
    return Tensor(array)


@contextmanager
def no_grad():
    yield


class nn:
    class CrossEntropyLoss:
        def __call__(self, output, y):
            return -np.mean(output.array[np.arange(len(y)), y.array])
