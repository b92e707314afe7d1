"""`test_util`: the base class and the decorators of TensorFlow's own unit tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sessrun.reference.api.functions import eager_functions
from sessrun.reference.api.ops import array_ops, math_ops
from sessrun.reference.build.importing.graph_defs import import_graph_def
from sessrun.reference.compat.test import modes
from sessrun.reference.compat.test.case import CapturedWrites, TensorFlowTestCase
from sessrun.reference.compat.test.graph_defs import (
    assert_equal_graph_def,
    assert_meta_graph_protos_equal,
    assert_ops_in_graph,
    get_node_def_from_graph,
)
from sessrun.reference.compat.test.leaks import (
    assert_no_garbage_created,
    assert_no_new_pyobjects_executing_eagerly,
    assert_no_new_tensors,
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
    add_graph_building_optimization_tests,
    build_as_function_and_v1_graph,
    device,
    disable_control_flow_v2,
    enable_control_flow_v2,
    enable_output_all_intermediates,
    for_all_test_methods,
    force_cpu,
    force_gpu,
    run_all_in_graph_and_eager_modes,
    run_class_in_v1_v2,
    run_cuda_only,
    run_gpu_only,
    run_gpu_or_tpu,
    run_in_graph_and_eager_modes,
    run_in_v1_v2,
    run_v1_only,
    run_v2_only,
    skip_if,
    skip_if_error,
    use_gpu,
    with_control_flow_v2,
    with_forward_compatibility_horizons,
)
from sessrun.reference.compat.test.parameterized import generate_combinations_with_testcase_name
from sessrun.reference.compat.test.sessions import ErrorLoggingSession
from sessrun.reference.compat.test.tapes import AbstractGradientTape
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import random_seed
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import GraphDef

__all__ = [
    "AbstractGradientTape",
    "CapturedWrites",
    "ErrorLoggingSession",
    "GpuSupportsHalfMatMulAndConv",
    "IsBuiltWithROCm",
    "IsBuiltWithXLA",
    "IsCPUTargetAvailable",
    "IsGoogleCudaEnabled",
    "IsMklEnabled",
    "NCHWToNHWC",
    "NHWCToNCHW",
    "TensorFlowTestCase",
    "add_graph_building_optimization_tests",
    "also_run_as_tf_function",
    "assert_equal_graph_def",
    "assert_equal_graph_def_v1",
    "assert_equal_graph_def_v2",
    "assert_meta_graph_protos_equal",
    "assert_no_garbage_created",
    "assert_no_new_pyobjects_executing_eagerly",
    "assert_no_new_tensors",
    "assert_ops_in_graph",
    "build_as_function_and_v1_graph",
    "deterministic_ops",
    "device",
    "disable_control_flow_v2",
    "enable_control_flow_v2",
    "enable_output_all_intermediates",
    "for_all_test_methods",
    "force_cpu",
    "force_gpu",
    "generate_combinations_with_testcase_name",
    "get_node_def_from_graph",
    "gpu_device_name",
    "is_gpu_available",
    "is_xla_enabled",
    "matmul_without_tf32",
    "run_all_in_graph_and_eager_modes",
    "run_class_in_v1_v2",
    "run_cuda_only",
    "run_gpu_only",
    "run_gpu_or_tpu",
    "run_in_async_and_sync_mode",
    "run_in_graph_and_eager_modes",
    "run_in_v1_v2",
    "run_v1_only",
    "run_v2_only",
    "skip_if",
    "skip_if_error",
    "use_gpu",
    "with_control_flow_v2",
    "with_forward_compatibility_horizons",
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
assert_equal_graph_def_v1 = assert_equal_graph_def
#: Nothing rounds to TensorFloat-32 here.
matmul_without_tf32 = math_ops.matmul

#: From a rank to where each axis of NHWC goes in NCHW, and back.
_TO_NCHW: Final = {3: (0, 2, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_TO_NHWC: Final = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
#: Channels that stand together in the layout NCHW_VECT_C.
_TOGETHER: Final = 4


def assert_equal_graph_def_v2(expected: Any, actual: Any) -> None:
    """As `assert_equal_graph_def`, whatever names are drawn by chance; the expected one first."""
    assert_equal_graph_def(actual, expected, checkpoint_v2=True, hash_table_shared_name=True)


def set_producer_version(graph: Graph, producer_version: int) -> None:
    """Let the graph say that this version of TensorFlow made it."""
    definition = GraphDef()
    definition.versions.producer = producer_version
    with graph.as_default():
        import_graph_def(definition)


def is_xla_enabled() -> bool:
    """False: nothing is compiled by XLA."""
    return False


def is_sanitizer_enabled() -> bool:
    """False: nothing is compiled, with a sanitizer or without."""
    return False


is_asan_enabled = is_msan_enabled = is_tsan_enabled = is_ubsan_enabled = is_sanitizer_enabled
is_mlir_bridge_enabled = IsBuiltWithNvcc = is_sanitizer_enabled


def IsMklEnabled() -> bool:
    """False: products are not MKL's."""
    return False


def GpuSupportsHalfMatMulAndConv() -> bool:
    """Whether there is a GPU: each one multiplies float16."""
    return bool(gpu_device_name())


@contextmanager
def deterministic_ops() -> Iterator[None]:
    """Ask for deterministic operations in a `with` statement."""
    random_seed.enable_op_determinism()
    try:
        yield
    finally:
        random_seed.disable_op_determinism()


@contextmanager
def run_functions_eagerly(run_eagerly: bool) -> Iterator[None]:
    """Let calls in a `with` statement be calls of the Python functions themselves, or not.

    Raises:
      ValueError: it is not said which.

    """
    if not isinstance(run_eagerly, bool):
        raise bad_value(f"Expect bool argument for `run_eagerly`, but got {run_eagerly} instead.")
    before = eager_functions.functions_run_eagerly()
    eager_functions.run_functions_eagerly(run_eagerly)
    try:
        yield
    finally:
        eager_functions.run_functions_eagerly(before)


def NHWCToNCHW(input_tensor: Any) -> Any:
    """A tensor, or the list of a shape, with the channels before the spatial axes."""
    return _permuted(input_tensor, _TO_NCHW)


def NCHWToNHWC(input_tensor: Any) -> Any:
    """A tensor, or the list of a shape, with the channels last."""
    return _permuted(input_tensor, _TO_NHWC)


def NHWCToNCHW_VECT_C(input_shape_or_tensor: Any) -> Any:
    """A tensor, or the list of a shape, whose channels stand by fours in a last dimension.

    Raises:
      ValueError: they are no multiple of four.

    """
    *rest, channels = _sizes(input_shape_or_tensor)
    if channels % _TOGETHER:
        raise ValueError(
            "Last dimension of input must be evenly divisible by 4 to convert to NCHW_VECT_C."
        )
    sizes = [*rest, channels // _TOGETHER, _TOGETHER]
    value = input_shape_or_tensor
    split = array_ops.reshape(value, sizes) if isinstance(value, Tensor) else sizes
    return _permuted(split, {5: (0, 3, 1, 2, 4), 6: (0, 4, 1, 2, 3, 5)})


def NCHW_VECT_CToNHWC(input_shape_or_tensor: Any) -> Any:
    """The reverse of `NHWCToNCHW_VECT_C`.

    Raises:
      ValueError: the last dimension is not four.

    """
    if _sizes(input_shape_or_tensor)[-1] != _TOGETHER:
        raise ValueError("Last dimension of NCHW_VECT_C must be 4.")
    orders = {5: (0, 2, 3, 1, 4), 6: (0, 2, 3, 4, 1, 5)}
    turned = _permuted(input_shape_or_tensor, orders)
    sizes = _permuted(_sizes(input_shape_or_tensor), orders)
    sizes_nhwc = [*sizes[:-2], sizes[-2] * _TOGETHER]
    return array_ops.reshape(turned, sizes_nhwc) if isinstance(turned, Tensor) else sizes_nhwc


def _sizes(value: Any) -> list[Any]:
    return value.shape.as_list() if isinstance(value, Tensor) else list(value)


def _permuted(value: Any, orders: Mapping[int, Sequence[int]]) -> Any:
    if isinstance(value, Tensor):
        return array_ops.transpose(value, orders[len(value.shape)])
    return [value[axis] for axis in orders[len(value)]]
