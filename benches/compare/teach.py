"""Seconds from "rows are there" to "answers know the class", beside what else can be done with the rows of a new class."""

from dataclasses import dataclass
from typing import Callable

import numpy as np

from measure import Measured, Row, Sample, alternate, timed, turns
from peers.nearest import Nearest
from peers.refit import Refit
from peers.solve import Solve

NODES, CLASSES = (1000, 3328, 5000, 10_000), (10, 100, 1000)
ROWS = (1, 3, 10, 100)  # of the new class
BESIDE = 3  # of them, where peers are measured too

# Rows that are taught come from these classes in turn. Each is asked for with this many other rows.
NEW_CLASSES, UNSEEN = 8, 20

# A peer that takes more seconds than this is left out.
TOO_LONG = 30

BEFORE, SCIPY, LOGISTIC, FAISS = "solved from nothing", "scipy solve", "logistic regression", "FAISS"
PEERS = (BEFORE, SCIPY, LOGISTIC, FAISS)
BARS = {(3328, 100, BEFORE): 20, (10_000, 100, SCIPY): 20}


@dataclass(frozen=True)
class Shape:
    """The size of a model before it is taught, and of the rows that it has learned."""

    nodes: int
    classes: int
    features: int
    rows_per_class: int

    def __str__(self):
        return f"{self.nodes}x{self.classes}"


def shapes(quick):
    if quick:  # small models are always solved from nothing, larger ones are not: one of each
        return [Shape(nodes, classes, 32, 20) for nodes in (160, 1056) for classes in (5, 20)]
    return [
        Shape(nodes, classes, 768 if nodes > 1000 else 256, 10 if classes == 1000 else 100)
        for nodes in NODES
        for classes in CLASSES
    ]


@dataclass
class Lesson:
    """One line of the table."""

    shape: Shape
    run: Callable


@dataclass
class Taught:
    """What one shape has shown: our samples by number of rows, and the peers' beside ours."""

    shape: Shape
    alone: dict[int, list[Sample]]
    beside: dict[str, Measured]

    def ours(self, rows):
        """Our samples for this many new rows."""
        if rows != BESIDE:
            return self.alone[rows]
        return [sample for measured in self.beside.values() for sample in measured.ours]


def lessons(bench):
    """One at a time: the largest models take gigabytes."""
    for shape in shapes(bench.quick):
        if not bench.shapes or str(shape) in bench.shapes:
            yield Lesson(shape, lambda repeats, shape=shape: teach(bench, shape, repeats))


def teach(bench, shape, repeats):
    school = School(bench, shape)
    alone = {rows: school.alone(rows, repeats) for rows in ROWS if rows != BESIDE}
    beside = {BEFORE: school.measure(BEFORE, lambda: school.ours(BESIDE, from_nothing=True), repeats)}
    for name, peer, of_rows in school.peers():
        beside[name] = school.measure(name, lambda: school.theirs(peer, of_rows), repeats)
    return Taught(shape, alone, beside)


class School:
    """A model that has learned, and new classes. Every step drops its class again, so that all begin with the same classes."""

    def __init__(self, bench, shape):
        self.bench, self.shape, self.taught = bench, shape, 0
        self.known = self.rows(shape.rows_per_class, shape.classes, seed=0)
        self.new = self.rows(max(ROWS), NEW_CLASSES, seed=1)
        params = {"nodes": shape.nodes - shape.features}
        learner = {"consolidation": params}
        answer = bench.worker.ask("learn", data=self.known, tasks="1", learner=learner, keep="teach")
        nodes = answer["size"]["nodes"]
        assert nodes == shape.nodes, f"{nodes} nodes instead of {shape.nodes}"

    def rows(self, per_class, classes, seed):
        return {"rows": per_class * classes, "features": self.shape.features, "classes": classes, "seed": seed}

    def ours(self, rows, from_nothing=False):
        if not from_nothing:  # then it is the other side of a pair, which is taught the same class
            self.taught += 1
        answer = self.bench.worker.ask(
            "teach", model="teach", data=self.new, rows=rows, from_nothing=from_nothing,
            **{"class": self.taught % NEW_CLASSES},
        )
        return Sample(answer["seconds"], shares(answer["taught"], answer["unseen"]))

    def theirs(self, peer, of_rows):
        rows = of_rows[self.taught % NEW_CLASSES :: NEW_CLASSES]
        new, unseen = rows[:BESIDE].copy(), rows[BESIDE : BESIDE + UNSEEN].copy()

        def step():
            peer.teach(new)
            return peer.knows(new)

        seconds, right = timed(step)
        sample = Sample(seconds, shares(right.mean(), peer.knows(unseen).mean()))
        peer.forget()
        return sample

    def alone(self, rows, repeats):
        """Our samples; the first step counts as the warm-up."""
        first = self.ours(rows)
        return [self.ours(rows) for _ in range(turns(first.seconds, repeats))]

    def measure(self, name, theirs, repeats):
        shape = self.shape
        row = Row(
            f"teach-{shape}-{name.replace(' ', '-')}", f"{BESIDE} rows of a new class, {shape}", "generated rows", name,
            lambda: self.ours(BESIDE), theirs, bar=BARS.get((shape.nodes, shape.classes, name)), fewer=True,
        )
        return alternate("teach", row, repeats)

    def peers(self):
        """Name, peer and what it is given of the new rows, each made when the one before is no longer needed."""
        yield SCIPY, *self.solve()
        known, new = self.bench.worker.share(self.known, "1"), self.bench.worker.share(self.new, "1")
        refit = Refit(known.train_x, known.train_y)
        if refit.expected_seconds() < TOO_LONG:
            yield LOGISTIC, refit, new.train_x
        yield FAISS, Nearest(known.train_x, known.train_y), new.train_x

    def solve(self):
        folder, rows = self.bench.folder, NEW_CLASSES * (BESIDE + UNSEEN)
        self.bench.worker.ask("sums", model="teach", data=self.new, rows=rows, folder=str(folder))
        read = lambda name: np.fromfile(folder / name, "<f8").reshape(-1, self.shape.nodes)
        peer = Solve(read("gram"), np.ascontiguousarray(read("moments").T))
        (folder / "gram").unlink()  # the largest takes almost a gigabyte
        return peer, read("outputs")


def shares(taught, unseen):
    return {"taught rows right %": 100 * float(taught), "unseen rows right %": 100 * float(unseen)}
