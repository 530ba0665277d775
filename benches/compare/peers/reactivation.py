"""The paper's learner in numpy, as good as plain numpy gets.

All candidates of a step are computed in one product and their small systems in one batched solve. Joining nodes are
orthogonalised against earlier ones. Split, supervisory mechanism and stopping rules are those of
`crates/autoactivator`.
"""

import numpy as np

RELAXED = [1 - 0.1 * 0.1**k for k in range(9)]  # r = 0.9, 0.99, ...
BATCH_RIDGE, RIDGE, PATIENCE, VALIDATION = 1e-6, 1e-10, 3, 0.1


def sigmoid(x):
    """In place, to save the cost of a new array."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    np.reciprocal(x, out=x)
    return x


class Unit:
    """One task: its nodes, output weights and threshold."""

    def __init__(self, x, y, rng, step=10, t_max=50, l_max=200, accuracy=0.99, scope=0.5):
        self.classes, codes = np.unique(y, return_inverse=True)
        train, watch = self.split(codes, rng)
        self.x, self.x_watch = x[train], x[watch]
        one_hot = np.eye(len(self.classes))
        self.y, self.y_watch = one_hot[codes[train]], one_hot[codes[watch]]
        self.step, self.t_max, self.scope, self.rng = step, t_max, scope, rng
        self.grow(l_max, accuracy)
        outputs = self.outputs(self.x)
        self.threshold = confidence(outputs).mean()
        del self.x, self.x_watch, self.y, self.y_watch

    def split(self, codes, rng):
        watch = []
        for code in range(len(self.classes)):
            rows = rng.permutation(np.flatnonzero(codes == code))
            watch.append(rows[: round(len(rows) * VALIDATION)])
        watch = np.sort(np.concatenate(watch))
        return np.setdiff1d(np.arange(len(codes)), watch), watch

    def grow(self, l_max, accuracy):
        n, n_features = self.x.shape
        self.w, self.b = np.empty((n_features, 0), np.float32), np.empty(0, np.float32)
        q, r = np.empty((n, l_max), order="F"), np.zeros((l_max, l_max))
        along = np.empty((l_max, self.y.shape[1]))  # QᵀY
        residual, targets = self.y.copy(), self.y.argmax(1)
        watched = np.empty((len(self.x_watch), 0), np.float32)
        falling = []
        self.joins = 0
        while len(self.b) < l_max:
            joined = self.recruit(residual)
            if joined is None:
                break
            w, b, g = joined
            k, l = len(self.b), len(b)
            z = g.astype(np.float64)
            for _ in range(2):
                d = q[:, :k].T @ z
                z -= q[:, :k] @ d
                r[:k, k : k + l] += d
            q[:, k : k + l], r[k : k + l, k : k + l] = np.linalg.qr(z)
            new = q[:, k : k + l]
            along[k : k + l] = new.T @ residual
            residual -= new @ along[k : k + l]
            self.w, self.b = np.hstack([self.w, w]), np.hstack([self.b, b])
            watched = np.hstack([watched, sigmoid(self.x_watch @ w + b)])
            self.joins += 1
            self.readout = self.weights(r, along, k + l)
            falling.append(np.linalg.norm(self.y_watch - watched @ self.readout))
            if ((self.y - residual).argmax(1) == targets).mean() >= accuracy:
                break
            best = int(np.argmin(falling))
            if len(falling) - (best + 1) > PATIENCE:
                kept = (best + 1) * self.step
                self.w, self.b = self.w[:, :kept], self.b[:kept]
                self.readout = self.weights(r, along, kept)
                break
        self.readout = self.readout.astype(np.float32)

    def weights(self, r, along, n):
        r, along = r[:n, :n], along[:n]
        gram = r.T @ r
        gram[np.diag_indices(n)] += RIDGE * gram.trace() / n
        return np.linalg.solve(gram, r.T @ along)

    def recruit(self, residual):
        """The batch with the largest sum of xi among those that pass (Eq. xi_2)."""
        n_features, l = self.x.shape[1], self.step
        draw = lambda *shape: self.scope * (2 * self.rng.random(shape, np.float32) - 1)
        w, b = draw(self.t_max * l, n_features), draw(self.t_max * l)
        h = w @ self.x.T  # nodes as rows, so that each batch is contiguous
        h += b[:, None]
        batches = sigmoid(h).reshape(self.t_max, l, -1)
        s = (batches.reshape(self.t_max * l, -1) @ residual.astype(np.float32)).astype(np.float64)
        s = s.reshape(self.t_max, l, -1)
        gram = (batches @ batches.transpose(0, 2, 1)).astype(np.float64)
        diagonal = np.arange(l)
        gram[:, diagonal, diagonal] += BATCH_RIDGE * np.trace(gram, axis1=1, axis2=2)[:, None] / l
        gains = np.einsum("tlc,tlc->tc", s, np.linalg.solve(gram, s))
        squared = (residual**2).sum(0)
        for r in RELAXED:
            mu = (1 - r) / (len(self.b) + l + 1)
            xi = gains - (1 - r - mu) * squared
            passed = np.flatnonzero((xi > 0).all(1))
            if len(passed):
                best = passed[xi[passed].sum(1).argmax()]
                mine = slice(best * l, (best + 1) * l)
                return w[mine].T, b[mine], batches[best].T
        return None

    def outputs(self, x):
        return sigmoid(x @ self.w + self.b) @ self.readout


def confidence(outputs):
    e = np.exp(outputs - outputs.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).max(1) - 1 / outputs.shape[1]


def learn(lessons, seed=0, **settings):
    rng = np.random.default_rng(seed)
    return [Unit(x, y, rng, **settings) for x, y in lessons]


def predict_rows(units, x):
    """Each row wakes its own unit."""
    outputs = [unit.outputs(x) for unit in units]
    distances = [abs(unit.threshold - confidence(o)) for unit, o in zip(units, outputs)]
    answers = np.stack([unit.classes[o.argmax(1)] for unit, o in zip(units, outputs)])
    return answers[np.argmin(distances, 0), np.arange(len(x))]


def predict_group(units, x):
    """All rows together wake one unit."""
    outputs = [unit.outputs(x) for unit in units]
    distances = [abs(unit.threshold - confidence(o).mean()) for unit, o in zip(units, outputs)]
    awake = int(np.argmin(distances))
    return units[awake].classes[outputs[awake].argmax(1)]
