"""`tf.app` and `tf.flags`: a program with flags prints, and ends, as it does with TensorFlow."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("flags_program.py")
FORKED = Path(__file__).with_name("forked_program.py")
COMMAND_LINES = {
    "without flags": (),
    "flags and arguments": (
        "one",
        "--name=me",
        "-count",
        "7",
        "--loud",
        "--nosure",
        "--kind=b",
        "--parts=p,q",
        "--sizes=4",
        "--sizes=5",
        "two",
        "--",
        "--three",
    ),
    "two flags and an argument": ("--name=me", "--loud", "rest"),
    "an unknown flag": ("--nope=3", "--count=1"),
    "a flag asked for before": ("early", "--name=soon"),
    "a wrong number": ("--count=many",),
    "a number out of range": ("--rate=-1",),
    "help": ("--help",),
}


def ran(namespace: str, folder: Path) -> dict[str, tuple[int, str]]:
    """The exit status and the output of the program for each command line."""
    lines = [[namespace, *arguments] for arguments in COMMAND_LINES.values()]
    command = [sys.executable, str(FORKED), namespace, str(PROGRAM), str(folder), json.dumps(lines)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    statuses = json.loads(done.stdout)
    return {
        name: (statuses[number], (folder / str(number)).read_text(encoding="utf-8"))
        for number, name in enumerate(COMMAND_LINES)
    }


def test_a_program_with_flags_runs(tmp_path: Path) -> None:
    status, shown = ran("sessrun.reference", tmp_path)["two flags and an argument"]
    assert status == 1
    assert shown.startswith("me 3 0.5 True True a ['x', 'y']\n[1] ['rest'] 3 True False\n")


@pytest.mark.tensorflow
@pytest.mark.slow
def test_flags_are_read_as_tensorflow_reads_them(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    assert ran("sessrun.reference", tmp_path) == ran("tensorflow.compat.v1", tmp_path)
