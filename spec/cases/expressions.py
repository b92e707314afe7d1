"""Expressions of an API case: JSON that is evaluated against a `tensorflow.compat.v1` namespace.

Plain JSON stands for itself. Objects have one `$` key (and `args`, `kwargs` with `$call`):

  {"$": "tf.float32"}, {"$": "x.op.name"}   a bound name and public attributes of it
  {"$call": F, "args": [E...], "kwargs": {}} a call; F a dotted name or an expression
  {"$item": [E, index]}                      indexing; index may be {"$slice": [a, b, c]}
  {"$op": ["+", E, E]}                       an operator from `OPERATORS`
  {"$is": [E, E]}  {"$isinstance": [E, E]}   identity; class membership
  {"$type": E}  {"$len": E}  {"$str": E}     the class's name; length; str()
  {"$tuple": [E...]} {"$set": [E...]}        structures JSON lacks; also $generator
  {"$dict": [[E, E]...]}                     also $ordered_dict
  {"$namedtuple": {type, fields, values}}    also $attrs (an attrs class)
  {"$fn": {"params": [...], "returns": E}}   a function (device functions and the like)
  {"$getattr": [E, "name"]}                  an attribute of an expression
  {"$py": "decimal", "args": [E...]}         a value of a fixed table of Python classes
  {"$numpy": {"dtype": "S3", "shape": [2], "items": [E...]}}  an array no tensor form holds
  {"$view": {"of": E, "as": "fortran"}}      an array seen in another layout
  {"$path": "a.txt"}                         the path of a file in the case's folder, a str

and the literals of `values`. Nothing is ever executed as Python text: names resolve only in
the case's own scope, and attributes that start with an underscore are refused.
"""

from __future__ import annotations

import collections
import functools
import operator
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypedDict, cast

from sessrun.spec.cases.feedables import array_of, python_value, view_of
from sessrun.spec.cases.values import LITERAL_FORMS, literal
from sessrun.spec.forms import Json, JsonObject

__all__ = ["FILES", "OPERATORS", "ExpressionError", "Scope", "evaluate"]

OPERATORS: Final[Mapping[str, Callable[..., object]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "neg": operator.neg,
    "invert": operator.invert,
    "abs": operator.abs,
    "bool": bool,
    "not": operator.not_,
    "in": lambda a, b: a in b,
    "hash": hash,
    "iter": iter,
}

#: Where a scope has the case's files; no name that a case can bind or reach.
FILES: Final = "$files"

#: What names are bound to: the namespace, and what it gave.
Scope = dict[str, Any]


class TypeForm(TypedDict, total=False):
    """A class with fields, and an instance's values."""

    type: str
    fields: Sequence[str]
    values: Sequence[Json]


#: The JSON object of an expression, as the module's docstring lists them.
Form = TypedDict(
    "Form",
    {
        "$": str,
        "$call": Json,
        "args": Sequence[Json],
        "kwargs": JsonObject,
        "$getattr": tuple[Json, str],
        "$item": tuple[Json, Json],
        "$slice": Sequence[Json],
        "$op": Sequence[Json],
        "$namedtuple": TypeForm,
        "$attrs": TypeForm,
        "$fn": "FunctionForm",
        "$py": Json,
        "$numpy": "NumpyForm",
        "$view": "ViewForm",
        "$path": str,
    },
    total=False,
)


class FunctionForm(TypedDict):
    """A function: the names of its parameters, and the expression that it returns."""

    params: Sequence[str]
    returns: Json


class NumpyForm(TypedDict):
    """An array that no tensor form holds."""

    dtype: Json
    shape: Sequence[int]
    items: Sequence[Json]


#: An array, and the layout in which it is seen.
ViewForm = TypedDict("ViewForm", {"of": Json, "as": str})

#: Evaluates one kind of expression.
Handler: TypeAlias = Callable[[Form, Scope], object]


class ExpressionError(ValueError):
    """An expression is ill-formed: the fault is the case's, never the backend's."""


def evaluate(form: Json, scope: Scope) -> Any:
    """The value of an expression in a scope (names to values; `tf` is the namespace).

    Raises:
      ExpressionError: the expression is ill-formed or names something unbound.
      Exception: whatever the backend raises.

    """
    if isinstance(form, list):
        return [evaluate(item, scope) for item in form]
    if not isinstance(form, dict):
        return form
    key = next((k for k in form if k.startswith("$")), None)
    if key is None:
        return {name: evaluate(item, scope) for name, item in form.items()}
    if key in LITERAL_FORMS:
        return literal(form)
    handler = _FORMS.get(key)
    if handler is None:
        raise ExpressionError(f"unknown expression form {key}")
    value: Any = handler(cast("Form", form), scope)  # of whichever class the backend gives
    return value


def _name(form: Form, scope: Scope) -> object:
    return _dotted(form["$"], scope)


def _dotted(path: Json, scope: Scope) -> Any:
    if not isinstance(path, str):
        raise ExpressionError(f"a name is a string, got {path!r}")
    first, *rest = path.split(".")
    if first not in scope or first == FILES:
        raise ExpressionError(f"{first!r} is not bound in this case")
    return functools.reduce(_attribute, rest, scope[first])


def _attribute(value: object, name: str) -> Any:
    if name.startswith("_") and name not in {"__enter__", "__exit__"}:
        raise ExpressionError(f"attribute {name!r} is not public")
    return getattr(value, name)


def _call(form: Form, scope: Scope) -> object:
    target = form["$call"]
    function = _dotted(target, scope) if isinstance(target, str) else evaluate(target, scope)
    args = [evaluate(item, scope) for item in form.get("args", [])]
    kwargs = {name: evaluate(item, scope) for name, item in form.get("kwargs", {}).items()}
    return function(*args, **kwargs)


def _getattr(form: Form, scope: Scope) -> object:
    value, name = form["$getattr"]
    return _attribute(evaluate(value, scope), name)


def _item(form: Form, scope: Scope) -> object:
    value, index = form["$item"]
    return evaluate(value, scope)[evaluate(index, scope)]


def _slice(form: Form, scope: Scope) -> object:
    return slice(*(evaluate(part, scope) for part in form["$slice"]))


def _operator(form: Form, scope: Scope) -> object:
    symbol, *operands = form["$op"]
    if not isinstance(symbol, str) or symbol not in OPERATORS:
        raise ExpressionError(f"unknown operator {symbol!r}")
    return OPERATORS[symbol](*(evaluate(item, scope) for item in operands))


def _body(form: Form) -> Any:
    """What an object of one key holds."""
    (body,) = form.values()
    return body


def _pair(function: Callable[[Any, Any], object]) -> Handler:
    def handler(form: Form, scope: Scope) -> object:
        left, right = _body(form)
        return function(evaluate(left, scope), evaluate(right, scope))

    return handler


def _unary(function: Callable[[Any], object]) -> Handler:
    def handler(form: Form, scope: Scope) -> object:
        return function(evaluate(_body(form), scope))

    return handler


def _pairs(kind: Callable[[Iterable[tuple[object, object]]], object]) -> Handler:
    def handler(form: Form, scope: Scope) -> object:
        return kind((evaluate(k, scope), evaluate(v, scope)) for k, v in _body(form))

    return handler


@functools.cache
def _namedtuple_class(name: str, fields: tuple[str, ...]) -> type:
    return collections.namedtuple(name, fields)  # noqa: PYI024 - the fields are data


def _namedtuple(form: Form, scope: Scope) -> object:
    body = form["$namedtuple"]
    cls = _namedtuple_class(body["type"], tuple(body["fields"]))
    return cls(*(evaluate(item, scope) for item in body["values"]))


@functools.cache
def _attrs_class(name: str, fields: tuple[str, ...]) -> type:
    """A class that declares its fields as those of the package attrs do."""

    def fill(self: object, *values: object) -> None:
        for field, value in zip(fields, values, strict=True):
            setattr(self, field, value)

    attributes = tuple(types.SimpleNamespace(name=field) for field in fields)
    return type(name, (), {"__init__": fill, "__attrs_attrs__": attributes})


def _attrs(form: Form, scope: Scope) -> object:
    body = form["$attrs"]
    cls = _attrs_class(body["type"], tuple(body["fields"]))
    return cls(*(evaluate(item, scope) for item in body["values"]))


def _function(form: Form, scope: Scope) -> object:
    params, body = form["$fn"]["params"], form["$fn"]["returns"]

    def function(*args: object) -> Any:
        return evaluate(body, {**scope, **dict(zip(params, args, strict=True))})

    return function


def _python(form: Form, scope: Scope) -> object:
    return python_value(form["$py"], [evaluate(item, scope) for item in form.get("args", [])])


def _numpy(form: Form, scope: Scope) -> object:
    body = form["$numpy"]
    items = [evaluate(item, scope) for item in body["items"]]
    return array_of(body["dtype"], body["shape"], items)


def _view(form: Form, scope: Scope) -> object:
    return view_of(evaluate(form["$view"]["of"], scope), form["$view"]["as"])


def _path(form: Form, scope: Scope) -> object:
    if FILES not in scope:
        raise ExpressionError("no files here")
    return scope[FILES].path(form["$path"])


def _generator(items: Iterable[object]) -> Iterator[object]:
    return (item for item in items)


_FORMS: Final[Mapping[str, Handler]] = {
    "$": _name,
    "$call": _call,
    "$getattr": _getattr,
    "$item": _item,
    "$slice": _slice,
    "$op": _operator,
    "$is": _pair(operator.is_),
    "$isinstance": _pair(isinstance),
    "$type": _unary(lambda value: type(value).__name__),
    "$len": _unary(len),
    "$str": _unary(str),
    "$tuple": _unary(tuple),
    "$set": _unary(set),
    "$list": _unary(list),
    "$generator": _unary(_generator),
    "$dict": _pairs(dict),
    "$ordered_dict": _pairs(collections.OrderedDict),
    "$namedtuple": _namedtuple,
    "$attrs": _attrs,
    "$fn": _function,
    "$py": _python,
    "$numpy": _numpy,
    "$view": _view,
    "$path": _path,
}
