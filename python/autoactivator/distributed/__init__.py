"""Beyond one machine: the same memory, summed by the workers of Ray or Spark.

A memory is a sum. Each worker sums its share of the rows over one pool and sends the sums, never rows; the sums are added
up in a tree, and the driver reads out once. :func:`learn_ray` and :func:`learn_spark` do that and return a
:class:`~autoactivator.Consolidation` like any other. They need ``pip install autoactivator[ray]`` or
``autoactivator[spark]``; without either, ``autoactivator memory`` on the command line does the same under any scheduler.
"""

from .on_ray import learn_ray
from .on_spark import learn_spark

__all__ = ["learn_ray", "learn_spark"]
