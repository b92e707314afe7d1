"""Variables: what each operation on one does, in numpy, in the arithmetic of its dtype.

Integers wrap around and are divided towards zero; a half or bfloat16 is rounded after every
operation; one occurrence of an index comes after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sessrun.spec.model.run import kernel
from sessrun.spec.model.stateless import fits
from sessrun.spec.model.values import FailedError, Handle, Value, Variable, handle_of

if TYPE_CHECKING:
    from sessrun.spec.model.run import Activity

__all__ = ["combined", "rows_updated", "vectors_updated"]

#: What the name of an update says: as in `ScatterAdd`, `ResourceScatterNdUpdate`.
_KINDS: Final = ("Update", "Add", "Sub", "Mul", "Div", "Min", "Max")


def combined(kind: str, old: np.ndarray, update: np.ndarray) -> np.ndarray:
    """Each element of `old` with that of `update`, of one dtype."""
    with np.errstate(all="ignore"):
        match kind:
            case "Update":
                values = np.broadcast_to(update, old.shape)
            case "Add":
                values = np.add(old, update)
            case "Sub":
                values = np.subtract(old, update)
            case "Mul":
                values = np.multiply(old, update)
            case "Div":
                values = _quotient(old, update)
            case "Min":
                values = np.minimum(old, update)
            case _:
                values = np.maximum(old, update)
    return np.array(values, old.dtype)


def _quotient(old: np.ndarray, by: np.ndarray) -> np.ndarray:
    if old.dtype.kind not in "iu":
        return np.asarray(np.divide(old, by))
    pairs = zip(old.reshape(-1).tolist(), by.reshape(-1).tolist(), strict=True)
    quotients = [(abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    info = np.iinfo(old.dtype)
    wrapped = [(q - int(info.min)) % 2**info.bits + int(info.min) for q in quotients]
    return np.array(wrapped, old.dtype).reshape(old.shape)


def rows_updated(
    kind: str, old: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> np.ndarray:
    """The array after a row update; updates of rank 0 serve every row."""
    after = old.copy()
    flat = indices.reshape(-1)
    shape = flat.shape + old.shape[1:]
    rows = updates.reshape(shape) if updates.ndim else np.broadcast_to(updates, shape)
    for number, row in enumerate(flat.tolist()):
        after[row] = combined(kind, after[row : row + 1], rows[number : number + 1])[0]
    return after


def vectors_updated(
    kind: str, old: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> np.ndarray:
    """The array after an update at index vectors."""
    after = old.copy()
    for number, vector in enumerate(indices.tolist()):
        part = np.asarray(after[tuple(vector)], old.dtype)
        updated = combined(kind, part, np.asarray(updates[number], old.dtype))
        after[tuple(vector)] = updated if updated.ndim else updated[()]
    return after


# --- where variables are -------------------------------------------------------------------


@kernel("Variable", "VariableV2")
def _reference(activity: Activity) -> Sequence[Value]:
    attrs = activity.node.attrs
    # The older operation says by an empty shape that it knows none.
    shape = attrs["shape"] or None if activity.node.type == "Variable" else attrs["shape"]
    handle = handle_of(activity.node, "reference variable")
    variable = activity.session.resource(
        handle, lambda: Variable(handle.name, attrs["dtype"], shape)
    )
    if (variable.dtype, variable.shape) != (attrs["dtype"], shape):
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} has another dtype or shape")
    return [variable]


@kernel("VarHandleOp")
def _handle(activity: Activity) -> Sequence[Value]:
    return [handle_of(activity.node, "variable")]


def _held(activity: Activity, handle: Handle) -> Variable:
    """The variable that a handle names.

    Raises:
      FailedError: it has no value.

    """
    variable: Variable | None = activity.session.resources.get(handle)
    if variable is None:
        raise FailedError("FAILED_PRECONDITION", f"{handle.name} is not initialized")
    return variable


def _check_dtype(activity: Activity, variable: Variable) -> None:
    if activity.node.attrs["dtype"] != variable.dtype:
        raise FailedError("INVALID_ARGUMENT", f"{variable.name} has dtype {variable.dtype}")


@kernel("ReadVariableOp")
def _read(activity: Activity, handle: Handle) -> Sequence[Value]:
    variable = _held(activity, handle)
    _check_dtype(activity, variable)
    return [variable.read()]


@kernel("VariableShape")
def _shape(activity: Activity, handle: Handle) -> Sequence[Value]:
    shape = _held(activity, handle).read().shape
    return [np.array(shape, activity.node.attrs["out_type"])]


@kernel("VarIsInitializedOp")
def _is_initialized(activity: Activity, handle: Handle) -> Sequence[Value]:
    return [np.bool_(handle in activity.session.resources)]


@kernel("IsVariableInitialized")
def _holds(_: Activity, variable: Variable) -> Sequence[Value]:
    return [np.bool_(variable.value is not None)]


@kernel("DestroyResourceOp")
def _destroy(activity: Activity, handle: Handle) -> Sequence[Value]:
    is_missing = activity.session.resources.pop(handle, None) is None
    if is_missing and not activity.node.attrs["ignore_lookup_error"]:
        raise FailedError("NOT_FOUND", f"there is no {handle.name}")
    return []


# --- assignments ---------------------------------------------------------------------------


@kernel("Assign")
def _assign(activity: Activity, variable: Variable, value: np.ndarray) -> Sequence[Value]:
    if activity.node.attrs["validate_shape"] and not fits(value.shape, variable.shape):
        raise FailedError("INVALID_ARGUMENT", f"{variable.name} has shape {variable.shape}")
    variable.value = value
    return [variable]


@kernel("AssignAdd", "AssignSub")
def _assign_sum(activity: Activity, variable: Variable, value: np.ndarray) -> Sequence[Value]:
    variable.value = _sum(activity.node.type[6:9], variable, value)
    return [variable]


@kernel("AssignVariableOp")
def _assign_resource(activity: Activity, handle: Handle, value: np.ndarray) -> Sequence[Value]:
    attrs = activity.node.attrs
    variable = activity.session.resource(
        handle, lambda: Variable(handle.name, attrs["dtype"], None)
    )
    _check_dtype(activity, variable)
    held = variable.value
    if attrs["validate_shape"] and held is not None and held.shape != value.shape:
        raise FailedError("INVALID_ARGUMENT", f"{handle.name} has another shape")
    variable.value = value
    return []


@kernel("AssignAddVariableOp", "AssignSubVariableOp")
def _assign_resource_sum(activity: Activity, handle: Handle, value: np.ndarray) -> Sequence[Value]:
    variable = _held(activity, handle)
    _check_dtype(activity, variable)
    variable.value = _sum(activity.node.type[6:9], variable, value)
    return []


def _sum(kind: str, variable: Variable, value: np.ndarray) -> np.ndarray:
    old = variable.read()
    if old.shape != value.shape:
        raise FailedError("INVALID_ARGUMENT", f"{variable.name} has shape {old.shape}")
    return combined(kind, old, value)


# --- rows and elements ---------------------------------------------------------------------


@kernel(*(f"Scatter{kind}" for kind in _KINDS))
def _scatter(
    activity: Activity, variable: Variable, indices: np.ndarray, updates: np.ndarray
) -> Sequence[Value]:
    kind = activity.node.type.removeprefix("Scatter")
    variable.value = _rows(kind, variable.read(), indices, updates)
    return [variable]


@kernel(*(f"ResourceScatter{kind}" for kind in _KINDS))
def _scatter_resource(
    activity: Activity, handle: Handle, indices: np.ndarray, updates: np.ndarray
) -> Sequence[Value]:
    variable = _held(activity, handle)
    _check_dtype(activity, variable)
    kind = activity.node.type.removeprefix("ResourceScatter")
    variable.value = _rows(kind, variable.read(), indices, updates)
    return []


def _rows(kind: str, old: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    if not old.ndim:
        raise FailedError("INVALID_ARGUMENT", "a scalar has no rows")
    if updates.ndim and updates.shape != indices.shape + old.shape[1:]:
        raise FailedError("INVALID_ARGUMENT", "the updates do not fit the rows")
    if ((indices < 0) | (indices >= old.shape[0])).any():
        raise FailedError("INVALID_ARGUMENT", "an index is out of range")
    return rows_updated(kind, old, indices, updates)


@kernel("ResourceGather")
def _gather(activity: Activity, handle: Handle, indices: np.ndarray) -> Sequence[Value]:
    if activity.node.attrs["batch_dims"]:
        raise FailedError("UNIMPLEMENTED", "the model gathers without batch dimensions")
    value = _held(activity, handle).read()
    if not value.ndim or ((indices < 0) | (indices >= value.shape[0])).any():
        raise FailedError("INVALID_ARGUMENT", "an index is out of range")
    return [value[indices]]
