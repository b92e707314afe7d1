"""One run: what of the graph it needs, and its execution, operation by operation.

A run is a set of *activities*: an operation in one iteration of the frames that it is in. An
activity is ready when all that it takes has arrived; which of the ready ones executes next is the
caller's choice. An activity is one step: it takes its inputs, has its effects and gives its outputs
at one moment.

That makes every order that `run.md` allows, but for four limits: a call of a function is one
activity with all that its body does; a fetched reference is read when the run is over; a `Merge`
takes a fed value before others; and the bound `parallel_iterations` is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from sessrun.spec.model.graph import Graph
from sessrun.spec.model.nodes import Node, Output
from sessrun.spec.model.session import Session
from sessrun.spec.model.values import DEAD, FailedError, Value, WaitsError, fetched, taken

__all__ = [
    "FLOW",
    "KERNELS",
    "WITHOUT_EFFECTS",
    "Activity",
    "Choose",
    "Kernel",
    "Path",
    "Run",
    "first",
    "kernel",
    "needed",
    "perform",
    "proceed",
]

#: Where an activity is: the frames that it is in, outermost first, and the iteration of each.
Path = tuple[tuple[str, int], ...]

#: More than any case needs: a loop that does not end must not hang its reader.
_MOST_ACTIVITIES: Final = 1_000_000
_MERGES: Final = frozenset({"Merge", "RefMerge"})
_SWITCHES: Final = frozenset({"Switch", "RefSwitch"})
_ENTERS: Final = frozenset({"Enter", "RefEnter"})
_EXITS: Final = frozenset({"Exit", "RefExit"})
_NEXT: Final = frozenset({"NextIteration", "RefNextIteration"})
#: The operations of which branches and loops are made: a run itself does what they do.
FLOW: Final = _MERGES | _SWITCHES | _ENTERS | _EXITS | _NEXT
_PLACEHOLDERS: Final = frozenset({"Placeholder", "PlaceholderV2"})
#: What an activity waits for: an input, by its number, or the end of an operation, by its name.
_Slot = int | str


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """An operation in one iteration of its frames.

    Attributes:
      node: the operation.
      path: where it executes.
      run: the run that it is part of.

    """

    node: Node
    path: Path
    run: Run

    @property
    def session(self) -> Session:
        """The session of the run."""
        return self.run.session


#: From an activity and its inputs to its outputs; raises FailedError or WaitsError.
Kernel = Callable[..., Sequence[Value]]

#: From the number of activities that are ready to the number of that which executes next.
Choose = Callable[[int], int]


def first(_: int) -> int:
    """Execute what became ready first."""
    return 0


#: Under this name: what operations do that have no effects and no kernel of their own.
WITHOUT_EFFECTS: Final = "*"
#: What operations do, by type.
KERNELS: Final[dict[str, Kernel]] = {}


def kernel(*types: str) -> Callable[[Kernel], Kernel]:
    """Register what operations of these types do."""

    def register(function: Kernel) -> Kernel:
        for name in types:
            KERNELS[name] = function
        return function

    return register


def needed(
    graph: Graph, fetches: Iterable[Output], targets: Iterable[str], feeds: Mapping[Output, Value]
) -> set[str]:
    """The operations that a run executes, and no other (`run.md`, section 4, Prune)."""
    names: set[str] = set()
    left = [*targets, *(tensor.node for tensor in fetches if tensor not in feeds)]
    while left:
        name = left.pop()
        if name in names:
            continue
        names.add(name)
        node = graph.nodes[name]
        left += [tensor.node for tensor in node.inputs if tensor not in feeds]
        left += [
            source
            for source in node.controls
            if graph.nodes[source].type not in _PLACEHOLDERS or Output(source, 0) not in feeds
        ]
    return names


class Run:
    """A run under way.

    Args:
      session: the session.
      graph: the session's graph, or the body of a function that is called.
      fetches: the tensors whose values are wanted.
      targets: the operations that are to be executed besides.
      feeds: values that take the place of tensors.

    Attributes:
      ready: the activities of which any may execute next.
      waiting: those that no resource could serve when they were tried.
      error: why the run failed, or None.
      choose: how it chooses which activity is next.

    """

    def __init__(
        self,
        session: Session,
        graph: Graph,
        fetches: Sequence[Output],
        targets: Sequence[str],
        feeds: Mapping[Output, Value],
    ) -> None:
        self.session = session
        self.ready: list[Activity] = []
        self.waiting: list[Activity] = []
        self.error: FailedError | None = None
        self.choose: Choose = first
        self._graph = graph
        self._fetches = fetches
        self._feeds = feeds
        self._needed = needed(graph, fetches, targets, feeds)
        self._consumers = graph.consumers(self._needed)
        self._arrived: dict[tuple[str, Path], dict[_Slot, Value]] = {}
        self._started: set[tuple[str, Path]] = set()
        self._values: dict[Output, Value] = {}
        self._iterations: dict[tuple[Path, str], set[int]] = {}
        self._constants: dict[tuple[Path, str], list[tuple[Node, Sequence[Value], bool]]] = {}
        self._exits: dict[tuple[str, Path, str], bool] = {}
        for name in sorted(self._needed):
            node = graph.nodes[name]
            if self._is_ready(node, ()):
                self._begin(node, ())

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be executed, waits or is dead in a loop that has ended."""
        return self.error is not None or not (self.ready or self.waiting or self._dead_exits())

    def values(self) -> list[Value]:
        """The values of the fetches.

        Raises:
          FailedError: the run failed; the value of a fetch is dead.

        """
        if self.error is not None:
            raise self.error
        values = self._values | dict(self._feeds)
        return [fetched(tensor, values.get(tensor, DEAD)) for tensor in self._fetches]

    def execute(self, number: int) -> bool:
        """Execute a ready activity; False if it must wait and has changed nothing."""
        activity = self.ready.pop(number)
        try:
            outputs = self._outputs(activity)
        except WaitsError as wait:
            self.waiting.append(activity)
            return wait.has_moved
        except FailedError as error:
            self.error = error.at(activity.node.name)
            self.ready.clear()
            self.waiting.clear()
            return True
        if outputs is None:
            self._give(activity.node, activity.path, [DEAD] * activity.node.outputs, is_dead=True)
        else:
            self._give(activity.node, activity.path, outputs, is_dead=False)
        return True

    def try_again(self) -> None:
        """Make what waits ready: a resource may have changed."""
        self.ready += self.waiting
        self.waiting.clear()

    def cancel(self, code: str) -> None:
        """End the run with this code: what waits takes nothing and puts nothing in any more."""
        self.error = FailedError(code, "the run is cancelled")
        self.ready.clear()
        self.waiting.clear()

    def end_a_loop(self) -> bool:
        """Where nothing goes on: take a dead value out of a loop that has ended.

        An `Exit` that was dead in every iteration is dead in the parent frame. Inner loops end
        before outer ones. False if there is no such value.
        """
        exits = self._dead_exits()
        if not exits:
            return False
        name, path, frame = max(exits, key=lambda key: len(key[1]))
        self._exits[name, path, frame] = True
        self._send(self._graph.nodes[name], path, [DEAD], is_dead=True)
        return True

    # -- how values move

    def _slots(self, node: Node, path: Path) -> list[_Slot]:
        """What an operation takes that is not fed."""
        slots: list[_Slot] = [
            number
            for number, tensor in enumerate(node.inputs)
            if tensor not in self._feeds and self._comes(node, tensor, path)
        ]
        return slots + [f"^{name}" for name in node.controls if name in self._needed]

    def _comes(self, node: Node, tensor: Output, path: Path) -> bool:
        """Whether a value of the tensor comes to this iteration.

        The first iteration of a loop has none from a last one, and a later one none from without.
        """
        if node.type not in _MERGES or not path:
            return True
        source, first = self._graph.nodes[tensor.node], path[-1][1] == 0
        if source.type in _NEXT:
            return not first
        return first or source.type not in _ENTERS or bool(source.attrs["is_constant"])

    def _begin(self, node: Node, path: Path) -> None:
        if (node.name, path) not in self._started:
            self._started.add((node.name, path))
            self.ready.append(Activity(node, path, self))

    def _arrive(self, node: Node, path: Path, slot: _Slot, value: Value) -> None:
        self._arrived.setdefault((node.name, path), {})[slot] = value
        if self._is_ready(node, path):
            self._begin(node, path)

    def _is_ready(self, node: Node, path: Path) -> bool:
        """Whether all that an operation takes has arrived; a `Merge` takes one live value."""
        arrived = self._arrived.get((node.name, path), {})
        missing = [slot for slot in self._slots(node, path) if slot not in arrived]
        if node.type in _MERGES and self._live(node, arrived):
            missing = [slot for slot in missing if isinstance(slot, str)]
        return not missing

    def _live(self, node: Node, arrived: Mapping[_Slot, Value]) -> list[tuple[Value, int]]:
        """The live inputs that have arrived, with their numbers, as they came; fed ones first."""
        inputs = enumerate(node.inputs)
        values = {number: self._feeds[tensor] for number, tensor in inputs if tensor in self._feeds}
        values |= {slot: value for slot, value in arrived.items() if isinstance(slot, int)}
        return [(value, number) for number, value in values.items() if value is not DEAD]

    def _outputs(self, activity: Activity) -> Sequence[Value] | None:
        """What an activity gives; None if it is dead and does not execute."""
        node = activity.node
        arrived = self._arrived.get((node.name, activity.path), {})
        if node.type in _MERGES:
            for value, number in self._live(node, arrived):
                return [value, np.int32(number)]
            return None
        values = [
            self._feeds[tensor] if tensor in self._feeds else arrived[number]
            for number, tensor in enumerate(node.inputs)
        ]
        is_dead = any(value is DEAD for value in (*values, *arrived.values()))
        if is_dead and node.type != "ControlTrigger":
            return None
        if node.type in _SWITCHES:
            data, predicate = values
            return [DEAD, data] if _truth(predicate) else [data, DEAD]
        if node.type in FLOW:
            return values
        inputs = [
            value if by_reference else taken(value)
            for value, by_reference in zip(values, node.takes_reference(), strict=True)
        ]
        return KERNELS.get(node.type, KERNELS[WITHOUT_EFFECTS])(activity, *inputs)

    def _give(self, node: Node, path: Path, outputs: Sequence[Value], *, is_dead: bool) -> None:
        """Send outputs on, into the frame and iteration that the operation leads to."""
        if node.type in _ENTERS:
            frame = (path, str(node.attrs["frame_name"]))
            if node.attrs["is_constant"]:
                self._constants.setdefault(frame, []).append((node, outputs, is_dead))
            iterations = self._iterations.setdefault(frame, {0})
            for iteration in sorted(iterations if node.attrs["is_constant"] else {0}):
                self._send(node, (*path, (frame[1], iteration)), outputs, is_dead=is_dead)
        elif node.type in _EXITS:
            (value,) = outputs
            key = (node.name, path[:-1], path[-1][0])
            self._exits[key] = self._exits.get(key, False) or value is not DEAD
            if value is not DEAD:
                self._send(node, path[:-1], outputs, is_dead=False)
        elif node.type in _NEXT:
            if outputs[0] is not DEAD:
                self._send(node, self._next(path), outputs, is_dead=False)
        else:
            self._send(node, path, outputs, is_dead=is_dead)

    def _next(self, path: Path) -> Path:
        """The next iteration, into which constants of the frame come when it begins."""
        (*outer, (name, iteration)) = path
        frame = (tuple(outer), name)
        following = (*outer, (name, iteration + 1))
        if iteration + 1 not in self._iterations[frame]:
            self._iterations[frame].add(iteration + 1)
            for node, outputs, is_dead in self._constants.get(frame, ()):
                self._send(node, following, outputs, is_dead=is_dead)
        return following

    def _send(self, node: Node, path: Path, outputs: Sequence[Value], *, is_dead: bool) -> None:
        """Give outputs, and word of the end, to all that wait for them in an iteration."""
        if not path:
            self._values |= {Output(node.name, index): value for index, value in enumerate(outputs)}
        for consumer in self._consumers.get(node.name, ()):
            for number, tensor in enumerate(consumer.inputs):
                if tensor.node == node.name and tensor not in self._feeds:
                    self._arrive(consumer, path, number, outputs[tensor.index])
            if node.name in consumer.controls:
                self._arrive(consumer, path, f"^{node.name}", DEAD if is_dead else np.True_)

    def _dead_exits(self) -> list[tuple[str, Path, str]]:
        return [key for key, is_done in self._exits.items() if not is_done]


def _truth(predicate: Value) -> bool:
    value = np.asarray(taken(predicate))
    if value.shape:
        raise FailedError("INVALID_ARGUMENT", f"a predicate has shape {value.shape}")
    return bool(value)


def perform(
    session: Session,
    fetches: Sequence[Output],
    feeds: Mapping[Output, Value] | None = None,
    targets: Sequence[str] = (),
    choose: Choose = first,
) -> list[Value]:
    """The values of a run's fetches, from its beginning to its end.

    Args:
      session: the session.
      fetches: the tensors whose values are wanted.
      feeds: values that take the place of tensors.
      targets: operations that are executed besides.
      choose: which ready activity executes next.

    Raises:
      FailedError: the run failed.
      WaitsError: it waits for what no operation of its own can do, and was cancelled.

    """
    run = Run(session, session.graph, fetches, targets, feeds or {})
    try:
        proceed([run], choose)
    except WaitsError:
        run.cancel("CANCELLED")
        raise
    return run.values()


def proceed(runs: Sequence[Run], choose: Choose = first) -> None:
    """Execute runs side by side until all are over.

    Raises:
      WaitsError: those that are not over wait for one another, or for a run that is not here.

    """
    executed = 0
    while not all(run.is_over for run in runs):
        ready = [(run, number) for run in runs for number in range(len(run.ready))]
        if ready:
            run, number = ready[choose(len(ready))]
            run.choose = choose
            executed += 1
            if executed > _MOST_ACTIVITIES:
                raise FailedError("RESOURCE_EXHAUSTED", "the runs execute without end")
            if run.execute(number):
                for other in runs:
                    other.try_again()
        elif not any(run.end_a_loop() for run in runs):
            raise WaitsError
