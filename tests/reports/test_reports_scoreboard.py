"""The scoreboard: cells lead to clauses, failures to replays, nothing leads elsewhere."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from synthetic_package import certify
from synthetic_run import mixed, passing

from sessrun.cli.main import main
from sessrun.reports.archive import pack, read_archive
from sessrun.reports.certificate import read_certificate
from sessrun.reports.coverage import Coverage
from sessrun.reports.findings import Findings
from sessrun.reports.scoreboard import Board, cells_of, slug_of
from sessrun.reports.scoreboard_html import scoreboard_pages

EVIL = "<script>alert(1)</script>\"'&\x1b[31m\u202eevil"
NO_FINDINGS = Findings(None)


class Page(HTMLParser):
    """The ids of a page, where it leads, and its tags."""

    def __init__(self, html):
        super().__init__()
        self.ids, self.links, self.tags = set(), set(), set()
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        named = dict(attributes)
        assert not {"src", "onclick", "onload"} & named.keys()
        self.ids.add(named.get("id"))
        if "href" in named:
            self.links.add(named["href"])


def named(certificate, name="engine", version="1.0", **changes):
    header = dict(certificate.summary.header)
    header["backend"] = dict(header["backend"]) | {"name": name, "version": version}
    summary = dataclasses.replace(certificate.summary, header=header, **changes)
    return dataclasses.replace(certificate, summary=summary)


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    return read_certificate(certify(tmp_path_factory.mktemp("f"), mixed(), generated=2).path)


@pytest.fixture(scope="module")
def passed(tmp_path_factory):
    return read_certificate(certify(tmp_path_factory.mktemp("p"), passing, generated=2).path)


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("findings")
    (folder / "my-engine.md").write_text(
        "# Of mine\n\n## One\n\n| a |\n|-|\n| FEED-001 |\n\n<script>alert(1)</script>"
    )
    return Findings(folder)


def site(certificates, refused=None, findings=NO_FINDINGS):
    return dict(scoreboard_pages(Board(certificates), refused or {}, findings))


def pages(files):
    return {name: Page(raw.decode()) for name, raw in files.items() if name.endswith(".html")}


def test_every_link_leads_to_a_page_and_a_place_of_this_site(failed, passed, findings):
    files = site(
        [named(failed, "My Engine"), named(passed, "My Engine", "1.1"), named(passed, "Other")],
        findings=findings,
    )
    shown = pages(files)
    for name, page in shown.items():
        for link in page.links:
            target, _, place = link.partition("#")
            assert (target or name) in files, (name, link)
            assert not place or place in shown[target or name].ids, (name, link)


def test_a_cell_leads_to_clauses_these_to_causes_and_to_findings(failed, findings):
    shown = pages(site([named(failed, "My Engine")], findings=findings))
    index, page = shown["index.html"], shown["my-engine-1-0-core.html"]
    assert "my-engine-1-0-core.html#clauses-feed" in index.links
    assert "findings-my-engine.html#section-2" in page.links
    assert any(link.startswith("#cause-") for link in page.links)
    assert "section-2" in shown["findings-my-engine.html"].ids


def test_a_cause_of_one_operation_leads_to_the_section_that_names_it(failed, tmp_path):
    page = "# E\n\n## NaN is lost\n\n```\n# no heading\n```\nBy `Maximum`."
    (tmp_path / "engine.md").write_text(page)
    wrong = next(group for group in failed.summary.failures if group.answered)
    group = dataclasses.replace(wrong, cause="Maximum of float32 and int8: want 1, got 2")
    files = site([named(failed, failures=(group,))], findings=Findings(tmp_path))
    page = files["engine-1-0-core.html"].decode()
    assert '<a href="findings-engine.html#section-2">Maximum</a>' in page
    assert f"Maximum of float32 and int8: {group.reason[:10]}" in page
    assert dataclasses.replace(wrong, cause="the worker died of SIGFPE").operation == ""


def test_the_replay_of_a_cause_and_the_package_are_on_the_site(failed, tmp_path):
    files = site([named(failed)])
    page = files["engine-1-0-core.html"].decode()
    commands = re.findall(r"sessrun replay (engine-1-0-core/\S+\.json)", page)
    assert commands
    assert set(commands) <= files.keys()
    (tmp_path / "package.xz").write_bytes(files["engine-1-0-core.xz"])
    assert read_archive(tmp_path / "package.xz") == failed.package.files


def test_nothing_is_loaded_and_no_name_becomes_markup(failed, passed):
    hostile = named(failed, EVIL, EVIL, reasons=(EVIL,))
    files = site([hostile, named(passed, EVIL, "2")], refused={EVIL: EVIL})
    for name, raw in files.items():
        if name.endswith(".html"):
            text = raw.decode()
            assert "<script>alert" not in text
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert "default-src &#39;none&#39;" in text
            assert not re.search(r"https?:|url\((?!#)|@import|<link|<iframe", text)
    assert not {"script", "iframe", "img"} & pages(files)["index.html"].tags


def test_two_certificates_of_one_name_have_two_pages(failed, passed):
    slugs = [entry.slug for entry in Board([named(failed), named(passed)]).entries]
    assert len(set(slugs)) == 2
    assert len({slug_of("A b"), slug_of("a-b"), slug_of("飞桨")}) == 2


def test_releases_are_ordered_by_their_numbers_the_newest_first(failed, passed):
    board = Board([named(passed, version="2.9"), named(failed, version="2.10"), named(passed, "a")])
    assert [(e.engine, e.version) for e in board.entries] == [
        ("a", "1.0"),
        ("engine", "2.10"),
        ("engine", "2.9"),
    ]
    ((engine, (step,)),) = board.releases.items()
    assert engine == "engine"
    assert (step.old.version, step.new.version) == ("2.9", "2.10")
    assert step.diff.regressions
    page = site([named(passed, version="2.9"), named(failed, version="2.10")])["engine-engine.html"]
    assert b"2.9 \xe2\x86\x92 2.10" in page


def test_two_runs_of_one_release_are_told_apart_by_their_times(failed, passed):
    later = named(passed)
    later.summary.header["started"] = "2033-03-02T11:22:33+00:00"
    files = site([named(failed), later])
    for name in ("index.html", "engine-engine.html"):
        text = files[name].decode()
        assert "1.0 → 1.0" not in text
        assert re.search(r"1\.0, \d{4}-\d\d-\d\d [\d:]{8} → 2033-03-02 11:22:33", text)


@pytest.mark.parametrize("content", [b"", b"import numpy as np\n", b'{"record": 1}\n'])
def test_what_is_no_package_is_told_so(content, good, tmp_path, capsys):
    path = tmp_path / "a.xz"
    path.write_bytes(content)
    assert main(["scoreboard", str(good.path), str(path), "--output", str(tmp_path / "s")]) == 2
    assert capsys.readouterr().err.startswith(f"sessrun scoreboard: {path}: no package: ")


def test_cells_count_what_holds_of_what_applies(failed, passed):
    placement = cells_of(passed.summary)["placement"]
    assert (placement.held, placement.required, placement.state) == (2, 2, "good")
    feed = cells_of(failed.summary)["feed"]
    assert feed.held < feed.required == 3
    assert feed.state == "bad"
    assert feed.planned == 5 * 3 + 2


def test_a_profile_of_declared_operations_says_how_many(passed):
    covered = named(passed, coverage=Coverage({"Add": {"int8": "right", "string": "not declared"}}))
    index = site([covered])["index.html"].decode()
    assert "It declares 1 of 1 operations, 1 of 2 cells of operation and dtype" in index


def test_html_in_findings_is_shown_not_used(findings):
    page = str(findings.page("My Engine"))
    assert "<script>" not in page
    assert '<h2 id="section-2">One</h2>' in page
    assert Findings(None).page("My Engine") is None
    assert findings.sections("Other") == {}
    assert findings.sections("My Engine")["FEED-001"] == "section-2"


def test_a_package_that_is_none_takes_nothing_from_the_others(good, tmp_path, capsys):
    broken = tmp_path / "broken.zip"
    broken.write_bytes(pack({**good.open().files, "badge.svg": b"<svg/>"}))
    output = tmp_path / "site"
    command = ["scoreboard", str(good.path), str(broken), "--output", str(output)]
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"sessrun scoreboard: {broken}: badge.svg was changed")
    assert err.count(str(broken)) == 1
    assert out == f"1 package: {output / 'index.html'}\n"
    index = (output / "index.html").read_text()
    assert "Not shown" in index
    assert "badge.svg was changed" in index
    assert (output / "tensorflow-2-21-0-core.html").exists()
    assert main(["scoreboard", str(good.path), "--output", str(output)]) == 0
    assert main(["scoreboard", str(broken), "--output", str(output)]) == 2
    assert main([*command, "--findings", str(tmp_path / "gone")]) == 2
