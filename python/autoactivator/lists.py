"""Rows in one column of lists, such as embeddings: from Arrow, pandas, polars or an array of arrays to a matrix.

Columns of Arrow and polars are converted as a whole, without a loop over rows.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .error import NotFiniteError, RaggedRowsError

SEQUENCES = (list, tuple, np.ndarray)

Taken: TypeAlias = tuple[NDArray[Any], NDArray[Any], Callable[[], tuple[NDArray[Any], NDArray[Any]]]]
"""Lengths of lists, the places of rows without one, and a function for their values and the places of nulls in them."""


def are_lists(X: Any) -> bool:
    """Whether rows are one column of lists.

    Parameters
    ----------
    X : array-like
        Rows.

    Returns
    -------
    bool
        Whether each row is a list in a single column.

    Examples
    --------
    >>> import pandas
    >>> from autoactivator.lists import are_lists
    >>> are_lists(pandas.DataFrame({"embedding": [[1.0, 2.0], [3.0, 4.0]]}))
    True
    """
    return _column(X) is not None


def unpacked(X: Any) -> Any:
    """Rows out of a column of lists; anything else is returned as it is.

    Parameters
    ----------
    X : array-like
        A table with a column of lists, such a column, or an array of arrays.

    Returns
    -------
    array-like of shape (n_samples, n_features)
        The rows.

    Examples
    --------
    >>> import pandas
    >>> from autoactivator.lists import unpacked
    >>> unpacked(pandas.DataFrame({"embedding": [[1.0, 2.0], [3.0, 4.0]]}))
    array([[1., 2.],
           [3., 4.]])
    """
    if isinstance(X, (list, tuple)) and X and all(isinstance(row, SEQUENCES) for row in X):
        _width(np.fromiter(map(len, X), dtype=np.intp), "")
        return X
    found = _column(X)
    if found is None:
        return X
    name, column = found
    where = "" if name is None else f", column '{name}'"
    lengths, missing, taken = {"pyarrow": _arrow, "polars": _polars}.get(_library(column), _objects)(column)
    _refuse_null(missing, f"{where} holds no list")
    width = _width(lengths, where)
    values, missing = taken()
    _refuse_null(missing // max(width, 1), f"{where} holds a null")
    if values.ndim > 1 or values.dtype.kind not in "fiub":
        what = "X" if name is None else f"column '{name}'"
        raise ValueError(f"{what} does not hold numbers, or one list of numbers a row, and cannot be a feature")
    return values.reshape(len(lengths), width)


def _library(X: object) -> str:
    return type(X).__module__.partition(".")[0]


def _column(X: Any) -> tuple[str | None, Any] | None:
    """The name and content of the column of lists; None if there is none."""
    library = _library(X)
    if library not in ("pyarrow", "pandas", "polars"):
        one = isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
        return (None, X) if one and _holds_lists(X) else None
    if not hasattr(X, "columns"):
        return (None, _content(X)) if _holds_lists(_content(X)) else None
    names = [str(name) for name in (X.column_names if library == "pyarrow" else X.columns)]
    places = [place for place, kind in enumerate(_kinds(X, library)) if _may_hold_lists(kind)]
    columns = [(names[place], _content(_at(X, library, place))) for place in places]
    lists = [(name, column) for name, column in columns if _holds_lists(column)]
    if len(lists) > 1:
        raise ValueError(f"both '{lists[0][0]}' and '{lists[1][0]}' hold lists of numbers: give one of them")
    if lists and len(names) > 1:
        other = next(name for name in names if name != lists[0][0])
        raise ValueError(
            f"column '{lists[0][0]}' holds lists, and column '{other}' stands beside it: give the column of lists alone"
        )
    return lists[0] if lists else None


def _kinds(X: Any, library: str) -> Any:
    return X.schema.types if library == "pyarrow" else X.dtypes


def _at(X: Any, library: str, place: int) -> Any:
    if library == "pandas":
        return X.iloc[:, place]
    return X.column(place) if library == "pyarrow" else X.to_series(place)


def _may_hold_lists(kind: Any) -> bool:
    """Whether a column of this type holds lists, or objects that may be lists."""
    if isinstance(kind, np.dtype):
        return kind == object
    return any(word in str(kind).lower() for word in ("list", "array"))


def _content(column: Any) -> Any:
    """What is behind a column of pandas: Arrow, or objects."""
    if _library(column) != "pandas":
        return column
    if hasattr(column.dtype, "pyarrow_dtype"):
        return getattr(column, "array", column).__arrow_array__()
    return column.to_numpy() if column.dtype == object else column


def _holds_lists(column: Any) -> bool:
    if isinstance(column, np.ndarray):
        # A table of other objects is no table of lists, but the first list may be missing.
        return isinstance(next((value for value in column if value is not None), None), SEQUENCES)
    return _may_hold_lists(getattr(column, "type", None) or column.dtype)


# Each of these returns the lengths of lists, the places of rows without one, and a function for their values and the
# places of nulls among these: values can be joined only if there is a list in every row.


def _arrow(column: Any) -> Taken:
    import pyarrow.compute as pc

    chunks = getattr(column, "chunks", [column])
    lengths = [_numpy(pc.fill_null(pc.list_value_length(chunk), 0)) for chunk in chunks]
    missing = [_numpy(chunk.is_null()) for chunk in chunks]

    def values() -> tuple[NDArray[Any], NDArray[Any]]:
        flat = [chunk.flatten() for chunk in chunks]
        nulls = _joined([_numpy(part.is_null()) for part in flat])
        return _joined([_numpy(part) for part in flat]), np.flatnonzero(nulls)

    return _joined(lengths), np.flatnonzero(_joined(missing)), values


def _numpy(array: Any) -> Any:
    return array.to_numpy(zero_copy_only=False)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0)


def _polars(column: Any) -> Taken:
    fixed = getattr(column.dtype, "size", None)
    lengths = np.full(len(column), fixed) if fixed is not None else column.list.len().fill_null(0).to_numpy()

    def values() -> tuple[NDArray[Any], NDArray[Any]]:
        flat = column.explode()
        return flat.to_numpy(), np.flatnonzero(flat.is_null().to_numpy())

    return lengths, np.flatnonzero(column.is_null().to_numpy()), values


def _objects(column: Any) -> Taken:
    missing = np.flatnonzero([not isinstance(value, SEQUENCES) for value in column])
    lengths = np.array([len(value) if isinstance(value, SEQUENCES) else 0 for value in column])

    def values() -> tuple[NDArray[Any], NDArray[Any]]:
        flat = np.concatenate([np.asarray(value) for value in column])
        nulls = [value is None for value in flat] if flat.dtype == object else []
        return flat, np.flatnonzero(nulls)

    return lengths, missing, values


def _refuse_null(rows: NDArray[Any], what: str) -> None:
    if len(rows):
        raise NotFiniteError(f"row {rows[0]}{what}: remove the row or fill the value in")


def _width(lengths: NDArray[Any], where: str) -> int:
    """The length of all lists."""
    width = int(lengths[0]) if len(lengths) else 0
    others = np.flatnonzero((lengths != width) | (lengths == 0))
    if len(others) == 0:
        return width
    place, n = f"row {others[0]}{where}", lengths[others[0]]
    if n == 0:
        raise RaggedRowsError(f"{place} holds an empty list: remove the row or fill the list in")
    raise RaggedRowsError(f"{place} holds {n} numbers, other rows hold {width}: all rows need the same")
