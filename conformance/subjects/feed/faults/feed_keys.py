"""Faults of FEED: what a feed replaces, for how long, and which keys are taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import (
    UPDATES,
    data_inputs,
    editing,
    elements,
    fed,
    needed,
    running,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import (
    Call,
    Element,
    FeedDict,
    Feeds,
    Fetches,
    Session,
    Tensor,
    Value,
)
from sessrun.spec.proto.graph_pb2 import GraphDef

__all__ = ["hasty", "is_tensor", "resolved"]


def resolved(session: Session, feeds: FeedDict) -> list[tuple[Tensor, Any]]:
    """The feeds whose keys are names of tensors or tensors, as pairs of tensor and value."""
    single = [(key, value) for key, value in feeds.items() if not isinstance(key, tuple)]
    pairs = [(elements(session, [key]), value) for key, value in single]
    return [(keys[0], value) for keys, value in pairs if keys and is_tensor(keys[0])]


def is_tensor(element: Element) -> TypeGuard[Tensor]:
    """Whether a graph element is a tensor, not an operation."""
    return hasattr(element, "value_index")


def hasty(tf: Namespace, concerns: Callable[[Session, FeedDict], bool]) -> Namespace:
    """The namespace that executes the updates of a run before it refuses the run's feeds.

    It does so where `concerns(session, feeds)`, and where the updates need no placeholder.
    """

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except (TypeError, ValueError):
            if isinstance(feeds, Mapping) and concerns(session, feeds):
                for op in needed(elements(session, fetches), fed(session, feeds)):
                    above = {above.type for above in needed([op], [])}
                    if op.type in UPDATES and "Placeholder" not in above:
                        base(op, {})
            raise

    return running(tf, change)


# --- what a feed replaces -----------------------------------------------------------------


@fault("FEED-001", "Of three or more consumers of a fed computation the last computes its own.")
def forgets_the_last_consumer(tf: Namespace) -> Namespace:
    """Give the last consumer of a product a copy of the product."""

    def change(definition: GraphDef) -> None:
        for node in [node for node in definition.node if node.op == "Mul"]:
            users = [user for user in definition.node if node.name in data_inputs(user)]
            if len(users) > 2:
                copy = definition.node.add()
                copy.CopyFrom(node)
                copy.name = f"{node.name}/again"
                last = users[-1].input
                last[:] = [copy.name if name == node.name else name for name in last]

    return editing(tf, change)


@fault("FEED-002", "Scalar constants are inlined, and keep their values although they are fed.")
def constants_cannot_be_fed(tf: Namespace) -> Namespace:
    """Drop the feeds of scalars for constants that are scalars."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        given = feeds if isinstance(feeds, Mapping) else {}
        dropped = {
            tensor.name
            for tensor, value in resolved(session, given)
            if tensor.op.type == "Const" and tensor.shape.ndims == np.ndim(value) == 0
        }
        if not dropped:
            return base(fetches)
        kept = {k: v for k, v in given.items() if getattr(k, "name", k) not in dropped}
        return base(fetches, kept)

    return running(tf, change)


@fault("FEED-003", "A matrix product that a bias is added to is fused, and cannot be fed.")
def fuses_matmul_and_bias(tf: Namespace) -> Namespace:
    """Let each BiasAdd compute the product itself."""

    def change(definition: GraphDef) -> None:
        nodes = {node.name: node for node in definition.node}
        for node in [node for node in definition.node if node.op == "BiasAdd"]:
            product = nodes.get(data_inputs(node)[0])
            if product is not None and product.op == "MatMul":
                fused = definition.node.add()
                fused.CopyFrom(product)
                fused.name = f"{node.name}/product"
                node.input[0] = fused.name

    return editing(tf, change)


@fault("FEED-004", "Feeding one output of an operation feeds its other outputs of that shape.")
def feeds_every_output(tf: Namespace) -> Namespace:
    """Add feeds for the other outputs of the same dtype and shape."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        pairs = resolved(session, feeds)
        given = {tensor.name for tensor, _ in pairs}
        more = {
            other: value
            for tensor, value in pairs
            for other in tensor.op.outputs
            if other.name not in given
            and (other.dtype, str(other.shape)) == (tensor.dtype, str(tensor.shape))
        }
        return base(fetches, {**feeds, **more}) if more else base(fetches)

    return running(tf, change)


# --- how long a feed holds, and what is not fed -------------------------------------------


@fault("FEED-005", "A fed constant keeps the fed value in later runs of its session.")
def fed_constants_stay(tf: Namespace) -> Namespace:
    """Feed the constants again that an earlier run fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        memory = session.__dict__.setdefault("constants_fed", {})
        pairs = resolved(session, feeds) if isinstance(feeds, Mapping) else []
        given = {tensor.name for tensor, _ in pairs}
        stale = {name: value for name, value in memory.items() if name not in given}
        values = base(fetches, {**(feeds or {}), **stale}) if stale else base(fetches)
        memory.update({t.name: value for t, value in pairs if t.op.type == "Const"})
        return values

    return running(tf, change)


@fault("FEED-007", "A vector of known size that is not fed is zeros.")
def unfed_vectors_are_zeros(tf: Namespace) -> Namespace:
    """Feed zeros to needed placeholders that the caller does not feed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = fed(session, feeds)
        names = {tensor.name for tensor in given}
        missing = [
            op.outputs[0]
            for op in needed(elements(session, fetches), given)
            if op.type == "Placeholder" and op.outputs[0].name not in names
        ]
        zeros = {
            tensor: np.zeros(tensor.shape.as_list(), tensor.dtype.as_numpy_dtype)
            for tensor in missing
            if tensor.shape.ndims == 1 and tensor.shape.is_fully_defined()
        }
        return base(fetches, {**(feeds or {}), **zeros}) if zeros else base(fetches)

    return running(tf, change)


@fault("FEED-009", "A placeholder with a default must be fed.")
def defaults_are_not_used(tf: Namespace) -> Namespace:
    """Raise InvalidArgumentError, as for a placeholder without a default."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        for op in needed(elements(session, fetches), fed(session, feeds)):
            if op.type == "PlaceholderWithDefault":
                raise tf.errors.InvalidArgumentError(None, op, "a placeholder must be fed")
        return base(fetches)

    return running(tf, change)


# --- keys ---------------------------------------------------------------------------------


@fault("FEED-016", "Names cannot be feed keys beside tensors.")
def names_and_tensors_do_not_mix(tf: Namespace) -> Namespace:
    """Refuse a feed_dict with keys of both kinds."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        keys = list(feeds) if isinstance(feeds, Mapping) else []
        valid = len(fed(session, feeds)) == len(keys)
        if valid and len({isinstance(key, str) for key in keys}) > 1:
            raise TypeError("feed keys must be of one kind")
        return base(fetches)

    return running(tf, change)


@fault("FEED-017", "An Operation as a feed key stands for its first output.")
def operations_are_keys(tf: Namespace) -> Namespace:
    """Replace Operation keys by their first output, and drop those without outputs."""

    def change(_session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        operations = [key for key in feeds if isinstance(key, tf.Operation)]
        outputs = {op.outputs[0]: feeds[op] for op in operations if op.outputs}
        rest = {key: value for key, value in feeds.items() if key not in operations}
        return base(fetches, {**rest, **outputs}) if operations else base(fetches)

    return running(tf, change)


@fault("FEED-018", "A name that the graph lacks is no error as a feed key.")
def ignores_unknown_keys(tf: Namespace) -> Namespace:
    """Drop the names that no element has."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        unknown = [key for key in feeds if isinstance(key, str) and not elements(session, [key])]
        rest = {key: value for key, value in feeds.items() if key not in unknown}
        return base(fetches, rest) if unknown else base(fetches)

    return running(tf, change)


@fault("FEED-019", "A tensor of another graph feeds the tensor of its name.")
def feeds_by_name_across_graphs(tf: Namespace) -> Namespace:
    """Replace such keys by their names where the session's graph has those."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        if not isinstance(feeds, Mapping):
            return base(fetches)
        foreign = [
            key
            for key in feeds
            if isinstance(key, tf.Tensor)
            and key.graph is not session.graph
            and elements(session, [key.name])
        ]
        renamed = {(k.name if k in foreign else k): v for k, v in feeds.items()}
        return base(fetches, renamed) if foreign else base(fetches)

    return running(tf, change)


@fault("FEED-020", "Updates execute before an invalid feed key is found.")
def updates_before_checking_keys(tf: Namespace) -> Namespace:
    """Execute the updates where some key is no tensor of the graph."""
    return hasty(tf, lambda session, feeds: len(resolved(session, feeds)) < len(feeds))
