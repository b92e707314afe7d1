"""JSON Schemas of every file, message and record, and the one error for what breaks them."""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from zipimport import zipimporter

__all__ = [
    "ERRORS_COMPARED",
    "SCHEMA_DIR",
    "SpecError",
    "check",
    "first_error",
    "has_kind",
    "load_schema",
]

SCHEMA_DIR: Final = Path(__file__).parent / "schemas"
#: Among how many errors the best is chosen. What is read may be made to have a million of them, and
#: finding them all would take minutes.
ERRORS_COMPARED: Final = 32
#: A worker in an archive has no schemas: its host has checked what it sends.
_TRUSTS: Final = __spec__ is not None and isinstance(__spec__.loader, zipimporter)


class SpecError(ValueError):
    """Something read is not what it should be: `source` (a file), `location` in it, `reason`."""

    def __init__(self, source: str, location: str, reason: str) -> None:
        self.source = _in_brief(source, 500)
        self.location = _in_brief(location, 160)
        self.reason = _in_brief(reason, 500)
        super().__init__(f"{self.source}: at {self.location or 'the top'}: {self.reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.location, self.reason)


def _in_brief(text: str, limit: int) -> str:
    """The text in one line of at most `limit` letters: what is quoted may be of any length."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


@functools.cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema `name` (of `schemas/name.schema.json`) as a dict."""
    text = (SCHEMA_DIR / f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@functools.cache
def _validator(name: str, kind: str | None) -> Any:
    """The jsonschema validator of the schema `name`, or of one kind within it."""
    from jsonschema import Draft202012Validator, ValidationError  # noqa: PLC0415 - slow to import
    from jsonschema.validators import extend  # noqa: PLC0415 - slow to import

    def pattern(_: Any, wanted: str, instance: Any, __: Any) -> Iterator[ValidationError]:
        # In the expressions of JSON Schema `$` is the end; Python's lets a newline follow it.
        if isinstance(instance, str) and not re.search(wanted.replace("$", r"\Z"), instance):
            yield ValidationError(f"{instance!r} does not match {wanted!r}")

    validator = extend(Draft202012Validator, {"pattern": pattern})  # type: ignore[no-untyped-call]  # untyped
    return validator(_schema_of(name, kind))


def _schema_of(name: str, kind: str | None) -> dict[str, Any]:
    """The schema `name`, or that of one kind within it."""
    schema = load_schema(name)
    return schema if kind is None else {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}


def check(form: Any, name: str, source: str) -> None:
    """Check `form` against the schema `name`; a worker in an archive trusts it.

    Raises:
      SpecError: the path and the reason of the first error, smallest subtree first.

    """
    try:
        error = first_error(form, name)
    except RecursionError:
        raise SpecError(source, "", "nested too deep") from None
    if error is not None:
        path = ".".join(str(part) for part in error.absolute_path)
        raise SpecError(source, path, error.message)


def has_kind(name: str, kind: str) -> bool:
    """Whether the schema `name` has this kind; a worker in an archive trusts that it has."""
    return _TRUSTS or kind in load_schema(name)["$defs"]


def first_error(form: Any, name: str, kind: str | None = None) -> Any:
    """What jsonschema finds wrong with a form first, smallest subtree first; None if nothing.

    Args:
      form: the form.
      name: the schema's name.
      kind: the kind within the schema (of its `$defs`); the schema as a whole if None.

    Raises:
      RecursionError: the form nests too deep.

    """
    if _TRUSTS or _accepts(name, kind)(form):
        return None
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - slow to import

    errors = _validator(name, kind).iter_errors(form)
    return best_match(itertools.islice(errors, ERRORS_COMPARED))


@functools.cache
def _accepts(name: str, kind: str | None) -> Callable[[Any], bool]:
    """Whether a form follows the schema for sure; False means that jsonschema must decide.

    Nearly every form is as it should be, and jsonschema takes a third of a run to say so:
    jsonschema-rs takes a hundredth of that. What is wrong jsonschema says.
    """
    import jsonschema_rs  # noqa: PLC0415 - slow to import

    is_valid = jsonschema_rs.Draft202012Validator(_schema_of(name, kind)).is_valid

    def surely(form: Any) -> bool:
        try:
            return bool(is_valid(form))
        except (ValueError, TypeError, OverflowError):  # nested too deep, or no JSON
            return False

    return surely
