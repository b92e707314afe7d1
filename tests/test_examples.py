"""The examples of the documentation, shortened, where the packages that they need are there."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

DIGITS = Path(__file__).parents[1] / "docs" / "examples" / "digits.py"
PNG = b"\x89PNG\r\n"


@pytest.mark.parametrize(
    "backend", ["reference", pytest.param("tensorflow", marks=pytest.mark.tensorflow)]
)
@pytest.mark.slow
def test_a_network_learns_digits(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    if backend == "tensorflow" and find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    plot = tmp_path / "losses.png"
    command = [
        sys.executable,
        str(DIGITS),
        "--backend",
        backend,
        "--epochs",
        "2",
        "--plot",
        str(plot),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"test accuracy ([\d.]+)%", done.stdout)
    assert len(found) == 2
    assert float(found[-1]) > 85
    assert plot.read_bytes().startswith(PNG)
