"""Which release a case needs: what an older one lacks is not asked of it.

A backend tells its release in the details of its description: `producer`, the version of the
GraphDefs that it writes, and `numpy`, the version of the numpy that its Python namespace rests on.
One that does not is taken for the newest. `since.toml` has what each release of TensorFlow added to
operations; a case whose graphs do not tell says itself what it needs (`Case.release`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any, Final

from sessrun.spec.cases.forms import members
from sessrun.spec.cases.model import Case, canonical_json
from sessrun.spec.dtypes import BY_ENUM, BY_NAME, DTYPES, REF_OFFSET
from sessrun.spec.since import load_since, since
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Release", "bodies", "needed_release", "newest_named", "newest_release"]

#: What stands for the version of a numpy that a backend does not tell.
_NEWEST_NUMPY: Final = 2
#: A major version, or a whole number.
_NUMBER: Final = re.compile(r"[0-9]{1,9}(?=\.|$)")
_BY_WIRE_NAME: Final = {f"DT_{row.opdef.upper()}": row for row in DTYPES}


@dataclass(frozen=True, slots=True)
class Release:
    """A release that a case needs, or that a backend has.

    Attributes:
      producer: the version of the GraphDefs that it writes.
      numpy: the major version of its numpy.

    """

    producer: int = 0
    numpy: int = 0

    @classmethod
    def of_details(cls, details: Mapping[str, Any]) -> Release:
        """That of a backend, by the details of its description."""
        newest = newest_release()
        return cls(
            _number(details.get("producer"), newest.producer),
            _number(details.get("numpy"), newest.numpy),
        )

    @classmethod
    def from_json(cls, form: Mapping[str, int]) -> Release:
        """Read the JSON form."""
        return cls(**form)

    def to_json(self) -> dict[str, int]:
        """The JSON form, without what is not needed."""
        parts = {"producer": self.producer, "numpy": self.numpy}
        return {name: value for name, value in parts.items() if value}

    @property
    def words(self) -> str:
        """The release in words: `TensorFlow 2.17 with numpy 1`."""
        return f"TensorFlow {_name(self.producer)} with numpy {self.numpy}"

    def lacks(self, needed: Release) -> str:
        """What this release is too old for, in words; empty if for nothing."""
        if self.producer < needed.producer:
            return f"TensorFlow {_name(needed.producer)}"
        return f"numpy {needed.numpy}" if self.numpy < needed.numpy else ""


@functools.cache
def newest_release() -> Release:
    """The release that has all there is."""
    return Release(load_since()["releases"][-1]["producer"], _NEWEST_NUMPY)


def _number(text: Any, default: int) -> int:
    matched = _NUMBER.match(text) if isinstance(text, str) else None
    return int(matched[0]) if matched else default


def _name(producer: int) -> str:
    """The last release that writes GraphDefs of this version or an older one."""
    names = [r["name"] for r in load_since()["releases"] if r["producer"] <= producer]
    return names[-1] if names else f"of producer {producer}"


@functools.cache
def _names() -> tuple[bytes, ...]:
    """What stands in the JSON of every case that names something newer."""
    newer = since()
    enums = [BY_NAME[name].enum for name in newer.dtypes]
    names = {f'"op":"{key.partition(".")[0]}"' for key in (*newer.attributes, *newer.values)}
    names |= {f'type":{enum + offset}' for enum in enums for offset in (0, REF_OFFSET)}
    names |= {*newer.dtypes, *map(str.upper, newer.dtypes)}
    return tuple(name.encode() for name in sorted(names))


def needed_release(case: Case) -> Release:
    """The release that a case needs: by itself, by its graphs, and by the dtypes it names."""
    own = Release.from_json(case.release)
    text = canonical_json([*case.graphs.values(), *map(members, case.steps)])
    if not any(name in text for name in _names()):  # as in nearly every case
        return own
    nodes = (_of_node(node) for body in bodies(case.graphs.values()) for node in body)
    return Release(max((own.producer, newest_named(case.steps), *nodes)), own.numpy)


def bodies(graphs: Iterable[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """The nodes of each graph in protobuf's JSON mapping, and of each function."""
    for graph in graphs:
        yield graph.get("node", ())
        for function in graph.get("library", {}).get("function", ()):
            yield function.get("nodeDef", ())


def _of_node(node: Mapping[str, Any]) -> int:
    """The producer that a node needs: of its attributes, and of the dtypes that they name."""
    newer = since()
    needed = 0
    for name, value in node.get("attr", {}).items():
        key = f"{node['op']}.{name}"
        if key in newer.attributes and not _is_default(node["op"], name, value):
            needed = max(needed, newer.attributes[key])
        producers = newer.values.get(key, {})
        for dtype in _dtypes(value):
            needed = max(needed, producers.get(dtype, 0), newer.dtypes.get(dtype, 0))
    return needed


def _is_default(op: str, attr: str, value: Mapping[str, Any]) -> bool:
    """Whether a string or a dtype is that which the attribute has where a node does not give it."""
    default = next(decl.default for decl in OPERATIONS[op].attrs if decl.name == attr)
    return default in _dtypes(value) or value == {"s": default}


def _dtypes(value: Mapping[str, Any]) -> Iterator[str]:
    """The names of the dtypes in an attribute's value."""
    listed = value.get("list", {}).get("type", ())
    single = [
        form[key]
        for form, key in ((value, "type"), (value.get("tensor", {}), "dtype"))
        if key in form
    ]
    for dtype in (*single, *listed):
        if isinstance(dtype, int):
            row = BY_ENUM.get(dtype % REF_OFFSET)
        else:
            row = _BY_WIRE_NAME.get(dtype.removesuffix("_REF"))
        if row is not None:
            yield row.name


def newest_named(form: Any) -> int:
    """The producer of the newest dtype that steps name: as `int2`, `tf.int2` or `DT_INT2`."""
    if isinstance(form, str):
        return since().dtypes.get(form.rpartition(".")[2].removeprefix("DT_").lower(), 0)
    parts = form.values() if isinstance(form, Mapping) else form
    if isinstance(parts, list | tuple | ValuesView):
        return max(map(newest_named, parts), default=0)
    return 0
