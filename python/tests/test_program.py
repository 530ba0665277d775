"""The program that the package brings along is the command line."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

#: The two ways to start it: the script, and the module.
WAYS = [[str(Path(sys.executable).with_name("autoactivator"))], [sys.executable, "-m", "autoactivator"]]

#: Rows of two classes.
TABLE = "width,height,kind\n" + "".join(f"{8 + i / 9},{5 - i / 9},bolt\n{1 + i / 9},{9 - i / 9},nut\n" for i in range(9))


def run(way, folder, *words):
    return subprocess.run([*way, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("way", WAYS, ids=["script", "module"])
def test_it_prints_what_the_command_line_prints(way, command_line, tmp_path):
    for words in [["--version"], ["help", "learn"], ["completions", "bash"]]:
        assert run(way, tmp_path, *words).stdout == command_line(*words)


def test_it_writes_the_models_of_the_command_line(command_line, tmp_path):
    (tmp_path / "rows.csv").write_text(TABLE)
    done = run(WAYS[0], tmp_path, "learn", "ours.aact", "rows.csv")
    assert done.returncode == 0 and "2 new classes" in done.stderr + done.stdout
    command_line("learn", "theirs.aact", "rows.csv")
    assert (tmp_path / "ours.aact").read_bytes() == (tmp_path / "theirs.aact").read_bytes()


def test_bad_input_is_exit_code_2(tmp_path):
    done = run(WAYS[0], tmp_path, "learn", "model.aact", "nothing.csv")
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_it_serves_until_it_is_interrupted(tmp_path):
    words = ["serve", "model.aact", "--empty", "--listen", "127.0.0.1:0", "--quiet"]
    with subprocess.Popen([*WAYS[0], *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        assert "http://127.0.0.1:" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        rest = server.communicate(timeout=60)[1]
    assert server.returncode == 0 and "Traceback" not in rest
