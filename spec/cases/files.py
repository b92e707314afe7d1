"""The files of a case: a fresh folder each time, its paths in what is sent and in what is seen.

A case that declares `files` has a folder of its own while it is interpreted. `{"$path": name}`
stands for a path in it, a `file` step changes a file or reads it back, and in everything that is
observed the folder's name becomes `STAND_IN`: no record holds what differs from run to run.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

from sessrun.spec.cases.forms import Step, members
from sessrun.spec.cases.model import AskedCase, Case, Observation
from sessrun.spec.forms import Json
from sessrun.spec.schema import SpecError
from sessrun.spec.tensors import Held

__all__ = ["FOLDER_VARIABLE", "STAND_IN", "CaseFiles", "with_stand_in"]

#: What the folder is called wherever it was seen.
STAND_IN: Final = "/files-of-the-case"
#: The environment variable of a worker that names where its cases' folders are made.
FOLDER_VARIABLE: Final = "SESSRUN_FILES"


class CaseFiles:
    """The folder of one interpretation of a case; made on entering, removed on leaving.

    Args:
      case: the case; without `files` there is no folder, and nothing may ask for a path.
      under: where the folder is made, the system's folder for temporary files if None.

    Raises:
      SpecError: the case gives a file no base64, or a name that leaves the folder.

    """

    def __init__(self, case: Case | AskedCase, under: str | None = None) -> None:
        self._case = case
        self._under = under
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        if self._case.files is not None:
            folder = tempfile.mkdtemp(prefix="sessrun-case-", dir=self._under)
            self._folder = Path(os.path.realpath(folder))
            try:
                for name, data in self._case.files.items():
                    self._put(name, data)
            except BaseException:
                self._remove()
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._remove()

    def path(self, name: Json) -> str:
        """The absolute path of a name in the folder; of the folder itself for the empty name.

        Raises:
          SpecError: the case declares no files, or the name could leave the folder.

        """
        if self._folder is None:
            raise self._wrong(f"{name!r} needs `files`, which the case does not declare")
        if (
            not isinstance(name, str)
            or {"..", "."} & set(name.split("/"))
            or name.startswith("/")
            or "\0" in name
        ):
            raise self._wrong(f"{name!r} is no name of a file in the case's folder")
        return f"{self._folder}/{name}" if name else str(self._folder)

    def given(self, form: Json) -> Json:
        """A GraphDef or a tensor as JSON, with base64 of the path for each `{"$path": name}`."""
        return form if self._case.files is None else _with_paths(form, self.path)

    def do(self, step: Step) -> Json:
        """Do a `file` step: the JSON form of what it reads, None for a change.

        Raises:
          OSError: the system refused, or the backend has not made the file.
          SpecError: see `path`.

        """
        target = self._inside(step["name"])
        if "read" not in step:
            self._alter(target, step)
            return None
        return _names(target) if step["read"] == "names" else _content(target)

    def seen(self, observations: Sequence[Observation]) -> list[Observation]:
        """The observations, with the stand-in wherever the folder's name occurs."""
        if self._folder is None:
            return list(observations)
        return [cast("Observation", self._shown(members(entry))) for entry in observations]

    def _shown(self, form: Json) -> Json:
        if isinstance(form, str):
            return form.replace(str(self._folder), STAND_IN)
        if isinstance(form, list):
            return [self._shown(part) for part in form]
        if not isinstance(form, dict) or isinstance(form, Held):
            return form
        if set(form) == {"$bytes"}:
            return {"$bytes": self._shown_bytes(form["$bytes"])}
        if form.get("dtype") == "string" and isinstance(form.get("data"), list):
            return {**form, "data": [self._shown_bytes(item) for item in form["data"]]}
        return {key: self._shown(part) for key, part in form.items()}

    def _shown_bytes(self, item: Json) -> Json:
        if not isinstance(item, str):
            return item
        try:
            raw = base64.b64decode(item)
        except ValueError:  # what a backend answered need not be base64
            return item
        folder = str(self._folder).encode()
        changed = raw.replace(folder, STAND_IN.encode())
        return base64.b64encode(changed).decode() if folder in raw else item

    def _put(self, name: str, data: str | None) -> None:
        target = self._inside(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if data is None:
            target.mkdir(exist_ok=True)
        else:
            target.write_bytes(self._bytes(data))

    def _alter(self, target: Path, step: Step) -> None:
        if "write" in step:
            self._put(step["name"], step["write"])
        elif "append" in step:
            with target.open("ab") as file:
                file.write(self._bytes(step["append"]))
        elif "truncate" in step:
            size = step["truncate"]
            os.truncate(target, size if size >= 0 else max(0, target.stat().st_size + size))
        elif "flip" in step:
            position, bits = step["flip"]
            raw = bytearray(target.read_bytes())
            if not -len(raw) <= position < len(raw):
                raise self._wrong(f"{step['name']!r} has {len(raw)} bytes, none at {position}")
            raw[position] ^= bits
            target.write_bytes(raw)
        elif "rename" in step:
            target.rename(self._inside(step["rename"]))
        elif "mode" in step:
            target.chmod(step["mode"])
        elif target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink()

    def _inside(self, name: str) -> Path:
        """The path of a name, which no link that a backend made leads out of the folder."""
        path = Path(self.path(name))
        if not path.resolve().is_relative_to(self.path("")):
            raise self._wrong(f"{name!r} leads out of the case's folder")
        return path

    def _bytes(self, data: Json) -> bytes:
        if not isinstance(data, str):
            raise self._wrong(f"the content of a file is no base64, but {type(data).__name__}")
        try:
            return base64.b64decode(data, validate=True)
        except binascii.Error as error:
            raise self._wrong(f"the content of a file is no base64: {error}") from error

    def _wrong(self, reason: str) -> SpecError:
        return SpecError(self._case.id, "files", reason)

    def _remove(self) -> None:
        folder = self._folder
        for _ in range(3):  # a call that still runs may just have written into it
            if folder is None or not folder.exists():
                return
            for inner in folder.rglob("*"):
                if inner.is_dir() and not inner.is_symlink():
                    with contextlib.suppress(OSError):
                        inner.chmod(0o700)
            shutil.rmtree(folder, ignore_errors=True)


def with_stand_in(form: Json) -> Json:
    """A GraphDef or a tensor as JSON, with base64 of a path below the stand-in for each path."""
    return _with_paths(form, lambda name: f"{STAND_IN}/{name}")


def _with_paths(form: Json, path: Callable[[str], str]) -> Json:
    if isinstance(form, list):
        return [_with_paths(part, path) for part in form]
    if not isinstance(form, dict):
        return form
    if set(form) == {"$path"}:
        return base64.b64encode(path(form["$path"]).encode()).decode()
    return {key: _with_paths(part, path) for key, part in form.items()}


def _content(target: Path) -> Json:
    """The bytes of a file as a value; null where there is none."""
    if not target.is_file():
        return None
    return {"$bytes": base64.b64encode(target.read_bytes()).decode()}


def _names(target: Path) -> list[str]:
    """The files below a folder, sorted, with their folders' names."""
    files = (path for path in target.rglob("*") if not path.is_dir())
    return sorted(path.relative_to(target).as_posix() for path in files)
