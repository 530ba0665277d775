"""What runs in a worker: files or batches of rows in, the bytes of a partial memory out.

A :class:`Task` is sent by value and holds everything a worker needs. An engine may run it more than once.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _core
from ..error import AutoActivatorError, BadModelError
from .files import at_hand

ROWS_AT_A_TIME = 1 << 16
"""Approximate number of rows passed on at a time."""


@dataclass(frozen=True)
class Task:
    """How rows become sums.

    Parameters
    ----------
    pool : bytes
        The pool, as a model file that has learned nothing.
    binding : str
        What the sums are checked against. It refuses a worker with another version or another pool.
    label : str or None
        Column that holds the class.
    columns : tuple of str
        Columns that hold the features.
    single : bool
        Whether to send sums in single precision.
    checkpoint : str or None
        Folder where partial memories are kept, so that a job can resume.
    """

    pool: bytes
    binding: str
    label: str | None
    columns: tuple[str, ...]
    single: bool
    checkpoint: str | None

    def known(self, files: Iterable[str]) -> list[tuple[str, str]]:
        """The hash of each file's content, with the file."""
        return [(_sha256(file), file) for file in files]

    def sum_files(self, files: list[tuple[str, str]]) -> bytes:
        """The partial memory of files, each given by hash and name; taken from the checkpoint if it is there."""
        kept = self._kept(files)
        if kept is not None and kept.exists():
            try:
                return self.add_up(kept.read_bytes())
            except BadModelError:
                pass  # Cut off by a crash: sum the files again.
        share = self.share()
        for _, file in files:
            with at_hand(file) as path, named(path, file):
                share.add_file(path, file, self.label, list(self.columns))
        partial = share.to_bytes(self.single)
        if kept is not None:
            _write(kept, partial)
        return partial

    def sum_batches(self, batches: Iterable[Any]) -> bytes | None:
        """The partial memory of Arrow batches; None if they have no rows."""
        import pyarrow as pa

        share, seen = self.share(), False
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.arrow")
            for rows in _together(batches):
                seen = True
                with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, rows.schema) as stream:
                    stream.write_table(rows)
                with named(path, "the rows"):
                    share.add_rows(path, self.label, list(self.columns))
        return share.to_bytes(self.single) if seen else None

    def add_up(self, *partials: bytes) -> bytes:
        """The sum of partial memories."""
        return _core.add_up(list(partials), self.single)

    def share(self) -> _core.Share:
        """An empty share over the pool, on one thread, because an engine gives each task one core."""
        os.environ.setdefault("RAYON_NUM_THREADS", "1")
        pool = _core.Model.from_bytes(self.pool)
        pool.check_binding(self.binding)
        return _core.Share(pool)

    def _kept(self, files: list[tuple[str, str]]) -> Path | None:
        """The checkpoint file for these files over this pool; None without a checkpoint folder."""
        if self.checkpoint is None:
            return None
        key = [self.binding, self.label, self.columns, self.single, sorted(sha256 for sha256, _ in files)]
        return Path(self.checkpoint, hashlib.sha256(repr(key).encode()).hexdigest()[:32] + ".partial")


def _sha256(file: str) -> str:
    with at_hand(file) as path, named(path, file):
        return _core.sha256(path)


def _together(batches: Iterable[Any]) -> Iterator[Any]:
    """Joins batches into tables of at least ``ROWS_AT_A_TIME`` rows; only the last may be smaller."""
    import pyarrow as pa

    waiting, n_rows = [], 0
    for batch in batches:
        waiting.append(batch)
        n_rows += batch.num_rows
        if n_rows >= ROWS_AT_A_TIME:
            yield pa.Table.from_batches(waiting)
            waiting, n_rows = [], 0
    if n_rows:
        yield pa.Table.from_batches(waiting)


def _write(path: Path, content: bytes) -> None:
    """Writes a whole file in one step, even if others write the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


@contextmanager
def named(path: str, name: str) -> Iterator[None]:
    """Makes errors name the file `name`, not the copy at `path`."""
    try:
        yield
    except AutoActivatorError as error:
        raise type(error)(str(error).replace(path, name)) from None
