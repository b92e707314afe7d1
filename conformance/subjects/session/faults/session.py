"""Faults of SESSION: construction, closing, the state that a session holds, growing graphs."""

from __future__ import annotations

import weakref
from collections.abc import Sequence

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Array, Fetches, Graph, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto

_VARIABLES = {"VarHandleOp", "VariableV2", "Variable"}


def _registered(tf: Namespace) -> Namespace:
    """The namespace whose sessions know the other open sessions that were made for a graph.

    A case on the API surface may leave a session of the default graph open: those are left out.
    """
    family = []

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            if kwargs.get("graph") is not None:
                family.append(self)

        def close(self) -> None:
            if self in family:
                family.remove(self)
            super().close()

        def peers(self, *, same: bool) -> list[Session]:
            """The open sessions whose graph equals this one's, or differs; the oldest first."""
            mine = self.graph.as_graph_def()
            return [s for s in family if (s.graph.as_graph_def() == mine) is same]

    return override(tf, Session=Session)


def _names(fetches: Fetches) -> list[str]:
    """The fetches if they are a list of names, as the engine surface has them."""
    listed = fetches if isinstance(fetches, list) else []
    names = [item for item in listed if isinstance(item, str)]
    return names if len(names) == len(listed) else []


def _reads(graph: Graph) -> set[str]:
    """The names of the operations that read a resource variable or pass on what one read."""
    reads: set[str] = set()
    for op in graph.get_operations():  # producers stand before their consumers
        passes = op.type == "Identity" and op.inputs[0].op.name in reads
        if passes or op.type == "ReadVariableOp":
            reads.add(op.name)
    return reads


# --- construction -------------------------------------------------------------------------


@fault("SESSION-001", "A session without a graph runs whichever graph is the default.")
def follows_the_default_graph(tf: Namespace) -> Namespace:
    """Looks the default graph up at each run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            self.follows = graph is None

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            current = tf.get_default_graph()
            if self.follows and current is not self.graph and current.get_operations():
                return tf.Session(graph=current).run(*args, **kwargs)
            return super().run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-002", "A default graph that has operations wins over the graph argument.")
def ignores_the_graph_argument(tf: Namespace) -> Namespace:
    """Takes the graph argument only while the default graph is empty."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            used = tf.get_default_graph().get_operations() and isinstance(graph, tf.Graph)
            super().__init__(target, None if used else graph, config)

    return override(tf, Session=Session)


@fault("SESSION-003", "Session.graph is an object that stands for the graph, not the graph.")
def graph_property_is_a_stand_in(tf: Namespace) -> Namespace:
    """Gives a stand-in outside the session's own blocks and runs."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        inside = True

        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            self.inside = False

        @property
        def graph(self) -> Graph:
            real = super().graph
            own = self.inside or tf.get_default_session() is self
            return real if own else Overlay(real, {})

    return override(tf, Session=Session)


@fault("SESSION-004", "A graph argument that is no Graph counts as none.")
def accepts_any_graph_argument(tf: Namespace) -> Namespace:
    """Launches the default graph instead."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph if isinstance(graph, tf.Graph) else None, config)

    return override(tf, Session=Session)


@fault("SESSION-005", "A config argument that is no ConfigProto counts as none.")
def accepts_any_config_argument(tf: Namespace) -> Namespace:
    """Uses the default configuration instead."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config if hasattr(config, "device_count") else None)

    return override(tf, Session=Session)


@fault("SESSION-006", "Every target means the in-process engine.")
def accepts_any_target(tf: Namespace) -> Namespace:
    """Ignores the target."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__("" if isinstance(target, str) else target, graph, config)

    return override(tf, Session=Session)


@fault("SESSION-007", "A session lists two CPU devices at most, whatever its config asks for.")
def lists_two_cpus(tf: Namespace) -> Namespace:
    """Leaves out the CPU devices after the second."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def list_devices(self) -> Sequence[ListedDevice]:
            listed = super().list_devices()
            cpus = [device for device in listed if device.device_type == "CPU"]
            return [device for device in listed if device not in cpus[2:]]

    return override(tf, Session=Session)


# --- closing ------------------------------------------------------------------------------


@fault("SESSION-026", "A closed session opens itself anew when it is run.")
def closed_session_runs(tf: Namespace) -> Namespace:
    """Runs in a fresh session of the same graph once closed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        closed = False

        def close(self) -> None:
            self.closed = True
            super().close()

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            run = tf.Session(graph=self.graph).run if self.closed else super().run
            return run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-027", "A closed session still lists the devices it had.")
def closed_session_lists_devices(tf: Namespace) -> Namespace:
    """Remembers the devices at the first close."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        devices = None

        def close(self) -> None:
            self.devices = self.devices or super().list_devices()
            super().close()

        def list_devices(self) -> Sequence[ListedDevice]:
            return self.devices or super().list_devices()

    return override(tf, Session=Session)


@fault("SESSION-028", "Closing a closed session raises.")
def closing_twice_raises(tf: Namespace) -> Namespace:
    """Raises RuntimeError at the second close."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        closed = False

        def close(self) -> None:
            if self.closed:
                raise RuntimeError("the session is closed already")
            self.closed = True
            super().close()

    return override(tf, Session=Session)


@fault("SESSION-029", "Closing a session that never ran raises, but for the end of a with block.")
def closing_unused_raises(tf: Namespace) -> Namespace:
    """Raises FailedPreconditionError from close() before the first run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        used = False

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            self.used = True
            return super().run(*args, **kwargs)

        def __exit__(self, *raised: object) -> bool | None:
            self.used = True
            return super().__exit__(*raised)

        def close(self) -> None:
            if not self.used:
                raise tf.errors.FailedPreconditionError(None, None, "no step has been run")
            super().close()

    return override(tf, Session=Session)


# --- state --------------------------------------------------------------------------------


@fault("SESSION-031", "Closing a session closes every session of an equal graph.")
def closing_closes_the_others(tf: Namespace) -> Namespace:
    """Closes the peers too."""
    tf = _registered(tf)

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            for other in self.peers(same=True):
                if other is not self:
                    tf.Session.close(other)
            super().close()

    return override(tf, Session=Session)


@fault("SESSION-032", "Sessions opened on equal graphs share the variables of the first.")
def equal_graphs_share_state(tf: Namespace) -> Namespace:
    """Sends fetches by name to the oldest open session of an equal graph."""
    tf = _registered(tf)

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            stateful = any(op.type in _VARIABLES for op in self.graph.get_operations())
            peers = self.peers(same=True) if stateful and _names(fetches) else []
            owner = peers[0] if self in peers else self
            return tf.Session.run(owner, fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-033", "A session starts with the values that the last one of its graph left.")
def state_outlives_the_session(tf: Namespace) -> Namespace:
    """Saves resource variables at close, by graph, and restores them in the next session."""
    left: dict[bytes, dict[str, Array]] = {}

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(self, *args: Argument, **kwargs: Argument) -> None:
            super().__init__(*args, **kwargs)
            self.key = self.graph.as_graph_def().SerializeToString(deterministic=True)
            saved = left.pop(self.key, {})
            for op in self.graph.get_operations():
                if op.type == "AssignVariableOp" and op.inputs[0].op.name in saved:
                    super().run(op, {op.inputs[1]: saved[op.inputs[0].op.name]})

        def close(self) -> None:
            for op in self.graph.get_operations():
                if op.type == "ReadVariableOp" and not op.control_inputs:
                    try:
                        value = super().run(op.outputs[0])
                    except (tf.errors.OpError, RuntimeError):
                        continue
                    left.setdefault(self.key, {})[op.inputs[0].op.name] = value
            super().close()

    return override(tf, Session=Session)


@fault("SESSION-034", "A variable's name means the one of that name in the session opened first.")
def names_are_shared_by_graphs(tf: Namespace) -> Namespace:
    """Sends a variable fetched by name to the oldest open session of another graph that has one."""
    tf = _registered(tf)

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            names = {name.partition(":")[0] for name in _names(fetches)}
            for other in self.peers(same=False) if names <= _reads(self.graph) else []:
                if names and names <= _reads(other.graph):
                    return tf.Session.run(other, fetches, *args, **kwargs)
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


# --- growing graphs -----------------------------------------------------------------------


@fault("SESSION-035", "A name is looked up in the graph as it was at the first run.")
def looks_names_up_in_the_first_graph(tf: Namespace) -> Namespace:
    """Refuses fetches by name of nodes added later."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        known: set[str] | None = None

        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            now = {op.name for op in self.graph.get_operations()}
            self.known = self.known or now
            for name in [fetches] if isinstance(fetches, str) else _names(fetches):
                if name.partition(":")[0] in now - self.known:
                    raise ValueError(f"{name} is not in the graph of this session")
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-036", "A variable added to the graph of a session resets its variables.")
def growth_resets_the_variables(tf: Namespace) -> Namespace:
    """Goes on in a fresh session once the number of variables has changed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        count: int | None = None
        engine: Session | None = None

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            count = sum(op.type in _VARIABLES for op in self.graph.get_operations())
            if self.count not in {None, count}:
                self.engine = tf.Session(graph=self.graph)
            self.count = count
            run = self.engine.run if self.engine else super().run
            return run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-037", "What is added to a graph reaches only the first session that runs then.")
def growth_reaches_one_session(tf: Namespace) -> Namespace:
    """Remembers which session took each growth; the others fail from then on."""
    taken: weakref.WeakKeyDictionary[Graph, dict[int, Session]] = weakref.WeakKeyDictionary()

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        first = 0

        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            size = len(self.graph.get_operations())
            self.first = self.first or size
            growths = taken.setdefault(self.graph, {})
            if size > self.first and growths.setdefault(size, self) is not self:
                raise tf.errors.NotFoundError(None, None, "another session extended the graph")
            return super().run(*args, **kwargs)

    return override(tf, Session=Session)


@fault("SESSION-038", "A run adds an operation to its graph.")
def running_adds_an_operation(tf: Namespace) -> Namespace:
    """Adds a NoOp after each run."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(*args, **kwargs)
            with self.graph.as_default():
                tf.no_op(name="ran")
            return values

    return override(tf, Session=Session)


@fault("SESSION-039", "An empty list of fetches succeeds on an empty graph.")
def empty_graph_runs(tf: Namespace) -> Namespace:
    """Answers an empty list without a look at the graph."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            if isinstance(fetches, list) and not fetches and not self.graph.get_operations():
                return []
            return super().run(fetches, *args, **kwargs)

    return override(tf, Session=Session)
