"""The client beside the estimators: the same answers, the same exceptions, over a socket."""

import os
import struct
import subprocess
import time
import zlib

import numpy as np
import pandas as pd
import pytest

import autoactivator
from autoactivator import Client, Consolidation, error


def test_a_client_answers_like_the_estimator(serve, clusters, tmp_path):
    X, y = clusters
    client, model = Client(serve("--empty", "--seed", "3")), Consolidation(seed=3)
    for task in ([0, 1], [2, 3]):
        rows = np.isin(y, task)
        assert client.partial_fit(X[rows], y[rows]) is client
        model.partial_fit(X[rows], y[rows])
    assert client.classes_.tolist() == model.classes_.tolist() == [0, 1, 2, 3]
    assert client.predict(X).tolist() == model.predict(X).tolist()
    assert np.allclose(client.predict_proba(X), model.predict_proba(X), atol=1e-5)
    assert client.predict(X + 9, reject=0.5).tolist() == [None] * len(X)
    assert [task["classes"] for task in client.growth_] == [task["classes"] for task in model.growth_]
    (tmp_path / "home.aact").write_bytes(client.download())
    assert autoactivator.load(tmp_path / "home.aact").predict(X).tolist() == model.predict(X).tolist()
    client.unlearn(X[:5], y[:5])
    model.unlearn(X[:5], y[:5])
    weights = np.linspace(0, 3, len(y))
    client.partial_fit(X, y, sample_weight=weights).unlearn(X[:9], y[:9], sample_weight=weights[:9])
    model.partial_fit(X, y, sample_weight=weights).unlearn(X[:9], y[:9], sample_weight=weights[:9])
    assert np.allclose(client.predict_proba(X), model.predict_proba(X), atol=1e-5)
    with pytest.raises(error.BadWeightError, match="row 2 weighs NaN"):
        client.partial_fit(X[:3], y[:3], sample_weight=[1, 1, np.nan])
    client.drop_class(3)
    model.drop_class(3)
    client.rename_class(2, 20)
    model.rename_class(2, 20)
    assert client.classes_.tolist() == model.classes_.tolist()
    assert np.allclose(client.predict_proba(X), model.predict_proba(X), atol=1e-5)
    assert client.download("onnx")[:1] == model.to_onnx()[:1]


def test_models_that_began_from_one_merge(serve, clusters, tmp_path):
    X, y = clusters
    client = Client(serve("--empty"))
    client.partial_fit(X[y < 2], y[y < 2])
    base = client.download()
    (tmp_path / "there.aact").write_bytes(base)
    there = autoactivator.load(tmp_path / "there.aact").partial_fit(X[y == 3], y[y == 3])
    there.save(tmp_path / "there.aact")
    client.partial_fit(X[y == 2], y[y == 2])
    client.merge(tmp_path / "there.aact", base=base)
    assert client.classes_.tolist() == [0, 1, 2, 3]
    assert np.mean(client.predict(X) == y) > 0.9


def test_mistakes_raise_what_the_estimator_raises(serve, clusters):
    X, y = clusters
    client = Client(serve("--empty"))
    with pytest.raises(error.NothingLearnedError, match="nothing has been learned yet"):
        client.predict(X)
    client.partial_fit(X, y)
    mistakes = {
        error.FeatureCountError: lambda model: model.predict(X[:, :2]),
        error.LengthMismatchError: lambda model: model.partial_fit(X, y[:5]),
        error.NotFiniteError: lambda model: model.partial_fit(np.full((1, 6), np.nan), [1]),
        error.NeverLearnedError: lambda model: model.unlearn(X + 5, y),
        error.UnknownClassError: lambda model: model.drop_class(77),
    }
    model = Consolidation().fit(X, y)
    for exception, mistake in mistakes.items():
        with pytest.raises(exception) as here:
            mistake(model)
        with pytest.raises(exception) as there:
            mistake(client)
        assert str(there.value) in str(here.value) or exception is error.NeverLearnedError
    with pytest.raises(error.BadModelError):
        client.merge(b"nothing")
    with pytest.raises(error.ParameterError):
        client.predict(X, reject=2)
    with pytest.raises(error.ParameterError):
        Client("127.0.0.1:7878").predict(X)
    with pytest.raises(OSError):
        Client("http://127.0.0.1:9").predict(X)


def test_a_token_is_sent_where_one_is_needed(serve, clusters):
    X, y = clusters
    url = serve("--empty", token="long and very random")
    for mistake in (lambda client: client.partial_fit(X, y), lambda client: client.download()):
        with pytest.raises(error.ServerError, match="needs the server's token") as refused:
            mistake(Client(url))
        assert (refused.value.kind, refused.value.status) == ("Unauthorized", 401)
    client = Client(url, token="long and very random")
    assert client.partial_fit(X[y == 0], y[y == 0]).classes_.tolist() == [0]
    assert client.download() and client.download("onnx")
    with pytest.raises(error.CannotRejectError, match="the model knows only one class"):
        client.predict(X, reject=0.1)
    with pytest.raises(error.CannotRejectError, match="the model knows only one class"):
        Consolidation().fit(X[y == 0], y[y == 0]).predict(X, reject=0.1)


def test_new_classes_are_found(serve, clusters):
    X, y = clusters
    client = Client(serve("--empty")).partial_fit(X[y < 3], y[y < 3])
    found, expected = client.discover(X), Consolidation().fit(X[y < 3], y[y < 3]).discover(X)
    assert found.labels.tolist() == expected.labels.tolist()
    assert [(group.name, group.size, group.nearest) for group in found] == [
        (group.name, group.size, group.nearest) for group in expected
    ]


def test_unknown_rows_are_kept_named_and_dismissed(serve, clusters):
    X, y = clusters
    client = Client(serve("--empty", "--keep-unknown", "1000")).partial_fit(X[y < 3], y[y < 3])
    found = client.predict(X[y == 3], reject="5%")
    n_unknown = sum(label is None for label in found)
    assert n_unknown > 3
    # They are written beside their answers.
    for _ in range(1000):
        kept = client.unknown()
        if sum(len(group.ids) for group in kept) + len(kept.alone) == n_unknown:
            break
        time.sleep(0.01)
    assert len(kept) == 1 and (kept.reason, kept.known, kept.dropped) == (None, 0, 0)
    group = kept[0]
    assert group.size == len(group.ids) and group.nearest in (0, 1, 2) and len(group.shown[0]["row"]) == X.shape[1]
    assert client.name_unknown(group.ids, 3).learned_["rows"] == group.size
    assert client.classes_.tolist() == [0, 1, 2, 3]
    assert np.mean(client.predict(X) == y) > 0.9
    with pytest.raises(error.ServerError, match="none of these rows is kept any more") as refused:
        client.name_unknown(group.ids, 3)
    assert (refused.value.kind, refused.value.status) == ("NotKept", 409)
    rest = len(client.unknown().alone)
    assert client.dismiss_unknown(group.ids) == 0
    assert client.dismiss_unknown() >= rest
    assert client.unknown().alone == []


def test_a_server_that_keeps_nothing_says_how_to_change_that(serve):
    client = Client(serve("--empty"))
    for ask in (client.unknown, client.dismiss_unknown, lambda: client.name_unknown(["0123456789abcdef"], 3)):
        with pytest.raises(error.ServerError, match="start it with --keep-unknown"):
            ask()


def png(pixels):
    """A grey image, 8 bits a pixel."""
    height, width = pixels.shape
    chunk = lambda kind, data: (  # noqa: E731
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    )
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def test_images_are_learned_and_predicted(serve, digits, tmp_path):
    X, _, y, _ = digits
    client = Client(serve())
    assert client.classes_.tolist() == [0, 1, 2, 3, 4]
    images = [png((row.reshape(8, 8) * 255).round().astype(np.uint8)) for row in X[y == 7][:40]]
    paths = [tmp_path / f"{place}.png" for place in range(len(images))]
    for path, image in zip(paths, images, strict=True):
        path.write_bytes(image)
    client.partial_fit(paths, [7] * 40)
    assert 7 in client.classes_
    assert np.mean(client.predict(images) == 7) > 0.5
    assert client.predict_proba(images[:2]).shape == (2, 6)
    client.unlearn(images, [7] * 40)
    with pytest.raises(error.BadDataError):
        client.predict([b"no image"])


def test_one_line_says_the_same_in_every_face(serve, clusters, tmp_path):
    """Where the classes came from, how long it took and how large the file is, not every face can know."""
    X, y = clusters
    table = pd.DataFrame(X, columns=list("abcdef"))
    table.assign(label=y).to_csv(tmp_path / "rows.csv", index=False)
    program = os.environ["AUTOACTIVATOR_CLI"]
    learn = [program, "learn", "m.aact", "rows.csv"]
    said = subprocess.run(learn, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    client = Client(serve("--empty")).partial_fit(table, y)
    model = Consolidation().fit(table, y)

    def known_to_all(line):
        parts = line.strip().split("; ")
        return [part for part in parts if not part.startswith("class from") and not part.endswith((" s", " bytes"))]

    assert known_to_all(said.removeprefix("m.aact: ")) == known_to_all(repr(model.learned_))
    assert known_to_all(repr(client.learned_)) == known_to_all(repr(model.learned_))
    assert "file of" in repr(client.learned_)
    turned = table[list("fedcba")]
    assert client.predict(turned).tolist() == model.predict(table).tolist()
    with pytest.raises(error.FeatureNamesError, match="missing: 'f'"):
        client.predict(table.rename(columns={"f": "g"}))
