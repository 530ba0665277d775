"""Tables that other programs write: learned as they were meant, or refused with the remedy, and never anything else."""

import json
import os
import subprocess

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.datasets import load_iris

FEATURES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
CLASSES = {"setosa": 50, "versicolor": 50, "virginica": 50}


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    return pd.DataFrame(X.astype(np.float32), columns=FEATURES).assign(species=names)


@pytest.fixture
def learn(tmp_path):
    """Learns a file, and returns the exit code, what was said, and what the model knows."""
    program = os.environ.get("AUTOACTIVATOR_CLI")
    if program is None:
        pytest.skip("AUTOACTIVATOR_CLI does not name the command line")

    def run(*words):
        done = subprocess.run([program, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def learn(name, *options):
        (tmp_path / "m.aact").unlink(missing_ok=True)
        code, _, said = run("learn", "m.aact", name, *options)
        if code:
            assert code == 2 and not (tmp_path / "m.aact").exists(), said
            return code, said, None
        return code, said, json.loads(run("inspect", "m.aact", "--json")[1])

    return learn


def as_meant(learned, features=FEATURES, classes=tuple(CLASSES)):
    """Whether all rows were learned, with these features and classes."""
    code, said, model = learned
    assert code == 0, said
    assert "learned 150 rows of 4 features" in said
    assert model["features"] == (None if features is None else list(features))
    assert sorted(model["classes"]) == sorted(classes)


def test_pandas(iris, learn, tmp_path):
    iris.to_csv(tmp_path / "plain.csv", index=False)
    as_meant(learn("plain.csv"))
    iris.to_csv(tmp_path / "index.csv")
    code, said, model = learn("index.csv")
    assert "left out" in said
    as_meant((code, said, model))
    numbered = pd.DataFrame(iris[FEATURES].to_numpy()).assign(label=iris.species)
    numbered.to_csv(tmp_path / "numbered.csv", index=False)
    as_meant(learn("numbered.csv"), ["0", "1", "2", "3"])
    numbered.to_csv(tmp_path / "both.csv")
    as_meant(learn("both.csv"), ["0", "1", "2", "3"])
    iris.reset_index().to_csv(tmp_path / "reset.csv", index=False)
    as_meant(learn("reset.csv"))
    iris.to_csv(tmp_path / "bare.csv", index=False, header=False)
    as_meant(learn("bare.csv"), None)
    iris.to_csv(tmp_path / "tab.tsv", index=False, sep="\t")
    as_meant(learn("tab.tsv"))
    iris.to_csv(tmp_path / "packed.csv.gz", index=False)
    as_meant(learn("packed.csv.gz"))
    iris.rename(columns={"species": "class"}).to_parquet(tmp_path / "plain.parquet")
    as_meant(learn("plain.parquet"))
    iris.sample(frac=1, random_state=0).to_parquet(tmp_path / "index.parquet")
    as_meant(learn("index.parquet", "--label", "species"))
    iris.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    code, said, _ = learn("rows.jsonl")
    assert code == 2 and "'species'" in said and "--label" in said
    iris[FEATURES].to_csv(tmp_path / "no_class.csv", index=False)
    code, said, _ = learn("no_class.csv")
    assert code == 2 and "looks like a measurement" in said


def test_integer_classes(iris, learn, tmp_path):
    coded = iris.assign(species=pd.factorize(iris.species)[0])
    coded.to_csv(tmp_path / "coded.csv", index=False)
    as_meant(learn("coded.csv"), classes=["0", "1", "2"])


def test_excel(iris, learn, tmp_path):
    iris.to_csv(tmp_path / "excel.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n")
    code, said, _ = learn("excel.csv")
    assert code == 2 and "--decimal-comma" in said
    as_meant(learn("excel.csv", "--decimal-comma"))


def test_r(iris, learn, tmp_path):
    """As `write.csv` writes: text in quotes, and row names in a first column without a name."""
    rows = [",".join(f'"{name}"' for name in ["", *FEATURES, "species"])]
    for number, row in enumerate(iris.itertuples(index=False), 1):
        rows.append(f'"{number}",' + ",".join(str(value) for value in row[:4]) + f',"{row[4]}"')
    (tmp_path / "r.csv").write_text("\n".join(rows) + "\n")
    as_meant(learn("r.csv"))


def test_numpy(iris, learn, tmp_path):
    coded = np.column_stack([iris[FEATURES], pd.factorize(iris.species)[0]])
    np.savetxt(tmp_path / "spaces.txt", coded)
    as_meant(learn("spaces.txt"), None, ["0", "1", "2"])
    np.savetxt(tmp_path / "commas.csv", coded, delimiter=",")
    as_meant(learn("commas.csv"), None, ["0", "1", "2"])


def test_polars(iris, learn, tmp_path):
    table = pl.from_pandas(iris)
    table.write_csv(tmp_path / "polars.csv")
    as_meant(learn("polars.csv"))
    table.write_parquet(tmp_path / "polars.parquet")
    as_meant(learn("polars.parquet", "--label", "species"))
    code, said, _ = learn("polars.parquet")
    assert code == 2 and "--label" in said
    table.write_ipc(tmp_path / "polars.arrow")
    as_meant(learn("polars.arrow", "--label", "species"))


def test_pyarrow(iris, learn, tmp_path):
    table = pa.Table.from_pandas(iris.rename(columns={"species": "label"}), preserve_index=False)
    pa.parquet.write_table(table, tmp_path / "arrow.parquet")
    as_meant(learn("arrow.parquet"))
    pa.feather.write_feather(table, tmp_path / "arrow.feather")
    as_meant(learn("arrow.feather"))


def test_duckdb(iris, learn, tmp_path):
    database = duckdb.connect()
    database.register("iris", iris)
    database.execute(f"COPY iris TO '{tmp_path}/duck.csv' (HEADER)")
    as_meant(learn("duck.csv"))
    database.execute(f"COPY iris TO '{tmp_path}/duck.parquet' (FORMAT parquet)")
    as_meant(learn("duck.parquet", "--label", "species"))
