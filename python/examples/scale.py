"""One memory on one machine, on Ray and on Spark: compares sums, answers and times.

    python python/examples/scale.py                                  # 1,000,000 x 256 in 64 Parquet files
    python python/examples/scale.py --rows 20000 --files 8 --turns 1 # in a minute
    python python/examples/scale.py --rate                           # rows per second and core at 768 features

Needs the command line (``cargo build --release``), Ray and Spark. Rows are generated once and kept in a folder.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import autoactivator
from autoactivator import Consolidation

N_CLASSES = 100
SAMPLE = 4


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", type=int, default=1_000_000)
    words.add_argument("--features", type=int, default=256)
    words.add_argument("--files", type=int, default=64)
    words.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "autoactivator-scale"))
    words.add_argument("--cli", default="target/release/autoactivator")
    words.add_argument("--engines", nargs="*", default=["ray", "spark"], choices=["ray", "spark"])
    words.add_argument("--precisions", nargs="*", default=["f32", "f64"], choices=["f32", "f64"])
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--nodes", type=int, help="use a pool of this many random nodes instead of the default pool")
    words.add_argument("--turns", type=int, default=3, help="number of turns of each engine")
    words.add_argument("--rate", action="store_true", help="only measure rows per second and core")
    asked = words.parse_args()
    if asked.rate:
        return rate(asked)
    files = generated(asked.folder, asked.rows, asked.features, asked.files)
    for precision in asked.precisions:
        compare(asked, files, precision)


def generated(folder, n_rows, n_features, n_files):
    """Rows around one centre per class, spread evenly over the files."""
    folder = folder / f"{n_rows}x{n_features}x{n_files}"
    files = [folder / f"part-{part:04}.parquet" for part in range(n_files)]
    folder.mkdir(parents=True, exist_ok=True)
    centres = np.random.default_rng(0).normal(size=(N_CLASSES, n_features)).astype(np.float32)
    for part, file in enumerate(files):
        if file.exists():
            continue
        random = np.random.default_rng([1, part])
        y = random.integers(0, N_CLASSES, size=n_rows // n_files + (part < n_rows % n_files))
        X = 0.2 * centres[y] + random.standard_normal((len(y), n_features), dtype=np.float32)
        lists = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), n_features)
        unfinished = file.with_suffix(".tmp")
        pq.write_table(pa.table({"features": lists, "class": pa.array(y)}), unfinished)
        unfinished.rename(file)
    return files


def compare(asked, files, precision):
    """Every engine takes its turns; each turn is compared with the command line's turn before it."""
    with tempfile.TemporaryDirectory() as folder:
        times = {"command line": []}
        for turn in range(asked.turns):
            seconds, expected = timed(lambda: command_line(asked, files, precision, Path(folder), turn))
            times["command line"].append(seconds)
            for engine in asked.engines:
                with started(engine, asked.workers) as learn:
                    model = Consolidation(precision=precision, pool=random_pool(asked.nodes))
                    seconds, found = timed(lambda: learn(files, model, sample=files[:SAMPLE]))
                times.setdefault(engine, []).append(seconds)
                if turn == 0:
                    report(engine, precision, found, expected, files[0])
        alone = np.array(times["command line"])
        for engine, seconds in times.items():
            seconds = np.array(seconds)
            ratio = np.median(seconds / alone)
            turns = ", ".join(f"{s:.1f}" for s in seconds)
            print(f"{precision}  {engine:12}  {np.median(seconds):6.1f} s ({turns})  {ratio:.2f} of the command line")


def random_pool(n_nodes):
    """The same pool as ``--pool gaussian --pool-nodes`` on the command line."""
    if n_nodes is None:
        return None
    return {"kind": "gaussian", "nodes": n_nodes, "activation": "relu", "preparation": "standardise"}


def timed(job):
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


def command_line(asked, files, precision, folder, turn):
    """The same job on the command line, one process after another."""
    model, partial = folder / f"{precision}-{turn}.aact", folder / "all.partial"

    def run(*words):
        subprocess.run([asked.cli, "memory", *map(str, words)], check=True, stderr=subprocess.DEVNULL)

    pool = [] if asked.nodes is None else ["--pool", "gaussian", "--pool-nodes", asked.nodes]
    run("begin", model, *files[:SAMPLE], "--precision", precision, *pool)
    run("build", model, *files, "-o", partial)
    run("merge", model, partial)
    return autoactivator.load(model)


class started:
    """A cluster of `n_workers` on this machine; starting it is not timed."""

    def __init__(self, engine, n_workers):
        self.engine, self.n_workers = engine, n_workers

    def __enter__(self):
        from autoactivator import distributed

        if self.engine == "ray":
            import ray

            ray.init(num_cpus=self.n_workers, include_dashboard=False, log_to_driver=False)
            self.stop = ray.shutdown
            return distributed.learn_ray
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        local = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "4g"}
        session = SparkSession.builder.master(f"local[{self.n_workers},4]").config(map=local).getOrCreate()
        self.stop = session.stop
        return distributed.learn_spark

    def __exit__(self, *_):
        self.stop()


def report(engine, precision, found, expected, file):
    """How much the memory differs from the command line's, and how many answers differ."""
    (n_nodes, mine), (_, theirs) = memory(found), memory(expected)
    column, row = np.triu_indices(n_nodes)
    length = np.sqrt(theirs["gram"][row == column])
    # Relative to the product of the two nodes' lengths, the largest value that an inner product can have.
    gram = (np.abs(mine["gram"] - theirs["gram"]) / (length[row] * length[column])).max()
    rest = max(np.abs(mine[name] - theirs[name]).max() / np.abs(theirs[name]).max() for name in ["moments", "counts"])
    X = np.stack(pq.read_table(file)["features"].to_numpy())
    differ = int((found.predict(X) != expected.predict(X)).sum())
    files = len(found._model.ledger)
    print(
        f"{precision}  {engine:12}  G differs by {gram:.1e}, Q and n by {rest:.1e};"
        f" {differ} of {len(X)} answers differ; {files} files in the ledger"
    )


def memory(model):
    """Number of nodes, and G, Q and n, from the bytes of a model file."""
    content = model._model.to_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])

    def tensor(name):
        begin, end = header[f"memory.{name}"]["data_offsets"]
        return np.frombuffer(content[8 + length + begin : 8 + length + end], dtype=np.float64)

    sums = {name: tensor(name) for name in ["gram", "moments", "counts"]}
    return len(sums["moments"]) // len(sums["counts"]), sums


def worked():
    """CPU seconds of our child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rate(asked):
    """One core sums rows of 768 features: all of `memory build`, from the file to the partial memory.

    Measured in CPU seconds, which depend little on other work on the machine.
    """
    n_rows = 40_000
    [file] = generated(asked.folder, n_rows, 768, 1)
    one_core, alone = ["taskset", "-c", "0"], {**os.environ, "RAYON_NUM_THREADS": "1"}
    for pool in [[], ["--pool", "gaussian", "--pool-nodes", "5000"]]:
        with tempfile.TemporaryDirectory() as folder:
            model, partial = Path(folder, "model.aact"), Path(folder, "all.partial")
            subprocess.run([asked.cli, "memory", "begin", model, file, *pool], check=True, capture_output=True)
            build = [*one_core, asked.cli, "memory", "build", model, file, "-o", partial]
            turns = []
            for _ in range(asked.turns):
                before = worked()
                subprocess.run(build, check=True, env=alone, capture_output=True)
                turns.append(worked() - before)
            seconds = np.median(turns)
            size = partial.stat().st_size / 2**20
            nodes = " ".join(pool) or "the default pool"
            print(f"{nodes}: {n_rows} x 768 in {seconds:.1f} s, {n_rows / seconds:.0f} rows/s; partial {size:.0f} MB")


if __name__ == "__main__":
    main()
