"""`test_util`: the base class and the decorators of TensorFlow's own unit tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.ops import array_ops
from sessrun.reference.compat.test import modes
from sessrun.reference.compat.test.case import TensorFlowTestCase
from sessrun.reference.compat.test.graph_defs import (
    assert_equal_graph_def,
)
from sessrun.reference.compat.test.machine import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_rocm,
    is_built_with_xla,
    is_cpu_target_available,
    is_gpu_available,
)
from sessrun.reference.compat.test.modes import (
    device,
    for_all_test_methods,
    force_cpu,
    force_gpu,
    run_all_in_graph_and_eager_modes,
    run_cuda_only,
    run_gpu_only,
    run_in_graph_and_eager_modes,
    run_in_v1_v2,
    run_v1_only,
    run_v2_only,
    skip_if,
    skip_if_error,
    use_gpu,
)
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "IsBuiltWithROCm",
    "IsBuiltWithXLA",
    "IsCPUTargetAvailable",
    "IsGoogleCudaEnabled",
    "NCHWToNHWC",
    "NHWCToNCHW",
    "TensorFlowTestCase",
    "also_run_as_tf_function",
    "assert_equal_graph_def",
    "device",
    "for_all_test_methods",
    "force_cpu",
    "force_gpu",
    "gpu_device_name",
    "is_gpu_available",
    "run_all_in_graph_and_eager_modes",
    "run_cuda_only",
    "run_gpu_only",
    "run_in_async_and_sync_mode",
    "run_in_graph_and_eager_modes",
    "run_in_v1_v2",
    "run_v1_only",
    "run_v2_only",
    "skip_if",
    "skip_if_error",
    "use_gpu",
]

# Public too, like what stands in `__all__`.
globals().update(dict.fromkeys(modes.PLAIN, modes.unchanged))
globals().update(dict.fromkeys(modes.DESCRIBED, modes.described))

# Tests that TensorFlow runs eagerly, or in a function, run in a session.
also_run_as_tf_function = modes.in_session
run_in_async_and_sync_mode = modes.in_session

IsBuiltWithROCm = is_built_with_rocm
IsBuiltWithXLA = is_built_with_xla
IsCPUTargetAvailable = is_cpu_target_available
IsGoogleCudaEnabled = is_built_with_cuda

#: From a rank to where each axis of NHWC goes in NCHW, and back.
_TO_NCHW: Final = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_TO_NHWC: Final = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}


def NHWCToNCHW(input_tensor: TensorLike | Sequence[int]) -> Tensor | list[int]:
    """A tensor, or the list of a shape, with the channels before the spatial axes."""
    return _permuted(input_tensor, _TO_NCHW)


def NCHWToNHWC(input_tensor: TensorLike | Sequence[int]) -> Tensor | list[int]:
    """A tensor, or the list of a shape, with the channels last."""
    return _permuted(input_tensor, _TO_NHWC)


def _permuted(value: Any, orders: Mapping[int, Sequence[int]]) -> Tensor | list[int]:
    if isinstance(value, Tensor):
        return array_ops.transpose(value, orders[len(value.shape)])
    return [value[axis] for axis in orders[len(value)]]
