"""What a notebook shows of a model besides its parameters: units, nodes and classes."""

import json
from html import escape

MEGABYTE = 1024 * 1024


def html(model):
    """A table of what a model has learned.

    Parameters
    ----------
    model : autoactivator._core.Model
        The compiled model of an estimator.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.summary import html
    >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
    >>> "2 classes: low, high" in html(model._model)
    True
    """
    size, growth = json.loads(model.size), json.loads(model.growth)
    sizes = [f"{size['nodes']} nodes", f"model {size['model_floats'] * 4 / MEGABYTE:.3f} MB"]
    if size["memory_floats"]:
        sizes.append(f"memory for further learning {size['memory_floats'] * 4 / MEGABYTE:.3f} MB")
    classes = f"{len(model.classes)} classes: {', '.join(model.classes)}"
    lines = [f"<p><b>{model.kind}</b>: {', '.join(sizes)}<br>{escape(classes)}</p>"]
    if growth:
        lines.append(_table([_unit(task) if "layers" in task else _task(task) for task in growth]))
    return "\n".join(lines)


def _unit(unit):
    """A neural unit of reactivation."""
    return {
        "unit": unit["task"],
        "nodes": sum(layer["nodes"] for layer in unit["layers"]),
        "threshold": f"{unit['threshold']:.4f}",
        "stopped by": unit["layers"][-1]["stopped"],
        "classes": ", ".join(unit["classes"]),
    }


def _task(task):
    """A task of consolidation."""
    return {
        "task": task["task"],
        "rows so far": f"{task['rows']:g}",
        "classes": task["classes"],
        "recruited": task["recruited"],
        "nodes": task["nodes"],
        "ended by": task["ended"] or "the whole pool is read",
    }


def _table(records):
    head = "".join(f"<th>{name}</th>" for name in records[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(v))}</td>' for v in r.values())}</tr>" for r in records)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
