"""EagerTensor: the values that the function of a `tf.py_function` gets. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sessrun.reference.base.dtypes import DType, as_dtype
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.constant_arrays import to_array
from sessrun.reference.build.tensor_like import TensorLike

__all__ = ["EagerTensor", "array_of"]


class EagerTensor(NDArrayOperatorsMixin):
    """A concrete value with numpy's operators; operations of a graph take it as a constant.

    Args:
      value: an array or numpy scalar, or `bytes` or an array of such.

    Attributes:
      dtype: its DType.
      shape: its TensorShape.

    """

    def __init__(self, value: TensorLike) -> None:
        self._array = np.asarray(value, object if isinstance(value, bytes) else None)
        is_text = self._array.dtype == object
        self.dtype = as_dtype("string" if is_text else self._array.dtype)
        self.shape = TensorShape(self._array.shape)

    def numpy(self) -> np.ndarray | np.generic | bytes:
        """A copy of the value: an array, or for rank 0 a numpy scalar or `bytes`."""
        return self._array.copy()[()]

    @property
    def ndim(self) -> int:
        """The rank."""
        return self._array.ndim

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._array, dtype, copy=copy)

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: TensorLike, **options: Any
    ) -> EagerTensor:
        """Numpy's hook for operators; the result is another EagerTensor."""
        values = [value.numpy() if isinstance(value, EagerTensor) else value for value in inputs]
        return EagerTensor(getattr(ufunc, method)(*values, **options))

    def __getitem__(self, key: Any) -> EagerTensor:
        return EagerTensor(self._array[key])

    def __iter__(self) -> Iterator[EagerTensor]:
        return map(EagerTensor, self._array)

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __float__(self) -> float:
        return float(self._array)

    def __index__(self) -> int:
        return self._array.__index__()

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self._array!r}>"


def array_of(value: TensorLike, dtype: DType) -> np.ndarray | np.generic | bytes:
    """The array of a value that such a function returned, converted as by `tf.constant`.

    Raises:
      TypeError: the value is an EagerTensor of another dtype, or cannot be converted to the dtype.
      ValueError: the value is a ragged nested list.

    """
    if not isinstance(value, EagerTensor):
        return to_array(value, dtype)
    if value.dtype != dtype:
        raise TypeError(f"expected a value of {dtype.name}, got one of {value.dtype.name}")
    return value.numpy()
