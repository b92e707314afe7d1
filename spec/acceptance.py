"""Whether a form follows a schema, asked of functions that are made once for each schema.

jsonschema walks a schema anew for every form, which takes a third of a run. Nearly every form is
as it should be, and of these the functions here say so at a twentieth of the cost. What they do not
accept is no error yet: jsonschema decides, and says what is wrong. So they may doubt, but they
must never accept what jsonschema refuses; a test compares the two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

__all__ = ["Accepts", "acceptance"]

#: Whether a form follows a schema.
Accepts = Callable[[Any], bool]
_Kinds = Mapping[str, Any]

#: What says nothing of a form.
_WORDS: Final = frozenset({"$schema", "$id", "$defs", "title", "description"})


class _DoubtError(Exception):
    """Only jsonschema can decide."""


def acceptance(schema: Any, kinds: _Kinds) -> Accepts:
    """The function that tells whether a form follows the schema; False means that it may not.

    Args:
      schema: the schema.
      kinds: what it refers to, by name (`$defs`).

    """
    accepts = _Compiler(kinds).function(schema)

    def surely(form: Any) -> bool:
        try:
            return accepts(form)
        except (_DoubtError, RecursionError):
            return False

    return surely


class _Compiler:
    """Makes the functions of one schema; a kind that refers to itself has one that calls itself."""

    def __init__(self, kinds: _Kinds) -> None:
        self._kinds = kinds
        self._made: dict[str, Accepts] = {}

    def function(self, schema: Any) -> Accepts:
        """The function of a schema or a part of one."""
        if isinstance(schema, bool):
            return lambda _: schema
        parts = [self._part(key, value, schema) for key, value in schema.items()]
        tests = tuple(test for test in parts if test is not None)
        if len(tests) == 1:
            return tests[0]

        def follows(form: Any) -> bool:
            for test in tests:  # noqa: SIM110 - a generator for each part would take twice as long
                if not test(form):
                    return False
            return True

        return follows

    def _part(self, key: str, value: Any, schema: Mapping[str, Any]) -> Accepts | None:
        if key in _WORDS or key in {"then", "else"}:
            return None
        if key == "properties":
            return self._object(schema)
        if key == "additionalProperties":
            return None if "properties" in schema else self._object(schema)
        if key == "items":
            return self._items(value, len(schema.get("prefixItems", ())))
        if key == "if":
            return self._choice(schema)
        several = {"allOf": self._all, "anyOf": self._any, "oneOf": self._one,
                   "prefixItems": self._first_items}.get(key)  # fmt: skip
        if several is not None:
            return several([self.function(part) for part in value])
        if key == "$ref":
            return self._kind(value)
        if key == "not":
            refused = self.function(value)
            return lambda form: not refused(form)
        if key == "propertyNames":
            named = self.function(value)
            return lambda form: not isinstance(form, dict) or all(map(named, form))
        simple = _SIMPLE.get(key)
        return _doubt if simple is None else simple(value)

    def _kind(self, reference: str) -> Accepts:
        name = reference.removeprefix("#/$defs/")
        if name not in self._kinds:
            return _doubt
        if name not in self._made:
            # Until it is made: a kind may hold itself.
            self._made[name] = lambda form: self._made[name](form)  # noqa: PLW0108 - of that time
            self._made[name] = self.function(self._kinds[name])
        return self._made[name]

    def _object(self, schema: Mapping[str, Any]) -> Accepts:
        known = {name: self.function(part) for name, part in schema.get("properties", {}).items()}
        other = self.function(schema.get("additionalProperties", True))
        find = known.get

        def follows(form: Any) -> bool:
            if not isinstance(form, dict):
                return True
            for name, value in form.items():  # noqa: SIM110 - as above
                if not find(name, other)(value):
                    return False
            return True

        return follows

    def _items(self, schema: Any, first: int) -> Accepts:
        item = self.function(schema)
        return lambda form: (
            not isinstance(form, list) or all(map(item, form[first:] if first else form))
        )

    def _choice(self, schema: Mapping[str, Any]) -> Accepts:
        condition = self.function(schema["if"])
        then, otherwise = (self.function(schema.get(key, True)) for key in ("then", "else"))
        return lambda form: then(form) if condition(form) else otherwise(form)

    @staticmethod
    def _all(parts: Sequence[Accepts]) -> Accepts:
        return lambda form: all(part(form) for part in parts)

    @staticmethod
    def _any(parts: Sequence[Accepts]) -> Accepts:
        return lambda form: any(part(form) for part in parts)

    @staticmethod
    def _one(parts: Sequence[Accepts]) -> Accepts:
        return lambda form: sum(part(form) for part in parts) == 1

    @staticmethod
    def _first_items(parts: Sequence[Accepts]) -> Accepts:
        return lambda form: (
            not isinstance(form, list)
            or all(part(item) for part, item in zip(parts, form, strict=False))
        )


def _doubt(_: Any) -> bool:
    raise _DoubtError


def _type(wanted: Any) -> Accepts:
    if isinstance(wanted, str):
        return _TYPES.get(wanted, _doubt)
    tests = [_TYPES.get(name, _doubt) for name in wanted]
    return lambda form: any(test(form) for test in tests)


def _is_number(form: Any) -> bool:
    return isinstance(form, int | float) and not isinstance(form, bool)


def _is_integer(form: Any) -> bool:
    if isinstance(form, float):
        return form.is_integer()
    return isinstance(form, int) and not isinstance(form, bool)


def _enum(values: Sequence[Any]) -> Accepts:
    """One of the values; whether anything but a text is one, jsonschema decides."""
    texts = frozenset(value for value in values if isinstance(value, str))
    if len(texts) == len(values):
        return lambda form: isinstance(form, str) and form in texts
    plain = [value for value in values if value is None or isinstance(value, bool)]
    return lambda form: (
        any(form is value for value in plain)
        or (form in texts if isinstance(form, str) else _doubt(form))
    )


def _const(value: Any) -> Accepts:
    if isinstance(value, str):
        return lambda form: isinstance(form, str) and form == value
    if value is None or isinstance(value, bool):
        return lambda form: form is value
    if isinstance(value, int):
        return lambda form: _is_number(form) and form == value
    return _doubt


def _required(names: Sequence[str]) -> Accepts:
    wanted = frozenset(names)
    return lambda form: not isinstance(form, dict) or form.keys() >= wanted


def _dependent(names: Mapping[str, Sequence[str]]) -> Accepts:
    return lambda form: (
        not isinstance(form, dict)
        or all(form.keys() >= set(needed) for name, needed in names.items() if name in form)
    )


def _pattern(wanted: str) -> Accepts:
    # In the expressions of JSON Schema `$` is the end; Python's lets a newline follow it.
    search = re.compile(wanted.replace("$", r"\Z")).search
    return lambda form: not isinstance(form, str) or search(form) is not None


def _unique(wanted: bool) -> Accepts:
    def follows(form: Any) -> bool:
        if not wanted or not isinstance(form, list):
            return True
        if not all(isinstance(item, str) for item in form):
            raise _DoubtError
        return len(set(form)) == len(form)

    return follows


def _of_size(kind: type[Any], holds: Callable[[int, int], bool]) -> Callable[[int], Accepts]:
    return lambda limit: lambda form: not isinstance(form, kind) or holds(len(form), limit)


def _of_number(holds: Callable[[Any, Any], bool]) -> Callable[[Any], Accepts]:
    return lambda limit: lambda form: not _is_number(form) or holds(form, limit)


_TYPES: Final[Mapping[str, Accepts]] = {
    "object": lambda form: isinstance(form, dict),
    "array": lambda form: isinstance(form, list),
    "string": lambda form: isinstance(form, str),
    "boolean": lambda form: isinstance(form, bool),
    "null": lambda form: form is None,
    "number": _is_number,
    "integer": _is_integer,
}

#: From a keyword's value to the function that tells whether a form has it.
_SIMPLE: Final[Mapping[str, Callable[[Any], Accepts]]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "required": _required,
    "dependentRequired": _dependent,
    "pattern": _pattern,
    "uniqueItems": _unique,
    "minLength": _of_size(str, lambda size, limit: size >= limit),
    "maxLength": _of_size(str, lambda size, limit: size <= limit),
    "minItems": _of_size(list, lambda size, limit: size >= limit),
    "maxItems": _of_size(list, lambda size, limit: size <= limit),
    "minProperties": _of_size(dict, lambda size, limit: size >= limit),
    "maxProperties": _of_size(dict, lambda size, limit: size <= limit),
    "minimum": _of_number(lambda number, limit: number >= limit),
    "maximum": _of_number(lambda number, limit: number <= limit),
    "exclusiveMinimum": _of_number(lambda number, limit: number > limit),
    "exclusiveMaximum": _of_number(lambda number, limit: number < limit),
}
