"""The scopes of a graph in one thread: names, devices, colocation, control edges, container.

Each `with` of `Graph` (`name_scope`, `device`, ...) replaces one field of the thread's
`Scopes` for its duration; an operation that is created reads them all.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sessrun.reference.base.attributes import Attrs
from sessrun.reference.graph.entry import DecoratingEntry
from sessrun.spec import devices

if TYPE_CHECKING:
    from sessrun.reference.graph.operation import Operation

__all__ = [
    "ControlScope",
    "DeviceScope",
    "Fields",
    "ScopeEntry",
    "Scopes",
    "ScopesOfThread",
    "bad_nesting_of_devices",
]

Value = TypeVar("Value")
#: Fields of `Scopes` by name, with their values.
Fields: TypeAlias = Mapping[str, object]


@dataclass(eq=False)
class ControlScope:
    """One `control_dependencies`: its operations, and those created inside it.

    An operation with an input that was created inside the scope needs no edge from it: the input's
    own edge is enough.
    """

    control_inputs: tuple[Operation, ...]
    outer: ControlScope | None
    operations: set[Operation] = field(default_factory=set)

    def waits_for(self) -> frozenset[Operation]:
        """The operations of this scope and of those around it."""
        around = frozenset() if self.outer is None else self.outer.waits_for()
        return around.union(self.control_inputs)


@dataclass(frozen=True)
class DeviceScope:
    """One `device`: a parsed name or a function of the operation; `outer` None at `None`."""

    spec: devices.DeviceName | Callable[[Any], Any]
    outer: DeviceScope | None

    @property
    def is_static(self) -> bool:
        """Whether no function is involved."""
        scope: DeviceScope | None = self
        while scope is not None:
            if not isinstance(scope.spec, devices.DeviceName):
                return False
            scope = scope.outer
        return True

    def of(self, operation: Operation) -> str:
        """The device of a new operation, merged from the innermost scope outwards.

        Raises:
          TypeError: a device function returned no string.
          ValueError: it returned no device name where an outer scope must be merged.

        """
        scope: DeviceScope | None = self
        while scope is not None:
            operation._set_device(scope._merged(operation))  # noqa: SLF001 - set step by step, as functions may look
            scope = scope.outer
        return operation.device

    def _merged(self, operation: Operation) -> str:
        if isinstance(self.spec, devices.DeviceName):
            return str(devices.parse(operation.device).over(self.spec))
        device = self.spec(operation)
        if hasattr(device, "to_string"):
            device = device.to_string()
        if isinstance(device, bytes):
            device = device.decode()
        if not isinstance(device, str):
            raise TypeError(f"Expected binary or unicode string, got {device!r}")
        return device


class Scopes:
    """The open scopes of a graph in a thread, which apply to its next operation.

    Attributes:
      name: the name scope, which ends with "/" unless it is empty.
      device: the innermost device scope, or None.
      device_text: the device that it asks for; None if a function of the operation says it.
      colocation: the operations to be colocated with.
      control: the innermost scope of control dependencies, or None.
      container: the container of stateful operations.
      gradient_types: by op type the gradient function to use instead.
      kernel_labels: by op type the label of the kernel.
      attrs: undeclared attributes for every operation.
      original: the operation that new ones stand for, or None.
      variables: what `variable_scopes` keeps here.
      variable_creators: the creators of variables, outermost first.
      control_flow: the innermost context of control flow, or None.

    """

    __slots__ = (
        "attrs",
        "colocation",
        "container",
        "control",
        "control_flow",
        "device",
        "device_text",
        "gradient_types",
        "kernel_labels",
        "name",
        "original",
        "variable_creators",
        "variables",
    )

    def __init__(self) -> None:
        self.name = ""
        self.device: DeviceScope | None = None
        self.device_text: str | None = ""
        self.colocation: tuple[Operation, ...] = ()
        self.control: ControlScope | None = None
        self.container = ""
        self.gradient_types: Mapping[str, str] = {}
        self.kernel_labels: Mapping[str, str] = {}
        self.attrs: Attrs = {}
        self.original: Operation | None = None
        self.variables: Any = None
        self.variable_creators: tuple[Callable[..., object], ...] = ()
        self.control_flow: Any = None

    def attrs_of(self, op_type: str) -> Iterator[tuple[str, str]]:
        """The attributes that operations of this type get, beside those for all of them."""
        if op_type in self.gradient_types:
            yield "_gradient_op_type", self.gradient_types[op_type]
        if op_type in self.kernel_labels:
            yield "_kernel", self.kernel_labels[op_type]

    def replaced(
        self, violation: Callable[[], Exception] | None = None, /, **fields: object
    ) -> ScopeEntry[None]:
        """The `with` inside which these fields have these values.

        Args:
          violation: gives the error where an inner scope has not been left; nothing is set back.
          **fields: the fields.

        """
        return ScopeEntry(lambda: (self, fields, None), violation)

    def none_open(self) -> ScopeEntry[None]:
        """The `with` in which no scope is open."""
        return self.replaced(
            name="",
            device=None,
            device_text="",
            colocation=(),
            control=None,
            container="",
            gradient_types={},
            kernel_labels={},
            attrs={},
            original=None,
        )

    def beside(self, operations: Iterable[Operation]) -> ScopeEntry[None]:
        """The `with` of colocation with these operations too; device scopes are left."""
        groups = (*self.colocation, *operations)
        return self.replaced(colocation=groups, device=None, device_text="")

    def device_fields(self, scope: DeviceScope | None) -> Fields:
        """The fields that a device scope (None: no device) replaces."""
        text: str | None = ""
        if scope is not None:
            text = _static_text(scope) if scope.is_static else None
        return {"device": scope, "device_text": text}

    def entered_device(self, scope: DeviceScope | None) -> ScopeEntry[None]:
        """The `with` of a device scope (None: no device)."""
        return ScopeEntry(lambda: (self, self.device_fields(scope), None), bad_nesting_of_devices)

    def control_inputs_of(self, inputs: Any) -> list[Operation]:
        """The control inputs of a new operation that has these operations as inputs."""
        controls: dict[Operation, None] = {}
        ops = set(inputs)
        layers = []
        scope = self.control
        while scope is not None:
            layers.append(scope)
            scope = scope.outer
        for layer in reversed(layers):
            if ops.isdisjoint(layer.operations):
                for op in layer.control_inputs:
                    if op not in ops:
                        controls[op] = None
        return list(controls)

    def note(self, operation: Operation) -> None:
        """Add the operation to the open control scopes."""
        scope = self.control
        while scope is not None:
            scope.operations.add(operation)
            scope = scope.outer


class ScopesOfThread(threading.local):
    """The scopes of a graph in the thread that asks.

    Attributes:
      scopes: the open ones.

    """

    def __init__(self) -> None:
        self.scopes = Scopes()


class ScopeEntry(DecoratingEntry[Value, tuple[Scopes, Fields, Fields]]):
    """The `with` inside which fields of the open scopes have other values.

    Args:
      opened: called on entering: the scopes, their new fields, and the value of `as`.
      violation: gives the error where an inner scope has not been left; nothing is set back.

    """

    def __init__(
        self,
        opened: Callable[[], tuple[Scopes, Fields, Value]],
        violation: Callable[[], Exception] | None = None,
    ) -> None:
        super().__init__()
        self._opened = opened
        self._violation = violation

    def enter(self) -> tuple[Value, tuple[Scopes, Fields, Fields]]:
        """Replace the fields."""
        scopes, fields, value = self._opened()
        before = {}
        for name, new in fields.items():
            before[name] = getattr(scopes, name)
            setattr(scopes, name, new)
        return value, (scopes, fields, before)

    def leave(self, state: tuple[Scopes, Fields, Fields], *, is_abandoned: bool) -> None:
        """Set the fields back, also where nobody left the `with`."""
        del is_abandoned
        scopes, fields, before = state
        if self._violation is not None:
            for name, value in fields.items():
                if getattr(scopes, name) is not value:
                    raise self._violation()
        for name, value in before.items():
            setattr(scopes, name, value)


def bad_nesting_of_devices() -> RuntimeError:
    """The error for a device scope that is left before one inside it."""
    return RuntimeError("Exiting device scope without proper scope nesting.")


def _static_text(scope: DeviceScope) -> str:
    name = devices.DeviceName()
    layer: DeviceScope | None = scope
    while layer is not None:
        assert isinstance(layer.spec, devices.DeviceName)
        name = name.over(layer.spec)
        layer = layer.outer
    return str(name)
