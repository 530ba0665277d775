"""Beyond one machine: the same memory, summed by the workers of Ray or Spark.

A memory is a sum. Each worker sums its share of the rows over one pool and sends only the sums, never rows. The sums
are added up in a tree, and the driver solves the readout once. :func:`learn_ray` and :func:`learn_spark` do this and
return an ordinary :class:`~autoactivator.Consolidation`. They need ``pip install autoactivator[ray]`` or
``autoactivator[spark]``. Without either, ``autoactivator memory`` does the same under any scheduler.
"""

from .on_ray import learn_ray
from .on_spark import learn_spark

__all__ = ["learn_ray", "learn_spark"]
