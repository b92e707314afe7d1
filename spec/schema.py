"""JSON Schemas of every file, message and record, and the one error for what breaks them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, Final

__all__ = ["SCHEMA_DIR", "SpecError", "check", "load_schema"]

SCHEMA_DIR: Final = Path(__file__).parent / "schemas"


class SpecError(ValueError):
    """Something read is not what it should be: `source` (a file), `place` in it, `reason`."""

    def __init__(self, source: str, place: str, reason: str) -> None:
        super().__init__(f"{source}: at {place or 'the top'}: {reason}")
        self.source = source
        self.place = place
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.source, self.place, self.reason)


@functools.cache
def load_schema(name: str) -> dict[str, Any]:
    """The schema `name` (of `schemas/name.schema.json`) as a dict."""
    text = (SCHEMA_DIR / f"{name}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


@functools.cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - slow to import

    return Draft202012Validator(load_schema(name))


def check(form: Any, name: str, source: str) -> None:
    """Check `form` against the schema `name`.

    Raises:
      SpecError: the place and the reason of the first error, smallest subtree first.

    """
    from jsonschema.exceptions import best_match  # noqa: PLC0415 - slow to import

    try:
        error = best_match(_validator(name).iter_errors(form))
    except RecursionError:
        raise SpecError(source, "", "nested too deep") from None
    if error is not None:
        message = error.message if len(error.message) <= 300 else error.message[:297] + "..."
        raise SpecError(source, ".".join(str(part) for part in error.absolute_path), message)
