"""What belongs together: clauses, the vectors and faults of each, the operations in vectors."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from sessrun.spec import loader
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import SPEC_DIR, Clause, read_toml
from sessrun.spec.operations import Operation

__all__ = ["FaultEntry", "PropertyEntry", "Relations", "Suite"]

#: An operation in more than this share of the vectors is how graphs are built, not what they test.
_PLUMBING: Final = 0.1

#: What distinguishes a later form of an operation from the first.
_VERSION: Final = re.compile(r"V[0-9]+$")

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class FaultEntry:
    """A faulty backend: its name, the clause it breaks, what it changes, the file it stands in."""

    name: str
    clause: str
    summary: str
    source: str


@dataclass(frozen=True, slots=True)
class PropertyEntry:
    """A property that draws cases: its name, what it draws, the clauses that these test."""

    name: str
    summary: str
    clauses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Suite:
    """What the suite knows beside the spec.

    Attributes:
      faults: the faulty backends.
      properties: the properties.
      programs: of each vector, by its id, the plain TensorFlow code that shows it.

    """

    faults: Sequence[FaultEntry]
    properties: Sequence[PropertyEntry]
    programs: Mapping[str, str]


class Relations:
    """The installed spec and a suite, linked both ways; sequences in the order of the spec."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.clauses: Mapping[str, Clause] = loader.load_clauses()
        self.vectors: Mapping[str, Case] = loader.load_vectors()
        self.operations: Mapping[str, Operation] = loader.load_operations()
        self.operation_files: Mapping[str, str] = _operation_files()
        self.vectors_of_clause: Mapping[str, Sequence[Case]] = _grouped(
            (id_, case) for case in self.vectors.values() for id_ in case.clauses
        )
        self.faults_of_clause: Mapping[str, Sequence[FaultEntry]] = _grouped(
            (fault.clause, fault) for fault in suite.faults
        )
        self.properties_of_clause: Mapping[str, Sequence[PropertyEntry]] = _grouped(
            (id_, entry) for entry in suite.properties for id_ in entry.clauses
        )
        self.operations_of_vector = _operations_of_vectors(self.vectors, self.operations)
        self.vectors_of_operation: Mapping[str, Sequence[Case]] = _grouped(
            (name, self.vectors[id_])
            for id_, names in self.operations_of_vector.items()
            for name in names
        )
        self.operations_of_clause: Mapping[str, Sequence[str]] = _grouped(self._subjects())
        self.clauses_of_operation: Mapping[str, Sequence[str]] = _grouped(
            (name, id_) for id_ in self.clauses for name in self.operations_of_clause[id_]
        )

    def _subjects(self) -> Iterator[tuple[str, str]]:
        """Each clause with each operation that its vectors use and most vectors do not."""
        counts = Counter(name for names in self.operations_of_vector.values() for name in names)
        for id_ in self.clauses:
            names = {
                name
                for case in self.vectors_of_clause[id_]
                for name in self.operations_of_vector[case.id]
            }
            for name in sorted(names):
                if counts[name] <= _PLUMBING * len(self.vectors):
                    yield id_, name


def _grouped(pairs: Iterable[tuple[_K, _V]]) -> Mapping[_K, Sequence[_V]]:
    """The values of each key, in their order; no values for a key that is not there."""
    groups: defaultdict[_K, list[_V]] = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return groups


def _operation_files() -> dict[str, str]:
    """Each declared operation with the name of the file under `spec/ops` that declares it."""
    files = {}
    for path in sorted((SPEC_DIR / "ops").glob("*.toml")):
        for name, form in read_toml(path).items():
            files[name] = path.stem
            if "older" in form:
                files[form["older"]] = path.stem
    return files


def _operations_of_vectors(
    vectors: Mapping[str, Case], operations: Mapping[str, Operation]
) -> dict[str, tuple[str, ...]]:
    """The declared operations of each vector: its nodes' types, and those that it calls by name.

    `tf.mat_mul` calls MatMul, `tf.add` Add and AddV2; what else a function builds its name hides.
    """
    named: dict[str, set[str]] = {}
    for operation in operations.values():
        for name in (operation.name, _VERSION.sub("", operation.name), *operation.python):
            named.setdefault(_folded(name), set()).add(operation.name)
    used = {}
    for case in vectors.values():
        names = set(_mentioned([case.graphs, case.steps]))
        calls = {_folded(name) for name in names if name.startswith("tf.")}
        called = {operation for call in calls for operation in named.get(call, ())}
        used[case.id] = tuple(sorted((names & operations.keys()) | called))
    return used


def _folded(name: str) -> str:
    """The last part of a dotted name, as functions and the op types named after them share it."""
    return name.rpartition(".")[2].replace("_", "").lower()


def _mentioned(form: object) -> Iterator[str]:
    """The op types of the nodes in a JSON value, and the dotted names in its expressions."""
    if isinstance(form, Mapping):
        for key, value in form.items():
            if key in {"op", "$", "$call"} and isinstance(value, str):
                yield value
            else:
                yield from _mentioned(value)
    elif isinstance(form, list | tuple):
        for item in form:
            yield from _mentioned(item)
