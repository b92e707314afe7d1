"""Switches between the versions of TensorFlow, as programs call them.

This namespace has version 1's behaviour, and graphs only. Functions that switch this on do nothing.
Functions that switch another behaviour on raise an error, so that no program continues with a
behaviour that it did not choose.
"""

from __future__ import annotations

from collections.abc import Callable

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.graph.default_graph import outermost_graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["keep_v1_behaviour"]


@public(
    "disable_eager_execution",
    "disable_tensor_equality",
    "disable_v2_behavior",
    "disable_v2_tensorshape",
)
def keep_v1_behaviour() -> None:
    """Do nothing: this namespace has no other behaviour than version 1's."""


@public("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Do nothing: in graphs `==` compares tensors by identity, whether it is enabled or not."""


def _refused(what: str) -> Callable[[], None]:
    def refuse() -> None:
        raise NotImplementedError(f"{what} of TensorFlow 2 is not here, only version 1's.")

    refuse.__doc__ = f"Refuse {what}.\n\nRaises:\n  NotImplementedError: always."
    return refuse


@public("enable_eager_execution")
def enable_eager_execution(
    config: object = None, device_policy: int | None = None, execution_mode: int | None = None
) -> None:
    """Raise an error: operations cannot be executed as they are created.

    Args:
      config: a ConfigProto, or None.
      device_policy: None, or 0 to 3.
      execution_mode: None, 0 (sync) or 1 (async).

    Raises:
      TypeError: `config` is not a ConfigProto.
      ValueError: `device_policy` or `execution_mode` is another value, or the outermost default
        graph has operations.
      NotImplementedError: always otherwise.

    """
    if config is not None and getattr(config, "DESCRIPTOR", None) is None:
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in {None, 0, 1, 2, 3}:
        raise ValueError("device_policy must be one of None, DEVICE_PLACEMENT_*")
    if execution_mode not in {None, 0, 1}:
        raise ValueError("execution_mode must be one of None, SYNC, ASYNC")
    _refuse_eager("tf.enable_eager_execution")


@public("enable_v2_behavior")
def enable_v2_behavior() -> None:
    """Refuse all of version 2's behaviour at once.

    Raises:
      ValueError: the outermost default graph has operations already.
      NotImplementedError: always otherwise.

    """
    _refuse_eager("tf.enable_v2_behavior")


def _refuse_eager(name: str) -> None:
    if outermost_graph().get_operations():
        raise ValueError(f"{name} must be called at program startup.")
    raise NotImplementedError(f"{name}: this runtime has graphs and sessions only.")


@public("executing_eagerly_outside_functions")
def _never() -> bool:
    """False: never here."""
    return False


@public("is_symbolic_tensor")
def is_symbolic_tensor(tensor: TensorLike) -> bool:
    """Whether a value is a tensor of a graph; False for variables and sparse values."""
    return isinstance(tensor, Tensor)


public("enable_v2_tensorshape")(_refused("the TensorShape"))
