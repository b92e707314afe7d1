"""The volumes of the spec (`volumes.toml`): which volume and chapter a clause belongs to.

The runtime is what `run.md` describes, chapter by chapter; the library is what a program could have
written itself on it. Each volume has a version of its own, which `since` and `withdrawn` name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sessrun.spec.loader import Clause, load_clauses, load_withdrawn, read_volumes

__all__ = [
    "Chapter",
    "Volume",
    "chapter_of",
    "clauses_by_chapter",
    "load_volumes",
    "no_clause",
    "successors",
]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter of a volume.

    Attributes:
      volume: the volume's name: `runtime`.
      number: its number in the volume, from one; of the runtime also its number in `run.md`.
      title: its title.
      subjects: whose clauses it has, in order: `queues`, or of one surface only `saving/api`.

    """

    volume: str
    number: int
    title: str
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of the spec: its name, title, version, what it is about in a sentence, chapters."""

    name: str
    title: str
    version: str
    summary: str
    chapters: tuple[Chapter, ...]


@functools.cache
def load_volumes() -> Mapping[str, Volume]:
    """Every volume by name, in order."""
    return MappingProxyType(
        {
            name: Volume(
                name,
                form["title"],
                form["version"],
                form["summary"],
                tuple(
                    Chapter(name, number, chapter["title"], tuple(chapter["subjects"]))
                    for number, chapter in enumerate(form["chapters"], 1)
                ),
            )
            for name, form in read_volumes().items()
        }
    )


@functools.cache
def _chapters() -> Mapping[str, Chapter]:
    """The chapter of each subject, or of a subject and a surface."""
    return {
        subject: chapter
        for volume in load_volumes().values()
        for chapter in volume.chapters
        for subject in chapter.subjects
    }


def chapter_of(clause: Clause) -> Chapter:
    """The chapter that a clause belongs to.

    Raises:
      KeyError: no chapter lists its subject.

    """
    by_subject = _chapters()
    of_surface = by_subject.get(f"{clause.subject}/{clause.surface}")
    return of_surface or by_subject[clause.subject]


def clauses_by_chapter() -> Iterator[tuple[Volume, Chapter, str, list[Clause]]]:
    """Volume, chapter, subject and its clauses there, in the order of the volumes' chapters."""
    clauses: dict[tuple[Chapter, str], list[Clause]] = {}
    for clause in load_clauses().values():
        clauses.setdefault((chapter_of(clause), clause.subject), []).append(clause)
    for volume in load_volumes().values():
        for chapter in volume.chapters:
            for subject in (entry.partition("/")[0] for entry in chapter.subjects):
                yield volume, chapter, subject, clauses[chapter, subject]


def no_clause(id_: str) -> str:
    """What is wrong with an id that is none of a clause in force, without a full stop."""
    if id_ in load_withdrawn():
        return f"the clause {id_} is withdrawn; its successors are {', '.join(successors(id_))}"
    return f"no clause is called {id_!r}"


def successors(id_: str) -> tuple[str, ...]:
    """The clauses in force that say what this one said: itself, unless it is withdrawn."""
    clause = load_withdrawn().get(id_)
    if clause is None:
        return (id_,)
    return tuple(last for successor in clause.successors for last in successors(successor))
