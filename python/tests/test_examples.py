"""The programs in `examples/` run as they are, and print what their first lines promise."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SAYS = {
    "first_model": r"tomorrow: \['setosa' 'virginica'\]",
    "from_a_database": r"day 1: learned 717 rows of 64 features; 5 new classes",
    "take_back": r"144 rows learned and taken back; no probability differs by more than (0|\de-0[5-9])\n",
    "two_sites": r"merged: 9[89]\.\d% of all test rows right",
    "unknown": r"after nine was learned: 9[89]\.\d% of all test rows right",
}


def test_every_program_is_listed():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == SAYS.keys()
    assert len((EXAMPLES / "first_model.py").read_text(encoding="utf-8").splitlines()) <= 15


@pytest.mark.parametrize("name", SAYS)
def test_program(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert re.search(SAYS[name], said), said
