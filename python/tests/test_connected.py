"""Models in other people's tools: each integration against its real counterpart, or against what that one sends."""

import base64
import io
import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

import autoactivator
from autoactivator import Client, Consolidation, cil
from standin import hub as stand_in

WRITE, READ = "a token for changes", "a token to read with"
TEXTS = '<View><Text name="text" value="$message"/><Choices name="topic" toName="text"/></View>'
IMAGES = '<View><Image name="img" value="$image"/><Choices name="digit" toName="img" choice="single"/></View>'


@pytest.fixture
def served(digits, serve, tmp_path):
    """A server whose model knows the digits below 5, its address, and rows to ask about."""
    X, X_test, y, y_test = digits
    rows = y < 5
    Consolidation(nodes=64, image="8x8").fit(X[rows], y[rows]).save(tmp_path / "model.aact")
    return serve(), X_test[y_test < 5]


class TestTriton:
    """The Open Inference Protocol, with Triton's own client."""

    @pytest.fixture
    def client(self, served):
        import tritonclient.http as triton

        with triton.InferenceServerClient(served[0].removeprefix("http://")) as client:
            yield client

    def test_what_the_server_says_of_itself(self, client):
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("model")
        assert client.get_server_metadata()["name"] == "autoactivator"
        about = client.get_model_metadata("model")
        assert about["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 64]}]
        outputs = {output["name"]: output["shape"] for output in about["outputs"]}
        assert outputs == {"class": [-1], "probabilities": [-1, 5], "known": [-1]}

    @pytest.mark.parametrize("binary", [True, False], ids=["binary", "json"])
    def test_answers_are_those_of_our_own_client(self, client, served, binary):
        import tritonclient.http as triton

        address, X = served
        given = triton.InferInput("x", list(X.shape), "FP32")
        given.set_data_from_numpy(X, binary_data=binary)
        names = ["class", "probabilities", "known"]
        outputs = [triton.InferRequestedOutput(name, binary_data=binary) for name in names]
        answer = client.infer("model", [given], outputs=outputs, request_id="7")
        ours = Client(address)
        assert answer.get_response()["id"] == "7"
        names = answer.get_response()["parameters"]["classes"]
        order = np.argsort([int(name) for name in names])
        assert [int(name) for name in answer.as_numpy("class")] == ours.predict(X).tolist()
        np.testing.assert_allclose(
            answer.as_numpy("probabilities")[:, order], ours.predict_proba(X), rtol=1e-5, atol=1e-7
        )
        assert answer.as_numpy("known").shape == (len(X),)

    def test_without_options_and_with_doubles(self, client, served):
        import tritonclient.http as triton

        _, X = served
        given = triton.InferInput("x", list(X.shape), "FP64").set_data_from_numpy(X.astype(np.float64))
        far = triton.InferInput("x", [1, 64], "FP32").set_data_from_numpy(np.full((1, 64), 9, np.float32))
        assert len(client.infer("model", [given]).as_numpy("class")) == len(X)
        assert client.infer("model", [far], parameters={"reject": 0.05}).as_numpy("class").tolist() == [b""]

    def test_what_is_wrong_is_said(self, client):
        import tritonclient.http as triton

        def asked(model, shape, values):
            given = triton.InferInput("x", shape, "FP32").set_data_from_numpy(np.array(values, np.float32))
            with pytest.raises(triton.InferenceServerException) as refused:
                client.infer(model, [given])
            return str(refused.value)

        assert "the one that is served here is 'model'" in asked("other", [1, 1], [[0]])
        assert "[422] " in (said := asked("model", [1, 3], [[0, 1, 2]])) and "3 features" in said
        assert not client.is_model_ready("other")

    def test_the_token_is_needed_and_taken(self, serve, tmp_path):
        import tritonclient.http as triton

        Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], [0, 0, 1, 1]).save(tmp_path / "model.aact")
        address = serve("--read-token-file", token_file(tmp_path), token=WRITE)
        with triton.InferenceServerClient(address.removeprefix("http://")) as client:
            assert client.is_server_live()
            with pytest.raises(triton.InferenceServerException, match="this needs the server's token"):
                client.get_model_metadata("model")
            assert client.is_model_ready("model", headers={"Authorization": f"Bearer {READ}"})


def token_file(folder):
    file = folder / "read-token"
    file.write_text(READ)
    file.chmod(0o600)
    return str(file)


def posted(address, body, password=None):
    """What Label Studio sends, and the answer."""
    request = urllib.request.Request(address, json.dumps(body).encode(), {"Content-Type": "application/json"})
    if password:
        pair = base64.b64encode(f"label-studio:{password}".encode()).decode()
        request.add_header("Authorization", f"Basic {pair}")
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def annotated(number, config, data, choice, action="ANNOTATION_CREATED"):
    """An event as in Label Studio's reference of webhooks."""
    value = {"choices": [choice]}
    region = {
        "value": value,
        "id": "WArqkkifYE",
        "from_name": "digit",
        "to_name": "img",
        "type": "choices",
        "origin": "manual",
    }
    return {
        "action": action,
        "annotation": {
            "id": number,
            "result": [region],
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2021-08-17T13:52:48.536303Z",
            "updated_at": "2021-08-17T13:52:48.536370Z",
            "lead_time": 37.13,
            "prediction": {},
            "result_count": 0,
            "task": 19,
            "completed_by": 1,
        },
        "task": {"id": 19, "data": data, "meta": {}, "is_labeled": True, "overlap": 1, "project": 2, "file_upload": 46},
        "project": {
            "id": 2,
            "title": "New Project #2",
            "label_config": config,
            "control_weights": {},
            "is_draft": False,
        },
    }


class TestLabelStudio:
    """Label Studio's protocol for models, with what it sends."""

    @staticmethod
    def image(row):
        """A row of digits as a task holds it."""
        from matplotlib.image import imsave

        file = io.BytesIO()
        imsave(file, np.repeat(row.reshape(8, 8, 1), 3, axis=2).clip(0, 1), format="png")
        return {"image": "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()}

    def test_annotations_teach_a_class(self, digits, serve, tmp_path):
        X, X_test, y, y_test = digits
        rows = y < 5
        Consolidation(nodes=64, image="8x8").fit(X[rows], y[rows]).save(tmp_path / "model.aact")
        address = serve("--read-token-file", token_file(tmp_path), token=WRITE) + "/label-studio"
        with urllib.request.urlopen(f"{address}/health") as response:
            assert json.load(response)["status"] == "UP"
        about = {"project": "2.1629208574", "schema": IMAGES, "hostname": "http://localhost:8080", "access_token": "x"}
        assert "model_version" in posted(f"{address}/setup", about, READ)

        fives = X[y == 5][:12]
        events = [annotated(place, IMAGES, self.image(row), "5") for place, row in enumerate(fives)]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            posted(f"{address}/webhook", events[0], READ)
        assert [posted(f"{address}/webhook", event, WRITE)["rows"] for event in events] == [1] * 12
        # Sent again, or changed: nothing is learned.
        assert posted(f"{address}/webhook", events[0], WRITE)["repeated"]
        changed = {**events[1], "action": "ANNOTATION_UPDATED"}
        assert posted(f"{address}/webhook", changed, WRITE)["rows"] == 0

        asked = X_test[y_test == 5]
        tasks = [{"id": place, "data": self.image(row), "annotations": []} for place, row in enumerate(asked)]
        question = {"tasks": tasks, "model_version": None, "project": "2.1", "label_config": IMAGES, "params": {}}
        answer = posted(f"{address}/predict", question, READ)
        first = answer["results"][0]["result"][0]
        assert (first["from_name"], first["to_name"], first["type"]) == ("digit", "img", "choices")
        found = [result["result"][0]["value"]["choices"] for result in answer["results"]]
        assert np.mean([choices == ["5"] for choices in found]) > 0.8
        assert all(0 < result["score"] <= 1 for result in answer["results"])

    def test_other_labels_are_refused(self, served):
        address = served[0] + "/label-studio"
        for path, body, part in [
            ("setup", {"schema": "<View><Audio name='a' value='$a'/></View>"}, "has no <Choices>"),
            ("predict", {"tasks": [{"data": {"message": "hello"}}], "label_config": TEXTS}, "not sentences"),
            ("predict", {"tasks": [{"data": {"image": "/data/1.png"}}], "label_config": IMAGES}, "fetches nothing"),
        ]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                posted(f"{address}/{path}", body)
            assert part in json.load(refused.value)["error"]["message"]


@pytest.fixture
def tracking(tmp_path, monkeypatch):
    """MLflow in a folder of its own."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    import mlflow

    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    return mlflow


def test_mlflow_keeps_models_and_figures(clusters, tracking):
    from mlflow.models import infer_signature

    import autoactivator.mlflow

    X, y = clusters
    model = Consolidation(nodes=8).fit(X, np.array(["a", "b", "c", "d"])[y])
    record = cil.run("digits", learners=["nearest-mean"], protocols=["task-batch=all"], seeds=1)
    with tracking.start_run() as run:
        signature = infer_signature(X, model.predict(X), params={"reject": 0.0})
        info = autoactivator.mlflow.log_model(model, signature=signature, registered_model_name="birds")
        autoactivator.mlflow.log_record(record)
    again = autoactivator.mlflow.load_model("models:/birds/1")
    assert again._model.to_bytes() == model._model.to_bytes()
    served = tracking.pyfunc.load_model(info.model_uri)
    assert served.predict(X).tolist() == model.predict(X).tolist()
    far = np.full((1, 6), 9, np.float32)
    assert served.predict(far, params={"reject": 0.05}).tolist() == [None]
    noted = tracking.get_run(run.info.run_id).data
    assert noted.metrics["nearest-mean/task-batch-all/aca"] == record["results"][0]["aca"]["mean"]
    assert noted.params == {"dataset": "digits", "scenario": "10/5"}


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """A stand-in for the Hub, and our module that talks to it."""
    server = stand_in.started()
    import huggingface_hub.constants as constants

    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("memory", [False, True], ids=["what predicts", "with memory"])
def test_the_hub_takes_models_and_gives_them_back(hub, clusters, memory):
    from autoactivator.hub import from_pretrained, push_to_hub

    X, y = clusters
    model = Consolidation(nodes=8).fit(X, np.array(["a", "b", "c", "d"])[y])
    record = cil.run("digits", learners=["nearest-mean"], protocols=["instance"], seeds=1)
    address = push_to_hub(model, "someone/birds", memory=memory, record=record, token="hf_none")
    assert address.endswith("someone/birds/commit/" + stand_in.COMMIT)
    card = hub.files["README.md"].decode()
    assert card.startswith("---\nlibrary_name: autoactivator\npipeline_tag: tabular-classification\n")
    assert "A classifier of 4 classes" in card and "Classes: `" in card and "| nearest-mean | instance | 92." in card
    assert ("up to 4,096 of the rows" in card) == memory
    again = from_pretrained("someone/birds", token="hf_none")
    assert isinstance(again, Consolidation if memory else autoactivator.Deployed)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_no_place_of_this_machine_is_published(clusters, tmp_path):
    from autoactivator.hub import _published, card

    X, y = clusters
    model = Consolidation(nodes=8).fit(X, y)
    identity = {
        "name": "sentences",
        "place": "/home/somebody/secret",
        "runtime": "ort",
        "sha256": "ab",
        "tokenizer": "cd",
    }
    settings = {"output": "hidden", "pooling": "mean", "max_tokens": 9}
    model._model.set_origin(json.dumps({"text": {**identity, "settings": settings}}))
    published = _published(model, tmp_path, True)
    assert "secret" in model._model.origin and "secret" not in published._model.origin
    assert b"secret" not in Path(tmp_path, "model.aact").read_bytes()
    assert "pipeline_tag: text-classification" in card(published, "a/b")


def test_every_snippet_of_the_page_runs(digits, serve, hub, tracking, tmp_path, monkeypatch):
    X, _, y, _ = digits
    Consolidation(nodes=64, image="8x8").fit(X, y).save(tmp_path / "model.aact")
    address = serve().removeprefix("http://")
    monkeypatch.setenv("HF_TOKEN", "hf_none")
    text = (Path(__file__).resolve().parents[2] / "docs/connected.md").read_text(encoding="utf-8")
    snippets = re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    assert len(snippets) >= 6, "the page has lost its snippets"
    scope = {}
    for snippet in snippets:
        exec(compile(snippet.replace("127.0.0.1:7878", address), "docs/connected.md", "exec"), scope)
    assert json.loads((tmp_path / "labels.json").read_text())["classes"][9] == "9"
