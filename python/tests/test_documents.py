"""Documents run: the tour, the notebook, and the docstrings of everything public."""

import inspect
import json
import re
from pathlib import Path

import pytest

import autoactivator
import autoactivator.hub
import autoactivator.mlflow
from autoactivator import cil, distributed, error, learner, rows, snapshot, summary

ROOT = Path(__file__).resolve().parents[2]


def snippets(page):
    """The Python of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page, least", [("python.md", 8), ("how-to/add-a-class.md", 1), ("how-to/reject.md", 1), ("how-to/onnx.md", 1)])
def test_every_snippet_of_a_page_runs(page, least):
    assert len(snippets(page)) >= least, "the page has lost its snippets"
    scope = {}
    for snippet in snippets(page):
        exec(compile(snippet, page, "exec"), scope)


def test_every_how_to_with_snippets_is_run():
    pages = {f"how-to/{path.name}" for path in (ROOT / "docs/how-to").glob("*.md")}
    run = {page for page, _ in test_every_snippet_of_a_page_runs.pytestmark[0].args[1]}
    assert {page for page in pages if snippets(page)} <= run


@pytest.mark.parametrize("notebook", sorted((ROOT / "python/notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_every_cell_of_the_notebook_runs(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 5 and code[0].startswith("%pip install ")
    scope = {}
    for cell in code[1:]:
        exec(compile(cell, notebook.name, "exec"), scope)


@pytest.mark.parametrize("notebook", sorted((ROOT / "python/notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_the_notebook_shows_what_it_gave(notebook):
    text = notebook.read_text(encoding="utf-8")
    shown = [cell["outputs"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert sum(map(bool, shown)) >= 4 and "<svg" in text and "/tmp/" not in text


def public():
    """Everything that a user may call, by its name."""
    estimators = [
        autoactivator.Client,
        autoactivator.Consolidation,
        autoactivator.Reactivation,
        autoactivator.Deployed,
    ]
    yield from [(name, getattr(distributed, name)) for name in distributed.__all__]
    for module in [cil, rows, snapshot, summary, autoactivator.hub, autoactivator.mlflow]:
        for name, thing in inspect.getmembers(module, inspect.isfunction):
            if thing.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__}.{name}", thing
    for estimator in estimators:
        yield estimator.__name__, estimator
        for name, thing in inspect.getmembers(estimator):
            ours = getattr(thing, "__module__", None) or getattr(getattr(thing, "fget", None), "__module__", "")
            if not name.startswith("_") and ours.startswith("autoactivator") and name != "get_params":
                yield f"{estimator.__name__}.{name}", thing


EVERYTHING = dict(public())


def sections(docstring):
    return set(re.findall(r"^(\w+)\n-+$", inspect.cleandoc(docstring), flags=re.MULTILINE))


@pytest.mark.parametrize("name", EVERYTHING)
def test_everything_public_is_documented_in_numpydoc(name):
    thing = EVERYTHING[name]
    found = sections(thing.__doc__)
    called = thing.fget if isinstance(thing, property) else thing
    takes = [p for p in inspect.signature(called).parameters if p != "self"]
    if takes:
        assert "Parameters" in found
        for parameter in takes:
            assert re.search(rf"^\s*(\w+, )*{parameter}(, \w+)* : ", thing.__doc__, flags=re.MULTILINE), parameter
    if not inspect.isclass(thing) and name.split(".")[-1] not in ("save", "export"):
        assert found & {"Returns", "Raises"}
    assert "Examples" in found or "Raises" in found


def test_everything_is_found():
    assert {"Consolidation.partial_fit", "Reactivation.growth_", "autoactivator.cil.run"} <= EVERYTHING.keys()
    assert len(EVERYTHING) > 35
    assert all(inspect.getdoc(thing) for _, thing in inspect.getmembers(error, inspect.isclass))
    assert sections(learner.Learner.__doc__) == {"Attributes"}


def test_stubs_know_the_compiled_half():
    """What is compiled and what the stubs say is the same set of names."""
    from autoactivator import _core

    stubs = (Path(autoactivator.__file__).parent / "_core.pyi").read_text(encoding="utf-8")
    assert (Path(autoactivator.__file__).parent / "py.typed").exists()
    functions = set(re.findall(r"^def (\w+)", stubs, flags=re.MULTILINE))
    methods = set(re.findall(r"^    def (\w+)", stubs, flags=re.MULTILINE))
    compiled = {name for name in dir(_core) if not name.startswith("_")}
    assert compiled == functions | {"Encoder", "Model", "Share", "POOL_ROWS", "VERSION"}
    classes = {name for kind in [_core.Encoder, _core.Model, _core.Share] for name in dir(kind) if not name.startswith("_")}
    assert classes == methods - {"__reduce__", "__new__"}
