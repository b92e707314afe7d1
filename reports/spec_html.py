"""The spec as one self-contained HTML page: clauses with their vectors, errors, dtypes, claims."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sessrun.reports.html import content_policy, template, template_text
from sessrun.spec import SPEC_VERSION, loader
from sessrun.spec.dtypes import DTYPES
from sessrun.spec.errors import CODES
from sessrun.spec.loader import Clause

__all__ = ["spec_html"]


def spec_html() -> str:
    """The page; a pure function of the installed spec."""
    vectors: defaultdict[str, list[str]] = defaultdict(list)
    for case in loader.load_vectors().values():
        for id_ in case.clauses:
            vectors[id_].append(case.id)
    subjects: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for clause in loader.load_clauses().values():
        subjects[clause.subject].append(_clause(clause, vectors[clause.id]))
    style = template_text("style.css")
    page: str = template("spec.html.j2").render(
        version=SPEC_VERSION,
        style=style,
        policy=content_policy(style),
        subjects=dict(sorted(subjects.items())),
        profiles=loader.load_profiles().values(),
        counts=_counts(),
        dtypes=DTYPES,
        codes=CODES,
        operations=loader.load_operations().values(),
        claims=loader.load_claims(),
    )
    return page


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
