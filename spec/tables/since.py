"""Writes `spec/since.toml`: what releases of TensorFlow added to the operations that are declared.

`python -m sessrun.spec.tables.since ENVIRONMENT...` asks the Python of each virtual environment for
its TensorFlow's registered operations and kernels; the oldest release among them is the one
that nothing is newer than. With `--check` it compares the file and writes nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sessrun.spec.dtypes import DTYPES
from sessrun.spec.loader import SPEC_DIR
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["Registered", "main", "since"]

_FILE: Final = SPEC_DIR / "since.toml"
_HEAD: Final = """\
# What releases of TensorFlow added to the operations that are declared, oldest first: dtypes,
# attributes, and dtypes that an attribute may have and a kernel takes. The first release is the
# oldest that is judged. `python -m sessrun.spec.tables.since ENVIRONMENT...` writes this file.
"""
#: Runs in the environment: prints what its TensorFlow has, as JSON.
_PROBE: Final = """
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.client import pywrap_tf_session as c
from tensorflow.python.framework import kernels

def names(values):
    return sorted(types_pb2.DataType.Name(value) for value in values)

attributes, taken = {}, {}
for op in op_def_pb2.OpList.FromString(c.TF_GetBuffer(c.TF_GetAllOpList())).op:
    allowed = {attr.name: names(attr.allowed_values.list.type) for attr in op.attr}
    attributes[op.name] = allowed
for kernel in kernels.get_all_registered_kernels().kernel:
    if kernel.device_type == "CPU":
        for part in kernel.constraint:
            key = f"{kernel.op}.{part.name}"
            taken.setdefault(key, set()).update(part.allowed_values.list.type)
form = {
    "name": ".".join(tf.__version__.split(".")[:2]), "producer": tf.version.GRAPH_DEF_VERSION,
    "dtypes": types_pb2.DataType.keys(), "attributes": attributes,
    "taken": {key: names(values) for key, values in taken.items()},
}
print(json.dumps(form))
"""


@dataclass(frozen=True, slots=True)
class Registered:
    """What a release of TensorFlow has.

    Attributes:
      name: its name, such as `2.17`.
      producer: the version of the GraphDefs that it writes.
      dtypes: the dtypes it knows.
      attributes: `OP.ATTRIBUTE` of every operation that is declared, to the dtypes that it may have
        and a CPU kernel takes; None for no restriction.

    """

    name: str
    producer: int
    dtypes: frozenset[str]
    attributes: Mapping[str, frozenset[str] | None]

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Registered:
        """Read what the probe prints."""
        numbers = {f"DT_{row.opdef.upper()}": row.name for row in DTYPES}

        def dtypes(listed: Sequence[str]) -> frozenset[str]:
            return frozenset(numbers[name] for name in listed if name in numbers)

        attributes: dict[str, frozenset[str] | None] = {}
        for op, of_op in form["attributes"].items():
            for attr, allowed in of_op.items() if op in OPERATIONS else ():
                key = f"{op}.{attr}"
                limits = [dtypes(names) for names in (allowed, form["taken"].get(key)) if names]
                attributes[key] = frozenset.intersection(*limits) if limits else None
        return cls(form["name"], form["producer"], dtypes(form["dtypes"]), attributes)


def since(releases: Sequence[Registered]) -> str:
    """The text of the file: what each release has that the one before it lacks."""
    oldest = releases[0]
    parts = [_HEAD, f'[[releases]]\nname = "{oldest.name}"\nproducer = {oldest.producer}\n']
    for before, after in itertools.pairwise(releases):
        lines = ["[[releases]]", f'name = "{after.name}"', f"producer = {after.producer}"]
        dtypes = sorted(after.dtypes - before.dtypes)
        attributes = sorted(after.attributes.keys() - before.attributes.keys())
        values = dict(_values(before, after))
        for key, listed in (("dtypes", dtypes), ("attributes", attributes)):
            if listed:
                lines.append(f"{key} = {json.dumps(listed)}")
        if values:
            lines.append("[releases.values]")
            lines += [f'"{key}" = {json.dumps(values[key])}' for key in sorted(values)]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _values(before: Registered, after: Registered) -> Iterator[tuple[str, list[str]]]:
    """Attributes to the dtypes that both releases know, and only the later one takes there."""
    for key, now in after.attributes.items():
        then = before.attributes.get(key)
        if now is not None and then is not None and (now - then) & before.dtypes:
            yield key, sorted((now - then) & before.dtypes)


def _asked(environment: Path) -> Registered:
    command = [str(environment / "bin" / "python"), "-I", "-c", _PROBE]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - the user's own Python
    return Registered.from_json(json.loads(done.stdout))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file, or with `--check` only compare; the exit status."""
    parser = argparse.ArgumentParser(prog="sessrun.spec.tables.since", description=__doc__)
    parser.add_argument("environment", type=Path, nargs="+", help="a virtual environment")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    args = parser.parse_args(argv)
    releases = sorted(map(_asked, args.environment), key=lambda release: release.producer)
    text = since(releases)
    if not args.check:
        _FILE.write_text(text, encoding="utf-8")
        return 0
    if _FILE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{_FILE} is not what these releases have", file=sys.stderr)  # noqa: T201 - the command's answer
    return 1


if __name__ == "__main__":
    sys.exit(main())
