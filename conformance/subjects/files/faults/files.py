"""Faults of FILES, and of ERRORS where files are missing or in the way."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sessrun.conformance.faulty.computing import array, computing, single
from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.conformance.faulty.run_fragments import elements, running
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Operation, OpError, Session, Value


def _operations(session: Session, fetches: Fetches, op_type: str) -> list[Operation]:
    ops = [getattr(element, "op", element) for element in elements(session, fetches)]
    return [op for op in ops if op.type == op_type]


def _recoded(
    tf: Namespace, error: str, other: str, where: Callable[[OpError], bool] = lambda _: True
) -> Namespace:
    """The namespace that raises `other` in place of an `error` with `where(exception)`."""

    def change(_session: Session, base: Call, fetches: Fetches, _feeds: Feeds) -> Value:
        try:
            return base(fetches)
        except getattr(tf.errors, error) as raised:
            if not where(raised):
                raise
            raise getattr(tf.errors, other)(None, None, raised.message) from raised

    return running(tf, change)


def _writing(tf: Namespace, change: Callable[[Call, Path, bytes], Value]) -> Namespace:
    """The namespace whose runs of a WriteFile are `change(base, path, data)`."""

    def changed(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        ops = _operations(session, fetches, "WriteFile")
        if not ops:
            return base(fetches)
        name, data = (array(value) for value in base(list(ops[0].inputs)))
        if name.shape or data.shape:
            return base(fetches)
        return change(lambda: base(fetches), Path(os.fsdecode(name.item())), data.item())

    return running(tf, changed)


@fault("FILES-001", "ReadFile stops at a NUL byte.")
def files_end_at_nul(tf: Namespace) -> Namespace:
    """Cut the content at its first NUL byte."""
    return computing(
        tf,
        {
            "ReadFile": single(lambda _, out, *__: array(out.item().split(b"\0")[0])),
        },
    )


@fault("FILES-002", "ReadFile keeps what it has read of a path.")
def files_are_read_once(tf: Namespace) -> Namespace:
    """Return the content that the first read of the path gave."""
    kept: dict[bytes, list[np.ndarray]] = {}

    def change(
        _: Operation, outputs: list[np.ndarray], inputs: list[np.ndarray]
    ) -> list[np.ndarray]:
        kept.setdefault(array(inputs[0]).item(), outputs)
        return list(kept[array(inputs[0]).item()])

    return computing(tf, {"ReadFile": change})


@fault("FILES-003", "A folder is read as a file that is not there.")
def folders_are_missing_files(tf: Namespace) -> Namespace:
    """Raise NotFoundError."""
    return _recoded(
        tf,
        "FailedPreconditionError",
        "NotFoundError",
        lambda error: "Is a directory" in error.message,
    )


@fault("FILES-004", "WriteFile leaves the end of a longer file.")
def ends_of_longer_files_stay(tf: Namespace) -> Namespace:
    """Write the data over the beginning of the old content."""

    def change(base: Call, path: Path, data: bytes) -> Value:
        old = path.read_bytes() if path.is_file() else b""
        values = base()
        path.write_bytes(data + old[len(data) :])
        return values

    return _writing(tf, change)


@fault("FILES-005", "WriteFile makes no folders.")
def missing_folders_stay_missing(tf: Namespace) -> Namespace:
    """Raise NotFoundError where the folder of the file does not exist."""

    def change(base: Call, path: Path, _: bytes) -> Value:
        if not path.parent.exists():
            raise tf.errors.NotFoundError(None, None, f"{path.parent}: no such folder")
        return base()

    return _writing(tf, change)


@fault("FILES-006", "WriteFile puts its file in the place of a folder.")
def folders_are_written_over(tf: Namespace) -> Namespace:
    """Remove a folder of the same path first."""

    def change(base: Call, path: Path, _: bytes) -> Value:
        if path.is_dir():
            shutil.rmtree(path)
        return base()

    return _writing(tf, change)


@fault("FILES-007", "What would be below a plain file is not found.")
def nothing_below_files_is_found(tf: Namespace) -> Namespace:
    """Raise NotFoundError."""
    return _recoded(
        tf,
        "FailedPreconditionError",
        "NotFoundError",
        lambda error: "Not a directory" in error.message,
    )


@fault("FILES-008", "A vector of one name is a file's name.")
def vectors_of_one_name_will_do(tf: Namespace) -> Namespace:
    """Feed vectors of one element as scalars."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        files = [
            *_operations(session, fetches, "ReadFile"),
            *_operations(session, fetches, "WriteFile"),
        ]
        if not files:
            return base(fetches)
        alone = {
            key: np.asarray(value).reshape(()) if np.shape(value) == (1,) else value
            for key, value in (feeds or {}).items()
        }
        return base(fetches, alone)

    return running(tf, change)


@fault("FILES-009", "MatchingFiles gives names in the opposite order.")
def names_are_backwards(tf: Namespace) -> Namespace:
    """Reverse the names."""
    return computing(tf, {"MatchingFiles": single(lambda _, out, *__: out[::-1])})


@fault("FILES-010", "MatchingFiles fails where nothing matches.")
def no_match_is_an_error(tf: Namespace) -> Namespace:
    """Raise NotFoundError."""

    def matches(_: Operation, out: np.ndarray, *__: np.ndarray) -> np.ndarray:
        if not out.size:
            raise tf.errors.NotFoundError(None, None, "no file matches")
        return out

    return computing(tf, {"MatchingFiles": single(matches)})


@fault("FILES-011", "A star goes on into the folders below.")
def stars_go_below(tf: Namespace) -> Namespace:
    """Find the files of all folders below."""

    def matches(_: Operation, out: np.ndarray, pattern: np.ndarray) -> np.ndarray:
        wanted = os.fsdecode(pattern.reshape(-1)[0])
        if not wanted.endswith("/*.txt"):
            return out
        names = Path(wanted).parent.rglob("*.txt")
        return np.array(sorted(map(os.fsencode, names)), object)

    return computing(tf, {"MatchingFiles": single(matches)})


@fault("FILES-012", "A file that may not be read is not found.")
def forbidden_files_are_missing(tf: Namespace) -> Namespace:
    """Raise NotFoundError."""
    return _recoded(tf, "PermissionDeniedError", "NotFoundError")


# --- clauses of ERRORS --------------------------------------------------------------------


@fault("ERRORS-031", "A missing file that is to be read whole is an unknown error.")
def missing_files_are_unknown(tf: Namespace) -> Namespace:
    """Raise UnknownError."""
    return _recoded(
        tf,
        "NotFoundError",
        "UnknownError",
        lambda error: getattr(error.node_def, "op", "") == "ReadFile",
    )


@fault("ERRORS-032", "A copy over a file is made without asking.")
def copies_overwrite(tf: Namespace) -> Namespace:
    """Copy with `overwrite`."""

    def copy(source: str, target: str, overwrite: bool = False) -> None:
        del overwrite
        tf.gfile.Copy(source, target, overwrite=True)

    inner = Overlay(tf.io.gfile, {"copy": copy})
    outer = Overlay(tf.io, {"gfile": inner})
    return override(tf, gfile=Overlay(tf.gfile, {"Copy": copy}), io=outer)


@fault("ERRORS-033", "Whatever a py_func raises is an unknown error.")
def scripts_fail_unknown(tf: Namespace) -> Namespace:
    """Raise UnknownError for every failure of a PyFunc."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            try:
                return super().run(fetches, *args, **kwargs)
            except tf.errors.OpError as error:
                if getattr(error.node_def, "op", "") != "PyFunc":
                    raise
                raise tf.errors.UnknownError(None, None, error.message) from error

    return override(tf, Session=Session)
