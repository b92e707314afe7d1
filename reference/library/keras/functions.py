"""Functions of tensors under the names of `tf.keras.backend`, and with its defaults.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops.fill_ops import ones_like_v2
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import sessions
from sessrun.reference.library.keras.enlarging import ENLARGING
from sessrun.reference.library.keras.object_configs import Identifier
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


def _named(dotted: str) -> Any:
    found: Any = tf
    for name in dotted.split("."):
        found = getattr(found, name)
    return found


def _with_names(compute: Callable[..., object], **arguments: Any) -> Callable[..., object]:
    """A function whose arguments have these names and defaults; `empty` for one without."""
    known = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
            for name, default in arguments.items()
        ]
    )

    def called(*args: Any, **kwargs: Any) -> Any:
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
    made = _with_names(compute, **dict.fromkeys(names, inspect.Parameter.empty))
    made.__name__ = name
    return made


def _reduction(name: str, *, of_bools: str | None = None) -> Callable[..., object]:
    """A reduction along an axis, of bools as another dtype if one is given."""

    def reduce(x: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
        if of_bools is not None and (of_bools == "bool" or x.dtype.base_dtype == tf.bool):
            x = tf.cast(x, floatx() if of_bools == "float" else tf.bool)
        return _named(name)(x, axis, keepdims)

    reduce.__doc__ = f"`tf.{name}`, with the axis second."
    return reduce


def _drawn(dotted: str, **defaults: float) -> Callable[..., object]:
    """Random numbers of two parameters, with a seed of their own where none is given."""

    def draw(
        shape: ShapeLike, first: Tensor, second: Tensor, dtype: DTypeLike, seed: int | None
    ) -> Tensor:
        return _named(dotted)(shape, first, second, dtype=dtype or floatx(), seed=_seed(seed))

    return _with_names(draw, shape=inspect.Parameter.empty, **defaults, dtype=None, seed=None)


def _drawn_variable(make: str, *names: str) -> Callable[..., object]:
    """A variable that begins with random numbers of two parameters."""

    def draw(
        shape: ShapeLike,
        first: Tensor,
        second: Tensor,
        dtype: DTypeLike,
        name: str | None,
        seed: int | None,
    ) -> Tensor:
        chosen = int(np.random.randint(10**9)) if seed is None else seed  # noqa: NPY002 - programs seed it
        kind = tf.as_dtype(dtype or floatx())
        value = getattr(tf, make)(first, second, dtype=kind, seed=chosen)(shape)
        return sessions.variable(value, dtype=kind, name=name)

    draw.__doc__ = f"A variable that begins with what `tf.{make}` makes."
    none = dict.fromkeys(("shape", *names), inspect.Parameter.empty)
    return _with_names(draw, **none, dtype=None, name=None, seed=None)


def argmax(x: Tensor, axis: int = -1) -> Tensor:
    """Where the largest element along an axis is."""
    return tf.argmax(x, axis)


def argmin(x: Tensor, axis: int = -1) -> Tensor:
    """Where the smallest element along an axis is."""
    return tf.argmin(x, axis)


def arange(
    start: Any, stop: Any = None, step: TensorLike = 1, dtype: DTypeLike = "int32"
) -> Tensor:
    """Numbers from a start to a stop; none up to a negative stop."""
    first = 0 if stop is None and start < 0 else start
    found = tf.range(first, limit=stop, delta=step, name="arange")
    return found if dtype == "int32" else tf.cast(found, dtype)


def batch_flatten(x: Tensor) -> Tensor:
    """All axes but the first as one."""
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
    """A seed; one of its own for each operation where none is given."""
    return int(np.random.randint(10_000_000)) if given is None else given  # noqa: NPY002 - programs seed it


def dropout(
    x: Tensor, level: float, noise_shape: ShapeLike | None = None, seed: int | None = None
) -> Tensor:
    """A tensor of which a share is dropped, with a seed of its own where none is given."""
    return tf.nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed))


def expand_dims(x: Tensor, axis: int = -1) -> Any:
    """One more axis of size 1, by default the last."""
    return tf.expand_dims(x, axis)


def eye(size: int, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A variable that begins with the identity matrix."""
    kind = tf.as_dtype(dtype or floatx())
    return sessions.variable(tf.eye(size, dtype=kind), dtype=kind, name=name)


def foldl(
    fn: Callable[..., object], elems: Any, initializer: Identifier = None, name: str | None = None
) -> Tensor:
    """What a function makes of all elements, from the first on."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[..., object], elems: Any, initializer: Identifier = None, name: str | None = None
) -> Tensor:
    """What a function makes of all elements, from the last on."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


def gather(reference: Any, indices: Tensor) -> Tensor:
    """Rows by number."""
    return tf.gather(reference, indices)


def gradients(loss: Tensor, variables: Sequence[Variable]) -> list[Tensor | None]:
    """The gradients of a loss, each beside what it is of."""
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


def l2_normalize(x: Tensor, axis: int | None = None) -> Tensor:
    """A tensor scaled to length 1 along an axis."""
    return tf.nn.l2_normalize(x, axis=axis)


def is_sparse(tensor: Tensor) -> bool:
    """Whether it is a sparse tensor."""
    return isinstance(tensor, tf.SparseTensor)


def map_fn(
    fn: Callable[..., object], elems: Any, name: str | None = None, dtype: DTypeLike | None = None
) -> Tensor:
    """What a function makes of each element."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


def moving_average_update(x: TensorLike, value: Tensor, momentum: TensorLike) -> Any:
    """Move an average towards a value; as long as it is young, as if it had not begun with 0."""
    return assign_moving_average(x, value, momentum, zero_debias=True)


def one_hot(indices: Tensor, num_classes: int) -> Tensor:
    """1 at each number's place, else 0, along a new last axis."""
    return tf.one_hot(indices, depth=num_classes, axis=-1)


def ones_like(x: TensorLike, dtype: DType | None = None, name: str | None = None) -> Tensor:
    """Ones in a tensor's shape."""
    return ones_like_v2(x, dtype, name)


def zeros_like(x: Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros in a tensor's shape."""
    return tf.zeros_like(x, dtype, name)


def _filled(make: str) -> Callable[..., object]:
    def fill(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
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
    """Ones with a probability, else zeros."""
    kind = dtype or floatx()
    is_one = tf.random.uniform(shape, dtype=kind, seed=_seed(seed)) <= p
    return tf.where_v2(is_one, tf.ones(shape, dtype=kind), tf.zeros(shape, dtype=kind))


def permute_dimensions(x: Tensor, pattern: Any) -> Tensor:
    """The axes in another order."""
    return tf.transpose(x, perm=pattern)


def repeat(x: Tensor, n: int) -> Tensor:
    """Each row of a matrix `n` times."""
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def reverse(x: Tensor, axes: Any) -> Tensor:
    """A tensor turned round along axes."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def sqrt(x: Tensor) -> Any:
    """The square root, of 0 for what is negative."""
    return tf.sqrt(tf.maximum(x, tf.constant(0.0, dtype=x.dtype.base_dtype)))


def squeeze(x: Tensor, axis: int) -> Tensor:
    """A tensor without an axis of size 1."""
    return tf.squeeze(x, [axis])


def stack(x: Tensor, axis: int = 0) -> Tensor:
    """Tensors along a new axis."""
    return tf.stack(x, axis=axis)


def stop_gradient(variables: Sequence[Variable]) -> Any:
    """Tensors through which no gradient goes."""
    if isinstance(variables, list | tuple):
        return map(tf.stop_gradient, variables)
    return tf.stop_gradient(variables)


def temporal_padding(x: TensorLike, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Zeros before and after the steps of sequences."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def to_dense(tensor: Tensor) -> Tensor:
    """A sparse tensor as a dense one; another as it is."""
    return tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


def tile(x: Tensor, n: int) -> Any:
    """A tensor several times along its axes."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def transpose(x: Tensor) -> Any:
    """The axes in the opposite order."""
    return tf.transpose(x)


#: Every function of this module and of `enlarging` by its public name.
FUNCTIONS: Final[dict[str, Callable[..., object]]] = {
    **ENLARGING,
    **{name: _plain(name, dotted) for name, dotted in _PLAIN.items()},
    **{
        function.__name__: function
        for function in (
            arange,
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
