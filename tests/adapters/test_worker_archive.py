"""The worker as one file, in environments that hold neither sessrun nor what it needs besides."""

import importlib.util
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from adapter_graphs import ADD

from sessrun.adapters.errors import AdapterError
from sessrun.adapters.process.archive import archive, write_archive
from sessrun.adapters.process.host import ProcessBackend, prepare, spawn
from sessrun.cli.main import main
from sessrun.conformance.observe import observe
from sessrun.conformance.subjects.programs import registry
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.outcomes import Fetched, Opened

#: All that an engine's environment has in common with ours.
NEEDED = ("numpy", "numpy.libs", "ml_dtypes", "google")
ENGINE = """
import importlib.util
from sessrun.adapters.namespace import NamespaceBackend


class Namespace:
    class Session:
        pass

    def half(number):
        return number / 2


def backend(argument="nothing"):
    absent = ("jsonschema", "sessrun.spec.proto", "sessrun.reference")
    seen = {"argument": argument, "from": importlib.util.find_spec("sessrun").origin}
    seen["absent"] = str([name for name in absent if importlib.util.find_spec(name) is None])
    return NamespaceBackend(Namespace, "there", "1.0", details=seen)
"""
IMPORTS = """
import sys

sys.path.insert(0, sys.argv[1])
from sessrun.conformance import checks
from sessrun.conformance.subjects.programs import registry

assert all(checks.group_of(group) for group in checks.GROUPS)
programs = [program for area in registry.CLAUSES for program in registry.programs_of(area)]
print(len(programs), *(name for name in sys.modules if name.endswith("_pb2")))
"""
HALF = Case.from_json(
    {
        "id": "there/half",
        "title": "a call, and a named check that lacks what it looks at",
        "surface": "api",
        "clauses": ["RUN-001"],
        "steps": [
            {"do": "eval", "expr": {"$call": "tf.half", "args": [3]}, "expect": {"value": 1.5}},
            {
                "do": "check",
                "name": "sessrun.conformance.checks.tracing.labels",
                "args": {"metadata": 1, "node": "x"},
                "expect": {"error": {"classes": ["AttributeError"]}},
            },
        ],
    },
    "a test",
)


def environment(folder: Path, *packages: Path) -> Path:
    """A virtual environment without pip, in which only these packages can be imported."""
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for package in packages:
        (site / package.name).symlink_to(package)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what a worker needs, and an adapter of its own."""
    installed = Path(np.__file__).parents[1]
    packages = [installed / name for name in NEEDED if (installed / name).exists()]
    folder = environment(tmp_path_factory.mktemp("bare"), *packages)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "engine_there.py").write_text(ENGINE)
    return folder


@pytest.fixture(scope="module")
def backend(bare: Path) -> Iterator[ProcessBackend]:
    started = spawn(f"engine_there:backend@{bare}#fast")
    yield started
    started.shutdown()


def test_the_worker_of_another_environment_is_the_archive_alone(backend: ProcessBackend) -> None:
    description = backend.describe()
    assert description.name == "there"
    assert description.details["argument"] == "fast"
    assert description.details["from"].startswith(str(archive()))
    assert description.details["absent"] == (
        "['jsonschema', 'sessrun.spec.proto', 'sessrun.reference']"
    )


def test_an_api_case_is_interpreted_there(backend: ProcessBackend) -> None:
    seen = observe(backend, HALF, 30.0)
    assert [observation.get("value") for observation in seen] == [1.5, None]
    assert seen[1]["classes"][0] == "AttributeError"


def test_the_archive_imports_every_named_check_and_program_by_itself(bare: Path) -> None:
    command = [str(bare / "bin" / "python"), "-I", "-c", IMPORTS, str(archive())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    programs = sum(len(registry.programs_of(area)) for area in registry.CLAUSES)
    assert done.stdout.split() == [str(programs)]  # and no module of messages


def test_equal_sources_make_equal_archives(tmp_path: Path) -> None:
    first, second = (write_archive(tmp_path / name).read_bytes() for name in ("a", "b"))
    assert first == second
    with zipfile.ZipFile(tmp_path / "a") as file:
        assert not [name for name in file.namelist() if "proto/" in name or "reference/" in name]


def test_a_command_writes_the_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "worker.pyz"
    assert main(["worker", "--output", str(path)]) == 0
    assert path.read_bytes() == archive().read_bytes()
    assert f"python -I {path} ADAPTER" in capsys.readouterr().out


@pytest.mark.parametrize("spec", ["tensorflow@/no/such/folder", "tensorflow@", "a.b:c@/tmp#x"])
def test_a_folder_without_a_python_is_refused(spec: str) -> None:
    with pytest.raises(AdapterError, match="is no virtual environment: it has no bin/python"):
        prepare(spec)


@pytest.mark.tensorflow
def test_tensorflow_of_another_environment_reads_large_graphs(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("needs the [tensorflow] extra")
    installed = Path(np.__file__).parents[1]
    folder = environment(tmp_path / "with-tensorflow")
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "installed.pth").write_text(f"{installed}\n")  # whose own .pth files are not read
    backend = spawn(f"tensorflow@{folder}")
    try:
        assert backend.describe().details["python"] == sys.version.split()[0]
        unused = {"name": "unused", "op": "NoOp", "attr": {"_a": {"s": "A" * 2**20}}}
        graph = {**ADD, "node": [*ADD["node"], unused]}
        opened = backend.open(graph, {})
        assert isinstance(opened, Opened), opened
        fed = {"x:0": np.float32([1, 2]), "y:0": np.float32([3, 4])}
        fetched = backend.run(opened.handle, ["s:0"], fed, {})
        assert isinstance(fetched, Fetched), fetched
        assert fetched.values[0].tolist() == [4, 6]
    finally:
        backend.shutdown()
