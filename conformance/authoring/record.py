"""Records authored Python as the JSON of the case language, for both surfaces.

    @api_case("FETCH-004", title="A list fetch comes back as a list in order.")
    def list_in_order(c: ApiAuthor) -> None:
        a, b = c.tf.constant(1.0), c.tf.constant(2.0)
        sess = c.tf.Session()
        c.check(sess.run([b, a]), [np.float32(2), np.float32(1)])
        c.raises("ValueError", lambda: sess.run("nope:0"))

    @engine_case("RUN-002", title="Only the fetched fragment runs.")
    def only_the_fragment(c: EngineAuthor) -> None:
        with c.graph() as tf:                       # TensorFlow itself builds the GraphDef
            tf.constant(1.0, name="a")
        s = c.open()
        s.run(["a:0"], values=[np.float32(1)])
        s.run(["nope:0"], error=[3, 5])

On the API surface every call becomes one step at once; its result is a symbol that later calls
may use. Nothing is executed while recording.
"""

from __future__ import annotations

import base64
import collections
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sessrun.spec import tensors
from sessrun.spec.cases.model import Case

__all__ = [
    "AUTHORED", "ApiAuthor", "Authored", "EngineAuthor", "Symbol", "anything", "api_case",
    "as_array", "differs_from", "engine_case", "form", "keep", "like", "near", "obj", "one_of",
    "same_as",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Authored:
    """An authored case before it is recorded."""

    subject: str
    slug: str
    surface: str
    clauses: tuple[str, ...]
    title: str
    function: Callable[[Any], None]
    options: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The vector's id, `subject/slug`."""
        return f"{self.subject}/{self.slug}"


_Decorator = Callable[[Callable[[Any], None]], Callable[[Any], None]]

#: Every authored case by id, in the order of definition.
AUTHORED: dict[str, Authored] = {}


def _register(
    surface: str, clauses: Sequence[str], title: str, options: Mapping[str, Any]
) -> _Decorator:
    def decorate(function: Callable[[Any], None]) -> Callable[[Any], None]:
        subject = function.__module__.rpartition(".")[2].replace("_", "-")
        slug = function.__name__.strip("_").replace("_", "-")
        authored = Authored(subject, slug, surface, tuple(clauses), title, function, options)
        if authored.id in AUTHORED:
            raise ValueError(f"two authored cases are called {authored.id}")
        AUTHORED[authored.id] = authored
        return function

    return decorate


def api_case(*clauses: str, title: str, **options: Any) -> _Decorator:
    """Register an API-surface case; options: needs, isolated, deadline_s."""
    return _register("api", clauses, title, options)


def engine_case(*clauses: str, title: str, **options: Any) -> _Decorator:
    """Register an engine-surface case; options: needs, isolated, deadline_s."""
    return _register("engine", clauses, title, options)


# --- matchers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matcher:
    """A matcher of `sessrun.spec.cases.judge`, ready-made JSON."""

    json: Mapping[str, Any]


def near(value: Any, contract: str) -> Matcher:
    """Equal under a numeric contract: `ulp(n)` or `close(rtol, atol)`."""
    return Matcher({"near": form(value), "contract": contract})


def like(dtype: str | None = None, shape: Sequence[int] | None = None) -> Matcher:
    """Any tensor of this dtype and shape."""
    body: dict[str, Any] = {}
    if dtype is not None:
        body["dtype"] = dtype
    if shape is not None:
        body["shape"] = list(shape)
    return Matcher({"like": body})


def obj(name: str) -> Matcher:
    """An object of the class so named that has no value form."""
    return Matcher({"object": name})


def as_array(value: Any) -> Matcher:
    """This tensor, whether it comes as a 0-d array or as a numpy scalar."""
    return Matcher({"as_array": form(np.asarray(value))})


def one_of(*options: Any) -> Matcher:
    """One of several values."""
    return Matcher({"one_of": [form(option) for option in options]})


def keep(name: str) -> Matcher:
    """Any value; remembered for `same_as` and `differs_from`."""
    return Matcher({"keep": name})


def same_as(name: str) -> Matcher:
    """The same value as the one kept."""
    return Matcher({"same_as": name})


def differs_from(name: str) -> Matcher:
    """Another value than the one kept."""
    return Matcher({"differs_from": name})


anything = Matcher({"anything": True})


# --- forms --------------------------------------------------------------------------------


def form(value: Any) -> Any:  # noqa: C901 - one line per kind of value
    """The JSON form of a Python value, symbol or matcher inside a case."""
    match value:
        case Matcher(json):
            return dict(json)
        case Symbol():
            return value._expr  # noqa: SLF001 - the recorder owns its symbols
        case None | bool() | str():
            return value
        case np.ndarray():
            return {"$array": tensors.encode(value)}
        case np.generic():
            return {"$scalar": tensors.encode(value)}
        case int():
            return value if abs(value) < 2**53 else {"$int": str(value)}
        case float():
            return value if math.isfinite(value) else {"$float": repr(value)}
        case complex():
            return {"$complex": [repr(value.real), repr(value.imag)]}
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
        case list():
            return [form(item) for item in value]
        case slice():
            return {"$slice": [form(value.start), form(value.stop), form(value.step)]}
    return _structure(value)


def _structure(value: Any) -> Any:
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        body = {"type": type(value).__name__, "fields": list(value._fields)}
        return {"$namedtuple": body | {"values": [form(item) for item in value]}}
    if isinstance(value, tuple):
        return {"$tuple": [form(item) for item in value]}
    if isinstance(value, collections.OrderedDict):
        return {"$ordered_dict": [[form(k), form(v)] for k, v in value.items()]}
    if isinstance(value, dict):
        return {"$dict": [[form(k), form(v)] for k, v in value.items()]}
    if isinstance(value, set | frozenset):
        return {"$set": [form(item) for item in sorted(value, key=repr)]}
    if hasattr(type(value), "__attrs_attrs__"):
        names = [attribute.name for attribute in type(value).__attrs_attrs__]
        body = {"type": type(value).__name__, "fields": names}
        return {"$attrs": body | {"values": [form(getattr(value, name)) for name in names]}}
    raise TypeError(f"a case cannot hold a {type(value).__name__}; record a call that makes it")


# --- the API surface ----------------------------------------------------------------------


class Symbol:
    """A value that will exist when the case is interpreted."""

    def __init__(self, author: ApiAuthor, expr: Any) -> None:
        self._author = author
        self._expr = expr

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("_") and name not in {"__enter__", "__exit__"}:
            raise AttributeError(name)
        if set(self._expr) == {"$"}:
            return Symbol(self._author, {"$": f"{self._expr['$']}.{name}"})
        return Symbol(self._author, {"$getattr": [self._expr, name]})

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        target = self._expr["$"] if set(self._expr) == {"$"} else self._expr
        call: dict[str, Any] = {"$call": target}
        if args:
            call["args"] = [form(arg) for arg in args]
        if kwargs:
            call["kwargs"] = {name: form(value) for name, value in kwargs.items()}
        return self._author.do(call)

    def __getitem__(self, index: Any) -> Symbol:
        return self._author.do({"$item": [self._expr, form(index)]})

    __iter__ = None  # a symbol has no length while recording; index it

    def __hash__(self) -> int:
        return id(self)


def _operator(symbol: str, *, reflected: bool = False) -> Any:
    def method(self: Symbol, other: Any) -> Symbol:
        pair = [form(other), self._expr] if reflected else [self._expr, form(other)]
        return self._author.do({"$op": [symbol, *pair]})

    return method


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@",
}.items():  # fmt: skip
    setattr(Symbol, f"__{_name}__", _operator(_symbol))
    setattr(Symbol, f"__r{_name}__", _operator(_symbol, reflected=True))
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Symbol, f"__{_name}__", _operator(_symbol))
Symbol.__neg__ = lambda self: self._author.do({"$op": ["neg", self._expr]})  # type: ignore[attr-defined]


class ApiAuthor:
    """What an API case is written with; `tf` stands for the namespace."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self._blocks = [self.steps]
        self._count = 0
        self.tf: Any = Symbol(self, {"$": "tf"})
        self.np: Any = Symbol(self, {"$": "np"})

    def do(self, expr: Any, **expect: Any) -> Symbol:
        """Record a step that evaluates an expression; the symbol of its value."""
        self._count += 1
        step = {"do": "eval", "expr": expr, "as": f"v{self._count}", **expect}
        self._blocks[-1].append(step)
        return Symbol(self, {"$": step["as"]})

    def check(self, value: Any, want: Any) -> None:
        """The value must match; want is a value or a matcher, anywhere in it.

        A check of the call just recorded becomes the expectation of its step.
        """
        step = self._last(value)
        if step is None:
            step = {"do": "eval", "expr": form(value)}
            self._blocks[-1].append(step)
        step["expect"] = {"value": form(want)}

    def against_oracle(self, value: Any, contract: str = "exact") -> None:
        """The value must be the oracle's, under the contract; for generated cases."""
        self.check(value, None)
        self._blocks[-1][-1]["expect"] = {"oracle": {"contract": contract}}

    def check_same(self, left: Any, right: Any, *, same: bool = True) -> None:
        """The two must be (or not be) one object."""
        expr = {"$is": [form(left), form(right)]}
        self._blocks[-1].append({"do": "eval", "expr": expr, "expect": {"value": same}})

    def check_instance(self, value: Any, cls: Any) -> None:
        """The value must be an instance of the class (a symbol)."""
        expr = {"$isinstance": [form(value), form(cls)]}
        self._blocks[-1].append({"do": "eval", "expr": expr, "expect": {"value": True}})

    def expr(self, key: str, *parts: Any) -> Symbol:
        """Record an expression by its `$key`: `expr("$len", x)`, `expr("$op", "==", a, b)`."""
        body = form(parts[0]) if len(parts) == 1 else [form(part) for part in parts]
        return self.do({key: body})

    def raises(self, classes: str | Sequence[str], action: Callable[[], Any]) -> None:
        """The last call that `action` records must raise one of these classes (by name)."""
        before = len(self._blocks[-1])
        action()
        steps = self._blocks[-1]
        if len(steps) == before:
            raise ValueError("the action recorded no call")
        names = [classes] if isinstance(classes, str) else list(classes)
        steps[-1].pop("as", None)
        steps[-1]["expect"] = {"error": {"classes": names}}

    @contextmanager
    def within(self, context: Symbol) -> Iterator[Symbol]:
        """Record a `with` block around the steps recorded inside."""
        step = self._last(context)
        if step is not None:
            self._blocks[-1].pop()
            expr, name = step["expr"], step["as"]
        else:
            self._count += 1
            expr, name = form(context), f"v{self._count}"
        self._count += 1
        entered = f"v{self._count}"
        block: dict[str, Any] = {"do": "with", "context": expr, "as": entered, "steps": []}
        self._blocks[-1].append(block)
        self._blocks.append(block["steps"])
        yield Symbol(self, {"$": entered})
        self._blocks.pop()

    @contextmanager
    def thread(self) -> Iterator[None]:
        """Record steps that run in a new thread, which is joined."""
        block: dict[str, Any] = {"do": "thread", "steps": []}
        self._blocks[-1].append(block)
        self._blocks.append(block["steps"])
        yield
        self._blocks.pop()

    def function(self, params: Sequence[str], body: Callable[..., Any]) -> Symbol:
        """A function for the backend to call: `body` gets symbols, gives a form."""
        symbols = [Symbol(self, {"$": name}) for name in params]
        return Symbol(self, {"$fn": {"params": list(params), "returns": form(body(*symbols))}})

    def set(self, target: Symbol, attr: str, value: Any) -> None:
        """Record the setting of a public attribute."""
        self._blocks[-1].append(
            {"do": "assign", "object": form(target), "attr": attr, "value": form(value)}
        )

    def named_check(self, name: str, want: Any, **args: Any) -> None:
        """Record a named check `sessrun.conformance.checks.NAME` and what it must return."""
        step = {"do": "check", "name": f"sessrun.conformance.checks.{name}"}
        body = {key: form(value) for key, value in args.items()}
        self._blocks[-1].append({**step, "args": body, "expect": {"value": form(want)}})

    def case(self, id_: str, title: str, clauses: Sequence[str], **options: Any) -> Case:
        """The case recorded so far."""
        return Case(id_, title, "api", tuple(clauses), tuple(_tidy(self.steps)), **options)

    def _last(self, value: Any) -> dict[str, Any] | None:
        if not isinstance(value, Symbol) or not self._blocks[-1]:
            return None
        step = self._blocks[-1][-1]
        return step if value._expr == {"$": step.get("as")} and "expect" not in step else None  # noqa: SLF001


# --- the engine surface -------------------------------------------------------------------


@dataclass(slots=True)
class EngineAuthor:
    """What an engine case is written with; graphs are built by the namespace given."""

    namespace: Any
    steps: list[dict[str, Any]] = field(default_factory=list)
    graphs: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def graph(self, name: str = "g") -> Iterator[Any]:
        """Build a graph with the oracle's own namespace; it becomes the GraphDef `name`."""
        from google.protobuf import json_format  # noqa: PLC0415 - only while freezing

        graph = self.namespace.Graph()
        with graph.as_default():
            yield self.namespace
        self.graphs[name] = json_format.MessageToDict(graph.as_graph_def())

    def graph_json(self, json: Mapping[str, Any], name: str = "g") -> None:
        """Give a GraphDef as JSON: for graphs that no builder would make."""
        self.graphs[name] = dict(json)

    def open(
        self,
        graph: str = "g",
        session: str = "s",
        *,
        config: Mapping[str, Any] | None = None,
        error: Sequence[int] | None = None,
    ) -> SessionAuthor:
        """Open a session; `error`: the codes one of which it must fail with."""
        step: dict[str, Any] = {"do": "open", "session": session, "graph": graph}
        if config is not None:
            step["config"] = dict(config)
        self.steps.append(_expecting(step, error=error))
        return SessionAuthor(self, session)

    def step(self, do: str, **fields: Any) -> None:
        """Record any step of `case.schema.json` as it stands."""
        self.steps.append({"do": do, **fields})


def _expecting(step: dict[str, Any], **expect: Any) -> dict[str, Any]:
    if expect.get("values") is not None:
        wanted = [_engine_form(value) for value in expect["values"]]
        step["expect"] = {"values": wanted}
    elif expect.get("error") is not None:
        error: dict[str, Any] = {"codes": list(expect["error"])}
        if expect.get("node") is not None:
            error["nodes"] = [expect["node"]]
        step["expect"] = {"error": error}
    return step


def _engine_form(value: Any) -> Any:
    if value is None or isinstance(value, Matcher):
        return form(value)
    return form(np.asarray(value))


@dataclass(frozen=True, slots=True)
class SessionAuthor:
    """A session of an engine case."""

    author: EngineAuthor
    name: str

    def run(
        self,
        fetches: Sequence[str],
        feeds: Mapping[str, Any] | None = None,
        *,
        values: Sequence[Any] | None = None,
        error: Sequence[int] | None = None,
        node: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """One run; values in the order of fetches (None for an operation), or error codes."""
        step: dict[str, Any] = {"do": "run", "session": self.name, "fetches": list(fetches)}
        if feeds:
            step["feeds"] = {name: tensors.encode(value) for name, value in feeds.items()}
        if options:
            step["options"] = dict(options)
        self.author.steps.append(_expecting(step, values=values, error=error, node=node))

    def close(self) -> None:
        """Close the session."""
        self.author.steps.append({"do": "close", "session": self.name})


# --- recording ----------------------------------------------------------------------------


def record(authored: Authored, namespace: Any) -> Case:
    """The case that an authored function records; namespace builds its GraphDefs."""
    author: Any = ApiAuthor() if authored.surface == "api" else EngineAuthor(namespace)
    authored.function(author)
    return Case(
        id=authored.id,
        title=authored.title,
        surface=authored.surface,  # type: ignore[arg-type]
        clauses=authored.clauses,
        steps=tuple(_tidy(author.steps)),
        graphs=getattr(author, "graphs", {}),
        **{key: tuple(v) if key == "needs" else v for key, v in authored.options.items()},
    )


def _tidy(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Drop the names that nothing uses, so that a case shows only what matters."""
    used = str(steps)
    for step in steps:
        name = step.get("as")
        if name and used.count(f"'{name}") == 1 and "expect" in step:
            del step["as"]
    return steps
