"""Graph: the operations of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.graph import graph_elements
from sessrun.reference.graph.collections_of_graph import CollectionKey, Collections
from sessrun.reference.graph.function_library import FunctionLibrary
from sessrun.reference.graph.graph_scopes import GraphScopes
from sessrun.reference.graph.operation import OPERATION_BUILDERS, Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.graph.thread_stack import ThreadStack
from sessrun.reference.public import public
from sessrun.spec.proto import FunctionDefLibrary, GraphDef, VersionDef

__all__ = ["ENTERED_GRAPHS", "MIN_CONSUMER", "MIN_PRODUCER", "PRODUCER", "Graph"]

#: The version of the GraphDef format written here: that of TensorFlow 2.21, whose table of
#: operations is declared in the spec.
PRODUCER: Final = 2474
MIN_CONSUMER: Final = 0
#: The oldest producer whose GraphDefs are read.
MIN_PRODUCER: Final = 0
#: Consumers before this one know no functions.
_FUNCTIONS_SINCE: Final = 12


@public("Graph")
class Graph(GraphScopes, Collections):
    """A dataflow graph; operations are only ever added. Safe for threads.

    Attributes:
      seed: the graph-level random seed, or None.
      operations_by_name: every operation; for reading.
      unfeedable: the tensors that may not be fed; for reading.
      kinds: what placement asks of operations: the type whose kernel runs one, and the device that
        it requests. Those of every operation are in it, and may be of operations that have changed.
      removals: how often operations were removed, as a failed import does.
      misfits: inputs, by operation and number, that were replaced by one of another dtype, with
        the dtype that is expected.
      scripts: what keeps the Python functions that it calls alive.
      functions: the functions that its operations may call.
      building_function: whether this is the body of a function; for reading.
      hot_runs: for each session (by a number of its own) the runs for which it need not look at the
        graph: emptied, under `lock`, by every change.
      on_new_operation: called with every new operation; None until the graph has conditionals or
        loops.

    """

    #: Whether branches and loops of this graph are functions, regardless of the global switch.
    makes_functions = False

    def __init__(self) -> None:
        super().__init__()
        self.seed: int | None = None
        self._seeds_given = 0
        self.operations_by_name: dict[str, Operation] = {}
        self._finalized = False
        self.building_function = False
        self.unfeedable: set[Tensor] = set()
        self._unfetchable: set[object] = set()
        self.functions = FunctionLibrary()
        self.hot_runs: dict[int, dict[Any, Any]] = {}
        self.kinds: set[tuple[str, str]] = set()
        self.removals = 0
        self.misfits: dict[tuple[Operation, int], DType] = {}
        self.scripts: list[Any] = []
        self.on_new_operation: Callable[[Operation], None] | None = None
        self._versions = VersionDef(producer=PRODUCER, min_consumer=MIN_CONSUMER)

    # -- operations

    def add(self, operation: Operation) -> None:
        """Add a new operation to the graph.

        Raises:
          RuntimeError: the graph is finalized.
          ValueError: the name is taken.

        """
        operations = self.operations_by_name
        self.lock.acquire()  # which takes half the time of a `with`
        try:
            self.check_not_finalized()
            if operation.name in operations:
                raise ValueError(f"Duplicate node name in graph: '{operation.name}'")
            self.kinds.add(operation.kind)  # before a run in another thread may count it
            operations[operation.name] = operation
            operation.id = len(operations)
            if self.hot_runs:
                self._forget_runs()
        finally:
            self.lock.release()

    def _forget_runs(self) -> None:
        """Let every session look at the graph in its next run: it has changed."""
        for runs in list(self.hot_runs.values()):
            runs.clear()

    def forget_after(self, version: int) -> None:
        """Remove every operation added after number `version`: an import failed."""
        with self.lock:
            self._forget_runs()
            self.removals += 1
            for op in list(self.operations_by_name.values())[version:]:
                del self.operations_by_name[op.name]
                for tensor in op.inputs:
                    tensor._drop_consumer(op)  # noqa: SLF001 - tensor and graph belong together

    def get_operations(self) -> list[Operation]:
        """All operations in the order of their creation."""
        with self.lock:
            return list(self.operations_by_name.values())

    def next_seed(self) -> int:
        """0, 1, 2, ...: the seed of the next random operation that names none."""
        with self.lock:
            self._seeds_given += 1
            return self._seeds_given - 1

    @property
    def version(self) -> int:
        """The number of operations; it grows with every new one."""
        return len(self.operations_by_name)

    @property
    def _last_id(self) -> int:
        return len(self.operations_by_name)

    def as_graph_element(
        self, obj: object, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that `obj` is or names.

        Raises:
          TypeError: `obj` has a type that is neither, and does not stand for one.
          ValueError: `obj` is of another graph, or a string of the wrong form.
          KeyError: the graph does not have the named element.

        """
        kinds = graph_elements.Kinds(tensor=allow_tensor, operation=allow_operation)
        return graph_elements.graph_element(self, self.operations_by_name, obj, kinds)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; raises as `as_graph_element` does."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {_kind(name)}.")
        operation: Operation = self.as_graph_element(name, allow_tensor=False)
        return operation

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of that name (`op:0`); raises as `as_graph_element` does."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {_kind(name)}.")
        tensor: Tensor = self.as_graph_element(name, allow_operation=False)
        return tensor

    def as_graph_def(
        self,
        from_version: int | None = None,  # noqa: ARG002 - TensorFlow's signature
        add_shapes: bool = False,
    ) -> GraphDef:
        """The graph as a GraphDef.

        Args:
          from_version: accepted and not used, as TensorFlow 2.21 was seen to do.
          add_shapes: whether nodes have `_output_shapes`, the static shapes of their outputs.

        """
        graph_def = GraphDef(versions=self._versions)
        if self.functions:
            graph_def.library.CopyFrom(self.functions.to_proto())
        for op in self.get_operations():
            graph_def.node.append(op.to_proto(add_shapes=add_shapes, is_sorted=True))
        return graph_def

    @property
    def producer(self) -> int:
        """The version of its GraphDefs."""
        return self._versions.producer

    @property
    def graph_def_versions(self) -> VersionDef:
        """The GraphDef version."""
        return VersionDef(producer=self.producer, min_consumer=self._versions.min_consumer)

    def add_functions(self, library: FunctionDefLibrary) -> None:
        """Keep the functions of a library, for the operations that call them.

        Raises:
          InvalidArgumentValueError: an operation, or a function that differs, has that name.

        """
        self.functions.add_all(library)
        if self.functions:
            self._versions.min_consumer = max(self._versions.min_consumer, _FUNCTIONS_SINCE)

    def note_versions(self, versions: VersionDef) -> None:
        """Note those of a GraphDef that was imported: the older producer, the newer demands."""
        own_versions = self._versions
        own_versions.producer = min(own_versions.producer, versions.producer)
        own_versions.min_consumer = max(own_versions.min_consumer, versions.min_consumer)
        bad = {*own_versions.bad_consumers, *versions.bad_consumers}
        own_versions.bad_consumers[:] = sorted(bad)

    # -- life cycle

    @property
    def finalized(self) -> bool:
        """Whether nothing can be added any more."""
        return self._finalized

    def finalize(self) -> None:
        """Let nothing be added from now on."""
        self._finalized = True

    @property
    def _container(self) -> str:
        """The container that is open in this thread."""
        return self.scopes.container

    @property
    def _variable_creator_stack(self) -> tuple[Callable[..., object], ...]:
        """The creators of variables of this thread, outermost first."""
        return self.scopes.variable_creators

    @_variable_creator_stack.setter
    def _variable_creator_stack(self, creators: Any) -> None:
        self.scopes.variable_creators = tuple(creators)

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    def _get_control_flow_context(self) -> Any:
        """The control flow context that is open in this thread, or None."""
        return self.scopes.control_flow

    def check_not_finalized(self) -> None:
        """Raise RuntimeError if the graph is finalized."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def captured(self, groups: list[Any], name: str) -> list[Tensor | list[Tensor]]:  # noqa: ARG002 - see FuncGraph
        """The inputs of a new operation as tensors of this graph, which they are."""
        return groups

    def operation_elsewhere(
        self, op_type: str, name: str, groups: list[object], attrs: dict[str, object]
    ) -> Operation | None:
        """An operation of another graph to be used instead of a new one; here always None."""
        del op_type, name, groups, attrs
        return None

    def outer(self, tensor: Tensor) -> Tensor:
        """The tensor itself; `FuncGraph` overrides it."""
        return tensor

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the thread's default graph inside the `with`."""
        return ENTERED_GRAPHS.pushed(self)

    def add_to_collection(self, name: CollectionKey, value: object) -> None:
        """Append a value to the collection; RuntimeError if the graph is finalized."""
        self.check_not_finalized()
        super().add_to_collection(name, value)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Sequence[DTypeLike] | None = None,  # noqa: ARG002 - TensorFlow's signature; the declaration says them
        input_types: Sequence[DTypeLike] | None = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: object = None,  # noqa: ARG002 - as above
        compute_shapes: bool = True,  # noqa: ARG002 - shapes are always inferred, there as here
        compute_device: bool = True,  # noqa: ARG002 - as above, devices
    ) -> Operation:
        """Make an operation from a flat list of input tensors and AttrValues.

        Args:
          op_type: a declared op type.
          inputs: its input tensors, lists laid out flat.
          dtypes: not used: the declaration says those of the outputs.
          input_types: dtypes that the inputs must be compatible with, or None.
          name: its name; by default the op type.
          attrs: attributes by name, each an AttrValue.
          op_def: not used.
          compute_shapes: not used.
          compute_device: not used.

        Raises:
          TypeError: an input is no tensor, or not compatible with its input type.
          ValueError, RuntimeError: as `build.apply_flat`.

        """
        make = OPERATION_BUILDERS["create_op"]
        return make(self, op_type, list(inputs), dict(attrs or {}), name, input_types)

    def _operation_of(self, value: Any) -> Operation:
        if type(value) is Tensor and value.op.graph is self:  # as most values are
            return value.op
        if hasattr(value, "_handle") or hasattr(value, "_stands_for_its_op"):
            value = value.op  # a resource variable is where its handle is, slices their rows
        element = self.as_graph_element(value)
        return element.op if isinstance(element, Tensor) else element

    # -- what may be fed and fetched

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Refuse feeds of this tensor from now on."""
        self.unfeedable.add(tensor)

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether the tensor may be fed."""
        return tensor not in self.unfeedable

    def prevent_fetching(self, op: object) -> None:
        """Refuse fetches of this operation from now on."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: object) -> bool:
        """Whether the tensor or operation may be fetched."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable


#: The default graphs of a thread, the innermost last.
ENTERED_GRAPHS: Final[ThreadStack[Graph]] = ThreadStack()


def _kind(value: object) -> str:
    return type(value).__name__
