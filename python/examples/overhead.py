"""What a call from Python costs on 10,000 rows of 784 features: the estimator's ``predict`` and the compiled call alone
take turns in one process, on the same rows. Run it with ``python python/examples/overhead.py``.

The compiled call includes the way into and out of Rust. The last line shows that cost: a call without any rows.
"""

import statistics
import time

import numpy as np

from autoactivator import Consolidation

ROWS, FEATURES, CLASSES, NODES = 10_000, 784, 10, 680
TURNS = 41


def seconds(call, *arguments):
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start


def main():
    random = np.random.default_rng(0)
    X, y = random.random((ROWS, FEATURES), dtype=np.float32), random.integers(0, CLASSES, ROWS)
    pool = {"kind": "uniform", "nodes": NODES, "scope": 0.5, "activation": "sigmoid"}
    model = Consolidation(pool=pool).fit(X, y)
    estimator, compiled, nothing = model.predict, model._model.predict, X[:0]
    pairs = [(seconds(estimator, X), seconds(compiled, X)) for _ in range(TURNS)]
    python, rust = (statistics.median(side) for side in zip(*pairs, strict=True))
    empty = statistics.median(seconds(estimator, nothing) for _ in range(1000))
    print(f"| {ROWS:,} x {FEATURES}, {NODES} nodes, {CLASSES} classes, median of {TURNS} turns | milliseconds |")
    print("|---|---|")
    print(f"| `Consolidation.predict` | {1e3 * python:.2f} |")
    print(f"| the compiled call alone | {1e3 * rust:.2f} |")
    print(f"| overhead, median over pairs | {100 * statistics.median(p / r - 1 for p, r in pairs):.2f} % |")
    print(f"| `Consolidation.predict` without any row | {1e3 * empty:.3f} ({100 * empty / rust:.2f} %) |")


if __name__ == "__main__":
    main()
