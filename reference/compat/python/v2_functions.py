"""The `..._v2` functions of TensorFlow's modules, reached by module paths only.

Most are those of version 1 with their arguments in another order, some fixed. Source: the
signatures of TF 2.21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import sessrun.reference as tf
from sessrun.reference.api.sparse_tensor import SparseTensor
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.build.argument_orders import in_order
from sessrun.reference.gradient.backprop import gradients

__all__ = [
    "and_",
    "assert_type_v2",
    "convert_to_int_tensor",
    "get_positive_axis",
    "invert_",
    "map_values",
    "or_",
    "scalar_mul_v2",
    "sparse_reduce_max_v2",
    "sparse_reduce_sum_v2",
    "tile_one_dimension",
    "xor_",
]


_COMPARED: Final = ("equal", "greater", "greater_equal", "less", "less_equal", "none_equal")
_SIGNS: Final = ("negative", "non_negative", "non_positive", "positive")
_RANKS: Final = {"rank": "rank", "rank_at_least": "rank", "rank_in": "ranks"}
_GRADIENTS: Final = (
    "ys xs grad_ys name gate_gradients aggregation_method stop_gradients unconnected_gradients"
)
_LOOP: Final = (
    "cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory "
    "maximum_iterations name"
)

_FIELDS: Final = "records record_defaults field_delim use_quote_delim na_value select_cols name"
_SEGMENTS: Final = "data indices segment_ids num_segments name sparse_gradient"
#: By name: the older function, the arguments in their order, and what it is always given besides.
_ORDERS: Final[Mapping[str, tuple[Any, ...]]] = {
    "argmax_v2": (tf.argmax, "input axis output_type name"),
    "argmin_v2": (tf.argmin, "input axis output_type name"),
    "assert_near_v2": (tf.assert_near, "x y rtol atol message summarize name"),
    "assert_scalar_v2": (tf.assert_scalar, "tensor message name"),
    "cond_for_tf_v2": (tf.cond, "pred true_fn false_fn name", {"strict": True}),
    "count_nonzero_v2": (tf.count_nonzero, "input* axis keepdims dtype name"),
    "decode_csv_v2": (tf.decode_csv, _FIELDS),
    "gradients_v2": (gradients, _GRADIENTS, {"colocate_gradients_with_ops": True}),
    "HessiansV2": (
        tf.hessians,
        "ys xs gate_gradients aggregation_method name",
        {"colocate_gradients_with_ops": True},
    ),
    "norm_v2": (tf.norm, "tensor ord axis keepdims name"),
    "reduce_join_v2": (tf.reduce_join, "inputs axis keepdims separator name"),
    "serialize_many_sparse_v2": (tf.serialize_many_sparse, "sp_input out_type name"),
    "serialize_sparse_v2": (tf.serialize_sparse, "sp_input out_type name"),
    "sparse_add_v2": (tf.sparse_add, "a b threshold"),
    "sparse_concat_v2": (
        tf.sparse_concat,
        "axis sp_inputs expand_nonconcat_dims name",
        {"expand_nonconcat_dim": None},
    ),
    "sparse_split_v2": (tf.sparse_split, "sp_input num_split axis name"),
    "string_length_v2": (tf.strings.length, "input unit name"),
    "substr_v2": (tf.strings.substr, "input pos len unit name"),
    "tuple_v2": (tf.tuple, "tensors control_inputs name"),
    "verify_tensor_all_finite_v2": (tf.verify_tensor_all_finite, "x* message* name"),
    "while_loop_v2": (tf.while_loop, _LOOP, {"return_same_structure": True}),
    **{
        f"assert_{name}_v2": (getattr(tf, f"assert_{name}"), "x y message summarize name")
        for name in _COMPARED
    },
    **{
        f"assert_{name}_v2": (getattr(tf, f"assert_{name}"), "x message summarize name")
        for name in _SIGNS
    },
    **{
        f"assert_{name}_v2": (getattr(tf, f"assert_{name}"), f"x {ranks} message name")
        for name, ranks in _RANKS.items()
    },
    **{
        f"{name}_v2": (getattr(tf, name), _SEGMENTS)
        for name in ("sparse_segment_mean", "sparse_segment_sqrt_n", "sparse_segment_sum")
    },
}

globals().update({name: in_order(name, *parts) for name, parts in _ORDERS.items()})
#: Those that are the same by another name.
globals().update(
    {
        "assert_integer_v2": tf.assert_integer,
        "foldl_v2": tf.foldl,
        "foldr_v2": tf.foldr,
        "map_fn_v2": tf.map_fn,
        "normalize": tf.linalg.normalize,
        "scan_v2": tf.scan,
        "set_seed": tf.set_random_seed,
        "substr_deprecated": tf.strings.substr,
    }
)


def sparse_reduce_max_v2(
    sp_input: Any,
    axis: int | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The greatest elements along axes, dense or sparse; `tf.sparse_reduce_max` tells the rest."""
    del name
    reduce = tf.sparse_reduce_max_sparse if output_is_sparse else tf.sparse_reduce_max
    return reduce(sp_input, axis, keepdims)


def sparse_reduce_sum_v2(
    sp_input: Any,
    axis: int | None = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Sums along axes, dense or sparse; `tf.sparse_reduce_sum` tells the rest."""
    del name
    reduce = tf.sparse_reduce_sum_sparse if output_is_sparse else tf.sparse_reduce_sum
    return reduce(sp_input, axis, keepdims)


def assert_type_v2(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Check the dtype while the graph is built; nothing is returned to wait for.

    Raises:
      TypeError: it is another.

    """
    tf.assert_type(tensor, tf_type, message, name)


def scalar_mul_v2(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar times a tensor, in a scope of that name."""
    with tf.name_scope(name, "scalar_mul", [x]) as scope:
        return tf.scalar_mul(scalar, x, scope)


def and_(x: Any, y: Any, name: str | None = None) -> Any:
    """Both, of bools; of integers the bits that both have."""
    return tf.logical_and(x, y, name) if x.dtype == tf.bool else tf.bitwise.bitwise_and(x, y)


def or_(x: Any, y: Any, name: str | None = None) -> Any:
    """One of two bools or both; of integers the bits that one has."""
    return tf.logical_or(x, y, name) if x.dtype == tf.bool else tf.bitwise.bitwise_or(x, y)


def xor_(x: Any, y: Any, name: str | None = None) -> Any:
    """One of two bools and not both; of integers the bits that just one has."""
    return tf.logical_xor(x, y, name) if x.dtype == tf.bool else tf.bitwise.bitwise_xor(x, y)


def invert_(x: Any, name: str | None = None) -> Any:
    """The other bool; of integers all other bits."""
    if x.dtype == tf.bool:
        return tf.logical_not(x, name=name)
    return tf.bitwise.invert(x, name=name)


def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of the values of sparse tensors, at their places.

    Args:
      op: the function; it keeps the number of the values.
      args: its arguments, of which the sparse ones are replaced by their values.
      kwargs: more of them.

    Raises:
      ValueError: none of them is sparse.
      InvalidArgumentError: when it is run, if sparse ones differ in places or shape.

    """
    given = [value for value in (*args, *kwargs.values()) if isinstance(value, SparseTensor)]
    if not given:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = given[0]
    alike = []
    for value in given[1:]:
        alike += [
            tf.assert_equal(first.dense_shape, value.dense_shape, message="Mismatched shapes!"),
            tf.assert_equal(first.indices, value.indices, message="Mismatched indices!"),
        ]
    with tf.control_dependencies(alike):
        named = {key: _values(value) for key, value in kwargs.items()}
        result = op(*[_values(value) for value in args], **named)
        return SparseTensor(first.indices, result, first.dense_shape)


def _values(value: Any) -> Any:
    return value.values if isinstance(value, SparseTensor) else value


def convert_to_int_tensor(tensor: Any, name: str, dtype: DTypeLike = tf.int32) -> Any:
    """The tensor as integers of that dtype.

    Raises:
      TypeError: it has another kind of elements.

    """
    integers = tf.convert_to_tensor(tensor, name=name, preferred_dtype=dtype or tf.int32)
    if not integers.dtype.is_integer:
        raise TypeError(
            f"Argument `tensor` (name: {name}) must be of type integer. Received "
            f"`tensor` = {integers} of dtype: {integers.dtype}"
        )
    return integers if dtype is None else tf.raw_ops.Cast(x=integers, DstT=dtype)


def get_positive_axis(
    axis: int, ndims: int | None, axis_name: str = "axis", ndims_name: str = "ndims"
) -> int:
    """The axis counted from the front.

    Raises:
      TypeError: it is no integer.
      ValueError: there is no such axis, or it is negative and the rank not known.

    """
    if not isinstance(axis, int):
        raise TypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if ndims is not None:
        if 0 <= axis < ndims:
            return axis
        if -ndims <= axis < 0:
            return axis + ndims
        raise ValueError(
            f"{axis_name}={axis} out of bounds: expected {-ndims}<={axis_name}<{ndims}"
        )
    if axis < 0:
        raise ValueError(
            f"{axis_name}={axis} may only be negative if {ndims_name} is statically known."
        )
    return axis


def tile_one_dimension(data: Any, axis: int, multiple: Any) -> Any:
    """A tensor repeated along one axis."""
    rank = data.shape.rank
    if rank is not None:
        return tf.tile(data, [multiple if dimension == axis else 1 for dimension in range(rank)])
    ones = tf.ones(tf.rank(data), tf.int32)
    multiples = tf.concat([ones[:axis], [multiple], ones[axis + 1 :]], 0)
    return tf.tile(data, multiples)
