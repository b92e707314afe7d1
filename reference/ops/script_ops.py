"""`tf.py_func` and `tf.numpy_function`: Python functions as operations. Source: TF 2.21."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from sessrun.reference import scripts
from sessrun.reference.build import apply_op
from sessrun.reference.differentiation.registry import register
from sessrun.reference.dtypes import as_dtype

__all__ = ["EXPORTS", "numpy_function", "py_func"]


def py_func(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,  # noqa: N803 - TensorFlow's signature
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a Python function with the values of `inp` whenever it is run.

    Args:
      func: the function; it gets arrays, numpy scalars, `bytes`, and returns what is one for each
        dtype of `Tout`.
      inp: the tensors that it gets.
      Tout: the dtype that it returns, or a list or tuple of them.
      stateful: whether it has effects; one without inputs and effects may be called once only.
      name: the operation's name.

    Returns:
      A tensor, or a list of them if `Tout` is a list or tuple; an Operation where a function with
      effects returns nothing.

    Raises:
      ValueError: `func` cannot be called.
      TypeError: `inp` cannot be iterated, or `Tout` has what is no dtype.

    """
    if not callable(func):
        raise ValueError(  # noqa: TRY004 - TensorFlow's class
            f"Expected func to be callable. Received func={func} of type {type(func)}."
        )
    types = [as_dtype(each) for each in (Tout if isinstance(Tout, list | tuple) else [Tout])]
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


def numpy_function(
    func: Any = None,
    inp: Any = None,
    Tout: Any = None,  # noqa: N803 - TensorFlow's signature
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """`py_func`; without `func`, a decorator of functions that are then called with tensors.

    Raises:
      TypeError: `Tout` is missing, or `inp` is missing where there is a `func` or the other way.
      ValueError: as `py_func`.

    """
    if Tout is None:
        raise TypeError("Missing required argument: 'Tout', by name where this is a decorator")
    if func is not None:
        if inp is None:
            raise TypeError("Missing argument `inp`: the arguments of the function")
        return py_func(func, inp, Tout, stateful, name)
    if inp is not None:
        raise TypeError("A decorator takes no `inp`: the function gets it where it is called")

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*inputs: Any) -> Any:
            return py_func(function, inputs, Tout, stateful, name)

        return called

    return decorated


register("PyFunc", None)
register("PyFuncStateless", None)

EXPORTS: Final[dict[str, Any]] = {"numpy_function": numpy_function, "py_func": py_func}
