"""Readers of every kind over drawn files: what they give, as a model of them says."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from sessrun.conformance.generators.graphdef import GraphWriter, dtype_attr, text_attr
from sessrun.conformance.property import prop
from sessrun.conformance.subjects.readers.files import DrawnFile, Kind, draw_kind
from sessrun.spec import tensors
from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case
from sessrun.spec.cases.objects import Value
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.model.readers import Reader, Record
from sessrun.spec.model.record_files import Records
from sessrun.spec.model.values import FailedError

_CLAUSE: Final = "READERS-036"
_STRING: Final = dtype_attr("string")


def _attr(value: Value) -> dict[str, Json]:
    return text_attr(value) if isinstance(value, str) else {"i": str(value)}


def _graph(kind: Kind) -> dict[str, Json]:
    """The graph of `cases/readers.py`, with a reader of this kind."""
    writer = GraphWriter()
    scalars: JsonObject = {"list": {"shape": [{}]}}
    writer.node(
        "FIFOQueueV2",
        [],
        {
            "component_types": {"list": {"type": [_STRING["type"]]}},
            "shapes": scalars,
            "capacity": {"i": "32"},
            "container": text_attr(""),
            "shared_name": text_attr(""),
        },
        "queue",
    )
    types = {"Tcomponents": {"list": {"type": [_STRING["type"]]}}, "timeout_ms": {"i": "-1"}}
    writer.node(
        "Placeholder",
        [],
        {
            "dtype": _STRING,
            "shape": {"shape": {"dim": [{"size": "-1"}]}},
        },
        "names",
    )
    writer.node("Placeholder", [], {"dtype": dtype_attr("int64"), "shape": {"shape": {}}}, "n")
    writer.node("QueueEnqueueManyV2", ["queue", "names"], types, "put")
    writer.node("QueueCloseV2", ["queue"], {"cancel_pending_enqueues": {"b": False}}, "close")
    attrs = {"container": text_attr(""), "shared_name": text_attr("")}
    attrs |= {name: _attr(value) for name, value in kind.attrs.items()}
    writer.node(kind.op, [], attrs, "reader")
    writer.node("ReaderReadV2", ["reader", "queue"], {}, "read")
    writer.node("ReaderReadUpToV2", ["reader", "queue", "n"], {}, "reads")
    writer.node("ReaderNumRecordsProducedV2", ["reader"], {}, "produced")
    writer.node("ReaderNumWorkUnitsCompletedV2", ["reader"], {}, "units")
    writer.node("ReaderResetV2", ["reader"], {}, "reset")
    return writer.graph()


def _strings(values: Iterable[bytes], shape: list[int]) -> JsonObject:
    data = [base64.b64encode(value).decode() for value in values]
    return {"$array": {"dtype": "string", "shape": shape, "data": data}}


def _run(
    fetches: list[str],
    feeds: Mapping[str, JsonObject] | None = None,
    expect: Expect | None = None,
) -> Step:
    step: Step = {"do": "run", "session": "s", "fetches": fetches}
    if feeds is not None:
        step["feeds"] = feeds
    if expect is not None:
        step["expect"] = expect
    return step


class _Reading:
    """A reader of the model, and the closed queue that it has the names of files from.

    Args:
      kind: of the reader.
      files: those of the queue.
      paths: their names, as the reader has them.

    """

    def __init__(self, kind: Kind, files: Sequence[DrawnFile], paths: Sequence[bytes]) -> None:
        self.reader = Reader(kind.op.removesuffix("V2"), kind.attrs)
        self._files = dict(zip(paths, files, strict=True))
        self._queue = list(paths)

    def read(self, count: int) -> list[Record]:
        """One record, or where there is a count so many at most."""
        if count:
            return self.reader.read_up_to(count, self._name, self._opened)
        return [self.reader.read(self._name, self._opened)]

    def _name(self) -> bytes:
        if not self._queue:
            raise FailedError("OUT_OF_RANGE", "the queue is closed and empty")
        return self._queue.pop(0)

    def _opened(self, name: bytes) -> Records:
        file = self._files[name]
        if file.data is None:
            raise FailedError("NOT_FOUND", f"there is no file {name!r}")
        return file.records


def _read(draw: random.Random, reading: _Reading) -> Step:
    """A read of one record or of several, and what it must give."""
    count = draw.choice((1, 2, 3, 10)) if draw.random() < 0.4 else 0
    fetches = ["reads:0", "reads:1"] if count else ["read:0", "read:1"]
    feeds = {"n:0": tensors.encode(np.int64(count))} if count else {}
    try:
        records = reading.read(count)
    except FailedError as failed:
        return _run(fetches, feeds=feeds, expect={"error": {"codes": [failed.code]}})
    shape = [len(records)] if count else []
    values = [_strings([record[part] for record in records], shape) for part in (0, 1)]
    return _run(fetches, feeds=feeds, expect={"values": values})


@prop("readers", _CLAUSE)
def readers(draw: random.Random, id_: str) -> Case:
    """Reads, counts and resets of any order give what the files hold."""
    kind = draw_kind(draw)
    files = [kind.draw_file(draw, f"f{number}") for number in range(draw.randint(1, 4))]
    reading = _Reading(kind, files, [f"{STAND_IN}/{file.name}".encode() for file in files])
    names: JsonObject = {
        "dtype": "string",
        "shape": [len(files)],
        "data": [{"$path": file.name} for file in files],
    }
    steps: list[Step] = [
        {"do": "open", "session": "s", "graph": "g"},
        _run(["put"], feeds={"names:0": names}),
        _run(["close"]),
    ]
    for _ in range(draw.randint(3, 14)):
        chance = draw.random()
        if chance < 0.75:
            steps.append(_read(draw, reading))
        elif chance < 0.95:
            counts = [
                tensors.encode(np.int64(count))
                for count in (reading.reader.produced, reading.reader.units)
            ]
            wanted: Expect = {"values": [{"$array": count} for count in counts]}
            steps.append(_run(["produced:0", "units:0"], expect=wanted))
        else:
            reading.reader.reset()
            steps.append(_run(["reset"]))
    held = {
        file.name: base64.b64encode(file.data).decode() for file in files if file.data is not None
    }
    title = f"A {kind.op.removesuffix('V2')} gives what its files hold."
    return Case(id_, title, "engine", (_CLAUSE,), tuple(steps), {"g": _graph(kind)}, held)
