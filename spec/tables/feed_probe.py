"""Measures the table of feed conversion from a backend, and writes what follows from it.

    python -m sessrun.spec.tables.feed_probe --backend-namespace tensorflow.compat.v1
        writes spec/feed_table.json and the matrix in docs/feeds.md
    python -m sessrun.spec.tables.feed_probe --backend-namespace tensorflow.compat.v1 --check
        names the cells that differ; exit status 1 if any

The namespace is imported by the name given; each cell is measured under the oracle's
configuration and under the default one, which must agree.
"""

from __future__ import annotations

import argparse
import builtins
import importlib
import importlib.metadata
import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from sessrun.spec import tensors
from sessrun.spec.cases.expressions import evaluate
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor
from sessrun.spec.cases.readable import exact, readable
from sessrun.spec.cases.values import describe
from sessrun.spec.dtypes import BY_NAME, DTypeRow
from sessrun.spec.feeds import FEEDABLE, TABLE_PATH, CellForm, RowForm, TableForm
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.loader import read_json
from sessrun.spec.tables.feed_kinds import Kind, kinds
from sessrun.spec.tables.feed_manual import MANUAL_PATH, manual

__all__ = ["REASONS", "Probe", "main", "render", "table"]

#: Why a cell may differ elsewhere, by the key that a cell's `varies` names.
REASONS: Final[Mapping[str, str]] = {
    "cast": "a float that the integer dtype cannot hold: C leaves the cast undefined, and numpy "
    "answers by processor, compiler and length of the array",
    "extended": "long double is another type on other platforms",
    "numpy": "numpy 2.0 compares small integers and ml_dtypes' floats with a Python int more "
    "strictly than 2.1 and later",
    "ml_dtypes": "ml_dtypes before 0.5.4 casts integers of four and of two bits to and from fewer "
    "types and refuses what does not fit by other classes",
}

_NIBBLES: Final = frozenset({"int4", "uint4", "int2", "uint2"})
_INTEGERS: Final = frozenset({"int", "uint", "quantized"})


class Probe:
    """A namespace with a placeholder of each dtype, its identity, and a session of each kind."""

    def __init__(self, namespace: Namespace) -> None:
        getattr(namespace, "disable_v2_behavior", lambda: None)()
        self._errors = namespace.errors
        self._nodes: dict[str, tuple[Tensor, Tensor]] = {}
        with namespace.Graph().as_default() as graph:
            for name in FEEDABLE:
                placeholder = namespace.placeholder(namespace.as_dtype(name))
                self._nodes[name] = (placeholder, namespace.identity(placeholder))
        self._sessions = [
            namespace.Session(graph=graph, config=config)
            for config in (_oracle_config(namespace), namespace.ConfigProto())
        ]

    def row(self, kind: Kind) -> tuple[list[CellForm], list[int]]:
        """The distinct cells of a kind of value, and the index of each dtype's cell in them."""
        cells: list[CellForm] = []
        by_dtype = []
        for name in FEEDABLE:
            cell = self.cell(kind[2], name)
            reason = _varies(kind[2], name, cell)
            if reason is not None:
                cell["varies"] = reason
            if cell not in cells:
                cells.append(cell)
            by_dtype.append(cells.index(cell))
        return cells, by_dtype

    def cell(self, form: Json, name: str) -> CellForm:
        """What feeding the value of `form` to a placeholder of dtype `name` does.

        Raises:
          RuntimeError: the two configurations disagree.

        """
        first, second = (self._observe(session, form, name) for session in self._sessions)
        if first != second:
            raise RuntimeError(f"{form} to {name}: the oracle gave {first}, the default {second}")
        return first

    def _observe(self, session: Any, form: Json, name: str) -> CellForm:
        placeholder, identity = self._nodes[name]
        cell: CellForm = {}
        try:
            got = session.run(identity, {placeholder: evaluate(form, {})})
            cell["tensor"] = tensors.encode(np.asarray(got, object if name == "string" else None))
        except Exception as error:  # noqa: BLE001 - what the backend raises is the observation
            cell["error"] = self._class_name(error)
        value = evaluate(form, {})
        try:
            fed = session.run(placeholder, {placeholder: value})
        except Exception as error:
            if cell.get("error") != self._class_name(error):
                raise RuntimeError(f"{form} to {name}: fetched as fed, another error") from error
            return cell
        shown = _shown(fed)
        if shown != {"array": cell.get("tensor")}:
            cell["fed"] = shown
        if fed is value:
            cell["alias"] = "same"
        elif np.shares_memory(fed, _plain(value)):
            cell["alias"] = "shared"
        return cell

    def _class_name(self, error: Exception) -> str:
        """The most derived built-in below Exception, else the most derived class of `errors`.

        A backend whose class is both a ValueError and an InvalidArgumentError so agrees with
        one that raises the plain ValueError.
        """
        bases = type(error).__mro__[: type(error).__mro__.index(Exception)]
        for namespace in (builtins, self._errors):
            for cls in bases:
                if getattr(namespace, cls.__name__, None) is cls:
                    return str(cls.__name__)
        return "Exception"


def _oracle_config(namespace: Namespace) -> Any:
    config = namespace.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.optimizer_options.opt_level = -1
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config


def _shown(fed: np.ndarray) -> dict[str, Json]:
    """The table's form of a placeholder that was fetched as fed."""
    if fed.dtype != object or all(type(item) is bytes for item in fed.flat):
        return {"array": tensors.encode(fed)}
    return {"objects": {"shape": list(fed.shape), "items": [describe(item) for item in fed.flat]}}


def _plain(value: ArrayLike) -> np.ndarray:
    """The value as an array on its own memory where it has some; else an array of its own."""
    try:
        return np.asarray(value)
    except ValueError:  # ragged
        return np.empty(0)


def _varies(form: Json, name: str, cell: CellForm) -> str | None:
    """The reason why a cell may differ elsewhere, if there is one."""
    value = evaluate(form, {})
    source, target = _plain(value), BY_NAME[name]
    if source.dtype.type in {np.longdouble, np.clongdouble}:
        return "extended"
    if isinstance(value, int) and _varies_by_numpy(value, target, cell):
        return "numpy"
    if _varies_by_ml_dtypes(source, target, cell):
        return "ml_dtypes"
    return "cast" if "tensor" in cell and _overflows(source, target) else None


def _is_foreign(dtype: DTypeLike) -> bool:
    return bool(np.dtype(dtype).type.__module__ == "ml_dtypes")


def _varies_by_numpy(value: int, target: DTypeRow, cell: CellForm) -> bool:
    """Whether numpy 2.0 finds an int unequal, or an enumeration's member incomparable."""
    if target.kind == "float" and _is_foreign(target.numpy) and "tensor" in cell:
        return float(tensors.decode(cell["tensor"])) != value
    is_byte = target.kind in {"int", "uint"} and target.itemsize == 1
    return type(value) is not int and is_byte and "error" in cell


def _varies_by_ml_dtypes(source: np.ndarray, target: DTypeRow, cell: CellForm) -> bool:
    """Whether older releases lack the cast, or refuse a value by another class."""
    to_nibble, from_nibble = target.name in _NIBBLES, source.dtype.name in _NIBBLES
    if to_nibble and source.size and cell.get("error") in {"OverflowError", "ValueError"}:
        return True
    both = _is_foreign(source.dtype) and _is_foreign(target.numpy)
    return both and to_nibble != from_nibble


def _overflows(source: np.ndarray, target: DTypeRow) -> bool:
    """Whether a float is outside the limits of an integer dtype once truncated."""
    floats = source.dtype.kind in "fc" or _is_foreign(source.dtype)
    if not floats or source.dtype.name in _NIBBLES or target.kind not in _INTEGERS:
        return False
    dtype = np.dtype(target.numpy)
    limits = (ml_dtypes.iinfo if target.name in _NIBBLES else np.iinfo)(
        dtype[0] if dtype.names else dtype
    )
    truncated = np.trunc(np.real(source).astype(np.float64))
    fits = (truncated >= float(limits.min)) & (truncated < float(limits.max) + 1)
    return not fits.all()


def table(namespace: Namespace) -> TableForm:
    """The table of feeds, measured from a namespace."""
    probe = Probe(namespace)
    rows: list[RowForm] = []
    for kind in kinds():
        cells, by_dtype = probe.row(kind)
        rows.append(
            {
                "id": kind[0],
                "title": kind[1],
                "value": kind[2],
                "cells": cells,
                "by_dtype": by_dtype,
            }
        )
    versions = {"tensorflow": namespace.__version__} | {
        name: importlib.metadata.version(name) for name in ("numpy", "ml_dtypes")
    }
    return {"dtypes": list(FEEDABLE), "made_with": versions, "reasons": dict(REASONS), "rows": rows}


def render(form: TableForm) -> str:
    """The table's text: one line for each row, so that a difference is readable."""
    head = {key: value for key, value in form.items() if key != "rows"}
    lines = ",\n".join("  " + _compact(readable(cast("JsonObject", row))) for row in form["rows"])
    return _compact(head)[:-1] + ',"rows":[\n' + lines + "\n]}\n"


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def differences(want: TableForm, got: TableForm) -> Iterator[str]:
    """A line for each cell that differs and is not marked as varying."""
    old, new = ({row["id"]: row for row in form["rows"]} for form in (want, got))
    for id_ in old.keys() ^ new.keys():
        yield f"{id_}: only in {'the file' if id_ in old else 'the kinds'}"
    for id_ in old.keys() & new.keys():
        if old[id_]["value"] != new[id_]["value"]:
            yield f"{id_}: the value is written differently"
        for index, name in enumerate(FEEDABLE):
            was, now = (row["cells"][row["by_dtype"][index]] for row in (old[id_], new[id_]))
            if was != now and "varies" not in was:
                yield f"{id_} to {name}: the file has {was}, the backend gives {now}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="feed_probe", description=__doc__.partition("\n")[0])
    parser.add_argument("--backend-namespace", required=True, metavar="MODULE")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of lossy casts; the table records values
        measured = table(importlib.import_module(options.backend_namespace))
    if options.check:
        lines = sorted(differences(cast("TableForm", exact(read_json(TABLE_PATH))), measured))
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return 1 if lines else 0
    TABLE_PATH.write_text(render(measured), encoding="utf-8")
    MANUAL_PATH.write_text(manual(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
