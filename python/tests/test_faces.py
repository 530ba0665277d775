"""The faces are alike: the same data, seed and parameters give the same files, answers and records everywhere."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import autoactivator
from autoactivator import Consolidation, Reactivation, cil
from autoactivator.rows import name
from conftest import content

LEARNERS = {
    "consolidation": (
        Consolidation(
            seed=3,
            nodes_per_class=5,
            pool={"kind": "uniform", "nodes": 40, "scope": 0.5, "activation": "sigmoid"},
        ),
        ["--pool", "uniform", "--pool-nodes", "40", "--nodes-per-class", "5"],
    ),
    "reactivation": (Reactivation(seed=3, t_max=5, l_max=30), ["--t-max", "5", "--l-max", "30"]),
}


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("labels", [["3", "10", "2", "1"], ["pear", "fig", "apple", "kiwi"]])
def test_same_model_file(kind, labels, clusters, command_line, tmp_path):
    """Two tasks, learned by the command line from csv and from npz, and by Python from the same arrays."""
    X, y = clusters
    model, options = LEARNERS[kind]
    as_labels = np.array([int(label) if label.isdecimal() else label for label in labels])
    for task, codes in enumerate([[0, 1], [2, 3]]):
        rows = np.isin(y, codes)
        if task == 0:
            file = tmp_path / "task.csv"
            table = np.column_stack([X[rows].astype(str), np.array(labels)[y[rows]]])
            np.savetxt(file, table, fmt="%s", delimiter=",")
            model.fit(X[rows], as_labels[y[rows]])
        else:
            file = tmp_path / "task.npz"
            np.savez(file, features=X[rows], labels=as_labels[y[rows]])
            model.partial_fit(X[rows], as_labels[y[rows]])
        new = ["--learner", kind, "--seed", 3, *options] if task == 0 else []
        command_line("learn", "cli.aact", file, *new)
        model.save(tmp_path / "python.aact")
        assert content((tmp_path / "python.aact").read_bytes()) == content((tmp_path / "cli.aact").read_bytes())
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.9g")
    answers = command_line("predict", "python.aact", "rows.csv").split()[1:]
    assert [answer.split(",")[1] for answer in answers] == model.predict(X).astype(str).tolist()
    groups = command_line("predict", "python.aact", "rows.csv", "--group", 7).split()[1:]
    assert [answer.split(",")[1] for answer in groups] == model.predict_groups(X, group=7).astype(str).tolist()
    loaded = autoactivator.load(tmp_path / "cli.aact")
    assert loaded.get_params() == {**model.get_params(), **loaded_as(loaded)}
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_units_over_filters_are_the_same_in_both_faces(clusters, command_line, tmp_path):
    X, y = clusters
    images = np.tile(X[:, :1], (1, 16)) * np.linspace(0, 1, 16, dtype=X.dtype)
    np.savez(tmp_path / "task.npz", features=images, labels=y)
    options = ["--t-max", 5, "--l-max", 30, "--gate", "density", "--gate-nodes", 8, "--filters", 4, "--image", "4x4"]
    command_line("learn", "cli.aact", "task.npz", "--learner", "reactivation", *options)
    model = Reactivation(t_max=5, l_max=30, gate="density", gate_nodes=8, filters=4, image=(4, 4)).fit(images, y)
    loaded = autoactivator.load(tmp_path / "cli.aact")
    assert (loaded.filters, loaded.image) == (4, "4x4x1")
    assert np.array_equal(loaded.predict_proba(images), model.predict_proba(images))


def test_a_model_without_screening_is_the_same_in_both_faces(clusters, command_line, tmp_path):
    X, y = clusters
    np.savez(tmp_path / "task.npz", features=X, labels=y)
    command_line("learn", "cli.aact", "task.npz", "--learner", "reactivation", "--t-max", "5", "--no-screening")
    loaded = autoactivator.load(tmp_path / "cli.aact")
    assert loaded.screening is False
    Reactivation(t_max=5, screening=False).fit(X, y).save(tmp_path / "python.aact")
    assert (tmp_path / "python.aact").read_bytes() == (tmp_path / "cli.aact").read_bytes()


def test_the_library_writes_the_same_file(tmp_path):
    """The rows are those of `tests/wheel.rs`, which lets the Rust library learn them."""
    file = os.environ.get("AUTOACTIVATOR_LIBRARY_MODEL")
    if file is None:
        pytest.skip("AUTOACTIVATOR_LIBRARY_MODEL does not name the library's file")
    i, j = np.arange(120)[:, None], np.arange(6)
    X = ((i * 7 + j * 13) % 17 / 16 + i % 3).astype(np.float32)
    Consolidation().fit(X, np.arange(120) % 3).save(tmp_path / "python.aact")
    assert (tmp_path / "python.aact").read_bytes() == Path(file).read_bytes()


def loaded_as(loaded):
    """A pool in a file has all its settings."""
    return {"pool": loaded.pool} if hasattr(loaded, "pool") else {}


def test_the_memory_in_all_faces(clusters, command_line, tmp_path):
    X, y = clusters
    base = Consolidation().fit(X[y == 0], y[y == 0])
    base.save(tmp_path / "base.aact")
    a, b = (autoactivator.load(tmp_path / "base.aact") for _ in range(2))
    a.partial_fit(X[y == 1], y[y == 1]).save(tmp_path / "a.aact")
    b.partial_fit(X[y == 2], y[y == 2]).save(tmp_path / "b.aact")
    command_line("merge", "all.aact", "a.aact", "b.aact", "--base", "base.aact")
    a.merge(b, base=base).save(tmp_path / "python.aact")
    assert (tmp_path / "all.aact").read_bytes() == (tmp_path / "python.aact").read_bytes()
    assert a.classes_.tolist() == [0, 1, 2]

    rows = np.flatnonzero(y == 1)[:5]
    np.savez(tmp_path / "back.npz", features=X[rows], labels=y[rows])
    command_line("unlearn", "all.aact", "back.npz")
    command_line("drop-class", "all.aact", "2")
    command_line("rename-class", "all.aact", "1", "7")
    command_line("rename-class", "all.aact", "7", "1")
    a.unlearn(X[rows], y[rows]).drop_class(2).rename_class(1, 7).rename_class(7, 1).save(tmp_path / "python.aact")
    assert content((tmp_path / "all.aact").read_bytes()) == content((tmp_path / "python.aact").read_bytes())
    assert a.classes_.tolist() == [0, 1]

    command_line("export", "all.aact", "-o", "head.onnx", "--onnx")
    assert (tmp_path / "head.onnx").read_bytes() == a.to_onnx()
    command_line("export", "all.aact", "-o", "half.aact", "--half")
    a.export(tmp_path / "python-half.aact", half=True)
    assert (tmp_path / "half.aact").read_bytes() == (tmp_path / "python-half.aact").read_bytes()
    deployed = autoactivator.load(tmp_path / "half.aact")
    assert np.array_equal(deployed.predict(X), a.predict(X))
    with pytest.raises(autoactivator.error.NoMemoryError, match="a deployed model cannot learn"):
        deployed.partial_fit(X, y)


def test_unknown_rows(clusters, command_line, tmp_path):
    X, y = clusters
    model = Consolidation().fit(X, y)
    model.save(tmp_path / "model.aact")
    far = np.concatenate([X[:20], np.full((3, 6), 0.5, dtype=np.float32)])
    found = model.predict(far, reject=0.1)
    assert found[-3:].tolist() == [None] * 3
    np.savetxt(tmp_path / "rows.csv", far, delimiter=",", fmt="%.9g")
    lines = command_line("predict", "model.aact", "rows.csv", "--reject", "0.1", "--format", "jsonl").splitlines()
    said = [json.loads(line)["class"] for line in lines]
    assert said == [None if label is None else str(label) for label in found]


def test_new_classes(clusters, command_line, tmp_path):
    X, y = clusters
    model = Consolidation().fit(X[y < 3], y[y < 3])
    model.save(tmp_path / "model.aact")
    found = model.discover(X)
    assert [group.name for group in found] == [f"group-{number + 1}" for number in range(len(found))]
    assert [group.size for group in found] == [np.sum(found.labels == group.name) for group in found]
    assert all(group.nearest in model.classes_ for group in found)
    assert np.mean(found.labels[y == 3] == "group-1") > 0.8
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.9g")
    lines = command_line("discover", "model.aact", "rows.csv").splitlines()[1:]
    said = {int(line.split(",")[0]): line.split(",")[2] for line in lines}
    assert said == {row: label for row, label in enumerate(found.labels) if label is not None}


def test_onnx_predicts_the_same(clusters):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = clusters
    for labels in [np.array([10, 9, -2, 100]), np.array(["10", "9", "-2", "100"]), np.array([10.0, 9, 2, 1])]:
        model = Consolidation().fit(X[y > 1], labels[y[y > 1]]).partial_fit(X[y < 2], labels[y[y < 2]])
        assert model._model.classes != [str(label) for label in model.classes_], "they arrived in another order"
        session = onnxruntime.InferenceSession(model.to_onnx())
        classes, scores, probabilities = session.run(["class", "scores", "probabilities"], {"x": X})
        names = json.loads(session.get_modelmeta().custom_metadata_map["classes"])
        assert names == [name(label) for label in model.classes_]
        assert np.array_equal(model.classes_[classes], model.predict(X))
        assert np.allclose(probabilities, model.predict_proba(X), atol=1e-3)
        # Single precision may round what all scores of a row have in common.
        assert np.allclose(np.diff(scores), np.diff(model.decision_function(X)), atol=0.05)


EXAM = {
    "tasks": "10/5",
    "learners": ["consolidation", "reactivation", "nearest-mean"],
    "protocols": ["instance", "task-batch=10"],
    "seeds": 2,
    "seed": 5,
}


def without_times(record):
    """A record without what no two runs have in common."""
    if isinstance(record, dict):
        return {name: without_times(value) for name, value in record.items() if "seconds" not in name}
    return [without_times(value) for value in record] if isinstance(record, list) else record


def test_same_record(command_line, tmp_path):
    parameters = {"t_max": 5, "l_max": 30}
    words = [word for kind in EXAM["learners"] for word in ("--learner", kind)]
    words += [word for protocol in EXAM["protocols"] for word in ("--protocol", protocol)]
    words += ["--tasks", "10/5", "--seeds", 2, "--seed", 5, "--t-max", 5, "--l-max", 30]
    printed = json.loads(command_line("run", "digits", *words, "--json", "-", "--no-report"))
    record = cil.run("digits", reactivation=parameters, **EXAM)
    assert without_times(record) == without_times(printed)
    assert record["results"][0]["learn_seconds"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"stream": 40, "order": "natural"}, ["--stream", 40, "--order", "natural"]),
        ({"imbalance": 20.0, "tasks": "5"}, ["--imbalance", 20, "--tasks", 5]),
        ({"shots": 5, "tasks": "B6/2"}, ["--shots", 5, "--tasks", "B6/2"]),
    ],
)
def test_uneven_classes_and_streams_give_the_same_record_on_the_command_line(command_line, arguments, words):
    words = [*words, "--learner", "streaming-lda", "--seeds", 1, "--json", "-", "--no-report"]
    printed = json.loads(command_line("run", "digits", *words))
    record = cil.run("digits", learners=["streaming-lda"], seeds=1, **arguments)
    assert without_times(record) == without_times(printed)


EXPERIMENT = """
title = "Two entrants"
tasks = "10/5"
protocols = ["instance"]
seeds = 2
learners = ["nearest-mean"]

[reactivation]
t_max = 3
l_max = 20

[[entrants]]
learner = "reactivation"
name = "more candidates"
reactivation.t_max = 5

[[entrants]]
learner = "streaming-lda"
preparation = "standardise"

[quick]
seeds = 1

[stand_in]
dataset = "digits"
tasks = "10/2"

[paper]
place = "Table 1"
ours = { aca = "97.00" }
"""


def test_same_record_of_an_experiment_file(command_line, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(EXPERIMENT)
    printed = json.loads(command_line("run", "two.toml", "--json", "-", "--no-report"))
    record = cil.run(file)
    assert without_times(record) == without_times(printed)
    assert list(record["parameters"]) == ["nearest-mean", "more candidates", "streaming-lda"]
    assert record["parameters"]["more candidates"]["t_max"] == 5
    assert record["parameters"]["more candidates"]["l_max"] == 20


def test_sections_and_arguments_over_an_experiment_file(command_line, tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(EXPERIMENT.replace("[reactivation]", "dataset = 'nowhere'\n\n[reactivation]", 1))
    record = cil.run(file, sections=["quick", "stand_in"], learners=["streaming-lda"], protocols=["task-told"])
    assert record["scenario"] == "10/2" and record["dataset"]["name"] == "digits"
    assert [(result["learner"], len(result["runs"])) for result in record["results"]] == [("streaming-lda", 1)]
    file.write_text(EXPERIMENT)
    words = ["--learner", "reactivation", "--seeds", 1, "--seed", 3, "--t-max", 2, "--tasks", "5"]
    printed = json.loads(command_line("run", "two.toml", *words, "--json", "-", "--no-report"))
    record = cil.run(file, learners=["reactivation"], seeds=1, seed=3, reactivation={"t_max": 2}, tasks="5")
    assert without_times(record) == without_times(printed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sedes = 1", r"bad\.toml: TOML parse error at line 1"),
        ("[quick]\nsedes = 1", r"bad\.toml: section `quick`: unknown field `sedes`"),
        (
            '[[entrants]]\nlearner = "reactivation"\nreactivation.t_maxx = 1',
            r"bad\.toml: entrant 'reactivation': parameters of reactivation: unknown field `t_maxx`",
        ),
        ("backbones = ['vit.onnx']", r"bad\.toml: Python does not compute features of images"),
        ("pictures = 100", "draws pictures and evaluates nothing"),
    ],
)
def test_the_place_of_an_error_in_an_experiment_file(text, message, tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(autoactivator.error.ExperimentError, match=message):
        cil.run(file, sections=["quick"])


def test_what_an_experiment_cannot_be_asked_for(tmp_path):
    with pytest.raises(autoactivator.error.ExperimentError, match="none.toml: "):
        cil.run(tmp_path / "none.toml")
    with pytest.raises(autoactivator.error.ExperimentError, match="section 'paper' cannot be laid over"):
        cil.run(sections=["paper"])
    with pytest.raises(autoactivator.error.ParameterError, match="parameter `reactivation` is .*t_maxx"):
        cil.run(reactivation={"t_maxx": 1})
    with pytest.raises(autoactivator.error.ParameterError, match="`t_max` is 0"):
        cil.run(reactivation={"t_max": 0})


def test_an_exam_on_arrays_and_in_a_loop_of_ones_own(digits):
    X, X_test, y, y_test = digits
    record = cil.run((X, y, X_test, y_test), tasks="10/5", learners=["consolidation"], protocols=["instance"], seeds=1)
    model, R = Consolidation(), []
    dealt = cil.tasks(y, "10/5", seed=0)
    for i, task in enumerate(dealt):
        rows = np.isin(y, task)
        model.partial_fit(X[rows], y[rows])
        R.append(cil.accuracy(model, X_test, y_test, dealt[: i + 1]))
    run = record["results"][0]["runs"][0]
    assert run["class_order"] == [str(label) for task in dealt for label in task]
    assert run["accuracy"] == R
    assert cil.metrics(R)["aca"] == pytest.approx(record["results"][0]["aca"]["mean"])
    assert model.growth_ == run["growth"]
    with pytest.raises(autoactivator.error.ScenarioError, match="'5/x' is not a scenario"):
        cil.tasks(y, "5/x")
    with pytest.raises(autoactivator.error.NoDatasetError, match="data set 'nothing' not found"):
        cil.run("nothing")
    with pytest.raises(autoactivator.error.ParameterError, match="parameter `learners` is"):
        cil.run(learners=["svm"])


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    record = cil.run("digits", learners=["nearest-mean"], protocols=["instance"], seeds=2)
    lines = cil.plot(record).get_lines()
    assert len(lines) == 1 and lines[0].get_ydata()[-1] == pytest.approx(record["results"][0]["aca"]["mean"])


def test_growth_is_ready_for_a_data_frame(clusters):
    pandas = pytest.importorskip("pandas")
    X, y = clusters
    for model in [Consolidation(nodes_per_class=5), Reactivation(t_max=5)]:
        frame = pandas.DataFrame(model.fit(X, y).growth_)
        assert {"task", "nodes"} <= set(frame.columns) and len(frame) >= 1
        assert frame["nodes"].iloc[-1] == model.size_["nodes"]


def test_same_suspects_and_questions(clusters, command_line, tmp_path):
    """Wrong labels and rows worth one are the same rows in Python and on the command line."""
    X, y = clusters
    X, y = X[y < 3], y[y < 3]
    wrong = [4, 17, 30]
    y = y.copy()
    y[wrong] = (y[wrong] + 1) % 3
    model = Consolidation().fit(X, y)
    model.save(tmp_path / "model.aact")
    np.savez(tmp_path / "rows.npz", features=X, labels=y)
    found = model.suspect(X, y, count=10)
    assert sorted(one["row"] for one in found[:3]) == wrong
    assert all(isinstance(one["label"], int) and one["label"] != one["class"] for one in found)
    assert 0 < found.share < 0.5
    lines = command_line("suspect", "rows.npz", "--model", "model.aact", "--count", 10, "--json").splitlines()
    assert [json.loads(line)["row"] for line in lines] == [one["row"] for one in found]
    assert json.loads(lines[0])["wrong"] == pytest.approx(found[0]["wrong"])
    asked = command_line("ask", "model.aact", "rows.npz", "--count", 7, "--json").splitlines()
    assert [json.loads(line)["row"] for line in asked] == model.ask(X, count=7).tolist()
    with pytest.raises(autoactivator.error.CannotDoubtError, match="keeps no rows"):
        Consolidation(private=True).fit(X, y).suspect(X, y)
    with pytest.raises(autoactivator.error.ParameterError, match="count"):
        model.ask(X, count=0)
