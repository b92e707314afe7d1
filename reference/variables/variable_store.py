"""The variables of a graph that `get_variable` shares, by name, and each thread's open scope.

A graph has one store for all threads; which variable scope is open, and how often a scope name
was opened, is each thread's own.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from sessrun.reference import dtypes, tensor_shape
from sessrun.reference.dtypes import DType
from sessrun.reference.errors import bad_value
from sessrun.reference.graph import Graph
from sessrun.reference.graph_keys import GraphKeys
from sessrun.reference.name_scopes import name_scope
from sessrun.reference.stacks import get_default_graph
from sessrun.reference.tensor_shape import TensorShape
from sessrun.reference.variables import init_ops
from sessrun.reference.variables.variable_base import traits_of

__all__ = ["AUTO_REUSE", "Request", "VariableStore", "scopes_of", "store_of"]


class _ReuseMode:
    """What `AUTO_REUSE` is: share the variable if there is one, make it if there is none."""

    def __repr__(self) -> str:
        return "_ReuseMode.AUTO_REUSE"


AUTO_REUSE: Final = _ReuseMode()

STORE_KEY: Final = ("__variable_store",)
_LOCK: Final = threading.Lock()


@dataclass(slots=True)
class Request:
    """What one call of `get_variable` asks for; the fields are its arguments."""

    name: str
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Any = None
    reuse: Any = None
    trainable: bool | None = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Any = None
    synchronization: Any = None
    aggregation: Any = None


@dataclass(eq=False)
class Scopes:
    """One thread's place in a graph's variable scopes.

    Attributes:
      current: the open scope (see `variable_scopes`).
      counts: how often each full scope name was opened.
      creators: the creators of variables, outermost first.

    """

    current: Any
    counts: dict[str, int] = field(default_factory=dict)
    creators: tuple[Callable[..., Any], ...] = ()

    def open(self, name: str) -> None:
        """Count an opening of the scope of this full name."""
        self.counts[name] = self.counts.get(name, 0) + 1

    def forget_inside(self, name: str) -> None:
        """Let the scopes inside the scope of this full name start anew."""
        for known in self.counts:
            if known.startswith(name + "/"):
                self.counts[known] = 0

    def unique(self, prefix: str) -> str:
        """`prefix`, numbered if the open scope has had an inner scope of that name."""
        outer = self.current.name + "/" if self.current.name else ""
        number, name = 0, prefix
        while self.counts.get(outer + name, 0):
            number += 1
            name = f"{prefix}_{number}"
        return name


def scopes_of(graph: Graph) -> Scopes:
    """The place of this thread in the graph's variable scopes."""
    found: Scopes | None = graph.scopes.variables
    if found is None:
        from sessrun.reference.variables.variable_scopes import VariableScope  # noqa: PLC0415 - imports this

        found = graph.scopes.variables = Scopes(VariableScope(False))
    return found


def store_of(graph: Graph) -> VariableStore:
    """The graph's store, made at the first call."""
    with _LOCK:
        kept = graph.get_collection_ref(STORE_KEY)
        if not kept:
            kept.append(VariableStore())
        store: VariableStore = kept[0]
        return store


class VariableStore:
    """Variables by full name."""

    def __init__(self) -> None:
        self._variables: dict[str, Any] = {}

    def made(self) -> Mapping[str, Any]:
        """All variables by full name."""
        return self._variables

    def get(self, request: Request, custom_getter: Any) -> Any:
        """The variable asked for: shared or new, through the custom getter if there is one.

        Raises:
          ValueError: sharing is not allowed, or the variable is not there or another; or it
            cannot be made.
          TypeError: the custom getter cannot be called.

        """
        traits = traits_of(
            request.name, request.trainable, request.constraint, request.synchronization,
            request.aggregation,
        )  # fmt: skip
        request = replace(
            request, trainable=traits.trainable, synchronization=traits.synchronization,
            aggregation=traits.aggregation,
        )  # fmt: skip
        if custom_getter is None:
            return self._get(request)
        if not callable(custom_getter):
            raise bad_value(
                f"Passed a custom_getter which is not callable: {custom_getter}"
            )

        def getter(name: str, *args: Any, **kwargs: Any) -> Any:
            return self._get(Request(name, *args, **kwargs))

        given = {key: getattr(request, key) for key in Request.__slots__ if key != "name"}
        if not _takes(custom_getter, "constraint"):
            del given["constraint"]
        return custom_getter(getter=getter, name=request.name, **given)

    def _get(self, request: Request) -> Any:
        if request.partitioner is not None and not callable(request.partitioner):
            raise ValueError(
                f"Partitioner must be callable, but received: {request.partitioner}"
            )
        is_value = request.initializer is not None and not callable(request.initializer)
        if is_value and request.shape is not None:
            raise bad_value("If initializer is a constant, do not specify shape.")
        request = replace(
            request, dtype=dtypes.as_dtype(request.dtype),
            shape=tensor_shape.as_shape(request.shape),
        )  # fmt: skip
        found = self._variables.get(request.name)
        if found is not None:
            return _shared(found, request)
        if request.reuse is True:
            raise ValueError(
                f"Variable {request.name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        variable = _made(request, is_value=is_value)
        self._variables[request.name] = variable
        if request.regularizer:
            _regularize(variable, request.name, request.regularizer)
        return variable


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Whether the function can be called with this keyword."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _shared(found: Any, request: Request) -> Any:
    name = request.name
    if request.reuse is False:
        text = (
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
        if found.op.site is not None:
            text += f" Originally defined at:\n\n{found.op.site}"
        raise ValueError(text)
    if not request.shape.is_compatible_with(found.shape):
        raise bad_value(
            f"Trying to share variable {name}, but specified shape {request.shape} and found "
            f"shape {found.shape}."
        )
    if not request.dtype.is_compatible_with(found.dtype):
        raise bad_value(
            f"Trying to share variable {name}, but specified dtype {request.dtype.name} and "
            f"found dtype {found.dtype.name}."
        )
    return found


def _made(request: Request, *, is_value: bool) -> Any:
    from sessrun.reference.variables import variables  # noqa: PLC0415 - it imports this module

    initializer, shape = request.initializer, request.shape
    if initializer is None:
        initializer = _default_initializer(request)
    dtype: DType | None = None
    initial: Any = initializer
    if not is_value:
        with get_default_graph().control_dependencies(None):
            initial, dtype = _initial(initializer, shape, request.dtype)
    use_resource = request.use_resource
    if use_resource is None:
        use_resource = variables.resource_variables_enabled()
    return variables.create(
        initial_value=initial, trainable=request.trainable, collections=request.collections,
        validate_shape=request.validate_shape, caching_device=request.caching_device,
        name=request.name, dtype=dtype, constraint=request.constraint,
        use_resource=use_resource, synchronization=request.synchronization,
        aggregation=request.aggregation, shape=None if is_value else _known(shape),
    )  # fmt: skip


def _known(shape: TensorShape) -> TensorShape | None:
    return shape if shape.is_fully_defined() else None


def _initial(
    initializer: Any, shape: TensorShape, dtype: DType
) -> tuple[Callable[[], Any], DType | None]:
    """The function that gives the initial value, and the dtype it is converted to."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        given = {"dtype": dtype}
        if "partition_info" in inspect.signature(initializer).parameters:
            given["partition_info"] = None  # type: ignore[assignment]  # there are no partitions
        return functools.partial(initializer, shape.as_list(), **given), dtype.base_dtype
    parameters = inspect.signature(initializer).parameters.values()
    if all(p.default is not p.empty or p.kind in {p.VAR_POSITIONAL, p.VAR_KEYWORD}
           for p in parameters):  # fmt: skip
        return initializer, None
    raise bad_value(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided, or an initializer and `shape` should be fully defined."
    )


def _default_initializer(request: Request) -> Any:
    dtype = request.dtype
    if request.shape.ndims is None:
        raise bad_value(
            f"Variable {request.name} did not get an initializer, so its `shape` argument must "
            "be specified."
        )
    if dtype.is_floating:
        return init_ops.GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return init_ops.Zeros()
    raise bad_value(
        f"An initializer for variable {request.name} of {dtype.base_dtype} is required"
    )


def _regularize(variable: Any, name: str, regularizer: Callable[[Any], Any]) -> None:
    """Keep the regularizer's loss in its collection, if it gives one."""
    if regularizer(variable) is None:
        return
    graph = get_default_graph()
    with graph.colocate_with(variable), name_scope(name + "/Regularizer/"):
        loss = regularizer(variable)
    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
