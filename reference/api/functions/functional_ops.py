"""Branches, loops and gradients of functions that `Defun` defined, each as one operation.

Public nowhere but as `tensorflow.python.ops.functional_ops`. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.functions.defun import DefinedFunction, Defun, get_extra_args
from sessrun.reference.api.ops.cast_ops import cast
from sessrun.reference.api.ops.math_ops import absolute
from sessrun.reference.base.dtypes import DType, as_dtype, float32, int32
from sessrun.reference.build.build import apply_op
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue

__all__ = ["for_", "if_", "symbolic_gradient", "while_"]


def _outputs(
    op_type: str, inputs: dict[str, object], attrs: Mapping[str, object], name: str | None
) -> list[Tensor]:
    """The tensors that a new operation of this type gives."""
    return list(apply_op(op_type, inputs, attrs, name).outputs)


def if_(
    cond: Callable[..., object],
    inputs: object,
    then_branch: DefinedFunction,
    else_branch: DefinedFunction,
    name: str | None = None,
) -> list[Tensor]:
    """An `If`: calls one of two functions on the inputs.

    Args:
      cond: the condition: a scalar that is not zero or empty, or a tensor that has elements.
      inputs: the arguments, a list.
      then_branch: the function if it holds.
      else_branch: the function if not; its arguments and results have the same dtypes.
      name: the operation's name.

    """
    gives = [as_dtype(arg.type) for arg in then_branch.definition.signature.output_arg]
    attrs = {"Tout": gives, "then_branch": then_branch, "else_branch": else_branch}
    return _outputs("If", {"cond": cond, "input": inputs}, attrs, name)


def symbolic_gradient(
    inputs: Sequence[object], f: DefinedFunction, name: str | None = None
) -> list[Tensor]:
    """The gradients of a function by its arguments.

    Args:
      inputs: the arguments, then the gradients of the results.
      f: the function.
      name: the operation's name.

    """
    takes = [as_dtype(arg.type) for arg in f.definition.signature.input_arg]
    return _outputs("SymbolicGradient", {"input": inputs}, {"Tout": takes, "f": f}, name)


def _input_dtypes(function: DefinedFunction) -> list[DType]:
    """The dtypes of the declared arguments, without those of captured tensors."""
    args = function.definition.signature.input_arg
    count = len(args) - len(function.captured_inputs)
    return [as_dtype(arg.type) for arg in args[:count]]


def _handing_on(function: DefinedFunction) -> Any:
    """The function, with the tensors that it captures as further results."""

    @Defun(*_input_dtypes(function), func_name=f"{function.name}_Wrapper")
    def wrapper(*args: object) -> tuple[Any, ...]:
        return (*_results(function(*args)), *get_extra_args())

    return wrapper


def _results(given: object) -> tuple[Any, ...]:
    """The results of a call as a tuple; a call without results gives its operation."""
    if isinstance(given, Operation):
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)


def _keep_on_host(outputs: Sequence[Tensor], taken: Sequence[int], given: Sequence[int]) -> None:
    for key, places in (("_input_hostmem", taken), ("_output_hostmem", given)):
        value = AttrValue()
        value.list.i.extend(places)
        outputs[0].op._set_attr(key, value)  # noqa: SLF001 - TensorFlow's own name


def while_(
    input_: list[Any],
    cond: Any,
    body: Any,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
) -> list[Tensor]:
    """A `While`: calls the body on the inputs as long as the condition holds.

    Args:
      input_: the inputs.
      cond: a defined function: from the inputs to whether the body is executed once more.
      body: a function from the inputs to new values of the same number and dtypes.
      name: the operation's name.
      hostmem: the numbers of the inputs that stay in host memory.

    Raises:
      ValueError: the condition captures a tensor, or the arguments of the functions differ.

    """
    if cond.captured_inputs:
        raise ValueError(
            "The 'cond' argument can not have implicitly captured inputs. Received "
            f"captured_inputs: {cond.captured_inputs}"
        )
    of_cond, of_body = _input_dtypes(cond), _input_dtypes(body)
    if of_cond != of_body:
        raise ValueError(
            "The 'cond' and 'body' signatures do not match. Received: "
            f"cond_input_types={of_cond}, body_input_types={of_body}"
        )
    captured = body.captured_inputs
    goes_on, following = cond, body
    if captured:

        @Defun(*of_body, *(tensor.dtype for tensor in captured), func_name=f"{cond.name}_Wrapper")
        def goes_on(*args: object) -> Any:
            return cond(*args[: len(of_body)])

        following = _handing_on(body)
    attrs = {"cond": goes_on, "body": following}
    outputs = _outputs("While", {"input": [*input_, *captured]}, attrs, name)
    outputs = outputs[: len(outputs) - len(captured)]
    if hostmem:
        _keep_on_host(outputs, hostmem, hostmem)
    return outputs


def for_(
    start: TensorLike,
    limit: TensorLike,
    delta: TensorLike,
    inputs: list[object],
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Sequence[int] | None = None,
    rewrite_with_while: object = None,
) -> list[Tensor]:
    """A `For`: the body is called with a number of a range and the values of the last call.

    Args:
      start: the first number, an int32 scalar.
      limit: the number before which it ends.
      delta: from one to the next.
      inputs: the inputs.
      body: a function from the counter and the inputs to new values of the same number and dtypes.
      name: the operation's name.
      hostmem: the numbers of the inputs that stay in host memory.
      rewrite_with_while: whether to build a While, which has the counter as an input.

    """
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name, hostmem)
    captured = body.captured_inputs
    values = {"start": start, "limit": limit, "delta": delta, "input": [*inputs, *captured]}
    outputs = _outputs("For", values, {"body": _handing_on(body) if captured else body}, name)
    outputs = outputs[: len(outputs) - len(captured)]
    if hostmem:
        _keep_on_host(outputs, [3 + number for number in hostmem], hostmem)
    return outputs


def _for_as_while(
    start: Any,
    limit: TensorLike,
    delta: TensorLike,
    inputs: list[object],
    body: DefinedFunction,
    name: str | None,
    hostmem: Sequence[int] | None,
) -> list[Tensor]:
    step = absolute(delta)
    count = cast(cast(absolute(limit - start) + step - 1, float32) / cast(step, float32), int32)
    takes = [int32] * 4 + list(body.declared_input_types)[1:]

    @Defun(*takes, func_name=f"{body.name}_Cond")
    def goes_on(i: Any, n: TensorLike, *_: object) -> Any:
        return i < n

    @Defun(*takes, func_name=f"{body.name}_Body")
    def following(
        i: Any, n: TensorLike, start: TensorLike, delta: TensorLike, *args: object
    ) -> tuple[object, ...]:
        return (i + 1, n, start, delta, *_results(body(start + i * delta, *args)))

    places = [0, 1, 2, 3, *(4 + number for number in hostmem or ())]
    outputs = while_([0, count, start, delta, *inputs], goes_on, following, name, places)
    return outputs[4:]
