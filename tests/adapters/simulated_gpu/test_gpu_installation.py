"""Installation: where cupy is looked for, and what is refused."""

import importlib
import importlib.util
import json
import subprocess
import sys
import types
from pathlib import Path

import pytest

from sessrun.adapters import registry
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes import simulated_gpu
from sessrun.adapters.fakes.simulated_gpu import generate
from sessrun.reference.devices import devices


def test_it_is_where_cupy_is_looked_for(machine):
    cupy = importlib.import_module("cupy")
    assert cupy.__version__.endswith("+simulated")
    assert cupy.is_available()
    assert importlib.import_module("cupyx.scipy.special").gammaln(cupy.ones(2)).shape == (2,)
    assert devices.has_cupy()
    assert [(gpu.name, gpu.memory) for gpu in devices.gpus()] == [("Simulated GPU", 2**20)]
    assert cupy.cuda.runtime.driverGetVersion() > 0
    assert cupy.get_array_module(cupy.ones(1)) is cupy


def test_it_goes_away(machine):
    simulated_gpu.uninstall()
    assert "cupy" not in sys.modules
    assert "cupyx.scipy.special" not in sys.modules
    assert not simulated_gpu.is_installed()
    with pytest.raises(RuntimeError, match="no simulated GPU is installed"):
        simulated_gpu.machine()


def test_a_real_cupy_is_not_replaced(machine, monkeypatch):
    simulated_gpu.uninstall()
    real = types.ModuleType("cupy")
    real.__version__ = "14.2.0"
    monkeypatch.setitem(sys.modules, "cupy", real)
    with pytest.raises(RuntimeError, match=r"cupy 14\.2\.0 is imported in this process already"):
        simulated_gpu.install()
    with pytest.raises(AdapterError, match="imported in this process already"):
        registry.load("reference#simulated-gpu")


def test_a_machine_without_devices_is_refused():
    with pytest.raises(ValueError, match="1 device or more"):
        simulated_gpu.install(devices=0)


def test_the_backend_lists_its_gpus(machine):
    described = registry.load("reference#simulated-gpu=2").describe()
    assert described.details == {"gpu": "simulated"}
    assert [name.rpartition("device:")[2] for name in described.devices] == [
        "CPU:0",
        "GPU:0",
        "GPU:1",
    ]
    with pytest.raises(AdapterError, match="simulated-gpu=2"):
        registry.load("reference#simulated-gpu=0")


def test_the_page_keeps_its_word(machine):
    page = Path(__file__).parents[3].joinpath("docs", "gpu.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```")[0]
    names = {}
    exec(program.replace("@pytest.fixture\n", ""), names)  # noqa: S102 - the page's own
    simulated = names["gpu"]()
    names["test_a_step_downloads_nothing"](next(simulated))
    assert next(simulated, None) is None


def test_the_description_has_what_was_seen_of_the_real_one():
    written = json.loads(generate.DESCRIPTION.read_text())
    assert written["cupy"].startswith("14.")
    assert "errstate" not in written["modules"]["cupy"]
    assert written["ufuncs"]["cupy.subtract"]["at"] == ["int32", "uint32"]
    assert generate.DESCRIPTION.stat().st_size < 100_000


@pytest.mark.skipif(importlib.util.find_spec("cupy") is None, reason="needs the real cupy")
def test_the_description_has_not_drifted():
    command = [sys.executable, "-m", generate.__name__, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
