"""Sentences in Python: the same rows, models and answers as on the command line and over HTTP."""

import json
import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone

import autoactivator
import words
from autoactivator import Client, Consolidation, Reactivation, TextEncoder, error
from autoactivator.text import sentences

TEXTS = [f"how {'are ' * (i % 3)}you{' are' * (i % 4)}" for i in range(12)]
TEXTS += [f"what is the time{' is' * (i % 3)} the{' time' * (i % 4)}" for i in range(12)]
CLASSES = ["greeting"] * 12 + ["time"] * 12


@pytest.fixture
def encoder(tmp_path):
    return words.write(tmp_path / "tiny")


def test_rows_are_means_of_length_one(encoder):
    found = TextEncoder(encoder).fit().transform(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(found, [words.row(text) for text in TEXTS], atol=1e-5)
    first = TextEncoder(encoder, pooling="first").transform(TEXTS[:2])
    assert np.allclose(first[0], first[1])
    cut = TextEncoder(encoder, max_tokens=4).transform(["how are you", "how are what"])
    assert np.array_equal(cut[0], cut[1])


def test_an_estimator_takes_sentences(encoder):
    model = Consolidation(backbone=encoder).fit(TEXTS, CLASSES)
    rows = TextEncoder(encoder).transform(TEXTS)
    by_rows = Consolidation().fit(rows, CLASSES)
    assert np.array_equal(model.predict_proba(TEXTS), by_rows.predict_proba(rows))
    assert np.array_equal(model.predict_proba(rows), by_rows.predict_proba(rows))
    for X in (np.array(TEXTS), np.array(TEXTS, dtype=object), pandas.Series(TEXTS), tuple(TEXTS)):
        assert np.array_equal(model.predict(X), by_rows.predict(rows))
    model.partial_fit(["my name is", "my name", "my my name"], ["name"] * 3)
    assert model.predict(["my name is my name"]).tolist() == ["name"]
    assert model.known(["how are you"]).shape == (1,)
    model.unlearn(["my name is", "my name", "my my name"], ["name"] * 3)
    assert model.classes_.tolist() == ["greeting", "time"]
    assert np.allclose(model.predict_proba(TEXTS), by_rows.predict_proba(rows), atol=1e-5)
    units = Reactivation(backbone=str(encoder), t_max=5, l_max=30).fit(TEXTS, CLASSES)
    assert units.predict(TEXTS[:3]).shape == (3,)


def test_it_is_cloned_pickled_and_loaded_with_its_encoder(encoder, tmp_path):
    model = Consolidation(backbone=TextEncoder(encoder)).fit(TEXTS, CLASSES)
    answers = model.predict_proba(TEXTS)
    assert np.array_equal(clone(model).fit(TEXTS, CLASSES).predict_proba(TEXTS), answers)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(TEXTS), answers)
    model.save(tmp_path / "model.aact")
    # The file remembers the encoder.
    assert np.array_equal(autoactivator.load(tmp_path / "model.aact").predict_proba(TEXTS), answers)


def test_the_usual_encoder_is_found_in_the_data_folder(tmp_path, monkeypatch):
    words.write(tmp_path / "backbones" / "minilm")
    monkeypatch.setenv("AUTOACTIVATOR_DATA", str(tmp_path))
    assert Consolidation().fit(TEXTS, CLASSES).predict(["how are you"]).tolist() == ["greeting"]
    assert TextEncoder("minilm").transform(["how"]).shape == (1, words.FEATURES)


def test_what_is_wrong_is_said(encoder, tmp_path):
    model = Consolidation(backbone=encoder).fit(TEXTS, CLASSES)
    before = model.predict_proba(TEXTS)
    with pytest.raises(error.BadDataError, match="row 1: the sentence is empty"):
        model.partial_fit(["how", " "], ["a", "a"])
    with pytest.raises(error.ParameterError, match="row 1 of X is 5"):
        model.predict(["how", 5])
    with pytest.raises(error.ParameterError, match="one string"):
        model.predict("how are you")
    other = words.write(tmp_path / "other")
    settings = TextEncoder(other, pooling="first")
    with pytest.raises(error.BadDataError, match="pooling is first"):
        model.set_params(backbone=settings).predict(["how"])
    vocabulary = words.tokenizer()
    vocabulary["model"]["vocab"]["my"] = 9999
    (other / "tokenizer.json").write_text(json.dumps(vocabulary))
    with pytest.raises(error.BadDataError, match="10000 words"):
        TextEncoder(other).transform(["how"])
    vocabulary["model"]["vocab"]["my"] = 2
    (other / "tokenizer.json").write_text(json.dumps(vocabulary))
    with pytest.raises(error.BadDataError, match="the model was learned from sentences through tiny"):
        model.set_params(backbone=other).predict(["how"])
    with pytest.raises(error.BadDataError, match="no-such-net"):
        TextEncoder("no-such-net").transform(["how"])
    assert np.array_equal(model.set_params(backbone=None).predict_proba(TEXTS), before)


def test_what_holds_sentences():
    assert sentences(np.array(["a", "b"])) == ["a", "b"]
    assert sentences([]) is None
    assert sentences(np.array([["a"], ["b"]])) is None
    assert sentences(pandas.DataFrame({"text": ["a"]})) is None
    assert sentences(pandas.Series([1.0])) is None
    assert sentences([b"a"]) is None


def test_every_face_gives_the_same_numbers(serve, encoder, command_line, tmp_path):
    table = pandas.DataFrame({"text": TEXTS, "class": CLASSES})
    table.to_csv(tmp_path / "train.csv", index=False)
    command_line("learn", "model.aact", "train.csv", "--text", "text", "--backbone", encoder)
    model = Consolidation(backbone=encoder).fit(TEXTS, CLASSES)
    expected = model.predict_proba(TEXTS)
    printed = command_line("predict", "model.aact", "train.csv", "--proba", "--format", "jsonl").splitlines()
    rows = [json.loads(line)["probabilities"] for line in printed]
    by_cli = np.array([[row[name] for name in model.classes_] for row in rows])
    assert np.allclose(by_cli, expected, atol=1e-6)
    loaded = autoactivator.load(tmp_path / "model.aact")
    assert np.allclose(loaded.predict_proba(TEXTS), expected, atol=1e-6)
    client = Client(serve())
    assert np.allclose(client.predict_proba(TEXTS), expected, atol=1e-6)
    assert client.predict(np.array(TEXTS)).tolist() == model.predict(TEXTS).tolist()
    names = ["my name is", "my name", "my my name"]
    client.partial_fit(names, ["name"] * 3)
    model.partial_fit(names, ["name"] * 3)
    assert np.allclose(client.predict_proba(TEXTS), model.predict_proba(TEXTS), atol=1e-5)
    client.unlearn(names, ["name"] * 3)
    assert client.classes_.tolist() == ["greeting", "time"]
