"""Sentences as input: which X holds them, and the encoder that turns them into rows.

:class:`TextEncoder` is a transformer of scikit-learn. The estimators use the same encoders for lists of strings, so their
``backbone`` may be one.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from . import _core
from .error import ParameterError
from .types import Path, Rows

OPENED: OrderedDict[tuple[Any, ...], _core.Encoder] = OrderedDict()
"""The encoders that were opened last, by what was asked for: none is part of an estimator, so all can be pickled."""

KEPT = 4
"""Number of encoders that stay open."""


class TextEncoder(TransformerMixin, BaseEstimator):
    """A frozen sentence encoder: lists of strings in, rows of length 1 out.

    Parameters
    ----------
    backbone : str, path-like or None, default=None
        An ONNX file with a ``tokenizer.json`` beside it, its folder, or the name of one in the folder of backbones.
        None is ``"minilm"``.
    pooling : {"mean", "first"} or None, default=None
        How the tokens of a sentence become one row. None takes their mean.
    max_tokens : int or None, default=None
        The most tokens of a sentence; what follows them is not read. None is what the encoder was made for.
    runtime : {"auto", "onnxruntime", "rten"}, default="auto"
        What runs the encoder; "auto" is ONNX Runtime if it is installed.

    Examples
    --------
    >>> from autoactivator import TextEncoder
    >>> TextEncoder("minilm").transform(["how do I freeze my account?"]).shape  # doctest: +SKIP
    (1, 384)
    """

    def __init__(
        self,
        backbone: Path | None = None,
        pooling: str | None = None,
        max_tokens: int | None = None,
        runtime: str = "auto",
    ) -> None:
        self.backbone = backbone
        self.pooling = pooling
        self.max_tokens = max_tokens
        self.runtime = runtime

    def fit(self, X: object = None, y: object = None) -> Self:
        """Do nothing: the encoder is frozen.

        Parameters
        ----------
        X : ignored
            Accepted so that it works in pipelines.
        y : ignored
            Accepted so that it works in pipelines.

        Returns
        -------
        self : object
            The transformer.

        Examples
        --------
        >>> from autoactivator import TextEncoder
        >>> TextEncoder().fit()
        TextEncoder()
        """
        return self

    def transform(self, X: Rows) -> NDArray[np.float32]:
        """Turn sentences into rows.

        Parameters
        ----------
        X : list of str
            Sentences; also an array or column of them.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows of length 1.

        Examples
        --------
        >>> from autoactivator import TextEncoder
        >>> TextEncoder().transform(["how do I freeze my account?"]).dtype  # doctest: +SKIP
        dtype('float32')
        """
        found = sentences(X)
        if found is None:
            raise ParameterError("X holds no sentences: give a list of strings")
        return encoded(encoder(self, None), found, None)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def sentences(X: Any) -> list[str] | None:
    """The sentences of X, if it holds any.

    Parameters
    ----------
    X : array-like
        Rows of any kind, or a list, array or column of strings.

    Returns
    -------
    list of str or None
        The sentences; None if X holds anything else.

    Examples
    --------
    >>> from autoactivator.text import sentences
    >>> sentences(["one", "two"]), sentences([[1.0], [2.0]])
    (['one', 'two'], None)
    """
    if isinstance(X, str):
        raise ParameterError("X is one string: give a list of strings")
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "UOT"):
        return None
    if not isinstance(X, (list, tuple, np.ndarray)):
        if getattr(X, "ndim", 1) != 1 or hasattr(X, "columns") or hasattr(X, "column_names"):
            return None
        # A column of numbers or lists is not converted as a whole to find that out.
        if not _starts_with_text(X):
            return None
        X = _as_list(X)
    if not len(X) or not isinstance(X[0], str):
        return None
    wrong = next((place for place, item in enumerate(X) if not isinstance(item, str)), None)
    if wrong is not None:
        raise ParameterError(f"row {wrong} of X is {X[wrong]!r}, and not a string as the others: leave it out")
    return [str(item) for item in X]


def _starts_with_text(column: Any) -> bool:
    head = _as_list(column[:1]) if hasattr(column, "to_list") or hasattr(column, "to_pylist") else []
    return bool(head) and isinstance(head[0], str)


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()


def encoder(backbone: Path | TextEncoder | None, model: _core.Model | None) -> _core.Encoder:
    """An open encoder.

    Parameters
    ----------
    backbone : str, path-like, TextEncoder or None
        The encoder that was given, as for the estimators.
    model : autoactivator._core.Model or None
        A model, whose own encoder is taken if none was given.

    Returns
    -------
    autoactivator._core.Encoder
        The encoder.

    Examples
    --------
    >>> from autoactivator.text import encoder
    >>> encoder("minilm", None).n_features  # doctest: +SKIP
    384
    """
    if not isinstance(backbone, TextEncoder):
        backbone = TextEncoder(backbone)
    asked = backbone.get_params()
    asked["backbone"] = None if asked["backbone"] is None else str(asked["backbone"])
    key = (*asked.values(), None if model is None else model.origin)
    if key not in OPENED:
        OPENED[key] = _core.Encoder(**asked, model=model)
    OPENED.move_to_end(key)
    if len(OPENED) > KEPT:
        OPENED.popitem(last=False)
    return OPENED[key]


def encoded(opened: _core.Encoder, found: list[str], model: _core.Model | None) -> NDArray[np.float32]:
    """The rows of sentences.

    Parameters
    ----------
    opened : autoactivator._core.Encoder
        The encoder.
    found : list of str
        The sentences.
    model : autoactivator._core.Model or None
        The model that takes the rows: it refuses those of another encoder.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The rows.

    Examples
    --------
    >>> from autoactivator.text import encoded, encoder
    >>> encoded(encoder(None, None), ["hello"], None).shape  # doctest: +SKIP
    (1, 384)
    """
    return np.frombuffer(opened.encode(found, model), dtype=np.float32).reshape(len(found), opened.n_features)
