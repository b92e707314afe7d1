"""Decorators that choose how a test runs: with graphs, eagerly, on which devices, with XLA.

This runtime builds graphs and has one way to run them. So a decorator that asks for graphs
changes nothing, one that asks for several ways runs the test once, with a graph, and what asks
for eager execution alone is skipped.
"""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar

from sessrun.reference.compat.test.machine import gpu_device_name
from sessrun.reference.graph import default_graph
from sessrun.spec.proto import ConfigProto

__all__ = [
    "DESCRIBED",
    "PLAIN",
    "device",
    "disable_with_predicate",
    "for_all_test_methods",
    "force_cpu",
    "force_gpu",
    "in_session",
    "run_all_in_graph_and_eager_modes",
    "run_cuda_only",
    "run_gpu_only",
    "run_in_graph_and_eager_modes",
    "run_in_v1_v2",
    "run_v1_only",
    "run_v2_only",
    "skip_if",
    "skip_if_error",
    "use_gpu",
]

#: Decorators of tests and classes that change nothing here.
PLAIN: Final = (
    "deprecated_graph_mode_only",
    "disable_cudnn_autotune",
    "eager_lazy_remote_copy_on_and_off",
    "enable_c_shapes",
    "enable_eager_op_as_function",
    "enable_graph_building_optimization",
    "enable_nested_function_shape_inference",
    "enable_quantized_dtypes_training",
    "run_all_in_deprecated_graph_mode_only",
    "run_class_in_v1_v2",
    "run_deprecated_v1",
    "with_c_api",
    "with_c_shapes",
)
#: Those that are called with a description (or a flag) first, and change nothing either.
DESCRIBED: Final = (
    "disable_asan",
    "disable_control_flow_v2",
    "disable_eager_op_as_function",
    "disable_mlir_bridge",
    "disable_msan",
    "disable_tfrt",
    "disable_tsan",
    "disable_ubsan",
    "disable_xla",
    "enable_tf_xla_constant_folding",
    "no_xla_auto_jit",
    "run_all_without_tensor_float_32",
    "run_without_tensor_float_32",
    "set_xla_env_flag",
    "xla_allow_fallback",
)


#: A test, or a class of tests.
Test = TypeVar("Test", bound=Callable[..., object])
#: A class of tests.
Class = TypeVar("Class", bound=type)
#: Whether a test is left out: a bool, or a function that returns one.
Condition: TypeAlias = "bool | Callable[[], bool]"


def with_eager_op_as_function(cls: object = None, only_as_function: bool = False) -> object:
    """The class unchanged: operations are never executed eagerly."""
    del only_as_function
    return (lambda given: given) if cls is None else cls


def unchanged(func: Test) -> Test:
    """The test or class unchanged: it runs with a graph, without XLA and the like, anyway."""
    return func


def described(description: str = "", flag: str = "") -> Callable[[Test], Test]:  # noqa: ARG001 - for readers
    """A decorator that returns a test or class unchanged."""
    return unchanged


# --- ways to run ---------------------------------------------------------------------------------


def run_in_graph_and_eager_modes(
    func: Callable[..., object] | None = None,
    config: ConfigProto | None = None,
    use_gpu: bool = True,
    assert_no_eager_garbage: bool = False,  # noqa: ARG001 - nothing runs eagerly here
) -> Callable[..., Any]:
    """Run a test in the session that it shares.

    Args:
      func: the test; without it, this returns the decorator.
      config: the configuration of the session.
      use_gpu: whether operations may be put on a GPU.
      assert_no_eager_garbage: not used here.

    Raises:
      ValueError: `func` is a class.

    """
    if func is None:
        return functools.partial(run_in_graph_and_eager_modes, config=config, use_gpu=use_gpu)
    _check_method(func, "run_in_graph_and_eager_modes")

    @functools.wraps(func)
    def decorated(self: Any, *args: Any, **kwargs: Any) -> None:
        with self.test_session(use_gpu=use_gpu, config=config):
            func(self, *args, **kwargs)

    return decorated


def in_session(func: Callable[..., object]) -> Callable[..., None]:
    """Run a test in the session that it shares, also the parts that would run eagerly."""
    return run_in_graph_and_eager_modes(func)


def run_all_in_graph_and_eager_modes(cls: Class) -> Class:
    """Run each test of a class in the session that the test shares."""
    return for_all_test_methods(lambda: run_in_graph_and_eager_modes)(cls)


def for_all_test_methods(
    decorator: Callable[..., Callable[[Callable[..., object]], object]],
    *args: object,
    **kwargs: object,
) -> Callable[[Class], Class]:
    """A decorator of classes from one of tests.

    Args:
      decorator: called with the other arguments, it returns the decorator of each test.
      *args: its arguments.
      **kwargs: its keyword arguments.

    """

    def decorated(cls: Class) -> Class:
        for name in dir(cls):
            value = getattr(cls, name)
            if name.startswith("test") and name != "test_session" and callable(value):
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorated


# --- whether to run ------------------------------------------------------------------------------


def run_v1_only(
    reason: str | Callable[..., object] | None = None, func: Callable[..., object] | None = None
) -> Callable[..., object]:
    """Return a test or class unchanged: this is version 1.

    Args:
      reason: why; or the test itself.
      func: the test; without it, this returns the decorator.

    """
    given = reason if callable(reason) else func
    return unchanged if given is None else given


def run_v2_only(func: Callable[..., object] | None = None, reason: str | None = None) -> Any:
    """Skip a test or all of a class: this is not version 2.

    Args:
      func: the test or class; without it, this returns the decorator.
      reason: why.

    """
    if func is None:
        return functools.partial(run_v2_only, reason=reason)
    if inspect.isclass(func):
        case: Any = func
        case.setUp = run_v2_only(case.setUp, reason)
        return case
    return _skipping(func, lambda: True, reason or "Test is only compatible with v2 ")


def run_gpu_only(func: Callable[..., object]) -> Callable[..., object]:
    """Skip a test where there is no GPU.

    Raises:
      ValueError: `func` is a class.

    """
    _check_method(func, "run_gpu_only")
    return _skipping(func, lambda: not gpu_device_name(), "Test requires GPU")


def run_cuda_only(func: Callable[..., object]) -> Callable[..., object]:
    """Skip a test where there is no GPU of CUDA's.

    Raises:
      ValueError: `func` is a class.

    """
    _check_method(func, "run_cuda_only")
    return _skipping(func, lambda: not gpu_device_name(), "Test requires CUDA GPU")


def run_in_v1_v2(
    device_to_use: str | None = None, assert_no_eager_garbage: bool = False
) -> Callable[[Test], Test]:
    """A decorator that returns a test unchanged: it runs as in version 1, once."""
    del device_to_use, assert_no_eager_garbage
    return unchanged


def disable_with_predicate(
    pred: Callable[[], object], skip_message: str
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """A decorator that skips a test if `pred()` is true when it runs."""
    return lambda func: _skipping(func, pred, skip_message)


def skip_if(condition: Condition) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """A decorator that replaces a test by nothing if the condition is true."""

    def decorator(func: Callable[..., object]) -> Callable[..., object]:
        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> object | None:
            if condition() if callable(condition) else condition:
                return None
            return func(*args, **kwargs)

        return decorated

    return decorator


@contextmanager
def skip_if_error(
    test_obj: unittest.TestCase,
    error_type: type[BaseException],
    messages: str | Sequence[str] | None = None,
) -> Iterator[None]:
    """Skip a test if the `with` raises an error of this kind.

    Args:
      test_obj: the test.
      error_type: the class of the error.
      messages: a text, or several, one of which its message must contain.

    """
    wanted = [messages] if isinstance(messages, str) else list(messages or ())
    try:
        yield
    except error_type as error:
        if wanted and not any(text in str(error) for text in wanted):
            raise
        test_obj.skipTest(f"Skipping error: {type(error)}: {error}")


def _skipping(
    func: Callable[..., object], condition: Callable[[], object], reason: str
) -> Callable[..., object]:
    @functools.wraps(func)
    def decorated(self: unittest.TestCase, *args: Any, **kwargs: Any) -> object:
        if condition():
            self.skipTest(reason)
        return func(self, *args, **kwargs)

    return decorated


def _check_method(func: Callable[..., object], name: str) -> None:
    if inspect.isclass(func):
        raise ValueError(f"`{name}` only supports test methods.")


# --- devices -------------------------------------------------------------------------------------


@contextmanager
def device(use_gpu: bool) -> Iterator[None]:
    """Place operations on the GPU if this is wanted and a GPU exists, else on the CPU."""
    on_gpu = use_gpu and gpu_device_name()
    with default_graph.device("/device:GPU:0" if on_gpu else "/device:CPU:0"):
        yield


@contextmanager
def use_gpu() -> Iterator[None]:
    """Place operations on the GPU if one exists, else on the CPU."""
    with device(use_gpu=True):
        yield


@contextmanager
def force_gpu() -> Iterator[None]:
    """Put operations on the GPU."""
    with default_graph.device("/device:GPU:0"):
        yield


@contextmanager
def force_cpu() -> Iterator[None]:
    """Put operations on the CPU."""
    with default_graph.device("/device:CPU:0"):
        yield
