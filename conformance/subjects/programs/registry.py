"""The programs, functions of a namespace, by their ids `area/topic/name`.

An area is a folder here, a topic a module of it with a table `BEHAVIOURS`. A topic of several
modules has its name from one of them; the others give that name as `TOPIC`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from sessrun.conformance.subjects import programs as package
from sessrun.conformance.subjects.programs.program import Program

__all__ = ["CLAUSES", "NOT_ASKED", "RELEASES", "NotAsked", "program_of", "programs_of"]

#: The clause of each area. The names of areas are part of ids; `pictures` is `tf.image`, `managed`
#: are monitored sessions, hooks, supervisors and summaries.
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
    """A program that no backend is asked, and why."""

    name: str
    why: str

    @property
    def program(self) -> Program:
        """The program."""
        return _all_of(self.name.partition("/")[0])[self.name]


NOT_ASKED: Final = tuple(
    NotAsked(name, why)
    for why, names in {
        "with oneDNN, which it has as it comes on x86, it does otherwise": (
            "networks/window_value/beside_nans",
            "networks/window_value/refused",
            "networks/window_value/transposed",
        ),
        "it tells its own release, or what a release added or mended": (
            "control_flow/nested_flow/arrays",
            "control_flow/nested_flow/elements",
            "graphs/graph/graph_defs",
            "graphs/graph_util/frozen_references",
            "graphs/graph_util/frozen_resources",
            "graphs/meta_graph/exporting",
            "graphs/meta_graph/importing",
            "graphs/value/casts_of_narrow_dtypes",
            "graphs/value/more_of_dtypes",
            "graphs/value/protos",
            "managed/event_file/event_files_kinds",
            "managed/graph_writer/graph_writers_by_a_session",
            "managed/graph_writer/graph_writers_kinds",
            "managed/graph_writer/graph_writers_operations",
            "numbers/signal/spectrograms",
            "readers/parsing/parsing_feature_reasons",
            "text/text/encoded",
            "variables/generator/graphs",
        ),
    }.items()
    for name in names
)


#: Programs whose results need a later release than the oldest one, with that release.
RELEASES: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType(
    {
        name: release
        for release, names in (
            # Names of numpy's classes, and the dtypes of its scalars.
            (
                {"numpy": 2},
                (
                    "graphs/graph/dtypes",
                    "graphs/value/constants_of_things",
                    "graphs/value/told_without_a_run",
                ),
            ),
            # Training nodes, a negative batch, a reader's device, `SaveSliceInfo.from_spec`.
            (
                {"producer": 1882},
                (
                    "graphs/graph_util/training_nodes",
                    "readers/record/records_drawn",
                    "sessions/placement/held",
                    "variables/made_variable/places_in_a_whole",
                    "variables/partition/places",
                ),
            ),
            # A graph of producer 2000; a fed array that is fetched, which 2.18 alone copies;
            # numbers with a plus sign in CSV; the gradient of GatherV2.
            (
                {"producer": 2129},
                (
                    "gradients/gradient/rows",
                    "gradients/gradient_graph/shapes",
                    "gradients/loop_gradient/rows_of_an_invariant",
                    "gradients/loop_gradient/rows_of_joined_tensors",
                    "gradients/rows_in_loops/rows_of_a_part",
                    "gradients/rows_in_loops/rows_of_unknown_number",
                    "gradients/rows_in_loops/rows_of_unknown_rank",
                    "gradients/rows_in_loops/rows_of_what_leaves_the_loop",
                    "graphs/graph_import/versions",
                    "readers/parsing/parsing_lines",
                    "sessions/session/mutations",
                ),
            ),
        )
        for name in names
    }
)


def programs_of(area: str) -> Mapping[str, Program]:
    """The programs of an area that every backend is asked, by name, sorted."""
    left_out = {entry.name for entry in NOT_ASKED}
    return {name: run for name, run in _all_of(area).items() if name not in left_out}


@functools.cache
def _all_of(area: str) -> Mapping[str, Program]:
    folder = importlib.import_module(f"{package.__name__}.{area}")
    programs: dict[str, Program] = {}
    for entry in pkgutil.iter_modules(folder.__path__):
        module = importlib.import_module(f"{folder.__name__}.{entry.name}")
        topic = getattr(module, "TOPIC", entry.name)
        for name, program in module.BEHAVIOURS.items():
            if programs.setdefault(f"{area}/{topic}/{name}", program) is not program:
                raise ValueError(f"two programs are called {area}/{topic}/{name}")
    return MappingProxyType(dict(sorted(programs.items())))


def program_of(name: str) -> Program:
    """The program of a name.

    Raises:
      KeyError: there is no such program.

    """
    return _all_of(name.partition("/")[0])[name]
