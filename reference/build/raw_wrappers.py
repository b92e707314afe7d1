"""Operations as functions: of `tf.raw_ops`, of TensorFlow's generated modules, public ones."""

from __future__ import annotations

import collections
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from sessrun.reference.base import dtypes
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.signature import Signature, signature
from sessrun.reference.build.tensor_like import TensorLike
from sessrun.reference.graph.operation import Operation
from sessrun.spec.operations import AttrDecl
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.tables.wrappers import documentation, function_name

__all__ = ["PublicFunctions", "outputs_of", "positional", "python_wrapper", "wrapper"]

_REDUCTIONS: Final = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
#: By op type the inputs and attributes that have another name in Python, with that name.
_RENAMED: Final[Mapping[str, Mapping[str, str]]] = {
    **{op_type: {"reduction_indices": "axis"} for op_type in _REDUCTIONS},
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}

#: Where a new word begins in an op type.
_WORD_START: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")

#: A function that applies an operation. It returns what `outputs_of` gives, by the operation: a
#: tensor, a list of tensors, a named tuple of them, or the operation itself.
RawFunction: TypeAlias = Callable[..., Any]


@functools.cache
def wrapper(op_type: str) -> RawFunction:
    """A function that builds an operation of this type from inputs and attributes by name.

    It returns the operation if it has no output, its tensor if it has one, a list for a list of
    them, for several outputs a namedtuple of these. It raises TypeError for a missing input or
    an unknown argument.

    Raises:
      AttributeError: the op type is not declared.

    """
    try:
        declared = signature(op_type)
    except RuntimeError as error:
        raise AttributeError(str(error)) from error
    renamed = _RENAMED.get(op_type, {})
    input_names = {renamed.get(arg.name, arg.name): arg.name for arg in declared.inputs}
    attr_names = {renamed.get(name, name): name for name in declared.attrs}
    known = inspect.Signature(_parameters(declared, renamed))

    def make(*values: TensorLike, name: str | None = None, **arguments: object) -> Any:
        if values:
            raise TypeError(
                f"{op_type} only takes keyword args (possible keys: {list(known.parameters)}). "
                "Please pass these args as kwargs instead."
            )
        missing = set(input_names).difference(arguments)
        unknown = set(arguments).difference(input_names, attr_names)
        if missing or unknown:
            raise TypeError(f"{op_type}: missing {sorted(missing)}, unknown {sorted(unknown)}")
        inputs = {input_names[key]: value for key, value in arguments.items() if key in input_names}
        attrs = {attr_names[key]: value for key, value in arguments.items() if key in attr_names}
        return _named_outputs(apply_op(op_type, inputs, attrs, name))

    make.__name__ = op_type
    make.__doc__ = declared.declaration.summary
    vars(make)["__signature__"] = known  # what `inspect.signature` reads
    return make


def _parameters(declared: Signature, renamed: Mapping[str, str]) -> list[inspect.Parameter]:
    """The parameters of a wrapper: inputs, attributes without a default, with one, name."""
    attrs = [attr for attr in declared.attrs.values() if attr.name not in declared.inferred]
    attrs.sort(key=lambda attr: attr.has_default)
    defaults: dict[str, object] = {arg.name: inspect.Parameter.empty for arg in declared.inputs}
    for attr in attrs:
        defaults[attr.name] = _default_of(attr) if attr.has_default else inspect.Parameter.empty
    defaults["name"] = None
    return [
        inspect.Parameter(
            renamed.get(name, name), inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default
        )
        for name, default in defaults.items()
    ]


def _default_of(attr: AttrDecl) -> Any:
    """An attribute's default as a Python argument: a DType for an attribute of type `type`."""
    return dtypes.of_name(attr.default) if attr.type == "type" else attr.default


def python_wrapper(name: str) -> RawFunction | None:
    """The function that TensorFlow's generated modules (`gen_math_ops`) call by this name.

    It does what `wrapper` does, and takes arguments by position, too, in this order: inputs,
    attributes without a default, attributes with a default, name. So `mat_mul` builds a MatMul.

    Args:
      name: an op type in lower case with underscores, perhaps with an underscore before it.

    Returns:
      The function, or None if no op type has this name.

    """
    op_type = _op_types().get(name.removeprefix("_"))  # hidden operations have names like `_enter`
    return None if op_type is None else positional(op_type, name)


def positional(op_type: str, name: str) -> RawFunction:
    """A function of this name that does what `wrapper` does and takes positional arguments, too."""
    make = wrapper(op_type)
    known = inspect.signature(make)
    order = tuple(known.parameters)
    declaration = OPERATIONS[op_type]
    inputs = tuple(arg.name for arg in declaration.inputs)
    given = len(inputs)
    has_one_output = len(declaration.outputs) == 1 and not declaration.outputs[0].is_list

    def call(*values: TensorLike, name: str | None = None, **arguments: object) -> Any:
        if len(values) == given and not arguments:  # what nearly all calls are
            op = apply_op(op_type, dict(zip(inputs, values, strict=True)), {}, name)
            return op.outputs[0] if has_one_output else _named_outputs(op)
        if len(values) > len(order):
            raise TypeError(f"{op_type} takes {len(order)} arguments, not {len(values)}")
        if name is not None:
            arguments["name"] = name
        return make(**dict(zip(order, values, strict=False)), **arguments)

    call.__name__, call.__doc__ = name, make.__doc__
    vars(call)["__signature__"] = known
    return call


class PublicFunctions(dict[str, Any]):
    """The functions of operations with public names, such as `math.exp`; made on first use."""

    def __init__(self, module: str) -> None:
        super().__init__(OPERATIONS.public_names())
        self._module = module
        self._functions: dict[str, RawFunction] = {}
        self._op_types = {function_name(op_type): op_type for op_type in self.values()}

    def __getitem__(self, public_name: str) -> RawFunction:
        return self.called(function_name(super().__getitem__(public_name)))

    def called(self, name: str) -> RawFunction:
        """The function whose name is its op type in lower case: `batch_to_space_nd`.

        Raises:
          AttributeError: there is no such function.

        """
        if name not in self._functions:
            if name not in self._op_types:
                raise AttributeError(f"module {self._module!r} has no attribute {name!r}")
            op_type = self._op_types[name]
            function = self._functions.setdefault(name, positional(op_type, name))
            function.__module__ = self._module
            function.__doc__ = documentation(OPERATIONS[op_type])
        return self._functions[name]


@functools.cache
def _op_types() -> Mapping[str, str]:
    """Every op type under its name in lower case: `MatMul` is `mat_mul`."""
    return {_WORD_START.sub("_", op_type).lower(): op_type for op_type in OPERATIONS}


def outputs_of(op: Operation) -> Any:
    """The output of an operation, a tuple for several outputs, the operation itself without any.

    An output that is declared as a list of tensors is a list.
    """
    declared = op.declaration.outputs
    if not declared:
        return op
    if len(declared) == 1 and not declared[0].is_list:
        return op.outputs[0]
    rest = list(op.outputs)
    values: list[object] = []
    for arg in declared:
        count = arg.count(op.attrs)
        values.append(rest[:count] if arg.is_list else rest[0])
        del rest[:count]
    return values[0] if len(values) == 1 else tuple(values)


def _named_outputs(op: Operation) -> Any:
    """As `outputs_of`; several outputs are a namedtuple, with the declared names as fields."""
    declared = op.declaration.outputs
    outputs = outputs_of(op)
    if len(declared) < 2:
        return outputs
    return _outputs_class(op.type, tuple(arg.name for arg in declared))(*outputs)


@functools.cache
def _outputs_class(op_type: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    return collections.namedtuple(op_type, names)  # noqa: PYI024 - its fields are data
