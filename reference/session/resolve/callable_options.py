"""Callables described by a CallableOptions message: names in, arrays in, a list of arrays out.

The engine's own form of a callable: what is fed must have its tensor's dtype already, and its
shape is the kernels' business. Clauses: CALLABLES.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base import dtypes
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.resolve.feeds import Feeder
from sessrun.reference.session.resolve.set_up import check_set_up
from sessrun.spec import devices, feeds
from sessrun.spec.devices import DeviceNameError
from sessrun.spec.proto import CallableOptions, RunOptions

__all__ = ["OptionsCallable", "Request", "exact_feeder", "read_request"]


@dataclass(frozen=True, slots=True)
class Request:
    """The feeds, fetches and targets of a CallableOptions message.

    Attributes:
      feeds: the tensors to be fed, in order.
      fetches: the tensors to be fetched, in order; one may come twice.
      targets: the operations to be run.
      run_options: the options of each run.

    """

    feeds: tuple[Tensor, ...]
    fetches: tuple[Tensor, ...]
    targets: tuple[Operation, ...]
    run_options: RunOptions


def read_request(options: CallableOptions, graph: Graph, known_devices: Collection[str]) -> Request:
    """The feeds, fetches and targets of a message, as elements of a graph.

    Args:
      options: a CallableOptions, ours or TensorFlow's.
      graph: the graph its names belong to.
      known_devices: the full names of the session's devices.

    Raises:
      AttributeError: `options` is not a message.
      InvalidArgumentError: a feed or a fetch is not in the graph, a tensor is fed twice or both
        fed and fetched, there is nothing to run, or a device is none of the session's.
      NotFoundError: a target is not in the graph.
      OutOfRangeError: an operation has no such output.
      UnimplementedError: a fetch is to stay on a device, or tensors are to be connected.

    """
    message = CallableOptions.FromString(options.SerializeToString())
    fed = tuple(_tensor(graph, name) for name in message.feed)
    fetches = tuple(_tensor(graph, name) for name in message.fetch)
    targets = tuple(_target(graph, name) for name in message.target)
    check_set_up((*dict.fromkeys(fetches), *targets), fed)
    _check_devices(message, known_devices)
    return Request(fed, fetches, targets, message.run_options)


class _Run(Protocol):
    """Runs what a callable was made for, on the values of its feeds."""

    def __call__(
        self, values: Sequence[object], options: RunOptions, run_metadata: object
    ) -> list[Any]: ...


class OptionsCallable:
    """A function made from options: arrays in, a list of arrays out.

    Args:
      run: runs the callable in its session; it returns [values of fetches, of targets].
      feed_count: how many feeds there are.
      run_options: the options of each run.

    """

    def __init__(self, run: _Run, feed_count: int, run_options: RunOptions) -> None:
        self._run = run
        self._feed_count = feed_count
        self._options = run_options

    def __call__(
        self, *values: object, run_metadata: object = None, **_ignored: object
    ) -> list[Any]:
        """Run.

        Args:
          *values: an array of the right dtype for each feed, in order.
          run_metadata: a RunMetadata, filled in as the options ask.
          **_ignored: anything, as TensorFlow takes it.

        Returns:
          The values of the fetches, in order.

        Raises:
          CancelledError: the session is closed.
          InvalidArgumentError: there are more values than feeds, or fewer, or one is of another
            dtype.
          InternalError: a value is None.
          OpError: an operation failed.

        """
        if len(values) != self._feed_count:
            raise errors.bad_argument(
                f"Expected {self._feed_count} feed tensors, but got {len(values)}"
            )
        fetched: list[Any] = self._run(values, self._options, run_metadata)[0]
        return fetched


def _tensor(graph: Graph, name: str) -> Tensor:
    """The tensor that a feed or a fetch names; without a number it is the first output."""
    op_name, _, number = name.partition(":")
    op = graph.operations_by_name.get(op_name)
    if op is None or not (number or "0").isdecimal():
        raise errors.bad_argument(
            f"Tensor {name}, specified in either feed_devices or fetch_devices was "
            "not found in the Graph"
        )
    index = int(number or 0)
    if index >= len(op.outputs):
        raise errors.OutOfRangeError(
            None,
            None,
            f"Node '{op.name}' (type: '{op.type}', num of outputs: "
            f"{len(op.outputs)}) does not have output {index}",
        )
    return op.outputs[index]


def _target(graph: Graph, name: str) -> Operation:
    op = graph.operations_by_name.get(name.partition(":")[0])
    if op is None:
        raise errors.NotFoundError(
            None, None, f"PruneForTargets: Some target nodes not found: {name}"
        )
    return op


def _check_devices(options: CallableOptions, known: Collection[str]) -> None:
    if options.tensor_connection:
        raise errors.UnimplementedError(
            None, None, "CallableOptions.tensor_connection is not implemented here."
        )
    if options.fetch_devices and not options.fetch_skip_sync:
        raise errors.UnimplementedError(
            None, None, "CallableOptions.fetch_skip_sync = false is not yet implemented."
        )
    for names, device_names in (
        (options.feed, options.feed_devices),
        (options.fetch, options.fetch_devices),
    ):
        for tensor, device in device_names.items():
            if tensor in names and device not in known:
                raise errors.bad_argument(f"{_fault(device)} tensor '{tensor}' in CallableOptions")


def _fault(device: str) -> str:
    try:
        devices.parse(device)
    except DeviceNameError:
        return f"Invalid device name ('{device}') provided for the"
    return f"There is no device '{device}', which was specified for"


def exact_feeder(tensor: Tensor) -> Feeder:
    """The function that takes an array of a tensor's dtype, of any shape, and refuses others.

    The function raises:
      InvalidArgumentError: the value's dtype is another one.
      InternalError: the array is None.

    """
    dtype = tensor.dtype.base_dtype

    def feed(value: object) -> np.ndarray:
        if value is None:
            raise errors.InternalError(None, None, "Unsupported object type NoneType")
        array = np.asarray(value)
        given = dtypes.as_dtype(array.dtype)
        if given != dtype:
            raise errors.bad_argument(
                f"Type mismatch: actual {given.name} vs. expect {dtype.name} for {tensor.name}"
            )
        return feeds.convert(array, dtype.spec_name) if dtype == dtypes.string else array

    return feed
