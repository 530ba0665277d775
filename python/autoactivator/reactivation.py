"""Reactivation, the paper's learner: one neural unit per task; the unit that fits a group of rows wakes up."""

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .learner import Learner
from .text import TextEncoder
from .types import Image, Label, Path


class Reactivation(Learner):
    """The paper's learner: one neural unit per task, grown under the supervisory mechanism.

    It is made for groups of rows that come from one task (:meth:`predict_groups`). :meth:`predict` judges each row
    alone, and then rows often wake the wrong unit. With ``gate="density"``, single rows find
    their unit.

    Parameters
    ----------
    step_size : int, default=10
        *l*: nodes that join at a time.
    t_max : int, default=50
        *T_max*: random batches drawn for each join.
    l_max : int, default=200
        *L_max(t)*: number of nodes at which a layer of a unit is finished.
    expected_accuracy : float, default=0.99
        *R(t)*: training accuracy at which a unit is finished.
    r : float, default=0.9
        *r(t)*: fraction of the squared residual that may remain after a join; relaxed towards 1 when no batch passes.
    scopes : sequence of float, default=(0.5,)
        *lambda*: weights and biases are uniform in [-lambda, lambda]. Values are tried in this order until a batch
        passes.
    activation : {"sigmoid", "tanh", "relu", "square"}, default="sigmoid"
        *g*: the activation function.
    ridge : float, default=1e-10
        Regularisation of the output weights, relative to the mean diagonal of their Gram matrix.
    validation : float, default=0.1
        Fraction of a task's rows held out to watch the residual; 0 turns this off.
    patience : int, default=3
        Number of joins without a new lowest validation residual after which a unit is finished.
    layers : int, default=1
        Number of former layers of a unit, each grown on the outputs of the one before.
    reuse : bool, default=False
        Whether to include nodes of earlier units among the candidates.
    screening : bool, default=True
        Whether to test candidates on some rows first, and judge only the most promising ones on all. The paper judges
        all of them, which is slower.
    repeated_classes : {"refuse", "accept"}, default="refuse"
        What to do with a class from an earlier task.
    gate : {"threshold", "density"}, default="threshold"
        How a unit is woken: by its threshold, as in the paper, or by how likely it finds the rows. By density, rows need
        no groups, ``predict_proba`` covers the classes of all units, and ``known`` tells what is unknown.
    gate_nodes : int, default=200
        Nodes that all units look through with ``gate="density"``. A class keeps about half their square in floats.
    filters : int, default=0
        Random filters that all units read images through; 0 reads the features themselves.
    image : str, tuple or None, default=None
        Shape of the image that a row holds, for ``filters``: ``"28x28"``, ``"32x32x3"`` or ``(32, 32, 3)``.
    backbone : str, path-like, TextEncoder or None, default=None
        The encoder of sentences, as for :class:`Consolidation`.
    seed : int, default=0
        Seed for everything random.
    random_state : int, RandomState or None, default=None
        The seed under scikit-learn's name; a generator gives one with each ``fit``.
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
    >>> from autoactivator import Reactivation
    >>> model = Reactivation()
    >>> model = model.partial_fit([[0.0], [0.1], [0.9], [1.0]] * 5, ["low", "low", "high", "high"] * 5)
    >>> model.predict_groups([[0.05], [0.95]])
    array(['low', 'high'], dtype='<U4')
    """

    def __init__(
        self,
        step_size: int = 10,
        t_max: int = 50,
        l_max: int = 200,
        expected_accuracy: float = 0.99,
        r: float = 0.9,
        scopes: Sequence[float] = (0.5,),
        activation: str = "sigmoid",
        ridge: float = 1e-10,
        validation: float = 0.1,
        patience: int = 3,
        layers: int = 1,
        reuse: bool = False,
        screening: bool = True,
        repeated_classes: str = "refuse",
        gate: str = "threshold",
        gate_nodes: int = 200,
        filters: int = 0,
        image: Image | None = None,
        backbone: Path | TextEncoder | None = None,
        seed: int = 0,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.step_size = step_size
        self.t_max = t_max
        self.l_max = l_max
        self.expected_accuracy = expected_accuracy
        self.r = r
        self.scopes = scopes
        self.activation = activation
        self.ridge = ridge
        self.validation = validation
        self.patience = patience
        self.layers = layers
        self.reuse = reuse
        self.screening = screening
        self.repeated_classes = repeated_classes
        self.gate = gate
        self.gate_nodes = gate_nodes
        self.filters = filters
        self.image = image
        self.backbone = backbone
        self.seed = seed
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _kind = "reactivation"

    @property
    def growth_(self) -> list[dict[str, Any]]:
        """How each unit grew: one record per join, ready for ``pandas.DataFrame(model.growth_)``.

        Returns
        -------
        list of dict
            ``task`` and ``layer`` (both from 1), ``nodes`` after the join, ``residual`` and ``accuracy`` on the
            training rows, ``validation_residual``, the ``scope`` and ``r`` under which the batch passed, and
            whatever else the method records.

        Examples
        --------
        >>> from autoactivator import Reactivation
        >>> growth = Reactivation().fit([[0.0], [0.1], [0.9], [1.0]] * 5, [0, 0, 1, 1] * 5).growth_
        >>> growth[0]["task"], growth[0]["layer"], growth[0]["nodes"]
        (1, 1, 10)
        """
        return [
            {"task": unit["task"], "layer": layer, **join}
            for unit in json.loads(self._learned().growth)
            for layer, grown in enumerate(unit["layers"], start=1)
            for join in grown["joins"]
        ]

    def merge(self, other: Self | Sequence[Self]) -> Self:
        """Take in the units of other models; with ``gate="density"`` only.

        A unit that several models have counts once.

        Parameters
        ----------
        other : Reactivation or list of Reactivation
            The other models, with the same parameters and seed. They are not changed.

        Returns
        -------
        self : object
            The estimator.

        Examples
        --------
        >>> from autoactivator import Reactivation
        >>> here = Reactivation(gate="density").fit([[0.0], [0.1], [0.9], [1.0]] * 5, [0, 0, 1, 1] * 5)
        >>> there = Reactivation(gate="density").fit([[2.0], [2.1], [2.9], [3.0]] * 5, [2, 2, 3, 3] * 5)
        >>> here.merge(there).predict([[0.05], [2.95]])
        array([0, 3])
        """
        return self._merge(other, None)

    def drop_class(self, label: Label) -> Self:
        """Forget a class; with ``gate="density"`` only. A unit without classes is removed.

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
        >>> from autoactivator import Reactivation
        >>> model = Reactivation(gate="density").fit([[0.0], [0.1], [0.9], [1.0]] * 5, [0, 0, 1, 1] * 5)
        >>> model.drop_class(1).classes_
        array([0])
        """
        return self._drop_class(label)
