"""Dilated window operations, by SpaceToBatchND and BatchToSpaceND. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sessrun.reference.api.nn.space_to_batch import required_space_to_batch_paddings
from sessrun.reference.api.nn.window_arguments import Padding, padding_of
from sessrun.reference.api.ops.array_ops import concat, shape, stack
from sessrun.reference.base import dtypes
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import batch_to_space_nd, space_to_batch_nd
from sessrun.reference.build.shape_inference_values import constant_value
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["Dilated", "with_space_to_batch"]

#: A window operation: from the tensor, the filters or None, and the padding to its result.
Applied = Callable[[Tensor, Any, Any], Tensor]


@public("nn.with_space_to_batch")
def with_space_to_batch(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    dilation_rate: TensorLike,
    padding: Padding,
    op: Applied,
    filter_shape: TensorLike | None = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """Apply a window operation `op` with dilation, by moving blocks of space into the batch.

    Args:
      input: the tensor.
      dilation_rate: one number for each spatial dimension.
      padding: `SAME`, `VALID` or a list of pairs.
      op: the operation, called with the tensor, the number of spatial dimensions, the padding.
      filter_shape: the sizes of the window, required for `SAME`.
      spatial_dims: the axes of the spatial dimensions; by default those after the batch.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.

    Raises:
      ValueError: an argument is ill-formed.

    """
    x = convert_to_tensor(input, name="input")

    def build(count: int, kind: Padding) -> Callable[[Tensor, Any], Tensor]:
        return lambda inner, _: op(inner, count, kind)

    apply = Dilated(x.shape, dilation_rate, padding, build, filter_shape, spatial_dims, data_format)
    return apply(x, None)


class Dilated:
    """A window operation with dilation: it is applied between SpaceToBatchND and BatchToSpaceND.

    Args:
      input_shape: the static shape of the input.
      dilation_rate: one number for each spatial dimension.
      padding: `SAME`, `VALID` or a list of pairs.
      build: from the number of spatial dimensions and the padding to the operation.
      filter_shape: the sizes of the window; if its static value is unknown, the shape of the
        filters of the call is taken.
      spatial_dims: the spatial dimensions.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      batch_dims: the number of batch dimensions.

    Raises:
      ValueError: an argument is ill-formed.

    """

    def __init__(
        self,
        input_shape: TensorShape,
        dilation_rate: TensorLike,
        padding: Padding,
        build: Callable[[int, Padding], Callable[[Tensor, Any], Tensor]],
        filter_shape: TensorLike | None = None,
        spatial_dims: Sequence[int] | None = None,
        data_format: str | None = None,
        batch_dims: int = 1,
    ) -> None:
        rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
        self._count = count = _length(rate)
        self._first = data_format is not None and data_format.startswith("NC")
        start = batch_dims + 1 if self._first else batch_dims
        self._dims = _rising(range(start, start + count) if spatial_dims is None else spatial_dims)
        least = self._dims[-1] + (0 if self._first else 1)
        try:
            input_shape.with_rank_at_least(least)
        except ValueError:
            raise bad_value(
                f"`input.shape.rank` must be at least {least}. Received: input.shape="
                f"{input_shape} with rank {input_shape.ndims}"
            ) from None
        self._shape, self._rate = input_shape, rate
        known = constant_value(rate)
        self._known_rate = rate if known is None else known
        self._plain = None
        if known is not None and np.any(known < 1):
            raise bad_value(f"`dilation_rate` must be positive. Received: dilation_rate={known}")
        if known is not None and np.all(known == 1):
            self._plain = build(count, padding)
            return
        self._base = self._paddings(padding, filter_shape)
        self._applied = build(count, "VALID")

    def _paddings(
        self, padding: Padding, filter_shape: TensorLike | None
    ) -> np.ndarray | Tensor | None:
        """The base paddings of the spatial dimensions; None if they depend on the filters."""
        kind, explicit = padding_of(padding)
        if kind == "SAME":
            if filter_shape is None:
                raise bad_value(
                    "`filter_shape` must be specified for `padding='SAME'`. Received: "
                    f"filter_shape={filter_shape} and padding={padding}"
                )
            window = convert_to_tensor(filter_shape, name="filter_shape")
            known = constant_value(window)
            return None if known is None else self._same(known)
        if kind == "VALID":
            return np.zeros([self._count, 2], np.int32)
        if kind == "EXPLICIT":
            pairs = np.array(explicit).reshape([self._count + 2, 2])
            return pairs[2:] if self._first else pairs[1:-1]
        raise bad_value(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")

    def _same(self, window: Any) -> Tensor:
        """The paddings of `SAME` before and after each spatial dimension: [dimensions, 2]."""
        extra = (window[: self._count] - 1) * self._known_rate
        start = extra // 2
        end = extra - start
        return stack([[start[i], end[i]] for i in range(self._count)])

    def __call__(self, x: Tensor, filters: Any) -> Tensor:
        """Apply it to a tensor."""
        if self._plain is not None:
            return self._plain(x, filters)
        sizes: Any = None
        if self._shape.ndims is not None:
            static_sizes = self._shape.as_list()
            sizes = [static_sizes[i] for i in self._dims]
        if sizes is None or None in sizes:
            dynamic_sizes = shape(x)
            sizes = stack([dynamic_sizes[i] for i in self._dims])
        base = self._same(shape(filters)) if self._base is None else self._base
        around, off = required_space_to_batch_paddings(sizes, self._rate, base)
        blocks = self._adjusted(self._rate, 1)
        paddings, crops = self._adjusted(around, 0), self._adjusted(off, 0)
        inner = space_to_batch_nd(x, blocks, paddings)
        result = batch_to_space_nd(self._applied(inner, filters), blocks, crops)
        if self._first and filters is not None and not result.shape[1].value:
            static = result.shape.as_list()
            static[1] = filters.shape[-1]
            result.set_shape(static)
        return result

    def _adjusted(self, rows: Tensor, fill: int) -> np.ndarray | Tensor:
        """The rows of spatial dimensions, and rows of `fill` for the others after the batch."""
        rest = rows.shape.as_list()[1:]
        known = constant_value(rows)
        source = rows if known is None else known
        parts: list[Any] = []
        before, index, dims = 0, 0, self._dims
        while index < len(dims):
            begin = index
            if dims[begin] > 1:
                gap = [dims[begin] - 1 - before, *rest]
                parts.append(np.full(gap, fill, dtype=rows.dtype.as_numpy_dtype))
            while index + 1 < len(dims) and dims[index + 1] == dims[index] + 1:
                index += 1
            parts.append(source[begin : index + 1])
            before = dims[index]
            index += 1
        return concat(parts, 0) if known is None else np.concatenate(parts)


def _length(rate: Tensor) -> int:
    """The length of a vector of dilation rates: the number of spatial dimensions.

    Raises:
      ValueError: `rate` is not a vector, or its length is not static.

    """
    if rate.shape.ndims not in {None, 1}:
        raise bad_value(
            f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={rate} of "
            f"rank {rate.shape.ndims}"
        )
    if not rate.shape.is_fully_defined():
        raise bad_value(
            "`dilation_rate.shape` must be fully defined. Received: dilation_rate="
            f"{rate} with shape {rate.shape}"
        )
    return rate.shape.as_list()[0] or 0


def _rising(dims: Sequence[int]) -> list[int]:
    """The axes as a list.

    Raises:
      ValueError: the axes are not strictly increasing, or an axis is below 1.

    """
    given = list(dims)
    rising = sorted({int(dim) for dim in given})
    if rising != given or any(dim < 1 for dim in rising):
        raise bad_value(
            "`spatial_dims` must be a monotonically increasing sequence of positive "
            f"integers. Received: spatial_dims={given}"
        )
    return rising
