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

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from sessrun.conformance.authoring.case_files import file_step, text64
from sessrun.conformance.authoring.engine_author import EngineAuthor, SessionAuthor
from sessrun.conformance.authoring.forms import (
    Matcher,
    Recordable,
    Recorded,
    anything,
    as_array,
    by,
    differs_from,
    form,
    keep,
    like,
    near,
    obj,
    one_of,
    same_as,
)
from sessrun.spec.cases.files import STAND_IN
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, clauses_of
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

__all__ = [
    "AUTHORED",
    "ApiAuthor",
    "Authored",
    "EngineAuthor",
    "Matcher",
    "SessionAuthor",
    "Symbol",
    "anything",
    "api_case",
    "as_array",
    "by",
    "differs_from",
    "engine_case",
    "form",
    "keep",
    "like",
    "near",
    "obj",
    "one_of",
    "same_as",
]


class CaseOptions(TypedDict, total=False):
    """What an authored case may be registered with: members of `Case`."""

    needs: tuple[str, ...]
    release: Mapping[str, int]
    isolated: bool
    deadline_s: float


@dataclass(frozen=True, slots=True)
class Authored:
    """An authored case before it is recorded."""

    subject: str
    slug: str
    surface: Literal["engine", "api"]
    clauses: tuple[str, ...]
    title: str
    function: Callable[[Any], None]
    options: CaseOptions

    @property
    def id(self) -> str:
        """The vector's id, `subject/slug`."""
        return f"{self.subject}/{self.slug}"


Author = TypeVar("Author")

#: Every authored case by id, in the order of definition.
AUTHORED: dict[str, Authored] = {}


def _register(
    surface: Literal["engine", "api"],
    clauses: Sequence[str],
    title: str,
    options: CaseOptions,
) -> Callable[[Callable[[Author], None]], Callable[[Author], None]]:
    def decorate(function: Callable[[Author], None]) -> Callable[[Author], None]:
        folder = function.__globals__.get("VECTORS")
        subject = folder or function.__module__.rpartition(".")[2].replace("_", "-")
        slug = function.__name__.strip("_").replace("_", "-")
        authored = Authored(subject, slug, surface, tuple(clauses), title, function, options)
        if authored.id in AUTHORED:
            raise ValueError(f"two authored cases are called {authored.id}")
        AUTHORED[authored.id] = authored
        return function

    return decorate


def api_case(
    *clauses: str, title: str, **options: Unpack[CaseOptions]
) -> Callable[[Callable[[ApiAuthor], None]], Callable[[ApiAuthor], None]]:
    """Register the function that records a case of the API surface."""
    return _register("api", clauses, title, options)


def engine_case(
    *clauses: str, title: str, **options: Unpack[CaseOptions]
) -> Callable[[Callable[[EngineAuthor], None]], Callable[[EngineAuthor], None]]:
    """Register the function that records a case of the engine surface."""
    return _register("engine", clauses, title, options)


def _operator(symbol: str, *, reflected: bool = False) -> Callable[[Symbol, Recordable], Symbol]:
    def method(self: Symbol, other: Recordable) -> Symbol:
        pair = [form(other), self._expr] if reflected else [self._expr, form(other)]
        return self._author.do({"$op": [symbol, *pair]})

    return method


class Symbol(Recorded):
    """A value of the API surface; the operations on it are recorded."""

    def __init__(self, author: ApiAuthor, expr: Json) -> None:
        super().__init__(expr)
        self._author = author

    def __getattr__(self, name: str) -> Symbol:
        if name.startswith("_") and name not in {"__enter__", "__exit__"}:
            raise AttributeError(name)
        if set(self._expr) == {"$"}:
            return Symbol(self._author, {"$": f"{self._expr['$']}.{name}"})
        return Symbol(self._author, {"$getattr": [self._expr, name]})

    def __call__(self, *args: object, **kwargs: object) -> Symbol:
        """Record the call."""
        target = self._expr["$"] if set(self._expr) == {"$"} else self._expr
        call: dict[str, Json] = {"$call": target}
        if args:
            call["args"] = [form(arg) for arg in args]
        if kwargs:
            call["kwargs"] = {name: form(value) for name, value in kwargs.items()}
        return self._author.do(call)

    def __getitem__(self, index: Recordable) -> Symbol:
        return self._author.do({"$item": [self._expr, form(index)]})

    __add__ = _operator("+")
    __radd__ = _operator("+", reflected=True)
    __sub__ = _operator("-")
    __rsub__ = _operator("-", reflected=True)
    __mul__ = _operator("*")
    __rmul__ = _operator("*", reflected=True)
    __truediv__ = _operator("/")
    __rtruediv__ = _operator("/", reflected=True)
    __floordiv__ = _operator("//")
    __rfloordiv__ = _operator("//", reflected=True)
    __mod__ = _operator("%")
    __rmod__ = _operator("%", reflected=True)
    __pow__ = _operator("**")
    __rpow__ = _operator("**", reflected=True)
    __matmul__ = _operator("@")
    __rmatmul__ = _operator("@", reflected=True)
    __lt__ = _operator("<")
    __le__ = _operator("<=")
    __gt__ = _operator(">")
    __ge__ = _operator(">=")

    __iter__ = None  # a symbol has no length while recording; index it

    def __neg__(self) -> Symbol:
        return self._author.do({"$op": ["neg", self._expr]})

    def __hash__(self) -> int:
        return id(self)


class ApiAuthor:
    """Records a case of the API surface; `tf` stands for the namespace."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.files: dict[str, str | None] | None = None
        self._blocks = [self.steps]
        self._count = 0
        self.tf = Symbol(self, {"$": "tf"})
        self.np = Symbol(self, {"$": "np"})
        self.py = Symbol(self, {"$": "py"})

    def do(self, expr: Json, expect: Expect | None = None) -> Symbol:
        """Record a step that evaluates an expression; returns the symbol of its value."""
        self._count += 1
        name = f"v{self._count}"
        step: Step = {"do": "eval", "expr": expr, "as": name}
        if expect is not None:
            step["expect"] = expect
        self._blocks[-1].append(step)
        return Symbol(self, {"$": name})

    def check(self, value: Recordable, want: object) -> None:
        """The value must match; want is a value or a matcher, anywhere in it.

        A check of the call just recorded becomes the expectation of its step.
        """
        step = self._last(value)
        if step is None:
            step = {"do": "eval", "expr": form(value)}
            self._blocks[-1].append(step)
        step["expect"] = {"value": form(want)}

    def file(self, name: str, data: bytes | None) -> Symbol:
        """Declare a file of the case with its first content (None: a folder); its `path`."""
        self.files = {**(self.files or {}), name: None if data is None else text64(data)}
        return self.path(name)

    def path(self, name: str = "") -> Symbol:
        """A path in the case's folder, a str; in what is expected it is `seen`."""
        self.files = self.files or {}
        return Symbol(self, {"$path": name})

    def seen(self, name: str = "") -> str:
        """How a path in the case's folder shows in what is observed."""
        return f"{STAND_IN}/{name}" if name else STAND_IN

    def change(self, name: str, **how: Json | bytes) -> None:
        """Record a change of a file: write, append, truncate, flip, rename, mode, remove."""
        self._blocks[-1].append(file_step(name, how))

    def content(self, name: str, want: bytes | Matcher | None) -> None:
        """The file must hold these bytes now (None: there must be none)."""
        step = file_step(name, {"read": "bytes"})
        self._blocks[-1].append({**step, "expect": {"value": form(want)}})

    def names(self, want: Sequence[str], name: str = "") -> None:
        """These must be the files below the folder now, in order."""
        step = file_step(name, {"read": "names"})
        self._blocks[-1].append({**step, "expect": {"value": list(want)}})

    def against_oracle(self, value: Recordable, contract: str = "exact") -> None:
        """The value must be the oracle's, under the contract; for generated cases."""
        self.check(value, None)
        self._blocks[-1][-1]["expect"] = {"oracle": {"contract": contract}}

    def blame(self, clause: str) -> None:
        """A failure of the step just recorded shows this clause false."""
        self._blocks[-1][-1]["clause"] = clause

    def check_same(self, left: Recordable, right: Recordable, *, same: bool = True) -> None:
        """The two must be (or not be) one object."""
        expr = {"$is": [form(left), form(right)]}
        self._blocks[-1].append({"do": "eval", "expr": expr, "expect": {"value": same}})

    def check_instance(self, value: Recordable, cls: Symbol) -> None:
        """The value must be an instance of the class (a symbol)."""
        expr = {"$isinstance": [form(value), form(cls)]}
        self._blocks[-1].append({"do": "eval", "expr": expr, "expect": {"value": True}})

    def expr(self, key: str, *parts: Recordable) -> Symbol:
        """Record an expression by its `$key`: `expr("$len", x)`, `expr("$op", "==", a, b)`."""
        body = form(parts[0]) if len(parts) == 1 else [form(part) for part in parts]
        return self.do({key: body})

    def raises(self, classes: str | Sequence[str], action: Callable[[], object]) -> None:
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
    def within(
        self, context: Symbol, *, raises: str | Sequence[str] | None = None
    ) -> Iterator[Symbol]:
        """Record a `with` block around the steps recorded inside.

        Args:
          context: the context manager to enter.
          raises: the class, or one of the classes, with which the block must end.

        """
        self._count += 1 if self._last(context) else 2  # numbers as the frozen vectors have them
        entered = f"v{self._count}"
        block: Step = {"do": "with", "context": form(context), "as": entered, "steps": []}
        if raises is not None:
            names = [raises] if isinstance(raises, str) else list(raises)
            block["expect"] = {"error": {"classes": names}}
        self._blocks[-1].append(block)
        self._blocks.append(block["steps"])
        yield Symbol(self, {"$": entered})
        self._blocks.pop()

    def throw(self, error: Symbol) -> None:
        """Record the raising of an exception, or of one of a class, inside a `with` block."""
        self._blocks[-1].append({"do": "raise", "error": self._inlined(error)})

    @contextmanager
    def thread(self) -> Iterator[None]:
        """Record steps that run in a new thread, which is joined."""
        block: Step = {"do": "thread", "steps": []}
        self._blocks[-1].append(block)
        self._blocks.append(block["steps"])
        yield
        self._blocks.pop()

    def function(self, params: Sequence[str], body: Callable[..., object]) -> Symbol:
        """A function for the backend to call: `body` gets symbols, gives a form."""
        symbols = [Symbol(self, {"$": name}) for name in params]
        return Symbol(self, {"$fn": {"params": list(params), "returns": form(body(*symbols))}})

    def set(self, target: Symbol, attr: str, value: Recordable) -> None:
        """Record the setting of a public attribute."""
        self._blocks[-1].append(
            {"do": "assign", "object": form(target), "attr": attr, "value": form(value)}
        )

    def named_check(self, name: str, want: object, **args: object) -> None:
        """Record a named check `sessrun.conformance.checks.NAME` and what it must return."""
        step: Step = {"do": "check", "name": f"sessrun.conformance.checks.{name}"}
        body = {key: form(value) for key, value in args.items()}
        self._blocks[-1].append({**step, "args": body, "expect": {"value": form(want)}})

    def static_types_as_by_oracle(self, tensors: Recordable, clause: str) -> None:
        """The names, dtypes and static shapes of tensors must be the oracle's: `clause` says so."""
        self.named_check("static.told", None, tensors=tensors)
        self._blocks[-1][-1]["expect"] = {"oracle": {"contract": "exact"}}
        self.blame(clause)

    def case(
        self, id_: str, title: str, clauses: Sequence[str] = (), **options: Unpack[CaseOptions]
    ) -> Case:
        """The case recorded so far; it tests what its steps name, unless clauses are given."""
        steps = tuple(_tidy(self.steps))
        tested = tuple(clauses) or clauses_of(steps)
        return Case(id_, title, "api", tested, steps, files=self.files, **options)

    def _inlined(self, value: Symbol) -> Json:
        """The expression of a value; the last step is removed if it evaluates this value."""
        step = self._last(value)
        if step is None:
            return form(value)
        self._blocks[-1].pop()
        return step["expr"]

    def _last(self, value: Recordable) -> Step | None:
        if not isinstance(value, Symbol) or not self._blocks[-1]:
            return None
        step = self._blocks[-1][-1]
        return step if value._expr == {"$": step.get("as")} and "expect" not in step else None  # noqa: SLF001


def record(authored: Authored, namespace: Namespace | None) -> Case:
    """The case that an authored function records.

    Args:
      authored: the function, with what it is registered with.
      namespace: builds the GraphDefs of an engine case; an API case needs none.

    """
    author: ApiAuthor | EngineAuthor
    if authored.surface == "api":
        author = ApiAuthor()
    else:
        assert namespace is not None
        author = EngineAuthor(namespace)
    authored.function(author)
    return Case(
        id=authored.id,
        title=authored.title,
        surface=authored.surface,
        clauses=authored.clauses,
        steps=tuple(_tidy(author.steps)),
        graphs=author.graphs if isinstance(author, EngineAuthor) else {},
        files=author.files,
        **authored.options,
    )


def _tidy(steps: list[Step]) -> list[Step]:
    """Drop the names that nothing uses, so that a case shows only what matters."""
    _inline_contexts(steps, steps)
    used = str(steps)
    for step in steps:
        name = step.get("as")
        if name and used.count(f"'{name}") == 1 and "expect" in step:
            del step["as"]
    return steps


def _inline_contexts(steps: list[Step], all_steps: list[Step]) -> None:
    """Move an expression that only the following `with` uses into that `with`."""
    for index in reversed(range(len(steps))):
        step = steps[index]
        _inline_contexts(step.get("steps", []), all_steps)
        before: Step = steps[index - 1] if index else {"do": ""}
        name = before.get("as")
        if step["do"] != "with" or name is None or step["context"] != {"$": name}:
            continue
        if before["do"] == "eval" and "expect" not in before and _mentions(all_steps, name) == 1:
            step["context"] = before["expr"]
            del steps[index - 1]


def _mentions(form_: object, name: str) -> int:
    """How often expressions name `name` or one of its attributes."""
    if isinstance(form_, list):
        return sum(_mentions(item, name) for item in form_)
    if not isinstance(form_, dict):
        return 0
    named = (form_.get("$"), form_.get("$call"))
    here = sum(isinstance(path, str) and path.partition(".")[0] == name for path in named)
    return here + sum(_mentions(item, name) for item in form_.values())
