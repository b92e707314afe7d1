"""Python functions that graphs call, by token; a graph keeps its functions. Source: TF 2.21."""

from __future__ import annotations

import itertools
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.dtypes import of_name
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.kernel_errors import (
    Internal,
    InvalidArgument,
    KernelError,
    OutOfRange,
    ResourceExhausted,
    Unimplemented,
    Unknown,
)
from sessrun.reference.state.attempts import Attempt
from sessrun.spec.dtypes import row_of_numpy

__all__ = ["Script", "call", "register"]


#: The error that an exception of a function becomes, by its class; the first match counts.
_ERRORS: Final[tuple[tuple[type[BaseException], type[KernelError]], ...]] = (
    (StopIteration, OutOfRange),
    (MemoryError, ResourceExhausted),
    (NotImplementedError, Unimplemented),
    (ValueError, InvalidArgument),
    (TypeError, InvalidArgument),
)


class Script:
    """A registered function.

    Attributes:
      function: the Python function.
      token: the name by which nodes refer to it.

    """

    def __init__(self, function: Callable[..., Any], token: str) -> None:
        self.function = function
        self.token = token


_SCRIPTS: Final[weakref.WeakValueDictionary[str, Script]] = weakref.WeakValueDictionary()
_NUMBERS: Final = itertools.count()


def register(function: Callable[..., Any]) -> Script:
    """Give a function a token, which is valid as long as the Script exists."""
    script = Script(function, f"pyfunc_{next(_NUMBERS)}")
    _SCRIPTS[script.token] = script
    return script


class _Calls:
    """The target of calls; ends the calls of a run that fails."""

    @staticmethod
    def withdraw(attempt: Attempt) -> None:
        """Wait for the end of a call: no function outlives the run that called it."""
        assert isinstance(attempt, _Call)  # no other attempt has this target
        attempt.thread.join()


class _Call(Attempt):
    """A call in a separate thread, since it may wait for another call of the same run."""

    __slots__ = ("thread",)

    def __init__(self, token: str, inputs: Sequence[Array], types: Sequence[str]) -> None:
        super().__init__(_Calls())
        self.thread = threading.Thread(
            target=self._work, args=(token, inputs, types), name=token, daemon=True
        )
        self.thread.start()

    def _work(self, token: str, inputs: Sequence[Array], types: Sequence[str]) -> None:
        try:
            self.succeed(_results(token, inputs, types))
        except KernelError as error:
            self.fail(error)
        except BaseException as error:  # noqa: BLE001 - whatever it raises fails the run, exits too
            self.fail(_error_of(error))


def call(token: str, inputs: Sequence[Array], types: Sequence[str]) -> Attempt:
    """Call the function of that token.

    Args:
      token: its token.
      inputs: arrays of the host.
      types: the dtypes that it must return.

    Returns:
      An attempt whose result is the outputs as a kernel returns them.

    """
    return _Call(token, inputs, types)


def _results(
    token: str, inputs: Sequence[Array], types: Sequence[str]
) -> HostArray | tuple[HostArray, ...]:
    script = _SCRIPTS.get(token)
    if script is None:
        raise InvalidArgument(f"No Python function of token {token} is registered")
    returned = script.function(*map(_argument, inputs))
    if returned is None:
        returned = ()
    elif not isinstance(returned, list | tuple):
        returned = (returned,)
    if len(returned) != len(types):
        raise InvalidArgument(
            f"{token} returns {len(returned)} values, but expects to see {len(types)} values."
        )
    outputs = [_output(value) for value in returned]
    for index, (output, wanted) in enumerate(zip(outputs, types, strict=True)):
        dtype = _spec_name(output)
        if dtype != wanted:
            raise InvalidArgument(
                f"{index}-th value returned by {token} is {_named(dtype)}, but expects "
                f"{_named(wanted)}"
            )
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _argument(value: Array) -> HostArray | np.generic:
    """An input for the function: a scalar, or a copy of an array, which it may write to."""
    array: NDArray[Any] = np.asarray(value)
    if array.dtype.names is not None:  # a quantized one: its integers
        array = array.view(array.dtype[0])
    return array[()] if array.ndim == 0 else array.copy()


def _output(value: object) -> HostArray:
    """A new array of a value that a function returned; text as bytes."""
    array = np.asarray(value)
    if array.dtype.char == "U" and array is value:
        array = array.astype(np.bytes_)  # characters of an array are those of ASCII
    elif array.dtype.char in "SU" and array is not value:
        array = np.asarray(value, object)  # numpy's own text would lose zeros at its end
    if array.dtype.char in "SO":
        return _encoded(array)
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def _spec_name(array: HostArray) -> str:
    row = row_of_numpy(array.dtype)
    if row is None:
        raise Internal(f"Unsupported numpy data type: {array.dtype}")
    return row.name


def _encoded(array: HostArray) -> HostArray:
    encoded = np.empty(array.shape, object)
    for index, item in np.ndenumerate(array):
        if not isinstance(item, str | bytes):
            raise Internal(f"Unsupported object type {type(item).__name__}")
        encoded[index] = item.encode() if isinstance(item, str) else bytes(item)
    return encoded


def _named(spec_name: str) -> str:
    """The dtype by its name in declarations of operations: float, half."""
    return of_name(spec_name).opdef_name


def _error_of(error: BaseException) -> KernelError:
    """The kernel's error for an exception of the function, with its traceback in the message."""
    kind = next((kind for cls, kind in _ERRORS if isinstance(error, cls)), Unknown)
    trace = "".join(traceback.format_exception(error))
    return kind(f"{type(error).__name__}: {error}\n{trace}")
