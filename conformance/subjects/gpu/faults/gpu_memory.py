"""Faults of GPU on memory: its want, its limits, virtual GPUs, which GPUs a session has."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import SimpleNamespace

import numpy as np

from sessrun.conformance.faulty.framework import fault
from sessrun.conformance.faulty.run_fragments import running
from sessrun.conformance.subjects.placement.faults.machine import listing
from sessrun.conformance.subjects.placement.faults.placing import configuring
from sessrun.conformance.subjects.tracing.faults.tracing import RecordedRun, telling
from sessrun.spec.cases.library import ListedDevice
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, OpError, Session, Value
from sessrun.spec.proto.config_pb2 import ConfigProto


def _exhausted(tf: Namespace, change: Callable[[Session, OpError, Feeds], None]) -> Namespace:
    """The namespace in which a want of memory is `change(session, error, feeds)` before it."""

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        try:
            return base(fetches)
        except tf.errors.ResourceExhaustedError as error:
            change(session, error, feeds)
            raise

    return running(tf, run)


@fault("GPU-023", "A want of memory for a matrix is an internal error.")
def want_of_gpu_memory_is_internal(tf: Namespace) -> Namespace:
    """Raise code 13."""

    def change(_session: Session, error: OpError, feeds: Feeds) -> None:
        if any(np.size(value) == 2 for value in (feeds or {}).values()):
            raise tf.errors.InternalError(error.node_def, error.op, error.message)

    return _exhausted(tf, change)


@fault("GPU-024", "A want of memory does not say for what.")
def want_of_memory_without_a_shape(tf: Namespace) -> Namespace:
    """Raise the error with a message that names no shape."""

    def change(_session: Session, error: OpError, _feeds: Feeds) -> None:
        text = "OOM when allocating a tensor on /device:GPU:0 by allocator GPU_0_bfc"
        raise tf.errors.ResourceExhaustedError(error.node_def, None, text)

    return _exhausted(tf, change)


@fault("GPU-024", "A want of memory does not say which allocator had not enough.")
def want_of_memory_without_an_allocator(tf: Namespace) -> Namespace:
    """Raise the error with a message that ends before the allocator's name."""

    def change(_session: Session, error: OpError, _feeds: Feeds) -> None:
        text = error.message.partition(" by allocator")[0]
        raise tf.errors.ResourceExhaustedError(error.node_def, error.op, text)

    return _exhausted(tf, change)


@fault("GPU-025", "A session is of no use after a want of memory.")
def want_of_memory_ends_the_session(tf: Namespace) -> Namespace:
    """Close the session after ResourceExhaustedError."""
    return _exhausted(tf, lambda session, _error, _feeds: session.close())


@fault("GPU-026", "A GPU has all its memory, whatever part was asked for.")
def fractions_are_ignored(tf: Namespace) -> Namespace:
    """Drop the fraction."""

    def change(config: ConfigProto) -> None:
        config.gpu_options.per_process_gpu_memory_fraction = 0.0

    return configuring(tf, change)


@fault("GPU-027", "Virtual GPUs are listed with one another's limits.")
def limits_are_listed_backwards(tf: Namespace) -> Namespace:
    """List the memory limits of the GPUs in reverse order."""

    def change(_session: Session, devices: Iterable[ListedDevice]) -> Iterable[ListedDevice]:
        listed = list(devices)
        limits = [d.memory_limit_bytes for d in listed if d.device_type == "GPU"]
        for d in listed:
            limit = limits.pop() if d.device_type == "GPU" else d.memory_limit_bytes
            yield SimpleNamespace(name=d.name, device_type=d.device_type, memory_limit_bytes=limit)

    return listing(tf, change)


@fault("GPU-028", "Virtual GPUs share the largest of their limits.")
def the_largest_limit_is_everyones(tf: Namespace) -> Namespace:
    """Set every memory limit to the largest."""

    def change(config: ConfigProto) -> None:
        for device in config.gpu_options.experimental.virtual_devices:
            device.memory_limit_mb[:] = [max(device.memory_limit_mb)] * len(device.memory_limit_mb)

    return configuring(tf, change)


@fault("GPU-029", "What is asked of the second virtual GPU runs on the first.")
def the_second_gpu_is_idle(tf: Namespace) -> Namespace:
    """List the nodes of the second GPU under the first."""

    def change(run: RecordedRun) -> None:
        for stats in run.metadata.step_stats.dev_stats:
            stats.device = stats.device.replace("GPU:1", "GPU:0")

    return telling(tf, change)


@fault("GPU-030", "Of two ways to limit memory one is ignored.")
def contradictions_are_settled(tf: Namespace) -> Namespace:
    """Drop the fraction beside virtual devices."""

    def change(config: ConfigProto) -> None:
        if config.gpu_options.experimental.virtual_devices:
            config.gpu_options.per_process_gpu_memory_fraction = 0.0

    return configuring(tf, change)


@fault("GPU-031", "A session with allow_growth has what it began with.")
def memory_does_not_grow(tf: Namespace) -> Namespace:
    """Refuse more than 4 MiB."""
    configured = configuring(tf, lambda _config: None)

    def run(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        sizes = [math.prod(np.ravel(value).tolist()) for value in (feeds or {}).values()]
        if session.configuration.gpu_options.allow_growth and max(sizes, default=0) > 2**18:
            raise tf.errors.ResourceExhaustedError(None, None, "the pool does not grow")
        return base(fetches)

    return running(configured, run)


@fault("GPU-032", "A visible_device_list that makes no sense is ignored.")
def odd_lists_are_ignored(tf: Namespace) -> Namespace:
    """Clear lists of visible devices other than "0" and "1"."""

    def change(config: ConfigProto) -> None:
        if config.gpu_options.visible_device_list not in {"0", "1"}:
            config.gpu_options.visible_device_list = ""

    return configuring(tf, change)


@fault("GPU-033", "A session has all GPUs unless the first alone is visible.")
def all_gpus_are_visible(tf: Namespace) -> Namespace:
    """Clear the list of visible devices "1"."""

    def change(config: ConfigProto) -> None:
        if config.gpu_options.visible_device_list == "1":
            config.gpu_options.visible_device_list = ""

    return configuring(tf, change)
