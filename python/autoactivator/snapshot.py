"""Model files, which the command line and Python share."""

import json
from typing import Any

from . import rows
from ._core import Model
from .consolidation import Consolidation
from .deployed import Deployed
from .learner import _as_json
from .reactivation import Reactivation
from .types import LabelType, Path

KINDS: dict[LabelType, str] = {int: "integers", float: "floats", bool: "booleans", str: "strings"}
"""The kind of labels of each type."""


def load(path: Path, label_type: LabelType = None) -> Consolidation | Reactivation | Deployed:
    """Read a model file that Python or the command line has written.

    Parameters
    ----------
    path : path-like
        The file.
    label_type : {None, int, float, bool, str}, default=None
        Type of the labels. None means that of the labels that Python learned last, and integers if nothing but the
        command line or a server has learned and all names are whole numbers.

    Returns
    -------
    Consolidation, Reactivation or Deployed
        The estimator, ready to predict and, unless it is a :class:`Deployed`, to keep learning.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import autoactivator
    >>> model = autoactivator.Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.aact")
    ...     autoactivator.load(Path(folder) / "model.aact").classes_
    ...     autoactivator.load(Path(folder) / "model.aact", label_type=str).classes_
    array([0, 1])
    array(['0', '1'], dtype='<U1')
    """
    return estimator(Model.load(path), label_type)


def estimator(model: Model, label_type: LabelType = None) -> Consolidation | Reactivation | Deployed:
    """The estimator around a compiled model.

    Parameters
    ----------
    model : autoactivator._core.Model
        The model.
    label_type : {None, int, float, bool, str}, default=None
        Type of the labels, as in :func:`load`.

    Returns
    -------
    Consolidation, Reactivation or Deployed
        The estimator.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.snapshot import estimator
    >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
    >>> estimator(model._model).predict([[0.95]])
    array([1])
    """
    parameters = json.loads(model.parameters) or {}
    kinds = {"consolidation": Consolidation, "reactivation": Reactivation, "deployed": Deployed}
    learner = kinds[model.kind](**{name: _given(name, value) for name, value in parameters.items()})
    if model.n_features is not None:
        learner._keep(model, rows.named(model.classes, KINDS.get(label_type, model.labels)))
        learner._made_with = _as_json(learner._parameters())
        learner.n_features_in_ = model.n_features
    return learner


def _given(name: str, value: Any) -> Any:
    """A parameter as a user would write it."""
    if name == "image" and value is not None:
        return f"{value['height']}x{value['width']}x{value['channels']}"
    if name == "class_weights":
        return value or None
    return tuple(value) if isinstance(value, list) else value

