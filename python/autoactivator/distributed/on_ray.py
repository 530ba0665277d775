"""Ray: one task per share, with partial memories in the object store, which spills to disk what does not fit."""

from collections.abc import Callable, Sequence
from typing import Any

from ..consolidation import Consolidation
from ..types import Path
from . import job
from .worker import Task


@job.documented("Ray", kind="ray.data.Dataset", rows="data set", more='"s3://bucket/more"')
def learn_ray(
    rows: Any,
    model: Consolidation | None = None,
    *,
    label: str | None = None,
    columns: str | Sequence[str] | None = None,
    sample: job.Paths | None = None,
    parts: int | None = None,
    single: bool = False,
    checkpoint: Path | None = None,
) -> Consolidation:
    import ray
    import ray.data

    if not ray.is_initialized():
        ray.init()
    are_files = not isinstance(rows, ray.data.Dataset)
    return job.learn(Engine(), rows, are_files, model, label, columns, sample, parts, single, checkpoint)


class Engine:
    """Ray as :mod:`autoactivator.distributed.job` sees it."""

    def __init__(self) -> None:
        import ray

        self.slots = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def known(self, task: Task, groups: list[list[str]]) -> job.Files:
        """Hash and name of every file in all groups, in any order."""
        import ray

        task = ray.put(task)
        knowing = _remote(lambda task, group: task.known(group))
        known = _finished([knowing.remote(task, group) for group in groups])
        return [file for group in known for file in group]

    def sum_files(self, task: Task, groups: list[job.Files]) -> bytes:
        """One partial memory of all groups of files."""
        import ray

        task = ray.put(task)
        # A worker reports that it is done separately from its sums, which stay where they are.
        summing = _remote(lambda task, group: (task.sum_files(group), None), num_returns=2)
        sums, done = zip(*[summing.remote(task, group) for group in groups], strict=True)
        _finished(list(done))
        return _added_up(task, list(sums))

    def sum_rows(self, task: Task, rows: Any) -> bytes | None:
        """One partial memory of a data set: every block is summed where it is read."""
        import pyarrow as pa
        import ray

        task = ray.put(task)

        def sums(block: Any) -> Any:
            partial = ray.get(task).sum_batches(block.to_batches())
            return pa.table({"partial": pa.array([] if partial is None else [partial], pa.large_binary())})

        blocks = rows.map_batches(sums, batch_size=None, batch_format="pyarrow", num_cpus=1).to_arrow_refs()
        full = _finished([_remote(lambda block: block.num_rows > 0).remote(block) for block in blocks])
        of_block = _remote(lambda task, block: task.add_up(*block["partial"].to_pylist()))
        partials = [of_block.remote(task, block) for block, has_rows in zip(blocks, full, strict=True) if has_rows]
        return _added_up(task, partials) if partials else None

    def some(self, rows: Any, n_rows: int) -> Any:
        """The first rows of a data set."""
        return rows.take_batch(n_rows, batch_format="pyarrow")


def _added_up(task: Any, partials: list[Any]) -> bytes:
    """The sum of partial memories, added up in a tree on the workers; only the sum comes to the driver."""
    import ray

    adding = _remote(lambda task, *partials: task.add_up(*partials))
    while len(partials) > 1:
        groups = [partials[at : at + job.FAN_IN] for at in range(0, len(partials), job.FAN_IN)]
        partials = [adding.remote(task, *group) for group in groups]
    return ray.get(partials[0])


def _remote(function: Callable[..., Any], **options: Any) -> Any:
    import ray

    return ray.remote(function).options(num_cpus=1, **options)


def _finished(references: list[Any]) -> list[Any]:
    """All results, which are small, or the first error.

    After an error, running tasks are left to finish: cancelling one that is about to end can crash the driver.
    """
    import ray

    waiting = references
    while waiting:
        done, waiting = ray.wait(waiting)
        ray.get(done)
    return ray.get(references)
