"""Class-incremental learning that adds a class in seconds on a CPU, without old data and without forgetting.

Two estimators with the interface of scikit-learn: :class:`Consolidation`, one additive memory for all tasks, and
:class:`Reactivation`, the paper's learner. Their ``partial_fit`` takes new classes at any time. :func:`load` reads the
model files of the command line, :class:`TextEncoder` turns sentences into rows, :class:`Client` talks to a server, :mod:`autoactivator.cil` evaluates learners, and
:mod:`autoactivator.error` has the exceptions.
"""

from . import cil, error
from ._core import VERSION as __version__
from .client import Client
from .consolidation import Consolidation
from .deployed import Deployed
from .reactivation import Reactivation
from .snapshot import load
from .text import TextEncoder

__all__ = [
    "Client",
    "Consolidation",
    "Deployed",
    "Reactivation",
    "TextEncoder",
    "__version__",
    "cil",
    "error",
    "load",
]
