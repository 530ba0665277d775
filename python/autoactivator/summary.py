"""What is shown of a model besides its parameters: a line for terminals; for notebooks, a picture and a table of growth."""

import json
from html import escape
from typing import Any

from ._core import Model

MEGABYTE = 1024 * 1024

SHOWN = 5
"""Number of classes that a line names."""

WIDTH, HEIGHT, MARGIN = 480, 120, 16
"""Size of the picture, and of the space around the bars, in pixels."""


def line(model: Model) -> str:
    """What a model has learned, in a few words.

    Parameters
    ----------
    model : autoactivator._core.Model
        The compiled model of an estimator.

    Returns
    -------
    str
        One line.

    Examples
    --------
    >>> from autoactivator import Consolidation
    >>> from autoactivator.summary import line
    >>> line(Consolidation(nodes=8).fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])._model)
    '2 classes (low, high), 9 nodes, 0.001 MB'
    """
    size, names = json.loads(model.size), model.classes
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    counted = "1 class" if len(names) == 1 else f"{len(names)} classes"
    return f"{counted} ({shown}), {size['nodes']} nodes, {size['model_floats'] * 4 / MEGABYTE:.3f} MB"


def html(model: Model) -> str:
    """A picture and a table of what a model has learned.

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
    parts = [f"<p><b>{model.kind}</b>: {', '.join(sizes)}<br>{escape(classes)}</p>"]
    if growth:
        parts.append(picture(growth))
        parts.append(_table([_unit(task) if "layers" in task else _task(task) for task in growth]))
    return "\n".join(parts)


def picture(growth: list[dict[str, Any]]) -> str:
    """How a model grew, task by task: bars for rows, or nodes of the paper's learner, and a line for classes.

    Parameters
    ----------
    growth : list of dict
        The growth of a compiled model, one record per task.

    Returns
    -------
    str
        SVG.

    Examples
    --------
    >>> import json
    >>> from autoactivator import Consolidation
    >>> from autoactivator.summary import picture
    >>> model = Consolidation().fit([[0.0], [0.1], [0.9], [1.0]], ["low", "low", "high", "high"])
    >>> "task 1: 4 rows, 2 classes" in picture(json.loads(model._model.growth))
    True
    """
    what, tall, n_classes = _series(growth)
    step = (WIDTH - 2 * MARGIN) / len(growth)
    room = HEIGHT - 3 * MARGIN
    bars, points = [], []
    for place, (task, size, classes) in enumerate(zip(growth, tall, n_classes, strict=True)):
        left, height = MARGIN + place * step, room * size / max(max(tall), 1)
        bars.append(
            f'<rect x="{left + 0.1 * step:.1f}" y="{HEIGHT - MARGIN - height:.1f}" width="{0.8 * step:.1f}" '
            f'height="{height:.1f}" fill="currentColor" opacity="0.25">'
            f"<title>task {task['task']}: {size:g} {what}, {classes} classes</title></rect>"
        )
        y = HEIGHT - MARGIN - room * classes / max(max(n_classes), 1)
        points += [f"{left:.1f},{y:.1f}", f"{left + step:.1f},{y:.1f}"]
    words = f"{tall[-1]:g} {what} (bars) and {n_classes[-1]} classes (line) after task {growth[-1]['task']}"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">'
        f'<text x="{MARGIN}" y="{MARGIN}" font-size="12" fill="currentColor">{words}</text>{"".join(bars)}'
        f'<polyline points="{" ".join(points)}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
    )


def _series(growth: list[dict[str, Any]]) -> tuple[str, list[float], list[int]]:
    """What the bars count, and the heights of bars and line."""
    if "layers" not in growth[0]:
        return "rows", [task["rows"] for task in growth], [task["classes"] for task in growth]
    nodes, classes = [0.0], [0]
    for unit in growth:
        nodes.append(nodes[-1] + sum(layer["nodes"] for layer in unit["layers"]))
        classes.append(classes[-1] + len(unit["classes"]))
    return "nodes", nodes[1:], classes[1:]


def _unit(unit: dict[str, Any]) -> dict[str, Any]:
    """A neural unit of reactivation."""
    return {
        "unit": unit["task"],
        "nodes": sum(layer["nodes"] for layer in unit["layers"]),
        "threshold": f"{unit['threshold']:.4f}",
        "stopped by": unit["layers"][-1]["stopped"],
        "classes": ", ".join(unit["classes"]),
    }


def _task(task: dict[str, Any]) -> dict[str, Any]:
    """A task of consolidation."""
    return {
        "task": task["task"],
        "rows so far": f"{task['rows']:g}",
        "classes": task["classes"],
        "recruited": task["recruited"],
        "nodes": task["nodes"],
        "ended by": task["ended"] or "the whole pool is read",
    }


def _table(records: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in records[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(v))}</td>' for v in r.values())}</tr>" for r in records)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
