"""The site: everything leads to what belongs to it and back, nothing leads out, all is found."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from sessrun.cli.main import main
from sessrun.reports.site.addresses import SiteError
from sessrun.reports.site.links import check_links
from sessrun.spec.loader import load_clauses, load_operations, load_vectors, subject_of

ROOT = Path(__file__).resolve().parents[2]
CLAUSE, VECTOR = "FEED-003", "feed-keys/a-chain-can-be-fed-anywhere"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert main(["spec", "--site", str(folder), "--prose", str(ROOT)]) == 0
    return folder


def entry(site: Path, page: str, anchor: str) -> str:
    """The part of a page that has the anchor."""
    text = (site / page).read_text(encoding="utf-8")
    (part,) = re.findall(rf'<section class="entry" id="{anchor}">(.*?)</section>', text, re.DOTALL)
    return str(part)


def test_a_clause_leads_to_its_vectors_faults_and_operations_and_they_lead_back(
    site: Path,
) -> None:
    clause = entry(site, "spec/clauses/feed.html", CLAUSE)
    folder, slug = VECTOR.split("/")
    assert f'href="../vectors/{folder}.html#{slug}"' in clause
    vector = entry(site, f"spec/vectors/{folder}.html", slug)
    assert f'href="../clauses/feed.html#{CLAUSE}"' in vector
    (fault,) = re.findall(r'href="\.\./\.\./conformance/faulty/feed\.html#([\w-]+)"', clause)
    back = entry(site, "conformance/faulty/feed.html", fault)
    assert f'href="../../spec/clauses/feed.html#{CLAUSE}"' in back
    assert 'href="../ops/math.html#Mul"' in clause
    assert 'href="../ops/math.html#Mul"' in vector
    operation = entry(site, "spec/ops/math.html", "Mul")
    assert f'href="../clauses/feed.html#{CLAUSE}"' in operation
    assert f'href="../vectors/{folder}.html#{slug}"' in operation


def test_a_vector_of_the_namespace_leads_to_the_operations_that_it_calls(site: Path) -> None:
    vector = "fetch-nested/a-fed-array-comes-back-in-the-dtype"
    assert load_vectors()[vector].surface == "api"
    page, slug = vector.split("/")
    assert 'href="../ops/basic.html#Placeholder"' in entry(site, f"spec/vectors/{page}.html", slug)


def test_everything_has_its_entry_and_is_found(site: Path) -> None:
    text = (site / "search.js").read_text(encoding="utf-8")
    rows = json.loads(text.removeprefix("const SEARCH_ROWS = ").removesuffix(";\n"))
    names = {(kind, name) for kind, name, _, _ in rows}
    assert {("clause", id_) for id_ in load_clauses()} <= names
    assert {("operation", name) for name in load_operations()} <= names
    assert {("vector", id_) for id_ in load_vectors()} <= names
    assert ("page", "What a run is") in names
    for _, name, _, address in rows:
        page, _, anchor = address.partition("#")
        content = (site / page).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in content, name


def test_every_page_can_be_reached(site: Path) -> None:
    reached, left = set(), ["index.html"]
    while left:
        page = left.pop()
        if page in reached:
            continue
        reached.add(page)
        for href in re.findall(r'href="([^"#]+)', (site / page).read_text(encoding="utf-8")):
            path = (site / page).parent.joinpath(href).resolve().relative_to(site.resolve())
            if path.suffix == ".html":
                left.append(path.as_posix())
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert pages - reached == {"README.html"}  # the front page takes its place


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*"):
        if path.suffix in {".html", ".css"}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"""(?:href|src|action)=["']?(?:\w+:|//)""", text), path
            assert "@import" not in text or path.suffix == ".html", path


def test_prose_names_clauses_by_links(site: Path) -> None:
    text = (site / "docs" / "cases.html").read_text(encoding="utf-8")
    assert 'href="../spec/clauses/fetch.html#FETCH-034"' in text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="b.html">', "leads to no page"),
        ('<a href="#there">', "leads to no place of that page"),
        ('<img src="https://example.org/a.png">', "leads out of the site"),
        ('<script src="//example.org/a.js"></script>', "leads out of the site"),
    ],
)
def test_a_page_that_leads_nowhere_is_refused(body: str, said: str) -> None:
    with pytest.raises(SiteError, match=said):
        check_links({"a.html": body.encode()})


def test_prose_with_a_dead_link_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("# Title\n\n[gone](docs/gone.md)\n", encoding="utf-8")
    assert main(["spec", "--site", str(tmp_path / "site"), "--prose", str(tmp_path)]) == 2
    assert "README.md: the link docs/gone.md leads nowhere" in capsys.readouterr().err


def test_subjects_are_pages(site: Path) -> None:
    subjects: Mapping[str, None] = dict.fromkeys(map(subject_of, load_clauses()))
    assert {path.stem for path in (site / "spec" / "clauses").glob("*.html")} == set(subjects)
