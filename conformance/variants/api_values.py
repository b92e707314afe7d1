"""Other data in the steps of an API case: in its constants and in its feeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sessrun.conformance.variants.calls import functions_called, operators_used
from sessrun.conformance.variants.contracts import contract_of, is_open, tensors_in
from sessrun.conformance.variants.numbers import Numbers, kind_of
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import walk
from sessrun.spec.forms import Json, JsonObject

__all__ = ["with_other_values"]

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
#: Of larger integers it may count whether a dtype holds them.
_SMALL: Final = 127


def with_other_values(steps: list[Step], numbers: Numbers) -> list[Step]:
    """The steps with other data; expected values become those of the oracle."""
    if any(_is_beyond(step) for _, step in walk(steps)):
        return steps
    called, signs = set(functions_called(steps)), set(operators_used(steps))
    # A function of the case's own may use a number for anything.
    data = _Data(numbers, integers=called <= _OF_ANY_INTEGER)
    varied = [data.step(step) for step in steps]
    if varied == steps:
        return steps
    exact = called <= _EXACT and signs <= _EXACT_SIGNS
    return [_against_the_oracle(step, exact) for step in varied]


def _is_beyond(step: Step) -> bool:
    """Whether a step has expectations that no oracle can replace, so that its case cannot vary."""
    expect = step.get("expect", {})
    options = expect.get("any_of", (expect,))
    if step["do"] in {"check", "file"}:
        return True
    return any(is_open(option) and tensors_in(option) for option in options) or (
        "any_of" in expect and any(map(_has_values, options))
    )


def _has_values(expect: Expect) -> bool:
    return bool(_floats_in(expect.get("value")))


def _floats_in(matcher: Json) -> bool:
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
    """Replaces the data in expressions.

    Attributes:
      numbers: the replacement of each value.
      integers: whether integers that are constants or fed vary, too.

    """

    numbers: Numbers
    integers: bool

    def step(self, step: Step) -> Step:
        """A step with other data."""
        new = step.copy()
        keys: tuple[Literal["expr", "context", "value"], ...] = ("expr", "context", "value")
        for key in keys:
            if key in step:
                new[key] = self.expression(step[key])
        if "steps" in step:
            new["steps"] = [self.step(inner) for inner in step["steps"]]
        return new

    def expression(self, form: Json) -> Json:
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

    def _call(self, form: Mapping[str, Any]) -> Json:
        new = {**form, "$call": self.expression(form["$call"])}
        target = form["$call"] if isinstance(form["$call"], str) else ""
        last = target.rpartition(".")[2]
        # Of `run(fetches, feed_dict)` and `eval(feed_dict)`.
        fed = {"run": 1, "eval": 0}.get(last)
        if "args" in form:
            new["args"] = [
                self.fed(item)
                if position == fed
                else self.literal(item)
                if position == 0 and last in _DATA_FIRST
                else self.expression(item)
                for position, item in enumerate(form["args"])
            ]
        if "kwargs" in form:
            new["kwargs"] = {
                key: self.fed(item) if key == "feed_dict" else self.expression(item)
                for key, item in form["kwargs"].items()
            }
        return new

    def literal(self, form: Json) -> Json:
        """Other numbers in nested lists and tuples; other expressions as `expression` does."""
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

    def fed(self, form: Json) -> Json:
        """A dict of feeds with other values."""
        if isinstance(form, Mapping) and "$dict" in form:
            return {"$dict": [[key, self.literal(item)] for key, item in _pairs(form)]}
        return self.expression(form)

    def _tensor(self, form: Mapping[str, Any], *, integers: bool) -> JsonObject:
        ((key, tensor),) = form.items()
        kinds = {"float", "complex"} | ({"int", "uint"} if integers else set())
        return {key: self.numbers.tensor(tensor)} if kind_of(tensor["dtype"]) in kinds else form


def _pairs(form: Mapping[str, Any]) -> Sequence[tuple[Json, Json]]:
    """The keys and values of a `$dict`."""
    pairs: Sequence[tuple[Json, Json]] = form["$dict"]
    return pairs


def _against_the_oracle(step: Step, exact: bool) -> Step:
    new = step.copy()
    if "steps" in step:
        new["steps"] = [_against_the_oracle(inner, exact) for inner in step["steps"]]
    expect = step.get("expect", {})
    if "value" in expect and _floats_in(expect["value"]):
        new["expect"] = {"oracle": {"contract": contract_of(expect["value"], exact=exact)}}
    return new
