"""`tf.app` and `tf.flags`: a program with flags prints, and ends, as it does with TensorFlow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("flags_program.py")
COMMAND_LINES = {
    "without flags": (),
    "flags and arguments": ("one", "--name=me", "-count", "7", "--loud", "--nosure", "--kind=b",
                            "--parts=p,q", "--sizes=4", "--sizes=5", "two", "--", "--three"),
    "an unknown flag": ("--nope=3", "--count=1"),
    "a flag asked for before": ("early", "--name=soon"),
    "a wrong number": ("--count=many",),
    "a number out of range": ("--rate=-1",),
    "help": ("--help",),
}  # fmt: skip


def ran(namespace: str, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(PROGRAM), namespace, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    return done.returncode, done.stdout


def test_a_program_with_flags_runs() -> None:
    status, shown = ran("sessrun.reference", "--name=me", "--loud", "rest")
    assert status == 1
    assert shown.startswith("me 3 0.5 True True a ['x', 'y']\n[1] ['rest'] 3 True False\n")


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.parametrize("arguments", COMMAND_LINES.values(), ids=COMMAND_LINES)
def test_flags_are_read_as_tensorflow_reads_them(arguments: tuple[str, ...]) -> None:
    pytest.importorskip("tensorflow")
    assert ran("sessrun.reference", *arguments) == ran("tensorflow.compat.v1", *arguments)
