"""Spark: a partition for each share, partial memories as binary rows, added up by ``treeReduce``."""

import math

from . import job

FAN_IN = 4
"""Partial memories that one task adds up, about; and that the driver holds at the end."""


def learn_spark(
    rows, model=None, *, label=None, columns=None, sample=None, parts=None, single=False, checkpoint=None
):
    """Learn rows with the workers of a Spark cluster, as one task.

    Parameters
    ----------
    rows : path-like, list of path-like or pyspark.sql.DataFrame
        Feature tables - files, folders, addresses such as ``s3://bucket/folder`` - that workers open themselves, or a
        data frame. Files enter the ledger of the model by the hash of what they hold, and none is learned twice; rows of a
        data frame come from no file, and the caller answers for learning them once.
    model : Consolidation or None, default=None
        The memory to add to, or one that has learned nothing for its parameters. It is not changed.
    label : str or None, default=None
        Column that holds the class; None takes one called class or label.
    columns : list of str or None, default=None
        Columns that hold the features; None takes the one list of numbers, or all columns.
    sample : path-like, list of path-like or None, default=None
        Tables whose rows make the pool of a new memory, and calibrate probabilities; None takes eight of the files, or the
        first rows of a data frame.
    parts : int or None, default=None
        Partial memories that files are summed into; None makes four for each core.
    single : bool, default=False
        Whether sums travel in single precision, which halves them.
    checkpoint : path-like or None, default=None
        Folder that all workers see, where partial memories of files are kept: a job that was stopped goes on from there.

    Returns
    -------
    Consolidation
        What a single machine would have learned. When this raises, nothing has changed anywhere.

    Examples
    --------
    >>> from autoactivator.distributed import learn_spark
    >>> model = learn_spark("s3://bucket/embeddings", label="class")  # doctest: +SKIP
    >>> model = learn_spark(spark.read.parquet("s3://bucket/more"), model, label="class")  # doctest: +SKIP
    """
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

    def known(self, task, files):
        """Hash and name of each file, in any order."""
        n_parts = min(len(files), job.TASKS_A_SLOT * self.slots)
        return self._context.parallelize(files, n_parts).map(task.known).collect()

    def sum_files(self, task, groups):
        """One partial memory of all groups of files."""
        return _added_up(task, self._context.parallelize(groups, len(groups)).map(task.sum_files))

    def sum_rows(self, task, rows):
        """One partial memory of a data frame: every partition becomes sums where it is read."""
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
    depth = max(1, math.ceil(math.log(partials.getNumPartitions(), FAN_IN)))
    return partials.treeReduce(task.add_up, depth)
