import sys
from collections.abc import Iterator

import pytest

from sessrun.adapters.fakes import simulated_gpu


@pytest.fixture
def machine() -> Iterator[simulated_gpu.Machine]:
    """One simulated GPU of 1 MB, installed as cupy."""
    _skip_beside_a_real_one()
    with simulated_gpu.installed(memory_bytes=2**20) as installed:
        yield installed


@pytest.fixture
def two(machine: simulated_gpu.Machine) -> simulated_gpu.Machine:
    """Two simulated GPUs."""
    return simulated_gpu.install(devices=2, memory_bytes=2**20)


@pytest.fixture
def cp(machine):
    """The simulated cupy."""
    return sys.modules["cupy"]


def _skip_beside_a_real_one() -> None:
    if "cupy" in sys.modules and not simulated_gpu.is_installed():
        pytest.skip("the real cupy is imported in this process")
