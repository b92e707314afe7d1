"""Groups of operations that must share a device.

A group are operations with the same `_class`, or a variable with the operations that take its
handle or reference. The devices that its members request are merged. Clauses: PLACEMENT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sessrun.reference import errors
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.devices import DeviceName, DeviceNameError

__all__ = ["Group", "Groups", "asked", "refused"]


@dataclass(slots=True)
class Group:
    """Operations that share a device.

    Attributes:
      members: the operations.
      asked: the merged device that the members request.
      owned: the merged device that the variables among the members request.

    """

    members: list[Operation]
    asked: DeviceName
    owned: DeviceName = field(default_factory=DeviceName)


class Groups:
    """The groups that a set of operations forms, together with the operations they refer to.

    Args:
      ops: the operations, in the order of their creation.
      soft: whether parts of device names in which members differ are dropped (soft placement),
        rather than an error.

    Raises:
      InvalidArgumentError: members request different devices, or a device name is malformed.

    """

    def __init__(self, ops: Iterable[Operation], *, soft: bool) -> None:
        self._soft = soft
        self._groups: dict[Operation, Group] = {}
        classed = []
        for op in ops:
            inputs = op.inputs
            if inputs:
                for owner in _owners(op, inputs):
                    self._follow(owner, op)
            if "_class" in op.extra:
                classed.append(op)
        for op in classed:
            for other in _classmates(op):
                if not self._join(op, other) and not soft:
                    raise self._contradiction(op, other, at_fault=op)

    def group(self, op: Operation) -> Group | None:
        """The group of an operation; None if it does not have to share its device."""
        return self._groups.get(op)

    def _group_of(self, op: Operation) -> Group:
        group = self._groups.get(op)
        if group is None:
            group = self._groups[op] = Group([op], asked(op))
            if not op.inputs and _outputs_handle(op):
                group.owned = group.asked
        return group

    def _follow(self, owner: Operation, op: Operation) -> None:
        """Put `op` into the group of the variable that it takes, whatever device it requests."""
        variable, user = self._group_of(owner), self._group_of(op)
        if variable is not user and variable.asked.merged(user.asked) is None:
            user.asked = user.owned.over(variable.asked)
        if not self._join(owner, op):
            raise self._contradiction(op, owner, at_fault=None)

    def _join(self, op: Operation, other: Operation) -> bool:
        """Merge the groups of two operations; False if the groups request different devices."""
        one, two = self._group_of(op), self._group_of(other)
        if one is two:
            return True
        owned = one.owned.merged(two.owned)
        wanted = one.asked.merged(two.asked, soft=self._soft)
        if owned is None or wanted is None:
            return False
        if len(one.members) < len(two.members):
            one, two = two, one
        one.asked, one.owned = owned.over(wanted), owned
        one.members += two.members
        for member in two.members:
            self._groups[member] = one
        return True

    def _contradiction(
        self, op: Operation, other: Operation, at_fault: Operation | None
    ) -> errors.InvalidArgumentError:
        one, two = self._group_of(op).asked, self._group_of(other).asked
        text = (
            f"Cannot colocate nodes {{{{colocation_node {op.name}}}}} and {{{{colocation_node "
            f"{other.name}}}}}: Cannot merge devices with incompatible parts: '{one}' and '{two}'"
        )
        return refused(op, text, at_fault)


def asked(op: Operation) -> DeviceName:
    """The device that an operation requests.

    Raises:
      InvalidArgumentError: `op.device` is not a device name.

    """
    try:
        return devices.parse(op.device)
    except DeviceNameError as error:
        text = f"Malformed device specification '{op.device}': {error}"
        raise refused(op, text) from error


def refused(
    op: Operation, message: str, at_fault: Operation | None = None
) -> errors.InvalidArgumentError:
    """An error that names `op` in its text; `at_fault` becomes its `op`."""
    node_def = None if at_fault is None else at_fault.node_def
    return errors.InvalidArgumentError(
        node_def, at_fault, f"{message}\n\t [[{{{{node {op.name}}}}}]]"
    )


def _classmates(op: Operation) -> Iterator[Operation]:
    for group in op.colocation_groups():
        other = op.graph.operations_by_name.get(group.removeprefix(b"loc:@").decode())
        if other is not None and other is not op:
            yield other


def _owners(op: Operation, inputs: Sequence[Tensor]) -> Iterator[Operation]:
    """The operations whose reference or resource `op` takes as one of its inputs."""
    declared = op.declaration.inputs
    for index, tensor in enumerate(inputs):
        dtype = tensor.dtype
        if dtype._is_ref_dtype:  # noqa: SLF001 - TensorFlow's own name
            # An argument of several tensors never takes references, only what they hold.
            if len(declared) == len(inputs) and declared[index].is_ref:
                yield tensor.op
        elif dtype.spec_name == "resource":
            yield tensor.op


def _outputs_handle(op: Operation) -> bool:
    return any(
        tensor.dtype._is_ref_dtype or tensor.dtype.spec_name == "resource"  # noqa: SLF001 - as above
        for tensor in op.outputs
    )
