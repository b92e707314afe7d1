"""The programs of the source documents' articles, each run in a process of its own.

What must come of each on a machine without a GPU is ruled in the claims of the spec. The
programs are shortened; what they call and catch is the articles'.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ARTICLES = Path(__file__).parent / "articles"
#: A machine that overcommits memory would rather kill the process than refuse 931 GiB.
ADDRESS_SPACE_BYTES = 20_000_000_000

#: Program to what its output must hold, in order.
EXPECTED = {
    "uninitialised_variable": ("Error during sess.run(): ", "Weights"),
    "gpu_if_there_is_one": ("No GPU Available\n(1000, 1000)\n",),
    "session_in_a_with": ("Result: 30\n",),
    "session_closed_twice": ("Result: 30\n",),
    "closed_session": ("RuntimeError: Attempted to use a closed Session.\n",),
    "variable_too_large": ("MemoryError", "(5000, 5000, 5000)"),
    "initializer_too_large": (
        "Memory exhaustion error: ",
        "shape[5000,5000,5000]",
        "float",
        "CPU:0",
        "allocator cpu",
    ),
    "hidden_gpu": ("1.0\nSession created successfully (CPU ONLY)\n",),
    "wrong_batch_shape": (
        "Error during sess.run(): Cannot feed value of shape (32, 224, 224) for Tensor ",
        "which has shape (?, 224, 224, 3)",
    ),
    "wrong_channels": ("Error: ", "(None, 28, 28, 3)", "(1, 28, 28, 1)"),
    "wrong_floats": ("Error: ", "float32", "float64", "Casted float64 shape:  (1, 10)\n"),
    "volumes_need_a_gpu": ("An Error Occurred: GPU not available, CPU will be used.\n",),
    "missing_device": (
        "session made\n",
        "Device placement error: ",
        "/job:localhost/replica:0/task:0/device:CPU:0",
    ),
}


def _limit_address_space() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, hard))


def output_of(program: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ARTICLES / f"{program}.py")],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1"},
        preexec_fn=_limit_address_space,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_program_is_expected_something_of() -> None:
    assert {path.stem for path in ARTICLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("program", EXPECTED)
def test_an_article_program_ends_as_ruled(program: str) -> None:
    output = output_of(program)
    place = 0
    for part in EXPECTED[program]:
        found = output.find(part, place)
        assert found >= 0, f"{part!r} is not in {output!r} after {place}"
        place = found
