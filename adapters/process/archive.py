"""The worker as one file: an archive that a Python of another environment runs.

It holds the modules of ours that a worker needs, and brings no dependency: numpy, ml_dtypes and
protobuf are those of the environment, as old as its engine wants them. There are no messages of
ours in it (TensorFlow's are read instead) and no schemas: its host has checked what it sends.
"""

from __future__ import annotations

import functools
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["archive", "write_archive"]

#: The archive's content, below the package: the worker, small adapters, and the named checks.
_PARTS: Final = (
    "__init__.py",
    "adapters/__init__.py",
    "adapters/backend.py",
    "adapters/errors.py",
    "adapters/minimal.py",
    "adapters/namespace.py",
    "adapters/registry.py",
    "adapters/tensorflow.py",
    "adapters/worker.py",
    "adapters/process/__init__.py",
    "adapters/process/command.py",
    "adapters/process/errors.py",
    "adapters/process/exchange.py",
    "adapters/process/forms.py",
    "adapters/process/interpretation.py",
    "adapters/process/payloads.py",
    "adapters/process/printed.py",
    "adapters/process/protocol.py",
    "adapters/process/serve.py",
    "conformance/__init__.py",
    "conformance/checks.py",
    "conformance/generators/__init__.py",
    "conformance/generators/graphdef.py",
    "conformance/generators/record_files.py",
    "conformance/generators/resource_histories.py",
    "conformance/subjects/__init__.py",
    "conformance/subjects/*/__init__.py",
    "conformance/subjects/*/checks.py",
    "conformance/subjects/*/checks/*.py",
    "conformance/subjects/programs/**/*.py",
    "conformance/subjects/queues/graphs.py",
    "conformance/subjects/queues/histories/*.py",
    "conformance/subjects/waiting/*.py",
    "spec/__init__.py",
    "spec/devices.py",
    "spec/dtypes.py",
    "spec/errors.py",
    "spec/forms.py",
    "spec/layout.py",
    "spec/operations.py",
    "spec/schema.py",
    "spec/since.py",
    "spec/since.toml",
    "spec/tensors.py",
    "spec/writing.py",
    "spec/model/__init__.py",
    "spec/model/calls.py",
    "spec/model/discipline.py",
    "spec/model/queue_calls.py",
    "spec/model/record_files.py",
    "spec/model/resource_calls.py",
    "spec/cases/*.py",
)
#: What no check uses of a subject of the suite: authored cases and faulty backends.
_LEFT_OUT: Final = ("conformance/subjects/*/cases/*.py", "conformance/subjects/*/faults/*.py")
_PACKAGE: Final = Path(__file__).parents[2]
_MAIN: Final = "import runpy\n\nrunpy.run_module('sessrun.adapters.worker', run_name='__main__')\n"
#: The same for every file, so that equal sources make equal archives.
_DATE: Final = (1980, 1, 1, 0, 0, 0)


_WRITING: Final = threading.Lock()


def archive() -> Path:
    """The archive, written once to a temporary folder that goes with this process."""
    with _WRITING:
        return _archive()


@functools.cache
def _archive() -> Path:
    return write_archive(Path(_folder().name) / "sessrun-worker.pyz")


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="sessrun-worker-", ignore_cleanup_errors=True)


def write_archive(path: Path) -> Path:
    """Write the archive: `python PATH ADAPTER` serves an adapter. Returns its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo("__main__.py", _DATE), _MAIN)
        for source in _sources():
            name = f"{_PACKAGE.name}/{source.relative_to(_PACKAGE).as_posix()}"
            file.writestr(zipfile.ZipInfo(name, _DATE), source.read_bytes(), zipfile.ZIP_DEFLATED)
    return path


def _sources() -> Iterator[Path]:
    yielded = {source for part in _LEFT_OUT for source in _PACKAGE.glob(part)}
    for part in _PARTS:
        sources = sorted(_PACKAGE.glob(part))
        assert sources, f"nothing is called {part}"
        for source in sources:
            if source not in yielded:
                yielded.add(source)
                yield source
