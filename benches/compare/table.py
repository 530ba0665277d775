"""The result as Markdown, as a plot, and as JSON."""

import json
import os
import platform

import matplotlib

matplotlib.use("svg")
import faiss
import matplotlib.pyplot as plt
import numpy
import onnxruntime
import river
import scipy
import sklearn

import teach_table
from measure import facts, seconds


def markdown(result):
    parts = [machine(result), main(result), teach_table.markdown(result["taught"])]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def main(result):
    """Everything but the table "teach"."""
    lines = [*comparisons(result), *growth(result), *profiles(result), *skipped(result)]
    return "\n".join(lines)


def machine(result):
    versions = ", ".join(
        f"{module.__name__} {module.__version__}" for module in (numpy, scipy, sklearn, river, onnxruntime, faiss)
    )
    return (
        f"Machine: {processor()}, {os.cpu_count()} cores; peak {result['peak'] / 1e9:.0f} G multiply-adds a second "
        f"(single precision, numpy's square product). Python {platform.python_version()}, {versions}. "
        f"Printed by `{result['command']}`."
    )


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def comparisons(result):
    if not result["measured"]:
        return []
    head = (
        "| work | data | ours | peer | peer's time | times as fast: median (lowest - highest; pairs) | bar | met "
        "| G multiply-adds | of peak | results, ours / peer | `--only` |"
    )
    lines = [head, "|" + "---|" * 12]
    for m in result["measured"]:
        row, ratios = m.row, m.ratios()
        work = row.multiply_adds and row.multiply_adds(m.ours[-1])
        cells = [
            row.what, row.data, duration(seconds(m.ours)), row.peer, duration(seconds(m.theirs)),
            f"**{m.median_ratio():.2f}** ({ratios[0]:.2f} - {ratios[-1]:.2f}; {len(ratios)})",
            bar(row), {True: "yes", False: "**no**", None: "-"}[m.meets()],
            f"{work / 1e9:.3g}" if work else "-",
            f"{100 * m.of_peak(result['peak']):.0f} %" if work else "-",
            "; ".join(filter(None, [outcomes(m), row.note])) or "-", m.of,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines + [""]


def bar(row):
    bars = []
    if row.bar is not None:
        bars.append(f">= {row.bar:.2g}" + (f" (time at most {1 / row.bar:.3g} x)" if row.bar < 1 else ""))
    if row.limit is not None:
        bars.append(f"ours at most {duration(row.limit)}")
    return ", ".join(bars) or "-"


def outcomes(m):
    ours, theirs = facts(m.ours), facts(m.theirs)
    show = lambda side, key: f"{side[key]:.4g}" if key in side else "-"
    keys = [*ours, *(key for key in theirs if key not in ours)]
    return "; ".join(
        f"{label(key)} {show(ours, key)} / {show(theirs, key)}" if key in ours else f"{key} {show(theirs, key)}"
        for key in keys
    )


def label(key):
    return f"ACA % ({key})" if key == "instance" or "batch" in key else key


def growth(result):
    if not result["grown"]:
        return []
    lines = ["| work | data | seconds | for each | against the smallest | `--only` |", "|" + "---|" * 6]
    first = {}
    for g in result["grown"]:
        smallest = first.setdefault((g.row.name, g.row.what), g.each())
        each = f"{duration(g.each())} a {g.row.unit}"
        lines.append(
            f"| {g.row.what} | {g.row.data} | {seconds(g.samples):.3g} | {each} | {g.each() / smallest:.2f} x | growth |"
        )
    return lines + [""]


def profiles(result):
    """Where our time goes, in samples of all threads."""
    if not result["profiles"]:
        return []
    lines = ["| work | where our time goes (samples of all threads, by `perf`) |", "|---|---|"]
    for row, shares in result["profiles"]:
        split = ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items() if share >= 0.005)
        lines.append(f"| {row.what} | {split or 'too short to be sampled'} |")
    return lines + [""]


def skipped(result):
    return [f"- `{name}` was left out: {reason}" for name, reason in result["skipped"]]


def duration(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if value >= size or unit == "us":
            return f"{value / size:.3g} {unit}"


def plot(result, path):
    """Draws the times as fast as the peer on a logarithmic axis, with a line from the lowest to the highest pair."""
    measured = result["measured"]
    figure, axes = plt.subplots(figsize=(10, 0.5 * len(measured) + 1.5))
    for place, m in enumerate(measured):
        ratios, colour = m.ratios(), {True: "tab:green", False: "tab:red", None: "tab:blue"}[m.meets()]
        axes.barh(place, m.median_ratio() - 1, left=1, color=colour, alpha=0.6)
        axes.plot([ratios[0], ratios[-1]], [place, place], color="black", linewidth=1)
        if m.row.bar is not None:
            axes.plot([m.row.bar] * 2, [place - 0.4, place + 0.4], color="black", linestyle=":")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(measured)), [f"{m.row.what}\nbeside {m.row.peer}" for m in measured], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("times as fast as the peer (dotted: the bar)")
    figure.tight_layout()
    figure.savefig(path)


def as_json(result):
    samples = lambda side: [{"seconds": s.seconds, **s.facts} for s in side]
    record = {
        "command": result["command"],
        "processor": processor(),
        "peak_multiply_adds_per_second": result["peak"],
        "comparisons": [
            {"name": m.row.name, "what": m.row.what, "data": m.row.data, "peer": m.row.peer, "bar": m.row.bar,
             "limit_seconds": m.row.limit, "ours": samples(m.ours), "theirs": samples(m.theirs)}
            for m in result["measured"]
        ],
        "growth": [
            {"name": g.row.name, "what": g.row.what, "data": g.row.data, "unit": g.row.unit, "units": g.row.units,
             "ours": samples(g.samples)}
            for g in result["grown"]
        ],
        "teach": teach_table.record(result["taught"]),
        "profiles": {row.name: shares for row, shares in result["profiles"]},
        "skipped": dict(result["skipped"]),
    }
    return json.dumps(record, indent=1)
