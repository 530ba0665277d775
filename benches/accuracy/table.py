"""The results as Markdown."""

import os
import platform
import statistics
from pathlib import Path

import numpy
import scipy
import sklearn

from metrics import ranks
from peers import ENTRANTS

# Name in the record, head of the column, what it is multiplied by, decimals, whether high is good.
PERCENT = 100
ACCURACY = ("accuracy", "accuracy %", PERCENT, 2, True)
BY_CLASS = ("by_class", "by class %", PERCENT, 2, True)
CALIBRATION = ("calibration_error", "ECE %", PERCENT, 2, False)
LOG_LOSS = ("log_loss", "log loss", 1, 3, False)
NEAR = ("near_auroc", "near AUROC %", PERCENT, 1, True)
NEAR_FALSE = ("near_false_positives", "near FPR95 %", PERCENT, 1, False)
FAR = ("far_auroc", "far AUROC %", PERCENT, 1, True)
FAR_FALSE = ("far_false_positives", "far FPR95 %", PERCENT, 1, False)
REJECTED = ("rejected", "rejected %", PERCENT, 1, None)
LEARN = ("learn_seconds", "CPU s to learn", 1, 2, False)
ANSWER = ("answer_seconds", "CPU s for 1,000 answers", 1, 3, False)
MEGABYTES = ("megabytes", "file MB", 1, 2, False)
OLD = ("old", "old classes %", PERCENT, 2, True)
NEW = ("new", "new classes %", PERCENT, 2, True)
HARMONIC = ("harmonic_mean", "harmonic mean %", PERCENT, 2, True)

OPEN = [NEAR, NEAR_FALSE, FAR, FAR_FALSE]
COLUMNS = {
    "whole": [ACCURACY, BY_CLASS, CALIBRATION, LOG_LOSS, *OPEN, REJECTED, LEARN, ANSWER],
    "splits": [ACCURACY, BY_CLASS, CALIBRATION, LOG_LOSS, *OPEN, REJECTED, LEARN, ANSWER],
    "few": [OLD, NEW, HARMONIC, CALIBRATION, LEARN],
    "curve": [ACCURACY, BY_CLASS, CALIBRATION, LEARN, ANSWER, MEGABYTES],
    "rates": [ACCURACY, CALIBRATION, LOG_LOSS, REJECTED, LEARN],
}
RANKED = [ACCURACY, BY_CLASS, CALIBRATION, LOG_LOSS, *OPEN]

WHAT = {
    "whole": "The classes come in ten tasks, one class a task where there are fewer than 20 classes.",
    "splits": "The same classes in the same order, split into tasks in several ways.",
    "few": "Half of the classes come in one task with all their rows, then the others in five tasks with few rows (in as many as there are classes, if there are fewer).",
    "curve": "AutoActivator with several numbers of nodes. Ten tasks, or one class a task below 20 classes.",
    "rates": "AutoActivator, with another quarter of the training rows judged each time.",
}
# What is said of a column, by its name in the record; near and far AUROC speak for their false positives too.
LEGEND = {
    "by_class": "*By class*: mean share of right answers over classes.",
    "calibration_error": "*ECE*: expected calibration error of the top answer, 15 bins of equal width.",
    "near_auroc": "*Near*: after half of the tasks, rows of classes to come against rows of known ones.",
    "far_auroc": "*Far*: rows of another set of the same width, or of no class at all, against all rows judged.",
    "near_false_positives": "*FPR95*: unknown rows that pass when 95 % of the known ones do.",
    "rejected": "*Rejected*: share of known rows answered with \"unknown\" when 5 % is asked for.",
    "learn_seconds": "CPU seconds are those of all threads.",
}
UNMEASURED = "\"-\": not measured, or the entrant has only scores and no probabilities."
ONCE = (
    "Entrants that are not incremental fit all rows at once. They were run once, since the class order does not matter "
    "to them; their *near* figures are those of the first order."
)


def markdown(run, command):
    lines = [opening(run, command), ""]
    lines += [legend(run.study), ""]
    if run.study == "whole":
        lines += [ONCE, ""]
    for name, results in run.results.items():
        if results:
            lines += [f"### {name}", "", caption(run, name), "", *results_table(run, results), ""]
    if run.study == "whole":
        lines += mean_ranks(run, command)
    lines += [f"- {what} was left out: {reason}" for what, reason in run.left_out]
    return "\n".join(lines).rstrip() + "\n"


def legend(study):
    said = (LEGEND.get(name) for name, *_ in COLUMNS[study])
    return " ".join([*filter(None, said), UNMEASURED])


def opening(run, command):
    versions = ", ".join(f"{module.__name__} {module.__version__}" for module in (numpy, scipy, sklearn))
    return (
        f"{WHAT[run.study]} Protocol `instance`: each row is judged alone, and nobody says which task it is from. "
        f"{judged(run)} Mean ± sample standard deviation over {orders(run)}, which also seed whatever is random. "
        f"Printed by `{command}`. Machine: {processor()}, {os.cpu_count()} cores; "
        f"Python {platform.python_version()}, {versions}."
    )


def judged(run):
    quick = " Few rows of each class (`--quick`): these figures only show that everything works." if run.quick else ""
    if run.test:
        return "**Judged on test rows**, after learning all training rows." + quick
    return "**Judged on development rows**, a quarter of the training rows; no test row was used." + quick


def orders(run):
    return f"{run.orders} class order{'s' if run.orders > 1 else ''}"


def processor():
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def caption(run, name):
    shape = run.shapes[name]
    part = "test" if run.test else "development"
    far = f", {shape['far']:,} far rows" if shape["far"] else ""
    return (
        f"{shape['about']}: {shape['learned']:,} rows to learn from, {shape['judged']:,} {part} rows judged{far}, "
        f"{shape['features']:,} features, {shape['classes']} classes, {orders(run)}, protocol `instance`."
    )


def results_table(run, results):
    varied = any(result.variant for result in results)
    columns = [column for column in COLUMNS[run.study] if any(values(result, column) for result in results)]
    head = ["entrant", *(["variant"] if varied else []), "incremental", "keeps", *(column[1] for column in columns)]
    lines = [row(head), "|" + "---|" * len(head)]
    for result in results:
        entrant = ENTRANTS[result.entrant]
        cells = [entrant.label, *([result.variant] if varied else [])]
        cells += ["yes" if entrant.incremental else "no", entrant.keeps]
        lines.append(row([*cells, *(cell(result, column) for column in columns)]))
    return lines


def row(cells):
    return "| " + " | ".join(cells) + " |"


def values(result, column):
    """What was measured, order by order; empty if it was not."""
    key, _, factor, _, _ = column
    return [factor * record[key] for record in result.records if record.get(key) is not None]


def cell(result, column):
    measured, decimals = values(result, column), column[3]
    if not measured:
        return "-"
    mean = f"{statistics.fmean(measured):.{decimals}f}"
    return f"{mean} ± {statistics.stdev(measured):.{decimals}f}" if len(measured) > 1 else mean


def mean_ranks(run, command):
    """Places among the incremental entrants, 1 for the best, averaged over the sets that measure the figure."""
    places = [(column, ranks_by_set(run, column)) for column in RANKED]
    places = [(column, by_set) for column, by_set in places if by_set]
    names = [name for name in ENTRANTS if any(name in one for _, by_set in places for one in by_set)]
    if len(names) < 2:
        return []
    text = (
        "Mean ranks of the incremental entrants over sets: 1 is the best, equal figures share a rank, and the number "
        f"of sets is in brackets. Means over {orders(run)}, protocol `instance`, "
        f"{'test' if run.test else 'development'} rows. Printed by `{command}`."
    )
    head = ["entrant", *(f"{column[1].removesuffix(' %')} ({len(by_set)})" for column, by_set in places)]
    lines = ["### Mean ranks", "", text, "", row(head), "|" + "---|" * len(head)]
    for name in names:
        mine = [[one[name] for one in by_set if name in one] for _, by_set in places]
        lines.append(row([ENTRANTS[name].label, *(f"{statistics.fmean(m):.2f}" if m else "-" for m in mine)]))
    return lines + [""]


def ranks_by_set(run, column):
    """For each set, the rank of each incremental entrant that has the figure."""
    by_set = []
    for results in run.results.values():
        measured = {
            result.entrant: statistics.fmean(values(result, column))
            for result in results
            if ENTRANTS[result.entrant].incremental and values(result, column)
        }
        if len(measured) > 1:
            by_set.append(dict(zip(measured, ranks(list(measured.values()), high_is_good=column[4]))))
    return by_set


def write(path, study, text):
    """Puts the text between two marks of its study. A page without them, or a new one, gets them at its end."""
    path = Path(path)
    begin, end = f"<!-- accuracy-{study}:begin -->", f"<!-- accuracy-{study}:end -->"
    page = path.read_text() if path.exists() else "# Accuracy beside other methods\n"
    if begin not in page:
        page = f"{page.rstrip()}\n\n{begin}\n{end}\n"
    before, rest = page.split(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n{end}{rest.split(end)[1]}")
