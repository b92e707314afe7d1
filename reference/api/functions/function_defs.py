"""A function's body as a FunctionDef: with names of its own, edges written by output names.

The names of arguments and results are those of their operations in lower case; operations keep
theirs unless an argument or a result has it. Source: TF 2.21 (`TF_GraphToFunction`).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sessrun.reference.api.functions.func_graph import FuncGraph
from sessrun.reference.base import attr_values, dtypes
from sessrun.reference.errors import InvalidArgumentError, bad_argument
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, FunctionDef
from sessrun.spec.proto.foreign import serialize

if TYPE_CHECKING:
    pass

__all__ = ["function_def"]

_ODD: Final = re.compile(r"[^a-z0-9]")


def function_def(
    body: FuncGraph,
    name: str,
    *,
    is_exact: bool,
    out_names: Sequence[str] = (),
    attrs: Mapping[str, AttrValue],
    description: str = "",
    must_run: Sequence[Operation] = (),
) -> FunctionDef:
    """The FunctionDef of a body.

    Args:
      body: the body, with its inputs and outputs.
      name: the function's name, or what its name begins with.
      is_exact: whether that is the whole name; else a hash of the function follows.
      out_names: names of the results, all different; their operations' by default.
      attrs: attributes of the function.
      description: the documentation of the function, for its signature.
      must_run: operations that every call executes, whether or not a result depends on them.

    Raises:
      InvalidArgumentError: there are too few or too many names of results, or two the same.

    """
    names = _Names(body, out_names)
    function = FunctionDef()
    signature = function.signature
    signature.description = description
    for index, argument in enumerate(body.inputs):
        arg = signature.input_arg.add(name=names.of_inputs[argument])
        arg.type = argument.dtype.as_datatype_enum  # type: ignore[assignment]  # an enum is its number
        if argument.dtype not in {dtypes.resource, dtypes.variant}:
            shapes = function.arg_attr[index].attr["_output_shapes"]
            attr_values.write([argument.sizes], "list(shape)", shapes)
    for result, out_name in zip(body.outputs, names.of_outputs, strict=True):
        signature.output_arg.add(name=out_name, type=result.dtype.as_datatype_enum)
        function.ret[out_name] = names.source(result)
    for op in names.of_nodes:
        node = op.to_proto()
        node.name = names.of_nodes[op]
        del node.input[:]
        node.input.extend(names.source(tensor) for tensor in op.inputs)
        node.input.extend("^" + names.waited_for(other) for other in op.control_inputs)
        function.node_def.append(node)
    for op in must_run:
        signature.control_output.append(names.of_nodes[op])
        function.control_ret[names.of_nodes[op]] = names.of_nodes[op]
    signature.is_stateful = any(op.declaration.stateful for op in names.of_nodes)
    for key, value in attrs.items():
        function.attr[key].CopyFrom(value)
    signature.name = name if is_exact else f"{name}_{_hash(function)}"
    return function


class _Names:
    """The names within one function."""

    def __init__(self, body: FuncGraph, out_names: Sequence[str]) -> None:
        self._taken: dict[str, int] = {}
        if out_names:
            self.of_outputs = _checked(out_names, len(body.outputs))
        else:
            self.of_outputs = [self._unique(_plain(result.op.name)) for result in body.outputs]
        self.of_inputs = {tensor: self._unique(_plain(tensor.op.name)) for tensor in body.inputs}
        arguments = {tensor.op for tensor in body.inputs}
        nodes = [op for op in body.get_operations() if op not in arguments]
        self.of_nodes = {op: self._unique(op.name) for op in nodes}

    def _unique(self, name: str) -> str:
        if name not in self._taken:
            self._taken[name] = 0
            return name
        while True:
            unique = f"{name}_{self._taken[name]}"
            self._taken[name] += 1
            if unique not in self._taken:
                self._taken[unique] = 0
                return unique

    def waited_for(self, op: Operation) -> str:
        """How an operation is named as one to wait for."""
        return self.of_nodes[op] if op in self.of_nodes else self.of_inputs[op.outputs[0]]

    def source(self, tensor: Tensor) -> str:
        """The name of a tensor as an input or as a result."""
        if tensor in self.of_inputs:
            return self.of_inputs[tensor]
        output, index = _arg_and_index(tensor)
        return f"{self.of_nodes[tensor.op]}:{output}:{index}"


def _arg_and_index(tensor: Tensor) -> tuple[str, int]:
    """The output of the declaration that a tensor belongs to, and its number in it."""
    left = tensor.value_index
    for arg in tensor.op.declaration.outputs:
        count = arg.count(tensor.op.attrs)
        if left < count:
            return arg.name, left
        left -= count
    raise AssertionError(f"{tensor} is no output of its operation")


def _plain(name: str) -> str:
    """A name of lower-case letters, digits and `_` that begins with a letter."""
    plain = _ODD.sub("_", name.lower())
    return plain if plain[:1].isalpha() else f"arg{plain}"


def _checked(out_names: Sequence[str], count: int) -> list[str]:
    if len(out_names) != count:
        raise InvalidArgumentError(
            None,
            None,
            "output names must be either empty or equal in size to outputs. output "
            f"names size = {len(out_names)} outputs size = {count}",
        )
    for index, name in enumerate(out_names):
        if name in out_names[:index]:
            raise bad_argument(
                f"Cannot have duplicate output names. Name '{name}' appears more than once."
            )
    return list(out_names)


def _hash(function: FunctionDef) -> str:
    """Eleven letters and digits that differ where functions do."""
    digest = hashlib.sha256(serialize(function)).digest()[:8]
    return base64.b64encode(digest, altchars=b"aa").decode().rstrip("=")
