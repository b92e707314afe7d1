"""Where values are, in host memory or on a device, and the steps that copy them between these.

Clauses: PLACEMENT.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from sessrun.reference import errors
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType
from sessrun.reference.devices.devices import LocalDevice
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.session.execute.steps import Reader, Value
from sessrun.spec.operations import ArgDecl

__all__ = ["HOST", "check_not_fed", "location_of", "mover", "slots_of"]

#: The location of values in host memory; a GPU's values are at its name.
HOST: Final = "host"


def check_not_fed(op: Operation, arg: ArgDecl, tensor: Tensor) -> None:
    """Refuse an input that takes a reference and would get the value that is fed.

    Raises:
      InvalidArgumentError: it is such an input.

    """
    if arg.is_ref:
        raise errors.InvalidArgumentError(
            op.node_def,
            op,
            f"Input '{arg.name}' of node {op.name} takes a reference and was "
            f"passed the value fed for {tensor.name}",
        )


def mover(
    home: str, location: str, source: LocalDevice | None, device: LocalDevice
) -> Reader | None:
    """The function that copies a value from one location to another; None if they are the same.

    Args:
      home: where the value is.
      location: where it is wanted.
      source: the device that has computed it; None for a fed value.
      device: the device that takes it.

    """
    if home == location:
        return None
    if home == HOST:
        return device.upload
    assert source is not None
    if location == HOST:
        return source.download
    return functools.partial(_between, source.download, device.upload)


def slots_of(op: Operation, declared: Sequence[ArgDecl]) -> Iterator[ArgDecl]:
    """For each input or output tensor of an operation the argument it belongs to."""
    for arg in declared:
        yield from itertools.repeat(arg, arg.count(op.attrs))


def location_of(device: LocalDevice, dtype: DType, *, on_host: bool) -> str:
    """Where a value of an operation on a device is: in host memory, or at the device's name.

    Args:
      device: the operation's device.
      dtype: the value's dtype; handles of resources are in host memory whatever the kernel.
      on_host: whether the kernel has the value in host memory on any device.

    """
    is_host = on_host or device.kind == "CPU" or dtype.base_dtype == dtypes.resource
    return HOST if is_host else device.name


def _between(download: Reader, upload: Reader, value: Value) -> Value:
    return upload(download(value))
