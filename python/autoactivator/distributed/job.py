"""What the driver does: make the pool, have every share summed, add the sum to the memory, solve the readout once.

The memory changes in one step at the very end: a job that fails or is stopped leaves it unchanged. An *engine* is what
Ray and Spark have in common here: ``slots`` (tasks at a time), ``known`` (the hash of each file), ``sum_files`` and
``sum_rows`` (one partial memory for all), ``some`` (a few rows). :func:`documented` writes the docstrings of
``learn_ray`` and ``learn_spark``.
"""

import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from .. import error
from .._core import POOL_ROWS, Model
from ..consolidation import Consolidation
from ..snapshot import estimator
from ..types import Path
from .files import at_hand, listed
from .worker import Task

Item = TypeVar("Item")
Function = TypeVar("Function", bound=Callable[..., Any])

Paths: TypeAlias = Path | Sequence[Path]
"""Files and folders."""

Files: TypeAlias = list[tuple[str, str]]
"""Files, each with the hash of its content before its name."""

logger = logging.getLogger("autoactivator")

SAMPLE_FILES = 8
"""Number of files whose rows make the pool, if none are named."""

TASKS_A_SLOT = 4
"""Partial memories per slot: few enough to send, and small enough that losing one costs little work."""

FAN_IN = 4
"""Partial memories that one task adds up, approximately; with Spark, also how many the driver holds at the end."""

DOCSTRING = """Learn rows with the workers of a {engine} cluster, as one task.

Parameters
----------
rows : path-like, list of path-like or {kind}
    Feature tables - files, folders, addresses such as ``s3://bucket/folder`` - that workers open themselves, or a
    {rows}. The model's ledger lists files by the hash of their content, so none is learned twice. Rows of a {rows} come
    from no file, so it is up to the caller to learn them only once.
model : Consolidation or None, default=None
    The memory to add to, or a new model that sets the parameters. It is not changed.
label : str or None, default=None
    Column that holds the class; None takes the one called class or label.
columns : list of str or None, default=None
    Columns that hold the features; None takes the one column of lists, or else all columns.
sample : path-like, list of path-like or None, default=None
    Tables whose rows make the pool of a new memory; None takes eight of the files, or the first rows of a {rows}.
parts : int or None, default=None
    Number of partial memories that files are summed into; None makes four per core.
single : bool, default=False
    Whether to send sums in single precision, which halves their size.
checkpoint : path-like or None, default=None
    Folder that all workers share, where partial memories of files are kept, so that a stopped job can resume.

Returns
-------
Consolidation
    What a single machine would have learned. If this raises, nothing has changed.

Examples
--------
>>> from autoactivator.distributed import {name}
>>> model = {name}("s3://bucket/embeddings", label="class")  # doctest: +SKIP
>>> model = {name}({more}, model, label="class")  # doctest: +SKIP
"""


class Engine(Protocol):
    """What Ray and Spark have in common here."""

    slots: int

    def known(self, task: Task, groups: list[list[str]]) -> Files: ...

    def sum_files(self, task: Task, groups: list[Files]) -> bytes: ...

    def sum_rows(self, task: Task, rows: Any) -> bytes | None: ...

    def some(self, rows: Any, n_rows: int) -> Any: ...


def documented(engine: str, kind: str, rows: str, more: str) -> Callable[[Function], Function]:
    """Documents a function that learns with an engine, from one shared docstring."""

    def document(function: Function) -> Function:
        function.__doc__ = DOCSTRING.format(engine=engine, kind=kind, rows=rows, more=more, name=function.__name__)
        return function

    return document


def learn(
    engine: Engine,
    rows: Any,
    are_files: bool,
    model: Consolidation | None,
    label: str | None,
    columns: str | Sequence[str] | None,
    sample: Paths | None,
    parts: int | None,
    single: bool,
    checkpoint: Path | None,
) -> Consolidation:
    """Learns rows with the workers of an engine and returns the estimator; the arguments are those of ``learn_ray``."""
    model = Consolidation() if model is None else model
    if not isinstance(model, Consolidation):
        raise TypeError(f"the model is a {type(model).__name__}: only a Consolidation has a memory that adds up")
    core = _begun(model)
    words = (label, [columns] if isinstance(columns, str) else list(columns or []))
    with ExitStack() as stack, in_our_words():
        files = listed(rows) if are_files else None
        if core.n_features is None:
            core.begin(_sample(engine, rows, files, sample, stack), *words)
        task = Task(
            pool=core.pool_alone().to_bytes(),
            binding=core.binding,
            label=label,
            columns=tuple(words[1]),
            single=single,
            checkpoint=None if checkpoint is None else os.path.abspath(checkpoint),
        )
        if files is not None:
            partial = _sum_files(engine, task, files, core, parts)
        else:
            partial = engine.sum_rows(task, rows)
        if partial is not None:
            core.absorb(partial)
    return estimator(core)


def _begun(model: Consolidation) -> Model:
    """A copy of the compiled model."""
    if not model._has_learned():
        return model._new_model()
    core = Model.from_bytes(model._model.to_bytes())
    core.set_parameters(json.dumps(model._changed_parameters()))
    return core


def _sample(engine: Engine, rows: Any, files: list[str] | None, sample: Paths | None, stack: ExitStack) -> list[str]:
    """Tables that make the pool, as paths."""
    if sample is None and files is not None:
        places = np.unique(np.linspace(0, len(files) - 1, SAMPLE_FILES).round().astype(int))
        sample = [files[place] for place in places]
    if sample is None:
        import pyarrow as pa

        path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "sample.arrow")
        some = engine.some(rows, POOL_ROWS)
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, some.schema) as stream:
            stream.write_table(some)
        return [path]
    return [stack.enter_context(at_hand(file)) for file in listed(sample)]


def _sum_files(engine: Engine, task: Task, files: list[str], core: Model, parts: int | None) -> bytes | None:
    """The partial memory of all files whose content is new; None if there are none."""
    known = {sha256 for sha256, _ in core.ledger}
    new = {}
    found = engine.known(task, _dealt(files, TASKS_A_SLOT * engine.slots))
    for sha256, file in sorted(found, key=lambda known: known[1]):
        if sha256 in known or sha256 in new:
            logger.info("skipped %s: its content has already been learned", file)
        else:
            new[sha256] = file
    if not new:
        logger.info("nothing to add: all files have already been learned")
        return None
    return engine.sum_files(task, _dealt(list(new.items()), parts or TASKS_A_SLOT * engine.slots))


def _dealt(items: list[Item], n_groups: int) -> list[list[Item]]:
    """Items dealt to at most `n_groups` groups, each with at least one item."""
    n_groups = max(1, min(len(items), n_groups))
    return [items[group::n_groups] for group in range(n_groups)]


@contextmanager
def in_our_words() -> Iterator[None]:
    """Engines wrap the exceptions of workers in their own; this raises the worker's exception again."""
    try:
        yield
    except Exception as trouble:
        said = re.search(r"autoactivator\.error\.(\w+): (.*)", str(trouble))
        if said is None or type(trouble).__module__ == error.__name__:
            raise
        raise getattr(error, said[1], error.AutoActivatorError)(said[2]) from trouble
