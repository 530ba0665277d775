"""One memory summed by many workers: Ray, Spark and the command line give what a single machine gives, once."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import autoactivator
from autoactivator import Consolidation, _core, distributed, error
from autoactivator.distributed import files, job, worker

N_FEATURES, N_FILES, N_ROWS = 8, 6, 300


@pytest.fixture(scope="session")
def ray_engine():
    """A cluster of two workers."""
    ray = needs("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    yield distributed.learn_ray
    ray.shutdown()


def needs(engine):
    """Skips the test where an engine is not installed."""
    if engine == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        assert "CI" not in os.environ, "the tests on Spark need Java"
        pytest.skip("Spark needs Java, and there is none")
    return pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine], reason=f"{engine} is not installed")


@pytest.fixture(scope="session")
def spark():
    """A session with two workers, which tries a task that failed again, as clusters do."""
    pyspark = needs("spark")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        pyspark.sql.SparkSession.builder.master("local[2,4]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.log.level", "OFF")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(params=["ray", "spark"])
def learn(request):
    """Learns with either engine."""
    if request.param == "ray":
        return request.getfixturevalue("ray_engine")
    request.getfixturevalue("spark")
    return distributed.learn_spark


def write(folder, n_files=N_FILES, salt=0, label="class"):
    """Files of rows around a centre for each of five classes, and all of them as arrays."""
    folder.mkdir(exist_ok=True)
    random = np.random.default_rng(salt)
    centres = np.random.default_rng(99).normal(size=(5, N_FEATURES))
    everything = []
    for part in range(n_files):
        y = random.integers(0, 5, size=N_ROWS)
        X = (centres[y] + 0.3 * random.normal(size=(N_ROWS, N_FEATURES))).astype(np.float32)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), N_FEATURES)
        pq.write_table(pa.table({"features": lists, label: pa.array(y)}), folder / f"part-{part}.parquet")
        everything.append((X, y))
    return np.concatenate([X for X, _ in everything]), np.concatenate([y for _, y in everything])


def memory(model):
    """Sums of a model file: classes, and G, Q and n as arrays."""
    content = model._model.to_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    classes = json.loads(header["__metadata__"]["autoactivator"])["description"]["classes"]

    def tensor(name):
        begin, end = header[f"memory.{name}"]["data_offsets"]
        return np.frombuffer(content[8 + length + begin : 8 + length + end], dtype=np.float64)

    sums = {name: tensor(name) for name in ["moments", "counts"]}
    n_nodes = len(sums["moments"]) // len(classes)
    lower = np.tril_indices(n_nodes)
    gram = np.zeros((n_nodes, n_nodes))
    if "memory.factor" in header:
        # Of few rows, the file has R of RᵀR = G, row after row from the diagonal on.
        values, rows = tensor("factor"), []
        while len(values):
            first = len(rows)
            rows.append(np.concatenate([np.zeros(first), values[: n_nodes - first]]))
            values = values[n_nodes - first :]
        factor = np.array(rows).reshape(-1, n_nodes)
        gram = factor.T @ factor
    else:
        gram.T[np.triu_indices(n_nodes)] = tensor("gram")
    return classes, {"gram": gram[lower], **sums}


def assert_same(found, expected, tolerance=1e-6):
    (classes, sums), (expected_classes, expected_sums) = memory(found), memory(expected)
    assert classes == expected_classes
    for name, values in expected_sums.items():
        assert np.abs(sums[name] - values).max() <= tolerance * np.abs(values).max(), name


def on_the_command_line(command_line, folder, model="model.aact", begin=()):
    """The same job in one process."""
    parts = sorted(folder.glob("*.parquet"))
    command_line("memory", "begin", model, *parts, *begin)
    command_line("memory", "build", model, *parts, "-o", "all.partial")
    command_line("memory", "merge", model, "all.partial")


@pytest.mark.parametrize(("precision", "tolerance"), [("f64", 1e-9), ("f32", 1e-5)])
def test_every_face_has_the_same_memory(learn, precision, tolerance, command_line, tmp_path):
    X, y = write(tmp_path / "rows")
    on_the_command_line(command_line, tmp_path / "rows", begin=["--precision", precision])
    expected = autoactivator.load(tmp_path / "model.aact")
    found = learn(tmp_path / "rows", Consolidation(precision=precision), sample=tmp_path / "rows", parts=3)
    assert_same(found, expected, tolerance)
    assert np.array_equal(found.predict(X), expected.predict(X))
    assert (found.predict(X) == y).mean() > 0.9
    assert found.classes_.tolist() == [0, 1, 2, 3, 4]
    assert found._model.ledger == expected._model.ledger
    assert found.predict(X, reject=0.05).tolist().count(None) < len(X) / 4, "probabilities are calibrated"
    single = learn(tmp_path / "rows", Consolidation(precision=precision), sample=tmp_path / "rows", single=True)
    assert_same(single, expected, 1e-5)


def test_rows_of_a_data_set(ray_engine, command_line, tmp_path):
    import ray

    X, _ = write(tmp_path / "rows")
    on_the_command_line(command_line, tmp_path / "rows")
    expected = autoactivator.load(tmp_path / "model.aact")
    rows = ray.data.read_parquet(str(tmp_path / "rows"))
    found = ray_engine(rows, sample=tmp_path / "rows")
    assert_same(found, expected, 1e-5)
    assert found._model.ledger == []
    assert ray_engine(rows, found).growth_[-1]["rows"] == 2 * len(X)
    with pytest.raises(error.BadDataError, match="there is no label column 'kind'"):
        ray_engine(rows, found, label="kind")


def test_rows_of_a_data_frame(spark, command_line, tmp_path):
    X, _ = write(tmp_path / "rows")
    on_the_command_line(command_line, tmp_path / "rows")
    expected = autoactivator.load(tmp_path / "model.aact")
    rows = spark.read.parquet(str(tmp_path / "rows"))
    found = distributed.learn_spark(rows, sample=tmp_path / "rows")
    assert_same(found, expected, 1e-5)
    assert found._model.ledger == []
    assert distributed.learn_spark(rows, found).growth_[-1]["rows"] == 2 * len(X)
    with pytest.raises(error.BadDataError, match="there is no label column 'kind'"):
        distributed.learn_spark(rows, found, label="kind")


def test_new_files_are_added_and_known_ones_are_not(learn, tmp_path):
    write(tmp_path / "rows")
    first = learn(sorted((tmp_path / "rows").glob("*.parquet"))[:2])
    # A copy under another name is the same file, and a file that is given twice is one.
    (tmp_path / "rows/copy.parquet").write_bytes((tmp_path / "rows/part-1.parquet").read_bytes())
    (tmp_path / "rows/other.parquet").write_bytes((tmp_path / "rows/part-4.parquet").read_bytes())
    second = learn([tmp_path / "rows", tmp_path / "rows/part-5.parquet"], first)
    assert first.growth_[-1]["rows"] == 2 * N_ROWS, "the model that was given stays as it was"
    assert second.growth_[-1]["rows"] == N_FILES * N_ROWS
    assert len(second._model.ledger) == N_FILES
    third = learn(tmp_path / "rows", second)
    assert third._model.to_bytes() == second._model.to_bytes()
    second.save(tmp_path / "model.aact")
    assert_same(learn(tmp_path / "rows", autoactivator.load(tmp_path / "model.aact")), second)


def test_a_worker_that_is_killed_is_replaced(learn, tmp_path, monkeypatch):
    write(tmp_path / "rows")
    expected = learn(tmp_path / "rows")
    marker = str(tmp_path / "killed")

    class Mortal(worker.Task):
        def sum_files(self, files):
            partial = super().sum_files(files)
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return partial
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(job, "Task", Mortal)
    found = learn(tmp_path / "rows")
    assert Path(marker).exists(), "nobody was killed"
    assert_same(found, expected)


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_job_that_was_stopped_goes_on(engine, tmp_path):
    """The first driver dies when half of the partial memories are kept; the second one sums the others."""
    needs(engine)
    X, _ = write(tmp_path / "rows")
    driver = textwrap.dedent(
        """
        import logging, os, signal, sys, threading, time
        from pathlib import Path
        folder, engine, stop = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "stop"
        from autoactivator import distributed
        from autoactivator.distributed import job, worker

        class Slow(worker.Task):
            def sum_files(self, files):
                if stop and len(list(Path(self.checkpoint).glob("*.partial"))) >= 2:
                    time.sleep(600)
                return super().sum_files(files)

        def stopped():
            while len(list((folder / "kept").glob("*.partial"))) < 2:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGTERM)

        job.Task = Slow
        if stop:
            threading.Thread(target=stopped, daemon=True).start()
        if engine == "ray":
            import ray
            ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
            learn = distributed.learn_ray
        else:
            from pyspark.sql import SparkSession
            os.environ["PYSPARK_PYTHON"] = sys.executable
            local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
            SparkSession.builder.master("local[1]").config(map=local).getOrCreate()
            learn = distributed.learn_spark
        learn(folder / "rows", parts=4, checkpoint=folder / "kept").save(folder / "model.aact")
        """
    )

    def run(how):
        words = [sys.executable, "-c", driver, str(tmp_path), engine, how]
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)

    assert run("stop").returncode != 0
    assert not (tmp_path / "model.aact").exists()
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("*.partial")}
    assert len(kept) == 2
    done = run("go on")
    assert done.returncode == 0, done.stderr
    assert all(path.stat().st_mtime_ns == written for path, written in kept.items()), "what was kept was summed again"
    model = autoactivator.load(tmp_path / "model.aact")
    assert model.growth_[-1]["rows"] == len(X)
    assert len(model._model.ledger) == N_FILES


def spoil_bytes(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2 :] = content[: len(content) - len(content) // 2]
    path.write_bytes(content)


def spoil_width(path):
    X = pa.array(np.zeros(20 * (N_FEATURES + 1), dtype=np.float32))
    lists = pa.FixedSizeListArray.from_arrays(X, N_FEATURES + 1)
    pq.write_table(pa.table({"features": lists, "class": pa.array([0] * 20)}), path)


def spoil_label(path):
    pq.write_table(pq.read_table(path).rename_columns(["features", "kind"]), path)


SPOILED = {
    "damaged": (spoil_bytes, "not a usable Parquet file|damaged"),
    "width": (spoil_width, f"{N_FEATURES + 1} features"),
    "label": (spoil_label, "there is no label column 'class'"),
}


@pytest.mark.parametrize("spoiled", SPOILED)
def test_a_file_that_cannot_be_used_is_named_and_nothing_changes(learn, spoiled, tmp_path):
    spoil, reason = SPOILED[spoiled]
    write(tmp_path / "old", n_files=1, salt=1)
    write(tmp_path / "rows")
    model = learn(tmp_path / "old")
    before = model._model.to_bytes()
    spoil(tmp_path / "rows/part-3.parquet")
    with pytest.raises(error.BadDataError, match=f"part-3.parquet: .*({reason})"):
        learn(tmp_path / "rows", model, label="class", sample=tmp_path / "rows/part-0.parquet")
    assert model._model.to_bytes() == before


def task(model, **changes):
    core = model._model
    words = {"label": None, "columns": (), "single": False, "checkpoint": None}
    return worker.Task(**{"pool": core.pool_alone().to_bytes(), "binding": core.binding, **words, **changes})


def test_a_worker_of_another_version_or_pool_is_refused_by_name(clusters):
    model = Consolidation().fit(*clusters)
    other = Consolidation(seed=1).fit(*clusters)
    newer = json.dumps({**json.loads(model._model.binding), "version": "9.9.9"})
    with pytest.raises(error.DifferentPoolsError, match=f"version 9.9.9 and version {autoactivator.__version__}"):
        task(model, binding=newer).share()
    with pytest.raises(error.DifferentPoolsError, match="pool .* and pool .*: they were made from different seeds"):
        task(model, binding=other._model.binding).share()
    with pytest.raises(error.DifferentPoolsError, match="precision"):
        task(model, binding=Consolidation(precision="f64").fit(*clusters)._model.binding).share()


def test_the_pool_that_is_sent_is_small_and_holds_no_sums(clusters):
    model = Consolidation().fit(*clusters)
    pool = model._model.pool_alone()
    assert len(pool.to_bytes()) < len(model._model.to_bytes()) / 2
    assert pool.classes == [] and pool.binding == model._model.binding


def test_partial_memories_add_up_once(clusters, tmp_path):
    write(tmp_path / "rows", n_files=2)
    model = Consolidation()._new_model()
    parts = [str(path) for path in sorted((tmp_path / "rows").glob("*.parquet"))]
    model.begin(parts, None, [])

    def partial(*paths):
        share = _core.Share(model.pool_alone())
        assert [share.add_file(path, Path(path).name, None, []) for path in paths] == [True] * len(paths)
        assert not share.add_file(paths[0], "again", None, [])
        return share.to_bytes(False)

    one, two, both = partial(parts[0]), partial(parts[1]), partial(*parts)
    assert _core.add_up([one, two, one], False) == _core.add_up([one, two], False)
    with pytest.raises(error.AlreadyLearnedError, match="part-0.parquet has already been learned"):
        _core.add_up([one, both], False)
    assert model.absorb(one)
    assert not model.absorb(one)
    with pytest.raises(error.AlreadyLearnedError, match="part-0.parquet"):
        model.absorb(both)
    assert model.absorb(two)
    with pytest.raises(error.BadModelError, match="checksum"):
        model.absorb(both[:-1] + bytes([both[-1] ^ 1]))


def test_addresses_are_files_too(tmp_path):
    write(tmp_path / "rows", n_files=1)
    address = (tmp_path / "rows").as_uri()
    assert files.listed(address) == [address + "/part-0.parquet"]
    with files.at_hand(address + "/part-0.parquet") as copy:
        assert Path(copy).read_bytes() == (tmp_path / "rows/part-0.parquet").read_bytes()
        assert str(tmp_path) not in copy
    assert not Path(copy).exists()
    with pytest.raises(error.IoError, match="there are no files"):
        files.listed([])


def test_only_a_consolidation_has_sums(ray_engine, tmp_path):
    write(tmp_path / "rows", n_files=1)
    with pytest.raises(TypeError, match="the model is a Reactivation"):
        ray_engine(tmp_path / "rows", autoactivator.Reactivation())
