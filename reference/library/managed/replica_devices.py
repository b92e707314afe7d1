"""`tf.train.replica_device_setter`: devices of variables and of all else in a cluster.

Source: TF 2.21.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Final

from sessrun.reference.base import log_messages
from sessrun.reference.base.device_spec import DeviceSpecV2
from sessrun.reference.graph.operation import Operation
from sessrun.reference.library.managed.clusters import ClusterSpec
from sessrun.reference.public import public
from sessrun.spec.proto import NodeDef

__all__ = ["replica_device_setter"]

#: The op types that are placed on parameter servers: they keep state that workers share.
_SHARED_STATE: Final = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DecisionTreeResource",
)


@public("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: object = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """A function for `tf.device` that puts variables on parameter servers, all else on workers.

    Args:
      ps_tasks: the number of parameter servers.
      ps_device: the device of variables.
      worker_device: the device of all else.
      merge_devices: whether a requested device is completed, rather than left unchanged.
      cluster: the cluster, whose number of parameter servers counts then.
      ps_ops: the op types that are put on parameter servers.
      ps_strategy: a function from an operation to its task; by default tasks are used in turn.

    Returns:
      The function; None if there are no parameter servers.

    Raises:
      TypeError: `cluster` does not describe a cluster, or the strategy cannot be called.

    """
    if cluster is not None:
        job = DeviceSpecV2.from_string(ps_device).job
        ps_tasks = len(ClusterSpec(cluster).as_dict().get(job or "", ()))
    if ps_tasks == 0:
        return None
    if not merge_devices:
        log_messages.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    if ps_strategy is None:
        turns = itertools.cycle(range(ps_tasks))
        ps_strategy = lambda op: next(turns)  # noqa: E731, ARG005 - as short as it can be said
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    shared = frozenset(_SHARED_STATE if ps_ops is None else ps_ops) if ps_device else frozenset()

    def device(op: Operation) -> str:
        if op.device and not merge_devices:
            return str(op.device)
        asked = DeviceSpecV2.from_string(op.device or "")
        spec = DeviceSpecV2.from_string(worker_device or "")
        if _type(op) in shared:
            spec = DeviceSpecV2.from_string(ps_device)
            if spec.job and asked.job in {None, spec.job}:
                spec = spec.replace(task=ps_strategy(op))
        return spec.make_merged_spec(asked).to_string()

    return device


def _type(op: Operation) -> str:
    """The op type of an operation, or of a NodeDef."""
    return str(op.op if isinstance(op, NodeDef) else op.type)
