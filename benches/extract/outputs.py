"""What the size, the outputs and mirror images of a backbone bring and cost. Start it with `bash benches/extract/outputs`.

Judged on a fifth of the training images, each time another one; the test images are not looked at.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "autoactivator"
IMAGES = Path(os.environ["AUTOACTIVATOR_DATA"]) / "cifar100-images" / "train"
BOTH = "features,t187"  # t187: the 320 channels before the last convolution

SETTINGS = [
    ("128 px, one output", ["--size", "128", "--backbone-output", "features"]),
    ("128 px, two outputs", ["--size", "128", "--backbone-output", BOTH]),
    ("160 px, two outputs", ["--size", "160", "--backbone-output", BOTH]),
    ("224 px, one output", ["--size", "224", "--backbone-output", "features"]),
    ("**224 px, two outputs** (the preset)", ["--size", "224", "--backbone-output", BOTH]),
    ("224 px, two outputs, mirror images", ["--size", "224", "--backbone-output", BOTH, "--mirror"]),
]


def run(folder, *words):
    """Runs the program in a folder, with its features kept there, and returns what it prints."""
    done = subprocess.run(
        [PROGRAM, *map(str, words), "--cache", folder / "cache"], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def cpu_seconds():
    """Processor time of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def right(said):
    """The share of rows that `eval` found right, in percent."""
    return float(re.search(r"rows right \(([\d.]+) %\)", said)[1])


def main():
    parser = argparse.ArgumentParser(prog="bash benches/extract/outputs", description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5, help="splits of the images (default %(default)s)")
    splits = parser.parse_args().splits
    print("| read at | right % | CPU ms an image |\n|---|---|---|", flush=True)
    for name, options in SETTINGS:
        with tempfile.TemporaryDirectory() as place:
            folder, shown = Path(place), ["--backbone", "efficientnet-lite0", *options]
            before = cpu_seconds()
            run(folder, "features", IMAGES, *shown, "-o", "features.parquet")
            each = 1000 * (cpu_seconds() - before) / sum(1 for _ in IMAGES.glob("*/*.png"))
            found = []
            for split in range(splits):
                model = folder / f"{split}.aact"
                run(folder, "learn", model, IMAGES, *shown, "--split", split)
                found.append(right(run(folder, "eval", model, IMAGES, "--split", split)))
        spread = statistics.stdev(found) if splits > 1 else 0
        print(f"| {name} | {statistics.mean(found):.2f} ± {spread:.2f} | {each:.1f} |", flush=True)


if __name__ == "__main__":
    main()
