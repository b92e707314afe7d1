"""The unique names of a graph's operations, and the scopes that apply to new operations."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.thread_scopes import (
    ControlScope,
    DeviceScope,
    Fields,
    ScopeEntry,
    Scopes,
    ScopesOfThread,
    bad_nesting_of_devices,
)
from sessrun.spec import devices
from sessrun.spec.proto import AttrValue

__all__ = ["GraphScopes"]

_OP_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_SCOPE_NAME: Final = re.compile(r"[A-Za-z0-9_.\\/>-]*")
#: The attribute that TensorFlow sets on an operation that is in `control_dependencies`.
_MANUAL_DEPENDENCIES: Final = "_has_manual_control_dependencies"
_TRUE: Final = AttrValue(b=True)


class GraphScopes:
    """The base of Graph with its scopes and the names that its operations and scopes have.

    Attributes:
      lock: held while the graph changes.

    """

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self._scopes_of_thread = ScopesOfThread()
        self._names_in_use: dict[str, int] = {}

    @property
    def scopes(self) -> Scopes:
        """The open scopes of the current thread."""
        return self._scopes_of_thread.scopes

    def _operation_of(self, value: object) -> Operation:
        """The operation itself, or the one that computes a value."""
        raise NotImplementedError

    # -- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current name scope, with `_1`, `_2`, ... if it is taken (case ignored)."""
        return self.unique_full_name(self.scopes.name + name, mark_as_used=mark_as_used)

    def unique_full_name(self, full: str, *, mark_as_used: bool = True) -> str:
        """As `unique_name`, of a name that includes its scopes."""
        key = full.lower()
        self.lock.acquire()  # which takes half the time of a `with`
        try:
            used = self._names_in_use
            count = used.get(key, 0)
            if mark_as_used:
                used[key] = count + 1
            if count == 0:
                return full
            while (numbered := f"{key}_{count}") in used:
                count += 1
            if mark_as_used:
                used[numbered] = 1
        finally:
            self.lock.release()
        return f"{full}_{count}"

    def note_name(self, full: str) -> None:
        """Mark the name of an imported operation as taken."""
        with self.lock:
            self._names_in_use.setdefault(full.lower(), 1)

    def check_name(self, name: str | bytes) -> None:
        """Check the name of an operation.

        Raises:
          ValueError: with the current name scope it is not a valid name of an operation.

        """
        self._full_name(name.decode() if isinstance(name, bytes) else name)

    def name_of_new(self, name: str | bytes) -> str:
        """The unique name of a new operation; for a name with a final "/" that name without it.

        Raises:
          ValueError: `name` is not a valid name.

        """
        if isinstance(name, bytes):
            name = name.decode()
        full = self._full_name(name)
        return full if name[-1:] == "/" else self.unique_full_name(full)

    def _full_name(self, name: str) -> str:
        """The name of an operation in the scope that is open; checked."""
        full = name[:-1] if name[-1:] == "/" else self._scopes_of_thread.scopes.name + name
        if not _OP_NAME.fullmatch(full):
            raise ValueError(f"'{name}' is not a valid node name")
        return full

    def get_name_scope(self) -> str:
        """The current name scope, without the final "/"."""
        return self.scopes.name[:-1]

    def name_scope(self, name: str | bytes | None) -> ScopeEntry[str]:
        """Open a name scope under a unique name; yields its name, with a final "/".

        None or an empty name is the root; a name with a final "/" opens that scope again.

        Raises:
          ValueError: on entering: `name` is not a valid scope name.

        """

        def opened() -> tuple[Scopes, Fields, str]:
            scope = self.name_of_scope(name)
            return self.scopes, {"name": scope}, scope

        return ScopeEntry(opened)

    def name_of_scope(self, name: str | bytes | None) -> str:
        """The full name of a new name scope, which is taken from now on; see `name_scope`."""
        if not name:
            return ""
        if isinstance(name, bytes):
            name = name.decode()
        around = self.scopes.name
        pattern, what = (_SCOPE_NAME, "") if around else (_OP_NAME, "root ")
        if not pattern.fullmatch(name):
            raise ValueError(
                f"'{name}' is not a valid {what}scope name. A {what}scope name has to match "
                f"the following pattern: ^{pattern.pattern}$"
            )
        return name if name[-1] == "/" else self.unique_full_name(around + name) + "/"

    # -- scopes

    def device(self, device_name_or_function: object) -> ScopeEntry[None]:
        """Ask for a device: a name merged into outer ones, a function of the operation, or None.

        Raises:
          ValueError: on entering: the name is not the name of a device.

        """
        spec: Any = device_name_or_function

        def opened() -> tuple[Scopes, Fields, None]:
            scopes = self.scopes
            scope = None if spec is None else DeviceScope(_device_spec(spec), scopes.device)
            return scopes, scopes.device_fields(scope), None

        return ScopeEntry(opened, bad_nesting_of_devices)

    def colocate_with(
        self, op: object, ignore_existing: bool = False
    ) -> AbstractContextManager[None]:
        """Ask for the device of `op`.

        Raises:
          ValueError: `op` is None and `ignore_existing` is not set.

        """
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        groups: tuple[Operation, ...] = () if ignore_existing else self.scopes.colocation
        if op is not None:
            if not isinstance(op, Operation):
                op = self._operation_of(op)
            groups = (*groups, op)
        return self.scopes.replaced(colocation=groups, device=None, device_text="")

    def control_dependencies(
        self, control_inputs: Iterable[object] | None
    ) -> AbstractContextManager[None]:
        """Make operations wait for these operations or tensors; None forgets the outer ones.

        Raises:
          TypeError, ValueError, KeyError: on entering, as `as_graph_element`.

        """
        if control_inputs is None:
            return ScopeEntry(lambda: (self.scopes, {"control": None, "control_flow": None}, None))

        def opened() -> tuple[Scopes, Fields, None]:
            wanted = dict.fromkeys(map(self._operation_of, control_inputs))
            for op in wanted:
                op.extra[_MANUAL_DEPENDENCIES] = _TRUE
            scopes = self.scopes
            outer = scopes.control
            known = frozenset() if outer is None else outer.waits_for()
            scope = ControlScope(tuple(op for op in wanted if op not in known), outer)
            return scopes, {"control": scope}, None

        return ScopeEntry(opened, _bad_nesting_of_control)

    def container(self, container_name: str) -> AbstractContextManager[str]:
        """Keep the resources of stateful operations in this container; yields its name."""
        return ScopeEntry(lambda: (self.scopes, {"container": container_name}, container_name))

    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> ScopeEntry[None]:
        """Use another gradient function for operations of these types.

        Raises:
          TypeError: `op_type_map` is not a mapping of strings to strings.

        """
        checked = _of_strings(op_type_map, "op_type_map")
        return self.scopes.replaced(gradient_types={**self.scopes.gradient_types, **checked})

    def _kernel_label_map(self, op_to_kernel_label_map: Mapping[str, str]) -> ScopeEntry[None]:
        """Ask for the kernels with these labels for operations of these types; "" for any.

        Raises:
          TypeError: `op_to_kernel_label_map` is not a mapping of strings to strings.

        """
        checked = _of_strings(op_to_kernel_label_map, "op_to_kernel_label_map")
        return self.scopes.replaced(kernel_labels={**self.scopes.kernel_labels, **checked})

    def switch_to_thread_local(self) -> None:
        """Do nothing: the scopes belong to a thread from the start."""

    def _original_op(self, op: Operation) -> ScopeEntry[None]:
        """Note of operations that they stand for this one."""
        return self.scopes.replaced(original=op)

    def _attr_scope(self, attrs: Mapping[str, object]) -> ScopeEntry[None]:
        """Give operations these undeclared attributes too; None takes one back."""
        merged = {**self.scopes.attrs, **attrs}
        kept = {name: value for name, value in merged.items() if value is not None}
        return self.scopes.replaced(attrs=kept)


def _bad_nesting_of_control() -> AssertionError:
    """The error for a `control_dependencies` that is left before one inside it."""
    return AssertionError("Exiting control scope without proper scope nesting.")


def _device_spec(spec: Any) -> Any:
    """The parsed name of a device; a function as it is."""
    if callable(spec):
        return spec
    return devices.parse(spec.to_string() if hasattr(spec, "to_string") else spec)


def _of_strings(mapping: object, name: str) -> Mapping[str, str]:
    if not isinstance(mapping, dict) or not all(
        isinstance(item, str) for pair in mapping.items() for item in pair
    ):
        raise TypeError(f"{name} must be a dictionary mapping strings to strings")
    return mapping
