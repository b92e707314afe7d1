"""The JSON forms of answers, as `protocol.schema.json` describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Required, TypedDict

from sessrun.spec.cases.outcomes import Call
from sessrun.spec.forms import Json, JsonObject

__all__ = ["AnswerForm", "FileReference", "TensorForm"]


class FileReference(TypedDict):
    """A file in the exchange folder, and its size; dtype and shape where it holds a tensor."""

    file: str
    nbytes: int
    dtype: NotRequired[str]
    shape: NotRequired[list[int]]


class TensorForm(TypedDict, total=False):
    """A tensor: its data in the line or in a file, or only its dtype and shape (`opaque`)."""

    dtype: Required[str]
    shape: Required[list[int]]
    data: str | list[str]
    opaque: bool
    file: str
    nbytes: int


class AnswerForm(TypedDict, total=False):
    """An answer: `outcome` says which of the other members it has."""

    id: Required[int | None]
    outcome: Required[str]
    # values
    values: Sequence[TensorForm | None]
    # opened
    handle: str
    # done
    facts: JsonObject
    # unsupported, failure, error
    capability: str
    message: str
    kind: str
    # failure
    call: Call
    code: int
    classes: Sequence[str]
    node: str | None
    # observations
    observations: Json  # in the line or, by a `FileReference`, in a file
    paused: bool
    # hello
    protocol: int
    name: str
    version: str
    capabilities: Sequence[str]
    devices: Sequence[str]
    details: Mapping[str, str]
    operations: Mapping[str, Sequence[str]]
