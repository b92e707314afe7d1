"""`tf.Print`, `tf.print` and `tf.strings.format`: tensors shown as text. Source: TF 2.21."""

from __future__ import annotations

import logging
import pprint
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.cast_ops import one
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import log_messages
from sessrun.reference.base.containers import mapping_like
from sessrun.reference.base.dtypes import string
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor, is_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

#: The placeholder of a tensor, if the text does not contain it.
_PLACEHOLDER: Final = "{}"
#: The seed of the digits that are appended to a placeholder that the text contains, as in TF.
_SEED: Final = 5


@public("Print")
def print_through(
    input_: TensorLike,
    data: Sequence[TensorLike],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`tf.Print`: the input; whenever it is computed, the data is written to the error stream.

    Args:
      input_: a tensor.
      data: a list of tensors.
      message: text that is written before the data.
      first_n: the number of times that the data is written, by default always.
      summarize: the number of elements shown of each tensor, by default 3; all if negative.
      name: the operation's name.

    """
    attrs = {"message": message, "first_n": first_n, "summarize": summarize}
    given = {key: value for key, value in attrs.items() if value is not None}
    return apply_op("Print", {"input": input_, "data": data}, given, name).outputs[0]


@public("strings.format")
def string_format(
    template: str,
    inputs: Tensor | Iterable[TensorLike],
    placeholder: str = _PLACEHOLDER,
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """A scalar string: the template with its placeholders replaced by the values of tensors.

    Args:
      template: the text.
      inputs: a tensor, or a list of them, one for each placeholder.
      placeholder: the text that is replaced.
      summarize: the number of elements shown at both ends of a dimension; all if negative.
      name: the operation's name.

    Raises:
      ValueError: the number of tensors is not that of placeholders.

    """
    tensors = [inputs] if is_tensor(inputs) else list(inputs)
    if template.count(placeholder) != len(tensors):
        raise ValueError(
            f"The template expects {template.count(placeholder)} tensors, but the inputs only has "
            f"{len(tensors)}. Please ensure the number of placeholders matches the inputs length."
        )
    return one(
        "StringFormat",
        {"inputs": [convert_to_tensor(tensor) for tensor in tensors]},
        name,
        template=template,
        placeholder=placeholder,
        summarize=summarize,
    )


@public("print")
def print_v2(*inputs: object, **kwargs: Any) -> Operation:
    """An operation that writes its inputs, as Python's `print` does.

    Args:
      *inputs: tensors, other objects, and structures of both.
      **kwargs: `output_stream` (`sys.stdout`, `sys.stderr`, a function of `tf.logging`, or
        "file://" and a path; the error stream by default), `summarize`, `sep`, `end`, `name`.

    Raises:
      TypeError: a keyword is unknown.
      ValueError: the output stream is unknown.

    """
    stream = _stream(kwargs.pop("output_stream", sys.stderr))
    name, summarize = kwargs.pop("name", None), kwargs.pop("summarize", 3)
    sep, end = kwargs.pop("sep", " "), kwargs.pop("end", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    end = "\n" if end is None else end
    if len(inputs) == 1 and _is_text(inputs[0]):
        text = inputs[0]
    else:
        text = _joined(inputs, sep, summarize, name)
    return apply_op("PrintV2", {"input": text}, {"output_stream": stream, "end": end}, name)


def _is_text(value: object) -> bool:
    return isinstance(value, Tensor) and value.dtype is string and value.shape.ndims == 0


def _joined(inputs: tuple[object, ...], sep: str, summarize: int, name: str | None) -> Tensor:
    """The inputs in one line, as a string tensor in which tensors appear by their values."""
    tensors: list[Any] = []
    marks: list[_Mark] = []
    parts = [
        item if isinstance(item, str) else pprint.pformat(_marked(item, tensors, marks))
        for item in inputs
    ]
    mark = _PLACEHOLDER
    digits = random.Random(_SEED)
    while any(mark in item for item in inputs if isinstance(item, str)):
        mark += str(digits.randint(0, 9))
    if mark != _PLACEHOLDER:
        for entry in marks:
            entry.text = mark
        parts = [
            item if isinstance(item, str) else pprint.pformat(_marked(item, [], [], mark))
            for item in inputs
        ]
    return string_format(sep.join(parts), tensors, mark, summarize, name and f"{name}_format")


class _Mark:
    """A placeholder of a tensor in a structure that is formatted."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _marked(value: object, tensors: list[Any], marks: list[_Mark], mark: str = _PLACEHOLDER) -> Any:
    """The structure with placeholders for its tensors, which are appended to `tensors`."""
    if isinstance(value, SparseTensor):
        tensors += [value.indices, value.values, value.dense_shape]
        return f"SparseTensor(indices={mark}, values={mark}, shape={mark})"
    if is_tensor(value):
        tensors.append(value)
        marks.append(_Mark(mark))
        return marks[-1]
    if isinstance(value, Mapping):
        # TensorFlow takes the values of a dictionary in the order of their keys.
        entries = {key: _marked(value[key], tensors, marks, mark) for key in sorted(value)}
        return mapping_like(value)((key, entries[key]) for key in value)
    if isinstance(value, list | tuple):
        items = [_marked(item, tensors, marks, mark) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def _stream(stream: object) -> str:
    """The name of an output stream in the graph."""
    known = {id(sys.stdout): "stdout", id(sys.stderr): "stderr"}
    if id(stream) in known:
        return known[id(stream)]
    for level in ("info", "warning", "error"):
        if stream in (getattr(log_messages, level), getattr(logging, level.upper())):
            return f"log({level})"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    raise ValueError(f"Unsupported output stream, logging level, or file.{stream}.")
