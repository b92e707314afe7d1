"""N-D convolutions and poolings: the rank of the filters or the window says N. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from sessrun.reference.api.nn.convolutions import conv1d, conv2d, plane, volume
from sessrun.reference.api.nn.dilated import Dilated, with_space_to_batch
from sessrun.reference.api.nn.poolings import avg_pool, avg_pool3d, max_pool, max_pool3d
from sessrun.reference.api.nn.window_arguments import Padding, SizesLike, per_dimension
from sessrun.reference.api.ops.array_ops import expand_dims, squeeze
from sessrun.reference.api.ops.reduce_ops import chosen
from sessrun.reference.base.attributes import AttrValues
from sessrun.reference.base.tensor_shape import ShapeLike, TensorShape, as_shape, dimension_at_index
from sessrun.reference.build.conversion import convert_to_tensor, is_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["Convolution", "convolution", "convolution_internal"]

_LAST: Final = frozenset(
    {"NWC", "NHC", "NHWC", "NWHC", "NDHWC", "NDWHC", "NHDWC", "NHWDC", "NWDHC", "NWHDC"}
)


@public("nn.convolution")
def convolution(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filter: TensorLike,  # noqa: A002 - the same
    padding: Padding,
    strides: SizesLike | None = None,
    dilation_rate: SizesLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: SizesLike | None = None,
) -> Tensor:
    """A 1-D, 2-D or 3-D convolution; the rank of the filters says which.

    Args:
      input: [batch, *spatial, channels], or as `data_format` says.
      filter: [window, channels, outputs].
      padding: `SAME`, `VALID` or a list of pairs.
      strides: the stride of the window along each spatial dimension.
      dilation_rate: the dilation rate of the window along each spatial dimension.
      name: the operations' scope.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      filters: the newer name of `filter`.
      dilations: the newer name of `dilation_rate`.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    kernels = chosen(filters, filter, "filters", "filter")
    apart = chosen(dilations, dilation_rate, "dilations", "dilation_rate")
    return convolution_internal(input, kernels, strides, padding, data_format, apart, name)


def convolution_internal(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    filters: TensorLike | None,
    strides: SizesLike | None = None,
    padding: Padding = "VALID",
    data_format: str | None = None,
    dilations: SizesLike | None = None,
    name: str | None = None,
    call_from_convolution: bool = True,
    num_spatial_dims: int | None = None,
) -> Tensor:
    """The implementation of `convolution`, which layers call, too; arguments as there."""
    del call_from_convolution  # it matters on other devices only
    kernels, x = _tensor(filters, "filters", input), _tensor(input, "input", filters)
    count = _spatial(x, kernels, num_spatial_dims)
    ndims = x.shape.ndims
    batch = ndims - count - 1 if ndims else 1
    last = data_format is None or data_format in _LAST
    channels = batch + count if last else batch
    apart = per_dimension(dilations, count, "dilations", first=channels == 1)
    steps = per_dimension(strides, count, "strides", first=channels == 1)
    with name_scope(name, None if name else "convolution", [x, kernels]) as scope:
        if all(size == 1 for size in apart):
            attrs: AttrValues = {
                "padding": padding,
                "data_format": data_format,
                "dilations": apart,
            }
            if count == 1:
                return conv1d(x, kernels, steps, name=scope, **attrs)
            return (plane if count == 2 else volume)(x, kernels, steps, scope, **attrs)
        inner = slice(2, None) if channels == 1 else slice(1, -1)
        convolve = Convolution(
            as_shape(x.shape),
            as_shape(kernels.shape),
            padding,
            steps[inner],
            apart[inner],
            scope,
            data_format,
            count,
        )
        return convolve(x, kernels)


def _tensor(value: TensorLike | None, name: str, other: TensorLike | None) -> Any:
    if is_tensor(value):
        return value
    with name_scope(None, "convolution_internal", [value, other]):
        return convert_to_tensor(value, name=name)


def _spatial(x: Tensor, filters: Tensor, given: int | None) -> int:
    """The number of spatial dimensions.

    Raises:
      ValueError: the number is unknown, contradicts `given`, or is not 1, 2 or 3.

    """
    count, rank = given, filters.shape.ndims
    if count is None:
        known = rank or x.shape.ndims
        if not known:
            raise bad_value(
                "When `num_spatial_dims` is not set, one of `input.shape.rank` or "
                "`filters.shape.rank` must be known."
            )
        count = known - 2
    elif rank and rank - 2 != count:
        raise bad_value(
            f"`filters.shape.rank - 2` should equal `num_spatial_dims`. Received: "
            f"filters.shape={filters.shape} and num_spatial_dims={count}"
        )
    if count not in {1, 2, 3}:
        raise bad_value(f"`num_spatial_dims` must be 1, 2, or 3. Received: {count}.")
    return int(count)


class Convolution:
    """A convolution built for static shapes of input and filters, and called with the tensors.

    Args:
      input_shape: the static shape of the input.
      filter_shape: the static shape of the filters.
      padding: `SAME`, `VALID` or a list of pairs.
      strides: the stride of the window along each spatial dimension.
      dilation_rate: the dilation rate of the window along each spatial dimension.
      name: the operation's name.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      num_spatial_dims: the number of spatial dimensions, where the rank of the filters is unknown.

    Raises:
      ValueError: an argument is ill-formed, or the shapes do not fit.

    """

    def __init__(
        self,
        input_shape: ShapeLike,
        filter_shape: ShapeLike,
        padding: Padding,
        strides: SizesLike | None = None,
        dilation_rate: SizesLike | None = None,
        name: str | None = None,
        data_format: str | None = None,
        num_spatial_dims: int = 2,
    ) -> None:
        window, static_shape = as_shape(filter_shape), as_shape(input_shape)
        count = num_spatial_dims if window.ndims is None else window.ndims - 2
        batch = _batch_dims(static_shape, count)
        first = data_format is not None and data_format.startswith("NC")
        depth = dimension_at_index(static_shape, batch if first else count + batch)
        seen = dimension_at_index(window, count)
        start = batch + 1 if first else batch
        if not (depth % seen).is_compatible_with(0):
            raise bad_value(
                "The number of input channels is not divisible by the corresponding "
                f"number of output filters. Received: input.shape={static_shape} and "
                f"filters.shape={window}"
            )
        self.input_shape, self.filter_shape = static_shape, window
        self.data_format, self.padding, self.name = data_format, padding, name
        self.strides, self.dilation_rate = _strides_and_rates(count, strides, dilation_rate)
        self.num_batch_dims, self.num_spatial_dims = batch, count
        self.conv_op = Dilated(
            static_shape,
            self.dilation_rate,
            padding,
            self._build,
            window,
            range(start, start + count),
            data_format,
            batch,
        )

    def _build(self, _: int, padding: Padding) -> Callable[[Tensor, TensorLike], Tensor]:
        return _UndilatedConvolution(
            self.input_shape,
            self.filter_shape,
            padding,
            self.data_format,
            list(self.strides),
            self.name,
            self.num_batch_dims,
        )

    def __call__(self, inp: Tensor, filter: TensorLike) -> Tensor:  # noqa: A002 - TensorFlow's name
        """Convolve a tensor."""
        return self.conv_op(inp, filter)


def _batch_dims(input_shape: TensorShape, count: int) -> int:
    """The number of batch dimensions of an input with `count` spatial dimensions.

    Raises:
      ValueError: the rank is too low.

    """
    if input_shape.ndims is None:
        return 1
    if input_shape.ndims < count + 2:
        raise bad_value(
            f"`input.shape.rank` must be >= than `num_spatial_dims + 2`. Received: "
            f"input.shape={input_shape} and num_spatial_dims={count}"
        )
    return input_shape.ndims - count - 1


def _strides_and_rates(count: int, strides: Any, rates: Any) -> tuple[np.ndarray, np.ndarray]:
    """Strides and rates as arrays, one number for each spatial dimension.

    Raises:
      ValueError: there are too few or too many, one is below 1, or both are above 1.

    """
    arrays = []
    for name, values in (("dilation_rate", rates), ("strides", strides)):
        given = [1] * count if values is None else values
        if len(given) != count:
            raise bad_value(
                f"`len({name})` should be {count}. Received: {name}={given} of length {len(given)}"
            )
        array = np.array(given, dtype=np.int32)
        if np.any(array < 1):
            raise bad_value(f"all values of `{name}` must be positive. Received: {name}={array}")
        arrays.append(array)
    apart, steps = arrays
    if np.any(steps > 1) and np.any(apart > 1):
        raise bad_value(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={steps} and dilation_rate={apart}"
        )
    return steps, apart


class _UndilatedConvolution:
    """A convolution without dilation."""

    def __init__(
        self,
        input_shape: TensorShape,
        window: TensorShape,
        padding: Padding,
        data_format: str | None,
        strides: Sequence[int],
        name: str | None,
        batch: int,
    ) -> None:
        if input_shape.ndims is not None:
            window = window.with_rank(input_shape.ndims - batch + 1)
        if window.ndims is not None:
            input_shape = input_shape.with_rank(window.ndims + batch - 1)
        if input_shape.ndims is None:
            raise bad_value(
                f"Rank of convolution must be known. Received: input_shape={input_shape}"
            )
        self._count = input_shape.ndims - batch - 1
        if not 1 <= self._count <= 3:
            raise bad_value(
                "`input_shape.rank - num_batch_dims + 1` must be at least 3 and at "
                f"most 5. Received: input_shape={input_shape}"
            )
        self._padding, self._name = padding, name
        formats = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[self._count]
        allowed = (*formats, "NCHW", "NHWC") if self._count == 1 else formats
        if data_format is not None and data_format not in allowed:
            raise bad_value(
                f"`data_format` must be {formats[0]!r} or {formats[1]!r}. Received: "
                f"data_format={data_format}"
            )
        self._format = formats[0] if data_format is None and self._count < 3 else data_format
        self._strides = list(strides)

    def __call__(self, x: TensorLike, filters: TensorLike) -> Tensor:
        if self._count == 1:
            return conv1d(
                x,
                filters,
                self._strides[0],
                self._padding,
                data_format=self._format,
                name=self._name,
            )
        first = self._format is not None and self._format.startswith("NC")
        steps = [1, 1, *self._strides] if first else [1, *self._strides, 1]
        if self._count == 2:
            return conv2d(
                x, filters, steps, self._padding, data_format=self._format, name=self._name
            )
        return volume(
            x, filters, steps, self._name, padding=self._padding, data_format=self._format
        )


#: Poolings by their type and the number of spatial dimensions.
_POOLINGS: Final[dict[tuple[str, int], Any]] = {
    ("MAX", 1): max_pool,
    ("MAX", 2): max_pool,
    ("MAX", 3): max_pool3d,
    ("AVG", 1): avg_pool,
    ("AVG", 2): avg_pool,
    ("AVG", 3): avg_pool3d,
}


@public("nn.pool")
def pool(
    input: TensorLike,  # noqa: A002 - TensorFlow's name
    window_shape: Sequence[int],
    pooling_type: str,
    padding: str,
    dilation_rate: SizesLike | None = None,
    strides: SizesLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: SizesLike | None = None,
) -> Tensor:
    """A 1-D, 2-D or 3-D pooling; the length of `window_shape` says which.

    Args:
      input: [batch, *spatial, channels], or as `data_format` says.
      window_shape: the window's sizes.
      pooling_type: `MAX` or `AVG`.
      padding: `SAME` or `VALID`.
      dilation_rate: the dilation rates of the window.
      strides: the strides of the window.
      name: the operation's name.
      data_format: the order of the dimensions, such as `NHWC` or `NCHW`.
      dilations: the newer name of `dilation_rate`.

    Raises:
      ValueError: an argument is ill-formed, or given under both names.

    """
    rates = chosen(dilations, dilation_rate, "dilations", "dilation_rate")
    with name_scope(name, f"{pooling_type.lower()}_pool", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        count = len(window_shape)
        if not 1 <= count <= 3:
            raise bad_value(
                f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window_shape}"
            )
        x.shape.with_rank(count + 2)
        steps, apart = _strides_and_rates(count, strides, rates)
        if padding == "SAME" and np.any(apart > 1):
            raise bad_value(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > "
                f"1. Received: dilation_rate={apart}"
            )
        if np.any(steps > window_shape):
            raise bad_value(
                "`strides` > `window_shape` not supported due to inconsistency between "
                f"CPU and GPU implementations. Received: strides={steps} and "
                f"window_shape={window_shape}"
            )
        if (pooling_type, count) not in _POOLINGS:
            raise bad_value(f"{count}-D {pooling_type} pooling is not supported.")
        pooled = _pooling(
            scope,
            _POOLINGS[pooling_type, count],
            count,
            list(window_shape),
            list(steps),
            data_format,
        )
        first = data_format is not None and data_format.startswith("NC")
        start = 2 if first else 1
        return with_space_to_batch(
            x, apart, padding, pooled, window_shape, range(start, start + count)
        )


def _pooling(
    scope: str,
    function: Callable[..., Tensor],
    count: int,
    window: list[int],
    steps: list[int],
    data_format: str | None,
) -> Callable[[Tensor, object, Padding], Tensor]:
    """A function that pools a tensor; rows are pooled as images of height 1."""
    first = data_format is not None and data_format.startswith("NC")
    sizes, moves = ([1, 1, *numbers] if first else [1, *numbers, 1] for numbers in (window, steps))
    form = data_format
    if count == 1:
        if data_format not in {None, "NWC", "NCW"}:
            raise bad_value(
                f"data_format must be either 'NWC' or 'NCW'. Received: data_format={data_format}"
            )
        form = "NCHW" if first else "NHWC"
        sizes, moves = [1, *sizes], [1, *moves]
    row_axis = 2 if first else 1

    def apply(x: Tensor, _: object, padding: Padding) -> Tensor:
        images = expand_dims(x, row_axis) if count == 1 else x
        result: Tensor = function(images, sizes, moves, padding, data_format=form, name=scope)
        return squeeze(result, [row_axis]) if count == 1 else result

    return apply


@public("nn.atrous_conv2d")
def atrous_conv2d(
    value: TensorLike,
    filters: TensorLike,
    rate: int,
    padding: Padding,
    name: str | None = None,
) -> Tensor:
    """A dilated ("atrous") 2-D convolution.

    Args:
      value: [batch, height, width, channels].
      filters: [height, width, channels, new channels], of the dtype of `value`.
      rate: the dilation rate, a positive integer.
      padding: "VALID" or "SAME".
      name: a name scope.

    Returns:
      [batch, height, width, new channels].

    Raises:
      ValueError: shapes, the rate or the padding are wrong.

    """
    apart = np.broadcast_to(rate, (2,))
    return convolution(value, filters, padding, dilation_rate=apart, name=name)
