"""The JSON forms of a case, as `case.schema.json` describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, cast

from sessrun.spec.forms import Json, JsonObject

__all__ = [
    "ErrorForm",
    "Expect",
    "LikeForm",
    "Matcher",
    "Observation",
    "OracleForm",
    "Step",
    "members",
]


class ErrorForm(TypedDict, total=False):
    """The errors that conform: classes by name, codes, the nodes and calls that may fail."""

    classes: Sequence[str]
    codes: Sequence[int]
    nodes: Sequence[str]
    calls: Sequence[str]


class OracleForm(TypedDict, total=False):
    """The contract, or one for each fetch, and the clause of each where they have their own.

    `by` is `definition` where the definition of an operation gives the value, not the oracle.
    """

    contract: str | Sequence[str]
    clauses: Sequence[str]
    by: str


class Expect(TypedDict, total=False):
    """What a step expects: one of these (see `judge`)."""

    value: Json
    values: Sequence[Json]
    error: ErrorForm
    facts: JsonObject
    oracle: OracleForm
    any_of: Sequence[Expect]


class Observation(TypedDict, total=False):
    """What a backend was seen to do at one step.

    `outcome` is value, values, opened, done, failure or unsupported; the rest belongs to it.
    """

    step: Required[str]
    outcome: Required[str]
    value: Json
    values: Sequence[Json]
    facts: JsonObject
    capability: str
    message: str
    call: str
    code: int
    classes: Sequence[str]
    node: str | None


class LikeForm(TypedDict, total=False):
    """What a tensor of any content must have."""

    dtype: str
    shape: Sequence[int]


#: A matcher of the judge's: one of these, perhaps with the `contract` that `near` is held to.
Matcher = TypedDict(
    "Matcher",
    {
        "near": Json,
        "contract": str,
        "like": LikeForm,
        "as_array": JsonObject,
        "object": str,
        "anything": bool,
        "one_of": Sequence[Json],
        "keep": str,
        "same_as": str,
        "differs_from": str,
        "clause": str,
        "is": Json,
    },
    total=False,
)

#: A step of either surface: `do`, and what belongs to it. `as` is a word of Python's.
Step = TypedDict(
    "Step",
    {
        "do": Required[str],
        "expect": Expect,
        "clause": str,
        "why": str,
        "observe": bool,
        # engine surface
        "session": str,
        "graph": str,
        "config": JsonObject,
        "fetches": Sequence[str],
        "feeds": Mapping[str, JsonObject],
        "options": JsonObject,
        "handle": str,
        "names": Sequence[str],
        "values": Sequence[JsonObject],
        "containers": Sequence[str],
        "step": "Step",
        "grace_s": float,
        # API surface
        "expr": Json,
        "as": str,
        "context": Json,
        "steps": "list[Step]",
        "object": Json,
        "attr": str,
        "value": Json,
        "error": Json,
        # both
        "thread": str,
        "name": str,
        "args": JsonObject,
        "write": str | None,
        "append": str,
        "truncate": int,
        "flip": tuple[int, int],
        "rename": str,
        "mode": int,
        "remove": bool,
        "read": str,
    },
    total=False,
)


def members(form: Step | Expect | Observation) -> JsonObject:
    """The members of a form as JSON, of whatever kind it is."""
    return cast("JsonObject", form)
