"""Functions that set variables: `tf.assign` and its like, for both kinds of variable.

Each takes a reference (a reference variable, or what an assignment to one gives), or a resource
variable. With a reference it gives the reference after the update; with a resource variable a
variable whose reads see the update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sessrun.reference.api.ops.array_ops import concat, expand_dims, shape
from sessrun.reference.api.ops.fill_ops import ones_like
from sessrun.reference.api.ops.math_ops import range_
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.tensor_shape import ShapeLike, as_shape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.generated import reshape
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = [
    "Scatter",
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "is_variable_initialized",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "variable_op",
    "variable_op_v2",
]


def _is_reference(ref: Any) -> bool:
    is_ref: bool = ref.dtype._is_ref_dtype  # noqa: SLF001 - TensorFlow's own name
    return is_ref


def variable_op(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """The buffer of a reference variable alone, by the older operation.

    Args:
      shape: what it may hold.
      dtype: of what it holds.
      name: the operation's name.
      set_shape: whether the operation knows the shape.
      container: where the session keeps it.
      shared_name: the name it is kept under; the operation's own by default.

    """
    known = as_shape(shape if set_shape else None)
    attrs = {"shape": known, "dtype": dtype, "container": container, "shared_name": shared_name}
    ref = apply_op("Variable", {}, attrs, name).outputs[0]
    ref.set_shape(known)  # of a scalar the operation itself says nothing
    return ref


def variable_op_v2(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """The buffer of a reference variable alone; the arguments are those of `variable_op`."""
    attrs = {
        "shape": as_shape(shape),
        "dtype": dtype,
        "container": container,
        "shared_name": shared_name,
    }
    return apply_op("VariableV2", {}, attrs, name).outputs[0]


@public("assign")
def assign(
    ref: Any,
    value: object,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Set a variable.

    Args:
      ref: the variable.
      value: of its dtype and, unless `validate_shape` is off, of its shape.
      validate_shape: whether the shape must stay; a resource variable knows for itself.
      use_locking: whether no other locking update may come between; references only.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError, InvalidArgumentValueError: the value is of another dtype or shape.
      AttributeError: `ref` is a tensor and no reference.

    """
    if not _is_reference(ref):
        return ref.assign(value, name=name)
    attrs = {"validate_shape": validate_shape, "use_locking": use_locking}
    return apply_op("Assign", {"ref": ref, "value": value}, attrs, name).outputs[0]


@public("assign_add")
def assign_add(
    ref: Any,
    value: TensorLike,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Add to a variable; arguments and errors are those of `assign`."""
    if not _is_reference(ref):
        return ref.assign_add(value)  # without the name, as TensorFlow
    return _updated("AssignAdd", ref, value, use_locking, name)


@public("assign_sub")
def assign_sub(
    ref: Any, value: TensorLike, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtract from a variable; arguments and errors are those of `assign`."""
    if not _is_reference(ref):
        return ref.assign_sub(value)  # without the name, as TensorFlow
    return _updated("AssignSub", ref, value, use_locking, name)


def _updated(
    op_type: str, ref: Any, value: object, use_locking: bool | None, name: str | None
) -> Tensor:
    inputs = {"ref": ref, "value": value}
    return apply_op(op_type, inputs, {"use_locking": use_locking}, name).outputs[0]


@public("count_up_to")
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """The value of a scalar integer variable before it is increased by 1.

    When run at the limit it raises OutOfRangeError.

    Raises:
      InvalidArgumentTypeError: the variable is not of dtype int32 or int64.

    """
    if not _is_reference(ref):
        return apply_op(
            "ResourceCountUpTo", {"resource": ref.handle}, {"limit": limit, "T": ref.dtype}, name
        ).outputs[0]
    return apply_op("CountUpTo", {"ref": ref}, {"limit": limit}, name).outputs[0]


def is_variable_initialized(ref: Any, name: str | None = None) -> Tensor:
    """Whether the variable has been set: a bool scalar."""
    if not _is_reference(ref):
        known: Tensor = ref.is_initialized(name=name)
        return known
    return apply_op("IsVariableInitialized", {"ref": ref}, {}, name).outputs[0]


#: A scatter function: of a variable, indices and updates.
Scatter = Callable[..., Any]


def _scatter(kind: str, summary: str, *, locking: bool = False) -> Scatter:
    """The function of a scatter operation."""

    def scatter(
        ref: Any,
        indices: TensorLike,
        updates: TensorLike,
        use_locking: bool = locking,
        name: str | None = None,
    ) -> Any:
        inputs = {"indices": indices, "updates": updates}
        if not _is_reference(ref):
            return ref._scattered("ResourceScatter" + kind, inputs, name)  # noqa: SLF001 - the two go together
        attrs = {"use_locking": use_locking}
        return apply_op("Scatter" + kind, {"ref": ref, **inputs}, attrs, name).outputs[0]

    scatter.__doc__ = f"""{summary}

    Args:
      ref: the variable.
      indices: int32 or int64; rows, or with `scatter_nd` vectors along the last axis.
      updates: of the variable's dtype, one for each index.
      use_locking: whether no other locking update may come between; references only.
      name: the operation's name.

    Raises:
      InvalidArgumentTypeError, InvalidArgumentValueError: a dtype or shape is wrong.
      AttributeError: `ref` is a tensor and no reference.

    """
    return scatter


scatter_update: Final = _scatter("Update", "Replace rows of a variable.", locking=True)
scatter_add: Final = _scatter("Add", "Add to rows of a variable.")
scatter_sub: Final = _scatter("Sub", "Subtract from rows of a variable.")
scatter_mul: Final = _scatter("Mul", "Multiply rows of a variable.")
scatter_div: Final = _scatter("Div", "Divide rows of a variable.")
scatter_min: Final = _scatter("Min", "Lower rows of a variable to smaller updates.")
scatter_max: Final = _scatter("Max", "Raise rows of a variable to larger updates.")
scatter_nd_update: Final = _scatter("NdUpdate", "Replace slices of a variable.", locking=True)
scatter_nd_add: Final = _scatter("NdAdd", "Add to slices of a variable.")
scatter_nd_sub: Final = _scatter("NdSub", "Subtract from slices of a variable.")
scatter_nd_min: Final = _scatter("NdMin", "Lower slices of a variable to smaller updates.")
scatter_nd_max: Final = _scatter("NdMax", "Raise slices of a variable to larger updates.")


for _name, _function in {
    "scatter_update": scatter_update,
    "scatter_add": scatter_add,
    "scatter_sub": scatter_sub,
    "scatter_mul": scatter_mul,
    "scatter_div": scatter_div,
    "scatter_min": scatter_min,
    "scatter_max": scatter_max,
    "scatter_nd_update": scatter_nd_update,
    "scatter_nd_add": scatter_nd_add,
    "scatter_nd_sub": scatter_nd_sub,
}.items():
    _function.__name__ = _function.__qualname__ = _name
    public(_name)(_function)


@public("batch_scatter_update")
def batch_scatter_update(
    ref: object, indices: object, updates: object, use_locking: bool = True, name: str | None = None
) -> Any:
    """Replace elements along the dimension that is the indices' last.

    Args:
      ref: the variable.
      indices: int32 or int64; all dimensions but the last are those of the variable.
      updates: of the variable's dtype, one for every index.
      use_locking: whether no other locking update may come between; references only.
      name: the operations' scope.

    Raises:
      ValueError: the rank of the indices is not known.

    """
    with name_scope(name):
        places = convert_to_tensor(indices, name="indices")
        sizes = shape(places)
        rank = places.shape.ndims
        if rank is None:
            raise bad_value("batch_scatter_update does not allow indices with unknown shape.")
        wide = expand_dims(places, axis=-1)
        vectors = []
        for axis in range(rank - 1):
            size = sizes[axis]
            spread: list[object] = [1] * (rank + 1)
            spread[axis] = size
            numbers = range_(0, size, dtype=places.dtype, name="Range")
            vectors.append(reshape(numbers, spread) * ones_like(wide))
        full_indices = concat([*vectors, wide], axis=-1)
        return scatter_nd_update(ref, full_indices, updates, use_locking=use_locking)
