"""Critical sections: parts of a graph that no two runs, and no two executions, do at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.tensor_arrays import TensorArray
from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.framework_ops import group, identity, tuple_
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.name_scopes import init_scope, name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["CRITICAL_SECTIONS", "CRITICAL_SECTION_EXECUTIONS", "CriticalSection"]

#: The collections of sections, and of the operations that are executed in them.
CRITICAL_SECTIONS: Final = "critical_sections"
CRITICAL_SECTION_EXECUTIONS: Final = "critical_section_executions"


class Execution(NamedTuple):
    """One execution of a critical section.

    Attributes:
      op: the operation that takes the section's lock.
      handle: the section's lock.
      resources: the handles that the operations in it take.
      exclusive_resource_access: whether no other section may use these.

    """

    op: Operation
    handle: Tensor
    resources: Sequence[Tensor]
    exclusive_resource_access: bool


class _Building(threading.local):
    """The sections that this thread is building the inside of."""

    def __init__(self) -> None:
        self.sections: list[Any] = []


_BUILDING: Final = _Building()
_LOCK: Final = threading.RLock()


@contextmanager
def _inside(section: object) -> Iterator[None]:
    if section in _BUILDING.sections:
        raise _deadlock(section)
    _BUILDING.sections.append(section)
    try:
        yield
    finally:
        _BUILDING.sections.pop()


def _deadlock(section: object) -> ValueError:
    return ValueError(
        f"Attempting to lock a CriticalSection (signature={section}) in which we are already "
        "running. This is illegal and may cause deadlocks."
    )


def _colocation_of(op: Operation) -> object:
    """The device of an operation, or the operation that it is colocated with."""
    return op.device or _colocation(op)


def _colocation(op: Operation) -> list[bytes] | None:
    return op.node_def.attr["_class"].list.s[:] if "_class" in op.node_def.attr else None


@public("CriticalSection")
class CriticalSection:
    """A lock, and functions whose operations run while it is held.

    Args:
      name: the lock's name; `CriticalSection` by default.
      shared_name: under which name the session keeps it; by default its own.
      critical_section_def: not accepted.
      import_scope: not used, as in TensorFlow.

    Raises:
      ValueError: there is a `critical_section_def`.

    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        del import_scope
        if critical_section_def:
            raise ValueError("Argument `critical_section_def` is not supported.")
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            container = get_default_graph().scopes.container
            shared_name = scope if shared_name is None else shared_name
            attrs = {"shared_name": shared_name, "container": container}
            self._handle = apply_op("MutexV2", {}, attrs, scope).outputs[0]
        # Without a name the section is shared with no other.
        self._signature = (
            container,
            shared_name or id(self._handle),
            _colocation_of(self._handle.op),
        )
        get_default_graph().add_to_collection(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        """The name of the lock's operation."""
        return self._handle.op.name

    def execute(
        self,
        fn: Callable[[], object],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """Build operations by a function, which run while the section's lock is held.

        Args:
          fn: a function of no arguments; all it takes from outside is computed before.
          exclusive_resource_access: whether the resources that it uses may be used in no other
            section.
          name: the operations' scope.

        Returns:
          What `fn` returns, available once the lock has been let go.

        Raises:
          ValueError: the function is to be executed in this section again, or uses a resource
            that another section uses, where one of the two is exclusive.

        """
        with name_scope(name, "critical_section_execute", []):
            with _inside(self._signature):
                lock = apply_op("MutexLock", {"mutex": self._handle}, {}).outputs[0]
                operations, result = _built(fn, lock)
            _compute_before(lock.op, operations)
            resources = _resources_of(operations)
            if any(self._is_own(resource) for resource in resources):
                raise _deadlock(self._signature)
            self._check_exclusive(resources, exclusive_resource_access)
            outputs = self._let_go_after(lock, result)
            execution = Execution(lock.op, self._handle, resources, exclusive_resource_access)
            get_default_graph().add_to_collection(CRITICAL_SECTION_EXECUTIONS, execution)
            return outputs

    def _let_go_after(self, lock: Tensor, result: Structure) -> Any:
        """Release the lock after all results; returns them after this."""
        graph = get_default_graph()
        flat = [_same(tensor) for tensor in nest.flatten(result)]
        with graph.control_dependencies(flat):
            with graph.colocate_with(self._handle):
                consumed = apply_op("ConsumeMutexLock", {"mutex_lock": lock}, {})
            # If one of the results is wanted, all of them are computed.
            result = nest.pack_sequence_as(result, tuple_(nest.flatten(result)))
        with graph.control_dependencies([consumed]):
            return nest.map_structure(_same, result)

    def _is_own(self, handle: Tensor) -> bool:
        """Whether a handle is one of this section's lock."""
        own_op, other_op = self._handle.op, handle.op
        return (
            other_op.type == "MutexV2"
            and bool(other_op.get_attr("shared_name"))
            and other_op.get_attr("shared_name") == own_op.get_attr("shared_name")
            and (other_op.device == own_op.device or _colocation(other_op) == _colocation(own_op))
        )

    def _check_exclusive(self, resources: Collection[Tensor], exclusive: bool) -> None:
        for other in get_default_graph().get_collection(CRITICAL_SECTION_EXECUTIONS):
            is_allowed = self._is_own(other.handle) or not (
                exclusive or other.exclusive_resource_access
            )
            shared = [one for one in resources if any(one is its for its in other.resources)]
            if shared and not is_allowed:
                raise ValueError(
                    f"This execution would access resources: {shared}. Either this lock "
                    f"(CriticalSection: {self._handle}) or lock '{other}' (CriticalSection: "
                    f"{other.handle}) requested exclusive resource access of this resource. Did "
                    "you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?"
                )


def _same(value: TensorLike) -> Operation | Tensor | TensorArray:
    """An identity of a value; a group of an operation."""
    if isinstance(value, TensorArray):
        return value.identity()
    return group(value) if isinstance(value, Operation) else identity(value)


def _built(fn: Callable[[], object], lock: Tensor) -> tuple[list[Operation], Any]:
    """The operations that a function adds to the default graph, and what it returns."""
    graph = get_default_graph()
    with _LOCK:  # operations of other sections are left out
        before = set(graph.get_operations())
        with graph.control_dependencies([lock]):
            result = fn()
        return [op for op in graph.get_operations() if op not in before], result


def _resources_of(operations: Iterable[Operation]) -> list[Tensor]:
    """The handles that operations take."""
    resources = {
        id(source): source
        for op in operations
        for source in op.inputs
        if source.dtype == dtypes.resource
    }
    return list(resources.values())


def _compute_before(lock: Operation, operations: Collection[Operation]) -> None:
    """Have all that operations take from outside computed before the lock is taken."""
    needed: dict[Operation, None] = {}
    for op in operations:
        needed.update(dict.fromkeys(source.op for source in op.inputs))
        needed.update(dict.fromkeys(op.control_inputs))
    known = {lock, *operations, *lock.control_inputs, *(source.op for source in lock.inputs)}
    outside = [op for op in needed if op not in known]
    if outside:
        # The group makes tensors from outside available in a loop or branch.
        lock._add_control_input(group(*outside))  # noqa: SLF001 - TensorFlow's name
