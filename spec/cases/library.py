"""The types of the objects of a namespace's library: hooks, optimizers, queues, savers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from sessrun.spec.cases.arguments import Argument, DType, Shape, TensorLike
from sessrun.spec.cases.objects import (
    Coordinator,
    Feeds,
    Fetches,
    Operation,
    RunContext,
    RunValues,
    Session,
    Tensor,
    Value,
    Variable,
)

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from google.protobuf.message import Message

    from sessrun.spec.proto.config_pb2 import RunOptions


__all__ = [
    "Batch",
    "Builder",
    "GradientsAndVariables",
    "Hook",
    "ListedDevice",
    "LookupTable",
    "Optimizer",
    "Queue",
    "QueueRunner",
    "Reader",
    "RunArguments",
    "Saved",
    "Saver",
    "SessionCreator",
    "Step",
    "StepContext",
    "VariableScope",
]

#: A global step: the variable that counts the steps, or a number.
Step: TypeAlias = Tensor | int | None
#: The pairs that an optimizer computes and applies; the gradient of an unused variable is None.
GradientsAndVariables: TypeAlias = Sequence[tuple[Tensor | None, Variable]]


#: The tensors of an element or a batch: one, or a list or dict of them.
Batch: TypeAlias = Tensor | Sequence[Tensor] | Mapping[str, Tensor]


class RunArguments(Protocol):
    """A `SessionRunArgs`: what a hook fetches and feeds in a run beside what the program does."""

    @property
    def fetches(self) -> Fetches | None:
        """What the hook fetches."""

    @property
    def feed_dict(self) -> Feeds:
        """What the hook feeds."""

    @property
    def options(self) -> RunOptions | None:
        """The options of the hook."""

    def _replace(
        self,
        *,
        fetches: Fetches | None = ...,
        feed_dict: Feeds = ...,
        options: RunOptions | None = ...,
    ) -> RunArguments:
        """The same with other fetches, feeds or options."""


class ListedDevice(Protocol):
    """A device as `Session.list_devices` describes it."""

    @property
    def name(self) -> str:
        """Its name with job, replica and task."""

    @property
    def device_type(self) -> str:
        """Its kind, as `CPU`."""

    @property
    def memory_limit_bytes(self) -> int:
        """How much memory it may take."""

    @property
    def incarnation(self) -> int:
        """A number that changes whenever the device is made again."""


class Hook(Protocol):
    """A `SessionRunHook` of a monitored session."""

    def begin(self) -> None:
        """Called before the session is created; the hook may still add nodes to the graph."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Called after each creation of the session."""

    def before_run(self, run_context: RunContext) -> RunArguments | None:
        """Called before a run; gives what is to be fetched and fed besides."""

    def after_run(self, run_context: RunContext, run_values: RunValues) -> None:
        """Called after a run, with the values of the hook's fetches."""

    def end(self, session: Session) -> None:
        """Called at the end of the session."""


class SessionCreator(Protocol):
    """What makes the session of a monitored session, and makes it again after a failure."""

    def create_session(self) -> Session:
        """A session, ready to run."""


class Queue(Protocol):
    """A queue."""

    @property
    def name(self) -> str:
        """The name of the operation that makes it."""

    @property
    def queue_ref(self) -> Tensor:
        """Its handle."""

    @property
    def dtypes(self) -> Sequence[DType]:
        """The dtype of each component of an element."""

    @property
    def shapes(self) -> Sequence[Shape]:
        """The shape of each component of an element."""

    def enqueue(
        self, vals: TensorLike | Mapping[str, TensorLike], name: str | None = None
    ) -> Operation:
        """An operation that puts an element in."""

    def dequeue(self, name: str | None = None) -> Batch:
        """The tensors of an element that is taken out."""

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it was closed."""

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An operation that closes the queue."""


class QueueRunner(Protocol):
    """What fills a queue from threads."""

    def create_threads(
        self,
        sess: Session,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> Sequence[threading.Thread]:
        """The threads, one for each enqueue operation."""


class Reader(Protocol):
    """What reads records from files whose names it takes from a queue."""

    def read(self, queue: Queue, name: str | None = None) -> tuple[Tensor, Tensor]:
        """The key and the value of one record."""

    def read_up_to(
        self, queue: Queue, num_records: TensorLike, name: str | None = None
    ) -> tuple[Tensor, Tensor]:
        """The keys and the values of so many records, or of those that are left."""

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """The number of records that it gave."""

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """The number of files that it is done with."""

    def reset(self, name: str | None = None) -> Operation:
        """An operation after which the reader is as it was made."""

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Its state, as a string."""

    def restore_state(self, state: Tensor, name: str | None = None) -> Operation:
        """An operation that gives it such a state."""


class LookupTable(Protocol):
    """A lookup table."""

    @property
    def key_dtype(self) -> DType:
        """The dtype of its keys."""

    @property
    def value_dtype(self) -> DType:
        """The dtype of its values."""

    def lookup(self, keys: Tensor, name: str | None = None) -> Tensor:
        """The values of keys."""

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys."""


class Optimizer(Protocol):
    """An optimizer."""

    def compute_gradients(
        self, loss: Tensor, var_list: Sequence[Variable] | None = None
    ) -> GradientsAndVariables:
        """The gradient of the loss for each variable."""

    def apply_gradients(
        self,
        grads_and_vars: GradientsAndVariables,
        global_step: Step = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that makes one step."""

    def minimize(
        self, loss: Tensor, global_step: Step = None, var_list: Sequence[Variable] | None = None
    ) -> Operation:
        """Both in one."""

    def get_slot(self, var: Variable, name: str) -> Variable | None:
        """What the optimizer keeps for a variable under a name."""

    def get_slot_names(self) -> Sequence[str]:
        """The names of what it keeps."""


class Saver(Protocol):
    """A `Saver`."""

    def save(
        self, sess: Session, save_path: str, global_step: Step = None, **options: Argument
    ) -> str:
        """Write a checkpoint; its path."""

    def restore(self, sess: Session, save_path: str) -> None:
        """Read the variables from a checkpoint."""

    def export_meta_graph(self, filename: str | None = None) -> Message:
        """Write the meta graph to a file, if one is given; the message."""

    @property
    def last_checkpoints(self) -> Sequence[str]:
        """The paths of the checkpoints that it keeps, the oldest first."""


class StepContext(Protocol):
    """What `run_step_fn` of a monitored session calls a step function with."""

    @property
    def session(self) -> Session:
        """The session below the hooks."""

    def run_with_hooks(self, fetches: Fetches, feed_dict: Feeds = None) -> Value:
        """A run of the monitored session."""

    def request_stop(self) -> None:
        """Ask the monitored session to stop."""


class VariableScope(Protocol):
    """A variable scope."""

    @property
    def name(self) -> str:
        """Its name, with those of the scopes around it."""

    @property
    def reuse(self) -> object:
        """True, False or None, or the namespace's `AUTO_REUSE`."""


class Builder(Protocol):
    """What writes a SavedModel."""

    def add_meta_graph_and_variables(
        self, sess: Session, tags: Sequence[str], **options: Argument
    ) -> None:
        """Add the graph and the values of its variables."""

    def save(self, as_text: bool = False) -> str:
        """Write the model; its path."""


#: What a saver is given as its variables.
Saved: TypeAlias = "Sequence[Variable] | Mapping[str, Variable] | None"
