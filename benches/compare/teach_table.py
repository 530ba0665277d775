"""How long it takes until a new class is known, as Markdown, as a plot, and as JSON."""

import statistics

import matplotlib.pyplot as plt

from measure import seconds
from teach import BESIDE, PEERS, ROWS, TOO_LONG

OURS = "ours"


def markdown(taught):
    if not taught:
        return ""
    return "\n".join([*steps(taught), "", *answers(taught), ""])


def steps(taught):
    widths = sorted({t.shape.features for t in taught})
    yield (
        f"Each line is a model with this many nodes and classes, which is taught one more class. First come our milliseconds "
        f"from \"rows are there\" to \"answers know the class\", for {listed(ROWS)} new rows. Then, for {BESIDE} rows, how "
        f"many times as long each peer takes: median (lowest - highest; pairs). Generated rows of "
        f"{listed(widths)} features; the last column says how many of each class had been learned before."
    )
    yield ""
    columns = ["nodes", "classes", *(f"{rows} row{'s' * (rows > 1)}, ms" for rows in ROWS), *PEERS]
    yield from head([*columns, "bar", "met", "rows a class"])
    for t in taught:
        ours = [milliseconds(seconds(t.ours(rows))) for rows in ROWS]
        cells = [f"{t.shape.nodes:,}", f"{t.shape.classes:,}", *ours, *(ratio(t, peer) for peer in PEERS)]
        yield line([*cells, *bar(t), str(t.shape.rows_per_class)])


def milliseconds(value):
    return f"{1e3 * value:,.0f}" if value >= 0.1 else f"{1e3 * value:.3g}"


def ratio(t, peer):
    if peer not in t.beside:
        return f"over {TOO_LONG} s"
    measured = t.beside[peer]
    ratios = measured.ratios()
    return f"**{measured.median_ratio():.3g}** ({ratios[0]:.3g} - {ratios[-1]:.3g}; {len(ratios)})"


def bar(t):
    with_bar = [(peer, measured) for peer, measured in t.beside.items() if measured.row.bar is not None]
    if not with_bar:
        return "-", "-"
    bars = ", ".join(f"{peer} >= {measured.row.bar}" for peer, measured in with_bar)
    return bars, "yes" if all(measured.meets() for _, measured in with_bar) else "**no**"


def answers(taught):
    yield (
        f"Whether the new class is really known, after {BESIDE} rows: right answers in percent, on the rows that were "
        "taught / on other rows of the class."
    )
    yield ""
    yield from head(["nodes", "classes", OURS, *PEERS])
    for t in taught:
        sides = [t.ours(BESIDE), *(t.beside[peer].theirs if peer in t.beside else None for peer in PEERS)]
        yield line([f"{t.shape.nodes:,}", f"{t.shape.classes:,}", *map(right, sides)])


def right(samples):
    """Means over all steps: a class that was missed once shows."""
    if not samples:
        return "-"
    return " / ".join(f"{statistics.mean(s.facts[key] for s in samples):.0f}" for key in samples[0].facts)


def head(columns):
    return line(columns), "|" + "---|" * len(columns)


def line(cells):
    return "| " + " | ".join(cells) + " |"


def listed(values):
    *most, last = map(str, values)
    return f"{', '.join(most)} or {last}" if most else last


def plot(taught, path):
    """Draws seconds over nodes, one line a method, at the number of classes that is in the middle."""
    numbers = sorted({t.shape.classes for t in taught})
    classes = numbers[len(numbers) // 2]
    chosen = [t for t in taught if t.shape.classes == classes]
    figure, axes = plt.subplots(figsize=(10, 5))
    for method in (OURS, *PEERS):
        points = [(t.shape.nodes, seconds(side)) for t in chosen if (side := samples(t, method))]
        axes.plot(*zip(*points), marker="o", linewidth=2.5 if method == OURS else 1.2, label=method)
    axes.set_yscale("log")
    axes.set_title(f"Seconds until a new class is known ({BESIDE} rows, {classes:,} classes known before)")
    axes.set_xlabel("nodes")
    axes.set_ylabel("seconds (logarithmic)")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))  # beside the lines, where it hides none
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def samples(t, method):
    if method == OURS:
        return t.ours(BESIDE)
    return t.beside[method].theirs if method in t.beside else None


def record(taught):
    plain = lambda side: [{"seconds": s.seconds, **s.facts} for s in side]
    return [
        {
            "nodes": t.shape.nodes, "classes": t.shape.classes, "features": t.shape.features,
            "rows_per_class": t.shape.rows_per_class,
            "ours": {rows: plain(t.ours(rows)) for rows in ROWS},
            "peers": {
                name: {"bar": m.row.bar, "ours": plain(m.ours), "theirs": plain(m.theirs)}
                for name, m in t.beside.items()
            },
        }
        for t in taught
    ]
