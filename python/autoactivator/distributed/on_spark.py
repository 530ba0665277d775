"""Spark: one partition per share, with partial memories as binary rows, added up by ``treeReduce``."""

import math

from . import job


@job.documented(
    "Spark",
    kind="pyspark.sql.DataFrame",
    rows="data frame",
    more='spark.read.parquet("s3://bucket/more")',
)
def learn_spark(
    rows, model=None, *, label=None, columns=None, sample=None, parts=None, single=False, checkpoint=None
):
    from pyspark.sql import DataFrame, SparkSession

    are_files = not isinstance(rows, DataFrame)
    session = SparkSession.builder.getOrCreate() if are_files else rows.sparkSession
    engine = Engine(session.sparkContext)
    return job.learn(engine, rows, are_files, model, label, columns, sample, parts, single, checkpoint)


class Engine:
    """Spark as :mod:`autoactivator.distributed.job` sees it."""

    def __init__(self, context):
        self._context = context
        self.slots = context.defaultParallelism

    def known(self, task, groups):
        """Hash and name of every file in all groups, in any order."""
        return self._context.parallelize(groups, len(groups)).flatMap(task.known).collect()

    def sum_files(self, task, groups):
        """One partial memory of all groups of files."""
        return _added_up(task, self._context.parallelize(groups, len(groups)).map(task.sum_files))

    def sum_rows(self, task, rows):
        """One partial memory of a data frame: every partition is summed where it is read."""
        import pyarrow as pa

        def sums(batches):
            partial = task.sum_batches(batches)
            if partial is not None:
                yield pa.RecordBatch.from_arrays([pa.array([partial], pa.binary())], ["partial"])

        partials = rows.mapInArrow(sums, "partial binary").rdd.map(lambda row: bytes(row.partial))
        return _added_up(task, partials)

    def some(self, rows, n_rows):
        """The first rows of a data frame."""
        return rows.limit(n_rows).toArrow()


def _added_up(task, partials):
    """The sum of partial memories, added up in a tree; a few of them come to the driver."""
    depth = max(1, math.ceil(math.log(partials.getNumPartitions(), job.FAN_IN)))
    return partials.treeReduce(task.add_up, depth)
