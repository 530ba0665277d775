"""The deployed model: the recruited nodes and their readout, which is all that prediction needs."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .learner import Learner
from .rows import fraction
from .types import Found, Labels, Rows


class Rejecting(Learner):
    """For every model with a readout: answer "unknown", and export to ONNX."""

    def predict(self, X: Rows, reject: float | str = 0.0) -> Found:
        """Predict the label of each row, judged alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        reject : float or str, default=0.0
            Answer None for rows that look like nothing learned; this is the fraction of known rows that would be
            rejected, as a number or as text such as ``"5%"``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels. If `reject` is above 0, the dtype is object, and None means "none of the known classes".

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], [0, 0, 0, 1, 1, 1])
        >>> model.predict([[0.05], [0.95]])
        array([0, 1])
        >>> model.predict([[0.1], [7.0], [0.9]], reject="20%")
        array([0, None, 1], dtype=object)
        """
        reject = fraction("reject", reject)
        if reject == 0:
            return super().predict(X)
        codes = self._ask("predict_known", X, reject)
        unknown = codes == np.iinfo(np.uint32).max
        found = self._labels[np.where(unknown, 0, codes)].astype(object)
        found[unknown] = None
        return found

    def known(self, X: Rows) -> NDArray[np.float64]:
        """How well known each row is: the share of known rows that are at least as strange.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0, a row that looks like nothing learned, to 1. ``predict(X, reject=0.05)`` answers None where this is
            at most 0.05.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> model = Consolidation().fit([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]], [0, 0, 0, 1, 1, 1])
        >>> model.known([[0.1], [7.0]]) > 0.2
        array([ True, False])
        """
        return self._ask("known", X)

    def to_onnx(self) -> bytes:
        """The deployed model as an ONNX graph, which any ONNX runtime can run.

        Returns
        -------
        bytes
            An ONNX file. Its input ``x`` takes rows; its outputs are ``class``, ``scores``, ``probabilities`` and
            ``known``. A class is an index into ``classes_``, and the columns are in that order, too; the file's metadata
            has the names under ``classes``.

        Examples
        --------
        >>> from autoactivator import Consolidation
        >>> onnx = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).to_onnx()
        >>> type(onnx)
        <class 'bytes'>
        """
        return self._learned().to_onnx()


class Deployed(Rejecting):
    """A model that was exported without its memory: it predicts, and refuses to learn.

    :func:`autoactivator.load` reads it from a file written by :meth:`Consolidation.export` or ``autoactivator export``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import autoactivator
    >>> model = autoactivator.Consolidation(nodes=8).fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.export(Path(folder) / "small.aact")
    ...     autoactivator.load(Path(folder) / "small.aact")
    Deployed() with 2 classes (0, 1), 9 nodes, 0.001 MB
    """

    def fit(self, X: Rows, y: Labels) -> Self:
        """Refuse to learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of str
            Rows, or sentences.
        y : array-like of shape (n_samples,)
            Their labels.

        Raises
        ------
        NoMemoryError
            Always: the file does not hold what learning needs.
        """
        return self.partial_fit(X, y)

    def _new_model(self) -> Model:
        raise TypeError("a deployed model comes from a file: use autoactivator.load")
