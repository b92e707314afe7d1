"""Variants of API cases: other names of nodes, scopes and keys, other bound names, other values."""

from __future__ import annotations

import base64
import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
_NAMES_FIRST: Final = frozenset(
    {"name_scope", "variable_scope", "get_variable", "container", "add_to_collection"}
)
#: The methods whose first argument is what is fetched: the keys of a dict there are the program's.
_FETCHING: Final = frozenset({"run", "partial_run", "make_callable", "partial_run_setup"})
#: The functions whose first argument is data.
_DATA_FIRST: Final = frozenset(
    {"constant", "Variable", "convert_to_tensor", "identity", "negative", "square"}
)
#: The functions that compute nothing which another engine could round otherwise.
_EXACT: Final = frozenset(
    {
        "Session",
        "constant",
        "placeholder",
        "get_variable",
        "Variable",
        "Graph",
        "identity",
        "negative",
        "global_variables_initializer",
        "local_variables_initializer",
        "device",
        "add",
        "get_default_graph",
        "variable_scope",
        "name_scope",
        "RunOptions",
        "ConfigProto",
        "assign",
        "assign_add",
        "assign_sub",
        "no_op",
        "control_dependencies",
        "multiply",
        "subtract",
        "concat",
        "stack",
        "FIFOQueue",
        "get_session_handle",
        "get_session_tensor",
        "delete_session_tensor",
        "placeholder_with_default",
        "InteractiveSession",
        "group",
        "tuple",
        "get_collection",
        "add_to_collection",
        "global_variables",
        "trainable_variables",
        "variables_initializer",
        "RunMetadata",
        "GraphOptions",
        "OptimizerOptions",
        "get_default_session",
        "convert_to_tensor",
        "reset_default_graph",
        "maximum",
        "minimum",
        "abs",
        "square",
        "add_n",
        "constant_initializer",
    }
)
#: Operators of Python that round as little.
_EXACT_SIGNS: Final = frozenset({"+", "-", "*", "neg", "abs"})
#: Functions beside these that take no integer of a constant or a feed for an index or a size.
_OF_ANY_INTEGER: Final = _EXACT | {
    "zeros",
    "ones",
    "reshape",
    "transpose",
    "floordiv",
    "mod",
    "truncatediv",
    "floor",
    "cast",
    "to_float",
    "zeros_like",
    "ones_like",
    "shape",
    "size",
    "rank",
}
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
#: Of larger integers it may count whether a dtype holds them.
_SMALL: Final = 127
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
    called, signs = set(_functions(steps)), set(_operators(steps))
    # A function of the case's own may use a number for anything.
    data = _Data(numbers, integers=called <= _OF_ANY_INTEGER)
    varied = [data.step(step) for step in steps]
    if varied == steps:
        return steps
    exact = called <= _EXACT and signs <= _EXACT_SIGNS
    return [_against_the_oracle(step, exact) for step in varied]


def _is_beyond(step: Step) -> bool:
    """Whether a step keeps its case from varying: no oracle can say what it expects."""
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


@dataclass(frozen=True, slots=True)
class _Data:
    """Other data in the places of expressions where data stand.

    Attributes:
      numbers: what each value becomes.
      integers: whether integers that are constants or fed vary, too.

    """

    numbers: Numbers
    integers: bool

    def step(self, step: Step) -> Step:
        """A step with other data."""
        new = dict(step)
        for key in ("expr", "context", "value"):
            if key in step:
                new[key] = self.expression(step[key])
        if "steps" in step:
            new["steps"] = [self.step(inner) for inner in step["steps"]]
        return new

    def expression(self, form: Any) -> Any:
        """An expression with other data."""
        if isinstance(form, list):
            return [self.expression(item) for item in form]
        if not isinstance(form, Mapping):
            return form
        if "$array" in form or "$scalar" in form:
            return self._tensor(form, integers=False)
        if "$call" in form:
            return self._call(form)
        return {key: self.expression(item) for key, item in form.items()}

    def _call(self, form: Mapping[str, Any]) -> Any:
        new = {**form, "$call": self.expression(form["$call"])}
        target = form["$call"] if isinstance(form["$call"], str) else ""
        last = target.rpartition(".")[2]
        # Of `run(fetches, feed_dict)` and `eval(feed_dict)`.
        fed = {"run": 1, "eval": 0}.get(last)
        if "args" in form:
            new["args"] = [
                self.fed(item)
                if place == fed
                else self.literal(item)
                if place == 0 and last in _DATA_FIRST
                else self.expression(item)
                for place, item in enumerate(form["args"])
            ]
        if "kwargs" in form:
            new["kwargs"] = {
                key: self.fed(item) if key == "feed_dict" else self.expression(item)
                for key, item in form["kwargs"].items()
            }
        return new

    def literal(self, form: Any) -> Any:
        """Numbers, as they stand in lists and tuples; any other expression has its own."""
        if isinstance(form, float):
            return self.numbers.number(form)
        if isinstance(form, int) and not isinstance(form, bool) and self.integers:
            return self.numbers.integer(form, _SMALL)
        if isinstance(form, list):
            return [self.literal(item) for item in form]
        if isinstance(form, Mapping) and "$tuple" in form:
            return {"$tuple": self.literal(form["$tuple"])}
        if isinstance(form, Mapping) and ("$array" in form or "$scalar" in form):
            return self._tensor(form, integers=self.integers)
        return self.expression(form)

    def fed(self, form: Any) -> Any:
        """A dict of feeds."""
        if isinstance(form, Mapping) and "$dict" in form:
            return {"$dict": [[key, self.literal(item)] for key, item in form["$dict"]]}
        return self.expression(form)

    def _tensor(self, form: Mapping[str, Any], *, integers: bool) -> Mapping[str, Any]:
        ((key, tensor),) = form.items()
        kinds = {"float", "complex"} | ({"int", "uint"} if integers else set())
        return {key: self.numbers.tensor(tensor)} if kind_of(tensor["dtype"]) in kinds else form


def _against_the_oracle(step: Step, exact: bool) -> Step:
    new = dict(step)
    if "steps" in step:
        new["steps"] = [_against_the_oracle(inner, exact) for inner in step["steps"]]
    expect = step.get("expect", {})
    if "value" in expect and _floats_in(expect["value"]):
        new["expect"] = {"oracle": {"contract": contract_of(expect["value"], exact=exact)}}
    return new


def _functions(steps: Sequence[Step]) -> Iterator[str]:
    """The last part of each function of the namespace that is called."""
    calls: list[str] = []

    def visit(form: Mapping[str, Any]) -> None:
        if isinstance(form.get("$call"), str):
            calls.append(form["$call"])

    _each_mapping(steps, visit)
    return (call.rpartition(".")[2] for call in calls if call.startswith("tf."))


def _operators(steps: Sequence[Step]) -> list[str]:
    """The sign of each operator of Python that is used."""
    signs: list[str] = []

    def visit(form: Mapping[str, Any]) -> None:
        if "$op" in form:
            signs.append(form["$op"][0])

    _each_mapping(steps, visit)
    return signs


# --- names


@functools.cache
def _reserved() -> frozenset[str]:
    """Components that may be of TensorFlow's own making, in lower case."""
    # Not the registrations `A`, `B` and so on of TensorFlow's own tests, which no function makes.
    types = [op for op in OPERATIONS if len(op) > 2]
    snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", op).lower() for op in types}
    return frozenset(snake.union(_RESERVED, map(str.lower, types)))


def _given_bases(steps: Sequence[Step]) -> set[str]:
    """The components of names that the case gives, and that nothing else can stand for."""
    given: set[str] = set()
    blobs: list[bytes] = []
    words: set[str] = set()

    def visit(form: Mapping[str, Any]) -> None:
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

    _each_mapping(steps, visit)
    bases = {
        base_of(part) for text in given if NAME_PATH.fullmatch(text) for part in text.split("/")
    }
    refused = _reserved() | words
    return {
        base
        for base in bases
        if base
        and not base.isdigit()
        and base.lower() not in refused
        and not any(_occurs(base, blob) for blob in blobs)
    }


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


def _renamed(steps: Sequence[Step], names: Names) -> list[Step]:
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
