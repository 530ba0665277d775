"""The estimators are at home in scikit-learn: its own law book, and the tools that users put around an estimator."""

import json
import pickle

import joblib
import numpy as np
import pytest
import skops.io
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from autoactivator import Consolidation, Reactivation
from autoactivator._core import Model
from autoactivator.error import ParameterError
from autoactivator.learner import OF_PYTHON

QUICK = {"t_max": 5, "l_max": 30}

ROUNDING = (
    "scores are products in single precision, whose last bits depend on how many rows are multiplied at a time; the"
    " check allows for 1e-7"
)
COPIES = "sums are rounded, in an order that copies change: test_weights_are_copies has the bound"
REPEATED = "learns the same classes again by partial_fit, which the paper's learner refuses unless it is told to accept"
COSTS = (
    "discriminant analysis takes weights for evidence, and `prior` for how often classes come; the check wants weights of"
    " 10,000,000 to 1 to hide classes that lie apart"
)
NAMES = "columns in another order are put right by name, where scikit-learn refuses them"


def expected_failures(estimator):
    """What fails, and why."""
    failures = {"check_methods_subset_invariance": ROUNDING, "check_dataframe_column_names_consistency": NAMES}
    failures["check_sample_weight_equivalence_on_dense_data"] = COPIES
    if isinstance(estimator, Consolidation):
        failures["check_class_weight_classifiers"] = COSTS
    if isinstance(estimator, Reactivation) and estimator.repeated_classes == "refuse":
        failures["check_fit_score_takes_y"] = REPEATED
    return failures


@parametrize_with_checks(
    [Consolidation(), Reactivation(**QUICK), Reactivation(**QUICK, repeated_classes="accept")],
    expected_failed_checks=expected_failures,
)
def test_law_book(estimator, check):
    check(estimator)


def test_weights_are_copies():
    """Up to the rounding of products, which a model of far more nodes than rows makes larger."""
    rng = np.random.RandomState(42)
    X, y = rng.rand(60, 5), rng.randint(0, 3, size=60)
    weights = rng.randint(0, 5, size=60)
    weighed = Consolidation(precision="f64").fit(X, y, sample_weight=weights)
    copied = Consolidation(precision="f64").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighed.predict_proba(X), copied.predict_proba(X), atol=1e-3)
    assert np.array_equal(weighed.predict(X), copied.predict(X))


def test_weights_are_routed(clusters):
    X, y = clusters
    light = np.where(y == 3, 0.0, 1.5)
    boosted = AdaBoostClassifier(Consolidation(nodes=8), n_estimators=3).fit(X, y)
    assert boosted.score(X, y) > 0.9
    with config_context(enable_metadata_routing=True):
        model = Consolidation().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(X, y, sample_weight=light)
    assert pipeline.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("estimator", [Consolidation(), Reactivation(**QUICK)])
class TestTools:
    def test_pipeline(self, estimator, digits):
        X, X_test, y, y_test = digits
        model = make_pipeline(StandardScaler(), estimator).fit(X, y)
        assert model.score(X_test, y_test) > 0.85

    def test_grid_search(self, estimator, digits):
        X, X_test, y, y_test = digits
        search = GridSearchCV(estimator, {"r": np.array([0.5, 0.9]), "seed": np.arange(2)}, cv=2)
        search.fit(X[:600], y[:600])
        assert search.score(X_test, y_test) > 0.85

    def test_cross_validation(self, estimator, digits):
        X, _, y, _ = digits
        assert cross_val_score(estimator, X[:600], y[:600], cv=3).mean() > 0.85

    def test_calibration(self, estimator, digits):
        X, X_test, y, y_test = digits
        calibrated = CalibratedClassifierCV(estimator, cv=2).fit(X[:600], y[:600])
        assert calibrated.score(X_test, y_test) > 0.85
        assert np.allclose(calibrated.predict_proba(X_test).sum(axis=1), 1)

    def test_clone_pickle_joblib(self, estimator, clusters, tmp_path):
        X, y = clusters
        model = clone(estimator).fit(X, np.array(["a", "b", "c", "d"])[y])
        joblib.dump(model, tmp_path / "model.joblib")
        for copy in [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")]:
            assert copy.get_params() == model.get_params()
            assert copy.classes_.tolist() == ["a", "b", "c", "d"]
            assert np.array_equal(copy.decision_function(X), model.decision_function(X))
        assert not hasattr(clone(model), "classes_")

    def test_skops(self, estimator, clusters):
        X, y = clusters
        model = make_pipeline(StandardScaler(), estimator).fit(X, y)
        stored = skops.io.dumps(model)
        ours = set(skops.io.get_untrusted_types(data=stored))
        assert ours == {f"{type(estimator).__module__}.{type(estimator).__name__}", "autoactivator.learner.Learned"}
        copy = skops.io.loads(stored, trusted=list(ours))
        assert np.array_equal(copy.decision_function(X), model.decision_function(X))

    def test_threads(self, estimator, clusters):
        X, y = clusters
        model = clone(estimator).fit(X, y)
        answers = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(model.predict)(X) for _ in range(8))
        assert all(np.array_equal(answer, answers[0]) for answer in answers)


def test_parameters_have_the_defaults_of_the_method():
    for estimator in [Consolidation(), Reactivation()]:
        X, y = [[0.0], [0.1], [0.9], [1.0]] * 5, [0, 0, 1, 1] * 5
        assert estimator.fit(X, y)._model.parameters == Model(estimator._kind, "{}").parameters


def test_every_parameter_of_the_method_is_an_argument():
    """Screening is listed only where it is off: files from before it could be switched off do not mention it."""
    for estimator, rare in [(Consolidation(), {}), (Reactivation(), {"screening": False})]:
        arguments = {name: value for name, value in estimator.get_params().items() if name not in OF_PYTHON}
        defaults = json.loads(Model(estimator._kind, "{}").parameters)
        listed = json.loads(Model(estimator._kind, json.dumps(rare)).parameters)
        assert arguments.keys() == listed.keys()
        for name, value in defaults.items():
            argument = list(arguments[name]) if isinstance(arguments[name], tuple) else arguments[name]
            assert argument == value or (argument is None and value == {}), name
        assert all(arguments[name] != value for name, value in rare.items())


@pytest.mark.parametrize("kind", [Consolidation, Reactivation])
def test_the_seed_under_the_name_of_sklearn(kind, clusters):
    X, y = clusters
    seeded = kind(seed=7).fit(X, y).decision_function(X)
    assert np.array_equal(kind(random_state=7).fit(X, y).decision_function(X), seeded)
    random = kind(random_state=np.random.RandomState(7))
    first = random.fit(X, y).decision_function(X)
    assert not np.array_equal(random.fit(X, y).decision_function(X), first)
    pickle.loads(pickle.dumps(random)).set_params(n_jobs=1).predict(X)
    if kind is Consolidation:
        random.partial_fit(X, y)
    with pytest.raises(ParameterError, match="two names of one parameter"):
        kind(seed=7, random_state=8).fit(X, y)


def test_class_weights_under_the_name_of_sklearn(clusters):
    X, y = clusters
    rare = (y != 0) | (np.arange(len(y)) % 5 == 0)
    for weights in ["balanced", {0: 5.0}]:
        ours = Consolidation(class_weights=weights).fit(X[rare], y[rare])
        theirs = Consolidation(class_weight=weights).fit(X[rare], y[rare])
        assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    with pytest.raises(ParameterError, match="two names of one parameter"):
        Consolidation(class_weights="balanced", class_weight="balanced").fit(X, y)


def test_any_number_of_threads_gives_the_same(clusters):
    X, y = clusters
    models = [Consolidation(n_jobs=n).fit(X, y) for n in [None, 1, 2, -1]]
    answers = [model.predict_proba(X) for model in models]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    with pytest.raises(ParameterError, match="`n_jobs` is 0"):
        Consolidation(n_jobs=0).fit(X, y)


def test_tasks_are_told_if_asked_for(clusters, capsys):
    X, y = clusters
    Consolidation(verbose=0).fit(X, y)
    assert capsys.readouterr().out == ""
    model = Consolidation(verbose=1).fit(X, y)
    assert capsys.readouterr().out == f"{model.learned_}\n" and "learned 120 rows" in str(model.learned_)


def test_a_fitted_model_says_what_it_knows(clusters):
    X, y = clusters
    model = Consolidation(nodes=8)
    assert repr(model) == "Consolidation(nodes=8)"
    assert repr(model.fit(X, y)).startswith("Consolidation(nodes=8) with 4 classes (")
    assert "with 4 classes" not in repr(clone(model))
    assert "Consolidation(nodes=8)" in repr(make_pipeline(StandardScaler(), model))


def test_a_notebook_shows_units_nodes_and_classes(clusters):
    X, y = clusters
    shown = Reactivation(**QUICK).fit(X, y)._repr_mimebundle_()["text/html"]
    assert "<th>unit</th>" in shown and "<th>threshold</th>" in shown and "4 classes: " in shown
    shown = Consolidation().fit(X, np.array(["<b>", "c", "d", "e"])[y])._repr_html_()
    assert "<svg" in shown and "task 1: 120 rows, 4 classes" in shown
    assert "<th>nodes</th>" in shown and "&lt;b&gt;" in shown and "<b>, " not in shown
    assert "<th>" not in Consolidation()._repr_html_().split("</style>")[-1]
