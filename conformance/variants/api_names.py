"""Names in the steps of an API case: those that the case gives, and their replacement."""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.variants.calls import mappings_in
from sessrun.conformance.variants.naming import NAME_PATH, Names, base_of
from sessrun.spec.cases.forms import Step
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["given_components", "renamed", "reserved_components"]

#: The arguments that hold a name which the program gives.
_NAME_ARGUMENTS: Final = frozenset({"name", "scope", "default_name", "shared_name", "container"})
#: The functions whose first argument is one.
_NAMES_FIRST: Final = frozenset(
    {"name_scope", "variable_scope", "get_variable", "container", "add_to_collection"}
)
#: The methods whose first argument is what is fetched: the keys of a dict there are the program's.
_FETCHING: Final = frozenset({"run", "partial_run", "make_callable", "partial_run_setup"})
#: Words that names made by TensorFlow have, beside those of op types and functions.
_RESERVED: Final = frozenset(
    {
        "global_step",
        "save",
        "gradients",
        "kernel",
        "bias",
        "gamma",
        "import",
        "cond",
        "while",
        "init",
        "report",
        "losses",
        "metrics",
        "read",
        "assign",
        "initializer",
        "initial_value",
        "value",
        "values",
        "total",
        "count",
        "part",
        "summaries",
        "variables",
        "trainable_variables",
        "local_variables",
        "global_variables",
        "update_ops",
        "queue_runners",
        "train",
        "train_op",
        "regularization_losses",
        "table_initializer",
        "ready_op",
        "saveable_objects",
        "model_variables",
        "moving_mean",
        "moving_variance",
        "weights",
        "weighted_loss",
        "normal",
        "uniform",
        "gradient",
        "momentum",
        "adagrad",
        "adam",
        "slot",
        "ref",
        "shape",
        "dtype",
        "initialized",
        "resource",
    }
)


@functools.cache
def reserved_components() -> frozenset[str]:
    """Components that TensorFlow itself may give to names, in lower case."""
    # Not the registrations `A`, `B` and so on of TensorFlow's own tests, which no function makes.
    types = [op for op in OPERATIONS if len(op) > 2]
    snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", op).lower() for op in types}
    return frozenset(snake.union(_RESERVED, map(str.lower, types)))


def given_components(steps: Sequence[Step]) -> set[str]:
    """The components of names that the case gives, without those that may mean something else."""
    given: set[str] = set()
    blobs: list[bytes] = []
    words: set[str] = set()

    for form in mappings_in(steps):
        call = form.get("$call")
        given.update(
            value
            for key, value in form.get("$dict", ())
            if key == "name" and isinstance(value, str)
        )
        if isinstance(call, str):
            words.update(part.lower() for part in call.split("."))
            given.update(_names_of_call(call.rpartition(".")[2], form))
        if "$" in form:
            words.update(part.lower() for part in str(form["$"]).split("."))
        if "$bytes" in form:
            blobs.append(base64.b64decode(form["$bytes"]))
        for key in ("$namedtuple", "$attrs"):
            if key in form:
                words.update(field.lower() for field in form[key]["fields"])
    bases = {
        base_of(part) for text in given if NAME_PATH.fullmatch(text) for part in text.split("/")
    }
    refused = reserved_components() | words
    return {
        base
        for base in bases
        if base
        and not base.isdigit()
        and base.lower() not in refused
        and not any(_occurs(base, blob) for blob in blobs)
    }


def _occurs(base: str, blob: bytes) -> bool:
    """Whether a serialized message has the word; bytes that are one name do not count."""
    if NAME_PATH.fullmatch(blob.removeprefix(b"loc:@").decode("latin-1")):
        return False
    return re.search(rb"(?<![A-Za-z0-9])" + re.escape(base.encode()), blob) is not None


def _names_of_call(last: str, form: Mapping[str, Any]) -> Iterator[str]:
    kwargs, args = form.get("kwargs", {}), form.get("args", [])
    for key in _NAME_ARGUMENTS & kwargs.keys():
        if isinstance(kwargs[key], str):
            yield kwargs[key]
    if last in _NAMES_FIRST and args and isinstance(args[0], str):
        yield args[0]
    if last in _FETCHING and args:
        for inner in mappings_in(args[0]):
            keys = (key for kind in ("$dict", "$ordered_dict") for key, _ in inner.get(kind, ()))
            yield from (
                key for key in keys if isinstance(key, str) and ":" not in key and "/" not in key
            )


#: The forms whose strings are no names of the graph's.
_NO_NAMES: Final = frozenset(
    {
        "$",
        "$array",
        "$scalar",
        "$float",
        "$int",
        "$complex",
        "$path",
        "$py",
        "$type",
        "$object",
        "object",
        "contract",
        "classes",
    }
)


def renamed(steps: Sequence[Step], names: Names) -> list[Step]:
    """The steps with every name of a node, scope or key in them renamed."""
    return [_renamed_form(step, names) for step in steps] if names else list(steps)


def _renamed_form(form: Any, names: Names) -> Any:
    if isinstance(form, str):
        return names.text(form)
    if isinstance(form, list):
        return [_renamed_form(item, names) for item in form]
    if not isinstance(form, Mapping):
        return form
    if "do" in form:
        named = {"expr", "context", "value", "object", "error", "args", "expect", "steps"}
        return {
            key: _renamed_form(part, names) if key in named else part for key, part in form.items()
        }
    if "$bytes" in form:
        return {"$bytes": _renamed_bytes(form["$bytes"], names)}
    if "$getattr" in form:
        value, attribute = form["$getattr"]
        return {"$getattr": [_renamed_form(value, names), attribute]}
    return {
        key: part
        if key in _NO_NAMES or (key == "$call" and isinstance(part, str))
        else _renamed_form(part, names)
        for key, part in form.items()
    }


def _renamed_bytes(text: str, names: Names) -> str:
    plain = base64.b64decode(text)
    prefix = b"loc:@" if plain.startswith(b"loc:@") else b""
    try:
        renamed = names.path(plain[len(prefix) :].decode())
    except UnicodeDecodeError:
        return text
    return base64.b64encode(prefix + renamed.encode()).decode()
