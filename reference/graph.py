"""Graph: the operations of a program, and the scopes in which they are made."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from sessrun.reference import lookup, stacks
from sessrun.reference.collections_of_graph import Collections
from sessrun.reference.operation import Operation
from sessrun.reference.scopes import ControlScope, DeviceScope, Scopes
from sessrun.reference.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.proto import GraphDef, VersionDef

__all__ = ["MIN_CONSUMER", "PRODUCER", "Graph"]

#: The version of the GraphDef format written here: that of TensorFlow 2.21, whose table of
#: operations is declared in the spec.
PRODUCER: Final = 2474
MIN_CONSUMER: Final = 0

_OP_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_SCOPE_NAME: Final = re.compile(r"[A-Za-z0-9_.\\/>-]*")


class Graph(Collections):
    """A dataflow graph; operations are only ever added. Safe for threads.

    Attributes:
      seed: the graph-level random seed, or None.
      operations_by_name: every operation; for reading.
      unfeedable: the tensors that may not be fed; for reading.

    """

    def __init__(self) -> None:
        super().__init__()
        self.seed: int | None = None
        self._seeds_given = 0
        self.operations_by_name: dict[str, Operation] = {}
        self.lock = threading.RLock()
        self.scopes = Scopes()
        self._names_in_use: dict[str, int] = {}
        self._finalized = False
        self.unfeedable: set[Tensor] = set()
        self._unfetchable: set[Any] = set()
        self._versions = VersionDef(producer=PRODUCER, min_consumer=MIN_CONSUMER)

    # -- operations

    def add(self, operation: Operation) -> None:
        """Take in an operation that was made for this graph, in its thread's scopes.

        Raises:
          RuntimeError: the graph is finalized.
          ValueError: the name is taken.

        """
        with self.lock:
            self.check_not_finalized()
            if operation.name in self.operations_by_name:
                raise ValueError(f"Duplicate node name in graph: '{operation.name}'")
            self.operations_by_name[operation.name] = operation
            operation.id = len(self.operations_by_name)
        if self.scopes.control is not None:
            self.scopes.note(operation)

    def forget_after(self, version: int) -> None:
        """Take back every operation made after number `version`: an import that failed."""
        with self.lock:
            for op in list(self.operations_by_name.values())[version:]:
                del self.operations_by_name[op.name]
                for tensor in op.inputs:
                    tensor._drop_consumer(op)  # noqa: SLF001 - tensor and graph belong together

    def get_operations(self) -> list[Operation]:
        """Every operation in the order they were made."""
        with self.lock:
            return list(self.operations_by_name.values())

    def next_seed(self) -> int:
        """0, 1, 2, ...: the seed of the next random operation that names none."""
        with self.lock:
            self._seeds_given += 1
            return self._seeds_given - 1

    @property
    def version(self) -> int:
        """How many operations there are: it grows with each."""
        return len(self.operations_by_name)

    @property
    def _last_id(self) -> int:
        return len(self.operations_by_name)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that `obj` is or names.

        Raises:
          TypeError: it is of a type that is neither.
          ValueError: it is of another graph, or a string of the wrong form.
          KeyError: it names what is not in the graph.

        """
        return lookup.graph_element(
            self, obj, allow_tensor=allow_tensor, allow_operation=allow_operation
        )

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; raises as `as_graph_element` does."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {_kind(name)}.")
        found: Operation = self.as_graph_element(name, allow_tensor=False)
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of that name (`op:0`); raises as `as_graph_element` does."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {_kind(name)}.")
        found: Tensor = self.as_graph_element(name, allow_operation=False)
        return found

    def as_graph_def(
        self,
        from_version: int | None = None,  # noqa: ARG002 - TensorFlow's signature
        add_shapes: bool = False,
    ) -> GraphDef:
        """The graph as a GraphDef.

        Args:
          from_version: accepted and not used, as TensorFlow 2.21 was seen to do.
          add_shapes: whether each node tells the static shapes of its outputs.

        """
        graph_def = GraphDef(versions=self._versions)
        for op in self.get_operations():
            graph_def.node.append(op.to_proto(add_shapes=add_shapes))
        return graph_def

    @property
    def graph_def_versions(self) -> VersionDef:
        """The GraphDef version."""
        return VersionDef(producer=self._versions.producer,
                          min_consumer=self._versions.min_consumer)  # fmt: skip

    def lower_producer(self, producer: int) -> None:
        """Note that a GraphDef of an older producer was imported."""
        self._versions.producer = min(self._versions.producer, producer)

    # -- life cycle

    @property
    def finalized(self) -> bool:
        """Whether nothing can be added any more."""
        return self._finalized

    def finalize(self) -> None:
        """Let nothing be added from now on."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def check_not_finalized(self) -> None:
        """Raise RuntimeError if the graph is finalized."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function: never here."""
        return False

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the thread's default graph inside the `with`."""
        return stacks.pushed_graph(self)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append a value to the collection; RuntimeError if the graph is finalized."""
        self.check_not_finalized()
        super().add_to_collection(name, value)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,  # noqa: ARG002 - TensorFlow's signature; the declaration says them
        input_types: Any = None,  # noqa: ARG002 - as above
        name: str | None = None,
        attrs: Any = None,
    ) -> Operation:
        """Make an operation from a flat list of input tensors and AttrValues.

        Raises:
          TypeError, ValueError, RuntimeError: as `build.apply_op`.

        """
        from sessrun.reference.build import apply_flat  # noqa: PLC0415 - build imports this module

        return apply_flat(self, op_type, list(inputs), dict(attrs or {}), name)

    # -- what may be fed and fetched

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Refuse feeds of this tensor from now on."""
        self.unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether the tensor may be fed."""
        return tensor not in self.unfeedable

    def prevent_fetching(self, op: Any) -> None:
        """Refuse fetches of this operation from now on."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether the tensor or operation may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # -- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current name scope, with a number if it is taken (case is ignored)."""
        return self.unique_full_name(self.scopes.name + name, mark_as_used=mark_as_used)

    def unique_full_name(self, full: str, *, mark_as_used: bool = True) -> str:
        """`full`, with a number if it is taken (case is ignored); scopes are not looked at."""
        with self.lock:
            used = self._names_in_use
            key = full.lower()
            count = used.get(key, 0)
            if mark_as_used:
                used[key] = count + 1
            if count == 0:
                return full
            numbered = key
            while numbered in used:
                numbered = f"{key}_{count}"
                count += 1
            if mark_as_used:
                used[numbered] = 1
            return f"{full}_{count - 1}"

    def note_name(self, full: str) -> None:
        """Note that a name is taken: that of an imported operation."""
        with self.lock:
            self._names_in_use.setdefault(full.lower(), 1)

    def name_of_new(self, name: str) -> str:
        """The name of an operation asked to be called `name`; with a final "/" taken verbatim.

        Raises:
          ValueError: it is no valid name.

        """
        full = name[:-1] if name and name[-1] == "/" else None
        if not _OP_NAME.fullmatch(full if full is not None else self.scopes.name + name):
            raise ValueError(f"'{name}' is not a valid node name")
        return full if full is not None else self.unique_name(name)

    def get_name_scope(self) -> str:
        """The current name scope, without the final "/"."""
        return self.scopes.name[:-1]

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Put names of operations into a scope, made unique; yields it, with a final "/".

        None or an empty name is the root; a name with a final "/" is that scope again.

        Raises:
          ValueError: it is no valid scope name.

        """
        scope = ""
        if name:
            valid = (_SCOPE_NAME if self.scopes.name else _OP_NAME).fullmatch(name)
            if not valid:
                raise ValueError(f"'{name}' is not a valid scope name")
            scope = name if name[-1] == "/" else self.unique_name(name) + "/"
        with self.scopes.replaced(name=scope):
            yield scope

    # -- scopes

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Ask for a device: a name merged into outer ones, a function of the operation, or None.

        Raises:
          ValueError: the name is none.

        """
        spec: Any = device_name_or_function
        if spec is None:
            scope = None
        else:
            if not callable(spec):
                spec = devices.parse(spec.to_string() if hasattr(spec, "to_string") else spec)
            scope = DeviceScope(spec, self.scopes.device)
        with self.scopes.entered_device(scope):
            yield

    def colocate_with(
        self, op: Any, ignore_existing: bool = False
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

    def _operation_of(self, value: Any) -> Operation:
        if hasattr(value, "_handle"):  # a resource variable is where its handle is
            value = value.op
        element = self.as_graph_element(value)
        return element.op if isinstance(element, Tensor) else element

    @contextmanager
    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Iterator[None]:
        """Make operations wait for these operations or tensors; None forgets the outer ones.

        Raises:
          TypeError, ValueError, KeyError: as `as_graph_element`.

        """
        if control_inputs is None:
            with self.scopes.replaced(control=None):
                yield
            return
        wanted = dict.fromkeys(map(self._operation_of, control_inputs))
        scope = ControlScope(tuple(wanted), self.scopes.control)
        with self.scopes.replaced(control=scope):
            yield

    def container(self, container_name: str) -> AbstractContextManager[None]:
        """Keep the resources of stateful operations in this container."""
        return self.scopes.replaced(container=container_name)

    def gradient_override_map(
        self, op_type_map: Mapping[str, str]
    ) -> AbstractContextManager[None]:
        """Use another gradient function for operations of these types.

        Raises:
          TypeError: it is no mapping of strings to strings.

        """
        if not isinstance(op_type_map, dict) or not all(
            isinstance(item, str) for pair in op_type_map.items() for item in pair
        ):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        merged = {**self.scopes.gradient_types, **op_type_map}
        return self.scopes.replaced(gradient_types=merged)

    def switch_to_thread_local(self) -> None:
        """Do nothing: the scopes belong to a thread from the start."""

    @property
    def _attr_scope(self) -> Callable[..., AbstractContextManager[None]]:
        return lambda attrs: self.scopes.replaced(attrs={**self.scopes.attrs, **attrs})


def _kind(value: Any) -> str:
    return type(value).__name__
