"""Assertions such as `tf.assert_equal`, checked while the graph is built or when it runs.

If the operands are constants, a violation raises InvalidArgumentError at once; otherwise the graph
gets an `Assert`. Source: TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference import errors
from sessrun.reference.api.control_flow.asserting import assert_
from sessrun.reference.api.ops.array_ops import rank as rank_of
from sessrun.reference.api.ops.array_ops import shape as shape_of
from sessrun.reference.api.ops.math_ops import equal, not_equal
from sessrun.reference.api.ops.reduce_ops import reduce_all
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.build import generated
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity, no_op
from sessrun.reference.build.get_static_value import get_static_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["assert_equal", "assert_less", "assert_non_negative"]

#: The name of the NoOp that replaces an Assert whose condition holds statically.
_SETTLED: Final = "static_checks_determined_all_ok"

Check = Callable[..., Operation]


def _prefix(message: str | None) -> str:
    """The beginning of an error text: the caller's message and two spaces, or nothing."""
    return f"{message}.  " if message else ""


def _comparison(
    name: str, sign: str, make: Callable[..., Tensor], known: Callable[..., Any]
) -> Check:
    """A function such as `assert_less`.

    Args:
      name: the function's name.
      sign: the comparison as its error text writes it.
      make: makes the operation that compares two tensors.
      known: compares two arrays.

    """

    def check(
        x: TensorLike,
        y: TensorLike,
        data: Sequence[object] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, scope, [x, y, data]):
            x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
            if data is None:
                data = [
                    f"Condition x {sign} y did not hold element-wise:",
                    f"x ({x.name}) = ",
                    x,
                    f"y ({y.name}) = ",
                    y,
                ]
            if message is not None:
                data = [message, *data]
            condition = reduce_all(make(x, y))
            fixed = get_static_value(x), get_static_value(y)
            if all(value is not None for value in fixed) and not np.all(known(*fixed)):
                raise _not_held(data)
            return assert_(condition, data, summarize=summarize)

    scope = name
    check.__name__ = name
    check.__doc__ = f"""Assert that x {sign} y elementwise, with broadcasting.

    Args:
      x: a tensor.
      y: a tensor of the same dtype.
      data: the values that the error shows, by default x and y.
      summarize: the number of elements that the error shows of each value.
      message: the beginning of the error's text.
      name: the operations' name scope.

    Returns:
      An Assert operation, which raises InvalidArgumentError in a run if the assertion fails.

    Raises:
      InvalidArgumentError: x and y are constants for which the assertion fails.

    """
    return check


def _not_held(data: Iterable[object]) -> errors.InvalidArgumentError:
    shown = []
    for item in data:
        known = get_static_value(item) if isinstance(item, Tensor) else item
        shown.append(str(item if known is None else known))
    return errors.bad_argument("\n".join(shown))


_equal = _comparison("assert_equal", "==", equal, np.equal)
assert_none_equal = _comparison("assert_none_equal", "!=", not_equal, np.not_equal)
assert_less = _comparison("assert_less", "<", generated.less, np.less)
assert_less_equal = _comparison("assert_less_equal", "<=", generated.less_equal, np.less_equal)
assert_greater = _comparison("assert_greater", ">", generated.greater, np.greater)
assert_greater_equal = _comparison(
    "assert_greater_equal", ">=", generated.greater_equal, np.greater_equal
)


@public("assert_equal", "debugging.assert_equal")
def assert_equal(
    x: TensorLike,
    y: TensorLike,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Assert that x == y elementwise; a tensor equals itself. Arguments as for `assert_less`."""
    # The comparison is built after this scope: TensorFlow's is named `assert_equal_1`.
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _equal(x, y, data, summarize, message, name)


def _sign(
    name: str, sign: str, against: Check, *, zero_first: bool, shown_apart: bool = True
) -> Check:
    """A function such as `assert_positive`.

    Args:
      name: the function's name.
      sign: the comparison of x with 0 as its error text writes it.
      against: the assertion that compares two tensors.
      zero_first: whether `against` gets 0 and x, rather than x and 0.
      shown_apart: whether the error text's condition and the tensor's name are two constants.

    """

    def check(
        x: TensorLike,
        data: Sequence[object] | None = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, scope, [x, data]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                lines = [f"Condition x {sign} 0 did not hold element-wise:", f"x ({x.name}) = "]
                data = [_prefix(message), *(lines if shown_apart else ["".join(lines)]), x]
            zero = convert_to_tensor(0, dtype=x.dtype)
            pair = (zero, x) if zero_first else (x, zero)
            return against(*pair, data=data, summarize=summarize)

    scope = name
    check.__name__ = name
    check.__doc__ = f"Assert that x {sign} 0 elementwise. Arguments as for `assert_less`."
    return check


assert_negative = _sign("assert_negative", "<", assert_less, zero_first=False)
assert_positive = _sign("assert_positive", ">", assert_less, zero_first=True)
assert_non_negative = _sign("assert_non_negative", ">=", assert_less_equal, zero_first=True)
# TensorFlow joins the two texts into one constant here.
assert_non_positive = _sign(
    "assert_non_positive", "<=", assert_less_equal, zero_first=False, shown_apart=False
)


@public("assert_near", "debugging.assert_near")
def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Assert that |x - y| < atol + rtol |y| elementwise.

    Args:
      x: a tensor of floating-point or complex numbers.
      y: a tensor of the same dtype.
      rtol: the relative tolerance, by default ten times the dtype's machine epsilon.
      atol: the absolute tolerance, with the same default.
      data: the values that the error shows.
      summarize: the number of elements that the error shows of each value.
      message: the beginning of the error's text.
      name: the operations' name scope.

    Returns:
      An Assert operation, which raises InvalidArgumentError in a run if the assertion fails.

    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype)
        dtype = x.dtype.real_dtype
        precise = 10 * np.finfo(dtype.as_numpy_dtype).eps
        rtol = convert_to_tensor(precise if rtol is None else rtol, dtype=dtype, name="rtol")
        atol = convert_to_tensor(precise if atol is None else atol, dtype=dtype, name="atol")
        if data is None:
            data = [
                _prefix(message),
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ",
                x,
                f"y ({y.name}) = ",
                y,
            ]
        tolerance = atol + rtol * abs(y)
        condition = reduce_all(generated.less(abs(x - y), tolerance))
        return assert_(condition, data, summarize=summarize)


def _first_rank(ranks: Sequence[Any]) -> str:
    return str(int(ranks[0]))


def _ranked(
    name: str,
    words: str,
    static: Callable[[int, Sequence[int]], bool],
    dynamic: Callable[[Tensor, Sequence[Tensor]], Tensor],
    listed: Callable[[Sequence[Any]], str] = _first_rank,
) -> Check:
    """A function that asserts a relation between the rank of a tensor and given ranks.

    Args:
      name: the name of the scope.
      words: the relation as the error text writes it, between "must have rank" and the ranks.
      static: the relation of a static rank to known ranks.
      dynamic: the same relation as an operation on int32 scalars.
      listed: the ranks as the error text writes them.

    """

    def check(
        x: TensorLike,
        ranks: Sequence[TensorLike],
        data: Sequence[object] | None,
        summarize: int | None,
        message: str | None,
        name: str | None,
    ) -> Operation:
        with name_scope(name, scope, [x, *ranks, *(data or ())]):
            x = x if isinstance(x, SparseTensor) else convert_to_tensor(x, name="x")
            wanted = [convert_to_tensor(rank, name="rank") for rank in ranks]
            named = "" if isinstance(x, SparseTensor) else x.name
            if data is None:
                data = [
                    _prefix(message),
                    f"Tensor {named} must have rank{words}",
                    *wanted,
                    "Received shape: ",
                    shape_of(x),
                ]
            for rank in wanted:
                assert_type(rank, dtypes.int32)
            known = [get_static_value(rank) for rank in wanted]
            if any(value is not None and value.ndim for value in known):
                raise ValueError("Rank must be a scalar.")
            static_rank = x.shape.ndims
            if static_rank is not None and all(value is not None for value in known):
                if not static(static_rank, [int(value) for value in known]):
                    raise ValueError(
                        f"{_prefix(message)}Tensor {named} must have rank{words} "
                        f"{listed(known)}.  Received rank {static_rank}, shape {x.shape}"
                    )
                return no_op(name=_SETTLED)
            condition = dynamic(rank_of(x), wanted)
            checks = [
                assert_rank(rank, 0, data=["Rank must be a scalar. Received rank: ", rank])
                for rank, value in zip(wanted, known, strict=True)
                if value is None
            ]
            if checks:
                graph = get_default_graph()
                with graph.control_dependencies(checks), graph.colocate_with(condition):
                    condition = identity(condition, name="control_dependency")
            return assert_(condition, data, summarize=summarize)

    scope = name
    return check


def _any_equal(tensor_rank: Tensor, ranks: Sequence[Tensor]) -> Tensor:
    result = convert_to_tensor(False) if not ranks else equal(ranks[0], tensor_rank)
    for rank in ranks[1:]:
        result = generated.logical_or(result, equal(rank, tensor_rank))
    return result


_is_rank = _ranked(
    "assert_rank", "", lambda have, want: have == want[0], lambda have, want: equal(have, want[0])
)
_is_at_least = _ranked(
    "assert_rank_at_least",
    " at least",
    lambda have, want: have >= want[0],
    lambda have, want: generated.greater_equal(have, want[0]),
)
_is_in = _ranked(
    "assert_rank_in",
    " in",
    lambda have, want: have in want,
    _any_equal,
    lambda ranks: str(tuple(map(int, ranks))),
)


@public("assert_rank", "debugging.assert_rank")
def assert_rank(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Assert that x has a rank.

    Args:
      x: a tensor or a SparseTensor.
      rank: an int32 scalar.
      data: the values that the error shows.
      summarize: the number of elements that the error shows of each value.
      message: the beginning of the error's text.
      name: the operations' name scope.

    Returns:
      An Assert operation, or a NoOp if the ranks are known statically.

    Raises:
      ValueError: the static rank is another, or `rank` is not a scalar.
      TypeError: `rank` is not an int32.

    """
    return _is_rank(x, [rank], data, summarize, message, name)


@public("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: TensorLike,
    rank: TensorLike,
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Assert that x has at least a rank; arguments and errors as for `assert_rank`."""
    return _is_at_least(x, [rank], data, summarize, message, name)


@public("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: TensorLike,
    ranks: Sequence[TensorLike],
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Assert that x has one of several ranks; arguments and errors as for `assert_rank`."""
    return _is_in(x, list(ranks), data, summarize, message, name)


@public("assert_scalar", "debugging.assert_scalar")
def assert_scalar(
    tensor: TensorLike, name: str | None = None, message: str | None = None
) -> Tensor:
    """The value as a tensor, whose static rank must be 0.

    Raises:
      ValueError: the static rank is not 0, or is unknown.

    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        value: Tensor = convert_to_tensor(tensor, name=scope)
        if value.shape.ndims != 0:
            raise ValueError(
                f"{_prefix(message)}Expected scalar shape for {value.name}, saw "
                f"shape: {value.shape}."
            )
        return value


@public("assert_type", "debugging.assert_type")
def assert_type(
    tensor: TensorLike, tf_type: DType, message: str | None = None, name: str | None = None
) -> Operation:
    """Assert, while the graph is built, that a tensor has a dtype; returns a NoOp.

    Raises:
      TypeError: the dtype is another.

    """
    wanted = dtypes.as_dtype(tf_type)
    with name_scope(name, "assert_type", [tensor]):
        if not isinstance(tensor, SparseTensor):
            tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype != wanted:
            named = "tensor" if isinstance(tensor, SparseTensor) else tensor.name
            raise TypeError(
                f"{_prefix(message)}{named} must be of type {wanted!r}; got {tensor.dtype!r}"
            )
        return no_op("statically_determined_correct_type")


@public("assert_integer", "debugging.assert_integer")
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None) -> Operation:
    """Assert, while the graph is built, that a tensor has an integer dtype; returns a NoOp.

    Raises:
      TypeError: the dtype is not an integer dtype.

    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{_prefix(message)}Expected "x" to be integer type.  Found: {x.name} '
                f"of dtype {x.dtype!r}"
            )
        return no_op("statically_determined_was_integer")


@public("assert_proper_iterable", "debugging.assert_proper_iterable")
def assert_proper_iterable(values: TensorLike) -> None:
    """Assert that a value is an iterable other than a tensor, an array or a string.

    Raises:
      TypeError: the value is no such iterable.

    """
    kinds = (Tensor, SparseTensor, np.ndarray, bytes, str)
    if isinstance(values, kinds):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable. Found: {values!r}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable. Found: {values!r}')


@public("debugging.is_numeric_tensor", "is_numeric_tensor")
def is_numeric_tensor(tensor: TensorLike) -> bool:
    """Whether a value is a Tensor of a float, integer, complex or quantized dtype."""
    return isinstance(tensor, Tensor) and (
        tensor.dtype.is_floating
        or tensor.dtype.is_integer
        or tensor.dtype.is_complex
        or tensor.dtype.is_quantized
    )


public("assert_none_equal", "debugging.assert_none_equal")(assert_none_equal)
public("assert_less", "debugging.assert_less")(assert_less)
public("assert_less_equal", "debugging.assert_less_equal")(assert_less_equal)
public("assert_greater", "debugging.assert_greater")(assert_greater)
public("assert_greater_equal", "debugging.assert_greater_equal")(assert_greater_equal)
public("assert_negative", "debugging.assert_negative")(assert_negative)
public("assert_positive", "debugging.assert_positive")(assert_positive)
public("assert_non_negative", "debugging.assert_non_negative")(assert_non_negative)
public("assert_non_positive", "debugging.assert_non_positive")(assert_non_positive)
