"""Operation declarations: the model of `ops/*.toml`, in the vocabulary of TensorFlow's OpDef.

An operation is declared once:

    [AddV2]
    summary = "Elementwise x + y, with broadcasting."
    definition = "`z = x + y`. Integers wrap modulo 2**n."
    inputs = ["x: T", "y: T"]
    outputs = ["z: T"]
    attrs = ["T: {bfloat16, half, float, double, int32, int64, string}"]
    shape = "broadcast(x, y)"
    domain = "broadcastable(x, y)"
    errors = ["incompatible_shapes(x, y)"]
    numeric = "exact"
    python = ["math.add"]

and the runtime, the Python wrappers, GraphDef import and export, the generators, the tests and
the documentation follow. `definition` fixes the value in a formula or two sentences, within what
`CONVENTIONS` of `spec/tables/manual.py` says of all; every operation with a `domain` has one.
`shape`, `domain` and `errors` are single parsed calls of functions in `sessrun.spec.rules`; they
are never evaluated as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sessrun.spec.dtypes import BY_NAME, DTYPES, GROUPS
from sessrun.spec.schema import SpecError

__all__ = [
    "ArgDecl",
    "AttrDecl",
    "Operation",
    "RuleCall",
    "older_form",
    "parse_attr",
    "parse_call",
    "parse_operation",
]

_OPDEF_NAMES: Final = {row.opdef: row.name for row in DTYPES}


@dataclass(frozen=True, slots=True)
class ArgDecl:
    """An input or output: `x: T`, `values: N * T`, `args: Targs`, `ref: Ref(T)`, `i: int32`.

    Attributes:
      name: the argument's name.
      dtype: a fixed dtype's name, or None.
      type_attr: the attribute that gives its dtype, or None.
      number_attr: the attribute that gives how many tensors it is, or None.
      type_list_attr: the attribute that gives the dtypes of a list of tensors, or None.
      is_ref: whether it is a reference (of a reference variable).

    """

    name: str
    dtype: str | None = None
    type_attr: str | None = None
    number_attr: str | None = None
    type_list_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        """Whether it is a list of tensors."""
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: Mapping[str, Any]) -> int:
        """How many tensors it is, by the attributes as Python values."""
        if self.type_list_attr is not None:
            return len(attrs[self.type_list_attr])
        return 1 if self.number_attr is None else int(attrs[self.number_attr])


@dataclass(frozen=True, slots=True)
class AttrDecl:
    """An attribute: `T: {float, double} = float`, `N: int >= 1`, `shape: shape = unknown`.

    Attributes:
      name: the attribute's name.
      type: OpDef's type: string int float bool type shape tensor func, or `list(...)` of one.
      allowed: dtype names or strings it may have; empty for no restriction.
      minimum: the least int, or the least length of a list; None for none.
      has_default: whether it may be left out.
      default: the default: dtype name, str, int, float, bool, list; a shape as list or None; a
        tensor, which is a vector of integers, as its dtype's name and their tuple.

    """

    name: str
    type: str
    allowed: tuple[str, ...] = ()
    minimum: int | None = None
    has_default: bool = False
    default: Any = None


@dataclass(frozen=True, slots=True)
class RuleCall:
    """A parsed call `name(arg, ...)`; an argument is a name, a literal or another call.

    A name stands for the input or attribute so called; a literal is an int, a float, a string
    or a bool.
    """

    name: str
    args: tuple[RuleArg, ...] = ()


@dataclass(frozen=True, slots=True)
class Name:
    """An argument of a rule that names an input or an attribute of the operation."""

    text: str


RuleArg = Name | RuleCall | int | float | str | bool


@dataclass(frozen=True, slots=True)
class Operation:
    """A declared operation; see the module's text for what each field is in TOML.

    Attributes:
      name: the op type in a GraphDef.
      summary: one sentence.
      inputs: in order.
      outputs: in order.
      attrs: in order.
      shape: the rule in `rules.shapes` for the outputs' shapes.
      domain: the rule in `rules.domains` for valid arguments; None where a case must be written
        by hand (state, errors by design).
      errors: rules in `rules.faults` for invalid arguments, each an expected error.
      unchecked: forms of inputs (rules in `rules.faults`) that the shape rule refuses and a run
        need not: TensorFlow's kernel takes them, dies of them, or has another code for them.
      numeric: the contract under which values are compared, by dtype, dtype kind or `*`; one
        of an output alone by `OUTPUT.DTYPE` or `OUTPUT.KIND`.
      stateful: whether two equal nodes may not be merged or folded.
      differentiable: whether a gradient is defined.
      devices: device kinds that must have a kernel.
      python: names in the namespace whose wrapper is generated (`add`, `math.add`).
      commutative: whether exchanging the two inputs changes nothing.
      newer: the op type that it is the older form of, or empty.
      until: the version of GraphDefs from which on graphs do not have it, or 0.

    """

    name: str
    summary: str
    inputs: tuple[ArgDecl, ...]
    outputs: tuple[ArgDecl, ...]
    attrs: tuple[AttrDecl, ...]
    shape: RuleCall
    domain: RuleCall | None = None
    errors: tuple[RuleCall, ...] = ()
    unchecked: tuple[RuleCall, ...] = ()
    numeric: Mapping[str, str] | None = None
    stateful: bool = False
    differentiable: bool = False
    devices: tuple[str, ...] = ("CPU", "GPU")
    python: tuple[str, ...] = ()
    commutative: bool = False
    newer: str = ""
    until: int = 0

    def attr(self, name: str) -> AttrDecl | None:
        """The declaration of an attribute, or None."""
        return next((attr for attr in self.attrs if attr.name == name), None)

    def contract(self, dtype: str, output: str = "") -> str:
        """The numeric contract for values of a dtype, of one output where its name is given."""
        numeric = self.numeric or {}
        kinds = (dtype, BY_NAME[dtype].kind)
        keys = (*(f"{output}.{kind}" for kind in kinds), *kinds, "*")
        return next((numeric[key] for key in keys if key in numeric), "exact")


_ARG: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<ref>Ref\(\s*)?(?:(?P<number>\w+)\s*\*\s*)?"
    r"(?P<type>\w+)(?(ref)\s*\))",
    re.ASCII,
)
_ATTR: Final = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*:\s*(?P<type>list\([^)]*\)|\{[^}]*\}|\w+)"
    r"(?:\s*>=\s*(?P<minimum>-?\d{1,18}))?(?:\s*=\s*(?P<default>.+))?",
    re.ASCII | re.DOTALL,
)
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>-?\d{1,18}(?:\.\d{1,18})?)|"
    r"'(?P<string>[^']*)'|(?P<mark>[(),]))",
    re.ASCII,
)
#: Calls nest no deeper: `broadcast(dims(x), y)` is as deep as any rule is.
_DEPTH: Final = 8


def parse_operation(name: str, form: Mapping[str, Any], source: str) -> Operation:
    """An operation from its TOML table (already checked against `op.schema.json`).

    Raises:
      SpecError: a signature or a rule is ill-formed, or names what is not declared.

    """
    attrs = tuple(parse_attr(text, f"{source}: {name}") for text in form.get("attrs", []))
    names = {attr.name: attr for attr in attrs}
    inputs = tuple(_parse_arg(text, names, f"{source}: {name}") for text in form["inputs"])
    outputs = tuple(_parse_arg(text, names, f"{source}: {name}") for text in form["outputs"])
    taken = [*(arg.name for arg in inputs), *(attr.name for attr in attrs)]
    _check_unique(taken, "inputs and attrs", f"{source}: {name}")
    _check_unique([arg.name for arg in outputs], "outputs", f"{source}: {name}")
    known = set(taken)
    numeric = form.get("numeric", "exact")

    def call(field: str, text: str) -> RuleCall:
        return parse_call(text, known, f"{source}: {name}.{field}")

    return Operation(
        name=name,
        summary=form["summary"],
        inputs=inputs,
        outputs=outputs,
        attrs=attrs,
        shape=call("shape", form["shape"]),
        domain=call("domain", form["domain"]) if "domain" in form else None,
        errors=tuple(call("errors", text) for text in form.get("errors", [])),
        unchecked=tuple(call("unchecked", text) for text in form.get("unchecked", [])),
        numeric={"*": numeric} if isinstance(numeric, str) else dict(numeric),
        stateful=form.get("stateful", False),
        differentiable=form.get("differentiable", False),
        devices=tuple(form.get("devices", ("CPU", "GPU"))),
        python=tuple(form.get("python", ())),
        commutative=form.get("commutative", False),
        until=form.get("until", 0),
    )


def older_form(
    operation: Operation, name: str, until: int = 0, *, shape: str | None = None
) -> Operation:
    """The form that an operation on resources had before there were such.

    A handle is a reference to two strings then. Graphs of the first releases have it. TOML says
    it of the newer one: `older = "QueueSize"`, and `older_until` if later graphs do not have it.
    The shape rule is the newer one's, whose handle is a scalar, unless `older_shape` says another.
    """

    def older(args: tuple[ArgDecl, ...]) -> tuple[ArgDecl, ...]:
        return tuple(
            replace(arg, dtype="string", is_ref=True) if arg.dtype == "resource" else arg
            for arg in args
        )

    handles = {arg.name for arg in operation.inputs if arg.dtype == "resource"}

    def older_argument(arg: RuleArg) -> RuleArg:
        is_handle = isinstance(arg, Name) and arg.text in handles
        return RuleCall("of_resource", (arg,)) if is_handle else arg

    outputs = older(operation.outputs)
    makes_handle = outputs != operation.outputs
    known = {arg.name for arg in operation.inputs} | {attr.name for attr in operation.attrs}
    rule = (
        replace(operation.shape, args=tuple(map(older_argument, operation.shape.args)))
        if shape is None
        else parse_call(shape, known, f"{name}.older_shape")
    )
    return replace(
        operation,
        name=name,
        summary=operation.summary[:-1] + "; the older form.",
        inputs=older(operation.inputs),
        outputs=outputs,
        shape=RuleCall("older_handle") if makes_handle else rule,
        domain=None,
        errors=(),
        unchecked=(),
        stateful=makes_handle,
        python=(),
        newer=operation.name,
        until=until,
    )


def _check_unique(names: list[str], what: str, source: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SpecError(source, what, f"{name!r} is declared twice")


def _parse_arg(text: str, attrs: Mapping[str, AttrDecl], source: str) -> ArgDecl:
    match = _ARG.fullmatch(text.strip())
    if match is None:
        raise SpecError(source, text, "not an argument like `x: T`, `v: N * T` or `r: Ref(T)`")
    name, number, kind = match["name"], match["number"], match["type"]
    is_ref = match["ref"] is not None
    if number is not None and (number not in attrs or attrs[number].type != "int"):
        raise SpecError(source, text, f"no int attribute {number!r} gives the number of tensors")
    if kind in _OPDEF_NAMES:
        return ArgDecl(name, dtype=_OPDEF_NAMES[kind], number_attr=number, is_ref=is_ref)
    if kind not in attrs:
        raise SpecError(source, text, f"{kind!r} is neither a dtype nor a declared attribute")
    if attrs[kind].type == "list(type)" and number is None:
        return ArgDecl(name, type_list_attr=kind, is_ref=is_ref)
    if attrs[kind].type != "type":
        raise SpecError(source, text, f"the attribute {kind!r} is no dtype")
    return ArgDecl(name, type_attr=kind, number_attr=number, is_ref=is_ref)


def parse_attr(text: str, source: str) -> AttrDecl:
    """An attribute from its signature text.

    Raises:
      SpecError: it is ill-formed.

    """
    match = _ATTR.fullmatch(text.strip())
    if match is None:
        raise SpecError(source, text, "not an attribute like `T: {float} = float` or `N: int >= 1`")
    type_, allowed = _attr_type(match["type"], source)
    minimum = None if match["minimum"] is None else int(match["minimum"])
    if minimum is not None and type_ != "int" and not type_.startswith("list("):
        raise SpecError(source, text, "only an int and a list have a minimum")
    if match["default"] is None:
        return AttrDecl(match["name"], type_, allowed, minimum)
    default = _default(match["default"].strip(), type_, source)
    items = default if type_.startswith("list(") else (default,)
    if allowed and not set(items) <= set(allowed):
        raise SpecError(source, text, "the default is not allowed")
    if minimum is not None and (len(items) if items is default else default) < minimum:
        raise SpecError(source, text, "the default is below the minimum")
    return AttrDecl(match["name"], type_, allowed, minimum, has_default=True, default=default)


def _attr_type(text: str, source: str) -> tuple[str, tuple[str, ...]]:
    if text.startswith("list("):
        inner, allowed = _attr_type(text[5:-1].strip(), source)
        return f"list({inner})", allowed
    if text.startswith("{"):
        items = [item.strip() for item in text[1:-1].split(",")]
        if items[0].startswith("'"):
            if not all(re.fullmatch(r"'[^']*'", item) for item in items):
                raise SpecError(source, text, "each of the strings is written in quotes")
            return "string", tuple(item.strip("'") for item in items)
        unknown = [item for item in items if item not in _OPDEF_NAMES]
        if unknown:
            raise SpecError(source, text, f"unknown dtype {unknown[0]!r}")
        return "type", tuple(_OPDEF_NAMES[item] for item in items)
    if text in GROUPS:
        return "type", GROUPS[text]
    if text not in {"string", "int", "float", "bool", "type", "shape", "tensor", "func"}:
        raise SpecError(source, text, f"unknown attribute type {text!r}")
    return text, ()


def _default(text: str, type_: str, source: str) -> Any:
    if type_.startswith("list("):
        if not (text.startswith("[") and text.endswith("]")):
            raise SpecError(source, text, "the default of a list is written in brackets")
        items = [item.strip() for item in text[1:-1].split(",") if item.strip()]
        return tuple(_default(item, type_[5:-1], source) for item in items)
    if type_ == "type" and text in _OPDEF_NAMES:
        return _OPDEF_NAMES[text]
    if type_ == "bool" and text in {"true", "false"}:
        return text == "true"
    if type_ == "string" and len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1]
    if type_ == "shape" and text == "unknown":
        return None
    if type_ == "tensor":
        return _tensor_default(text, source)
    form = _DEFAULTS.get(type_)
    if form is None or not form.fullmatch(text):
        raise SpecError(source, text, f"not a default of type {type_}")
    if type_ == "shape":
        return tuple(int(n) for n in text.strip("[]").split(",") if n.strip())
    return int(text) if type_ == "int" else float(text)


def _tensor_default(text: str, source: str) -> tuple[str, tuple[int, ...]]:
    kind, _, items = text.partition(" ")
    if kind not in _OPDEF_NAMES:
        raise SpecError(source, text, "the default of a tensor is `uint8 [1, 2]` and the like")
    return _OPDEF_NAMES[kind], _default(items.strip(), "list(int)", source)


#: How defaults are written that are numbers, or lists of them.
_DEFAULTS: Final = {
    "int": re.compile(r"-?\d{1,18}", re.ASCII),
    "float": re.compile(r"-?\d{1,18}(\.\d{1,18})?([eE]-?\d{1,2})?", re.ASCII),
    "shape": re.compile(r"\[(\s*\d{1,18}\s*(,\s*\d{1,18}\s*)*)?\]", re.ASCII),
}


def parse_call(text: str, known: set[str], source: str) -> RuleCall:
    """A rule from its text `name(arg, ...)`.

    Args:
      text: the call.
      known: the names that may stand as arguments (inputs and attributes).
      source: what to name in an error.

    Raises:
      SpecError: it is no such call, or an argument names nothing.

    """
    tokens = _tokens(text, source)
    depth = [0]
    for _, value in tokens:
        depth.append(depth[-1] + (value == "(") - (value == ")"))
    if max(depth) > _DEPTH:
        raise SpecError(source, text, f"calls nest more than {_DEPTH} deep")
    call, rest = _call(tokens, known, source, text)
    if rest or not isinstance(call, RuleCall):
        raise SpecError(source, text, "a rule is one call like `broadcast(x, y)`")
    return call


def _tokens(text: str, source: str) -> list[tuple[str, str]]:
    tokens, position = [], 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise SpecError(source, text, f"unexpected {text[position : position + 10]!r}")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


def _call(
    tokens: list[tuple[str, str]], known: set[str], source: str, text: str
) -> tuple[RuleArg, list[tuple[str, str]]]:
    if not tokens:
        raise SpecError(source, text, "an argument is missing")
    (kind, value), *rest = tokens
    if kind == "number":
        return (float(value) if "." in value else int(value)), rest
    if kind == "string":
        return value, rest
    if kind == "mark":
        raise SpecError(source, text, f"unexpected {value!r}")
    if not rest or rest[0] != ("mark", "("):
        if value in {"true", "false"}:
            return value == "true", rest
        if value not in known:
            raise SpecError(source, text, f"{value!r} is no input or attribute")
        return Name(value), rest
    args, rest = _call_args(rest[1:], known, source, text)
    return RuleCall(value, args), rest


def _call_args(
    tokens: list[tuple[str, str]], known: set[str], source: str, text: str
) -> tuple[tuple[RuleArg, ...], list[tuple[str, str]]]:
    """The arguments up to the closing parenthesis, and the tokens after it."""
    args: list[RuleArg] = []
    while tokens and tokens[0] != ("mark", ")"):
        arg, tokens = _call(tokens, known, source, text)
        args.append(arg)
        if tokens and tokens[0] == ("mark", ",") and tokens[1:2] != [("mark", ")")]:
            tokens = tokens[1:]
        elif tokens and tokens[0] != ("mark", ")"):
            raise SpecError(source, text, f"a comma is missing before {tokens[0][1]!r}")
    if not tokens:
        raise SpecError(source, text, "a parenthesis is not closed")
    return tuple(args), tokens[1:]
