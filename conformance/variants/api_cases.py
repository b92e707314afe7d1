"""Variants of API cases: other names of nodes, scopes and keys, other bound names, other values."""

from __future__ import annotations

import base64
import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.variants.contracts import contract_of, is_open, tensors_in
from sessrun.conformance.variants.naming import NAME_PATH, Names, base_of
from sessrun.conformance.variants.numbers import Numbers, kind_of
from sessrun.spec.cases.model import Case, walk
from sessrun.spec.tables.ops import OPERATIONS

__all__ = ["vary_calls"]

Step = Mapping[str, Any]
#: The arguments that hold a name which the program gives.
_NAME_ARGUMENTS: Final = frozenset({"name", "scope", "default_name", "shared_name", "container"})
#: The functions whose first argument is one.
_NAMES_FIRST: Final = frozenset({"name_scope", "variable_scope", "get_variable", "container",
                                 "add_to_collection"})  # fmt: skip
#: The methods whose first argument is what is fetched: the keys of a dict there are the program's.
_FETCHING: Final = frozenset({"run", "partial_run", "make_callable", "partial_run_setup"})
#: The functions whose first argument is data.
_DATA_FIRST: Final = frozenset({"constant", "Variable", "convert_to_tensor", "identity", "negative",
                                "square"})  # fmt: skip
#: The functions that compute nothing which another engine could round otherwise.
_EXACT: Final = frozenset({
    "Session", "constant", "placeholder", "get_variable", "Variable", "Graph", "identity",
    "negative", "global_variables_initializer", "local_variables_initializer", "device", "add",
    "get_default_graph", "variable_scope", "name_scope", "RunOptions", "ConfigProto", "assign",
    "assign_add", "no_op", "control_dependencies", "multiply", "subtract", "reshape", "concat",
    "stack", "FIFOQueue", "get_session_handle", "get_session_tensor", "zeros", "ones",
    "placeholder_with_default", "InteractiveSession", "group", "transpose", "split", "gather",
})  # fmt: skip
#: Words that names made by TensorFlow have, beside those of op types and functions.
_RESERVED: Final = frozenset({
    "global_step", "save", "gradients", "kernel", "bias", "gamma", "import", "cond", "while",
    "init", "report", "losses", "metrics", "read", "assign", "initializer", "initial_value",
    "value", "values", "total", "count", "part", "summaries", "variables", "trainable_variables",
    "local_variables", "global_variables", "update_ops", "queue_runners", "train", "train_op",
    "regularization_losses", "table_initializer", "ready_op", "saveable_objects", "model_variables",
    "moving_mean", "moving_variance", "weights", "weighted_loss", "normal", "uniform", "gradient",
    "momentum", "adagrad", "adam", "slot", "ref", "shape", "dtype", "initialized", "resource",
})  # fmt: skip
_HEAD: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def vary_calls(case: Case, draw: random.Random, kept: frozenset[str]) -> list[Step]:
    """The steps of a variant of an API case.

    Args:
      case: the vector.
      draw: the source of chance.
      kept: which of `values`, `names`, `order` stay as they are.

    """
    steps = list(case.steps)
    if "values" not in kept:
        steps = _with_other_values(steps, Numbers(draw))
    if "names" not in kept:
        bases = _given_bases(steps)
        steps = _renamed(steps, Names(draw, bases, counted=True, taken=_reserved()))
    return _rebound(steps, draw)


# --- values


def _with_other_values(steps: list[Step], numbers: Numbers) -> list[Step]:
    """The steps with other data, held against the oracle where a value is expected."""
    if any(_is_beyond(step) for _, step in walk(steps)):
        return steps
    varied = [_data_step(step, numbers) for step in steps]
    if varied == steps:
        return steps
    exact = all(name in _EXACT for name in _functions(steps))
    return [_against_the_oracle(step, exact) for step in varied]


def _is_beyond(step: Step) -> bool:
    """Whether a step keeps the values of its case: what it expects does not follow from an oracle."""
    expect = step.get("expect", {})
    options = expect.get("any_of", (expect,))
    if step["do"] in {"check", "file"}:
        return True
    return any(is_open(option) and tensors_in(option) for option in options) or (
        "any_of" in expect and any(map(_has_values, options))
    )


def _has_values(expect: Mapping[str, Any]) -> bool:
    return bool(_floats_in(expect.get("value")))


def _floats_in(matcher: Any) -> bool:
    """Whether a matcher has a tensor, or a number that is a float."""
    if isinstance(matcher, list):
        return any(map(_floats_in, matcher))
    if isinstance(matcher, Mapping):
        return bool({"$float", "$complex", "$array", "$scalar"} & matcher.keys()) or any(
            map(_floats_in, matcher.values())
        )
    return isinstance(matcher, float)


def _data_step(step: Step, numbers: Numbers) -> Step:
    new = dict(step)
    for key in ("expr", "context", "value"):
        if key in step:
            new[key] = _data(step[key], numbers)
    if "steps" in step:
        new["steps"] = [_data_step(inner, numbers) for inner in step["steps"]]
    return new


def _data(form: Any, numbers: Numbers) -> Any:
    """An expression with other data in the places where data stand."""
    if isinstance(form, list):
        return [_data(item, numbers) for item in form]
    if not isinstance(form, Mapping):
        return form
    for key in ("$array", "$scalar"):
        if key in form:
            floats = kind_of(form[key]["dtype"]) in {"float", "complex"}
            return {key: numbers.tensor(form[key])} if floats else form
    if "$call" not in form:
        return {key: _data(item, numbers) for key, item in form.items()}
    target = form["$call"] if isinstance(form["$call"], str) else ""
    last = target.rpartition(".")[2]
    args = [_data(item, numbers) for item in form.get("args", ())]
    if last in _DATA_FIRST and args:
        args[0] = _literals(args[0], numbers)
    if last in {"run", "eval"}:
        place = 1 if last == "run" else 0
        if len(args) > place:
            args[place] = _fed(args[place], numbers)
    new = {**form, "$call": _data(form["$call"], numbers)}
    if "args" in form:
        new["args"] = args
    if "kwargs" in form:
        new["kwargs"] = {
            key: _fed(item, numbers) if key == "feed_dict" else _data(item, numbers)
            for key, item in form["kwargs"].items()
        }
    return new


def _literals(form: Any, numbers: Numbers) -> Any:
    """Floats, as they stand in lists and tuples."""
    if isinstance(form, float):
        return numbers.number(form)
    if isinstance(form, list):
        return [_literals(item, numbers) for item in form]
    if isinstance(form, Mapping) and "$tuple" in form:
        return {"$tuple": _literals(form["$tuple"], numbers)}
    return form


def _fed(form: Any, numbers: Numbers) -> Any:
    """A dict of feeds."""
    if isinstance(form, Mapping) and "$dict" in form:
        return {"$dict": [[key, _literals(item, numbers)] for key, item in form["$dict"]]}
    return form


def _against_the_oracle(step: Step, exact: bool) -> Step:
    new = dict(step)
    if "steps" in step:
        new["steps"] = [_against_the_oracle(inner, exact) for inner in step["steps"]]
    expect = step.get("expect", {})
    if "value" in expect and _floats_in(expect["value"]):
        new["expect"] = {"oracle": {"contract": contract_of(expect["value"], exact=exact)}}
    return new


def _functions(form: Any) -> Iterator[str]:
    """The last part of each function of the namespace that is called; operators by their sign."""
    if isinstance(form, Mapping):
        call = form.get("$call")
        if isinstance(call, str) and call.startswith("tf."):
            yield call.rpartition(".")[2]
        if "$op" in form and form["$op"][0] not in {"+", "-", "*", "neg"}:
            yield form["$op"][0]
        for part in form.values():
            yield from _functions(part)
    elif isinstance(form, list | tuple):
        for part in form:
            yield from _functions(part)


# --- names


@functools.cache
def _reserved() -> frozenset[str]:
    """Components that may be of TensorFlow's own making, in lower case."""
    types = {op.lower() for op in OPERATIONS}
    snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", op).lower() for op in OPERATIONS}
    return _RESERVED | types | snake


def _given_bases(steps: Sequence[Step]) -> set[str]:
    """The components of names that the case gives, and that nothing else can stand for."""
    given: set[str] = set()
    blobs: list[bytes] = []
    words: set[str] = set()

    def visit(form: Mapping[str, Any]) -> None:
        call = form.get("$call")
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

    _each_mapping(steps, visit)
    bases = {base_of(part) for text in given if NAME_PATH.fullmatch(text) for part in text.split("/")}
    refused = _reserved() | words
    return {
        base for base in bases
        if base and not base.isdigit() and base.lower() not in refused
        and not any(_occurs(base, blob) for blob in blobs)
    }  # fmt: skip


def _occurs(base: str, blob: bytes) -> bool:
    """Whether a serialized message has the word; bytes that are a name as a whole are renamed."""
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
        keys: list[str] = []

        def visit(inner: Mapping[str, Any]) -> None:
            for kind in ("$dict", "$ordered_dict"):
                keys.extend(key for key, _ in inner.get(kind, ()) if isinstance(key, str))

        _each_mapping(args[0], visit)
        yield from (key for key in keys if ":" not in key and "/" not in key)


def _each_mapping(form: Any, visit: Callable[[Mapping[str, Any]], None]) -> None:
    if isinstance(form, Mapping):
        visit(form)
        for part in form.values():
            _each_mapping(part, visit)
    elif isinstance(form, list | tuple):
        for part in form:
            _each_mapping(part, visit)


#: The forms whose strings are no names of the graph's.
_NO_NAMES: Final = frozenset({"$", "$array", "$scalar", "$float", "$int", "$complex", "$path", "$py",
                              "$type", "$object", "object", "contract", "classes"})  # fmt: skip


def _renamed(steps: Sequence[Step], names: Names) -> list[Step]:
    return [_renamed_form(step, names) for step in steps] if names else list(steps)


def _renamed_form(form: Any, names: Names, key: str = "") -> Any:
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
        key: part if key in _NO_NAMES or (key == "$call" and isinstance(part, str))
        else _renamed_form(part, names)
        for key, part in form.items()
    }  # fmt: skip


def _renamed_bytes(text: str, names: Names) -> str:
    plain = base64.b64decode(text)
    prefix = b"loc:@" if plain.startswith(b"loc:@") else b""
    try:
        renamed = names.path(plain[len(prefix) :].decode())
    except UnicodeDecodeError:
        return text
    return base64.b64encode(prefix + renamed.encode()).decode()


# --- bound names


def _rebound(steps: Sequence[Step], draw: random.Random) -> list[Step]:
    """The names that the case binds values to, drawn anew."""
    bound = sorted({step["as"] for _, step in walk(steps) if "as" in step})
    numbers = draw.sample(range(10 * len(bound) + 10), len(bound))
    table = {name: f"v{number}" for name, number in zip(bound, numbers, strict=True)}
    return [_rebound_form(step, table) for step in steps]


def _rebound_form(form: Any, table: Mapping[str, str]) -> Any:
    if isinstance(form, list):
        return [_rebound_form(item, table) for item in form]
    if not isinstance(form, Mapping):
        return form
    new = {key: _rebound_form(part, table) for key, part in form.items()}
    if "do" in form and "as" in form:
        new["as"] = table[form["as"]]
    for key in ("$", "$call"):
        if isinstance(form.get(key), str):
            new[key] = _HEAD.sub(lambda found: table.get(found[0], found[0]), form[key], count=1)
    return new
