"""Faults of PLACEMENT: wrong devices, too many or too few placed nodes, misread device strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import (
    UPDATES,
    data_inputs,
    editing,
    elements,
    fed,
    running,
)
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Graph, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto
from sessrun.spec.proto.graph_pb2 import GraphDef

#: The types of device that a selective engine has heard of.
_KNOWN: Final = frozenset({"CPU", "GPU", "TPU"})


def renaming(tf: Namespace, change: Callable[[str], str]) -> Namespace:
    """The namespace that imports a GraphDef with each device string changed."""

    def edit(definition: GraphDef) -> None:
        for node in definition.node:
            node.device = change(node.device)

    return editing(tf, edit)


def configuring(tf: Namespace, change: Callable[[ConfigProto], object]) -> Namespace:
    """The namespace whose sessions open with a copy of their configuration, changed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            self.configuration = tf.ConfigProto()
            if config is None or isinstance(config, tf.ConfigProto):
                self.configuration.MergeFrom(config or self.configuration)
                change(self.configuration)
                config = self.configuration
            super().__init__(target, graph, config)

    return override(tf, Session=Session)


@fault("PLACEMENT-013", "The index of a CPU does not matter: there is always one.")
def every_cpu_is_the_first(tf: Namespace) -> Namespace:
    """Take any CPU for any other, whatever its number."""
    return renaming(tf, lambda device: re.sub(r"(?i)(cpu:)\d+", r"\1*", device))


@fault("PLACEMENT-014", "A session does not open on a graph with a device type it never heard of.")
def unknown_types_are_refused_at_once(tf: Namespace) -> Namespace:
    """Look at the device types of the graph when the session opens."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            for op in self.graph.get_operations():
                if (tf.DeviceSpec.from_string(op.device).device_type or "CPU") not in _KNOWN:
                    self.close()
                    raise tf.errors.InvalidArgumentError(None, op, "an unknown device type")

    return override(tf, Session=Session)


@fault("PLACEMENT-015", "A session places only the operations that a run needs.")
def places_what_is_needed(tf: Namespace) -> Namespace:
    """Turn `place_pruned_graph` on."""

    def change(config: ConfigProto) -> None:
        config.graph_options.place_pruned_graph = True

    return configuring(tf, change)


@fault("PLACEMENT-016", "A run places the graph although all that it fetches is fed.")
def places_for_the_fed(tf: Namespace) -> Namespace:
    """Run an operation of no effect beside fetches that are all fed."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        given = {tensor.name for tensor in fed(session, feeds)}
        idle = [op for op in session.graph.get_operations() if op.type == "NoOp"][:1]
        if idle and given.issuperset(e.name for e in elements(session, fetches)):
            return base([fetches, idle])[0]
        return base(fetches)

    return running(tf, change)


@fault("PLACEMENT-017", "place_pruned_graph has no effect.")
def never_prunes(tf: Namespace) -> Namespace:
    """Turn `place_pruned_graph` off."""

    def change(config: ConfigProto) -> None:
        config.graph_options.place_pruned_graph = False

    return configuring(tf, change)


@fault("PLACEMENT-019", "A session that places only what is needed places what is fed too.")
def places_above_a_feed(tf: Namespace) -> Namespace:
    """Run the operations whose outputs are fed, but for placeholders."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        above = [tensor.op for tensor in fed(session, feeds) if tensor.op.type != "Placeholder"]
        if above and session.configuration.graph_options.place_pruned_graph:
            return base([fetches, above])[0]
        return base(fetches)

    return running(configuring(tf, lambda _config: None), change)


@fault("PLACEMENT-020", "What has run once needs no placement after the graph has grown.")
def serves_what_ran_before(tf: Namespace) -> Namespace:
    """Give the values of the last run of these fetches if the grown graph fails."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        before = session.__dict__.setdefault("before", {})
        key, size = repr(fetches), len(session.graph.get_operations())
        try:
            values = base(fetches)
        except tf.errors.InvalidArgumentError:
            if key in before and before[key][0] < size:
                return before[key][1]
            raise
        before[key] = size, values
        return values

    return running(tf, change)


@fault("PLACEMENT-021", "allow_soft_placement has no effect.")
def placement_is_always_hard(tf: Namespace) -> Namespace:
    """Turn `allow_soft_placement` off."""

    def change(config: ConfigProto) -> None:
        config.allow_soft_placement = False

    return configuring(tf, change)


@fault("PLACEMENT-022", "Soft placement moves operations of another job or task here.")
def soft_placement_moves_jobs(tf: Namespace) -> Namespace:
    """Where a run with soft placement fails, run the graph without its devices."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: FeedDict) -> Value:
        try:
            return base(fetches)
        except tf.errors.InvalidArgumentError:
            if not session.configuration.allow_soft_placement or not isinstance(fetches, list):
                raise
        here = tf.Graph()
        with here.as_default():
            renaming(tf, lambda _device: "").import_graph_def(session.graph.as_graph_def(), name="")
        with tf.Session(graph=here) as substitute:
            return substitute.run(fetches, feeds)

    return running(configuring(tf, lambda _config: None), change)


@fault("PLACEMENT-023", "The task that an operation names does not matter.")
def tasks_do_not_matter(tf: Namespace) -> Namespace:
    """Drop the task from each device string."""
    return renaming(tf, lambda device: re.sub(r"/task:\d+", "", device))


@fault("PLACEMENT-024", "The session's own job is not known by its name.")
def localhost_is_not_known(tf: Namespace) -> Namespace:
    """Misspell the job."""
    return renaming(tf, lambda device: device.replace("/job:localhost", "/job:worker"))


@fault("PLACEMENT-025", "Control edges between operations on two devices are dropped.")
def control_edges_stay_on_their_device(tf: Namespace) -> Namespace:
    """Drop each control edge whose ends name different devices."""

    def change(definition: GraphDef) -> None:
        devices = {node.name: node.device for node in definition.node}
        for node in definition.node:
            node.input[:] = [
                name
                for name in node.input
                if not (name.startswith("^") and node.device and devices.get(name[1:]))
                or devices[name[1:]] == node.device
            ]

    return editing(tf, change)


@fault("PLACEMENT-026", "An update on another device than its variable has one of its own.")
def updates_keep_to_their_device(tf: Namespace) -> Namespace:
    """Give such an update a handle of its own on the device that it names."""

    def change(definition: GraphDef) -> None:
        nodes = {node.name: node for node in definition.node}
        for node in [n for n in definition.node if n.op in UPDATES and n.device]:
            handle = nodes.get(data_inputs(node)[0])
            if handle is not None and handle.device and handle.device != node.device:
                own = definition.node.add()
                own.CopyFrom(handle)
                own.name, own.device = f"{node.name}/{handle.name}", node.device
                own.attr["shared_name"].s = own.name.encode()
                node.input[0] = own.name

    return editing(tf, change)


@fault("PLACEMENT-029", "A device string that cannot be read names no device.")
def unreadable_devices_are_none(tf: Namespace) -> Namespace:
    """Drop the device strings that a DeviceSpec refuses."""

    def readable(device: str) -> str:
        try:
            tf.DeviceSpec.from_string(device)
        except ValueError:
            return ""
        return device

    return renaming(tf, readable)
