"""The spec as one JSON bundle with a digest, for tools in any language."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from sessrun.spec import SPEC_VERSION, devices, dtypes, errors, loader, proto
from sessrun.spec.cases.files import with_stand_in
from sessrun.spec.proto.foreign import parse_json, serialize
from sessrun.spec.schema import SCHEMA_DIR, load_schema
from sessrun.spec.volumes import load_volumes

__all__ = ["bundle", "write_graphs"]


def bundle() -> dict[str, Any]:
    """The whole spec, from volumes and clauses to vectors and schemas."""
    schemas = [path.name.removesuffix(".schema.json") for path in SCHEMA_DIR.glob("*.schema.json")]
    return {
        "bundle": 1,
        "version": SPEC_VERSION,
        "digest": loader.spec_digest(),
        "volumes": {name: _plain(volume) for name, volume in load_volumes().items()},
        "clauses": {id_: _plain(clause) for id_, clause in loader.load_clauses().items()},
        "withdrawn": {id_: _plain(clause) for id_, clause in loader.load_withdrawn().items()},
        "operations": {name: _plain(op) for name, op in loader.load_operations().items()},
        "dtypes": [
            {"name": row.name, "enum": row.enum, "kind": row.kind, "itemsize": row.itemsize}
            for row in dtypes.DTYPES
        ],
        "errors": [_plain(row) for row in errors.CODES],
        "devices": {"grammar": (devices.__doc__ or "").strip()},
        "profiles": {name: _plain(p) for name, p in loader.load_profiles().items()},
        "claims": dict(loader.load_claims()),
        "rulings": dict(loader.load_rulings()),
        "debt": dict(loader.load_debt()),
        "vectors": {id_: case.to_json() for id_, case in loader.load_vectors().items()},
        "schemas": {name: load_schema(name) for name in sorted(schemas)},
    }


def write_graphs(folder: Path) -> int:
    """Write every vector's graphs as `ID--NAME.pb` into the folder; how many there are.

    A path of the case's folder is written with the stand-in for the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for case in loader.load_vectors().values():
        for name, graph in case.graphs.items():
            text = json.dumps(with_stand_in(graph))
            message = parse_json(proto.GraphDef, text, f"{case.id}: graph {name}")
            path = folder / f"{case.id.replace('/', '--')}--{name}.pb"
            path.write_bytes(serialize(message))
            count += 1
    return count


def _plain(value: Any) -> Any:
    """Dataclasses, tuples and mappings as plain JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    return value
