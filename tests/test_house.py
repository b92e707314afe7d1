"""The house rules of docs/architecture.md: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("spec", "reference", "adapters", "conformance", "reports")
ALLOWED = {
    "spec": {"spec"},
    "reference": {"reference", "spec"},
    "adapters": {"adapters", "spec"},
    "conformance": {"conformance", "adapters", "spec"},
    "reports": {"reports", "spec"},
}
#: The one module of the adapters that may import the runtime.
EXCEPTIONS = {("adapters/reference.py", "reference")}
#: The packages of others that the runtime imports.
NEEDED = {"numpy", "ml_dtypes", "google"}
#: Those that one module of it imports, each when a program first needs it.
NEEDED_ONCE = {
    ("reference/compat/app.py", "absl"),
    ("reference/devices/devices.py", "cupy"),
    ("reference/compat/flags.py", "absl"),
    ("reference/kernels/pillow.py", "PIL"),
    ("reference/kernels/products.py", "threadpoolctl"),
    ("reference/compat/test/sessions.py", "absl"),
}
#: The packages of the runtime: each imports from itself and from those before it.
LEVELS = (
    "public",
    "errors",
    "base",
    "graph",
    "build",
    "devices",
    "state",
    "kernels",
    "session",
    "api",
    "gradient",
    "library",
    "compat",
)
#: The modules and packages of `session`, in the same order.
STAGES = (
    "arguments",
    "lifetime",
    "resolve",
    "execute",
    "plan",
    "trace",
    "session",
    "interactive",
)
#: Imports for types alone, of what refers back: a tensor has its operation, both have their graph.
BACK_REFERENCES = {
    ("reference.graph.tensor", "reference.graph.operation"),
    ("reference.graph.tensor", "reference.graph.graph"),
    ("reference.graph.operation", "reference.graph.graph"),
}
#: Where modules are imported by names that are made of text: what is public, what is registered,
#: paths of TensorFlow's, kernels by their package, libraries that may be missing.
IMPORTING_BY_NAME = {
    "reference/__init__.py",
    "reference/compat/core/__init__.py",
    "reference/compat/python/module_finder.py",
    "reference/compat/python/util/compat.py",
    "reference/devices/devices.py",
    "reference/kernels/registry.py",
    "reference/kernels/scientific.py",
    "reference/namespace.py",
    "reference/public_index.py",
    "reference/registrations.py",
}
#: Where text is compiled and executed: code that is generated of a plan. `test_tiers.py` holds that
#: no text of a graph is in it.
COMPILING = "reference/session/execute/compiling.py"
#: Methods that import a module by its name.
IMPORTERS = {"import_module"}
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc"}
#: The formatter gives an argument a line: a module of 400 lines written densely may be 490 here.
MAX_LINES = 490


def modules(*parts: str) -> list[Path]:
    found = [path for part in parts for path in (ROOT / part).rglob("*.py")]
    return sorted(path for path in found if not path.name.endswith("_pb2.py"))


def is_generated(path: Path) -> bool:
    return path.read_text(encoding="utf-8").lstrip('#" \n').lower().startswith("generated")


#: Words that say nothing of what a name holds; names say it with the nouns of the field.
EMPTY_WORDS = {"each", "found", "made", "place", "told", "whole"}
#: The parts whose names are free of them.
PLAINLY_NAMED = ("reference", "adapters", "reports", "src", "conformance")
#: Names that are others': of a code, an option, a column of a file, an argument of `tf.test`; and
#: Python's word for operators that write into their operand.
GIVEN_NAMES = {"NOT_FOUND", "place_pruned_graph", "WHOLE_LINE", "whole", "_in_place_operator"}
#: What registers a function by its name: that of a fault or a vector is data and stays as it is.
REGISTERING = {"fault", "api_case", "engine_case", "_api_case"}
#: Named checks with such names, which vectors call.
NAMED_CHECKS = {"told", "whole_file"}


@dataclass(frozen=True)
class Contents:
    """What the rules ask of a module: its syntax tree takes a hundred times the space."""

    docstring: str | None
    imports: tuple[tuple[str, int], ...]
    called: tuple[tuple[str, int], ...]
    names: tuple[tuple[str, int], ...]


@functools.cache
def contents(path: Path) -> Contents:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    called = tuple(
        (called_name(node.func), node.lineno) for node in nodes if isinstance(node, ast.Call)
    )
    return Contents(
        ast.get_docstring(tree), tuple(imports(nodes)), called, tuple(given_names(nodes))
    )


def called_name(function: ast.expr) -> str:
    """The name of what is called; of methods only those that import modules have one here."""
    if isinstance(function, ast.Attribute) and function.attr in IMPORTERS:
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def given_names(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    """The names that a module gives: to variables, parameters, functions, classes, attributes."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and not is_registered(node):
            yield node.name, node.lineno


def is_registered(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a decorator makes the name of a fault or of a vector of a function's name."""
    calls = [call for call in node.decorator_list if isinstance(call, ast.Call)]
    return any(called_name(call.func) in REGISTERING for call in calls)


def imports(nodes: list[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "sessrun":
                yield from ((f"sessrun.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module, node.lineno
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


@pytest.mark.parametrize("part", PARTS)
def test_dependencies_run_one_way(part: str) -> None:
    wrong = []
    for path in modules(part):
        relative = path.relative_to(ROOT).as_posix()
        for name, line in contents(path).imports:
            room = name.split(".")[1] if name.startswith("sessrun.") else None
            if room in PARTS and room not in ALLOWED[part] and (relative, room) not in EXCEPTIONS:
                wrong.append(f"{relative}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", PARTS)
def test_backends_are_imported_by_their_adapter_only(part: str) -> None:
    engines = {"tensorflow", "tf_keras", "cupy", "torch"}
    allowed = {"adapters/tensorflow.py", "adapters/torch.py", "reference/devices/devices.py"}
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in modules(part)
        for name, line in contents(path).imports
        if name.split(".")[0] in engines and path.relative_to(ROOT).as_posix() not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@functools.cache
def upward_imports() -> frozenset[tuple[str, str]]:
    """Who imports what of a package further down in `LEVELS`: lazy and typing-only imports, too."""
    names = {
        path.relative_to(ROOT / "reference").with_suffix("").as_posix().replace("/", "."): path
        for path in modules("reference")
    }
    upward = set()
    for importer, path in names.items():
        level = importer.partition(".")[0]
        if level not in LEVELS:
            continue
        for name, _ in contents(path).imports:
            imported = name.removeprefix("sessrun.reference.")
            other = imported.partition(".")[0]
            if imported in names and other in LEVELS and LEVELS.index(other) > LEVELS.index(level):
                upward.add((importer, imported))
    return frozenset(upward)


def module_imports(part: str) -> dict[str, set[str]]:
    """For each module of a part those of it that it imports: lazily and for types, too."""
    paths = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", "."): path
        for path in modules(part)
        if path.name != "__init__.py"
    }
    return {
        importer: {name.removeprefix("sessrun.") for name, _ in contents(path).imports}
        & paths.keys()
        for importer, path in paths.items()
    }


def test_the_packages_of_the_runtime_import_those_before_them() -> None:
    wrong = sorted(upward_imports())
    assert not wrong, "\n".join(f"{importer} imports {name}" for importer, name in wrong)


def test_the_stages_of_a_run_import_those_before_them() -> None:
    imported = module_imports("reference")
    stages = {
        name: STAGES.index(name.split(".")[2])
        for name in imported
        if name.startswith("reference.session.")
    }
    wrong = [
        f"{importer} imports {name}"
        for importer, stage in stages.items()
        for name in sorted(imported[importer])
        if stages.get(name, 0) > stage
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("part", PARTS)
def test_no_module_is_in_a_cycle_of_imports(part: str) -> None:
    imported = module_imports(part)
    for importer, name in BACK_REFERENCES:
        imported.get(importer, set()).discard(name)
    while free := [name for name, others in imported.items() if not others & imported.keys()]:
        for name in free:
            del imported[name]
    assert not imported, "\n".join(f"{name}: {sorted(imported[name])}" for name in imported)


def test_modules_are_imported_by_import_statements() -> None:
    """What a module imports is seen by the rules above, but where a name is made of text."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line} calls import_module"
        for path in modules("reference")
        for name, line in contents(path).called
        if name in {*IMPORTERS, "__import__"}
        and path.relative_to(ROOT).as_posix() not in IMPORTING_BY_NAME
    ]
    assert not wrong, "\n".join(wrong)


def test_the_runtime_needs_few_packages() -> None:
    wrong = []
    for path in modules("reference"):
        relative = path.relative_to(ROOT).as_posix()
        for name, line in contents(path).imports:
            package = name.split(".")[0]
            known = package in sys.stdlib_module_names or package in {"sessrun", *NEEDED}
            if not known and (relative, package) not in NEEDED_ONCE:
                wrong.append(f"{relative}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_module_is_too_long_or_nameless() -> None:
    wrong = []
    for path in modules(*PARTS, "src", "tests"):
        count = path.read_text(encoding="utf-8").count("\n")
        relative = path.relative_to(ROOT).as_posix()
        if count > MAX_LINES and not is_generated(path):
            wrong.append(f"{relative} has {count} lines, at most {MAX_LINES}")
        if path.stem in FORBIDDEN_NAMES:
            wrong.append(f"{path.relative_to(ROOT)}: a module is named for its subject")
    assert not wrong, "\n".join(wrong)


def test_every_module_says_what_lives_in_it() -> None:
    bare = [
        str(path.relative_to(ROOT))
        for path in modules(*PARTS, "src")
        if not contents(path).docstring
    ]
    assert not bare, "\n".join(bare)


def test_names_say_what_they_hold() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} names something {name}"
        for path in modules(*PLAINLY_NAMED)
        for name, line in contents(path).names
        if EMPTY_WORDS & set(name.lower().split("_")) and name not in GIVEN_NAMES | NAMED_CHECKS
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_unpickles_or_evaluates_text() -> None:
    wrong = []
    for path in modules(*PARTS, "src"):
        wrong += [
            f"{path.relative_to(ROOT)}:{line} calls {name}"
            for name, line in contents(path).called
            if name in {"eval", "exec", "compile"}
            and path.relative_to(ROOT).as_posix() != COMPILING
        ]
        wrong += [
            f"{path.relative_to(ROOT)}:{line} imports {name}"
            for name, line in contents(path).imports
            if name.split(".")[0] in {"pickle", "marshal", "shelve"}
        ]
    assert not wrong, "\n".join(wrong)
