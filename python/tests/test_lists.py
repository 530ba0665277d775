"""Embeddings in one column of lists: every library's way to hold them, and what is said about those that do not fit."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import cross_val_score

from autoactivator import Consolidation, error
from autoactivator.rows import columns, rows
from conftest import content

F16 = pa.list_(pa.float16(), 6)


def arrow(X, kind):
    return pa.table({"embedding": pa.array(list(X), kind)})


COLUMNS = {
    "arrow lists": lambda X: arrow(X, pa.list_(pa.float32())),
    "arrow large lists": lambda X: arrow(X.astype(np.float64), pa.large_list(pa.float64())),
    "arrow fixed-size lists": lambda X: arrow(X, pa.list_(pa.float32(), 6)),
    "arrow batch": lambda X: arrow(X, pa.list_(pa.float32())).to_batches()[0],
    "arrow slice": lambda X: arrow(np.concatenate([X[:1], X]), pa.list_(pa.float32(), 6)).slice(1),
    "arrow slice of lists": lambda X: arrow(np.concatenate([X[:1], X]), pa.list_(pa.float32())).slice(1),
    "arrow chunks": lambda X: pa.concat_tables(arrow(part, pa.list_(pa.float32())) for part in [X[:7], X[7:]]),
    "arrow array": lambda X: pa.array(list(X), pa.list_(pa.float32())),
    "pandas arrays": lambda X: pd.DataFrame({"embedding": list(X)}),
    "pandas lists": lambda X: pd.DataFrame({"embedding": X.tolist()}),
    "pandas series": lambda X: pd.Series(list(X), index=range(5, 5 + len(X))),
    "pandas on arrow": lambda X: pd.DataFrame({"e": pd.Series(list(X), dtype=pd.ArrowDtype(pa.list_(pa.float32())))}),
    "pandas series on arrow": lambda X: pd.Series(list(X), dtype=pd.ArrowDtype(pa.list_(pa.float32()))),
    "polars lists": lambda X: pl.DataFrame({"e": X.tolist()}, schema={"e": pl.List(pl.Float32)}),
    "polars arrays": lambda X: pl.DataFrame({"e": X.tolist()}, schema={"e": pl.Array(pl.Float64, 6)}),
    "polars series": lambda X: pl.Series(X.tolist()),
    "array of arrays": lambda X: pd.Series(list(X)).to_numpy(),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_lists_is_the_rows(kind, clusters):
    X, y = clusters
    given, expected = COLUMNS[kind](X), Consolidation(nodes=50).fit(X, y)
    assert columns(given) is None
    model = Consolidation(nodes=50).fit(given, y)
    assert content(model._model.to_bytes()) == content(expected._model.to_bytes())
    assert np.array_equal(model.predict_proba(given), expected.predict_proba(X))
    assert np.array_equal(model.predict(given, reject=0.1), expected.predict(X, reject=0.1))
    assert model.partial_fit(given, y).unlearn(given, y).classes_.tolist() == [0, 1, 2, 3]


def test_halves_and_whole_numbers():
    X = np.arange(12).reshape(2, 6)
    for kind, item in [(F16, np.float16), (pa.list_(pa.int8()), np.int8), (pa.large_list(pa.uint64()), np.uint64)]:
        assert np.array_equal(rows(arrow(X.astype(item), kind)), X)


def test_lists_of_single_precision_are_not_copied():
    values = pa.array(np.arange(12, dtype=np.float32))
    found = rows(pa.table({"e": pa.FixedSizeListArray.from_arrays(values, 3)}))
    assert np.shares_memory(found, values.to_numpy())


@pytest.mark.parametrize("kind", ["arrow lists", "arrow fixed-size lists", "pandas on arrow", "polars lists"])
def test_columns_of_arrow_are_converted_as_a_whole(kind):
    """Python calls as many functions for many rows as for few."""

    def calls(n):
        given, seen = COLUMNS[kind](np.ones((n, 6), dtype=np.float32)), []
        sys.setprofile(lambda frame, event, function: seen.append(event))
        try:
            rows(given)
        finally:
            sys.setprofile(None)
        return len(seen)

    calls(2)  # imports what it needs
    assert calls(10_000) < calls(10) + 100


def test_the_rows_of_a_table_in_cross_validation(clusters):
    X, y = clusters
    assert cross_val_score(Consolidation(nodes=50), pd.DataFrame({"e": list(X)}), y, cv=3).mean() > 0.9


LIBRARIES = {
    "arrow": lambda lists: pa.table({"e": pa.array(lists)}),
    "pandas": lambda lists: pd.DataFrame({"e": lists}),
    "polars": lambda lists: pl.DataFrame({"e": lists}),
}
MISTAKES = {
    "unequal": ([[1.0, 2.0], [3.0]], error.RaggedRowsError, "row 1, column 'e' holds 1 numbers, other rows hold 2"),
    "null": ([[1.0], None], error.NotFiniteError, "row 1, column 'e' holds no list: remove the row"),
    "first null": ([None, [1.0]], error.NotFiniteError, "row 0, column 'e' holds no list"),
    "null inside": ([[1.0, 2.0], [3.0, None]], error.NotFiniteError, "row 1, column 'e' holds a null: remove the row"),
    "empty": ([[1.0], []], error.RaggedRowsError, "row 1, column 'e' holds an empty list: remove the row"),
    "first empty": ([[], [1.0]], error.RaggedRowsError, "row 0, column 'e' holds an empty list"),
    "nested": ([[[1.0]], [[2.0]]], ValueError, "column 'e' does not hold numbers, or one list of numbers a row"),
    "text": ([["a"], ["b"]], ValueError, "column 'e' does not hold numbers"),
    "not finite": ([[1.0], [float("inf")]], error.NotFiniteError, "row 1, feature 0 is inf"),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_does_not_fit_is_named(mistake, library):
    lists, exception, message = MISTAKES[mistake]
    with pytest.raises(exception, match=message):
        Consolidation().fit(LIBRARIES[library](lists), [0, 1])


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_beside_a_column_of_lists(library):
    two = {"arrow": pa.table, "pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
    with pytest.raises(ValueError, match="column 'e' holds lists, and column 'age' stands beside it: give the column"):
        rows(two({"age": [1.0, 2.0], "e": [[1.0], [2.0]]}))
    with pytest.raises(ValueError, match="both 'e' and 'f' hold lists of numbers: give one of them"):
        rows(two({"e": [[1.0], [2.0]], "f": [[1.0], [2.0]]}))


def test_unequal_rows_of_other_kinds():
    for rows_of in [list, lambda lists: pd.Series(lists), lambda lists: pd.Series(lists).to_numpy()]:
        with pytest.raises(error.RaggedRowsError, match="row 2 holds 3 numbers, other rows hold 2: all rows need"):
            rows(rows_of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0, 7.0]]))
