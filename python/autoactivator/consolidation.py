"""Consolidation: one additive memory for all tasks. Order does not matter, models merge, and rows can be unlearned."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import discovery, rows
from .deployed import Rejecting
from .error import ParameterError
from .text import TextEncoder
from .types import Image, Label, Labels, Path, Rows, Weights


class Suspects(list[dict[str, Any]]):
    """Rows whose labels are doubted; `share` is the share of all labels that is wrong, as an estimate."""

    def __init__(self, found: list[dict[str, Any]], share: float) -> None:
        super().__init__(found)
        self.share = share


class Consolidation(Rejecting):
    """One additive memory for all tasks: new classes at any time, no old rows, no forgetting.

    Parameters
    ----------
    pool : str, dict or None, default=None
        The candidate nodes: the name of a kind, such as ``"gaussian"``, or a kind with settings, as in an experiment
        file: ``{"kind": "uniform", "scope": 0.5}``. ``"standard"`` is the same for everyone with the same backbone and
        seed, so that all models over it merge. None chooses convolution for images of at least 16 x 16 pixels, and
        otherwise the features themselves and random nodes on them, by the width and the scales of the rows.
    image : str, tuple or None, default=None
        Shape of the image that a row holds, if it does: ``"28x28"``, ``"32x32x3"`` or ``(32, 32, 3)``.
    max_nodes : int or None, default=None
        Maximum number of nodes to recruit from the pool. If neither this nor `nodes_per_class` is given, the whole pool
        is read.
    nodes_per_class : int or None, default=None
        Maximum number of nodes to recruit per known class, so that early tasks leave room for later ones.
    r : float, default=0.9
        *r* of the supervisory mechanism, in (0, 1).
    expected_gain : float, default=0.0
        Fraction of the residual that a node must remove to be recruited.
    nodes : int or None, default=None
        Number of random nodes of the pool. More are more accurate, and cost their square. None chooses by the kind of
        rows.
    readout : {"blend", "ridge", "lda", "nearest-mean"}, default="blend"
        How the recruited nodes are read out. "blend" weighs ridge and lda by what left-out witnesses are answered.
    prior : {"cautious", "seen", "equal"}, default="cautious"
        How often classes will come. With "seen", as often as their rows did, for accuracy over rows like those learned;
        with "equal", equally often, for accuracy by class. "cautious" is in between: it gives each class as many rows
        more as classes have on average, because a class of few rows may be rare, or just new.
    witnesses : int, default=2048
        Number of rows in use that show how good answers are; the model keeps up to twice as many. 0 keeps none.
    ridge : float or None, default=None
        Ridge constant, relative to the mean diagonal of G. None lets left-out witnesses choose it.
    shrinkage : float, default=0.001
        Shrinkage of the shared covariance of linear discriminant analysis, relative to its mean diagonal.
    precision : {"f32", "f64"}, default="f32"
        Precision of the products; sums are always in double precision.
    fading : float, default=1.0
        Weight of old evidence when a new task arrives, in (0, 1]; 1 forgets nothing.
    class_weights : dict, "balanced" or None, default=None
        Weight of each row of a class, by label; 1 for classes that are not named. "balanced" is ``prior="equal"``: it
        holds for classes that are not known yet, too.
    private : bool, default=False
        Whether nothing but sums may be kept of rows: the pool depends on the seed alone, no witnesses are kept, so that
        probabilities are not calibrated, and learned files are not listed.
    backbone : str, path-like, TextEncoder or None, default=None
        The encoder of sentences: if X is a list of strings, it makes the rows. An ONNX file with a ``tokenizer.json``
        beside it, its folder, or the name of one in the folder of backbones. None is the one that the model was learned
        with, and else ``"minilm"``. It may be given at any time, and is never needed for rows of numbers.
    seed : int, default=0
        Seed for everything random.
    random_state : int, RandomState or None, default=None
        The seed under scikit-learn's name; a generator gives one with each ``fit``.
    class_weight : dict, "balanced" or None, default=None
        `class_weights` under scikit-learn's name.
    n_jobs : int or None, default=None
        Number of threads; None and -1 take all. The results are the same.
    verbose : int, default=0
        Above 0, each task that was learned is told in one line.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        All labels learned so far, sorted.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if the rows had them.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> model = Consolidation()
    >>> model = model.partial_fit([[0.0, 0.1], [0.1, 0.0], [0.9, 1.0], [1.0, 0.9]], ["low", "low", "high", "high"])
    >>> model = model.partial_fit([[0.0, 1.0], [0.1, 0.9]], ["left", "left"])
    >>> model.predict([[0.95, 0.95], [0.05, 0.95]])
    array(['high', 'left'], dtype='<U4')
    """

    def __init__(
        self,
        pool: str | Mapping[str, Any] | None = None,
        image: Image | None = None,
        max_nodes: int | None = None,
        nodes_per_class: int | None = None,
        r: float = 0.9,
        expected_gain: float = 0.0,
        nodes: int | None = None,
        readout: str = "blend",
        prior: str = "cautious",
        witnesses: int = 2048,
        ridge: float | None = None,
        shrinkage: float = 1e-3,
        precision: str = "f32",
        fading: float = 1.0,
        class_weights: Mapping[Any, float] | str | None = None,
        private: bool = False,
        backbone: Path | TextEncoder | None = None,
        seed: int = 0,
        random_state: int | np.random.RandomState | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.pool = pool
        self.image = image
        self.max_nodes = max_nodes
        self.nodes_per_class = nodes_per_class
        self.r = r
        self.expected_gain = expected_gain
        self.nodes = nodes
        self.readout = readout
        self.prior = prior
        self.witnesses = witnesses
        self.ridge = ridge
        self.shrinkage = shrinkage
        self.precision = precision
        self.fading = fading
        self.class_weights = class_weights
        self.private = private
        self.backbone = backbone
        self.seed = seed
        self.random_state = random_state
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose

    _kind = "consolidation"

    def _parameters(self) -> dict[str, Any]:
        parameters = super()._parameters()
        if self.class_weight is not None and self.class_weights is not None:
            raise ParameterError("`class_weights` and `class_weight` are two names of one parameter: leave one of them out")
        weights = self.class_weights if self.class_weight is None else self.class_weight
        if isinstance(weights, str):
            parameters["prior"] = self._balanced(weights)
            parameters.pop("class_weights", None)
        elif weights is not None:
            parameters["class_weights"] = {rows.name(label): w for label, w in weights.items()}
        return parameters

    def _balanced(self, weights: str) -> str:
        """The prior that ``class_weights="balanced"`` asks for."""
        if weights != "balanced":
            raise ParameterError(
                f"parameter `class_weights` is {weights!r}: give \"balanced\", or a dict of labels and weights"
            )
        if self.prior == "seen":
            raise ParameterError('`class_weights="balanced"` and `prior="seen"` contradict each other: leave one out')
        return "equal"

    def fit(self, X: Rows, y: Labels, sample_weight: Weights | None = None) -> Self:
        """Learn from scratch: all rows are one task.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            How often each row counts: a row of weight w is learned as w copies of it, and one of weight 0 is as if it
            were not there. None counts every row once.

        Returns
        -------
        self : object
            The estimator. If this raises, the estimator is unchanged.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"]).predict([[0.95]])
        array(['high'], dtype='<U4')
        >>> Consolidation().fit([[0.0], [0.1], [9.0]], ["low", "low", "high"], sample_weight=[1, 2.5, 0]).classes_
        array(['low'], dtype='<U4')
        """
        return self._learn(X, y, self._new_model(), np.empty(0), sample_weight)

    def partial_fit(
        self, X: Rows, y: Labels, classes: object = None, sample_weight: Weights | None = None
    ) -> Self:
        """Learn one more task. Its classes may be new and need not be declared in advance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels, strings or integers as before.
        classes : ignored
            Accepted so that programs written for scikit-learn keep working.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            How often each row counts, as in :meth:`fit`.

        Returns
        -------
        self : object
            The estimator. If this raises, also on Ctrl-C, the estimator is unchanged.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().partial_fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
        >>> model.partial_fit([[5.0], [5.1]], ["huge", "huge"], sample_weight=[1, 3]).classes_
        array(['high', 'huge', 'low'], dtype='<U4')
        """
        return self._learn_more(X, y, sample_weight)

    @property
    def growth_(self) -> list[dict[str, Any]]:
        """How the model grew: one record per task, ready for ``pandas.DataFrame(model.growth_)``.

        Returns
        -------
        list of dict
            ``task``; the total ``rows`` and ``classes`` learned by its end; the nodes ``recruited`` by it, and all
            ``nodes`` after it; why recruitment ``ended`` (None if the whole pool is read); the ``ridge`` constant.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> growth = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).growth_
        >>> growth[0]["rows"], growth[0]["classes"]
        (4.0, 2)
        """
        growth: list[dict[str, Any]] = json.loads(self._learned().growth)
        return growth

    def merge(self, other: Self | Sequence[Self], base: Self | None = None) -> Self:
        """Add everything that other models over the same pool have learned.

        Parameters
        ----------
        other : Consolidation or list of Consolidation
            The other models. They are not changed. Several are added with a single solve.
        base : Consolidation or None, default=None
            The model that all of them started from, so that what it had learned counts only once.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from copy import deepcopy
        >>> from autoactivator import Consolidation
        >>> base = Consolidation().fit([[0.0, 0.0], [0.1, 0.1], [1.0, 1.0], [0.9, 0.9]], ["low", "low", "high", "high"])
        >>> here, there = deepcopy(base), deepcopy(base)
        >>> here = here.partial_fit([[0.0, 1.0], [0.1, 0.9]], ["left", "left"])
        >>> there = there.partial_fit([[1.0, 0.0], [0.9, 0.1]], ["right", "right"])
        >>> here.merge(there, base=base).predict([[0.95, 0.05], [0.05, 0.95], [0.05, 0.05]])
        array(['right', 'left', 'low'], dtype='<U5')
        """
        return self._merge(other, base)

    def suspect(self, X: Rows, y: Labels, count: int | None = None) -> Suspects:
        """Find wrong labels: rank rows by how doubtful their labels are.

        A row that the model has learned is judged as if it had not, without learning anything again. The model stays as it
        is.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels.
        count : int or None, default=None
            The number of rows, the most doubtful first. None is all rows for which another class is more probable.

        Returns
        -------
        list of dict
            For each row ``row``, its index; its ``label`` and the ``class`` that is more probable; ``label_probability`` and
            ``class_probability``; and ``wrong``, how likely it is that the label is wrong. Its attribute ``share`` is
            the share of wrong labels, as an estimate. Ready for ``pandas.DataFrame``.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> X = [[i / 100] for i in range(20)] + [[5 + i / 100] for i in range(20)]
        >>> y = ["low"] * 19 + ["high"] + ["high"] * 20
        >>> found = Consolidation().fit(X, y).suspect(X, y)
        >>> [(one["row"], one["label"], one["class"]) for one in found]
        [(19, 'high', 'low')]
        """
        model = self._learned()
        x, (distinct, codes) = self._rows(X, model), rows.labels(y)
        with self._in_words_of_sklearn(x):
            found = json.loads(model.suspect(x, rows.names(distinct), codes, count))
        labels = dict(zip(model.classes, self._labels.tolist(), strict=True))
        for one in found["rows"]:
            one.update({key: labels[one[key]] for key in ("label", "class")})
        return Suspects(found["rows"], found["share"])

    def ask(self, X: Rows, count: int = 20) -> NDArray[np.intp]:
        """The rows that are most worth a label: uncertain ones that say much about others, and differ among themselves.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows without labels, or sentences.
        count : int, default=20
            The number of rows, at most 2048.

        Returns
        -------
        ndarray of shape (min(count, n_samples),)
            Indices of the rows, the most worthwhile first.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> X = [[i / 100] for i in range(20)] + [[5 + i / 100] for i in range(20)]
        >>> model = Consolidation().fit(X, ["low"] * 20 + ["high"] * 20)
        >>> model.ask([[0.1], [2.6], [5.1]], count=1)
        array([1])
        """
        return self._ask("ask_for", X, count).astype(np.intp)

    def discover(self, X: Rows) -> discovery.Groups:
        """Find new classes: group rows that look like no known class.

        The model is not changed. Learn a group under a name of your own to make it a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows without labels, or sentences.

        Returns
        -------
        autoactivator.discovery.Groups
            The groups, and for each row the name of its group, or None.

        Examples
        --------
        >>> import numpy as np
        >>> from autoactivator import Consolidation
        >>> square = np.array([[x, y] for x in range(6) for y in range(6)]) / 100
        >>> known = np.concatenate([square, square + [1, 0]])
        >>> model = Consolidation().fit(known, ["left"] * 36 + ["right"] * 36)
        >>> found = model.discover(np.concatenate([square, square + [0.5, 1]]))
        >>> [(group.name, group.size) for group in found]
        [('group-1', 36)]
        """
        model = self._model_or_new()
        x = self._rows(X, model)
        with self._in_words_of_sklearn(x):
            groups, codes = model.discover(x)
        described = json.loads(groups)
        names = [group["name"] for group in described] + [None]
        places = np.minimum(np.frombuffer(codes, dtype=np.uint32), len(described))
        labels = dict(zip(model.classes, self._labels.tolist(), strict=True))
        return discovery.groups(described, [names[place] for place in places], lambda _: labels)

    def unlearn(self, X: Rows, y: Labels, sample_weight: Weights | None = None) -> Self:
        """Unlearn rows: afterwards the memory is what it would have been without them.

        A class with no rows left is no longer known.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that were learned.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            The weights that they were learned with.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0], [0.5]], [0, 0, 1, 1, 1])
        >>> model.unlearn([[0.5]], [1]).predict([[0.05], [0.95]])
        array([0, 1])
        """
        model = self._learned()
        x, (distinct, codes) = self._rows(X, model), rows.labels(y)
        weights = rows.weights(sample_weight, len(x))
        with self._in_words_of_sklearn(x):
            model.unlearn(x, rows.names(distinct), codes, weights)
        self._keep(model, self._labels)
        return self

    def drop_class(self, label: Label) -> Self:
        """Forget a class.

        Parameters
        ----------
        label : str or int
            Its label.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0], [5.0]], [0, 0, 1, 1, 2])
        >>> model.drop_class(2).classes_
        array([0, 1])
        """
        return self._drop_class(label)

    def rename_class(self, old: Label, new: Label) -> Self:
        """Give a class another label; everything learned about it stays.

        Parameters
        ----------
        old : str or int
            Its label.
        new : str or int
            Its new label, which no other class may have.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
        >>> model.rename_class("low", "small").predict([[0.05]])
        array(['small'], dtype='<U5')
        """
        model = self._learned()
        model.rename_class(rows.name(old), rows.name(new))
        self._keep(model, self._labels, np.asarray([new]))
        return self

    def export(self, path: Path, half: bool = False) -> None:
        """Write only the deployed model, which predicts but does not learn; :func:`autoactivator.load` reads it.

        Parameters
        ----------
        path : path-like
            The file.
        half : bool, default=False
            Whether to store numbers in half precision.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import autoactivator
        >>> model = autoactivator.Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.export(Path(folder) / "small.aact", half=True)
        ...     autoactivator.load(Path(folder) / "small.aact").predict([[0.95]])
        array([1])
        """
        self._learned().export(path, half)
