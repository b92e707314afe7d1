"""The locations of values, host memory or a device, and the functions that copy between them.

Clauses: PLACEMENT.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
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
    """Check that an operation's input that is fed does not have to be a reference.

    Args:
      op: the operation.
      arg: the declaration of the input.
      tensor: the fed tensor.

    Raises:
      InvalidArgumentError: the input has to be a reference to a variable.

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
      home: the location of the value.
      location: the location that it is copied to.
      source: the device that has computed the value; None for a fed value.
      device: the device of the operation that takes the value.

    """
    if home == location:
        return None
    if home == HOST:
        return device.upload
    assert source is not None
    if location == HOST:
        return source.download
    return functools.partial(_between, source.download, device.upload)


def slots_of(op: Operation, declared: Sequence[ArgDecl]) -> Sequence[ArgDecl]:
    """The declared argument of each input, or of each output, of an operation, in order."""
    for arg in declared:
        if arg.number_attr is not None or arg.type_list_attr is not None:
            return [arg for arg in declared for _ in range(arg.count(op.attrs))]
    return declared


def location_of(device: LocalDevice, dtype: DType, *, on_host: bool) -> str:
    """The location of an operation's input or output: HOST, or the name of its device.

    Args:
      device: the operation's device.
      dtype: the value's dtype; handles of resources are always in host memory.
      on_host: whether the kernel takes or returns this value in host memory on every device.

    """
    is_host = on_host or device.kind == "CPU" or dtype.base_dtype == dtypes.resource
    return HOST if is_host else device.name


def _between(download: Reader, upload: Reader, value: Value) -> Value:
    """Copy a value from one device to another, through host memory."""
    return upload(download(value))
