"""What the driver does: make the pool, have every share summed, add the sum to the memory, read out once.

The memory changes at the very end and at once: a job that fails or is stopped leaves it as it was. An *engine* is what Ray
and Spark have in common here: ``slots`` (tasks at a time), ``known`` (the hash of each file), ``sum_files`` and ``sum_rows``
(one partial memory for all), ``some`` (a few rows).
"""

import logging
import os
import re
import tempfile
from contextlib import ExitStack, contextmanager

import numpy as np

from .. import error
from .._core import Model
from ..consolidation import Consolidation
from ..rows import kind
from ..snapshot import estimator
from .files import at_hand, listed
from .worker import Task

logger = logging.getLogger("autoactivator")

POOL_ROWS = 1 << 16
"""Rows of a data set that make the pool; as many as the method looks at."""

SCORED = 512
"""Rows of a data set that calibrate probabilities; as many as the method looks at."""

SAMPLE_FILES = 8
"""Files whose rows make the pool and calibrate probabilities, when none are named."""

TASKS_A_SLOT = 4
"""Partial memories for every task that runs at a time: few to send, and not much to do again when one is lost."""


def learn(engine, rows, are_files, model, label, columns, sample, parts, single, checkpoint):
    """Learns rows with the workers of an engine, and returns the estimator; the words are those of ``learn_ray``."""
    model = Consolidation() if model is None else model
    if not isinstance(model, Consolidation):
        raise TypeError(f"the model is a {type(model).__name__}: only a Consolidation has a memory that adds up")
    core, label_type = _begun(model)
    words = (label, [columns] if isinstance(columns, str) else list(columns or []))
    with ExitStack() as stack, in_our_words():
        files = listed(rows) if are_files else None
        tables = _sample(engine, rows, files, sample, core.n_features is None, stack)
        if core.n_features is None:
            core.begin(tables, *words)
        task = Task(
            pool=core.pool_alone().to_bytes(),
            binding=core.binding,
            label=label,
            columns=tuple(words[1]),
            single=single,
            checkpoint=None if checkpoint is None else os.path.abspath(checkpoint),
        )
        if are_files:
            partial = _sum_files(engine, task, files, core, parts)
        else:
            partial = engine.sum_rows(task, rows)
        if partial is not None:
            core.absorb(partial, tables, *words)
    return estimator(core, label_type)


def _begun(model):
    """A copy of the compiled model, and what its labels are."""
    if not model._has_learned():
        return model._new_model(), None
    model._check_unchanged()
    label_type = {"integers": int, "strings": str}.get(kind(model._labels)) if len(model._labels) else None
    return Model.from_bytes(model._model.to_bytes()), label_type


def _sample(engine, rows, files, sample, for_pool, stack):
    """Tables that make the pool and calibrate probabilities, as paths."""
    if files is None and sample is None:
        import pyarrow as pa

        path = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "sample.arrow")
        some = engine.some(rows, POOL_ROWS if for_pool else SCORED)
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, some.schema) as stream:
            stream.write_table(some)
        return [path]
    if sample is None:
        places = np.unique(np.linspace(0, len(files) - 1, SAMPLE_FILES).round().astype(int))
        sample = [files[place] for place in places]
    return [stack.enter_context(at_hand(file)) for file in listed(sample)]


def _sum_files(engine, task, files, core, parts):
    """The partial memory of all files whose content is new; None when there is none."""
    known = {sha256 for sha256, _ in core.ledger}
    new = {}
    for sha256, file in sorted(engine.known(task, files), key=lambda known: known[1]):
        if sha256 in known or sha256 in new:
            logger.info("passed over %s: what it holds has been learned", file)
        else:
            new[sha256] = file
    if not new:
        logger.info("nothing to add: all files have been learned")
        return None
    n_parts = max(1, min(len(new), parts or TASKS_A_SLOT * engine.slots))
    items = list(new.items())
    return engine.sum_files(task, [items[part::n_parts] for part in range(n_parts)])


@contextmanager
def in_our_words():
    """Engines wrap what a worker raises in words of their own; what comes out is what the worker said."""
    try:
        yield
    except Exception as trouble:
        said = re.search(r"autoactivator\.error\.(\w+): (.*)", str(trouble))
        if said is None or type(trouble).__module__ == error.__name__:
            raise
        raise getattr(error, said[1], error.AutoActivatorError)(said[2]) from trouble
