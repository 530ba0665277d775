"""Spark: one partition per share, with partial memories as binary rows, added up by ``treeReduce``."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..consolidation import Consolidation
from ..types import Path
from . import job
from .worker import Task


@job.documented(
    "Spark",
    kind="pyspark.sql.DataFrame",
    rows="data frame",
    more='spark.read.parquet("s3://bucket/more")',
)
def learn_spark(
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
    from pyspark.sql import DataFrame, SparkSession

    are_files = not isinstance(rows, DataFrame)
    session = SparkSession.builder.getOrCreate() if are_files else rows.sparkSession
    engine = Engine(session.sparkContext)
    return job.learn(engine, rows, are_files, model, label, columns, sample, parts, single, checkpoint)


class Engine:
    """Spark as :mod:`autoactivator.distributed.job` sees it."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.slots = context.defaultParallelism

    def known(self, task: Task, groups: list[list[str]]) -> job.Files:
        """Hash and name of every file in all groups, in any order."""
        return self._context.parallelize(groups, len(groups)).flatMap(task.known).collect()

    def sum_files(self, task: Task, groups: list[job.Files]) -> bytes:
        """One partial memory of all groups of files."""
        return _added_up(task, self._context.parallelize(groups, len(groups)).map(task.sum_files))

    def sum_rows(self, task: Task, rows: Any) -> bytes | None:
        """One partial memory of a data frame: every partition is summed where it is read."""
        import pyarrow as pa

        def sums(batches: Iterable[Any]) -> Iterator[Any]:
            partial = task.sum_batches(batches)
            if partial is not None:
                yield pa.RecordBatch.from_arrays([pa.array([partial], pa.binary())], ["partial"])

        partials = rows.mapInArrow(sums, "partial binary").rdd.map(lambda row: bytes(row.partial))
        return _added_up(task, partials)

    def some(self, rows: Any, n_rows: int) -> Any:
        """The first rows of a data frame."""
        return rows.limit(n_rows).toArrow()


def _added_up(task: Task, partials: Any) -> Any:
    """The sum of partial memories, added up in a tree; a few of them come to the driver."""
    depth = max(1, math.ceil(math.log(partials.getNumPartitions(), job.FAN_IN)))
    return partials.treeReduce(task.add_up, depth)
