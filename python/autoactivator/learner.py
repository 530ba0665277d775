"""What the learners have in common: scikit-learn's interface around one compiled model.

:class:`Learner` turns arrays into rows, calls the model, and turns its answers into labels. The model does all checks,
and an estimator changes only after the model has learned.
"""

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, estimator_html_repr

from . import rows, text
from ._core import Encoder, Model
from .error import FeatureCountError, NoFeaturesError, ParameterError, TooFewRowsError
from .summary import html, line
from .types import Found, Label, Labels, Path, Rows, Weights

OF_PYTHON = frozenset({"backbone", "class_weight", "n_jobs", "random_state", "verbose"})
"""Arguments of the estimators that are no parameters of the method."""


class Learned(dict[str, Any]):
    """What was understood of a task; printed, it is the line that the command line shows."""

    def __repr__(self) -> str:
        return str(self["summary"])

    def warn(self) -> None:
        """Warns of what may be a mistake."""
        for warning in self.get("warnings", []):
            warnings.warn(warning, stacklevel=4)


class Learner(ClassifierMixin, BaseEstimator):
    """Base class of the estimators; not to be used directly.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        All labels learned so far, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the first rows learned had them. Rows in another order are put right by name, and rows
        with other names are refused.
    learned_ : dict
        What was understood of the last task: its ``rows``, ``n_features``, ``new_classes`` and ``known_classes`` with
        their numbers of rows, ``seconds``, ``warnings``, and all of it in one line as ``summary``.
    """

    classes_: Found
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    learned_: Learned

    if TYPE_CHECKING:
        # These are scikit-learn's, which has no types.
        def score(self, X: Rows, y: Labels, sample_weight: Weights | None = None) -> float: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...

    def fit(self, X: Rows, y: Labels) -> Self:
        """Learn from scratch: all rows are one task.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers.

        Returns
        -------
        self : object
            The estimator. If this raises, the estimator is unchanged.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"]).predict([[0.95]])
        array(['high'], dtype='<U4')
        """
        return self._learn(X, y, self._new_model(), np.empty(0))

    def partial_fit(self, X: Rows, y: Labels, classes: object = None) -> Self:
        """Learn one more task. Its classes may be new and need not be declared in advance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers as before.
        classes : ignored
            Accepted so that programs written for scikit-learn keep working.

        Returns
        -------
        self : object
            The estimator. If this raises, also on Ctrl-C, the estimator is unchanged.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().partial_fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
        >>> model.partial_fit([[5.0], [5.1]], ["huge", "huge"]).classes_
        array(['high', 'huge', 'low'], dtype='<U4')
        """
        return self._learn_more(X, y)

    def predict(self, X: Rows) -> Found:
        """Predict the label of each row, judged alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).predict([[0.05], [0.95]])
        array([0, 1])
        """
        return self._labelled(self._ask("predict", X))

    def predict_groups(self, X: Rows, group: int | str = "all") -> Found:
        """Predict the label of each row, in groups whose rows come from one task: the paper's protocol.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, group after group.
        group : int or "all", default="all"
            Rows per group; the last group may be smaller.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. Consolidation does not use groups and judges each row alone.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> model.predict_groups([[0.05], [0.95]], group=2)
        array([0, 1])
        """
        if group != "all" and not (isinstance(group, (int, np.integer)) and group > 0):
            raise ParameterError(f"parameter `group` is {group!r}: must be a number of rows above 0, or all")
        return self._labelled(self._ask("predict_groups", X, None if group == "all" else int(group)))

    def predict_proba(self, X: Rows) -> NDArray[np.float64]:
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, with columns in the order of ``classes_``.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> model.predict_proba([[0.05], [0.95]]).argmax(axis=1)
        array([0, 1])
        """
        probabilities = self._columns("probabilities", X)
        # The model rounds them to single precision.
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """Score every class. The class with the highest score is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores, with columns in the order of ``classes_``; for two classes, the second score minus the first.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> model.decision_function([[0.05], [0.95]]) > 0
        array([False,  True])
        """
        scores = self._columns("scores", X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def save(self, path: Path) -> None:
        """Write a model file, which the command line can also read and write.

        Parameters
        ----------
        path : path-like
            The file. After a crash it is either the old one or the new one, never a mixture.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import autoactivator
        >>> model = autoactivator.Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(Path(folder) / "model.aact")
        ...     autoactivator.load(Path(folder) / "model.aact").predict([[0.95]])
        array([1])
        """
        self._learned().save(path)

    @property
    def size_(self) -> dict[str, int]:
        """How large the model is now.

        Returns
        -------
        dict
            ``nodes``, ``model_floats`` (needed to predict), ``memory_floats`` (needed to keep learning),
            ``multiply_adds`` (to predict one row).

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).size_["nodes"]
        2049
        """
        return json.loads(self._learned().size)

    # Internals.

    def _new_model(self) -> Model:
        """A new model with the estimator's parameters."""
        self.__dict__.pop("_drawn", None)
        return Model(self._kind, _as_json(self._parameters()))

    def _parameters(self) -> dict[str, Any]:
        """The parameters under their names in the method; None is left out and gets the method's default."""
        given = self.get_params(deep=False).items()
        parameters = {name: value for name, value in given if value is not None and name not in OF_PYTHON}
        if getattr(self, "random_state", None) is not None:
            parameters["seed"] = self._seed()
        if isinstance(parameters.get("image"), (tuple, list)):
            parameters["image"] = "x".join(str(side) for side in parameters["image"])
        return parameters

    def _seed(self) -> int:
        """The seed under scikit-learn's name. A generator gives one when a new model begins, which then keeps it."""
        if self.seed != 0:
            raise ParameterError("`seed` and `random_state` are two names of one parameter: leave one of them out")
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        if not hasattr(self, "_drawn"):
            self._drawn = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return self._drawn

    def _threads(self) -> int:
        """On how many threads to work; 0 for all."""
        n_jobs = getattr(self, "n_jobs", None)
        if n_jobs == 0:
            raise ParameterError("parameter `n_jobs` is 0: must be a number of threads above 0, or -1 for all of them")
        return 0 if n_jobs is None else effective_n_jobs(n_jobs)

    def _has_learned(self) -> bool:
        return getattr(self, "_model", None) is not None

    def _model_or_new(self) -> Model:
        """The model, or a new one, which raises the right error when asked to predict."""
        model = self._model if self._has_learned() else self._new_model()
        model.set_threads(self._threads())
        return model

    def _learned(self) -> Model:
        model = self._model_or_new()
        if model.n_features is None:
            model.predict(np.empty((0, 1), dtype=np.float32))
        return model

    @contextmanager
    def _taking_parameters(self) -> Iterator[None]:
        """Passes parameters that were set since the last task to the model, which refuses those that are fixed.

        If learning fails, they are taken back.
        """
        changed, before = self._changed_parameters(), json.loads(self._model.parameters)
        self._model.set_parameters(json.dumps(changed))
        try:
            yield
        except BaseException:
            self._model.set_parameters(json.dumps({name: before[name] for name in changed}))
            raise

    def _changed_parameters(self) -> dict[str, Any]:
        made, asked = json.loads(self._made_with), json.loads(_as_json(self._parameters()))
        return {name: asked.get(name) for name in made.keys() | asked.keys() if made.get(name) != asked.get(name)}

    def _learn_more(self, X: Rows, y: Labels, sample_weight: Weights | None = None) -> Self:
        if not self._has_learned():
            return self._learn(X, y, self._new_model(), np.empty(0), sample_weight)
        with self._taking_parameters():
            return self._learn(X, y, self._model, self._labels, sample_weight)

    def _learn(
        self, X: Rows, y: Labels, model: Model, known: NDArray[Any], sample_weight: Weights | None = None
    ) -> Self:
        model.set_threads(self._threads())
        x, (distinct, codes) = self._rows(X, model), rows.labels(y)
        weights = rows.weights(sample_weight, len(x))
        with self._in_words_of_sklearn(x):
            summary, learned = model.learn(x, rows.names(distinct), codes, rows.columns(X), weights)
        if text.sentences(X) is not None:
            model.set_origin(self._encoder(model).origin)
        self._keep(model, known, distinct)
        self._made_with = _as_json(self._parameters())
        self.learned_ = Learned(summary=summary, **json.loads(learned))
        self.learned_.warn()
        self.n_features_in_ = x.shape[1]
        if getattr(self, "verbose", 0):
            print(self.learned_)
        return self

    def _merge(self, other: Self | Sequence[Self], base: Self | None) -> Self:
        """Takes in one or several other models; what a common base had learned counts once."""
        others: list[Self] = [other] if isinstance(other, Learner) else list(other)
        theirs = [one._learned() for one in others]
        model = self._learned()
        model.merge(theirs, None if base is None else base._learned())
        self._keep(model, self._labels, *(one._labels for one in others))
        return self

    def _drop_class(self, label: Label) -> Self:
        model = self._learned()
        model.drop_class(rows.name(label))
        self._keep(model, self._labels)
        return self

    def _rows(self, X: Rows, model: Model) -> NDArray[np.float32]:
        """Rows in the order of the model's features, or those of sentences."""
        sentences = text.sentences(X)
        if sentences is not None:
            return text.encoded(self._encoder(model), sentences, model)
        x, columns = rows.rows(X), rows.columns(X)
        if columns is None and model.features is not None:
            warnings.warn("X has no column names: they are taken in the order of the model's features", stacklevel=4)
        places = None if columns is None else model.places(columns)
        return x if places is None else np.ascontiguousarray(x[:, places])

    def _encoder(self, model: Model) -> Encoder:
        """The encoder of sentences: the one that was given, or that the model was learned with, or the usual one."""
        return text.encoder(getattr(self, "backbone", None), model)

    def _keep(self, model: Model, known: NDArray[Any], *new: NDArray[Any]) -> None:
        """Stores a model and the labels of its classes, known ones and new ones.

        They may include others too, in any order and repeatedly.
        """
        labels = rows.together([known, *new])
        by_name = dict(zip(rows.names(labels), range(len(labels)), strict=True))
        self._model = model
        self._labels = labels[[by_name[name] for name in model.classes]]
        kind, of_names = rows.kind(self._labels), rows.kind(rows.named(model.classes))
        model.set_labels(None if kind == of_names or not model.classes else kind)
        self._sorted = np.array(model.sorted, dtype=np.intp)
        self.classes_ = self._labels[self._sorted]
        if model.features is not None:
            self.feature_names_in_ = np.asarray(model.features, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        _warn_of_other_kinds(labels, [known, *new])

    def _ask(self, question: str, X: Rows, *details: float | None) -> NDArray[Any]:
        """Calls a method of the model on rows, and wraps the bytes that it returns."""
        model = self._model_or_new()
        x = self._rows(X, model)
        with self._in_words_of_sklearn(x):
            answer = getattr(model, question)(x, *details)
        return np.frombuffer(answer, dtype=np.float64 if question in ("scores", "probabilities", "known") else np.uint32)

    def _columns(self, question: str, X: Rows) -> NDArray[np.float64]:
        return self._ask(question, X).reshape(-1, len(self.classes_))[:, self._sorted]

    def _labelled(self, codes: NDArray[Any]) -> Found:
        return self._labels[codes]

    @contextmanager
    def _in_words_of_sklearn(self, x: NDArray[np.float32]) -> Iterator[None]:
        """Puts scikit-learn's own wording in front of the method's message when rows are too few or of the wrong width."""
        try:
            yield
        except NoFeaturesError as error:
            shape = f"0 feature(s) (shape={x.shape}) while a minimum of 1 is required."
            raise NoFeaturesError(f"Found array with {shape} {error}") from None
        except FeatureCountError as error:
            width = f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_}"
            raise FeatureCountError(f"{width} features as input: {error}") from None
        except TooFewRowsError as error:
            raise TooFewRowsError(f"n_samples={len(x)}: {error}") from None

    def __getstate__(self) -> dict[str, Any]:
        """The estimator with the model as the bytes of its file, which skops can store, too."""
        state: dict[str, Any] = super().__getstate__()
        return {**state, "_model": self._model.to_bytes()} if self._has_learned() else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in state:
            self._model = Model.from_bytes(state["_model"])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        parameters: str = super().__repr__(N_CHAR_MAX)
        return f"{parameters} with {line(self._model)}" if self._has_learned() else parameters

    def _repr_html_(self) -> str:
        return estimator_html_repr(self) + (html(self._model) if self._has_learned() else "")

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _warn_of_other_kinds(labels: NDArray[Any], groups: Sequence[NDArray[Any]]) -> None:
    """Warns of labels that do not come back as they were given."""
    others = [rows.kind(group) for group in groups if len(group) and rows.kind(group) != rows.kind(labels)]
    if others:
        warnings.warn(
            f"labels were given as {others[0]} and as other kinds: all of them come back as {rows.kind(labels)}",
            stacklevel=5,
        )


def _as_json(parameters: dict[str, Any]) -> str:
    """Parameters as JSON; NumPy numbers become plain numbers."""
    for name, value in parameters.items():
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ParameterError(f"parameter `{name}` is {value}: must be a finite number")
    return json.dumps(parameters, sort_keys=True, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ParameterError(f"a parameter is {value!r}: numbers, texts, lists and dicts of them can be used")
