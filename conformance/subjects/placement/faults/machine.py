"""Faults of PLACEMENT: colocation settled otherwise, devices listed that are not there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sessrun.conformance.faulty.framework import fault, override
from sessrun.conformance.faulty.run_fragments import editing, running
from sessrun.conformance.subjects.placement.faults.placing import configuring
from sessrun.spec.cases.arguments import Argument
from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, FeedDict, Fetches, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto
from sessrun.spec.proto.graph_pb2 import GraphDef


@fault("PLACEMENT-040", "A node's colocation group is nothing but a wish.")
def groups_are_wishes(tf: Namespace) -> Namespace:
    """Drop the groups of imported nodes."""

    def change(definition: GraphDef) -> None:
        for node in definition.node:
            node.attr.pop("_class", None)

    return editing(tf, change)


@fault("PLACEMENT-041", "Soft placement does not settle what a colocation group asks for.")
def contradictions_stay_hard(tf: Namespace) -> Namespace:
    """Refuse a graph in which an operation is in the groups of others on different devices."""

    def change(session: Session, base: Call, fetches: Fetches, _feeds: FeedDict) -> Value:
        for op in session.graph.get_operations():
            names = [group[5:].decode() for group in op.colocation_groups()]
            others = [session.graph.get_operation_by_name(name) for name in names]
            asked = {other.device for other in others if other.device}
            if session.configuration.allow_soft_placement and len(asked) > 1:
                raise tf.errors.InvalidArgumentError(None, op, "the group contradicts itself")
        return base(fetches)

    return running(configuring(tf, lambda _config: None), change)


@fault("SESSION-007", "A session has at most two CPUs.")
def at_most_two_cpus(tf: Namespace) -> Namespace:
    """Lower the count."""

    def change(config: ConfigProto) -> None:
        if config.device_count.get("CPU", 1) > 2:
            config.device_count["CPU"] = 2

    return configuring(tf, change)


@fault("PLACEMENT-043", "A count of devices of a type that there is none of is refused.")
def counts_are_of_known_types(tf: Namespace) -> Namespace:
    """Refuse it when the session opens."""

    def change(config: ConfigProto) -> None:
        if not {"CPU", "GPU"}.issuperset(config.device_count):
            raise tf.errors.InvalidArgumentError(None, None, "a count of unknown devices")

    return configuring(tf, change)


@fault("PLACEMENT-044", "A session that asks for no CPU has one all the same.")
def there_is_always_a_cpu(tf: Namespace) -> Namespace:
    """Raise the count to one."""

    def change(config: ConfigProto) -> None:
        if config.device_count.get("CPU", 1) < 1:
            config.device_count["CPU"] = 1

    return configuring(tf, change)


@fault("PLACEMENT-045", "Device filters of an in-process session are not looked at.")
def filters_are_not_looked_at(tf: Namespace) -> Namespace:
    """Clear `device_filters` of the ConfigProto."""

    def change(config: ConfigProto) -> None:
        del config.device_filters[:]

    return configuring(tf, change)


def listing(
    tf: Namespace, change: Callable[[Session, Iterable[ListedDevice]], Iterable[ListedDevice]]
) -> Namespace:
    """The namespace whose sessions list `change(session, devices)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def list_devices(self) -> list[ListedDevice]:
            return list(change(self, super().list_devices()))

    return override(tf, Session=Session)


@fault("PLACEMENT-046", "A session lists the devices that its filters name.")
def filters_hide_devices(tf: Namespace) -> Namespace:
    """List only the devices that match a device filter."""

    def change(session: Session, devices: Iterable[ListedDevice]) -> Iterable[ListedDevice]:
        filters = [
            tf.DeviceSpec.from_string(text).to_string()
            for text in session.configuration.device_filters
        ]
        return [d for d in devices if not filters or any(text in d.name for text in filters)]

    return listing(configuring(tf, lambda _config: None), change)


@dataclass(frozen=True, slots=True)
class _Device:
    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int


@fault("PLACEMENT-047", "The incarnation of a device is its number.")
def incarnations_are_numbers(tf: Namespace) -> Namespace:
    """Count the devices."""

    def change(_session: Session, devices: Iterable[ListedDevice]) -> Iterable[ListedDevice]:
        for number, device in enumerate(devices):
            yield _Device(device.name, device.device_type, device.memory_limit_bytes, number + 1)

    return listing(tf, change)


@fault("PLACEMENT-048", "colocate_with has no effect.")
def colocation_is_ignored(tf: Namespace) -> Namespace:
    """Enter nothing."""
    return override(tf, colocate_with=lambda *_args, **_kwargs: contextlib.nullcontext())


def physical(tf: Namespace, change: Callable[[Call, str | None], Argument]) -> Namespace:
    """The namespace that lists `change(base, device_type)` as the machine's devices."""

    def list_physical_devices(device_type: str | None = None) -> Argument:
        return change(tf.config.list_physical_devices, device_type)

    inner = override(tf.config.experimental, list_physical_devices=list_physical_devices)
    group = override(tf.config, list_physical_devices=list_physical_devices, experimental=inner)
    return override(tf, config=group)


@fault("PLACEMENT-049", "A physical device is named as sessions name it.")
def physical_devices_are_named_as_logical(tf: Namespace) -> Namespace:
    """Drop the word."""

    def change(base: Call, device_type: str | None) -> Argument:
        return [d._replace(name=d.name.replace("physical_", "")) for d in base(device_type)]

    return physical(tf, change)


@fault("PLACEMENT-050", "The first GPU has a name, whether there is one or not.")
def gpus_have_names(tf: Namespace) -> Namespace:
    """Return "/device:GPU:0" as the name of the first GPU."""
    test = override(tf.test, gpu_device_name=lambda: "/device:GPU:0")
    return override(tf, test=test)


@fault("PLACEMENT-051", "An unknown type of device lists them all.")
def unknown_types_list_all(tf: Namespace) -> Namespace:
    """Ask for all of them then."""

    def change(base: Call, device_type: str | None) -> Argument:
        return base(device_type if device_type in {"CPU", "GPU"} else None)

    return physical(tf, change)
