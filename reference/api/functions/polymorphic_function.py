"""`tf.function`: a Python function as a function of graphs, traced for each kind of arguments.

Tensors and arrays become arguments of the graph's function; other values are part of the trace:
another number means another trace. The Python function is run as it stands: a branch on a tensor
is written with `cond`. Within one trace operations with effects follow one another in the order in
which they were created, and every call runs them all. Source: TF 2.21, probed in graph mode.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from sessrun.reference.api import nest
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.control_flow.invariants import is_within
from sessrun.reference.api.functions.concrete_function import Trace, TracedGraph
from sessrun.reference.api.functions.eager_functions import functions_run_eagerly
from sessrun.reference.api.type_specs import TensorSpec, TypeSpec
from sessrun.reference.api.variables.variables import variable_creator_scope
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.name_scopes import init_scope
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.public import public

__all__ = ["ConcreteFunction", "Function", "function"]

_NUMBERS: Final = itertools.count()
_TRACES: Final = "_traces_of_functions"
#: TensorFlow's experimental options.
_EXPERIMENTAL: Final = frozenset(
    {
        "experimental_attributes",
        "experimental_autograph_options",
        "experimental_compile",
        "experimental_follow_type_hints",
        "experimental_implements",
        "experimental_relax_shapes",
    }
)


@public("function")
def function(
    func: Callable[..., object] | None = None,
    input_signature: Sequence[object] | None = None,
    autograph: bool = True,  # noqa: ARG001 - see the module's first lines
    jit_compile: bool | None = None,  # noqa: ARG001 - nothing is compiled here
    reduce_retracing: bool = False,  # noqa: ARG001 - a trace more gives the same values
    **experimental: object,
) -> Any:
    """A Python function whose calls are calls of a function of the graph.

    Args:
      func: the function; if left out, a decorator is returned.
      input_signature: a TensorSpec for each argument: the function is traced once, for these.
      autograph: not used.
      jit_compile: not used.
      reduce_retracing: not used.
      **experimental: TensorFlow's experimental options; not used.

    Raises:
      TypeError: the signature is no list or tuple, or an option is not TensorFlow's.

    """
    if odd := [key for key in experimental if key not in _EXPERIMENTAL]:
        raise TypeError(f"function() got an unexpected keyword argument {odd[0]!r}")
    if input_signature is not None and not isinstance(input_signature, list | tuple):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(input_signature)}."
        )
    signature = None if input_signature is None else tuple(input_signature)

    def decorated(inner: Callable[..., object]) -> Function:
        return Function(inner, signature)

    return decorated if func is None else decorated(func)


class _TensorKey(NamedTuple):
    """The part of a trace's key for a tensor: its dtype and its static sizes."""

    dtype: str
    sizes: tuple[int | None, ...] | None


class _Constant(NamedTuple):
    """The part of a trace's key for an argument that is not a tensor: equal for equal values."""

    value: Any


class Function:
    """A Python function with its traces.

    Args:
      python_function: the function.
      input_signature: what its arguments are, or None.

    Attributes:
      python_function: the function.
      input_signature: what its arguments are, or None.

    """

    def __init__(
        self, python_function: Callable[..., object], input_signature: tuple[Any, ...] | None
    ) -> None:
        self.python_function = python_function
        self.input_signature = input_signature
        self._name: str = getattr(python_function, "__name__", "function")
        self._signature = inspect.signature(python_function)
        self._bound: WeakKeyDictionary[Any, Function] = WeakKeyDictionary()
        self._count = 0
        self._has_variables = False
        functools.update_wrapper(self, python_function)

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    def experimental_get_tracing_count(self) -> int:
        """How often the Python function was traced."""
        return self._count

    def __get__(self, instance: object, owner: object) -> Function:
        """As a method: the function of that instance."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = types.MethodType(self.python_function, instance)
            self._bound[instance] = Function(method, self.input_signature)
        return self._bound[instance]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the function in the default graph.

        Args:
          *args: tensors, arrays, variables, structures of them, or anything that Python compares.
          **kwargs: the same by name.

        Returns:
          What the Python function returns, with the call's outputs for its tensors.

        Raises:
          TypeError: the arguments do not fit the Python function or the input signature, or it
            returns a value that is not a tensor.
          ValueError: a later call than the first one creates variables.

        """
        if functions_run_eagerly():
            return self.python_function(*args, **kwargs)
        given = self._arguments(args, kwargs)
        return self._trace(given).call(_tensors(given))

    def get_concrete_function(self, *args: object, **kwargs: object) -> ConcreteFunction:
        """The trace for these arguments; a TensorSpec may stand for a tensor.

        Raises:
          TypeError, ValueError: as a call.

        """
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        return ConcreteFunction(self, self._trace(self._arguments(args, kwargs)))

    def _arguments(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Any]:
        """Every argument by name: arrays are tensors."""
        try:
            bound = self._signature.bind(*args, **kwargs)
            bound.apply_defaults()
            arguments = dict(bound.arguments)
            if self.input_signature is None:
                return {
                    key: nest.map_structure(_converted, value) for key, value in arguments.items()
                }
            for key, spec in zip(list(arguments), self.input_signature, strict=False):
                arguments[key] = _matched(spec, arguments[key], _cast)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: "
                f"{tuple(args)} and kwargs: {dict(kwargs)} for signature: {self._shown()}."
            ) from error
        return arguments

    def _shown(self) -> str:
        """The signature as text, with the specs of the arguments."""
        specs = self.input_signature or ()
        parts = itertools.zip_longest(self._signature.parameters.values(), specs)
        shown = [f"{name}: {spec}" if spec is not None else str(name) for name, spec in parts]
        return f"({', '.join(shown)})"

    def _trace(self, arguments: dict[str, Any]) -> Trace:
        """The trace for these arguments; a new one if there is none yet in this graph."""
        graph = default_graph.get_default_graph()
        held = graph.__dict__.setdefault(_TRACES, WeakKeyDictionary()).setdefault(self, {})
        specs = arguments
        if self.input_signature is not None:
            specs = dict(arguments)
            for name, spec in zip(arguments, self.input_signature, strict=False):
                specs[name] = _matched(spec, arguments[name], _described)
        key = tuple((name, _key(value)) for name, value in specs.items())
        if key not in held:
            wider = next((other for other in held if _covers(other, key)), None)
            held[key] = self._traced(graph, specs) if wider is None else held[wider]
        trace: Trace = held[key]
        return trace

    def _traced(self, graph: Graph, arguments: dict[str, object]) -> Trace:
        variables: list[object] = []
        trace = self._run(arguments, variables)
        if variables:  # the second trace finds them
            trace = self._run(arguments, None)
        self._has_variables = self._has_variables or bool(variables)
        trace.put_into(graph)
        return trace

    def _run(self, arguments: dict[str, Any], variables: list[Any] | None) -> Trace:
        """Run the Python function on placeholders."""
        may_make = variables is not None and not self._has_variables

        def lifted(next_creator: Callable[..., object], **options: object) -> object:
            if not may_make:
                raise ValueError(
                    "tf.function only supports singleton tf.Variables created on the first call. "
                    "Make sure the tf.Variable is only created once or created outside "
                    "tf.function. See https://www.tensorflow.org/guide/function"
                    "#creating_tfvariables for more information."
                )
            with init_scope():
                variable = next_creator(**options | {"use_resource": True})
            assert variables is not None
            variables.append(variable)
            return variable

        def body() -> object:
            inner = {name: _inside(name, value, graph) for name, value in arguments.items()}
            bound = self._signature.bind_partial()
            bound.arguments.update(inner)
            with variable_creator_scope(lifted):
                return self.python_function(*bound.args, **bound.kwargs)

        self._count += 1
        graph = TracedGraph(f"__inference_{self._name}_{next(_NUMBERS)}", self.python_function)
        graph.build(body)
        return Trace(graph, arguments)


class ConcreteFunction:
    """One trace of a function.

    Args:
      owner: the function.
      trace: the trace.

    Attributes:
      graph: the graph that was traced.

    """

    def __init__(self, owner: Function, trace: Trace) -> None:
        self._owner = owner
        self._trace = trace
        self.graph = trace.body

    @property
    def name(self) -> bytes:
        """The name of the graph's function."""
        return self.graph.name.encode()

    @property
    def inputs(self) -> list[Tensor]:
        """The placeholders of the arguments in the traced graph, then those of captured tensors."""
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        """The tensors that it returns, in the traced graph."""
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The captured tensors, which a call passes after the arguments."""
        return list(self.graph.extra_inputs)

    @property
    def structured_outputs(self) -> Any:
        """The structure that the Python function returned, of tensors of the traced graph."""
        return self.graph.structure

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call it; the arguments are the tensors of the trace, by position or name.

        Raises:
          TypeError: there are others than the trace has.

        """
        names = list(self._trace.arguments)
        given = dict(zip(names, args, strict=False)) | kwargs
        tensors = _tensors(
            {name: nest.map_structure(_converted, given[name]) for name in names if name in given}
        )
        wanted = len(self.graph.inputs) - len(self.graph.extra_inputs)
        if len(tensors) != wanted:
            raise TypeError(f"{self._owner.name} takes {wanted} tensors, {len(tensors)} given")
        return self._trace.call(tensors)


def _converted(value: TensorLike) -> Any:
    """An argument: arrays become tensors, and TensorFlow's other values stay."""
    return convert_to_tensor(value) if isinstance(value, np.ndarray | np.generic) else value


def _matched(spec: object, value: object, leaf: Callable[[TypeSpec, Any], Any]) -> object:
    """Map `leaf` over the specs of a structure and the values that they describe.

    Raises:
      TypeError: the value has another structure.

    """
    match spec:
        case TypeSpec():
            return leaf(spec, value)
        case dict():
            if not isinstance(value, dict) or value.keys() != spec.keys():
                raise TypeError(f"Can not cast {value!r} to {spec}")
            return {name: _matched(item, value[name], leaf) for name, item in spec.items()}
        case list() | tuple():
            if type(value) is not type(spec):
                raise TypeError(f"Can not cast {value!r} to {spec}")
            pairs = zip(spec, value, strict=True)
            return type(spec)([_matched(item, part, leaf) for item, part in pairs])
    return value


def _cast(spec: TypeSpec, value: object) -> object:
    """An argument as the tensor that a spec describes, or a spec that says as much or more.

    Raises:
      TypeError: the value cannot be converted to what the spec describes.

    """
    if isinstance(value, TensorSpec):
        if value.dtype != spec.dtype or not is_within(value.shape, spec.shape):
            raise TypeError(f"Can not cast {value} to {spec}")
        return value
    if isinstance(spec, TensorSpec) and not isinstance(value, Tensor):
        value = convert_to_tensor(value, spec.dtype)
    if not spec.is_compatible_with(value):
        seen = TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else value
        raise TypeError(f"Can not cast {seen} to {spec}")
    return value


def _described(spec: TypeSpec, value: TensorLike) -> object:
    """The spec that an argument is traced by: a tensor's spec without its value."""
    return spec if isinstance(spec, TensorSpec) else value


def _key(value: TensorLike) -> Hashable:
    """The part of a trace's key for an argument: equal for arguments that share a trace."""
    match value:
        case Tensor() | TensorSpec():
            return _TensorKey(value.dtype.name, _sizes(value.shape))
        case list() | tuple():
            return type(value), *(_key(part) for part in value)
        case dict():
            return dict, *((name, _key(value[name])) for name in sorted(value, key=str))
    if nest.is_nested_or_composite(value):
        parts = nest.flatten(value, expand_composites=True)
        return type(value), *(_key(part) for part in parts)
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return _Constant(value)


def _sizes(shape: TensorShape) -> tuple[int | None, ...] | None:
    return None if shape.rank is None else tuple(shape.as_list())


def _covers(wide: object, key: object) -> bool:
    """Whether a trace for the key `wide` serves a call: it is equal, or its shapes are wider."""
    if isinstance(wide, _TensorKey) and isinstance(key, _TensorKey):
        shapes = TensorShape(key.sizes), TensorShape(wide.sizes)
        return wide.dtype == key.dtype and is_within(*shapes)
    if isinstance(wide, tuple) and isinstance(key, tuple):
        return len(wide) == len(key) and all(map(_covers, wide, key))
    return bool(wide == key)


def _inside(name: str, value: TensorLike, graph: TracedGraph) -> Any:
    """An argument with placeholders for its tensors, as the Python function receives it."""

    def stand_in(leaf: object) -> Any:
        if not isinstance(leaf, Tensor | TensorSpec):
            return leaf
        argument = placeholder(leaf.dtype, leaf.shape, name)
        graph.inputs.append(argument)
        return argument

    return nest.map_structure(stand_in, value, expand_composites=True)


def _tensors(arguments: Mapping[str, object]) -> list[Tensor]:
    """The tensors among arguments, in order."""
    leaves = nest.flatten(list(arguments.values()), expand_composites=True)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]
