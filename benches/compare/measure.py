"""Rows of the table: two sides that take turns on the same work."""

import statistics
import time
from dataclasses import dataclass, field
from typing import Callable, Optional


# Seconds of a pair above which a cold start does not show.
WARM_UP = 5


@dataclass
class Sample:
    """One side, once."""

    seconds: float
    facts: dict = field(default_factory=dict)  # what came out: nodes, ACA in percent by protocol


@dataclass
class Row:
    """One comparison."""

    name: str  # in the JSON record
    what: str
    data: str
    peer: str
    ours: Callable[[], Sample]
    theirs: Callable[[], Sample]
    bar: Optional[float] = None  # times as fast as the peer, at least
    limit: Optional[float] = None  # seconds of ours, at most
    multiply_adds: Optional[Callable[[Sample], float]] = None  # that the work needs, from what ours did
    at_most: Optional[int] = None  # repeats, where one takes minutes
    note: str = ""


@dataclass
class Measured:
    of: str  # the comparison it belongs to, for --only
    row: Row
    ours: list[Sample]
    theirs: list[Sample]

    def ratios(self):
        """Times as fast as the peer, pair by pair: neighbours in time share the state of the machine."""
        return sorted(b.seconds / a.seconds for a, b in zip(self.ours, self.theirs))

    def median_ratio(self):
        return statistics.median(self.ratios())

    def meets(self):
        """Whether every bar is met; none where there is no bar."""
        bars = []
        if self.row.bar is not None:
            bars.append(self.median_ratio() >= self.row.bar)
        if self.row.limit is not None:
            bars.append(seconds(self.ours) <= self.row.limit)
        return all(bars) if bars else None

    def of_peak(self, peak):
        if self.row.multiply_adds is None:
            return None
        return self.row.multiply_adds(self.ours[-1]) / seconds(self.ours) / peak


def seconds(samples):
    return statistics.median(sample.seconds for sample in samples)


def facts(samples):
    """Medians of what came out."""
    return {key: statistics.median(s.facts[key] for s in samples) for key in samples[0].facts}


def alternate(of, row, repeats):
    """Both sides in turns; a first pair that took no time was the warm-up."""
    repeats = min(repeats, row.at_most or repeats)
    pairs = [one_pair(row)]
    if sum(sample.seconds for sample in pairs[0]) < WARM_UP:
        pairs = []
    while len(pairs) < repeats:
        pairs.append(one_pair(row))
    return Measured(of, row, [ours for ours, _ in pairs], [theirs for _, theirs in pairs])


def one_pair(row):
    pair = []
    for side in (row.ours, row.theirs):
        time.sleep(0.05)  # lets the other side's waiting threads fall asleep
        pair.append(side())
    return pair


@dataclass
class Growth:
    """One size of a series that should grow linearly."""

    name: str
    what: str
    data: str
    unit: str
    units: int
    run: Callable[[], Sample]


@dataclass
class Grown:
    row: Growth
    samples: list[Sample]

    def each(self):
        return seconds(self.samples) / self.row.units
