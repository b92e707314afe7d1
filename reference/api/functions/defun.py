"""`Defun`: Python functions as functions of the GraphDef's library, and operations that call them.

    @function.Defun(tf.float32, tf.float32)
    def scaled(x, y):
        return 2.0 * x + y

    z = scaled(a, b)

The body is built once, at the first call of the function or the first use of its FunctionDef.
Source: TF 2.21, `tensorflow.python.framework.function`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.api.functions.func_graph import FuncGraph
from sessrun.reference.api.functions.function_defs import function_def
from sessrun.reference.api.variables.opened_variable_scopes import variable_scope
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base import dtypes
from sessrun.reference.base.dtypes import DType, DTypeLike
from sessrun.reference.build.conversion import convert_to_tensor
from sessrun.reference.build.framework_ops import placeholder
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.graph import Graph
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec.proto import AttrValue, FunctionDef, FunctionDefLibrary, OpDef

__all__ = [
    "DefinedFunction",
    "Defun",
    "OverloadedFunction",
    "from_definition",
    "from_library",
    "get_extra_args",
    "get_extra_inputs",
    "get_extra_vars",
]

#: How a dtype is written in the name of an overloaded function.
_SHORT: Final[Mapping[Any, str]] = {
    dtypes.float16: "f16",
    dtypes.float32: "f32",
    dtypes.float64: "f64",
    dtypes.int32: "i32",
    dtypes.uint8: "i8",
    dtypes.uint16: "u16",
    dtypes.uint32: "u32",
    dtypes.uint64: "u64",
    dtypes.int16: "i16",
    dtypes.int8: "i8",
    dtypes.string: "s",
    dtypes.complex64: "c64",
    dtypes.complex128: "c128",
    dtypes.int64: "i64",
    dtypes.bool_: "b",
    dtypes.bfloat16: "b16",
    **{dtype: dtype.name.replace("uint", "u").replace("int", "i") for dtype in dtypes.QUANTIZED},
}


class Defun:
    """Decorator that defines a Python function as a function of the graph's function library.

    Args:
      *input_types: the dtypes of the arguments; if left out, a function is defined for each
        combination of dtypes that the decorated function is called with.
      func_name: the name of the function; by default the Python function's with a hash.
      grad_func: a defined function that computes the gradient.
      python_grad_func: a Python function that computes the gradient, instead of `grad_func`.
      out_names: the names of the results.
      **options: attributes of the function, such as `noinline`; `shape_func`, a Python function
        from the operation of a call to the shapes of its outputs; `capture_by_value`, whether the
        body copies the operations that compute captured tensors.

    Raises:
      ValueError: the decorated object is not callable, has default values or keyword arguments,
        or takes another number of arguments than `input_types` has.

    """

    def __init__(
        self,
        *input_types: DTypeLike,
        func_name: str | None = None,
        grad_func: DefinedFunction | None = None,
        python_grad_func: Callable[..., object] | None = None,
        out_names: Sequence[str] | None = None,
        **options: Any,
    ) -> None:
        self._input_types = input_types
        self._options: dict[str, Any] = {
            "func_name": func_name,
            "grad_func": grad_func,
            "python_grad_func": python_grad_func,
            "out_names": out_names,
            **options,
        }

    def __call__(self, func: Callable[..., object]) -> DefinedFunction | OverloadedFunction:
        """The defined function; an OverloadedFunction if the dtypes are not declared."""
        if not callable(func):
            raise ValueError(f"Function {func} must be a callable.")  # noqa: TRY004 - TensorFlow's class
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                "Functions with argument defaults or keywords arguments are not supported. "
                f"{func} has defaults {spec.defaults} and keywords {spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        least, most = len(names), 1_000_000 if spec.varargs else len(names)
        if self._input_types:
            if not least <= len(self._input_types) <= most:
                raise ValueError(
                    "The number of tf.function input types is not compatible with the allowed "
                    f"arguments of {func}. The tf.function have {len(self._input_types)} input "
                    f"types, while the python function allows minimum {least} and maximum {most} "
                    "arguments."
                )
            return DefinedFunction(func, names, self._input_types, **self._options)
        if most == 0:
            return DefinedFunction(func, (), (), **self._options)
        return OverloadedFunction(func, names, **self._options)


class DefinedFunction:
    """A function with its argument types; its body is built when first needed.

    Args:
      func: the Python function that builds the body.
      argnames: the names of the arguments; those after them are named `arg0`, `arg1`, ... by index.
      input_types: the dtypes of the arguments.
      **options: as for `Defun`.

    Attributes:
      python_grad_func: the Python function that computes its gradient, or None.

    """

    def __init__(
        self,
        func: Callable[..., object],
        argnames: Sequence[str],
        input_types: Sequence[object],
        *,
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable[..., object] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[[Operation], Any] | None = None,
        capture_by_value: bool = False,
        allowlisted_stateful_ops: Any = None,
        capture_resource_var_by_value: bool = True,
        **options: Any,
    ) -> None:
        self._func = func
        self._input_types = tuple(dtypes.as_dtype(kind) for kind in input_types)
        extra = range(len(argnames), len(input_types))
        self._argnames = (*argnames, *(f"arg{index}" for index in extra))
        self._func_name = func_name
        self._grad_func = grad_func
        self.python_grad_func = python_grad_func
        self._out_names = tuple(out_names or ())
        self._shape_func = shape_func
        self._by_value = capture_by_value
        self._may_copy = frozenset(allowlisted_stateful_ops or ())
        self._reads_variables = capture_resource_var_by_value
        self._options = options
        self._device = default_graph.get_default_graph().scopes.device
        self._body: FuncGraph | None = None
        self._definition: FunctionDef | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.definition.signature.name

    @property
    def definition(self) -> FunctionDef:
        """The FunctionDef; its first use calls the Python function, which builds the body."""
        if self._definition is None:
            self._definition = self._define()
        return self._definition

    @property
    def cached_definition(self) -> FunctionDef:
        """The FunctionDef, as `definition`."""
        return self.definition

    @property
    def _signature(self) -> OpDef:
        return self.definition.signature

    @property
    def declared_input_types(self) -> tuple[DType, ...]:
        """The dtypes of the declared arguments, without captured tensors."""
        return self._input_types

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The captured tensors of the outer graph, which a call passes after the arguments."""
        return self._built().extra_inputs

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """The name and the op type of every stateful operation of the body."""
        ops = self._built().get_operations()
        return [(op.name, op.type) for op in ops if op.declaration.stateful]

    @property
    def grad_func_name(self) -> str | None:
        """The name of the function that computes its gradient, or None."""
        return None if self._grad_func is None else self._grad_func.name

    def set_grad_func(self, grad_func: Callable[..., object]) -> None:
        """Set the defined function that computes the gradient, which must not be set already."""
        assert self._grad_func is None
        assert isinstance(grad_func, DefinedFunction)
        self._grad_func = grad_func

    def _built(self) -> FuncGraph:
        _ = self.definition
        assert self._body is not None
        return self._body

    def _define(self) -> FunctionDef:
        base = self._func_name or getattr(self._func, "__name__", None) or type(self._func).__name__
        body = FuncGraph(
            base,
            by_value=self._by_value,
            may_copy=self._may_copy,
            reads_variables=self._reads_variables,
        )
        self._build(body)
        if self._func_name is None and self._grad_func is not None:
            base = f"{base}_{self._grad_func.name}"
        self._body = body
        return function_def(
            body,
            base,
            is_exact=self._func_name is not None,
            out_names=self._out_names,
            attrs=_attrs(base, self._options),
            description=self._func.__doc__ or "",
        )

    def _build(self, body: FuncGraph) -> None:
        with body.as_default(), body.scopes.entered_device(self._device):
            for name, dtype in zip(self._argnames, self._input_types, strict=True):
                body.inputs.append(placeholder(dtype, name=name))
            with variable_scope("", custom_getter=body.variable):
                results = self._func(*body.inputs)
            if results is None:
                results = ()
            elif not isinstance(results, list | tuple):
                results = (results,)
            if any(result is None for result in results):
                raise ValueError(f"Function {body.name} can not return None.")
            body.outputs = [body.capture(convert_to_tensor(result)) for result in results]

    def add_to_graph(self, g: Graph) -> None:
        """Add the function and its gradient function to the function library of a graph.

        Raises:
          InvalidArgumentError: another function, or an op type, has the same name.
          ValueError: both a function and a Python function compute its gradient.

        """
        if self._grad_func is not None and self.python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {self.name}")
        library = FunctionDefLibrary(function=[self.definition])
        if self._grad_func is not None:
            self._grad_func.add_to_graph(g)
            library.gradient.add(function_name=self.name, gradient_func=self._grad_func.name)
        try:
            g.add_functions(library)
            g.functions.set_python_gradient(self.name, self.python_grad_func)
        except errors.InvalidArgumentValueError as error:
            raise errors.bad_argument(error.message) from error

    def __call__(
        self, *args: object, name: str | None = None, **options: object
    ) -> Tensor | tuple[Tensor, ...] | Operation:
        """Make an operation of the default graph that calls the function.

        Args:
          *args: the arguments: tensors, or values that are converted to tensors.
          name: the operation's name; by default the function's.
          **options: attributes of the operation, such as `noinline`.

        Returns:
          The result: a Tensor, a tuple of several, or the Operation if the function returns none.

        Raises:
          ValueError: too few or too many arguments, or an unknown option.

        """
        graph = default_graph.get_default_graph()
        self.add_to_graph(graph)
        inputs = [convert_to_tensor(arg) for arg in args] + self.captured_inputs
        wanted = len(self._signature.input_arg)
        if len(inputs) != wanted:
            raise ValueError(f"Expected {wanted} arguments, got {len(inputs)}.")
        attrs = _attrs(self.name, options)
        op = graph.create_op(self.name, inputs, name=name or self.name, attrs=attrs)
        if self._shape_func is not None:
            for output, shape in zip(op.outputs, self._shape_func(op), strict=False):
                output.set_shape(shape)
        if not op.outputs:
            return op
        return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


class OverloadedFunction:
    """A function that is defined once for each combination of argument dtypes of its calls.

    The arguments are those of `DefinedFunction`.
    """

    def __init__(
        self,
        func: Callable[..., object],
        argnames: Sequence[str],
        *,
        func_name: str | None = None,
        grad_func: OverloadedFunction | None = None,
        **options: Any,
    ) -> None:
        self._func = func
        self._argnames = argnames
        self._func_name = func_name
        self._grad_func = grad_func
        self._options = options
        self._defined: dict[str, DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[object]) -> DefinedFunction:
        """The function for arguments of these dtypes.

        Raises:
          ValueError: a dtype is not supported, such as that of a resource.

        """
        unsupported = [kind for kind in input_types if kind not in _SHORT]
        if unsupported:
            raise ValueError(
                f"Unsupported dtypes {unsupported} in `types`. Supported dtypes are "
                f"{_SHORT.keys()}."
            )
        key = "".join(_SHORT[kind] for kind in input_types)
        if key not in self._defined:
            name = None if self._func_name is None else f"{self._func_name}_{key}"
            defined = DefinedFunction(
                self._func, self._argnames, input_types, func_name=name, **self._options
            )
            results = [dtypes.as_dtype(arg.type) for arg in defined.definition.signature.output_arg]
            if self._grad_func is not None:
                defined.set_grad_func(self._grad_func.instantiate([*input_types, *results]))
            self._defined[key] = defined
        return self._defined[key]

    def __call__(self, *args: object, **options: Any) -> Tensor | tuple[Tensor, ...] | Operation:
        """Call the function defined for the arguments' dtypes, as `DefinedFunction.__call__`."""
        tensors = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype for tensor in tensors])(*tensors, **options)


def _attrs(name: str, options: Mapping[str, object]) -> dict[str, AttrValue]:
    """The options of a function or of a call as attributes of a FunctionDef or NodeDef.

    Raises:
      ValueError: an option is unknown, or its value has the wrong type.

    """
    attrs = {"_disable_call_shape_inference": AttrValue(b=True)}
    left = dict(options)
    if (noinline := left.pop("noinline", None)) is not None:
        attrs["_noinline"] = AttrValue(b=bool(noinline))
    separate = left.pop("separate_compiled_gradients", None)
    if (compiled := left.pop("compiled", None)) is not None:
        attrs["_XlaCompile"] = AttrValue(b=bool(compiled))
        attrs["_XlaSeparateCompiledGradients"] = AttrValue(b=bool(separate))
        attrs["_XlaScope"] = AttrValue(s=f"function_{name}".encode())
    for key in list(left):
        if key.startswith("experimental_"):
            attrs[key] = _experimental(key, left.pop(key))
        elif key in {"_implements", "_reference"}:
            value = left.pop(key)
            if not isinstance(value, str):
                raise ValueError(f"Attribute {key} must be str. Got {type(value)}.")
            attrs[key] = AttrValue(s=value.encode())
    if left:
        raise ValueError(f"Unknown keyword arguments: {left.keys()}.")
    return attrs


def _experimental(key: str, value: object) -> AttrValue:
    match value:
        case bool():
            return AttrValue(b=value)
        case int():
            return AttrValue(i=value)
        case float():
            return AttrValue(f=value)
        case str():
            return AttrValue(s=value.encode())
    raise ValueError(f"Attribute {key} must be bool, int, float, or str. Got {type(value)}.")


def from_library(library: FunctionDefLibrary) -> list[DefinedFunction]:
    """The functions of a FunctionDefLibrary, gradient functions before those they differentiate.

    Raises:
      ValueError: a GradientDef names a function that the library lacks, or the functions and
        their gradient functions form a cycle.

    """
    functions = {item.signature.name: from_definition(item) for item in library.function}
    gradients = {item.function_name: item.gradient_func for item in library.gradient}
    for pair in gradients.items():
        for missing in (item for item in pair if item not in functions):
            raise ValueError(f"FunctionDefLibrary missing '{missing}' FunctionDef")
    ordered: dict[str, DefinedFunction] = {}
    while left := [name for name in functions if name not in ordered]:
        ready = [name for name in left if gradients.get(name) in {None, *ordered}]
        if not ready:
            raise ValueError(
                f"FunctionDefLibrary contains cyclic gradient functions! They are {', '.join(left)}"
            )
        for name in ready:
            if name in gradients:
                functions[name].set_grad_func(functions[gradients[name]])
            ordered[name] = functions[name]
    return list(ordered.values())


def from_definition(
    function: FunctionDef, grad_func: Callable[..., object] | None = None
) -> DefinedFunction:
    """The DefinedFunction of a FunctionDef; `grad_func` computes its gradient."""
    types = [dtypes.as_dtype(arg.type) for arg in function.signature.input_arg]
    names = [arg.name for arg in function.signature.input_arg]
    name = function.signature.name
    function_of_library = DefinedFunction(
        lambda *_: None, names, types, func_name=name, grad_func=grad_func
    )
    function_of_library._definition = function  # noqa: SLF001 - it is created here, of its own definition
    function_of_library._body = FuncGraph(name)  # noqa: SLF001 - the same: nothing is captured
    return function_of_library


# --- inside a body ---------------------------------------------------------------------------


def get_extra_vars() -> list[Tensor | Variable]:
    """The variables that the body being built has requested; [] outside of a body."""
    graph = default_graph.get_default_graph()
    return graph.extra_vars if isinstance(graph, FuncGraph) else []


def get_extra_inputs() -> list[Tensor]:
    """The tensors that the body being built has captured; [] outside of a body."""
    graph = default_graph.get_default_graph()
    return graph.extra_inputs if isinstance(graph, FuncGraph) else []


def get_extra_args() -> list[Tensor]:
    """The placeholders of the captured tensors of the body being built; [] outside of a body."""
    graph = default_graph.get_default_graph()
    return graph.extra_args if isinstance(graph, FuncGraph) else []
