"""SaveableObjects: the tensors of a variable to save, their names, and how they are restored."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops import array_ops
from sessrun.reference.api.variables import state_ops
from sessrun.reference.api.variables.ref_variables import RefVariable
from sessrun.reference.api.variables.resource_variables import ResourceVariable
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import identity
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "BaseSaverBuilder",
    "SaveSpec",
    "SaveableObject",
    "default_saveables",
    "saveables_of",
    "variables_by_name",
]

#: The operations whose outputs are references to variables.
_REFERENCES: Final = frozenset({"Variable", "VariableV2", "AutoReloadVariable"})
_READ: Final = "ReadVariableOp"


@dataclass(slots=True)
class SaveSpec:
    """One tensor to save.

    Attributes:
      tensor: the tensor.
      slice_spec: the full shape, offsets and sizes if the tensor is a part of a larger one, as
        SaveV2 takes them ("4 2 0,2:-"); empty for a tensor that is saved alone.
      name: the tensor's name in the checkpoint.
      dtype: the tensor's dtype.
      device: the device that the tensor is saved from, by default the tensor's.

    """

    tensor: Any
    slice_spec: str
    name: str
    dtype: Any = None
    device: str | None = None

    def __post_init__(self) -> None:
        if self.dtype is None:
            self.dtype = self.tensor.dtype
        if self.device is None:
            self.device = self.tensor.device


class SaveableObject:
    """Base class of objects that a Saver saves and restores; programs derive their own from it.

    Args:
      op: the variable or other object that is saved; a Saver saves each only once.
      specs: the tensors that make up its state.
      name: its name in the checkpoint.

    """

    def __init__(self, op: Any, specs: Sequence[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> str:
        """The device of its first tensor."""
        return self.specs[0].device or ""

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Sequence[TensorLike] | None
    ) -> Operation | Tensor:
        """The operation that assigns the tensors read from a checkpoint; subclasses define it.

        Args:
          restored_tensors: the tensors that were read, one for each spec.
          restored_shapes: shapes to give to them, one for each spec, or None for those they have.

        Raises:
          ValueError: the subclass does not define this method.

        """
        del restored_tensors, restored_shapes
        raise ValueError("Calling an abstract method.")


class _Reference(SaveableObject):
    """A reference variable."""

    def __init__(self, ref: Tensor, slice_spec: str, name: str, *, read: Any = None) -> None:
        super().__init__(
            ref,
            [SaveSpec(ref if read is None else read, slice_spec, name, ref.dtype.base_dtype)],
            name,
        )

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Tensor:
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        validate = restored_shapes is None and self.op.shape.is_fully_defined()
        result: Tensor = state_ops.assign(self.op, value, validate_shape=validate)
        return result


class _Resource(SaveableObject):
    """A resource variable: its handle, and a tensor that reads it."""

    def __init__(
        self,
        handle: Tensor,
        read: Tensor,
        slice_spec: str,
        name: str,
        *,
        value: object = None,
    ) -> None:
        self._handle = handle
        self._read = read
        saved = read if value is None else value
        super().__init__(read, [SaveSpec(saved, slice_spec, name, read.dtype, handle.device)], name)
        self.op = handle

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Operation:
        (value,) = restored_tensors
        if restored_shapes is not None:
            value = array_ops.reshape(value, restored_shapes[0])
        with default_graph.get_default_graph().device(self._handle.device):
            value = identity(value)
            inputs = {"resource": self._handle, "value": value}
            self._read.shape.assert_is_compatible_with(value.shape)
            return apply_op("AssignVariableOp", inputs, {})


def default_saveables() -> list[object]:
    """The global variables of the default graph, and its collection SAVEABLE_OBJECTS."""
    graph = default_graph.get_default_graph()
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    return variables + graph.get_collection(GraphKeys.SAVEABLE_OBJECTS)


def saveables_of(var_list: object) -> list[SaveableObject]:
    """The SaveableObjects of a list of variables, or of a dict from names to variables, by name.

    Raises:
      TypeError: `var_list` is neither a list nor a dict, or an element is not a variable.
      ValueError: two variables have the same name, or one variable has two names.

    """
    named = var_list if isinstance(var_list, dict) else variables_by_name(var_list)
    if not all(isinstance(name, str) for name in named):
        wrong = next(name for name in named if not isinstance(name, str))
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. "
            f"Name is not a string: {wrong}"
        )
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name, value in sorted(named.items()):
        for saveable in _saveables_named(name, value):
            if id(saveable.op) in seen:
                raise ValueError(f"The same saveable will be restored with two names: {name}")
            seen.add(id(saveable.op))
            saveables.append(saveable)
    return saveables


def variables_by_name(var_list: Any) -> dict[str, object]:
    """Variables by the names that they have in a checkpoint; a list for a partitioned variable.

    Raises:
      TypeError: `var_list` is not a list, tuple or set, or an element is not a variable.
      ValueError: two variables have the same name.

    """
    if not isinstance(var_list, list | tuple | set):
        raise TypeError(f"Variables to save should be passed in a dict or a list. Got {var_list}")
    named: dict[str, object] = {}
    for value in sorted(_flat(var_list), key=lambda item: item.name):
        slice_info = getattr(value, "_save_slice_info", None)
        if slice_info is not None:
            _add_part(named, slice_info.full_name, value)
            continue
        name, saved = _name_of(value)
        if name in named:
            raise ValueError(f"At least two variables have the same name: {name}")
        named[name] = saved
    return named


def _flat(values: Any) -> list[Any]:
    leaves: list[Any] = []
    for value in values:
        leaves += _flat(value) if isinstance(value, list | tuple) else [value]
    return leaves


def _add_part(named: dict[str, object], name: str, value: TensorLike) -> None:
    parts = named.setdefault(name, [])
    if not isinstance(parts, list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")  # noqa: TRY004 - as TensorFlow
    parts.append(value)


def _name_of(value: Any) -> tuple[str, Any]:
    """A variable's name in a checkpoint, and the tensor to save: its reference, or a read."""
    if isinstance(value, SaveableObject) or hasattr(value, "_get_variable_list"):
        return str(value.name), value
    tensor = _tensor_of(value)
    if tensor is None:
        raise TypeError(f"Variable to save is not a Variable: {convert_to_tensor(value)}")
    if tensor.op.type == _READ:
        return tensor.op.inputs[0].op.name, tensor
    return tensor.op.name, tensor


def _tensor_of(value: TensorLike) -> Tensor | None:
    """A variable's reference or the tensor that reads it; None if `value` is no variable."""
    if isinstance(value, RefVariable | ResourceVariable):
        return value._as_graph_element()  # noqa: SLF001 - the protocol of things in a graph
    if isinstance(value, Tensor):
        is_read = value.op.type == _READ and value.op.inputs[0].op.type == "VarHandleOp"
        if is_read or value.op.type in _REFERENCES:
            return value
    return None


def _saveables_named(name: str, value: TensorLike) -> list[SaveableObject]:
    """One SaveableObject for a variable, or one for each part of a partitioned variable."""
    if isinstance(value, SaveableObject):
        return [value]
    if hasattr(value, "_get_variable_list"):
        value = value._get_variable_list()  # noqa: SLF001 - the method of a variable in parts
    if isinstance(value, list | tuple):
        return _parts(name, value)
    tensor = _tensor_of(value)
    if tensor is None:
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a "
            f"variable: {convert_to_tensor(value)}"
        )
    if tensor.op.type == _READ:
        return [_Resource(tensor.op.inputs[0], tensor, "", name)]
    return [_Reference(tensor, "", name)]


def _parts(name: str, parts: Sequence[Any]) -> list[SaveableObject]:
    """A SaveableObject for each part of a variable, saved under `name`, not the variable's name."""
    saveables: list[SaveableObject] = []
    full_name: str | None = None
    for part in parts:
        info = getattr(part, "_save_slice_info", None)
        if info is None:
            raise ValueError(f"Slices must all be slices: {part}")
        full_name = full_name or info.full_name
        if info.full_name != full_name:
            raise ValueError(
                f"Slices must all be from the same tensor: {full_name} != {info.full_name}"
            )
        tensor = part._as_graph_element()  # noqa: SLF001 - the protocol of things in a graph
        if tensor.op.type == _READ:
            value = functools.partial(_read_beside, part)
            saveables.append(_Resource(tensor.op.inputs[0], tensor, info.spec, name, value=value))
        else:
            saveables.append(_Reference(tensor, info.spec, name, read=part.value()))
    return saveables


def _read_beside(part: Any) -> Tensor:
    """Read a part of a variable on its own device, and copy the value to the CPU to save it."""
    graph = default_graph.get_default_graph()
    with graph.device(part.device):
        value = part.read_value()
        with graph.device("/device:CPU:0"):
            return identity(value)


class BaseSaverBuilder:
    """The namespace of SaveSpec and SaveableObject, from which programs derive their own."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject
    OpListToDict = staticmethod(variables_by_name)
