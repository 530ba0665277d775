"""Accuracy, calibration and rejection beside other methods: same rows, same tasks, each row judged alone.

Start it with `bash benches/accuracy/run`, which creates the Python environment and builds the wheel. Results are kept
as one JSON file for each set, class order and entrant, so a run that was stopped goes on where it was. Those of
AutoActivator count only for the wheel that made them; after a change of a peer's code, name the peer with `--again`.
"""

import argparse
import shlex
import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import table
from peers import ENTRANTS, OURS
from records import Records
from sets import SETS
from studies import FEW_ENTRANTS, STUDIES, Run, records_folder

ROOT = Path(__file__).resolve().parents[2]
ENTRANTS_OF = {"whole": list(ENTRANTS), "splits": [OURS], "few": list(FEW_ENTRANTS), "curve": [OURS], "rates": [OURS]}


def arguments():
    parser = argparse.ArgumentParser(prog="bash benches/accuracy/run", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS), help="data sets, out of: %(default)s")
    parser.add_argument("--orders", type=int, default=5, help="class orders (default 5)")
    parser.add_argument("--only", help=f"entrants, out of: {','.join(ENTRANTS)}")
    parser.add_argument("--test", action="store_true", help="judge test rows, not a quarter of the training rows")
    parser.add_argument("--quick", action="store_true", help="few rows and small peers: checks that everything works")
    study = parser.add_mutually_exclusive_group()
    study.add_argument("--splits", help="compare ways to split classes into tasks, such as 1,10,classes")
    study.add_argument("--few", action="store_true", help="half of the classes with 1, 5 or 10 rows each")
    study.add_argument("--curve", action="store_true", help="AutoActivator with 512 to 8192 nodes")
    study.add_argument("--rates", action="store_true", help="the share rejected when 5 %% is asked for, over many draws of rows")
    parser.add_argument("--again", default="", help="entrants whose old results do not count")
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "accuracy", help="where results are kept")
    parser.add_argument("--write-docs", type=Path, metavar="FILE", help="put the tables into this page, not on stdout")
    args = parser.parse_args()
    args.study = next((study for study in ("splits", "few", "curve", "rates") if getattr(args, study)), "whole")
    args.only = chosen(parser, args.only, ENTRANTS_OF[args.study])
    args.again = chosen(parser, args.again, ENTRANTS)
    args.sets = chosen(parser, args.sets, SETS)
    args.splits = (args.splits or "").split(",")
    if args.study == "splits" and not all(s == "classes" or s.isdecimal() and int(s) > 0 for s in args.splits):
        parser.error("--splits takes numbers of tasks and `classes`")
    if args.study == "rates" and args.test:
        parser.error("--rates draws development rows: leave out --test")
    if args.orders < 1:
        parser.error("--orders must be at least 1")
    return args


def chosen(parser, names, known):
    """The names of a list with commas; None stands for all."""
    if names is None:
        return list(known)
    names = [name for name in names.split(",") if name]
    if unknown := [name for name in names if name not in known]:
        parser.error(f"unknown name {unknown[0]!r}: known here are {', '.join(known)}")
    return names


def command():
    """What was typed, without where the page goes."""
    words, skip = [], False
    for word in sys.argv[1:]:
        if not skip and not word.startswith("--write-docs"):
            words.append(shlex.quote(word))
        skip = word == "--write-docs"
    return " ".join(["bash benches/accuracy/run", *words])


def main():
    args = arguments()
    warnings.simplefilter("ignore", ConvergenceWarning)  # the number of steps is part of each peer's recipe
    records = Records(records_folder(args.folder, args.test, args.quick), args.again)
    run = Run(args.study, args.sets, args.only, args.orders, args.test, args.quick, args.splits, records)
    STUDIES[args.study](run)
    text = table.markdown(run, command())
    if args.write_docs:
        table.write(args.write_docs, args.study, text)
    else:
        print(text)
    return 1 if run.failed else 0


if __name__ == "__main__":
    sys.exit(main())
