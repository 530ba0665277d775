"""Evaluation of class-incremental learning: scenarios, protocols, metrics, and the records of the command line.

:func:`run` runs a whole evaluation. :func:`tasks`, :func:`accuracy` and :func:`metrics` are its parts, for a loop of
your own. :func:`plot` draws a record.
"""

import json
import operator
import os
import warnings

import numpy as np

from . import _core, rows


def run(
    dataset="digits",
    tasks=None,
    learners=(),
    protocols=(),
    seeds=None,
    seed=0,
    online=False,
    stream=None,
    order=None,
    imbalance=None,
    shots=None,
    reactivation=None,
    consolidation=None,
    data_dir=None,
    sections=(),
):
    """Evaluate learners: learn a data set task by task, and test after each task.

    Parameters
    ----------
    dataset : str, path-like or tuple, default="digits"
        ``"digits"`` (built in), ``"mnist"``, ``"fashion-mnist"``, ``"cifar100"``, ``"cifar100-lite0"``, a folder or
        table, ``(X_train, y_train, X_test, y_test)``, or an experiment file (``.toml``), whose settings apply
        unless another argument overrides them.
    tasks : str or None, default=None
        How classes become tasks: ``"5"``, ``"10/5"``, ``"10,20,30,40"``, ``"B50/10"`` or ``"single"``. None is 5, or 10
        with 20 classes or more; fewer with fewer than 10 classes.
    learners : sequence of str, default=()
        ``"consolidation"``, ``"reactivation"``, ``"nearest-mean"``, ``"streaming-lda"``, ``"joint-ridge"``,
        ``"sequential-sgd"``; all of them if empty.
    protocols : sequence of str, default=()
        ``"instance"``, ``"task-batch=B"``, ``"class-batch=B"``, ``"mixed-batch=B"``, where B is a number or ``all``;
        ``instance`` and ``task-batch=all`` if empty.
    seeds : int or None, default=None
        Number of runs, each with its own class order and random nodes. None is 5.
    seed : int, default=0
        Seed of the first run.
    online : bool, default=False
        One pass over all rows in random order, instead of one task after another.
    stream : int or None, default=None
        A stream without tasks, so many rows at a time: each is predicted before it is learned. A class begins with its
        task, and then comes back until the end.
    order : {"shuffled", "natural"} or None, default=None
        Order of classes: drawn anew for each run, or as they first appear in the training rows. A stream in natural
        order has the rows as they come. None is ``"shuffled"``.
    imbalance : float or None, default=None
        Long-tailed classes: how many times as many training rows the class that comes first has as the one that comes
        last. In between, numbers fall by equal ratios. None keeps all rows.
    shots : int or None, default=None
        Few-shot increments: training rows of each class after the first task. None keeps all rows.
    reactivation, consolidation : dict or None, default=None
        Parameters of the learners, as for :class:`~autoactivator.Reactivation` and
        :class:`~autoactivator.Consolidation`.
    data_dir : path-like or None, default=None
        Folder that holds the data sets known by name; None takes the environment variable ``AUTOACTIVATOR_DATA``.
    sections : sequence of str, default=()
        Sections of an experiment file that override the rest, in this order: ``"quick"``, ``"stand_in"``.

    Returns
    -------
    dict
        The record that ``autoactivator run --json`` writes. Learners that cannot take part are listed under
        ``left_out``, those that failed under ``failed``, and each causes a warning.

    Examples
    --------
    >>> from autoactivator import cil
    >>> record = cil.run("digits", learners=["nearest-mean"], protocols=["instance"], seeds=1)
    >>> record["scenario"], round(record["results"][0]["aca"]["mean"])
    ('10/5', 92)
    """
    given = None if isinstance(dataset, (str, os.PathLike)) else _in_memory(*dataset)
    name = os.fspath(dataset) if given is None else given[0]
    changes = {
        "tasks": tasks,
        "online": online,
        "stream": None if stream is None else operator.index(stream),
        "order": order,
        "imbalance": imbalance,
        "shots": None if shots is None else operator.index(shots),
        "learners": list(learners),
        "protocols": list(protocols),
        "seeds": seeds,
        "seed": operator.index(seed),
        "reactivation": reactivation or {},
        "consolidation": consolidation or {},
    }
    folder = data_dir or os.environ.get("AUTOACTIVATOR_DATA") or None
    record = json.loads(_core.run(name, list(sections), json.dumps(changes), folder, given))
    for how, absences in (("left out", record.get("left_out", ())), ("failed", record.get("failed", ()))):
        for absence in absences:
            warnings.warn(f"{absence['learner']} {how}: {absence['reason']}", stacklevel=2)
    return record


def tasks(y, scenario, seed=0):
    """Assign classes to tasks, as :func:`run` does.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    scenario : str
        How classes become tasks, like ``"10/5"``.
    seed : int, default=0
        Determines the order of classes.

    Returns
    -------
    list of ndarray
        The labels of each task.

    Examples
    --------
    >>> from autoactivator import cil
    >>> [task.tolist() for task in cil.tasks(range(6), "6/3")]
    [[2, 0], [4, 1], [3, 5]]
    """
    distinct, _ = rows.labels(y)
    return [distinct[places] for places in _core.deal(scenario, rows.names(distinct), seed)]


def task_sizes(scenario, n_classes):
    """The number of classes of each task.

    Parameters
    ----------
    scenario : str
        How classes become tasks, like ``"10/5"``.
    n_classes : int
        Number of classes.

    Returns
    -------
    list of int
        Sizes that add up to `n_classes`.

    Examples
    --------
    >>> from autoactivator import cil
    >>> cil.task_sizes("2,4,6,...", 20)
    [2, 4, 6, 8]
    """
    return _core.task_sizes(scenario, n_classes)


def meaning(protocol):
    """What a protocol tells the learner, in one sentence.

    Parameters
    ----------
    protocol : str
        Like ``"instance"`` or ``"task-batch=all"``.

    Returns
    -------
    str
        The sentence.

    Examples
    --------
    >>> from autoactivator import cil
    >>> cil.meaning("instance")
    'Each test row is judged alone; the learner is told nothing about its task.'
    """
    return _core.protocol(protocol)[1]


def accuracy(learner, X, y, tasks, protocol="instance", seed=0):
    """Test a learner on all tasks seen so far: one row of the accuracy matrix.

    Parameters
    ----------
    learner : Consolidation, Reactivation or Deployed
        The learner.
    X : array-like of shape (n_samples, n_features)
        Test rows.
    y : array-like of shape (n_samples,)
        Their labels.
    tasks : list of array-like
        The labels of each task, as :func:`tasks` returns them.
    protocol : str, default="instance"
        How rows are grouped.
    seed : int, default=0
        Determines how groups are drawn.

    Returns
    -------
    list of float
        Percentage of each task's rows that are right.

    Examples
    --------
    >>> from autoactivator import Consolidation, cil
    >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
    >>> cil.accuracy(model, [[0.05], [0.95]], [0, 1], tasks=[[0, 1]])
    [100.0]
    """
    distinct, codes = rows.labels(y)
    place = {label: i for i, label in enumerate(distinct.tolist())}
    in_codes = [[place[label] for label in np.asarray(task).tolist() if label in place] for task in tasks]
    return _core.accuracy(
        learner._learned(), rows.rows(X), rows.names(distinct), codes, in_codes, protocol, seed
    )


def metrics(R):
    """Summarise an accuracy matrix.

    Parameters
    ----------
    R : list of list of float
        ``R[i][t]`` is the accuracy on task t after learning task i, in percent; row i has i + 1 entries.

    Returns
    -------
    dict
        ``aca`` and ``aia`` in percent, ``bwt`` and ``forgetting`` (Chaudhry et al., 2018) as fractions.

    Examples
    --------
    >>> from autoactivator import cil
    >>> cil.metrics([[100.0], [90.0, 80.0]])
    {'aca': 85.0, 'aia': 92.5, 'bwt': -0.1, 'forgetting': 0.1}
    """
    return dict(zip(("aca", "aia", "bwt", "forgetting"), _core.metrics([list(row) for row in R]), strict=True))


def plot(record, ax=None):
    """Draw the accuracy after each task; needs matplotlib.

    Parameters
    ----------
    record : dict
        What :func:`run` returned.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        One line per learner and protocol: the mean accuracy over the tasks seen, averaged over all runs.

    Examples
    --------
    >>> from autoactivator import cil
    >>> record = cil.run("digits", learners=["nearest-mean"], protocols=["instance"], seeds=1)
    >>> cil.plot(record).get_ylabel()  # doctest: +SKIP
    'mean accuracy over tasks seen, %'
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure().add_subplot()
    for result in record["results"]:
        means = np.mean([[np.mean(row) for row in run["accuracy"]] for run in result["runs"]], axis=0)
        ax.plot(range(1, len(means) + 1), means, marker="o", label=f"{result['learner']}, {result['protocol']}")
    ax.set_xlabel("tasks learned")
    ax.set_ylabel("mean accuracy over tasks seen, %")
    ax.set_title(f"{record['dataset']['name']} {record['scenario']}")
    ax.legend()
    return ax


def _in_memory(x_train, y_train, x_test, y_test):
    named = [[str(label) for label in np.asarray(y).tolist()] for y in (y_train, y_test)]
    return "arrays", rows.rows(x_train), named[0], rows.rows(x_test), named[1]
