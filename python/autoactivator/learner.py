"""What both learners have in common: the interface of scikit-learn around one compiled model.

:class:`Learner` turns arrays into rows, asks the model, and turns its answers into labels. Whatever can be wrong is
found by the model, and nothing of an estimator changes before the model has learned.
"""

import json
from contextlib import contextmanager

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import validate_data

from . import rows
from ._core import Model
from .error import FeatureCountError, NoFeaturesError, ParameterError
from .summary import html


class Learner(ClassifierMixin, BaseEstimator):
    """Base of the estimators; not to be made itself.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        All labels learned so far, sorted.
    n_features_in_ : int
        Features of a row.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when all that was learned from had them.
    """

    def fit(self, X, y):
        """Learn from nothing: all rows are one task.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers.

        Returns
        -------
        self : object
            The estimator. When this raises, it is as it was before.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"]).predict([[0.95]])
        array(['high'], dtype='<U4')
        """
        return self._learn(X, y, self._new_model(), np.empty(0))

    def partial_fit(self, X, y, classes=None):
        """Learn one more task; its classes may be new, and need not be known beforehand.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers as before.
        classes : ignored
            Programs written for scikit-learn may go on telling all classes in advance.

        Returns
        -------
        self : object
            The estimator. When this raises - at Ctrl-C, too - it is as it was before.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().partial_fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
        >>> model.partial_fit([[5.0], [5.1]], ["huge", "huge"]).classes_
        array(['high', 'huge', 'low'], dtype='<U4')
        """
        if not self._has_learned():
            return self.fit(X, y)
        self._check_unchanged()
        self._check_names(X)
        return self._learn(X, y, self._model, self._labels)

    def predict(self, X):
        """Predict the label of each row, judged alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

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

    def predict_groups(self, X, group="all"):
        """Predict the label of each row of groups that are known to belong to one task: the paper's protocol.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, group after group.
        group : int or "all", default="all"
            Rows of a group; the last one may be smaller.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. Consolidation gains nothing from groups and judges each row alone.

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

    def predict_proba(self, X):
        """Predict the probability of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, columns as in ``classes_``.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> model.predict_proba([[0.05], [0.95]]).argmax(axis=1)
        array([0, 1])
        """
        probabilities = self._columns("probabilities", X)
        # They were rounded to single precision.
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def decision_function(self, X):
        """Score every class; the highest is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Scores, columns as in ``classes_``; for two classes by how much the second is ahead of the first.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> model.decision_function([[0.05], [0.95]]) > 0
        array([False,  True])
        """
        scores = self._columns("scores", X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def save(self, path):
        """Write the model file, the same that the command line reads and writes.

        Parameters
        ----------
        path : path-like
            The file; a crash at any moment leaves the old one or the new one.

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
    def size_(self):
        """How large the model is now.

        Returns
        -------
        dict
            ``nodes``, ``model_floats`` (needed to predict), ``memory_floats`` (kept to go on learning),
            ``multiply_adds`` (to predict one row).

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).size_["nodes"]
        129
        """
        return json.loads(self._learned().size)

    # From here on: how the pieces fit together.

    def _new_model(self):
        """A model that has seen nothing, with the estimator's parameters."""
        return Model(self._kind, _as_json(self._parameters()))

    def _parameters(self):
        """The parameters under the names of the method; what is None has its default there."""
        return {name: value for name, value in self.get_params(deep=False).items() if value is not None}

    def _has_learned(self):
        return getattr(self, "_model", None) is not None

    def _model_or_new(self):
        """The model; one that has seen nothing says itself that it cannot predict."""
        return self._model if self._has_learned() else self._new_model()

    def _learned(self):
        model = self._model_or_new()
        if model.n_features is None:
            model.predict(np.empty((0, 1), dtype=np.float32))
        return model

    def _check_unchanged(self):
        """Parameters are part of a model: one that was changed since needs a new one."""
        made, asked = json.loads(self._made_with), json.loads(_as_json(self._parameters()))
        for name in sorted(made.keys() | asked.keys()):
            if name not in self._changeable and made.get(name) != asked.get(name):
                was = json.dumps(made[name]) if name in made else "the default"
                raise ParameterError(
                    f"parameter `{name}` is {was} in this model and cannot be changed: set it back, or begin a new"
                    " model with fit"
                )

    _changeable = ()

    def _learn(self, X, y, model, known):
        x, (distinct, codes) = rows.rows(X), rows.labels(y)
        self._check_kind(distinct, known)
        with self._in_words_of_sklearn(x):
            model.learn(x, rows.names(distinct), codes)
        self._keep(model, np.concatenate([known, distinct]) if len(known) else distinct)
        self._made_with = _as_json(self._parameters())
        if len(known) == 0:
            self._forget_names()
            validate_data(self, X, reset=True, skip_check_array=True, ensure_2d=False)
        self.n_features_in_ = model.n_features
        return self

    def _keep(self, model, labels):
        """Keeps a model and the labels of its classes: `labels` may hold more, in any order and twice."""
        by_name = dict(zip(rows.names(labels), range(len(labels)), strict=True))
        self._model = model
        self._labels = labels[[by_name[name] for name in model.classes]]
        self._sorted = np.argsort(self._labels)
        self.classes_ = self._labels[self._sorted]

    def _check_kind(self, distinct, known):
        if len(known) and len(distinct) and rows.kind(distinct) != rows.kind(known):
            raise TypeError(f"the labels are {rows.kind(distinct)}, those learned before are {rows.kind(known)}")

    def _check_names(self, X):
        validate_data(self, X, reset=False, skip_check_array=True, ensure_2d=False)

    def _forget_names(self):
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _ask(self, question, X, *details):
        """Asks the model about rows, and wraps the bytes of its answer."""
        model = self._model_or_new()
        if self._has_learned():
            self._check_names(X)
        x = rows.rows(X)
        with self._in_words_of_sklearn(x):
            answer = getattr(model, question)(x, *details)
        return np.frombuffer(answer, dtype=np.float64 if question in ("scores", "probabilities") else np.uint32)

    def _columns(self, question, X):
        return self._ask(question, X).reshape(-1, len(self.classes_))[:, self._sorted]

    def _labelled(self, codes):
        return self._labels[codes]

    @contextmanager
    def _in_words_of_sklearn(self, x):
        """Widths are complained about in the words that scikit-learn has for it, and then in the method's own."""
        try:
            yield
        except NoFeaturesError as error:
            shape = f"0 feature(s) (shape={x.shape}) while a minimum of 1 is required."
            raise NoFeaturesError(f"Found array with {shape} {error}") from None
        except FeatureCountError as error:
            width = f"X has {x.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_}"
            raise FeatureCountError(f"{width} features as input: {error}") from None

    def _repr_html_(self):
        return estimator_html_repr(self) + (html(self._model) if self._has_learned() else "")

    def _repr_mimebundle_(self, **_):
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


def _as_json(parameters):
    """Parameters as JSON; numbers of NumPy are numbers."""
    for name, value in parameters.items():
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise ParameterError(f"parameter `{name}` is {value}: must be a finite number")
    return json.dumps(parameters, sort_keys=True, default=_plain)


def _plain(value):
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise ParameterError(f"a parameter is {value!r}: numbers, texts, lists and dicts of them can be used")
