"""The input of every learner: rows of features and their labels, from any kind of array.

A C-contiguous ``float32`` array is passed on without a copy; everything else is converted once.
"""

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from .error import ParameterError
from .lists import are_lists, unpacked
from .types import Label, Weights

READ: dict[type, Callable[[str], Any]] = {
    np.int64: int,
    np.uint64: int,
    np.float64: lambda name: float(int(name)),
    bool: {"True": True, "False": False}.__getitem__,
}
"""How labels are read from their names."""

OF_KIND: dict[str | None, tuple[type, ...]] = {"floats": (np.float64,), "booleans": (bool,), "strings": ()}
"""The types of labels of each kind, where they are no integers."""


def rows(X: Any) -> NDArray[np.float32]:
    """Rows as a C-contiguous ``float32`` array, copied only if they are anything else.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        NumPy, pandas, polars, Arrow, or anything with ``__array__`` or ``__dlpack__``; also one column of lists, such as
        embeddings.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The rows.

    Examples
    --------
    >>> import numpy as np
    >>> from autoactivator.rows import rows
    >>> X = np.zeros((3, 2), dtype=np.float32)
    >>> rows(X) is X
    True
    >>> rows([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if hasattr(X, "__dlpack__") and not hasattr(X, "__array__"):
        X = np.from_dlpack(X)
    X = unpacked(X)
    # A value too large for single precision becomes infinite. The method refuses it and names the row and feature.
    with np.errstate(over="ignore"):
        return check_array(
            X,
            dtype=np.float32,
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="X",
        )


def columns(X: Any) -> list[str] | None:
    """The names of the columns, if all of them are strings.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    list of str or None
        The names; None for arrays and lists, which have none.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas
    >>> from autoactivator.rows import columns
    >>> columns(pandas.DataFrame({"width": [1.0], "height": [2.0]}))
    ['width', 'height']
    >>> columns(np.zeros((3, 2))) is None
    True
    """
    names = getattr(X, "columns", None)
    names = getattr(X, "column_names", names)
    try:
        names = None if names is None else list(names)
    except TypeError:
        return None
    have_names = names and all(isinstance(name, str) for name in names) and not are_lists(X)
    return names if have_names else None


def labels(y: Any) -> tuple[NDArray[Any], NDArray[np.uint32]]:
    """The distinct labels in order of first appearance, and for each row its label's index among them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Strings, integers, whole numbers in floating point, or booleans.

    Returns
    -------
    distinct : ndarray of shape (n_classes,)
        The labels.
    codes : ndarray of shape (n_samples,)
        The index of each row's label among them.

    Examples
    --------
    >>> from autoactivator.rows import labels
    >>> distinct, codes = labels(["pear", "apple", "pear"])
    >>> distinct.tolist(), codes.tolist()
    (['pear', 'apple'], [0, 1, 0])
    """
    if hasattr(getattr(y, "dtype", None), "numpy_dtype"):
        # scikit-learn would make integers of pandas that may be missing floats.
        y = y.to_numpy()
    y = check_array(y, ensure_2d=False, dtype=None, ensure_min_samples=0, input_name="y")
    y = column_or_1d(y, warn=True)
    try:
        if len(y):
            check_classification_targets(y)
        distinct, first, codes = np.unique(y, return_index=True, return_inverse=True)
    except TypeError:
        raise ValueError("y holds labels of several kinds, or none for some rows: give strings or integers") from None
    order = np.argsort(first)
    place = np.empty(len(order), dtype=np.uint32)
    place[order] = np.arange(len(order), dtype=np.uint32)
    return distinct[order], np.ascontiguousarray(place[codes])


def name(label: Label) -> str:
    """The name of a label's class, as stored in a model file.

    Parameters
    ----------
    label : str, int, float or bool
        The label.

    Returns
    -------
    str
        The name. A whole number has the same name however it is stored.

    Examples
    --------
    >>> from autoactivator.rows import name
    >>> name(7), name(7.0), name("7"), name(True)
    ('7', '7', '7', 'True')
    """
    is_whole = isinstance(label, (float, np.floating)) and float(label).is_integer()
    return str(int(label) if is_whole else label)


def weights(sample_weight: Weights | None, n_rows: int) -> NDArray[np.float64] | None:
    """The weight of each row, as a ``float64`` array.

    Parameters
    ----------
    sample_weight : array-like of shape (n_samples,), float or None
        How often each row counts; one number for all rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_samples,) or None
        The weights; None if every row counts once.

    Examples
    --------
    >>> from autoactivator.rows import weights
    >>> weights([1, 2], 2)
    array([1., 2.])
    >>> weights(None, 2) is None
    True
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        return np.full(n_rows, sample_weight, dtype=np.float64)
    found = check_array(
        sample_weight,
        dtype=np.float64,
        order="C",
        ensure_2d=False,
        ensure_all_finite=False,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if found.ndim != 1:
        raise ValueError(f"sample_weight has the shape {found.shape}: give one weight per row, or one for all")
    return found


def names(distinct: NDArray[Any]) -> list[str]:
    """The class names of labels, as stored in a model file.

    Parameters
    ----------
    distinct : ndarray of shape (n_classes,)
        Labels.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> import numpy as np
    >>> from autoactivator.rows import names
    >>> names(np.array([7, 1]))
    ['7', '1']
    """
    return [name(label) for label in distinct.tolist()]


def kind(distinct: NDArray[Any]) -> str:
    """The kind of labels, in one word.

    Parameters
    ----------
    distinct : ndarray of shape (n_classes,)
        Labels.

    Returns
    -------
    str
        The kind.

    Examples
    --------
    >>> import numpy as np
    >>> from autoactivator.rows import kind
    >>> kind(np.array([7, 1])), kind(np.array(["a", "b"]))
    ('integers', 'strings')
    """
    return {"i": "integers", "u": "integers", "b": "booleans", "f": "floats"}.get(distinct.dtype.kind, "strings")


def named(names: Sequence[str], kind: str | None = None) -> NDArray[Any]:
    """The labels of classes: of this kind if all names can be, else strings.

    Parameters
    ----------
    names : list of str
        Names of classes.
    kind : {None, "integers", "floats", "booleans", "strings"}, default=None
        The kind of labels; None takes names that are whole numbers for integers.

    Returns
    -------
    ndarray of shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from autoactivator.rows import named
    >>> named(["7", "10"]), named(["7", "x"]), named(["7", "10"], "strings")
    (array([ 7, 10]), array(['7', 'x'], dtype='<U1'), array(['7', '10'], dtype='<U2'))
    """
    for dtype in OF_KIND.get(kind, (np.int64, np.uint64)):
        try:
            found: NDArray[Any] = np.array([READ[dtype](text) for text in names], dtype=dtype)
        except (ValueError, KeyError, OverflowError):
            continue
        # What would be written in another way, such as 007, is a name.
        if [name(label) for label in found.tolist()] == list(names):
            return found
    return np.array(names)


def together(groups: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """All labels of several groups, of one kind: integers and floats are floats, and any other mixture is strings.

    Parameters
    ----------
    groups : list of ndarray
        Labels of one kind each.

    Returns
    -------
    ndarray
        The labels, one group after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from autoactivator.rows import together
    >>> together([np.array([7, 1]), np.array(["pear"])])
    array(['7', '1', 'pear'], dtype='<U4')
    """
    groups = [group for group in groups if len(group)]
    kinds = {kind(group) for group in groups}
    if kinds <= {"strings"}:
        return np.concatenate(groups) if groups else named([])
    mixed = "floats" if kinds == {"integers", "floats"} else "strings"
    one = kinds.pop() if len(kinds) == 1 else mixed
    return named([text for group in groups for text in names(group)], one)


def fraction(name: str, value: float | str) -> float:
    """A fraction from 0 to 1, given as a number or as text such as ``"5%"``.

    Parameters
    ----------
    name : str
        What errors call it.
    value : float or str
        The fraction.

    Returns
    -------
    float
        The fraction.

    Examples
    --------
    >>> from autoactivator.rows import fraction
    >>> fraction("reject", "5%")
    0.05
    """
    given = value
    try:
        if isinstance(value, str):
            value = float(value.strip()[:-1]) / 100 if value.strip().endswith("%") else float(value)
        value = float(value)
    except (TypeError, ValueError):
        value = np.nan
    if not 0 <= value <= 1:
        raise ParameterError(f"parameter `{name}` is {given}: must be a number from 0 to 1, or from 0% to 100%")
    return value
