"""Backends by name: entry points, factories, commands; and what is said of names that are none."""

import importlib.metadata
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sessrun.adapters import registry
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.fakes.conforming import TinyEngine
from sessrun.adapters.process.host import ProcessBackend


def test_our_own_adapters_are_known_without_being_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    assert registry.known() == {
        "jax": "sessrun.adapters.jax.engine:backend",
        "onnxruntime": "sessrun.adapters.onnxruntime:backend",
        "litert": "sessrun.adapters.litert:backend",
        "openvino": "sessrun.adapters.openvino:backend",
        "reference": "sessrun.adapters.reference:backend",
        "tensorflow": "sessrun.adapters.tensorflow:backend",
        "model": "sessrun.adapters.model:backend",
        "tensorflow-c": "sessrun.adapters.tensorflow_c:backend",
        "tfjs-cpu": "sessrun.adapters.tfjs:cpu",
        "tfjs-wasm": "sessrun.adapters.tfjs:wasm",
        "tfjs-webgl": "sessrun.adapters.tfjs:webgl",
        "tensorflow-xla": "sessrun.adapters.tensorflow_xla:backend",
    }


def test_an_entry_point_is_loaded_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint(
        "tiny", "sessrun.adapters.fakes.conforming:backend", registry.GROUP
    )
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: (point,))
    assert isinstance(registry.load("tiny"), TinyEngine)
    with pytest.raises(AdapterError, match="takes no argument, got 'a#b'"):
        registry.load("tiny#a#b")


def test_a_factory_is_loaded_by_its_place() -> None:
    assert isinstance(registry.load("sessrun.adapters.fakes.conforming:backend"), TinyEngine)


def test_a_command_is_started_without_a_shell(tmp_path: Path) -> None:
    script = Path(__file__).with_name("scripted_worker.py")
    trap = tmp_path / "trap"
    command = shlex.join([sys.executable, str(script), f"$(touch {trap})"])
    backend = registry.load(f"exec:{command}")
    assert isinstance(backend, ProcessBackend)
    assert backend.describe().name == "scripted"
    backend.shutdown()
    assert not trap.exists()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("nonesuch", "'nonesuch'; there are jax, litert, model, onnxruntime, openvino, reference,"),
        ("", "no adapter is called ''"),
        (":backend", "no adapter is called"),
        ("no.such.module:backend", "cannot be imported: No module named"),
        ("..relative:backend", "cannot be imported"),
        ("sessrun.adapters.backend:nothing", "has no factory 'nothing'"),
        ("sessrun.adapters.registry:GROUP", "has no factory 'GROUP'"),
    ],
)
def test_a_name_that_is_none_is_an_adapter_error(spec: str, reason: str) -> None:
    with pytest.raises(AdapterError, match=reason):
        registry.load(spec)


def test_the_adapters_refuse_arguments_they_do_not_know() -> None:
    with pytest.raises(AdapterError, match=r"takes 'simulated-gpu', .*, got 'fast'"):
        registry.load("reference#fast")
    with pytest.raises(AdapterError, match="knows the argument 'oracle', not 'fast'"):
        registry.load("tensorflow#fast")


#: Imports every module of the adapters, as if no engine were installed.
IMPORTS = """
import contextlib, importlib, sys
from pathlib import Path
import sessrun.adapters

engines = "cupy jax jaxlib ai_edge_litert onnx onnxruntime openvino tensorflow tf_keras torch"
sys.modules.update(dict.fromkeys(engines.split()))
folder = Path(sessrun.adapters.__path__[0])
for path in sorted(folder.rglob("*.py")):
    if path.stem not in {"__init__", "keeper"}:
        name = ".".join(("sessrun.adapters", *path.relative_to(folder).with_suffix("").parts))
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(name)
"""


def test_nothing_but_its_engine_keeps_an_adapter_s_module_from_being_imported() -> None:
    """A mistake at the top of a module shows where its engine is not installed, too."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORTS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
