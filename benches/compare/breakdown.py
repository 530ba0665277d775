"""Where our time goes: call stacks sampled by Linux's `perf`, grouped by kind of work."""

import os
import shutil
import signal
import subprocess
import time
from collections import Counter

SAMPLES = 4000  # per thread, approximately

WAITING = "waiting for another thread"

# The kind of work of a call stack: the first match, frame by frame from the innermost outwards.
KINDS = [
    ("products", ["gemm", "matmul", "math::tile"]),
    ("activation", ["Activation::apply", "activation::"]),
    ("drawing nodes", ["Nodes::draw", "chacha", "rng::Random"]),
    ("decompositions and solves", ["::evd::", "cholesky", "::llt", "::qr::", "householder", "triangular_solve", "jacobi",
                                   "linalg::eigen", "linalg::Cholesky", "faer::linalg::solvers"]),
    ("convolution beside its products", ["pool::convolution"]),
    ("recruitment", ["forward::"]),
    ("memory beside its products", ["memory::Memory", "memory::add"]),
    ("joining nodes", ["least_squares::"]),
    ("calibration", ["calibration::"]),
    ("copying", ["memmove", "memcpy", "memset", "clear_page", "page_fault", "alloc::"]),
    (WAITING, ["barrier", "rayon_core", "sched", "syscall", "futex", "spin", "yield"]),
    ("the rest of the method", ["autoactivator::"]),
]
# Loops compiled for the widest instruction set are inlined into their callers. These are often threads of the pool,
# whose frames then come next.
VECTORISED, LOOPS = "pulp::", "vectorised loops"
OTHER = "other"
NOT_TIMED = ["autoactivator_exam::", "serde_json", "Rows::gather"]


def possible():
    """The reason why profiling is impossible, or None."""
    return None if shutil.which("perf") else "`perf` is not installed"


def sample(worker, work, seconds, folder):
    """Shares of time by kind of work while the worker runs `work`, which takes about `seconds`."""
    path = folder / "perf.data"
    frequency = int(min(999, max(20, SAMPLES / seconds)))
    perf = subprocess.Popen(
        ["perf", "record", "--quiet", "-F", str(frequency), "--call-graph", "dwarf,16384",
         "-o", str(path), "-p", str(worker.process.pid)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    time.sleep(0.5)  # time to attach
    work()
    perf.send_signal(signal.SIGINT)
    perf.wait()
    script = subprocess.run(
        ["perf", "script", "-i", str(path), "-F", "ip,sym"], capture_output=True, text=True, check=False
    )
    os.remove(path)
    return shares(script.stdout)


def shares(script):
    counts = Counter(filter(None, (kind(stack) for stack in script.split("\n\n") if stack.strip())))
    total = sum(counts.values())
    return {name: count / total for name, count in counts.most_common()} if total else {}


def kind(stack):
    if any(mark in stack for mark in NOT_TIMED):
        return None
    vectorised = False
    for frame in stack.splitlines():
        vectorised |= VECTORISED in frame
        for name, marks in KINDS:
            if any(mark in frame for mark in marks):
                return LOOPS if vectorised and name == WAITING else name
    return LOOPS if vectorised else OTHER
