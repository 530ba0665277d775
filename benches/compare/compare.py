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
from measure import Grown, Growth, alternate, seconds
from peers import blas
from rows import COMPARISONS
from worker import ROOT, Worker

DOCUMENT = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- compare:begin -->", "<!-- compare:end -->"


@dataclass
class Bench:
    """What every comparison needs."""

    worker: Worker
    folder: Path
    quick: bool
    examining: bool = True  # off while only learning is profiled

    def mnist(self, quick):
        return {"set": "mnist", "rows_per_class": quick if self.quick else None}

    def cifar(self, quick):
        return {"set": "cifar100-lite0", "rows_per_class": quick if self.quick else None}


def arguments():
    parser = argparse.ArgumentParser(prog="bash benches/compare/run", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="turns of each side (default 5)")
    parser.add_argument("--quick", action="store_true", help="small sizes, two turns: checks that everything works")
    parser.add_argument("--only", default=",".join(COMPARISONS), help="comparisons to run, out of: %(default)s")
    parser.add_argument("--profile", action="store_true", help="also sample where our time goes, with Linux's perf")
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "compare", help="where results go")
    parser.add_argument("--write-docs", action="store_true", help="put table and plot into docs/")
    args = parser.parse_args()
    args.only = args.only.split(",")
    unknown = [name for name in args.only if name not in COMPARISONS]
    if unknown or args.repeats < 1:
        parser.error(f"unknown comparison {unknown[0]!r}" if unknown else "--repeats must be at least 1")
    if args.profile and (reason := breakdown.possible()):
        parser.error(f"--profile: {reason}")
    if args.quick:
        args.repeats = min(args.repeats, 2)
    return args


def missing(datasets):
    """The reason why a data set cannot be read, or None."""
    folder = os.environ.get("AUTOACTIVATOR_DATA")
    absent = [name for name in datasets if not folder or not (Path(folder) / name).is_dir()]
    return f"it needs `{absent[0]}/` in the folder that AUTOACTIVATOR_DATA names" if absent else None


def compare(args):
    result = {"command": command(), "peak": 0, "measured": [], "grown": [], "profiles": [], "skipped": []}
    scratch = args.folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    worker = Worker(scratch)
    bench = Bench(worker, scratch, args.quick)
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
                grown = Grown(row, [row.run() for _ in range(min(args.repeats, 3))])
                say(f"{name}: {row.what}, {row.data}: {table.duration(grown.each())} a {row.unit}")
                result["grown"].append(grown)
            else:
                measured = alternate(name, row, args.repeats)
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
    if result["measured"]:
        table.plot(result, args.folder / "result.svg")
    if args.write_docs:
        before, rest = DOCUMENT.read_text().split(BEGIN)
        after = rest.split(END)[1]
        picture = DOCUMENT.with_suffix(".svg")
        if result["measured"]:
            table.plot(result, picture)
            text = f"![Times as fast as the peer]({picture.name})\n\n{text}"
        DOCUMENT.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    arguments_given = arguments()
    deliver(arguments_given, compare(arguments_given))
