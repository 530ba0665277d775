"""Evaluation of class-incremental learning: scenarios, protocols, metrics, and the records of the command line.

:func:`run` runs a whole evaluation. :func:`tasks`, :func:`accuracy` and :func:`metrics` are its parts, for a loop of
your own. :func:`plot` draws a record.
"""

import json
import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, rows
from .types import Labels, Path, Rows

if TYPE_CHECKING:
    from .learner import Learner


def run(
    dataset: Path | tuple[Rows, Labels, Rows, Labels] = "digits",
    tasks: str | None = None,
    learners: Sequence[str] = (),
    protocols: Sequence[str] = (),
    seeds: int | None = None,
    seed: int = 0,
    online: bool = False,
    stream: int | None = None,
    order: str | None = None,
    imbalance: float | None = None,
    shots: int | None = None,
    reactivation: Mapping[str, Any] | None = None,
    consolidation: Mapping[str, Any] | None = None,
    rivals: Mapping[str, Any] | None = None,
    data_dir: Path | None = None,
    sections: Sequence[str] = (),
) -> dict[str, Any]:
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
        ``"sequential-sgd"``, which are evaluated if it is empty, and rivals from the literature: ``"unit-mean"``,
        ``"simple-cil"``, ``"nearest-neighbours"``, ``"fecam"``, ``"klda"``, ``"acil"``, ``"ranpac"``, ``"fine-tuning"``,
        ``"joint"``, ``"ewc"``, ``"si"``, ``"mas"``, ``"lwf"``, ``"owm"``, ``"er"``, ``"der++"``, ``"gdumb"``,
        ``"icarl"``, ``"bic"``, ``"il2m"``.
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
    rivals : dict or None, default=None
        Parameters of rivals, with the names and defaults of the command line: ``hidden``, ``epochs``, ``batch``,
        ``learning_rate``, ``momentum``, ``exemplars``, ``strength``, ``random_nodes``, ``neighbours``.
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
    if isinstance(dataset, (str, os.PathLike)):
        name, given = os.fspath(dataset), None
    else:
        given = _in_memory(*dataset)
        name = given[0]
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
        "rivals": rivals or {},
    }
    folder = data_dir or os.environ.get("AUTOACTIVATOR_DATA") or None
    record = json.loads(_core.run(name, list(sections), json.dumps(changes), folder, given))
    for how, absences in (("left out", record.get("left_out", ())), ("failed", record.get("failed", ()))):
        for absence in absences:
            warnings.warn(f"{absence['learner']} {how}: {absence['reason']}", stacklevel=2)
    return record


def data(
    dataset: Path = "digits", data_dir: Path | None = None
) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[np.float32], NDArray[Any]]:
    """Read a data set by name or path, as :func:`run` does.

    Parameters
    ----------
    dataset : str or path-like, default="digits"
        ``"digits"`` (built in), ``"mnist"`` and the like, a folder, or a table, of which one row in five is for testing.
    data_dir : path-like or None, default=None
        Folder that holds the data sets known by name; None takes the environment variable ``AUTOACTIVATOR_DATA``.

    Returns
    -------
    X_train, y_train, X_test, y_test : ndarray
        Rows to learn from and their labels, then rows to be examined on and theirs.

    Examples
    --------
    >>> from autoactivator import cil
    >>> X, y, X_test, y_test = cil.data("digits")
    >>> X.shape, X_test.shape, y[:3]
    ((1438, 64), (359, 64), array([0, 1, 2]))
    """
    folder = data_dir or os.environ.get("AUTOACTIVATOR_DATA") or None
    names, *parts = _core.data(os.fspath(dataset), folder)
    labels = rows.named(names)
    (x, y), (x_test, y_test) = [
        (np.frombuffer(x, np.float32).reshape(-1, width), labels[np.frombuffer(codes, np.uint32)])
        for x, width, codes in parts
    ]
    return x, y, x_test, y_test


def tasks(y: Labels, scenario: str, seed: int = 0) -> list[NDArray[Any]]:
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


def task_sizes(scenario: str, n_classes: int) -> list[int]:
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


def meaning(protocol: str) -> str:
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


def accuracy(
    learner: "Learner",
    X: Rows,
    y: Labels,
    tasks: Sequence[ArrayLike],
    protocol: str = "instance",
    seed: int = 0,
) -> list[float]:
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


def metrics(R: Sequence[Sequence[float]]) -> dict[str, float]:
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


def plot(record: Mapping[str, Any], ax: Any = None) -> Any:
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


def _in_memory(
    x_train: Rows, y_train: Labels, x_test: Rows, y_test: Labels
) -> tuple[str, NDArray[np.float32], list[str], NDArray[np.float32], list[str]]:
    named = [[str(label) for label in np.asarray(y).tolist()] for y in (y_train, y_test)]
    return "arrays", rows.rows(x_train), named[0], rows.rows(x_test), named[1]
