"""Faults of RANDOM: other numbers, other seeds, streams that restart or are drawn from twice."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import editing, elements, fed, needed, running
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Array,
    Call,
    FeedDict,
    Feeds,
    Fetch,
    Fetches,
    Graph,
    Operation,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef

#: The functions that make an operation with seeds.
_MAKERS: Final = (
    "multinomial",
    "random_normal",
    "random_shuffle",
    "random_uniform",
    "truncated_normal",
)


def _exchanging(tf: Namespace, *op_types: str) -> Namespace:
    """The namespace in which imported nodes of these types have their seeds exchanged."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            if node.op in op_types:
                seeds = node.attr["seed"].i, node.attr["seed2"].i
                node.attr["seed2"].i, node.attr["seed"].i = seeds

    return editing(tf, change)


@fault("RANDOM-001", "RandomUniform counts from its first seed, and has the second as its key.")
def uniform_exchanges_its_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "RandomUniform")


@fault("RANDOM-002", "RandomUniformInt counts from its first seed.")
def integers_exchange_their_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "RandomUniformInt")


@fault("RANDOM-003", "RandomShuffle counts from its first seed.")
def shuffles_exchange_their_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "RandomShuffle")


@fault("RANDOM-005", "RandomStandardNormal counts from its first seed.")
def normals_exchange_their_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "RandomStandardNormal")


@fault("RANDOM-006", "TruncatedNormal counts from its first seed.")
def truncated_normals_exchange_their_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "TruncatedNormal")


@fault("RANDOM-007", "Multinomial counts from its first seed.")
def classes_exchange_their_seeds(tf: Namespace) -> Namespace:
    """Exchange the seeds of imported nodes."""
    return _exchanging(tf, "Multinomial")


def _seeded(session: Session, fetches: Fetches, feeds: Feeds) -> list[Operation]:
    """The random operations with seeds that a run executes."""
    ops = needed(elements(session, fetches), fed(session, feeds))
    return [op for op in ops if any(op.node_def.attr[name].i for name in ("seed", "seed2"))]


@fault("RANDOM-004", "A run takes twice as many numbers of a stream as TensorFlow's does.")
def takes_twice_as_much(tf: Namespace) -> Namespace:
    """Execute the seeded random operations of a run once more after it."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        values = base(fetches)
        ops = _seeded(session, fetches, feeds)
        if ops:
            base(ops)
        return values

    return running(tf, change)


def _making(tf: Namespace, change: Callable[[Graph, int | None], int | None]) -> Namespace:
    """The namespace whose makers get `change(graph, seed)` instead of the caller's seed.

    What `change` does to the graph's seed lasts for the call.
    """

    def wrapped(make: Call) -> Call:
        signature = inspect.signature(make)

        @functools.wraps(make)
        def maker(*args: Argument, **kwargs: Argument) -> Tensor:
            bound = signature.bind(*args, **kwargs)
            graph = tf.get_default_graph()
            kept = graph.seed
            bound.arguments["seed"] = change(graph, bound.arguments.get("seed"))
            try:
                return make(*bound.args, **bound.kwargs)
            finally:
                graph.seed = kept

        return maker

    return override(tf, **{name: wrapped(getattr(tf, name)) for name in _MAKERS})


@fault("RANDOM-008", "The second seed is how many operations of any kind the graph has.")
def numbers_by_all_operations(tf: Namespace) -> Namespace:
    """Give the graph's size as own seed, as early versions of TensorFlow did."""

    def change(graph: Graph, seed: int | None) -> int | None:
        return len(graph.get_operations()) if seed is None and graph.seed is not None else seed

    return _making(tf, change)


@fault("RANDOM-009", "Beside an own seed in a graph without one stands 1.")
def own_seeds_stand_beside_one(tf: Namespace) -> Namespace:
    """Set the graph's seed for the call."""

    def change(graph: Graph, seed: int | None) -> int | None:
        if seed is not None and graph.seed is None:
            graph.seed = 1
        return seed

    return _making(tf, change)


@fault("RANDOM-010", "A seed too large is taken as the largest.")
def cuts_seeds_off(tf: Namespace) -> Namespace:
    """Replace own seeds above the largest."""
    return _making(tf, lambda _, seed: None if seed is None else min(seed, 2**31 - 2))


@fault("RANDOM-011", "get_seed returns the seeds as they were given.")
def returns_seeds_as_given(tf: Namespace) -> Namespace:
    """Look at the graph's seed and the argument alone."""

    def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
        return tf.get_default_graph().seed, op_seed

    return override(tf, get_seed=get_seed)


def _fresh(tf: Namespace, session: Session, ops: list[Operation]) -> dict[Tensor, Array]:
    """What the operations draw first in a new session, by tensor."""
    with tf.Session(graph=session.graph) as other:
        values = other.run([op.outputs[0] for op in ops])
    return {op.outputs[0]: value for op, value in zip(ops, values, strict=True)}


@fault("RANDOM-012", "The streams restart after the graph has grown.")
def streams_restart_after_growth(tf: Namespace) -> Namespace:
    """Feed what a new session draws in the first run of a graph that is larger than before."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        size = len(session.graph.get_operations())
        before = session.__dict__.setdefault("size_at_run", size)
        session.size_at_run = size
        ops = _seeded(session, fetches, feeds) if size > before else []
        if not ops:
            return base(fetches)
        return base(fetches, {**(feeds or {}), **_fresh(tf, session, ops)})

    return running(tf, change)


@fault("RANDOM-013", "A callable has streams of its own.")
def callables_have_their_own_streams(tf: Namespace) -> Namespace:
    """Make callables without feeds in a session of their own where they draw alone."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def make_callable(
            self,
            fetches: Fetches,
            feed_list: Sequence[Fetch] | None = None,
            accept_options: bool = False,
        ) -> Call:
            ops = needed(elements(self, fetches), [])
            seeded = _seeded(self, fetches, None)
            alone = seeded and all(op.type == "Const" or op in seeded for op in ops)
            if feed_list or accept_options or not alone:
                return super().make_callable(fetches, feed_list, accept_options)
            self.own = tf.Session(graph=self.graph)
            return self.own.make_callable(fetches)

    return override(tf, Session=Session)


@fault("RANDOM-014", "A partial run draws from the beginning of the stream.")
def partial_runs_begin_anew(tf: Namespace) -> Namespace:
    """Replace fetched random tensors of a partial run by what a new session draws."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def partial_run(self, handle: str, fetches: Fetches, feed_dict: Feeds = None) -> Value:
            values = super().partial_run(handle, fetches, feed_dict)
            fetched = elements(self, fetches)
            if not isinstance(fetches, list) or len(fetched) != len(fetches):
                return values
            seeded = {op.outputs[0] for op in _seeded(self, fetches, feed_dict)} & {
                element for element in fetched if hasattr(element, "op")
            }
            drawn = _fresh(tf, self, [tensor.op for tensor in seeded])
            return [
                drawn.get(element, value) if hasattr(element, "op") else value
                for element, value in zip(fetched, values, strict=True)
            ]

    return override(tf, Session=Session)
