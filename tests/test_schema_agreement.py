"""The quick check of a schema accepts nothing that jsonschema refuses."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from sessrun.spec import schema
from sessrun.spec.cases.readable import exact_tensor
from sessrun.spec.loader import SPEC_DIR

_NAMES = sorted(path.name.partition(".")[0] for path in schema.SCHEMA_DIR.glob("*.schema.json"))
#: What a mutation puts in the place of a part.
_ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    0.5,
    2**60,
    "",
    "a\n",
    "FEED-007",
    "FEED-007\n",
    "é",
    [],
    [1, 1],
    ["a", "a"],
    [[]],
    {},
    {"": None},
    {"file": "x"},
    {"file": "x", "nbytes": 1},
)


def kinds_of(name: str) -> list[str | None]:
    return [None, *schema.load_schema(name).get("$defs", {})]


def samples(part: Any, kinds: dict[str, Any], draw: random.Random, depth: int = 0) -> Any:
    """A form that follows a schema more or less: mutations and jsonschema say how far."""
    if isinstance(part, bool) or depth > 6:
        return draw.choice(_ODD)
    if "$ref" in part:
        return samples(kinds[part["$ref"].rpartition("/")[2]], kinds, draw, depth + 1)
    if "const" in part:
        return part["const"]
    if "enum" in part:
        return draw.choice(part["enum"])
    for several in ("anyOf", "oneOf"):
        if several in part and "properties" not in part:
            return samples(draw.choice(part[several]), kinds, draw, depth + 1)
    kind = part.get("type", "object" if "properties" in part else "string")
    kind = draw.choice(kind) if isinstance(kind, list) else kind
    if kind == "object":
        known = part.get("properties", {})
        names = [n for n in known if n in part.get("required", ()) or draw.random() < 0.5]
        return {name: samples(known[name], kinds, draw, depth + 1) for name in names}
    if kind == "array":
        count = max(part.get("minItems", 0), draw.randrange(3))
        return [samples(part.get("items", True), kinds, draw, depth + 1) for _ in range(count)]
    plain = {"string": "a" * 64, "integer": 1, "number": 0.5, "boolean": True, "null": None}
    return plain[kind]


def mutated(form: Any, draw: random.Random) -> Any:
    """The form with one part replaced, left out or added, anywhere in it."""
    form = copy.deepcopy(form)
    places = list(_places(form))
    if not places:
        return draw.choice(_ODD)
    holder, key = draw.choice(places)
    what = draw.randrange(4)
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[draw.choice(["file", "id", "x", "kind", "$ref"])] = draw.choice(_ODD)
    else:
        holder[key] = draw.choice(_ODD)
    return form


def _places(form: Any) -> Iterator[tuple[Any, Any]]:
    items = (
        form.items()
        if isinstance(form, dict)
        else enumerate(form)
        if isinstance(form, list)
        else ()
    )
    for key, value in list(items):
        yield form, key
        yield from _places(value)


def refused(form: Any, name: str, kind: str | None) -> bool:
    return next(schema._validator(name, kind).iter_errors(form), None) is not None


@pytest.mark.parametrize("name", _NAMES)
def test_what_is_accepted_follows_the_schema(name: str) -> None:
    """On forms drawn from the schema and mutated, and jsonschema says what is right."""
    draw = random.Random(name)
    kinds = schema.load_schema(name).get("$defs", {})
    agreed = 0
    for kind in kinds_of(name):
        whole = schema.load_schema(name) if kind is None else kinds[kind]
        for _ in range(60 if len(kinds) > 5 else 400):
            form = samples(whole, kinds, draw)
            for _ in range(draw.randrange(3)):
                form = mutated(form, draw)
            accepted = schema._accepts(name, kind)(form)
            wrong = refused(form, name, kind)
            assert not (accepted and wrong), (kind, form)
            agreed += accepted is not wrong
    assert agreed, "nothing was decided at all"


def test_every_stored_vector_is_accepted_at_once() -> None:
    """And every mutation of one that jsonschema refuses is not."""
    draw = random.Random(1)
    accepts = schema._accepts("case", None)
    paths = sorted((SPEC_DIR / "vectors").glob("*/*.json"))
    wrong = 0
    for path in draw.sample(paths, 150):
        form = json.loads(path.read_bytes(), object_hook=exact_tensor)
        assert accepts(form), path
        for _ in range(8):
            other = mutated(form, draw)
            is_wrong = refused(other, "case", None)
            assert accepts(other) is not is_wrong, (path, other)
            wrong += is_wrong
    assert wrong > 300


def test_a_form_without_end_is_not_accepted() -> None:
    form: list[Any] = []
    for _ in range(5000):
        form = [form]
    assert not schema._accepts("case", None)({"steps": form})
    with pytest.raises(schema.SpecError, match="nested too deep"):
        schema.check({"steps": form}, "case", "here")
