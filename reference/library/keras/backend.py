"""`tf.keras.backend`: the session and the settings of Keras, and functions under its names.

Source: tf_keras 2.21 in graph mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.base.tensor_shape import ShapeLike
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras.activations import (
    elu,
    hard_sigmoid,
    relu,
    sigmoid,
    softmax,
    softplus,
    softsign,
    tanh,
)
from sessrun.reference.library.keras.batch_dot import batch_dot
from sessrun.reference.library.keras.convolutions import (
    bias_add,
    conv1d,
    conv2d,
    conv3d,
    pool2d,
    pool3d,
    spatial_2d_padding,
    spatial_3d_padding,
)
from sessrun.reference.library.keras.crossentropies import (
    binary_crossentropy,
    categorical_crossentropy,
    sparse_categorical_crossentropy,
)
from sessrun.reference.library.keras.functions import FUNCTIONS
from sessrun.reference.library.keras.graph_functions import function
from sessrun.reference.library.keras.learning_phases import (
    in_test_phase,
    in_train_phase,
    learning_phase,
    learning_phase_scope,
    set_learning_phase,
    switch,
)
from sessrun.reference.library.keras.naming import get_uid, reset_uids
from sessrun.reference.library.keras.rnn import rnn
from sessrun.reference.library.keras.sessions import (
    batch_get_value,
    batch_set_value,
    clear_session,
    get_session,
    get_value,
    manual_variable_initialization,
    set_session,
    set_value,
    variable,
)
from sessrun.reference.library.keras.sessions import evaluated as eval  # noqa: A004 - the name that programs use
from sessrun.reference.library.keras.settings import (
    epsilon,
    float_array,
    floatx,
    image_data_format,
    set_epsilon,
    set_floatx,
    set_image_data_format,
)

__all__ = [
    "batch_dot",
    "batch_get_value",
    "batch_set_value",
    "bias_add",
    "binary_crossentropy",
    "cast",
    "cast_to_floatx",
    "categorical_crossentropy",
    "clear_session",
    "clip",
    "concatenate",
    "constant",
    "conv1d",
    "conv2d",
    "conv3d",
    "count_params",
    "dtype",
    "elu",
    "epsilon",
    "eval",
    "flatten",
    "floatx",
    "function",
    "get_session",
    "get_uid",
    "get_value",
    "hard_sigmoid",
    "image_data_format",
    "in_test_phase",
    "in_train_phase",
    "int_shape",
    "learning_phase",
    "learning_phase_scope",
    "manual_variable_initialization",
    "name_scope",
    "ndim",
    "placeholder",
    "pool2d",
    "pool3d",
    "relu",
    "reset_uids",
    "rnn",
    "set_epsilon",
    "set_floatx",
    "set_image_data_format",
    "set_learning_phase",
    "set_session",
    "set_value",
    "sigmoid",
    "softmax",
    "softplus",
    "softsign",
    "sparse_categorical_crossentropy",
    "spatial_2d_padding",
    "spatial_3d_padding",
    "switch",
    "tanh",
    "variable",
]

name_scope = tf.name_scope


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """A tensor in another dtype."""
    return tf.cast(x, dtype)


def cast_to_floatx(x: Tensor) -> Tensor | HostArray:
    """A tensor in the default dtype of floats; any other value as an array of that dtype."""
    return tf.cast(x, floatx()) if tf.is_tensor(x) else float_array(x)


def clip(x: Tensor, min_value: float | None, max_value: float | None) -> Tensor:
    """Clip a tensor to [min_value, max_value]; None leaves that side open."""
    least = -float("inf") if min_value is None else min_value
    most = float("inf") if max_value is None else max_value
    if isinstance(least, int | float) and isinstance(most, int | float):
        most = max(least, most)
    return tf.clip_by_value(x, least, most)


def concatenate(tensors: Sequence[Tensor], axis: int = -1) -> Tensor:
    """Concatenate tensors along an axis."""
    if axis < 0:
        rank = tensors[0].shape.rank
        axis = axis % rank if rank else 0
    return tf.concat(list(tensors), axis)


def constant(
    value: TensorLike,
    dtype: DType | None = None,
    shape: ShapeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """A constant, by default of the default dtype of floats."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


def count_params(x: Tensor | Variable) -> np.generic:
    """The number of elements of a tensor of known shape, as `np.prod` returns it."""
    return np.prod(tf.TensorShape(x.shape).as_list())


def dtype(x: Tensor) -> str:
    """The name of a tensor's dtype."""
    return str(x.dtype.base_dtype.name)


def flatten(x: Tensor) -> Tensor:
    """All elements as a vector."""
    return tf.reshape(x, [-1])


def int_shape(x: Tensor) -> tuple[int | None, ...] | None:
    """The static shape as a tuple, None for an unknown size; None for an unknown rank."""
    return None if x.shape.rank is None else tuple(x.shape.as_list())


def ndim(x: Tensor) -> int | None:
    """The rank, if it is known."""
    rank: int | None = x.shape.rank
    return rank


def placeholder(
    shape: ShapeLike | None = None,
    ndim: int | None = None,
    dtype: DTypeLike | None = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Tensor:
    """A placeholder, by default of the default dtype of floats.

    Args:
      shape: its shape.
      ndim: its rank, where no shape is given.
      dtype: its dtype.
      sparse: whether the placeholder is that of a sparse tensor.
      name: its name.
      ragged: whether it is that of a ragged tensor; not supported.

    Raises:
      NotImplementedError: `ragged` is set.

    """
    if ragged:
        raise NotImplementedError("There are no placeholders of rows of different lengths.")
    sizes = [None] * ndim if not shape and ndim else shape
    make = tf.sparse_placeholder if sparse else tf.placeholder
    return make(dtype or floatx(), shape=sizes, name=name)


def __getattr__(name: str) -> Callable[..., object]:
    """Look a function up in the table: many would shadow Python's own names if defined here."""
    if name in FUNCTIONS:
        return FUNCTIONS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names of this module, and of the table."""
    return sorted({*globals(), *FUNCTIONS})
