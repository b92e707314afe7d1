"""What is published: a page whose rows the packages beside it give again, and nothing besides."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from synthetic_package import certify
from synthetic_run import mixed, passing

from sessrun.cli.main import main
from sessrun.reports.certificate import Certificate, read_certificate
from sessrun.reports.findings import Findings
from sessrun.reports.scoreboard import Board
from sessrun.reports.scoreboard_page import published_files, row

PUBLISHED = Path(__file__).resolve().parents[2] / "reports" / "published"
PACKAGES = sorted((PUBLISHED / "certificates").glob("*"))


@pytest.mark.parametrize("path", PACKAGES, ids=[path.stem for path in PACKAGES])
def test_a_package_that_is_kept_gives_its_row_of_the_page(path: Path) -> None:
    (entry,) = Board([read_certificate(path)]).entries
    assert entry.slug == path.stem
    assert row(entry, kept=True) in (PUBLISHED / "scoreboard.md").read_text(encoding="utf-8")


def test_the_page_leads_to_each_package_that_is_kept() -> None:
    page = (PUBLISHED / "scoreboard.md").read_text(encoding="utf-8")
    links = re.findall(r"\(certificates/([^)]+)\)", page)
    assert sorted(links) == [path.name for path in PACKAGES] != []


def test_what_is_published_is_small() -> None:
    sizes = {path: path.stat().st_size for path in PUBLISHED.rglob("*") if path.is_file()}
    assert not [path for path, size in sizes.items() if size > 400_000]
    assert not [path for path in sizes if path.suffix == ".html"]
    assert sum(sizes.values()) < 2_500_000


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return read_certificate(certify(tmp_path_factory.mktemp("f"), mixed(), generated=2).path)


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return read_certificate(certify(tmp_path_factory.mktemp("p"), passing, generated=2).path)


def named(certificate: Certificate, name: str, version: str) -> Certificate:
    header = dict(certificate.summary.header)
    header["backend"] = dict(header["backend"]) | {"name": name, "version": version}
    summary = dataclasses.replace(certificate.summary, header=header)
    return dataclasses.replace(certificate, summary=summary)


def test_of_each_engine_the_smallest_package_of_its_newest_release_is_kept(
    failed: Certificate, passed: Certificate
) -> None:
    engines = [
        named(failed, "one", "2.0"),
        named(passed, "one", "2.0"),
        named(passed, "one", "1.9"),
        named(failed, "two", "1.0"),
    ]
    board = Board(engines)
    files = dict(published_files(board, Findings(None), "."))
    smaller = min(engines[:2], key=lambda c: sum(map(len, c.package.files.values())))
    (kept,) = [entry for entry in board.entries if entry.certificate is smaller]
    (other,) = [entry for entry in board.entries if entry.engine == "two"]
    names = {f"certificates/{entry.slug}.xz" for entry in (kept, other)}
    assert files.keys() == {"scoreboard.md", *names}
    page = files["scoreboard.md"].decode()
    assert page.count("](certificates/") == 2
    assert page.count("| one |") == 3


def test_a_name_is_no_markdown(failed: Certificate) -> None:
    evil = "[a](b) | <b> `c`\n## d"
    page = dict(published_files(Board([named(failed, evil, "1")]), Findings(None), "."))
    text = page["scoreboard.md"].decode()
    assert r"\[a\]\(b\) \| \<b\> \`c\`" in text
    assert "\n## d" not in text


def test_the_command_writes_both(tmp_path: Path) -> None:
    package = certify(tmp_path, mixed(), generated=2).path
    folders = ["--output", str(tmp_path / "site"), "--publish", str(tmp_path / "published")]
    assert main(["scoreboard", str(package), *folders]) == 0
    (kept,) = (tmp_path / "published" / "certificates").iterdir()
    assert (tmp_path / "site" / kept.name).read_bytes() == kept.read_bytes()
    assert read_certificate(kept).summary == read_certificate(package).summary
