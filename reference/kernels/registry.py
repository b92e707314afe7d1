"""The registry of kernels: which function computes an operation on which kind of device.

A kernel module (any module of this package) registers plain functions at import. It is imported
when one of its op types is first looked up: the generated index `kernel_modules` says which it is.

    @kernel("MatMul")
    def matmul(xp, a, b, *, transpose_a, transpose_b): ...

    @binder("AddV2")
    def add(bind): return bind.xp.add

A `binder` is for what is worth computing once for a node, or chooses a function.

Inputs are arrays of `xp` (0-d ones may be numpy scalars), string tensors numpy object arrays of
bytes, an input declared `Ref(T)` is a `VariableBuffer`, a resource handle any object. One output
is returned as itself, several as a tuple, none as None. What a kernel cannot compute it reports
by an error of `kernel_errors`; a numpy exception that escapes becomes InvalidArgument.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from sessrun.reference.base.arrays import ArrayModule
from sessrun.reference.base.attributes import Attrs
from sessrun.reference.devices.variable_buffers import VariableBuffer
from sessrun.reference.kernels.kernel_modules import KERNEL_MODULES
from sessrun.reference.state.resources import ResourceStore
from sessrun.reference.state.steps import Step
from sessrun.spec.tables.ops import OPERATIONS

__all__ = [
    "EVERY",
    "UNWIDENED",
    "Attrs",
    "Bind",
    "Entry",
    "KernelFunction",
    "Node",
    "ResourceStore",
    "Step",
    "VariableBuffer",
    "binder",
    "kernel",
    "lookup",
    "modules",
]

#: Stands for the names of all inputs, or of all outputs.
EVERY: Final = "*"

#: The attribute of a function that widens 16-bit floats: what it calls with others.
UNWIDENED: Final = "unwidened"
_HALVES: Final = frozenset({"bfloat16", "float16"})

#: A bound kernel: called with the inputs (after the `Step`, if it asked for that), it returns its
#: output, a tuple of several, or None. A resource is any object, so the type says no more.
KernelFunction = Callable[..., object]

F = TypeVar("F", bound=KernelFunction)


@dataclass(frozen=True, slots=True)
class Node:
    """The node a kernel is bound for: its name and its op type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Bind:
    """The node that a kernel is bound for, and its session: once per node and session (or plan).

    Attributes:
      xp: the array module of the device: numpy or cupy.
      attrs: every attribute of the node by name: Python values; a dtype is its spec name
        (`float32`), a shape a tuple with None for unknown dimensions or None for unknown rank,
        a tensor an ndarray, a string `bytes` or `str` as declared.
      node: name and op type.
      device: the full name of the node's device.
      resources: the session's resources, keyed by (container, shared name); by default none.
      seeds: the attributes `seed` and `seed2`, or (0, 0).
      function: from the name of a function of the graph to the Python function that runs its
        body: it takes the `Step` and the arguments in host memory, and returns the results.

    """

    xp: ArrayModule
    attrs: Attrs
    node: Node
    device: str
    resources: ResourceStore = field(default_factory=ResourceStore)
    seeds: tuple[int, int] = (0, 0)
    function: Callable[..., Callable[..., tuple[Any, ...]]] | None = None


B = TypeVar("B", bound=Callable[[Bind], KernelFunction])


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered kernel.

    Attributes:
      bind: the function from a node to the function that is called with the inputs.
      host_inputs: names of inputs that stay in host memory on any device (shapes, axes).
      host_outputs: names of outputs that are in host memory on any device.
      needs_step: whether the bound function takes the `Step` before its inputs.
      may_wait: whether the kernel may have to wait for other operations.
      only_takes: whether the kernel calls nothing of the `Step` but `take` and `check`, so that a
        run need not begin one before an attempt has to wait.
      gpu_dtypes: dtypes of attribute `T` for which a GPU kernel exists; empty for all.

    """

    bind: Callable[[Bind], KernelFunction]
    host_inputs: frozenset[str] = field(default_factory=frozenset)
    host_outputs: frozenset[str] = field(default_factory=frozenset)
    needs_step: bool = False
    may_wait: bool = False
    only_takes: bool = False
    gpu_dtypes: frozenset[str] = field(default_factory=frozenset)

    def takes_host(self, name: str) -> bool:
        """Whether the kernel takes the input of that name in host memory on any device."""
        return name in self.host_inputs or EVERY in self.host_inputs

    def gives_host(self, name: str) -> bool:
        """Whether the kernel gives the output of that name in host memory on any device."""
        return name in self.host_outputs or EVERY in self.host_outputs


_ENTRIES: Final[dict[tuple[str, str], Entry]] = {}
_PACKAGE: Final = __name__.rpartition(".")[0]
#: The module that registers the kernels of an op type.
_MODULES: Final = {
    op_type: module
    for module, *op_types in map(str.split, KERNEL_MODULES.strip().splitlines())
    for op_type in op_types
}
#: The op types whose kernels are registered, if there are any.
_LOADED: Final[set[str]] = set()


def binder(
    *op_types: str,
    devices: tuple[str, ...] = ("CPU", "GPU"),
    host_inputs: tuple[str, ...] = (),
    host_outputs: tuple[str, ...] = (),
    needs_step: bool = False,
    may_wait: bool = True,
    only_takes: bool = False,
    gpu_dtypes: tuple[str, ...] = (),
) -> Callable[[B], B]:
    """Register a function from `Bind` to the function that is called with the inputs.

    Args:
      *op_types: the op types; with a label (`KernelLabel:overload_1`) for
        nodes that ask for it.
      devices: the device kinds of the kernel.
      host_inputs: inputs that are numpy arrays even on a GPU.
      host_outputs: outputs that are numpy arrays even on a GPU.
      needs_step: the bound function takes the running `Step` first.
      may_wait: a function that takes the `Step` may have to wait for other operations.
      only_takes: it calls nothing of the `Step` but `take` and `check`.
      gpu_dtypes: dtypes of attribute `T` that the GPU kernel takes; empty for all.

    Raises:
      ValueError: a kernel for this op type and device kind is registered already.

    """

    def register(function: B) -> B:
        entry = Entry(
            function,
            frozenset(host_inputs),
            frozenset(host_outputs),
            needs_step,
            needs_step and may_wait,
            only_takes,
            frozenset(gpu_dtypes),
        )
        for op_type in op_types:
            for device in devices:
                if (op_type, device) in _ENTRIES:
                    raise ValueError(f"a kernel for {op_type} on {device} is registered already")
                _ENTRIES[op_type, device] = entry
        return function

    return register


def kernel(
    *op_types: str,
    devices: tuple[str, ...] = ("CPU", "GPU"),
    host_inputs: tuple[str, ...] = (),
    host_outputs: tuple[str, ...] = (),
    needs_step: bool = False,
    may_wait: bool = True,
    only_takes: bool = False,
    gpu_dtypes: tuple[str, ...] = (),
) -> Callable[[F], F]:
    """Register `function(xp, *inputs, **attributes)`; attributes only those its signature names.

    A function whose first parameter is called `bind` gets the `Bind` instead of the array module;
    one that needs the step gets it before the inputs. The arguments are those of `binder`.
    """

    def register(function: F) -> F:
        parameters = inspect.signature(function).parameters
        wanted = [
            name
            for name, parameter in parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        takes_bind = next(iter(parameters)) == "bind"

        def bound(bind: Bind) -> KernelFunction:
            attrs = {name: bind.attrs[name] for name in wanted}
            compute = function
            if "T" in bind.attrs and bind.attrs["T"] not in _HALVES:
                compute = getattr(function, UNWIDENED, function)
            return functools.partial(compute, bind if takes_bind else bind.xp, **attrs)

        bound.__module__ = function.__module__  # which the index of kernels has
        binder(
            *op_types,
            devices=devices,
            host_inputs=host_inputs,
            host_outputs=host_outputs,
            needs_step=needs_step,
            may_wait=may_wait,
            only_takes=only_takes,
            gpu_dtypes=gpu_dtypes,
        )(bound)
        return function

    return register


def lookup(op_type: str, device_kind: str) -> Entry | None:
    """The kernel of an op type on a device kind (`CPU`, `GPU`), or None."""
    if op_type not in _LOADED:
        if op_type in _MODULES:
            importlib.import_module(f"{_PACKAGE}.{_MODULES[op_type]}")
        _LOADED.add(op_type)
    entry = _ENTRIES.get((op_type, device_kind))
    if entry is None and op_type in OPERATIONS and OPERATIONS[op_type].newer:
        return _of_older_form(op_type, device_kind)
    return entry


@functools.cache
def _of_older_form(op_type: str, device_kind: str) -> Entry | None:
    """The kernel of an older form of an operation, if the newer operation has one."""
    operation = OPERATIONS[op_type]
    entry = lookup(operation.newer, device_kind)
    if entry is None:
        return None
    older: Entry = importlib.import_module(f"{_PACKAGE}.reference_handles").older_kernel(
        operation, entry
    )
    return older


def modules() -> dict[str, set[str]]:
    """The modules of this package with the op types whose kernels they register, all imported."""
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    for name in names:
        importlib.import_module(f"{_PACKAGE}.{name}")
    op_types: dict[str, set[str]] = {name: set() for name in names}
    for (op_type, _), entry in _ENTRIES.items():
        package, _, name = entry.bind.__module__.rpartition(".")
        if package == _PACKAGE:
            op_types[name].add(op_type)
    return op_types
