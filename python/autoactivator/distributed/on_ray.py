"""Ray: a task for each share, partial memories in the object store, which spills what does not fit."""

from . import job

FAN_IN = 4
"""Partial memories that one task adds up."""


def learn_ray(
    rows, model=None, *, label=None, columns=None, sample=None, parts=None, single=False, checkpoint=None
):
    """Learn rows with the workers of a Ray cluster, as one task.

    Parameters
    ----------
    rows : path-like, list of path-like or ray.data.Dataset
        Feature tables - files, folders, addresses such as ``s3://bucket/folder`` - that workers open themselves, or a
        data set. Files enter the ledger of the model by the hash of what they hold, and none is learned twice; rows of a
        data set come from no file, and the caller answers for learning them once.
    model : Consolidation or None, default=None
        The memory to add to, or one that has learned nothing for its parameters. It is not changed.
    label : str or None, default=None
        Column that holds the class; None takes one called class or label.
    columns : list of str or None, default=None
        Columns that hold the features; None takes the one list of numbers, or all columns.
    sample : path-like, list of path-like or None, default=None
        Tables whose rows make the pool of a new memory, and calibrate probabilities; None takes eight of the files, or the
        first rows of a data set.
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
    >>> from autoactivator.distributed import learn_ray
    >>> model = learn_ray("s3://bucket/embeddings", label="class")  # doctest: +SKIP
    >>> model = learn_ray("s3://bucket/embeddings", model, label="class")  # doctest: +SKIP
    """
    import ray
    import ray.data

    if not ray.is_initialized():
        ray.init()
    are_files = not isinstance(rows, ray.data.Dataset)
    return job.learn(Engine(), rows, are_files, model, label, columns, sample, parts, single, checkpoint)


class Engine:
    """Ray as :mod:`autoactivator.distributed.job` sees it."""

    def __init__(self):
        import ray

        self.slots = max(1, int(ray.cluster_resources().get("CPU", 1)))

    def known(self, task, files):
        """Hash and name of each file, in any order."""
        import ray

        task = ray.put(task)
        n_parts = min(len(files), job.TASKS_A_SLOT * self.slots)
        knowing = _remote(lambda task, part: [task.known(file) for file in part])
        parts = _finished([knowing.remote(task, files[part::n_parts]) for part in range(n_parts)])
        return [known for part in parts for known in part]

    def sum_files(self, task, groups):
        """One partial memory of all groups of files."""
        import ray

        task = ray.put(task)
        # A worker's word that it is done comes apart from its sums, which stay where they are.
        summing = _remote(lambda task, group: (task.sum_files(group), None), num_returns=2)
        sums, done = zip(*[summing.remote(task, group) for group in groups], strict=True)
        _finished(list(done))
        return _added_up(task, list(sums))

    def sum_rows(self, task, rows):
        """One partial memory of a data set: every block becomes sums where it is read."""
        import pyarrow as pa
        import ray

        task = ray.put(task)

        def sums(block):
            partial = ray.get(task).sum_batches(block.to_batches())
            return pa.table({"partial": pa.array([] if partial is None else [partial], pa.large_binary())})

        blocks = rows.map_batches(sums, batch_size=None, batch_format="pyarrow", num_cpus=1).to_arrow_refs()
        full = _finished([_remote(lambda block: block.num_rows > 0).remote(block) for block in blocks])
        of_block = _remote(lambda task, block: task.add_up(*block["partial"].to_pylist()))
        partials = [of_block.remote(task, block) for block, has_rows in zip(blocks, full, strict=True) if has_rows]
        return _added_up(task, partials) if partials else None

    def some(self, rows, n_rows):
        """The first rows of a data set."""
        return rows.take_batch(n_rows, batch_format="pyarrow")


def _added_up(task, partials):
    """The sum of partial memories, added up in a tree wherever they are; only it comes to the driver."""
    import ray

    adding = _remote(lambda task, *partials: task.add_up(*partials))
    while len(partials) > 1:
        groups = [partials[at : at + FAN_IN] for at in range(0, len(partials), FAN_IN)]
        partials = [adding.remote(task, *group) for group in groups]
    return ray.get(partials[0])


def _remote(function, **options):
    import ray

    return ray.remote(function).options(num_cpus=1, **options)


def _finished(references):
    """Small results, all of them, or the first error.

    Tasks that still run then are left to end by themselves: calling off one that is just ending can crash the driver.
    """
    import ray

    waiting = references
    while waiting:
        done, waiting = ray.wait(waiting)
        ray.get(done)
    return ray.get(references)
