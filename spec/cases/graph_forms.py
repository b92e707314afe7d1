"""The JSON forms of GraphDefs and of the messages in them, in protobuf's JSON mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from sessrun.spec.forms import JsonObject

__all__ = [
    "AttrForm",
    "FunctionForm",
    "GraphForm",
    "LibraryForm",
    "ListForm",
    "NodeForm",
    "ShapeForm",
    "SignatureForm",
    "TensorForm",
]


class ShapeForm(TypedDict, total=False):
    """A TensorShapeProto: the sizes of its dimensions, -1 for an unknown one, or no rank."""

    dim: Sequence[Mapping[str, str]]
    unknownRank: bool


class TensorForm(TypedDict, total=False):
    """A TensorProto; bytes are in base64, and infinities and NaN are texts."""

    dtype: int | str
    tensorShape: ShapeForm
    tensorContent: str
    floatVal: Sequence[float | str]
    doubleVal: Sequence[float | str]
    scomplexVal: Sequence[float | str]
    dcomplexVal: Sequence[float | str]
    intVal: Sequence[int | str]
    int64Val: Sequence[int | str]
    uint32Val: Sequence[int | str]
    uint64Val: Sequence[int | str]
    halfVal: Sequence[int]
    stringVal: Sequence[str]


class ListForm(TypedDict, total=False):
    """The list of an AttrValue."""

    s: Sequence[str]
    i: Sequence[int | str]
    f: Sequence[float | str]
    b: Sequence[bool]
    type: Sequence[int | str]
    shape: Sequence[ShapeForm]
    tensor: Sequence[TensorForm]


class AttrForm(TypedDict, total=False):
    """An AttrValue: one of these members."""

    s: str
    i: int | str
    f: float | str
    b: bool
    type: int | str
    shape: ShapeForm
    tensor: TensorForm
    list: ListForm
    func: JsonObject
    placeholder: str


class NodeForm(TypedDict, total=False):
    """A NodeDef."""

    name: str
    op: str
    input: Sequence[str]
    device: str
    attr: Mapping[str, AttrForm]


class SignatureForm(TypedDict, total=False):
    """The OpDef of a function."""

    name: str
    inputArg: Sequence[JsonObject]
    outputArg: Sequence[JsonObject]
    attr: Sequence[JsonObject]


class FunctionForm(TypedDict, total=False):
    """A FunctionDef."""

    signature: SignatureForm
    nodeDef: Sequence[NodeForm]
    ret: Mapping[str, str]
    attr: Mapping[str, AttrForm]


class LibraryForm(TypedDict, total=False):
    """A FunctionDefLibrary."""

    function: Sequence[FunctionForm]
    gradient: Sequence[JsonObject]


class GraphForm(TypedDict, total=False):
    """A GraphDef."""

    node: Sequence[NodeForm]
    library: LibraryForm
    versions: Mapping[str, int]
