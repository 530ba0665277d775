"""Embeddings stay in the data base: DuckDB selects what is new, and the model learns it. polars holds the answers."""

import duckdb
import polars as pl

from autoactivator import Consolidation, cil

X, y, X_test, y_test = cil.data("digits")
base = duckdb.connect()
base.register("arrived", pl.DataFrame({"embedding": X, "label": y, "day": y // 5}))
base.execute("create table inputs as from arrived")

model = Consolidation()
for day in [0, 1]:
    new = base.sql("select embedding, label from inputs where day = ?", params=[day]).pl()
    model.partial_fit(new.select("embedding"), new["label"])
    print(f"day {day}: {model.learned_}")

answers = pl.DataFrame({"label": y_test, "answer": model.predict(X_test), "known": model.known(X_test)})
right = answers.filter(pl.col("label") == pl.col("answer")).height / answers.height
print(f"{right:.1%} right; least known:")
print(answers.sort("known").head(3))
