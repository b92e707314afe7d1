"""Named checks of TRACING on whole graphs: how often each node is listed, where, with what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from google.protobuf import json_format

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import FeedDict, Session
from sessrun.spec.forms import Json

if TYPE_CHECKING:  # a worker in an environment of its own has no protobuf
    from sessrun.spec.proto.metadata_pb2 import NodeExecStats

__all__ = ["TracedRun", "listed"]


class TracedRun(TypedDict):
    """The fetches, feeds and trace level of a traced run, and the nodes that are checked."""

    fetches: Sequence[str]
    feeds: FeedDict
    level: str
    nodes: Sequence[str]


def listed(
    tf: Namespace,
    graph: str,
    config: str,
    first: Sequence[str],
    runs: Sequence[TracedRun],
) -> list[dict[str, Json]]:
    """The statistics of nodes in the metadata of traced runs of a graph.

    Args:
      tf: the namespace.
      graph: a GraphDef, and `config` a ConfigProto, in protobuf's JSON mapping.
      config: see there.
      first: the operations to run before, untraced.
      runs: for each traced run its `fetches`, its `feeds`, its `level`, and the `nodes` that are
        asked after.

    Returns:
      for each run for each node that was asked after and is listed, by name: how often, the
      devices that list it, and dtype, shape and bytes of its outputs, by slot.

    """
    options = json_format.Parse(config, tf.ConfigProto())
    with tf.Graph().as_default() as whole:
        tf.import_graph_def(json_format.Parse(graph, tf.GraphDef()), name="")
    with tf.Session(graph=whole, config=options) as session:
        if first:
            session.run(list(first))
        return [_listed(tf, session, **run) for run in runs]


def _listed(
    tf: Namespace,
    session: Session,
    fetches: Sequence[str],
    feeds: FeedDict,
    level: str,
    nodes: Sequence[str],
) -> dict[str, Json]:
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.TraceLevel.Value(level))
    session.run(list(fetches), dict(feeds), options, metadata)
    listings: dict[str, tuple[int, list[str], list[list[Json]]]] = {}
    for device in metadata.step_stats.dev_stats:
        for stats in device.node_stats:
            if stats.node_name in nodes:
                count, devices, outputs = listings.get(stats.node_name, (0, [], []))
                devices = sorted({*devices, device.device})
                outputs = outputs or _outputs(tf, stats)
                listings[stats.node_name] = (count + 1, devices, outputs)
    return {name: list(listings[name]) for name in sorted(listings)}


def _outputs(tf: Namespace, stats: NodeExecStats) -> list[list[Json]]:
    described = []
    for output in stats.output:
        tensor = output.tensor_description
        shape = [dim.size for dim in tensor.shape.dim]
        requested = tensor.allocation_description.requested_bytes
        described.append([output.slot, tf.as_dtype(tensor.dtype).name, shape, requested])
    return sorted(described)
