"""The clauses as a document: their volumes, chapters, wording, sources, and what was withdrawn."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from sessrun.reports.diff import _clauses as changed_clauses
from sessrun.reports.summary import ClauseResult, ClauseSummary
from sessrun.spec import SPEC_VERSION, volumes
from sessrun.spec.errors import BY_NAME
from sessrun.spec.loader import Clause, load_claims, load_clauses, load_rulings, load_withdrawn
from sessrun.spec.model.optimizers import STEPS
from sessrun.spec.tables.ops import OPERATIONS
from sessrun.spec.volumes import (
    chapter_of,
    clauses_by_chapter,
    load_volumes,
    no_clause,
    successors,
)

CLAUSES = tuple(load_clauses().values())
WITHDRAWN = tuple(load_withdrawn().values())
RUN_PAGE = (Path(__file__).resolve().parents[1] / "spec" / "run.md").read_text(encoding="utf-8")
#: What says nothing that an engine could break.
BANNED = (
    "as its formula says",
    "follow from these rules",
    "value of its definition",
    "as expected",
    "as usual",
    "and so on",
)


def ids(clauses: list[Clause]) -> list[str]:
    return [clause.id for clause in clauses]


def test_every_clause_is_in_one_chapter() -> None:
    counted = Counter(clause.id for _, _, _, clauses in clauses_by_chapter() for clause in clauses)
    assert counted == Counter(list(load_clauses()))


def test_a_subject_of_two_volumes_is_divided_by_surface() -> None:
    saver, restoring = (load_clauses()[id_] for id_ in ("SAVING-040", "SAVING-001"))
    assert (saver.surface, chapter_of(saver).volume) == ("api", "library")
    assert (restoring.surface, chapter_of(restoring).volume) == ("engine", "runtime")


def test_the_chapters_of_the_runtime_are_those_of_the_page() -> None:
    titles = re.findall(r"^## (\d)\. (.*)$", RUN_PAGE, flags=re.MULTILINE)
    chapters = load_volumes()["runtime"].chapters
    assert [(str(chapter.number), chapter.title) for chapter in chapters] == titles


def test_a_clause_is_no_newer_than_its_volume() -> None:
    assert load_volumes()["runtime"].version == SPEC_VERSION

    def newer(version: str, clause: Clause) -> bool:
        of_volume = load_volumes()[chapter_of(clause).volume].version
        return tuple(map(int, version.split("."))) > tuple(map(int, of_volume.split(".")))

    versions = [(c.since, c) for c in CLAUSES] + [(c.withdrawn or "", c) for c in WITHDRAWN]
    assert not [clause.id for version, clause in versions if newer(version, clause)]


def test_codes_are_named() -> None:
    numbered = [c for c in CLAUSES if re.search(r"\bcodes? \d", c.statement)]
    assert not ids(numbered)
    capitals = {word for c in CLAUSES for word in re.findall(r"\b[A-Z]+_[A-Z_]+\b", c.statement)}
    codes = {word for word in capitals if re.search(r"INVALID|EXCEED|OUT_OF|PRECOND|EXHAUST", word)}
    assert codes <= set(BY_NAME)


def test_no_statement_says_nothing() -> None:
    vague = [c for c in CLAUSES if any(phrase in c.statement for phrase in BANNED)]
    assert not ids(vague)


def test_sources_say_what_was_seen() -> None:
    so = [c for c in CLAUSES if any(re.search(r"\bso$", s) for s in c.sources)]
    assert not ids(so)


def test_sources_name_claims_and_rulings_that_cite_the_clause() -> None:
    citing = {f"claim {name}": form.get("clauses", ()) for name, form in load_claims().items()}
    citing |= {f"ruling {name}": form["clauses"] for name, form in load_rulings().items()}
    wrong = [
        (clause.id, source)
        for clause in CLAUSES
        for source in clause.sources
        if source.startswith(("claim", "ruling")) and clause.id not in citing.get(source, ())
    ]
    assert not wrong
    cited = {id_ for form in load_rulings().values() for id_ in form["clauses"]}
    assert cited <= set(load_clauses())


def test_what_is_withdrawn_leads_to_clauses_in_force() -> None:
    for clause in WITHDRAWN:
        assert set(successors(clause.id)) <= set(load_clauses()), clause.id


def _withdraw(monkeypatch: pytest.MonkeyPatch, *chain: tuple[str, tuple[str, ...]]) -> None:
    monkeypatch.setattr(
        volumes,
        "load_withdrawn",
        lambda: {
            id_: Clause(
                id_,
                "MUST",
                "It was.",
                "both",
                "core",
                ("002",),
                "0.1",
                withdrawn="0.2",
                successors=heirs,
            )
            for id_, heirs in chain
        },
    )


def test_successors_are_followed_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    _withdraw(
        monkeypatch, ("FEED-901", ("FEED-902", "FEED-001")), ("FEED-902", ("FEED-003", "FEED-004"))
    )
    assert successors("FEED-901") == ("FEED-003", "FEED-004", "FEED-001")
    assert successors("FEED-001") == ("FEED-001",)
    assert no_clause("FEED-902").endswith("its successors are FEED-003, FEED-004")
    assert no_clause("FEED-999") == "no clause is called 'FEED-999'"


def _summary(id_: str, result: ClauseResult) -> ClauseSummary:
    return ClauseSummary(
        id=id_,
        level="MUST",
        statement="It is.",
        subject="feed",
        surface="both",
        profile="core",
        required=True,
        result=result,
        waived=False,
        blocked=result == "broken",
        vectors=(),
        generated=1,
        counts={"fail" if result == "broken" else "pass": 1},
    )


def test_a_comparison_follows_successors(monkeypatch: pytest.MonkeyPatch) -> None:
    _withdraw(monkeypatch, ("FEED-901", ("FEED-003", "FEED-004")))
    old = [_summary("FEED-901", "holds")]
    new = [_summary("FEED-003", "holds"), _summary("FEED-004", "broken")]
    changes = [(c.about, c.before, c.after, c.kind) for c in changed_clauses(old, new)]
    assert changes == [("FEED-004", "holds", "broken", "regression")]


def test_every_optimizer_operation_has_an_update_rule() -> None:
    applying = [re.fullmatch(r"(?:Resource)?(?:Sparse)?Apply(\w+)", name) for name in OPERATIONS]
    assert {match[1] for match in applying if match} == set(STEPS)


def test_pages_of_findings_name_clauses_in_force() -> None:
    pages = (Path(__file__).resolve().parents[1] / "docs" / "findings").glob("*.md")
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"\b[A-Z][A-Z-]+-\d{3}\b", text))
    assert len(named) > 20
    assert not named & set(load_withdrawn())
