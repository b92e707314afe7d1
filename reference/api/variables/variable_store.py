"""The variables of a graph that `get_variable` shares, by name: one store for all threads."""

from __future__ import annotations

import enum
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from sessrun.reference.api.ops.array_ops import slice_
from sessrun.reference.api.variables import init_ops, variables
from sessrun.reference.api.variables.partition_layout import (
    PartitionInfo,
    partitions_of,
    places,
)
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.api.variables.save_slices import SaveSliceInfo
from sessrun.reference.api.variables.variable_arguments import (
    CollectionNames,
    Constraint,
    DeviceChoice,
    Regularizer,
)
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.api.variables.variable_traits import traits_of
from sessrun.reference.base import dtypes, tensor_shape
from sessrun.reference.base.dtypes import DType
from sessrun.reference.base.graph_keys import GraphKeys
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.errors import bad_value
from sessrun.reference.graph.default_graph import get_default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.tensor import Tensor

__all__ = [
    "AUTO_REUSE",
    "Request",
    "Reuse",
    "VariableStore",
    "default_store",
    "store_of",
    "with_variable_store",
]


class _ReuseMode(enum.Enum):
    """Whether `get_variable` shares variables: never, always, or those that exist."""

    AUTO_REUSE = 1  # share the variable if it exists, else create it


AUTO_REUSE: Final = _ReuseMode.AUTO_REUSE

#: Whether variables are shared: always, never, or if they exist; None as in the scope around.
Reuse: TypeAlias = "bool | _ReuseMode | None"

STORE_KEY: Final = ("__variable_store",)
_LOCK: Final = threading.Lock()


@dataclass(slots=True)
class Request:
    """The arguments of one call of `get_variable`."""

    name: str
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Regularizer = None
    reuse: Reuse = None
    trainable: bool | None = None
    collections: CollectionNames = None
    caching_device: DeviceChoice = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Constraint = None
    synchronization: Any = None
    aggregation: Any = None


def store_of(graph: Graph) -> VariableStore:
    """The graph's variable store; the first call creates it."""
    with _LOCK:
        kept = graph.get_collection_ref(STORE_KEY)
        if not kept:
            kept.append(VariableStore())
        store: VariableStore = kept[0]
        return store


@contextmanager
def with_variable_store(store: VariableStore) -> Iterator[None]:
    """Let `get_variable` share the variables of a store, and put new ones there."""
    kept = get_default_graph().get_collection_ref(STORE_KEY)
    before = list(kept)
    kept[:] = [store]
    try:
        yield
    finally:
        kept[:] = before


def default_store() -> VariableStore:
    """The default graph's store."""
    return store_of(get_default_graph())


class VariableStore:
    """Variables by full name: in one piece, and those that are parts of a larger one."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}
        self._wholes: dict[str, PartitionedVariable] = {}

    def variables_by_name(self) -> Mapping[str, Variable]:
        """All variables by full name."""
        return self._variables

    @property
    def _vars(self) -> dict[str, Variable]:
        return self._variables

    def get_variable(
        self,
        name: str,
        *args: Any,
        custom_getter: object = None,
        **options: Any,
    ) -> Any:
        """The variable of this full name; the arguments are the fields of a Request."""
        return self.get(Request(name, *args, **options), custom_getter)

    def get(self, request: Request, custom_getter: object) -> Any:
        """Get or create the requested variable, through the scope's custom getter if it has one.

        Raises:
          ValueError: sharing is not allowed, or the variable is not there or another; or it
            cannot be created; or the custom getter cannot be called.

        """
        if custom_getter is not None and not callable(custom_getter):
            raise bad_value(f"Passed a custom_getter which is not callable: {custom_getter}")
        traits = traits_of(
            request.name,
            request.trainable,
            request.constraint,
            request.synchronization,
            request.aggregation,
        )
        request = replace(
            request,
            trainable=traits.trainable,
            synchronization=traits.synchronization,
            aggregation=traits.aggregation,
            dtype=getattr(request.dtype, "base_dtype", request.dtype),
        )
        if custom_getter is None:
            return self._get(request)

        def getter(name: str, *args: Any, **kwargs: Any) -> Any:
            return self._get(Request(name, *args, **kwargs))

        given = {key: getattr(request, key) for key in Request.__slots__ if key != "name"}
        if not _takes(custom_getter, "constraint"):
            del given["constraint"]
        return custom_getter(getter=getter, name=request.name, **given)

    def _get(self, request: Request) -> Variable | PartitionedVariable:
        name, partitioner = request.name, request.partitioner
        is_scalar = isinstance(request.shape, Sequence) and not request.shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(request)
        if request.reuse is True and partitioner is None and name in self._wholes:
            return self.get_partitioned(request)
        if f"{name}/part_0" in self._variables:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was "
                f"found: {name}/part_0. Perhaps a variable of the same name was already created "
                "with partitioning?"
            )
        return self._single(request)

    def get_partitioned(self, request: Request) -> PartitionedVariable:
        """Share or create a variable that is partitioned by its partitioner.

        Raises:
          ValueError: as `get`; or it exists in one piece, or is cut otherwise.

        """
        name, initializer = request.name, request.initializer
        if name in self._variables:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was "
                f"found: {name}.  Perhaps a variable of the same name was already created without "
                "partitioning?"
            )
        shape = tensor_shape.as_shape(request.shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.shape)
        request = replace(request, shape=shape)
        partitions = None
        if not request.reuse or request.partitioner:
            partitions = partitions_of(request.partitioner, shape, request.dtype)
        existing = self._wholes.get(name)
        if existing is not None:
            return _shared_partitioned(existing, request, partitions)
        if request.reuse is True or partitions is None:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        sizes = [size or 0 for size in shape.as_list()]  # all are known
        cut = list(places(sizes, partitions))
        self._check_parts(name, len(cut))
        parts = []
        for number, (offset, size) in enumerate(cut):
            part = self._part(request, number, offset, size)
            part._set_save_slice_info(SaveSliceInfo(name, sizes, offset, size))  # noqa: SLF001 - its name there
            parts.append(part)
        dtype = parts[0].dtype.base_dtype
        variable = PartitionedVariable(name, shape, dtype, parts, partitions)
        self._wholes[name] = variable
        return variable

    def _check_parts(self, name: str, count: int) -> None:
        """Check that a partitioned variable that exists has the same number of parts."""
        if f"{name}/part_0" not in self._variables:
            return
        is_less = f"{name}/part_{count - 1}" not in self._variables
        if is_less or f"{name}/part_{count}" in self._variables:
            raise ValueError(
                "Partitioner returned a different partitioning than what was already found: "
                f"{count} parts of {name}, of which there are {'fewer' if is_less else 'more'}."
            )

    def _part(self, request: Request, number: int, offset: list[int], size: list[int]) -> Any:
        """Share or create one part of a partitioned variable."""
        name, initializer = f"{request.name}/part_{number}", request.initializer
        dtype, shape = request.dtype, size
        with name_scope(f"{name}/PartitionedInitializer"):
            if initializer is None:
                initializer = _default_initializer(request)
            elif not callable(initializer):
                if not isinstance(initializer, Tensor):
                    initializer = convert_to_tensor(initializer, dtype=dtype)
                initializer = slice_(initializer, offset, size)
                dtype, shape = initializer.dtype.base_dtype, None  # type: ignore[assignment]  # the value's own
        info = PartitionInfo([size or 0 for size in request.shape.as_list()], offset)
        with name_scope(None):
            part = replace(request, name=name, shape=shape, dtype=dtype, initializer=initializer)
            return self._single(part, info)

    def _single(self, request: Request, info: PartitionInfo | None = None) -> Variable:
        """Share or create an unpartitioned variable, or the part that `info` describes."""
        is_value = request.initializer is not None and not callable(request.initializer)
        if is_value and request.shape is not None:
            raise bad_value("If initializer is a constant, do not specify shape.")
        request = replace(
            request,
            dtype=dtypes.as_dtype(request.dtype),
            shape=tensor_shape.as_shape(request.shape),
        )
        existing = self._variables.get(request.name)
        if existing is not None:
            return _shared(existing, request)
        if request.reuse is True:
            raise ValueError(
                f"Variable {request.name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        variable = _create(request, info, is_value=is_value)
        self._variables[request.name] = variable
        if request.regularizer:
            _regularize(variable, request.name, request.regularizer)
        return variable


def _takes(function: Callable[..., object], name: str) -> bool:
    """Whether the function can be called with this keyword."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _shared(variable: Variable, request: Request) -> Variable:
    name = request.name
    if request.reuse is False:
        text = (
            f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
        text += f" Originally defined at:\n\n{variable.op.site}"
        raise ValueError(text)
    if not request.shape.is_compatible_with(variable.shape):
        raise bad_value(
            f"Trying to share variable {name}, but specified shape {request.shape} and found "
            f"shape {variable.shape}."
        )
    if not request.dtype.is_compatible_with(variable.dtype):
        raise bad_value(
            f"Trying to share variable {name}, but specified dtype {request.dtype.name} and "
            f"found dtype {variable.dtype.name}."
        )
    return variable


def _shared_partitioned(
    variable: PartitionedVariable, request: Request, partitions: Sequence[int] | None
) -> PartitionedVariable:
    name = request.name
    if request.reuse is False:
        raise ValueError(
            f"Partitioned variable with name {name} already exists. Did you mean to set "
            "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
        )
    has = variable._get_partitions()  # noqa: SLF001 - TensorFlow's name
    for what, given, kept, is_same in (
        ("shape", request.shape, variable.shape, request.shape.is_compatible_with(variable.shape)),
        (
            "dtype",
            request.dtype.name,
            variable.dtype.name,
            request.dtype.is_compatible_with(variable.dtype),
        ),
        ("partitions", partitions, has, partitions is None or partitions == has),
    ):
        if not is_same:
            raise bad_value(
                f"Trying to reuse partitioned variable {name}, but specified {what} {given} and "
                f"found {what} {kept}."
            )
    return variable


def _create(request: Request, info: PartitionInfo | None, *, is_value: bool) -> Variable:
    initializer, shape = request.initializer, request.shape
    if initializer is None:
        initializer = _default_initializer(request)
    dtype: DType | None = None
    initial: Any = initializer
    if not is_value:
        with get_default_graph().control_dependencies(None):
            initial, dtype = _initial(initializer, shape, request.dtype, info)
    use_resource = request.use_resource
    if use_resource is None:
        use_resource = variables.resource_variables_enabled()
    return variables.create(
        initial_value=initial,
        trainable=request.trainable,
        collections=request.collections,
        validate_shape=request.validate_shape,
        caching_device=request.caching_device,
        name=request.name,
        dtype=dtype,
        constraint=request.constraint,
        use_resource=use_resource,
        synchronization=request.synchronization,
        aggregation=request.aggregation,
        shape=None if is_value else _known(shape),
    )


def _known(shape: TensorShape) -> TensorShape | None:
    return shape if shape.ndims is not None else None


def _initial(
    initializer: Any, shape: TensorShape, dtype: DType, info: PartitionInfo | None
) -> tuple[Callable[[], TensorLike] | TensorLike, DType | None]:
    """The function that computes the initial value, and the dtype it is converted to."""
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        given: dict[str, object] = {"dtype": dtype}
        if "partition_info" in inspect.signature(initializer).parameters:
            given["partition_info"] = info
        return functools.partial(initializer, shape.as_list(), **given), dtype.base_dtype
    parameters = inspect.signature(initializer).parameters.values()
    if all(
        p.default is not p.empty or p.kind in {p.VAR_POSITIONAL, p.VAR_KEYWORD} for p in parameters
    ):
        return initializer, None
    raise bad_value(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
        "should be fully defined."
    )


def _default_initializer(request: Request) -> Callable[..., Tensor]:
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
    raise bad_value(f"An initializer for variable {request.name} of {dtype.base_dtype} is required")


def _regularize(variable: object, name: str, regularizer: Callable[[Any], Any]) -> None:
    """Keep the regularizer's loss in its collection, if it gives one."""
    if regularizer(variable) is None:
        return
    graph = get_default_graph()
    with graph.colocate_with(variable), name_scope(name + "/Regularizer/"):
        loss = regularizer(variable)
    graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
