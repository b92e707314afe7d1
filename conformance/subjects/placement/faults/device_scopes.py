"""Faults of PLACEMENT: device strings, device scopes, device functions, colocation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress

from sessrun.conformance.faulty.framework import Overlay, fault, override
from sessrun.spec.cases.arguments import Argument, DeviceFunction, DeviceLike, DeviceSpec, Scope
from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Element, Fetches, Graph, Operation, Value
from sessrun.spec.proto.config_pb2 import ConfigProto


def _scoping(tf: Namespace, change: Callable[[DeviceLike], DeviceLike]) -> Namespace:
    """The namespace whose `device` opens a scope of `change(device)`."""
    return override(tf, device=lambda device: tf.device(change(device)))


def _of_text(change: Callable[[str], DeviceLike]) -> Callable[[DeviceLike], DeviceLike]:
    """A change of device strings only."""
    return lambda device: change(device) if isinstance(device, str) else device


# --- device strings -----------------------------------------------------------------------


@fault("PLACEMENT-001", "A CPU in small letters is another type of device.")
def small_letters_are_another_type(tf: Namespace) -> Namespace:
    """Give that type a name of its own."""

    def change(text: str) -> str:
        kind, _, index = text.strip("/").removeprefix("device:").partition(":")
        return f"/device:SMALL_CPU:{index}" if kind == "cpu" and index.isdigit() else text

    return _scoping(tf, _of_text(change))


@fault("PLACEMENT-002", "A task that is named before its job is dropped.")
def tasks_follow_their_job(tf: Namespace) -> Namespace:
    """Leave the parts in front of the job out."""

    def change(text: str) -> str:
        _, job, after = text.partition("/job:")
        return job + after if job else text

    return _scoping(tf, _of_text(change))


@fault("PLACEMENT-003", "A device type without an index is the first of its type.")
def no_index_is_the_first(tf: Namespace) -> Namespace:
    """Put the index 0 where it is missing."""

    def change(text: str) -> str:
        return f"{text}:0" if text.strip("/").lower() in {"cpu", "gpu"} else text

    return _scoping(tf, _of_text(change))


@fault("PLACEMENT-004", "A device string that is none is no device.")
def malformed_devices_are_none(tf: Namespace) -> Namespace:
    """Take the empty string in its place."""

    def change(text: str) -> str:
        with suppress(ValueError):
            tf.DeviceSpec.from_string(text)
            return text
        return ""

    return _scoping(tf, _of_text(change))


# --- scopes -------------------------------------------------------------------------------


@fault("PLACEMENT-005", "In nested device scopes the outer scope's parts win.")
def outer_scopes_win(tf: Namespace) -> Namespace:
    """Merge each device string, by a device function, beneath the device that is already set."""
    spec = tf.DeviceSpec.from_string
    depth: list[str] = []

    @contextmanager
    def device(name: str) -> Iterator[None]:
        outer = depth[-1] if depth else ""
        if not (isinstance(name, str) and outer):
            inner = name
        else:
            inner = spec(name).make_merged_spec(spec(outer)).to_string()
        depth.append(inner if isinstance(inner, str) else "")
        try:
            with tf.device(inner):
                yield
        finally:
            depth.pop()

    return override(tf, device=device)


@fault("PLACEMENT-006", "An inner device scope ends the outer ones.")
def inner_scopes_stand_alone(tf: Namespace) -> Namespace:
    """Suspend the outer scopes first."""

    @contextmanager
    def device(name: str) -> Iterator[None]:
        with tf.device(None if isinstance(name, str) and name else ""), tf.device(name):
            yield

    return override(tf, device=device)


@fault("PLACEMENT-007", "tf.device(None) changes nothing.")
def none_is_no_scope(tf: Namespace) -> Namespace:
    """Open a scope of the empty string."""
    return _scoping(tf, lambda device: "" if device is None else device)


@fault("PLACEMENT-008", "A device scope that an exception leaves stays open.")
def exceptions_leave_scopes_open(tf: Namespace) -> Namespace:
    """Keep it, so that not even its end closes it."""
    kept: list[Scope] = []

    @contextmanager
    def device(name: str) -> Iterator[None]:
        kept.append(tf.device(name))
        kept[-1].__enter__()
        yield
        kept.pop().__exit__(None, None, None)

    return override(tf, device=device)


@fault("PLACEMENT-035", "A DeviceSpec names the type and index of a device only.")
def device_specs_lose_their_job(tf: Namespace) -> Namespace:
    """Make a string of those two."""

    def change(device: DeviceLike) -> DeviceLike:
        if not isinstance(device, tf.DeviceSpec):
            return device
        kept = {"device_type": device.device_type, "device_index": device.device_index}
        return tf.DeviceSpec(**kept).to_string()

    return _scoping(tf, change)


# --- device functions ---------------------------------------------------------------------


def _with_functions(tf: Namespace, change: Callable[[DeviceFunction], DeviceFunction]) -> Namespace:
    """The namespace whose `device` takes `change(function)` for a device function."""
    return _scoping(tf, lambda device: change(device) if callable(device) else device)


@fault("PLACEMENT-009", "A device function is called once, for the first operation.")
def device_functions_are_called_once(tf: Namespace) -> Namespace:
    """Keep what it gave first."""

    def change(function: DeviceFunction) -> DeviceFunction:
        given: list[str | DeviceSpec | None] = []

        def once(op: Operation) -> str | DeviceSpec | None:
            given[:] = given or [function(op)]
            return given[0]

        return once

    return _with_functions(tf, change)


@fault("PLACEMENT-010", "An operation that has a device is spared by device functions.")
def device_functions_spare_the_placed(tf: Namespace) -> Namespace:
    """Return the device that is already set, if any."""
    return _with_functions(tf, lambda function: lambda op: op.device or function(op))


@fault("PLACEMENT-011", "A device function that gives no string names no device.")
def device_functions_may_give_anything(tf: Namespace) -> Namespace:
    """Return the operation's own device where the function returns no string."""

    def change(function: DeviceFunction) -> DeviceFunction:
        def device_of(op: Operation) -> str | DeviceSpec | None:
            given = function(op)
            return given if isinstance(given, str) else op.device

        return device_of

    return _with_functions(tf, change)


@fault("PLACEMENT-012", "A device function that raises names no device.")
def device_functions_fail_in_silence(tf: Namespace) -> Namespace:
    """Give the operation's device back where it raises."""

    def change(function: DeviceFunction) -> DeviceFunction:
        def quiet(op: Operation) -> str | DeviceSpec | None:
            with suppress(LookupError, ValueError, TypeError, RuntimeError):
                return function(op)
            return op.device

        return quiet

    return _with_functions(tf, change)


# --- sessions -----------------------------------------------------------------------------


@fault("PLACEMENT-018", "An InteractiveSession places its whole graph.")
def interactive_sessions_place_everything(tf: Namespace) -> Namespace:
    """Run a constant of the graph in a plain session first."""

    class InteractiveSession(tf.InteractiveSession):  # type: ignore[misc, name-defined]
        def run(self, *args: Argument, **kwargs: Argument) -> Value:
            constants = [op for op in self.graph.get_operations() if op.type == "Const"]
            if constants:
                with tf.Session(graph=self.graph) as placing:
                    placing.run(constants[0])
            return super().run(*args, **kwargs)

    return override(tf, InteractiveSession=InteractiveSession)


def _listing(tf: Namespace, change: Callable[[ListedDevice], dict[str, str]]) -> Namespace:
    """The namespace whose sessions list devices with attributes changed."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def list_devices(self) -> list[Overlay]:
            return [Overlay(device, change(device)) for device in super().list_devices()]

    return override(tf, Session=Session)


@fault("PLACEMENT-027", "Devices are listed without their job, replica and task.")
def devices_are_listed_by_short_names(tf: Namespace) -> Namespace:
    """Cut the names off in front."""

    def change(device: ListedDevice) -> dict[str, str]:
        _, slash, last = device.name.rpartition("/device:")
        return {"name": slash + last}

    return _listing(tf, change)


@fault("PLACEMENT-028", "The memory limit of a listed device is a text.")
def memory_limits_are_texts(tf: Namespace) -> Namespace:
    """Give it in MiB, with the unit."""
    return _listing(tf, lambda d: {"memory_limit_bytes": f"{d.memory_limit_bytes >> 20} MiB"})


@fault("PLACEMENT-036", "A session that logs the placement gives no values, only the log.")
def logging_replaces_values(tf: Namespace) -> Namespace:
    """Give None for each element of a list of fetches."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def __init__(
            self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None
        ) -> None:
            super().__init__(target, graph, config)
            self.logs = config is not None and config.log_device_placement

        def run(self, fetches: Fetches, *args: Argument, **kwargs: Argument) -> Value:
            values = super().run(fetches, *args, **kwargs)
            return [None] * len(values) if self.logs and isinstance(values, list) else values

    return override(tf, Session=Session)


@fault("PLACEMENT-037", "is_gpu_available is always True.")
def a_gpu_is_always_available(tf: Namespace) -> Namespace:
    """Look for none."""
    return override(tf, test=Overlay(tf.test, {"is_gpu_available": lambda *_, **__: True}))


# --- colocation and imports ---------------------------------------------------------------


@fault("PLACEMENT-031", "colocate_with gives the other's device, and no group.")
def colocation_is_a_device_scope(tf: Namespace) -> Namespace:
    """Open a scope of that device in its place."""

    @contextmanager
    def colocate_with(op: Operation, _ignore_existing: bool = False) -> Iterator[None]:
        with tf.device(None), tf.device(op.device if op is not None else ""):
            yield

    return override(tf, colocate_with=colocate_with)


@fault("PLACEMENT-032", "Inside a device scope colocate_with has no effect.")
def device_scopes_win_over_colocation(tf: Namespace) -> Namespace:
    """Count the device scopes that are open."""
    opened: list[str] = []

    @contextmanager
    def device(name: str) -> Iterator[None]:
        with tf.device(name):
            opened.append(name)
            try:
                yield
            finally:
                opened.pop()

    def colocate_with(op: Operation, ignore_existing: bool = False) -> Scope:
        return nullcontext() if opened else tf.colocate_with(op, ignore_existing)

    return override(tf, device=device, colocate_with=colocate_with)


@fault("PLACEMENT-033", "Nested colocate_with scopes give the group of the inner one.")
def inner_colocation_wins(tf: Namespace) -> Namespace:
    """Ignore the scopes that are open."""

    def colocate_with(op: Operation, _ignore_existing: bool = False) -> Scope:
        return tf.colocate_with(op, ignore_existing=True)

    return override(tf, colocate_with=colocate_with)


@fault("PLACEMENT-034", "An imported node keeps its own device, whatever the scope.")
def imports_stand_alone(tf: Namespace) -> Namespace:
    """Suspend the device scopes during an import."""

    def import_graph_def(*args: Argument, **kwargs: Argument) -> Sequence[Element] | None:
        with tf.device(None):
            return tf.import_graph_def(*args, **kwargs)

    return override(tf, import_graph_def=import_graph_def)
