"""MLflow: models of this package in its runs and its registry, and the figures of a record as its metrics.

A logged model is a folder with the model file of this package. MLflow loads it as a ``pyfunc``, too, so that its own tools
can serve it. Only this module needs ``mlflow``: ``pip install autoactivator[mlflow]``.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mlflow
from mlflow import pyfunc
from mlflow.models import Model

from . import __version__, types
from .learner import Learner
from .snapshot import load

FLAVOUR = "autoactivator"
"""The name of our flavour in the file ``MLmodel``."""

FILE = "model.aact"
"""The model file in a logged folder."""


def save_model(model: Learner, path: types.Path, mlflow_model: Model | None = None, signature: Any = None) -> None:
    """Write a model as a folder that MLflow can load.

    Parameters
    ----------
    model : Consolidation, Reactivation or Deployed
        The model.
    path : path-like
        The folder, which must not exist.
    mlflow_model : mlflow.models.Model or None, default=None
        What MLflow has already noted about the model.
    signature : mlflow.models.ModelSignature or None, default=None
        The types of what goes in and comes out. With a parameter ``reject``, the ``pyfunc`` takes that of ``predict``.

    Returns
    -------
    None

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import autoactivator.mlflow
    >>> model = autoactivator.Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     autoactivator.mlflow.save_model(model, Path(folder) / "model")
    ...     autoactivator.mlflow.load_model(Path(folder) / "model").predict([[0.95]])
    array(['high'], dtype='<U4')
    """
    folder = Path(path)
    folder.mkdir(parents=True)
    model.save(folder / FILE)
    described = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        described.signature = signature
    described.add_flavor(FLAVOUR, data=FILE, kind=model._learned().kind, autoactivator_version=__version__)
    pyfunc.add_to_model(described, loader_module=__name__, data=FILE, python_env="python_env.yaml")
    (folder / "requirements.txt").write_text(f"autoactivator=={__version__}\nmlflow-skinny\n", encoding="utf-8")
    environment = "dependencies:\n- -r requirements.txt\n"
    (folder / "python_env.yaml").write_text(environment, encoding="utf-8")
    described.save(str(folder / "MLmodel"))


def log_model(
    model: Learner, name: str = "model", registered_model_name: str | None = None, signature: Any = None
) -> Any:
    """Log a model to the current run, and register it if it is given a name there.

    Parameters
    ----------
    model : Consolidation, Reactivation or Deployed
        The model.
    name : str, default="model"
        Its name in the run.
    registered_model_name : str or None, default=None
        Its name in the registry, where this becomes the next version of it.
    signature : mlflow.models.ModelSignature or None, default=None
        The types of what goes in and comes out, as in :func:`save_model`.

    Returns
    -------
    mlflow.models.model.ModelInfo
        What MLflow says about it; :func:`load_model` takes its ``model_uri``.

    Examples
    --------
    >>> import autoactivator.mlflow
    >>> info = autoactivator.mlflow.log_model(model, registered_model_name="birds")  # doctest: +SKIP
    """
    import autoactivator.mlflow as flavour

    return Model.log(
        artifact_path=None,
        name=name,
        flavor=flavour,
        model=model,
        registered_model_name=registered_model_name,
        signature=signature,
    )


def load_model(model_uri: types.Path, label_type: types.LabelType = None) -> Learner:
    """Read a model that was logged or saved.

    Parameters
    ----------
    model_uri : str or path-like
        Its address, such as ``"models:/birds/1"``, or its folder.
    label_type : {None, int, float, bool, str}, default=None
        Type of the labels, as in :func:`autoactivator.load`.

    Returns
    -------
    Consolidation, Reactivation or Deployed
        The model, as it was.

    Examples
    --------
    >>> import autoactivator.mlflow
    >>> model = autoactivator.mlflow.load_model("models:/birds/1")  # doctest: +SKIP
    """
    folder = mlflow.artifacts.download_artifacts(str(model_uri))
    return load(Path(folder) / FILE, label_type)


def log_record(record: Mapping[str, Any]) -> None:
    """Log the figures of an evaluation to the current run.

    Parameters
    ----------
    record : dict
        What :func:`autoactivator.cil.run` returned, or ``autoactivator run --json`` wrote. The mean over all runs of each
        figure becomes a metric such as ``consolidation/instance/aca``; data set, scenario and seed become parameters.

    Returns
    -------
    None

    Examples
    --------
    >>> from autoactivator import cil
    >>> import autoactivator.mlflow
    >>> record = cil.run("digits", learners=["nearest-mean"], protocols=["instance"], seeds=1)
    >>> autoactivator.mlflow.log_record(record)  # doctest: +SKIP
    """
    mlflow.log_params({"dataset": record["dataset"]["name"], "scenario": record["scenario"]})
    for result in record["results"]:
        # MLflow allows no equals sign, as in task-batch=all.
        place = f"{result['learner']}/{result['protocol']}".replace("=", "-")
        means = {name: value.get("mean") if isinstance(value, Mapping) else value for name, value in result.items()}
        figures = {name: mean for name, mean in means.items() if isinstance(mean, (int, float))}
        mlflow.log_metrics({f"{place}/{name}": mean for name, mean in figures.items()})


class _Predictor:
    """A model as MLflow calls it."""

    def __init__(self, model: Learner) -> None:
        self.model = model

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """The label of each row; with the parameter ``reject``, None where a row looks like nothing learned."""
        return self.model.predict(model_input, **(params or {}))


def _load_pyfunc(path: str) -> _Predictor:
    """What MLflow calls to load a model by its own means."""
    return _Predictor(load(path))
