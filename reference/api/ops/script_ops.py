"""`tf.py_func`, `tf.numpy_function`, `tf.py_function`: Python functions as operations."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.api.ops.eager_tensors import EagerTensor, array_of
from sessrun.reference.base.dtypes import DType, DTypeLike, as_dtype
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.gradient_registry import register
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public
from sessrun.reference.state import scripts

__all__ = ["numpy_function", "py_func", "py_function"]

#: TensorFlow gives a `py_function` a gradient function, which needs a tape; here it has none.
_EAGER: Final = "EagerPyFunc"


@public("py_func")
def py_func(
    func: Callable[..., object],
    inp: Any,
    Tout: Any,  # noqa: N803 - TensorFlow's signature
    stateful: bool = True,
    name: str | None = None,
) -> Tensor | list[Tensor] | Operation:
    """An operation that calls a Python function with the values of `inp`.

    Args:
      func: the function; it gets arrays, numpy scalars or `bytes`, and returns a value for each
        dtype of `Tout`.
      inp: the tensors whose values it gets.
      Tout: the dtype of its result, or a list or tuple of dtypes.
      stateful: whether it has side effects; if not, its calls may be cached or left out.
      name: the operation's name.

    Returns:
      A tensor, or a list of them if `Tout` is a list or tuple; an Operation if a stateful function
      has no results.

    Raises:
      ValueError: `func` is not callable.
      TypeError: `inp` is not iterable, or `Tout` has an invalid dtype.

    """
    if not callable(func):
        raise ValueError(  # noqa: TRY004 - TensorFlow's class
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    types = _types(Tout)
    script = scripts.register(func)
    op = apply_op(
        "PyFunc" if stateful else "PyFuncStateless",
        {"input": list(inp)},
        {"token": script.token, "Tout": types},
        name,
    )
    op.graph.scripts.append(script)
    if not isinstance(Tout, list | tuple):
        return op.outputs[0]
    return list(op.outputs) if types or not stateful else op


@public("numpy_function")
def numpy_function(
    func: Callable[..., object] | None = None,
    inp: TensorLike | None = None,
    Tout: DTypeLike | Sequence[DTypeLike] | None = None,  # noqa: N803 - TensorFlow's signature
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """As `py_func`; without `func` a decorator of functions that are then called with tensors.

    Raises:
      TypeError: `Tout` is missing, or only one of `func` and `inp` is given.
      ValueError: as for `py_func`.

    """

    def build(
        function: Callable[..., object], inputs: TensorLike
    ) -> Tensor | list[Tensor] | Operation:
        return py_func(function, inputs, Tout, stateful, name)

    return _built_or_decorator(build, func, inp, Tout)


@public("py_function")
def py_function(
    func: Callable[..., object] | None = None,
    inp: TensorLike | None = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's signature
    name: str | None = None,
) -> Any:
    """As `numpy_function`, for a function of eager tensors: `x.numpy()` is the array.

    Its results are converted to the dtypes of `Tout` as by `tf.constant`. It has no gradient here:
    `tf.gradients` raises LookupError.

    Raises:
      TypeError: as for `numpy_function`.
      ValueError: as for `py_func`.

    """

    def build(
        function: Callable[..., object], inputs: TensorLike
    ) -> Tensor | list[Tensor] | Operation:
        eager = _eager(function, _types(Tout)) if callable(function) else function
        with get_default_graph().gradient_override_map({"PyFunc": _EAGER}):
            return py_func(eager, inputs, Tout, name=name or _EAGER)

    return _built_or_decorator(build, func, inp, Tout)


def _types(types: DTypeLike | Sequence[DTypeLike]) -> list[DType]:
    """The dtypes of `Tout`: one, or a list or tuple of them."""
    return [as_dtype(item) for item in (types if isinstance(types, list | tuple) else [types])]


def _eager(function: Callable[..., object], types: Sequence[DType]) -> Callable[..., object]:
    """A function of arrays that calls a function of eager tensors and unpacks its results."""

    @functools.wraps(function)
    def called(*arrays: HostArray) -> object:
        returned = function(*map(EagerTensor, arrays))
        if returned is None:
            return None
        results = returned if isinstance(returned, list | tuple) else [returned]
        return [array_of(value, dtype) for value, dtype in zip(results, types, strict=False)]

    return called


def _built_or_decorator(
    build: Callable[[Callable[..., object], TensorLike], object],
    func: Callable[..., object] | None,
    inp: Any,
    types: Any,
) -> object:
    """`build(func, inp)`; if both are None, a decorator of functions that builds when called.

    Raises:
      TypeError: the types are missing, or only one of `func` and `inp` is given.

    """
    if types is None:
        raise TypeError("Missing required argument: 'Tout', by name where this is a decorator")
    if func is not None:
        if inp is None:
            raise TypeError("Missing argument `inp`: the arguments of the function")
        return build(func, inp)
    if inp is not None:
        raise TypeError("A decorator takes no `inp`: the function gets it where it is called")

    def decorated(function: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(function)
        def called(*inputs: TensorLike) -> object:
            return build(function, inputs)

        return called

    return decorated


register("PyFunc", None)
register("PyFuncStateless", None)
