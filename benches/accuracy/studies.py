"""The five questions: how good on the whole, does the split into tasks matter, few rows, how many nodes, and are the
rates true that it claims.

Each study is a function of a `Run` that fills in its `results`: one `Result` for each line of a table.
"""

import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

import metrics
import sets
import splits
from exam import answers, cpu, examine, lesson, proba_and_scores, setting, teach
from peers import ENTRANTS, OURS
from records import Records

FEW_SETS = ("cifar100", "gtsrb", "clinc150", "letter", "segment", "digits")
FEW_ENTRANTS = (OURS, "nearest-mean", "logistic", "slda")
SHOTS = (1, 5, 10)
FEW_TASKS = 5
NODES = (512, 1024, 2048, 4096, 8192)


@dataclass
class Result:
    """One line of a table: an entrant on a set, with one record for each class order."""

    entrant: str
    records: list
    variant: str = ""  # what was varied, in words


@dataclass
class Run:
    study: str
    sets: list
    entrants: list
    orders: int
    test: bool
    quick: bool
    splits: list
    records: Records
    results: dict = field(default_factory=dict)  # by set
    shapes: dict = field(default_factory=dict)  # by set: what the caption says of its rows
    left_out: list = field(default_factory=list)  # what could not be done, and why
    failed: bool = False

    def each_set(self, names, with_far=True):
        for name in names:
            try:
                data = sets.prepare(name, self.test, self.quick, with_far)
            except sets.Missing as reason:
                self.leave_out(name, reason)
                continue
            self.shapes[name] = shape(data)
            self.results[name] = []
            yield data

    def each_order(self, data, entrant, place, work, variant="", orders=None):
        """Asks for the record of every class order. An entrant that fails is left out; the run goes on."""
        records = []
        for order in range(self.orders if orders is None else orders):
            try:
                get = partial(self.records.get, (data.name, place, f"order-{order}"), entrant)
                records.append(get(ENTRANTS[entrant].version(), lambda: work(order)))
            except Exception as error:  # noqa: BLE001 - hours of other results are worth more than this one
                self.leave_out(f"{entrant} on {data.name}, {place}, order {order}", f"{type(error).__name__}: {error}")
                self.failed = True
                break
            say(data.name, place, f"order {order}", entrant, figure(records[-1]))
        if records:
            self.results[data.name].append(Result(entrant, records, variant))

    def leave_out(self, what, reason):
        self.left_out.append((what, str(reason)))
        say(what, f"left out: {reason}")


def shape(data):
    return {
        "about": data.about, "learned": len(data.fit_y), "judged": len(data.judge_y), "features": data.fit_x.shape[1],
        "classes": data.n_classes, "far": None if data.far is None else len(data.far),
    }


def figure(record):
    name = "accuracy" if "accuracy" in record else "harmonic_mean"
    return f"{name.replace('_', ' ')} {100 * record[name]:.2f} %"


def say(*words):
    print(": ".join(str(word) for word in words), file=sys.stderr, flush=True)


def whole(run):
    for data in run.each_set(run.sets):
        for name in run.entrants:
            if data.kind in ENTRANTS[name].kinds:
                in_tasks(run, data, name, "10")


def by_split(run):
    """Ten tasks are one class a task where there are few classes: what would be the same is done once."""
    for data in run.each_set(run.sets):
        by_count = {len(splits.tasks(data.n_classes, 0, split)): split for split in run.splits}
        for name in run.entrants:
            for count, split in by_count.items():
                in_tasks(run, data, name, split, variant=f"{count} task{'s' if count > 1 else ''}")


def in_tasks(run, data, name, split, variant=""):
    """Whoever fits all rows at once gets the same result for every class order, so one is enough."""
    make = ENTRANTS[name]
    work = lambda order: examine(make, data, splits.tasks(data.n_classes, order, split), order, run.quick)
    run.each_order(data, name, f"tasks-{split}", work, variant, orders=None if make.incremental else 1)


def few_rows(run):
    for data in run.each_set([name for name in run.sets if name in FEW_SETS], with_far=False):
        for shots in SHOTS:
            for name in run.entrants:
                work = partial(few_rows_once, ENTRANTS[name], data, shots, run.quick)
                run.each_order(data, name, f"few-{shots}", work, f"{shots} row{'s' if shots > 1 else ''}")


def few_rows_once(make, data, shots, quick, order):
    """Half of the classes in one task with all their rows, then the others in five tasks at most with few."""
    classes = splits.class_order(data.n_classes, order)
    old, new = np.array_split(classes, 2)
    entrant = make(setting(data, order, quick, balanced=True))
    seconds = cpu(lambda: entrant.learn(*lesson(data, old)))[0]
    for task in np.array_split(new, min(FEW_TASKS, len(new))):
        x, y = lesson(data, task)
        rows = sets.few_of(y, shots, order)
        seconds += cpu(lambda: entrant.learn(x[rows], y[rows]))[0]
    seconds += cpu(entrant.settle)[0]
    proba, scores = proba_and_scores(entrant, data.judge_x)
    right = entrant.classes[scores.argmax(1)] == data.judge_y
    before, after = (float(np.mean(right[np.isin(data.judge_y, part)])) for part in (old, new))
    truth = np.searchsorted(entrant.classes, data.judge_y)
    return {
        "old": before,
        "new": after,
        "harmonic_mean": metrics.harmonic_mean(before, after),
        "calibration_error": None if proba is None else metrics.calibration_error(truth, proba),
        "learn_seconds": seconds,
    }


def curve(run):
    for data in run.each_set(run.sets, with_far=False):
        for nodes in NODES:
            make = partial(ENTRANTS[OURS], nodes=nodes)
            work = lambda order: examine(make, data, splits.tasks(data.n_classes, order), order, run.quick)
            run.each_order(data, OURS, f"nodes-{nodes}", work, f"{nodes:,} nodes")


def rates(run):
    """Whether a rate is true shows only over many draws of the rows that are judged: of one draw, chance decides."""
    for data in run.each_set(run.sets, with_far=False):
        for split in ("1", "classes"):
            classes = splits.tasks(data.n_classes, 0, split)
            work = partial(rates_once, data, split, run.quick)
            run.each_order(data, OURS, f"rates-{split}", work, f"{len(classes)} task{'s' if len(classes) > 1 else ''}")


def rates_once(data, split, quick, order):
    again = sets.drawn_again(data, seed=1000 + order)
    entrant = ENTRANTS[OURS](setting(again, order, quick))
    seconds = teach(entrant, [lesson(again, task) for task in splits.tasks(data.n_classes, order, split)])
    return {"learn_seconds": seconds, **answers(entrant, again)}


STUDIES = {"whole": whole, "splits": by_split, "few": few_rows, "curve": curve, "rates": rates}


def records_folder(root, test, quick):
    return Path(root) / (("test" if test else "development") + ("-quick" if quick else ""))
