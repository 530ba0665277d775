"""Hugging Face Hub: publish a model with its card, and load one that somebody has published.

Only this module needs ``huggingface_hub``: ``pip install autoactivator[hub]``.
"""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi

from . import __version__, types
from ._core import Model
from .learner import Learner
from .snapshot import load

FILE = "model.aact"
"""The model file in a repository."""

SHOWN = 50
"""Number of classes that a card names."""


def push_to_hub(
    model: Learner,
    repo_id: str,
    *,
    memory: bool = False,
    record: Mapping[str, Any] | None = None,
    private: bool | None = None,
    token: str | None = None,
    message: str = "A model of AutoActivator",
) -> str:
    """Publish a model and its card.

    Parameters
    ----------
    model : Consolidation, Reactivation or Deployed
        The model.
    repo_id : str
        The repository, such as ``"someone/birds"``. It is made if there is none.
    memory : bool, default=False
        Whether to publish the memory, too, with which others can teach the model more. It holds up to 4,096 of the rows
        that were learned. Otherwise only what predicts is published.
    record : dict or None, default=None
        What :func:`autoactivator.cil.run` returned, for the accuracy on the card.
    private : bool or None, default=None
        Whether only its owner sees a repository that is made. None is the owner's own default.
    token : str or None, default=None
        A token of the Hub; None takes the one that is logged in.
    message : str, default="A model of AutoActivator"
        What the commit says.

    Returns
    -------
    str
        The address of the commit.

    Examples
    --------
    >>> from autoactivator.hub import push_to_hub
    >>> push_to_hub(model, "someone/birds")  # doctest: +SKIP
    """
    api = HfApi(token=token)
    api.create_repo(repo_id, private=private, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        published = _published(model, folder, memory)
        (folder / "README.md").write_text(card(published, repo_id, record), encoding="utf-8")
        commit = api.upload_folder(repo_id=repo_id, folder_path=folder, commit_message=message)
    return str(commit.commit_url)


def from_pretrained(
    repo_id: str, revision: str | None = None, token: str | None = None, label_type: types.LabelType = None
) -> Learner:
    """Load a model from the Hub. A model file holds numbers and names, and no program: nothing in it is run.

    Parameters
    ----------
    repo_id : str
        The repository, such as ``"someone/birds"``.
    revision : str or None, default=None
        A branch, tag or commit; None is the newest.
    token : str or None, default=None
        A token of the Hub; None takes the one that is logged in.
    label_type : {None, int, float, bool, str}, default=None
        Type of the labels, as in :func:`autoactivator.load`.

    Returns
    -------
    Consolidation, Reactivation or Deployed
        The model. Unless it was published with its memory, it predicts and does not learn.

    Examples
    --------
    >>> from autoactivator.hub import from_pretrained
    >>> from_pretrained("someone/birds").predict(rows)  # doctest: +SKIP
    """
    return load(HfApi(token=token).hf_hub_download(repo_id, FILE, revision=revision), label_type)


def card(model: Learner, repo_id: str, record: Mapping[str, Any] | None = None) -> str:
    """The card of a model: what it is, what it knows, where its rows come from, and how to use it.

    Parameters
    ----------
    model : Consolidation, Reactivation or Deployed
        The model.
    repo_id : str
        Its repository.
    record : dict or None, default=None
        What :func:`autoactivator.cil.run` returned, for its accuracy.

    Returns
    -------
    str
        Markdown, which begins with what the Hub sorts models by.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.hub import card
    >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
    >>> print(card(model, "someone/heights").splitlines()[7])
    # heights
    """
    core = model._learned()
    names, size = core.classes, json.loads(core.size)
    shown = ", ".join(map(_quoted, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
    keeps = (
        "It also holds its memory, so it can learn more classes, and with it up to 4,096 of the rows that it learned."
    )
    parts = [
        "---",
        "library_name: autoactivator",
        f"pipeline_tag: {_task(core)}",
        "tags:",
        "- class-incremental-learning",
        "- continual-learning",
        "---",
        f"# {repo_id.split('/')[-1]}",
        f"A classifier of {len(names)} classes, learned with AutoActivator {__version__}. {_rows(core)} "
        f"It has {size['nodes']} nodes and takes {size['model_floats'] * 4 / 2**20:.2f} MB. "
        + (keeps if size["memory_floats"] else "It predicts, and holds none of the rows that it learned."),
        "```python\nfrom autoactivator.hub import from_pretrained\n\n"
        f'model = from_pretrained("{repo_id}")\n'
        'model.predict(X, reject="5%")    # None where a row looks like nothing that was learned\n```',
        f"Classes: {shown}",
    ]
    if record is not None:
        parts += [f"Accuracy on {record['dataset']['name']}, {record['scenario']}:", _accuracy(record)]
    head = parts.index("---", 1) + 1
    return "\n".join(parts[:head]) + "\n" + "\n\n".join(parts[head:]) + "\n"


def _published(model: Learner, folder: Path, memory: bool) -> Learner:
    """Writes what is to be published, without the places of files on this machine."""
    core = Model.from_bytes(model._learned().to_bytes())
    if core.public_origin is not None:
        core.set_origin(core.public_origin[0])
    if memory:
        core.save(folder / FILE)
    else:
        core.export(folder / FILE, False)
    return load(folder / FILE)


def _task(core: Model) -> str:
    """The Hub's word for what the model does."""
    origin = {} if core.public_origin is None else json.loads(core.public_origin[0])
    if "text" in origin:
        return "text-classification"
    return "image-classification" if origin else "tabular-classification"


def _rows(core: Model) -> str:
    """Where rows come from, in a sentence."""
    rows = f"A row has {core.n_features} features."
    return rows if core.public_origin is None else f"{rows} They come from {core.public_origin[1]}."


def _quoted(name: str) -> str:
    """A class name that means nothing in Markdown."""
    return f"`{' '.join(name.split()).replace('`', chr(39))}`"


def _accuracy(record: Mapping[str, Any]) -> str:
    lines = ["| learner | protocol | accuracy after the last task, % |", "|---|---|---|"]
    for result in record["results"]:
        last = [sum(run["accuracy"][-1]) / len(run["accuracy"][-1]) for run in result["runs"]]
        lines.append(f"| {result['learner']} | {result['protocol']} | {sum(last) / len(last):.2f} |")
    return "\n".join(lines)
