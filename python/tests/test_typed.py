"""Types: of the package, of its compiled half, and of programs that use it, as mypy and pyright see them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*.py"))

WRONG = """
from autoactivator import Consolidation

model = Consolidation(nodes="many").fit([[0.0], [1.0]], ["low", "high"])
names: int = model.classes_.tolist().append
model.save(7)
"""


def run(folder, *words):
    """Runs a module in a folder, where it keeps what it remembers, and returns what it says."""
    environment = {**os.environ, "MYPY_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the examples, as a user would have them."""
    folder = tmp_path_factory.mktemp("typed")
    for program in PROGRAMS:
        (folder / program.name).write_bytes(program.read_bytes())
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    return folder


def test_the_package_passes_mypy(place):
    code, said = run(place, "mypy", "--config-file", ROOT / "python/pyproject.toml", ROOT / "python/autoactivator")
    assert code == 0, said


def test_programs_pass_mypy_strict(place):
    assert len(PROGRAMS) >= 5
    code, said = run(place, "mypy", "--strict", *(program.name for program in PROGRAMS))
    assert code == 0, said


def test_programs_pass_pyright_strict(place):
    code, said = run(place, "pyright", "--pythonpath", sys.executable, *(program.name for program in PROGRAMS))
    assert code == 0, said


def test_both_find_what_is_wrong(place):
    (place / "wrong.py").write_text(WRONG)
    for words in [("mypy", "--strict"), ("pyright", "--pythonpath", sys.executable)]:
        code, said = run(place, *words, "wrong.py")
        assert code == 1 and all(f"wrong.py:{line}" in said for line in (4, 6)), said


def test_stubs_are_those_of_the_compiled_half(place):
    code, said = run(place, "mypy.stubtest", "--ignore-disjoint-bases", "autoactivator._core")
    assert code == 0, said
