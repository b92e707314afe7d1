"""The types of what a namespace gives: sessions, graphs, operations, tensors, and their values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from sessrun.spec.proto.graph_pb2 import GraphDef, NodeDef

__all__ = [
    "Array",
    "Call",
    "Conforming",
    "Coordinator",
    "Element",
    "FeedDict",
    "Feeds",
    "Fetch",
    "Fetches",
    "Graph",
    "OpError",
    "Operand",
    "Operation",
    "RunContext",
    "RunValues",
    "Session",
    "Tensor",
    "Value",
    "Variable",
]

#: The value of one tensor as a run gives it: a scalar that was computed is a numpy scalar.
Array: TypeAlias = np.ndarray | np.generic

#: What a run gives for fetches: values in the structure of the fetches, None for an operation.
Value: TypeAlias = (
    "Array | bytes | str | bool | int | float | Sequence[Value] | Mapping[Any, Value] | None"
)

#: What an operator or an assignment makes a tensor of.
Operand: TypeAlias = "Tensor | Array | bool | complex | str | bytes | Sequence[Operand]"
#: A key of `tensor[key]`, or a part of it.
Index: TypeAlias = "Tensor | int | np.integer | slice | EllipsisType | Sequence[Index] | None"
#: A function of a namespace as it is without the fault: it takes what TensorFlow's takes.
Call: TypeAlias = Callable[..., Any]

#: A run of a list of fetches as it is without the fault: it gives a value for each.
Conforming: TypeAlias = Callable[[], list[np.ndarray]]


class Operation(Protocol):
    """A node of a graph."""

    @property
    def name(self) -> str:
        """Its name, unique in the graph."""

    @property
    def type(self) -> str:
        """The name of its declaration, as `MatMul`."""

    @property
    def device(self) -> str:
        """The device that was asked for."""

    @property
    def graph(self) -> Graph:
        """The graph that it is in."""

    @property
    def inputs(self) -> Sequence[Tensor]:
        """The tensors that it takes."""

    @property
    def outputs(self) -> Sequence[Tensor]:
        """The tensors that it gives."""

    @property
    def control_inputs(self) -> Sequence[Operation]:
        """The operations that it waits for."""

    @property
    def node_def(self) -> NodeDef:
        """The object's part of a GraphDef."""

    def get_attr(self, name: str) -> Any:
        """The value of an attribute."""

    def colocation_groups(self) -> Sequence[bytes]:
        """The groups of operations that are on one device, `loc:@NAME`; its own among them."""


class Tensor(Protocol):
    """An output of an operation."""

    @property
    def name(self) -> str:
        """The operation's name and the index of the output, as `a:0`."""

    @property
    def op(self) -> Operation:
        """The operation that gives it."""

    @property
    def graph(self) -> Graph:
        """The graph that it is in."""

    @property
    def value_index(self) -> int:
        """Its index among the outputs of its operation."""

    @property
    def dtype(self) -> Any:
        """Its dtype, of the namespace's `DType`."""

    @property
    def shape(self) -> Any:
        """What is known of its shape, of the namespace's `TensorShape`."""

    def consumers(self) -> Sequence[Operation]:
        """The operations that take it."""

    def __getitem__(self, key: Index, /) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __add__(self, other: Operand, /) -> Tensor: ...
    def __radd__(self, other: Operand, /) -> Tensor: ...
    def __sub__(self, other: Operand, /) -> Tensor: ...
    def __rsub__(self, other: Operand, /) -> Tensor: ...
    def __mul__(self, other: Operand, /) -> Tensor: ...
    def __rmul__(self, other: Operand, /) -> Tensor: ...
    def __truediv__(self, other: Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: Operand, /) -> Tensor: ...
    def __pow__(self, other: Operand, /) -> Tensor: ...
    def __lt__(self, other: Operand, /) -> Tensor: ...
    def __le__(self, other: Operand, /) -> Tensor: ...
    def __gt__(self, other: Operand, /) -> Tensor: ...
    def __ge__(self, other: Operand, /) -> Tensor: ...


class Variable(Tensor, Protocol):
    """A variable, of either kind; a tensor where one is wanted."""

    @property
    def handle(self) -> Tensor:
        """The handle of a resource variable."""

    @property
    def initializer(self) -> Operation:
        """The operation that gives it its initial value."""

    @property
    def initial_value(self) -> Tensor:
        """Its initial value."""

    def value(self) -> Tensor:
        """A read that was built with it."""

    def read_value(self) -> Tensor:
        """A new read."""

    def assign(self, value: Operand, *, read_value: bool = True) -> Tensor:
        """An assignment."""

    def assign_add(self, delta: Operand, *, read_value: bool = True) -> Tensor:
        """An addition."""

    def assign_sub(self, delta: Operand, *, read_value: bool = True) -> Tensor:
        """A subtraction."""


#: What may be fetched alone but for its name: a variable or a sparse tensor stands for tensors.
Element: TypeAlias = Tensor | Operation
Fetch: TypeAlias = Element | str
#: What `run` is asked for: an element, or a list, tuple or mapping of fetches.
Fetches: TypeAlias = "Fetch | Sequence[Fetches] | Mapping[Any, Fetches]"
#: What a run is fed, by tensor, name or tuple of tensors.
FeedDict: TypeAlias = Mapping[Any, Any]
#: The argument `feed_dict` of a run.
Feeds: TypeAlias = FeedDict | None


class Graph(Protocol):
    """A graph."""

    #: The seed of `tf.set_random_seed`, or None.
    seed: int | None

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation that an object stands for."""

    def get_operations(self) -> Sequence[Operation]:
        """Its operations in the order in which they were added."""

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of this name."""

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor of this name."""

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph as a message."""

    def __getattr__(self, name: str, /) -> Any:
        """Its other attributes and methods."""


class Session(Protocol):
    """A session; a fault may note something in it."""

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""

    def run(
        self,
        fetches: Fetches,
        feed_dict: Feeds = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """The values of the fetches."""

    def __getattr__(self, name: str, /) -> Any:
        """Its other attributes and methods."""

    def __setattr__(self, name: str, value: object, /) -> None: ...


class OpError(Protocol):
    """An error that a run raised, of a class of the namespace's `errors`."""

    @property
    def error_code(self) -> int:
        """The number of its code."""

    @property
    def message(self) -> str:
        """Its text."""

    @property
    def op(self) -> Operation | None:
        """The operation that failed, if one did."""

    @property
    def node_def(self) -> NodeDef | None:
        """What a GraphDef has of that operation."""


class RunContext(Protocol):
    """What a hook is given before and after a run of a monitored session."""

    @property
    def original_args(self) -> Any:
        """The fetches, feeds and options that the caller gave."""

    @property
    def session(self) -> Session:
        """The session below the hooks."""

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked to stop."""

    def request_stop(self) -> None:
        """Ask the monitored session to stop."""


class RunValues(Protocol):
    """What a hook is given after a run."""

    @property
    def results(self) -> Any:
        """The values of the hook's own fetches, in their structure."""

    @property
    def options(self) -> Any:
        """The options of the run."""

    @property
    def run_metadata(self) -> Any:
        """The metadata of the run."""

    def _replace(self, *, results: Value) -> RunValues:
        """The same with other values of the fetches."""


class Coordinator(Protocol):
    """What stops threads and hands on their errors."""

    def request_stop(self, ex: BaseException | None = None) -> None:
        """Ask all threads to stop, because of an error if one is given."""

    def should_stop(self) -> bool:
        """Whether they were asked to stop."""

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for the threads; raise the error that one of them reported."""
