"""Forward selection in Gram space in numpy: one matrix-vector product per step, everything else vectorised."""

import numpy as np

RELAXED = [1 - 0.1 * 0.1**k for k in range(9)]  # r = 0.9, 0.99, ...
NEW_DIRECTION = 1e-8


def recruit(gram, moments, counts, max_nodes):
    n_rows, sums = counts.sum(), moments.sum(1)
    products = moments - np.outer(sums, counts / n_rows)
    lengths = gram.diagonal() - sums**2 / n_rows
    least = NEW_DIRECTION * lengths
    residual = counts - counts**2 / n_rows
    chosen = np.empty((max_nodes, len(sums)))
    nodes = []
    while len(nodes) < max_nodes:
        k = len(nodes)
        with np.errstate(divide="ignore", invalid="ignore"):
            gains = products**2 / lengths[:, None]
            lowest = (gains / residual).min(1)
        total = np.where(lengths > least, gains.sum(1), -np.inf)
        total[nodes] = -np.inf
        node = best(lowest, total, k + 1)
        if node is None:
            break
        root = np.sqrt(lengths[node])
        along = gram[node] - sums * (sums[node] / n_rows)
        along -= chosen[:k, node] @ chosen[:k]
        along /= root
        coordinates = products[node] / root
        residual = np.maximum(residual - coordinates**2, 0)
        products -= np.outer(along, coordinates)
        lengths -= along**2
        chosen[k] = along
        nodes.append(node)
    return nodes


def best(lowest, total, level):
    for r in RELAXED:
        passing = np.where(lowest > (1 - r) * level / (level + 1), total, -np.inf)
        node = int(passing.argmax())
        if passing[node] > -np.inf:
            return node
    return None
