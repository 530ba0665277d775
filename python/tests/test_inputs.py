"""What goes in: every kind of array and label, and what is said about those that cannot be used."""

import json
import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import array_api_strict as xp
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import autoactivator
from autoactivator import Consolidation, Reactivation, error
from conftest import content

ROOT = Path(__file__).resolve().parents[2]
QUICK = {"t_max": 5, "l_max": 30}


class OnlyDlpack:
    """An array of a library that NumPy does not know."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class OnlyArray:
    """As a torch tensor on the CPU is to NumPy."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype=dtype, copy=copy)


def frame(X):
    return pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])


CONVERSIONS = {
    "f32": lambda X: X,
    "f64": lambda X: X.astype(np.float64),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "big-endian": lambda X: X.astype(">f4"),
    "read-only": lambda X: np.frombuffer(X.tobytes(), dtype=np.float32).reshape(X.shape),
    "lists": lambda X: X.tolist(),
    "objects that are numbers": lambda X: X.astype(object),
    "pandas": frame,
    "arrow table": lambda X: pa.Table.from_pandas(frame(X)),
    "arrow batch": lambda X: pa.RecordBatch.from_pandas(frame(X)),
    "dlpack": OnlyDlpack,
    "__array__": OnlyArray,
    "array API": xp.asarray,
}


@pytest.mark.parametrize("kind", CONVERSIONS)
def test_every_kind_of_array_gives_the_same_model(kind, clusters):
    X, y = clusters
    expected = Consolidation().fit(X, y)
    model = Consolidation().fit(CONVERSIONS[kind](X), y)
    assert content(model._model.to_bytes()) == content(expected._model.to_bytes())
    assert np.array_equal(model.predict(CONVERSIONS[kind](X)), expected.predict(X))


def test_labels_of_the_array_api(clusters):
    X, y = clusters
    model = Consolidation().fit(xp.asarray(X), xp.asarray(y), sample_weight=xp.asarray(np.ones(len(y))))
    assert model.classes_.tolist() == [0, 1, 2, 3] and model.score(X, y) == 1.0


def test_half_precision_and_whole_numbers(clusters):
    X, y = clusters
    for kind in [np.float16, np.int8, np.uint8]:
        Z = (8 + 8 * X).astype(kind)
        model = Consolidation().fit(Z, y)
        assert np.array_equal(model.predict(Z), Consolidation().fit(Z.astype(np.float32), y).predict(Z))


@pytest.mark.parametrize(
    "labels",
    [
        ["pear", "apple", "fig", "kiwi"],
        [30, -1, 7, 2**40],
        np.array([3, 2, 1, 0], dtype=np.uint8),
        [True, False],
        pd.array(["b", "a", "d", "c"], dtype="str"),
        np.array(["b", "a", "d", "c"], dtype=object),
    ],
)
def test_labels_of_any_kind_come_back_as_they_were(labels, clusters):
    X, y = clusters
    given = np.asarray(labels)[y % len(labels)]
    model = Consolidation().partial_fit(X, given)
    assert model.classes_.tolist() == sorted(np.unique(given).tolist())
    assert model.predict(X).tolist() == given.tolist()


def test_new_classes_at_any_time(clusters):
    X, y = clusters
    for model in [Consolidation(), Reactivation(**QUICK)]:
        for classes in [[2, 3], [0, 1]]:
            rows = np.isin(y, classes)
            model.partial_fit(X[rows], y[rows])
        assert model.classes_.tolist() == [0, 1, 2, 3]
        assert model._model.classes != ["0", "1", "2", "3"], "the method keeps them in the order of their arrival"
        probabilities, scores = model.predict_proba(X), model.decision_function(X)
        assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
        assert np.array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))
        assert np.allclose(probabilities.sum(axis=1), 1)
    assert np.mean(model.predict_groups(X[rows]) == y[rows]) == 1


LABELS = {
    "integers": (np.array([30, -1, 7, 2**40]), np.int64),
    "small integers": (np.array([3, 2, 1, 0], dtype=np.uint8), np.int64),
    "large integers": (np.array([2**63, 5, 6, 7], dtype=np.uint64), np.uint64),
    "integers that may be missing": (pd.array([10, 9, 2, 1], dtype="Int64"), np.int64),
    "integers of arrow": (pd.array([10, 9, 2, 1], dtype="int32[pyarrow]"), np.int64),
    "whole floats": (np.array([10.0, 9.0, 2.0, 1.0], dtype=np.float32), np.float64),
    "booleans": (np.array([True, False]), np.bool_),
    "booleans that may be missing": (pd.array([True, False], dtype="boolean"), np.bool_),
    "strings": (np.array(["pear", "fig", "apple", "kiwi"]), np.str_),
    "strings that look like integers": (np.array(["10", "9", "2", "1"]), np.str_),
    "strings of pandas": (pd.array(["10", "9", "2", "b"], dtype="str"), np.str_),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_come_back_from_a_file_as_they_were(kind, clusters, tmp_path):
    X, y = clusters
    labels, expected = LABELS[kind]
    given = labels[y % len(labels)]
    for model in [Consolidation(nodes=50).fit(X, given), Reactivation(**QUICK).fit(X, given)]:
        model.save(tmp_path / "model.aact")
        copies = [autoactivator.load(tmp_path / "model.aact"), pickle.loads(pickle.dumps(model))]
        if isinstance(model, Consolidation):
            model.export(tmp_path / "small.aact", half=True)
            copies.append(autoactivator.load(tmp_path / "small.aact"))
        for copy in copies:
            assert np.issubdtype(copy.classes_.dtype, expected) or copy is copies[1]
            assert copy.classes_.tolist() == model.classes_.tolist() == sorted(labels.tolist())
            assert copy.predict_groups(X).tolist() == model.predict_groups(X).tolist()
        if isinstance(model, Consolidation):
            assert copies[0].predict(X).tolist() == list(given)
            found = copies[0].predict(X, reject=0.1)
            assert found.dtype == object and {type(label) for label in found} <= {type(labels.tolist()[0]), type(None)}
            assert copies[0].unlearn(X[:2], given[:2]).drop_class(given[5]).classes_.dtype == copies[0].classes_.dtype


def test_arrow_and_polars_labels(clusters):
    X, y = clusters
    for given in [pa.array(y), pa.chunked_array([y[:9], y[9:]]), pl.Series(y), pa.array(y.astype(np.int8)), list(y)]:
        model = Consolidation(nodes=50).fit(X, given)
        assert model.classes_.dtype == model.predict(X).dtype == np.int64
    assert Consolidation(nodes=50).fit(X, pa.array(y > 1)).predict(X).dtype == bool


def test_labels_of_several_kinds(clusters, tmp_path):
    """The same names are the same classes; with a string among them, all labels come back as strings."""
    X, y = clusters
    model = Consolidation(nodes=50).fit(X, y)
    with pytest.warns(UserWarning, match="given as integers and as other kinds: all of them come back as strings"):
        model.partial_fit(X, y.astype(str))
    assert model.classes_.tolist() == ["0", "1", "2", "3"] == sorted(model._model.classes)
    model.save(tmp_path / "model.aact")
    model = autoactivator.load(tmp_path / "model.aact")
    assert model.classes_.tolist() == ["0", "1", "2", "3"]
    with pytest.warns(UserWarning, match="given as integers and as other kinds"):
        model.partial_fit(X, y + 8)
    assert model.classes_.tolist() == ["0", "1", "10", "11", "2", "3", "8", "9"]
    assert model.unlearn(X, y + 8).drop_class(3).rename_class(2, "two").classes_.tolist() == ["0", "1", "two"]


def test_whole_numbers_are_the_same_class_however_they_are_stored(clusters):
    X, y = clusters
    model = Consolidation(nodes=50, class_weights={1.0: 2.0}).fit(X, y)
    model.unlearn(X[:9], y[:9].astype(str)).unlearn(X[9:18], y[9:18].astype(float))
    assert model.classes_.dtype == np.int64 and json.loads(model._model.parameters)["class_weights"] == {"1": 2.0}
    with pytest.warns(UserWarning, match="come back as floats"):
        model.partial_fit(X[:9], y[:9].astype(float))
    assert model.classes_.tolist() == [0.0, 1.0, 2.0, 3.0] and model.classes_.dtype == np.float64
    other = Consolidation(nodes=50, class_weights={1.0: 2.0}).fit(X, y)
    with pytest.warns(UserWarning, match="come back as strings"):
        assert other.rename_class(3, "three").classes_.tolist() == ["0", "1", "2", "three"]


def test_the_kind_of_labels_is_noted_only_if_the_names_do_not_tell(clusters):
    X, y = clusters
    noted = [(y, None), (y.astype(str), "strings"), (y.astype(float), "floats"), (y > 1, "booleans")]
    for labels, kind in [*noted, (np.array(["a", "b", "c", "d"])[y], None)]:
        assert Consolidation(nodes=50).fit(X, labels)._model.labels == kind


READOUT = {"readout": "lda", "prior": "seen", "ridge": 0.1, "shrinkage": 0.1}


@pytest.mark.parametrize("name", READOUT)
def test_parameters_of_the_readout_may_change(name, clusters):
    """From the next task on, as if they had been so from the beginning."""
    X, y = clusters
    rows = np.arange(len(X)) < 90 - 20 * (y == 0)
    always = {"readout": "lda"} if name == "shrinkage" else {}
    changed = {name: READOUT[name]}
    model = Consolidation(nodes=50, **always).fit(X[rows], y[rows])
    before = model.predict_proba(X)
    model.set_params(**changed)
    assert np.array_equal(model.predict_proba(X), before), "nothing happens before something is learned"
    model.partial_fit(X[~rows], y[~rows])
    expected = Consolidation(nodes=50, **always, **changed).fit(X[rows], y[rows]).partial_fit(X[~rows], y[~rows])
    assert np.array_equal(model.predict_proba(X), expected.predict_proba(X))
    other = Consolidation(nodes=50, **always).fit(X[rows], y[rows]).partial_fit(X[~rows], y[~rows])
    assert not np.array_equal(model.predict_proba(X), other.predict_proba(X))
    back = getattr(Consolidation(), name)
    model.set_params(**{name: back}).partial_fit(X[:9], y[:9])
    assert json.loads(model._model.parameters)[name] == back


def test_balanced_weights_are_the_prior_equal(clusters):
    X, y = clusters
    few = (y != 0) | (np.arange(len(y)) < 40)
    balanced = Consolidation(nodes=50, class_weights="balanced").fit(X[few], y[few])
    equal = Consolidation(nodes=50, prior="equal").fit(X[few], y[few])
    assert np.array_equal(balanced.predict_proba(X), equal.predict_proba(X))
    assert clone(balanced).get_params()["class_weights"] == "balanced"
    for wrong in ({"class_weights": "balance"}, {"class_weights": "balanced", "prior": "seen"}):
        with pytest.raises(error.ParameterError, match="balanced"):
            Consolidation(nodes=50, **wrong).fit(X, y)


FIXED = {"pool": "gaussian", "nodes": 60, "seed": 1, "precision": "f64", "private": True, "witnesses": 9, "fading": 0.5,
         "image": "2x3", "max_nodes": 5, "r": 0.5, "class_weights": {0: 2.0}}


@pytest.mark.parametrize("name", FIXED)
def test_parameters_of_the_memory_may_not_change(name, clusters):
    X, y = clusters
    model = Consolidation(nodes=50).fit(X, y)
    before = model._model.to_bytes()
    model.set_params(readout="lda", **{name: FIXED[name]})
    with pytest.raises(error.FixedParameterError, match=f"parameter `{name}` is .* cannot be changed: leave it out"):
        model.partial_fit(X, y)
    assert model._model.to_bytes() == before, "no parameter has changed"
    assert model.fit(X, y).get_params()[name] == FIXED[name], "fit starts anew"
    assert json.loads(model._model.parameters)["readout"] == "lda"


def test_a_parameter_is_taken_back_if_learning_fails(clusters):
    X, y = clusters
    model = Consolidation(nodes=50).fit(X, y)
    before = model._model.to_bytes()
    with pytest.raises(error.NotFiniteError):
        model.set_params(readout="lda", ridge=0.1).partial_fit(X * np.inf, y)
    assert model._model.to_bytes() == before
    with pytest.raises(error.ParameterError, match="parameter `ridge` is -1: must be finite and at least 0"):
        model.set_params(ridge=-1).partial_fit(X, y)
    assert model._model.to_bytes() == before


def test_feature_names(clusters):
    X, y = clusters
    model = Consolidation().partial_fit(frame(X), y)
    assert model.feature_names_in_.tolist() == ["f0", "f1", "f2", "f3", "f4", "f5"]
    other = frame(X).rename(columns={"f5": "other"})
    for call in [model.predict, lambda X: model.partial_fit(X, y), lambda X: model.unlearn(X, y)]:
        with pytest.raises(error.FeatureNamesError, match="missing: 'f5'; not among them: 'other'"):
            call(other)
    with pytest.warns(UserWarning, match="X has no column names"):
        model.predict(X)
    turned = frame(X)[["f5", "f4", "f3", "f2", "f1", "f0"]]
    assert (model.predict(turned) == model.predict(frame(X))).all()
    learned = Consolidation().fit(frame(X), y).partial_fit(turned, y)
    assert learned.predict_proba(turned).tolist() == model.partial_fit(frame(X), y).predict_proba(frame(X)).tolist()


def test_what_was_learned_is_said(clusters, tmp_path):
    X, y = clusters
    model = Consolidation().fit(frame(X), y)
    line = repr(model.learned_)
    assert line.startswith(f"learned {len(X)} rows of 6 features (f0, f1, f2, f3, ...); ")
    assert sum(model.learned_["new_classes"].values()) == len(X)
    assert model.partial_fit(frame(X), y).learned_["new_classes"] == {}
    with pytest.warns(UserWarning, match="look alike"):
        Consolidation().fit([[0.0], [1.0]], ["Cat", "cat"])
    model.save(tmp_path / "m.aact")
    assert autoactivator.load(tmp_path / "m.aact").feature_names_in_.tolist() == ["f0", "f1", "f2", "f3", "f4", "f5"]


def test_a_row_counts_as_often_as_it_weighs(clusters):
    X, y = clusters
    weights = np.arange(len(y)) % 4
    copied = Consolidation(precision="f64").fit(X.repeat(weights, axis=0), y.repeat(weights))
    weighed = Consolidation(precision="f64").fit(X, y, sample_weight=weights)
    assert np.allclose(weighed.predict_proba(X), copied.predict_proba(X), atol=1e-3)
    assert weighed.growth_[0]["rows"] == weights.sum()
    assert weighed.learned_["rows"] == 90 and "; weighed by sample_weight; 30 rows left out; " in repr(weighed.learned_)
    before = weighed.predict_proba(X)
    light = np.linspace(0.1, 2, len(y))
    weighed.partial_fit(X + 9, y + 10, sample_weight=light).unlearn(X + 9, y + 10, sample_weight=light)
    assert weighed.classes_.tolist() == [0, 1, 2, 3]
    assert np.allclose(weighed.predict_proba(X), before, atol=1e-3)


def test_named_features_no_more(clusters):
    X, y = clusters
    model = Consolidation().fit(frame(X), y)
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def bad(change):
    """What is said about rows in which something was changed."""

    def call(model, X, y):
        X = X.copy()
        change(X)
        model.partial_fit(X, y)

    return call


def put(row, feature, value):
    return bad(lambda X: X.__setitem__((row, feature), value))


MISTAKES = {
    "NaN": (put(7, 2, np.nan), error.NotFiniteError, "row 7, feature 2 is NaN: remove the row"),
    "infinity": (put(0, 5, -np.inf), error.NotFiniteError, "row 0, feature 5 is -inf"),
    "too large for single precision": (
        lambda m, X, y: m.fit(X.astype(float) * 1e300, y), error.NotFiniteError, r"row 0, feature \d is -?inf"),
    "wrong width": (
        lambda m, X, y: m.predict(X[:, :5]), error.FeatureCountError,
        "is expecting 6 features as input: rows have 5 features, the model was learned with 6"),
    "wrong width to learn": (
        lambda m, X, y: m.partial_fit(X[:, :5], y), error.FeatureCountError, "rows have 5 features"),
    "no features": (
        lambda m, X, y: m.fit(X[:, :0], y), error.NoFeaturesError, "rows have no features: at least one column"),
    "no rows": (lambda m, X, y: m.fit(X[:0], y[:0]), error.EmptyTaskError, "task 1 has no rows"),
    "lengths": (lambda m, X, y: m.fit(X, y[1:]), error.LengthMismatchError, "120 rows but 119 labels"),
    "a negative weight": (
        lambda m, X, y: m.partial_fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, -0.5, 1)),
        error.BadWeightError, "row 3 weighs -0.5: a weight says how often the row counts; make it a number from 0 to"),
    "a weight that is NaN": (
        lambda m, X, y: m.fit(X, y, sample_weight=[np.nan] * len(y)), error.BadWeightError, "row 0 weighs NaN"),
    "an infinite weight": (
        lambda m, X, y: m.unlearn(X, y, sample_weight=np.inf), error.BadWeightError, "row 0 weighs inf"),
    "too few weights": (lambda m, X, y: m.fit(X, y, sample_weight=[1.0]), error.WeightCountError,
                        "1 weight for 120 rows: give one weight per row"),
    "weights of two dimensions": (lambda m, X, y: m.fit(X, y, sample_weight=np.ones((len(y), 2))), ValueError,
                                  "sample_weight has the shape \\(120, 2\\)"),
    "weights that are texts": (lambda m, X, y: m.fit(X, y, sample_weight=["heavy"] * len(y)), ValueError,
                               "could not convert string to float"),
    "weights of nothing": (lambda m, X, y: m.partial_fit(X, y, sample_weight=0), error.EmptyTaskError,
                           "only rows of zero weight"),
    "more weight than was learned": (lambda m, X, y: m.unlearn(X, y, sample_weight=2), error.NeverLearnedError,
                                     "cannot have been learned"),
    "weights for the paper's learner": (lambda m, X, y: Reactivation().fit(X, y, sample_weight=2), TypeError,
                                        "sample_weight"),
    "one dimension": (lambda m, X, y: m.predict(X[0]), ValueError, "Expected 2D array, got 1D array instead"),
    "three dimensions": (lambda m, X, y: m.predict(X[None]), ValueError, "dim 3"),
    "sparse": (lambda m, X, y: m.fit(csr_matrix(X), y), TypeError, "dense data is required"),
    "objects": (lambda m, X, y: m.fit(np.full(X.shape, {}), y), TypeError, "must be a string or a real number"),
    "texts": (lambda m, X, y: m.fit(np.full(X.shape, "red"), y), ValueError, "could not convert string to float"),
    "complex": (lambda m, X, y: m.fit(X * 1j, y), ValueError, "Complex data not supported"),
    "missing labels": (lambda m, X, y: m.fit(X, np.where(y == 0, None, "a")), ValueError,
                       "labels of several kinds, or none for some rows"),
    "fractions as labels": (lambda m, X, y: m.fit(X, y + 0.5), ValueError, "Unknown label type: continuous"),
    "a class that is not there": (
        lambda m, X, y: m.drop_class(9), error.UnknownClassError, "class '9' is not known: the model knows"),
    "never learned": (lambda m, X, y: m.unlearn(X + 9, y), error.NeverLearnedError, "cannot have been learned"),
    "parameter": (lambda m, X, y: Consolidation(fading=2).fit(X, y), error.ParameterError,
                  "parameter `fading` is 2: must be above 0 and at most 1"),
    "parameter of another type": (lambda m, X, y: Consolidation(max_nodes="many").fit(X, y), error.ParameterError,
                                  'parameter `max_nodes` is "many": invalid type: string "many", expected usize'),
    "parameter that is no number": (lambda m, X, y: Consolidation(ridge=np.nan).fit(X, y), error.ParameterError,
                                    "parameter `ridge` is nan: must be a finite number"),
    "parameter of a word": (lambda m, X, y: Consolidation(readout="svm").fit(X, y), error.ParameterError,
                            "parameter `readout` is \"svm\": unknown variant `svm`, expected one of `blend`, `ridge`"),
    "parameter changed": (lambda m, X, y: m.set_params(r=0.5).partial_fit(X, y), error.FixedParameterError,
                          "parameter `r` is 0.9 in this model and cannot be changed"),
    "unlearning what faded": (lambda m, X, y: Consolidation(fading=0.5).fit(X, y).unlearn(X, y), error.FadedError,
                              "`fading` is 0.5"),
    "private pool": (
        lambda m, X, y: Consolidation(private=True, pool={"kind": "features", "preparation": "columns"}).fit(X, y),
        error.ParameterError, "takes nothing from rows"),
    "reject with one class": (lambda m, X, y: Consolidation().fit(X, y * 0).predict(X, reject=0.1),
                              error.CannotRejectError, "only one class"),
    "discover with one class": (lambda m, X, y: Consolidation().fit(X, y * 0).discover(X),
                                error.CannotDiscoverError, "only one class"),
    "reject": (lambda m, X, y: m.predict(X, reject=5), error.ParameterError, "parameter `reject` is 5"),
    "group": (lambda m, X, y: m.predict_groups(X, group=0), error.ParameterError, "a number of rows above 0, or all"),
    "image": (lambda m, X, y: Consolidation(image="6").fit(X, y), error.ParameterError, 'parameter `image` is "6"'),
    "image shape": (lambda m, X, y: Consolidation(image=(28, 28)).fit(X, y), error.ImageShapeError,
                    "images of 28x28x1 do not fit rows of 6 features"),
    "no image": (lambda m, X, y: Consolidation(pool={"kind": "convolution"}).fit(X, y), error.NoImagesError,
                 "`convolution` needs images"),
    "other units": (lambda m, X, y: Reactivation(gate="density", reuse=True, **QUICK).fit(X, y).drop_class("0"),
                    error.FixedUnitsError, "they use nodes of each other"),
    "other pool": (lambda m, X, y: m.merge(Consolidation(seed=1).fit(X, y)), error.DifferentPoolsError,
                   "the memories have different pools"),
    "one row": (lambda m, X, y: Reactivation().fit(X[:20], np.arange(20)), error.TooFewRowsError,
                "has only 1 row: at least 2 are needed"),
    "repeated": (lambda m, X, y: Reactivation(**QUICK).fit(X, y).partial_fit(X, y), error.RepeatedClassError,
                 "was already learned in task 1: set `repeated_classes` to `accept`"),
    "candidates": (lambda m, X, y: Reactivation(t_max=100_000, step_size=10_000).fit(X, y),
                   error.TooManyCandidatesError, "lower `t_max` or `step_size`"),
    "no file": (lambda m, X, y: autoactivator.load("nowhere.aact"), error.IoError, "nowhere.aact"),
    "no model": (lambda m, X, y: autoactivator.load(__file__), error.BadModelError, "not a usable model file"),
    "nothing learned": (lambda m, X, y: Consolidation().predict(X), error.NothingLearnedError,
                        "nothing has been learned yet: learn a task first"),
    "nothing learned, as scikit-learn says": (lambda m, X, y: Reactivation().save("x"), NotFittedError, "nothing"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named_and_change_nothing(mistake, clusters):
    X, y = clusters
    model = Consolidation().fit(X, y)
    before, names = model._model.to_bytes(), dict(vars(model))
    call, exception, message = MISTAKES[mistake]
    with pytest.raises(exception, match=message):
        call(model, X, y)
    changed = {name for name in names if vars(model)[name] is not names[name]} - {"r"}
    assert model._model.to_bytes() == before and not changed


def variants(path):
    """The names of the variants of a Rust enum."""
    text = (ROOT / path).read_text(encoding="utf-8")
    return re.findall(r"^    ([A-Z]\w+)(?: \{|\(|,)", text[text.index("pub enum Error") :], flags=re.MULTILINE)


def test_each_error_has_an_exception_of_its_own():
    crates = ("autoactivator", "autoactivator-data", "autoactivator-exam")
    found = [variants(f"crates/{crate}/src/error.rs") for crate in crates]
    assert len(found[0]) > 20
    for variant in {variant for of_crate in found for variant in of_crate}:
        if variant not in ("Method", "Features"):  # these only carry another one
            exception = getattr(error, f"{variant}Error")
            assert issubclass(exception, error.AutoActivatorError) and exception.__doc__


def test_a_float32_array_is_not_copied():
    """Learning from 400 MB adds far less than that to the peak: measured in a process of its own."""
    script = textwrap.dedent("""
        import resource
        import numpy as np
        from autoactivator import Consolidation

        X = np.zeros((100_000, 1000), dtype=np.float32)
        X += np.arange(1000, dtype=np.float32) / 1000
        X[::2, 0] = 5
        y = np.arange(100_000) % 2
        small = {"kind": "uniform", "nodes": 16, "scope": 0.1, "activation": "relu"}
        model = Consolidation(pool=small).fit(X[:1000], y[:1000])
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        before = peak()
        model.partial_fit(X, y).predict(X)
        print(peak() - before)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    added = float(done.stdout)
    print(f"400 MB of rows learned and predicted, {added:.0f} MB added to the peak")
    assert added < 100
