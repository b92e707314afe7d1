"""Operations of `tf.keras.backend`: the namespace's functions with Keras' names and defaults.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.ops.fill_ops import ones_like_v2
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import sessions
from sessrun.reference.library.keras.crossentropies import (
    binary_focal_crossentropy,
    categorical_focal_crossentropy,
)
from sessrun.reference.library.keras.local_convolutions import local_conv1d, local_conv2d
from sessrun.reference.library.keras.object_configs import Identifier
from sessrun.reference.library.keras.resizing import repeat_elements, resize_images, resize_volumes
from sessrun.reference.library.keras.settings import floatx
from sessrun.reference.library.optimizers.averages import assign_moving_average

__all__ = ["FUNCTIONS", "ones_like"]

#: Functions that have the namespace's own name, or another one, and their arguments.
_PLAIN: Final = {
    "abs": "abs x",
    "cos": "cos x",
    "equal": "equal x y",
    "exp": "exp x",
    "greater": "greater x y",
    "greater_equal": "greater_equal x y",
    "in_top_k": "math.in_top_k predictions targets k",
    "less": "less x y",
    "less_equal": "less_equal x y",
    "log": "math.log x",
    "maximum": "maximum x y",
    "minimum": "minimum x y",
    "not_equal": "not_equal x y",
    "pow": "pow x a",
    "reshape": "reshape x shape",
    "round": "round x",
    "shape": "shape x",
    "sign": "sign x",
    "sin": "sin x",
    "square": "square x",
    "update": "assign x new_x",
    "update_add": "assign_add x increment",
    "update_sub": "assign_sub x decrement",
}


def _named(dotted: str) -> Callable[..., Tensor]:
    item: Any = tf
    for name in dotted.split("."):
        item = getattr(item, name)
    return item


def _with_names(
    compute: Callable[..., Tensor | Variable], **arguments: Any
) -> Callable[..., Tensor | Variable]:
    """Wrap `compute` in a signature of these names and defaults (`Parameter.empty` for none)."""
    known = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
            for name, default in arguments.items()
        ]
    )

    def called(*args: Any, **kwargs: Any) -> Tensor | Variable:
        given = known.bind(*args, **kwargs)
        given.apply_defaults()
        return compute(*given.args)

    called.__signature__ = known  # type: ignore[attr-defined]  # where `inspect` looks for it
    called.__doc__ = compute.__doc__
    return called


def _plain(name: str, line: str) -> Callable[..., object]:
    dotted, *names = line.split()

    def compute(*args: Any) -> Tensor:
        return _named(dotted)(*args)

    compute.__doc__ = f"The same as `tf.{dotted}`."
    function = _with_names(compute, **dict.fromkeys(names, inspect.Parameter.empty))
    function.__name__ = name
    return function


def _reduction(name: str, *, of_bools: str | None = None) -> Callable[..., object]:
    """`tf.NAME(x, axis, keepdims)`; bools are first cast to floats or kept as bools."""

    def reduce(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
        if of_bools is not None and (of_bools == "bool" or x.dtype.base_dtype == tf.bool):
            x = tf.cast(x, floatx() if of_bools == "float" else tf.bool)
        return _named(name)(x, axis, keepdims)

    reduce.__doc__ = f"`tf.{name}`, with the axis second."
    return reduce


def _drawn(dotted: str, **defaults: float) -> Callable[..., object]:
    """A random op of two parameters; without a seed one is drawn from NumPy's generator."""

    def draw(
        shape: ShapeLike, first: Tensor, second: Tensor, dtype: DTypeLike, seed: int | None
    ) -> Tensor:
        return _named(dotted)(shape, first, second, dtype=dtype or floatx(), seed=_seed(seed))

    return _with_names(draw, shape=inspect.Parameter.empty, **defaults, dtype=None, seed=None)


def _drawn_variable(make: str, *names: str) -> Callable[..., object]:
    """A variable initialized by a random initializer of two parameters."""

    def draw(
        shape: ShapeLike,
        first: Tensor,
        second: Tensor,
        dtype: DTypeLike,
        name: str | None,
        seed: int | None,
    ) -> Variable:
        chosen = int(np.random.randint(10**9)) if seed is None else seed  # noqa: NPY002 - programs seed it
        kind = tf.as_dtype(dtype or floatx())
        value = getattr(tf, make)(first, second, dtype=kind, seed=chosen)(shape)
        return sessions.variable(value, dtype=kind, name=name)

    draw.__doc__ = f"A variable that begins with what `tf.{make}` makes."
    none = dict.fromkeys(("shape", *names), inspect.Parameter.empty)
    return _with_names(draw, **none, dtype=None, name=None, seed=None)


def argmax(x: Tensor, axis: int = -1) -> Tensor:
    """The index of the largest element along an axis."""
    return tf.argmax(x, axis)


def argmin(x: Tensor, axis: int = -1) -> Tensor:
    """The index of the smallest element along an axis."""
    return tf.argmin(x, axis)


def arange(
    start: Any,
    stop: TensorLike | None = None,
    step: TensorLike = 1,
    dtype: DTypeLike = "int32",
) -> Tensor:
    """`tf.range`, as int32 by default; empty for a single negative argument."""
    first = 0 if stop is None and start < 0 else start
    numbers = tf.range(first, limit=stop, delta=step, name="arange")
    return numbers if dtype == "int32" else tf.cast(numbers, dtype)


def batch_flatten(x: Tensor) -> Tensor:
    """Flatten all axes but the first."""
    return tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:], None, False)]))


def cumsum(x: Tensor, axis: int = 0) -> Tensor:
    """Running sums along an axis."""
    return tf.cumsum(x, axis=axis)


def cumprod(x: Tensor, axis: int = 0) -> Tensor:
    """Running products along an axis."""
    return tf.cumprod(x, axis=axis)


def dot(x: Tensor, y: TensorLike) -> Tensor:
    """The product of matrices."""
    return tf.matmul(x, y)


def _seed(given: int | None) -> int:
    """The seed, or one drawn from NumPy's generator."""
    return int(np.random.randint(10_000_000)) if given is None else given  # noqa: NPY002 - programs seed it


def dropout(
    x: Tensor, level: float, noise_shape: ShapeLike | None = None, seed: int | None = None
) -> Tensor:
    """`tf.nn.dropout` with rate `level`; without a seed one is drawn."""
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed))


def expand_dims(x: Tensor, axis: int = -1) -> Tensor:
    """Insert an axis of size 1, by default the last."""
    return tf.expand_dims(x, axis)


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> Variable:
    """A variable that begins with the identity matrix."""
    kind = tf.as_dtype(dtype or floatx())
    return sessions.variable(tf.eye(size, dtype=kind), dtype=kind, name=name)


def foldl(
    fn: Callable[..., object],
    elems: Structure,
    initializer: Identifier = None,
    name: str | None = None,
) -> Tensor:
    """Fold a function over the elements, first to last."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[..., object],
    elems: Structure,
    initializer: Identifier = None,
    name: str | None = None,
) -> Tensor:
    """Fold a function over the elements, last to first."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


def gather(reference: Tensor | Variable, indices: Tensor) -> Tensor:
    """The rows of `reference` at `indices`."""
    return tf.gather(reference, indices)


def gradients(loss: Tensor, variables: Sequence[Variable]) -> list[Tensor | None]:
    """The gradients of a loss, each colocated with the operation it differentiates."""
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


def l2_normalize(x: Tensor, axis: int | None = None) -> Tensor:
    """Scale a tensor to Euclidean norm 1 along an axis."""
    return tf.nn.l2_normalize(x, axis=axis)


def is_sparse(tensor: Tensor) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(tensor, tf.SparseTensor)


def map_fn(
    fn: Callable[..., object],
    elems: Structure,
    name: str | None = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Apply a function to each element along the first axis."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


def moving_average_update(
    x: Variable, value: Tensor, momentum: float | Tensor
) -> Tensor | Variable:
    """Update an exponential moving average, corrected for its start at 0."""
    return assign_moving_average(x, value, momentum, zero_debias=True)


def one_hot(indices: Tensor, num_classes: int) -> Tensor:
    """One-hot vectors of integers, along a new last axis."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def ones_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Ones of a tensor's shape."""
    return ones_like_v2(x, dtype, name)


def zeros_like(x: Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros of a tensor's shape."""
    return tf.zeros_like(x, dtype, name)


def _filled(make: str) -> Callable[..., object]:
    def fill(
        shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None
    ) -> Tensor | Variable:
        kind = tf.as_dtype(dtype or floatx())
        value = getattr(tf, make)(shape=shape, dtype=kind, name=name)
        if all(value.shape.as_list()):
            return sessions.variable(value, dtype=kind, name=name)
        return value

    fill.__doc__ = f"A variable that begins with `tf.{make}`."
    return fill


def random_bernoulli(
    shape: ShapeLike, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Tensor:
    """Random ones with probability `p`, else zeros."""
    kind = dtype or floatx()
    is_one = tf.random.uniform(shape, dtype=kind, seed=_seed(seed)) <= p
    return tf.where_v2(is_one, tf.ones(shape, dtype=kind), tf.zeros(shape, dtype=kind))


def permute_dimensions(x: Tensor, pattern: Sequence[int]) -> Tensor:
    """Transpose the axes into the order `pattern`."""
    return tf.transpose(x, perm=pattern)


def repeat(x: Tensor, n: int) -> Tensor:
    """Each row of a matrix `n` times."""
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def reverse(x: Tensor, axes: int | Sequence[int]) -> Tensor:
    """Reverse a tensor along one axis or several."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def sqrt(x: Tensor) -> Tensor:
    """The square root; negative elements are clipped to 0."""
    return tf.sqrt(tf.maximum(x, tf.constant(0.0, dtype=x.dtype.base_dtype)))


def squeeze(x: Tensor, axis: int) -> Tensor:
    """Remove an axis of size 1."""
    return tf.squeeze(x, [axis])


def stack(x: Tensor, axis: int = 0) -> Tensor:
    """Tensors along a new axis."""
    return tf.stack(x, axis=axis)


def stop_gradient(variables: Tensor | Sequence[Tensor]) -> Tensor | Iterable[Tensor]:
    """`tf.stop_gradient` of one tensor, or of each of a list."""
    if isinstance(variables, list | tuple):
        return map(tf.stop_gradient, variables)
    return tf.stop_gradient(variables)


def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Zeros before and after the steps of sequences."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def to_dense(tensor: Tensor) -> Tensor:
    """Convert a sparse tensor to a dense one; a dense one is returned unchanged."""
    return tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


def tile(x: Tensor, n: int) -> Tensor:
    """Repeat a tensor along its axes."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def transpose(x: Tensor) -> Tensor:
    """Reverse the order of the axes."""
    return tf.transpose(x)


#: Functions of `tf.keras.backend` by their public names.
FUNCTIONS: Final[dict[str, Callable[..., object]]] = {
    **{name: _plain(name, dotted) for name, dotted in _PLAIN.items()},
    **{
        function.__name__: function
        for function in (
            arange,
            resize_volumes,
            resize_images,
            repeat_elements,
            local_conv2d,
            local_conv1d,
            categorical_focal_crossentropy,
            binary_focal_crossentropy,
            argmax,
            argmin,
            batch_flatten,
            cumprod,
            cumsum,
            dot,
            dropout,
            expand_dims,
            eye,
            foldl,
            foldr,
            gather,
            gradients,
            is_sparse,
            l2_normalize,
            map_fn,
            moving_average_update,
            one_hot,
            ones_like,
            permute_dimensions,
            random_bernoulli,
            repeat,
            reverse,
            sqrt,
            squeeze,
            stack,
            stop_gradient,
            temporal_padding,
            tile,
            to_dense,
            transpose,
            zeros_like,
        )
    },
    "all": _reduction("reduce_all", of_bools="bool"),
    "any": _reduction("reduce_any", of_bools="bool"),
    "max": _reduction("reduce_max"),
    "mean": _reduction("reduce_mean", of_bools="float"),
    "min": _reduction("reduce_min"),
    "prod": _reduction("reduce_prod"),
    "std": _reduction("math.reduce_std", of_bools="float"),
    "sum": _reduction("reduce_sum"),
    "var": _reduction("math.reduce_variance", of_bools="float"),
    "ones": _filled("ones"),
    "zeros": _filled("zeros"),
    "random_normal": _drawn("random.normal", mean=0.0, stddev=1.0),
    "random_normal_variable": _drawn_variable("random_normal_initializer", "mean", "scale"),
    "random_uniform_variable": _drawn_variable("random_uniform_initializer", "low", "high"),
    "random_uniform": _drawn("random.uniform", minval=0.0, maxval=1.0),
    "truncated_normal": _drawn("random.truncated_normal", mean=0.0, stddev=1.0),
}
