"""Rows of the table: two sides that take turns on the same work."""

import statistics
import time
from dataclasses import dataclass, field
from typing import Callable, Optional


# A pair that takes more seconds than this needs no warm-up.
WARM_UP = 5

# Where one side takes more seconds than these, this many turns are enough.
ENOUGH = ((10, 1), (1, 3))


@dataclass
class Sample:
    """One run of one side."""

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
    multiply_adds: Optional[Callable[[Sample], float]] = None  # needed for the work, from our sample
    at_most: Optional[int] = None  # limit on repeats, where one takes minutes
    fewer: bool = False  # whether fewer turns are enough where one takes long
    note: str = ""


@dataclass
class Measured:
    of: str  # the comparison it belongs to, for --only
    row: Row
    ours: list[Sample]
    theirs: list[Sample]

    def ratios(self):
        """Times as fast as the peer, pair by pair: both runs of a pair find the machine in the same state."""
        return sorted(b.seconds / a.seconds for a, b in zip(self.ours, self.theirs))

    def median_ratio(self):
        return statistics.median(self.ratios())

    def meets(self):
        """Whether every bar is met; None if there is no bar."""
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


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def seconds(samples):
    return statistics.median(sample.seconds for sample in samples)


def facts(samples):
    """Medians of the results."""
    return {key: statistics.median(s.facts[key] for s in samples) for key in samples[0].facts}


def alternate(of, row, repeats):
    """Runs both sides in turns. If the first pair was short, it counts as the warm-up."""
    pairs = [one_pair(row)]
    repeats = min(repeats, row.at_most or repeats)
    if row.fewer:
        repeats = turns(max(sample.seconds for sample in pairs[0]), repeats)
    if sum(sample.seconds for sample in pairs[0]) < WARM_UP:
        pairs = []
    while len(pairs) < repeats:
        pairs.append(one_pair(row))
    return Measured(of, row, [ours for ours, _ in pairs], [theirs for _, theirs in pairs])


def turns(longest, repeats):
    """How many turns are enough where one takes this many seconds; at most `repeats`."""
    return next((min(repeats, turns) for limit, turns in ENOUGH if longest > limit), repeats)


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
