"""Compares this project with what a user would pick instead: same data, same run, in turns.

Start it with `bash benches/compare/run`, which creates the Python environment and builds the worker.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import breakdown
import table
import teach_table
from measure import Grown, Growth, alternate, seconds
from peers import blas
from rows import COMPARISONS
from teach import ROWS, Lesson, shapes
from worker import ROOT, Worker

DOCUMENT = ROOT / "docs" / "performance.md"


@dataclass
class Bench:
    """What every comparison needs."""

    worker: Worker
    folder: Path
    quick: bool
    shapes: list[str]  # of models that are taught; all if empty
    examining: bool = True  # off while only learning is profiled

    def mnist(self, quick):
        return {"set": "mnist", "rows_per_class": quick if self.quick else None}

    def cifar(self, quick):
        return {"set": "cifar100-lite0", "rows_per_class": quick if self.quick else None}


def arguments():
    parser = argparse.ArgumentParser(prog="bash benches/compare/run", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, help="turns of each side (default 5; 7 for teach, fewer if long)")
    parser.add_argument("--quick", action="store_true", help="small sizes, two turns: checks that everything works")
    parser.add_argument("--only", default=",".join(COMPARISONS), help="comparisons to run, out of: %(default)s")
    parser.add_argument("--shapes", default="", help="of teach, only models of these nodes and classes: 3328x100,...")
    parser.add_argument("--profile", action="store_true", help="also sample where our time goes, with Linux's perf")
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "compare", help="where results go")
    parser.add_argument("--write-docs", action="store_true", help="put table and plot into docs/")
    args = parser.parse_args()
    args.only = args.only.split(",")
    args.shapes = list(filter(None, args.shapes.split(",")))
    known = [*COMPARISONS, *map(str, shapes(args.quick))]
    unknown = [name for name in args.only + args.shapes if name not in known]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: choose from {', '.join(known)}")
    if args.repeats is not None and args.repeats < 1:
        parser.error("--repeats must be at least 1")
    if args.profile and (reason := breakdown.possible()):
        parser.error(f"--profile: {reason}")
    if args.quick:
        args.repeats = min(args.repeats or 2, 2)
    return args


def missing(datasets):
    """The reason why a data set cannot be read, or None."""
    folder = os.environ.get("AUTOACTIVATOR_DATA")
    absent = [name for name in datasets if not folder or not (Path(folder) / name).is_dir()]
    return f"it needs `{absent[0]}/` in the folder that AUTOACTIVATOR_DATA names" if absent else None


def compare(args):
    result = {"command": command(), "peak": 0, "measured": [], "grown": [], "taught": [], "profiles": [], "skipped": []}
    scratch = args.folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    worker = Worker(scratch)
    bench = Bench(worker, scratch, args.quick, args.shapes)
    for name in args.only:
        make, datasets = COMPARISONS[name]
        if reason := missing(datasets):
            say(f"{name}: left out, {reason}")
            result["skipped"].append((name, reason))
            continue
        # The highest peak of all measurements: a low peak from a busy moment would flatter our figures.
        result["peak"] = max(result["peak"], blas.peak(1024 if args.quick else 4096, 3))
        for row in make(bench):
            if isinstance(row, Growth):
                grown = Grown(row, [row.run() for _ in range(min(args.repeats or 3, 3))])
                say(f"{name}: {row.what}, {row.data}: {table.duration(grown.each())} a {row.unit}")
                result["grown"].append(grown)
            elif isinstance(row, Lesson):
                taught = row.run(args.repeats or 7)
                ours = ", ".join(f"{rows} rows {table.duration(seconds(taught.ours(rows)))}" for rows in ROWS)
                say(f"{name}: {row.shape}: {ours}")
                result["taught"].append(taught)
            else:
                measured = alternate(name, row, args.repeats or 5)
                say(f"{name}: {row.what} beside {row.peer}: {measured.median_ratio():.2f} times as fast")
                result["measured"].append(measured)
                if args.profile:
                    result["profiles"].append((row, profile(bench, row, seconds(measured.ours))))
    worker.close()
    return result


def profile(bench, row, expected):
    bench.examining = False
    shares = breakdown.sample(bench.worker, row.ours, expected, bench.folder)
    bench.examining = True
    return shares


def command():
    return " ".join(["bash benches/compare/run", *(arg for arg in sys.argv[1:] if arg != "--write-docs")])


def say(text):
    print(text, file=sys.stderr, flush=True)


def deliver(args, result):
    text = table.markdown(result)
    print(text)
    (args.folder / "result.md").write_text(text)
    (args.folder / "result.json").write_text(table.as_json(result))
    draw(result, args.folder / "result.svg", args.folder / "teach.svg")
    if args.write_docs:
        write_docs(result)


def draw(result, comparisons, teach):
    if result["measured"]:
        table.plot(result, comparisons)
    if result["taught"]:
        teach_table.plot(result["taught"], teach)


def write_docs(result):
    """Replaces the parts of the page that were measured."""
    comparisons, teach = DOCUMENT.with_suffix(".svg"), DOCUMENT.with_name("teach.svg")
    draw(result, comparisons, teach)
    if main := table.main(result):
        picture = f"![Times as fast as the peer]({comparisons.name})\n\n" if result["measured"] else ""
        replace_part("compare", f"{picture}{table.machine(result)}\n\n{main}")
    if taught := teach_table.markdown(result["taught"]):
        picture = f"![Seconds until a new class is known]({teach.name})"
        replace_part("teach", f"{picture}\n\n{table.machine(result)}\n\n{taught}")


def replace_part(name, text):
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, rest = DOCUMENT.read_text().split(begin)
    after = rest.split(end)[1]
    DOCUMENT.write_text(f"{before}{begin}\n\n{text.rstrip()}\n\n{end}{after}")


if __name__ == "__main__":
    arguments_given = arguments()
    deliver(arguments_given, compare(arguments_given))
