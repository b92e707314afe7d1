"""The programs by name, `area/topic/name`: functions of a namespace to what they return.

An area is a folder here, a topic a module of it with a table `BEHAVIOURS`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from sessrun.conformance.subjects import programs as package

__all__ = ["CLAUSES", "NOT_ASKED", "NotAsked", "Program", "program_of", "programs_of"]

#: A program: from a namespace like `tensorflow.compat.v1` to what is compared.
Program = Callable[[Any], Any]

#: Each area with the clause that its programs show.
CLAUSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "graphs": "PROGRAMS-001",
        "sessions": "PROGRAMS-002",
        "queues": "PROGRAMS-003",
        "tables": "PROGRAMS-004",
        "variables": "PROGRAMS-005",
        "readers": "PROGRAMS-006",
        "saving": "PROGRAMS-007",
        "tensor_arrays": "PROGRAMS-008",
        "control_flow": "PROGRAMS-009",
        "gradients": "PROGRAMS-010",
        "arrays": "PROGRAMS-011",
        "numbers": "PROGRAMS-012",
        "text": "PROGRAMS-013",
        "sparse": "PROGRAMS-014",
        "pictures": "PROGRAMS-015",
        "networks": "PROGRAMS-016",
        "layers": "PROGRAMS-017",
        "training": "PROGRAMS-018",
        "managed": "PROGRAMS-019",
    }
)


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A program that no backend is asked, and what TensorFlow does of it as it comes."""

    name: str
    why: str

    @property
    def program(self) -> Program:
        """The program."""
        return _all_of(self.name.partition("/")[0])[self.name]


_ONEDNN: Final = "with oneDNN, which it has as it comes on x86, it does otherwise"
_RELEASE: Final = "it tells its own release, or what a release added"
NOT_ASKED: Final = (
    NotAsked("networks/window_value/refused", _ONEDNN),
    NotAsked("networks/window_value/transposed", _ONEDNN),
    NotAsked("networks/window_value/beside_nans", _ONEDNN),
    NotAsked("graphs/graph/graph_defs", _RELEASE),
    NotAsked("graphs/graph_util/frozen_references", _RELEASE),
    NotAsked("graphs/graph_util/frozen_resources", _RELEASE),
    NotAsked("graphs/meta_graph/exporting", _RELEASE),
    NotAsked("graphs/meta_graph/importing", _RELEASE),
    NotAsked("graphs/value/casts_of_narrow_dtypes", _RELEASE),
    NotAsked("graphs/value/more_of_dtypes", _RELEASE),
    NotAsked("graphs/value/protos", _RELEASE),
    NotAsked("readers/parsing/parsing_feature_reasons", _RELEASE),
    NotAsked("variables/generator/graphs", _RELEASE),
)


def programs_of(area: str) -> Mapping[str, Program]:
    """The programs of an area that every backend is asked, by name, sorted."""
    left_out = {entry.name for entry in NOT_ASKED}
    return {name: run for name, run in _all_of(area).items() if name not in left_out}


@functools.cache
def _all_of(area: str) -> Mapping[str, Program]:
    folder = importlib.import_module(f"{package.__name__}.{area}")
    programs = {
        f"{area}/{topic.name}/{name}": program
        for topic in pkgutil.iter_modules(folder.__path__)
        for name, program in importlib.import_module(
            f"{folder.__name__}.{topic.name}"
        ).BEHAVIOURS.items()
    }
    return MappingProxyType(dict(sorted(programs.items())))


def program_of(name: str) -> Program:
    """The program of a name.

    Raises:
      KeyError: there is none.

    """
    return _all_of(name.partition("/")[0])[name]
