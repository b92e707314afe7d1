"""The run record: append-only JSON lines in plan order, from which every report is computed.

  {"kind": "header", ...}   first: versions, digests, backend, environment, plan hash, seed
  {"kind": "result", ...}   one per case that was answered
  {"kind": "event", ...}    restarts of the worker, the breaker opening, a resumed run
  {"kind": "footer", ...}   last: the run came to its end

Each line is self-contained and follows `record.schema.json`. A line cut by a kill is dropped on
resume; nothing else in a record is ever rewritten.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from sessrun.spec.schema import SpecError, check
from sessrun.spec.writing import naming

__all__ = [
    "BUSY",
    "DISTURBED",
    "FIRST_TRY",
    "QUIET",
    "RESULTS",
    "SECOND_TRY",
    "SIMULATED",
    "TRIED_AGAIN",
    "RecordWriter",
    "RunRecord",
    "blamed",
    "is_simulated",
    "read_record",
]

#: The closed set of results of a case, worst last.
RESULTS: Final = (
    "pass",
    "skipped",
    "unsupported",
    "flaky",
    "fail",
    "timeout",
    "crash",
    "error",
    "missing",
    "infra_error",
)
#: The results in which nothing went wrong.
QUIET: Final = frozenset({"pass", "skipped"})

#: What a backend's detail `gpu` says where its GPU is simulated, and then what the environment
#: calls each of its GPUs.
SIMULATED: Final = "simulated"

#: Why a worker is started anew though none was lost, as the event tells it.
TRIED_AGAIN: Final = "what went wrong is tried again on a fresh worker"
DISTURBED: Final = "the case disturbs its process"
BUSY: Final = "the case left its worker busy"
#: How the detail of a case begins whose second try ended otherwise.
SECOND_TRY: Final = "the second try: "
#: What then stands before the detail of the first, if its worker was lost or answered nonsense.
FIRST_TRY: Final = "; the first: "


def is_simulated(details: Mapping[str, Any]) -> bool:
    """Whether a backend says, in the details of its description, that its GPU is simulated."""
    return details.get("gpu") == SIMULATED


def blamed(line: Mapping[str, Any]) -> tuple[str, ...]:
    """The clauses that a result line speaks of: the one a failing step names, else the case's."""
    clause = (line.get("finding") or {}).get("clause")
    tested = tuple(line["clauses"])
    return (clause,) if clause in tested else tested


@dataclass(slots=True)
class RunRecord:
    """A record as read.

    Attributes:
      header: the header line.
      results: case id to result line, in file order.
      events: event lines in order.
      complete: whether the footer is there.
      answered: how many cases the footer says were answered; None without one.
      valid_bytes: where the last complete line ends; what follows was cut by a kill.

    """

    header: dict[str, Any]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False
    answered: int | None = None
    valid_bytes: int = 0


def read_record(path: Path) -> RunRecord:
    """Read a record; a last line that was cut is left out.

    Raises:
      SpecError: the file cannot be read, a complete line is no JSON or breaks the schema, the
        header is missing or not first, or a case is answered twice; the message names the line.

    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SpecError(str(path), "", f"cannot be read: {error}") from error
    record: RunRecord | None = None
    end = 0
    for number, line in enumerate(raw.split(b"\n")[:-1], 1):
        position = f"line {number}"
        form = _parse(line, str(path), position)
        end += len(line) + 1
        if record is None:
            if form["kind"] != "header":
                raise SpecError(str(path), position, "the first line must be the header")
            record = RunRecord(form, valid_bytes=end)
            continue
        _add(record, form, str(path), position)
        record.valid_bytes = end
    if record is None:
        raise SpecError(str(path), "line 1", "no whole header line")
    return record


def _parse(line: bytes, source: str, position: str) -> dict[str, Any]:
    try:
        form: dict[str, Any] = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SpecError(source, position, f"not JSON: {error}") from error
    check(form, "record", f"{source}: {position}")
    return form


def _add(record: RunRecord, form: dict[str, Any], source: str, position: str) -> None:
    if form["kind"] == "header":
        raise SpecError(source, position, "a second header")
    if record.complete and form["kind"] != "event":
        raise SpecError(source, position, "a line after the footer")
    if form["kind"] == "event":
        record.events.append(form)
    elif form["kind"] == "footer":
        record.complete = True
        record.answered = form["cases"]
    elif form["id"] in record.results:
        raise SpecError(source, position, f"case {form['id']!r} is answered twice")
    else:
        record.results[form["id"]] = form


class RecordWriter:
    """Appends lines to a record, each handed to the system before the next case starts."""

    def __init__(self, path: Path, keep_bytes: int | None = None) -> None:
        """Open `path`: anew, or (resume) after its first `keep_bytes` bytes.

        Raises:
          SpecError: another run is writing it.

        """
        self._path = path
        self._file = path.open("ab", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until it is closed
        except BlockingIOError as error:
            self._file.close()
            raise SpecError(str(path), "its end", "another run is writing it") from error
        self._file.truncate(keep_bytes or 0)

    def write(self, form: Mapping[str, Any]) -> None:
        """Append one line.

        Raises:
          OSError: the disk is full, say; the error names the record.

        """
        text = json.dumps(form, sort_keys=True, separators=(",", ":"), allow_nan=False)
        with naming(self._path):
            line = memoryview(f"{text}\n".encode("ascii"))
            while line:  # a system call may write a part
                line = line[self._file.write(line) :]

    def close(self) -> None:
        """Flush to the disk and close."""
        with naming(self._path), self._file:
            os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a record file as JSON, unchecked."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
