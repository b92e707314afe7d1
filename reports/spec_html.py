"""The spec as one self-contained HTML page: clauses with their vectors, errors, dtypes, claims."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sessrun.reports.html import content_policy, template, template_text
from sessrun.spec import SPEC_VERSION, loader
from sessrun.spec.dtypes import DTYPES
from sessrun.spec.errors import CODES
from sessrun.spec.loader import Clause
from sessrun.spec.tables.manual import CONVENTIONS
from sessrun.spec.volumes import clauses_by_chapter

__all__ = ["spec_html"]


def spec_html() -> str:
    """The page; a pure function of the installed spec."""
    vectors: defaultdict[str, list[str]] = defaultdict(list)
    for case in loader.load_vectors().values():
        for id_ in case.clauses:
            vectors[id_].append(case.id)
    style = template_text("style.css")
    page: str = template("spec.html.j2").render(
        version=SPEC_VERSION,
        style=style,
        policy=content_policy(style),
        volumes=_volumes(vectors),
        withdrawn=loader.load_withdrawn().values(),
        profiles=loader.load_profiles().values(),
        counts=_counts(),
        dtypes=DTYPES,
        codes=CODES,
        operations=loader.load_operations().values(),
        definitions=loader.load_definitions(),
        conventions=CONVENTIONS,
        claims=loader.load_claims(),
        rulings=loader.load_rulings(),
        clause=lambda id_: f"#{id_}",
    )
    return page


def _volumes(vectors: Mapping[str, list[str]]) -> list[dict[str, Any]]:
    """Each volume with its chapters, each chapter with the clauses of each of its subjects."""
    volumes: dict[str, dict[str, Any]] = {}
    for volume, chapter, subject, clauses in clauses_by_chapter():
        shown = volumes.setdefault(volume.name, {"volume": volume, "chapters": {}})
        rows = [_clause(clause, vectors.get(clause.id, [])) for clause in clauses]
        of_chapter = shown["chapters"].setdefault(
            chapter.number, {"title": chapter.title, "subjects": []}
        )
        of_chapter["subjects"].append({"name": subject, "clauses": rows})
    return list(volumes.values())


def _clause(clause: Clause, vectors: list[str]) -> dict[str, Any]:
    debt = loader.load_debt().get(clause.id)
    return {"clause": clause, "vectors": vectors, "lacks": debt["lacks"] if debt else ()}


def _counts() -> dict[str, int]:
    return {
        "clauses": len(loader.load_clauses()),
        "operations": len(loader.load_operations()),
        "vectors": len(loader.load_vectors()),
        "claims": len(loader.load_claims()),
    }
