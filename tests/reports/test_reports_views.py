"""The views of a run: complete, well-formed, and safe against names that a backend controls."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from rich.console import Console
from synthetic_run import make_run, mixed, passing

from sessrun.reports.answers import answer_rows
from sessrun.reports.badge import badge_svg
from sessrun.reports.html import report_html
from sessrun.reports.junit import junit_xml
from sessrun.reports.printable import printable, value_text
from sessrun.reports.results import results_json
from sessrun.reports.summary import VERDICTS, Waiver
from sessrun.reports.terminal import print_summary
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.cases.values import describe
from sessrun.spec.records import TRIED_AGAIN

EVIL = "<script>alert(1)</script>\"'&\x1b[31m\x00\u202eevil]]>[bold]\ud800"


def views(tmp_path, choose, change=None):
    run = make_run(tmp_path / "record.jsonl", choose, change=change)
    waivers = [Waiver("FEED-001", EVIL, bug=EVIL)]
    summary = summarize(run.record, run.plan, run.clauses, "core", waivers)
    return summary, answers_of(run.record, run.plan)


def hostile(line):
    """Put markup and control characters wherever a backend can write."""
    if line["kind"] == "header":
        line["backend"] |= {
            "name": EVIL,
            "version": EVIL,
            "spec": EVIL,
            "details": {EVIL: EVIL},
            "capabilities": [EVIL],
            "devices": [EVIL],
        }
        line["environment"] |= {EVIL: EVIL, "packages": {EVIL: [EVIL]}}
    elif line["kind"] == "event":
        line["detail"] = EVIL
    else:
        line |= {key: EVIL for key in ("detail",) if line.get("result") not in {None, "skipped"}}
        if line.get("finding"):
            line["finding"] |= {"reason": EVIL, "want": EVIL, "got": {EVIL: [EVIL]}}


def terminal_text(summary, width=100, **options):
    console = Console(width=width, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123 - discarded
    print_summary(summary, console, **options)
    console.file.close()
    return console.export_text()


def test_the_terminal_says_verdict_totals_and_a_command_for_each_group(tmp_path):
    summary, _ = views(tmp_path, mixed())
    text = terminal_text(summary, groups=3)
    assert "NOT CERTIFIED" in text
    assert f"of {summary.planned} planned cases passed" in text
    wrong = [group for group in summary.failures if group.answered]
    lacks = [group for group in summary.failures if not group.answered]
    assert text.count("$ sessrun replay replays/") == 3
    assert f"What went wrong, {len(wrong)} causes" in text
    assert f"and {len(wrong) - 3} more cause" in text
    assert f"Not offered, or not answered, {len(lacks)} cause" in text


def test_want_and_got_stand_side_by_side_where_they_differ():
    same, other = (
        {"$array": {"dtype": "uint8", "shape": [1], "data": data}} for data in ("AA==", "AQ==")
    )
    want = {"values": [same, same], "contract": "exact"}
    assert list(answer_rows(want, {"values": [same, other], "contract": "exact"})) == [
        ("values[1]", "uint8[1] (0)", "uint8[1] (1)")
    ]
    failed = {"code": 13, "message": "no"}
    assert list(answer_rows({"error": {"codes": [3, 10]}}, failed)) == [
        ("code", "3 or 10", "13"),
        ("message", "", "no"),
    ]
    assert list(answer_rows(None, None)) == []
    many = {str(key): key for key in range(20)}
    assert list(answer_rows(many, {}))[-1] == ("14 more parts", "", "")


ORACLE = {"oracle": {"contract": "close(1e-5, 1e-6)"}}
VALUE = {"$array": {"dtype": "uint8", "shape": [1], "data": "AQ=="}}
FAILED = {"code": 3, "classes": ["InvalidArgumentError"], "message": "no"}


@pytest.mark.parametrize(
    ("reason", "got", "rows"),
    [
        (
            "values[1]: want dtype int32, got uint8",
            {"values": [VALUE, VALUE]},
            [("values[1]", "dtype int32", "uint8[1] (1)")],
        ),
        (
            "values[0]: want -0.0, got 1.0 at index [2] (1 of 3 elements differ, contract exact)",
            {"values": [VALUE]},
            [
                (
                    "values[0]",
                    "-0.0 at index [2] (1 of 3 elements differ, contract exact)",
                    "uint8[1] (1)",
                )
            ],
        ),
        (
            "values[0]: want 1, got 2 (1 of 1 elements differ, contract exact)",
            {"values": [VALUE]},
            [("values[0]", "1 (1 of 1 elements differ, contract exact)", "uint8[1] (1)")],
        ),
        (
            "it raised A: no; the oracle succeeded",
            {"code": 3, "message": "no"},
            [("answer", "values", ""), ("code", "", "3"), ("message", "", "no")],
        ),
        (
            "it succeeded, the oracle raised B: why",
            {"values": [VALUE]},
            [("answer", "a failure: B: why", ""), ("values[0]", "", "uint8[1] (1)")],
        ),
        (
            "it raised InvalidArgumentError (code 3), the oracle AbortedError (code 10)",
            FAILED,
            [("classes", "AbortedError", '["InvalidArgumentError"]'), ("code", "10", "3")],
        ),
        (
            "of another kind",
            {"values": [VALUE]},
            [("oracle", '{contract: "close(1e-5, 1e-6)"}', ""), ("values[0]", "", "uint8[1] (1)")],
        ),
    ],
)
def test_what_an_oracle_gave_is_taken_from_the_reason(reason, got, rows):
    assert list(answer_rows(ORACLE, got, reason)) == rows


def test_events_are_told_by_kind(tmp_path):
    summary, _ = views(tmp_path, mixed())
    events = [{"event": "restart", "detail": TRIED_AGAIN}] * 2 + [{"event": "resumed"}]
    text = terminal_text(dataclasses.replace(summary, events=tuple(events)))
    assert f"events of the run: 2 restart ({TRIED_AGAIN}), 1 resumed" in text


def test_clauses_that_are_not_declared_have_their_column(tmp_path):
    summary, _ = views(tmp_path, mixed())
    assert "not declared" not in terminal_text(summary)
    clauses = [dataclasses.replace(c, result="not declared") for c in summary.clauses]
    text = terminal_text(dataclasses.replace(summary, clauses=tuple(clauses)), width=80)
    assert "not tested n/a not declared cases passed" in text
    row = next(line.split() for line in text.splitlines() if line.startswith("feed "))
    assert row[1] == row[7] != "0"


def test_no_name_or_reason_brings_a_line_of_its_own(tmp_path):
    fake = "\n✓ CERTIFIED\n"

    def change(line):
        if line["kind"] == "header":
            line["backend"] |= {"name": f"x{fake}", "version": fake, "spec": f"x{fake}"}
        elif line.get("finding"):
            line["finding"]["reason"] = fake

    summary, _ = views(tmp_path, mixed(), change)
    lines = [line.strip() for line in terminal_text(summary).splitlines()]
    assert "✗ NOT CERTIFIED" in lines
    assert "✓ CERTIFIED" not in lines


def test_cases_that_were_chosen_get_no_verdict(tmp_path):
    summary, _ = views(tmp_path, mixed())
    text = terminal_text(summary, chosen=True)
    assert not any(verdict in text for verdict in VERDICTS)
    assert "No verdict" in text
    assert f"of {summary.planned} planned cases passed" in text


def test_a_command_stays_on_one_line_however_narrow_the_terminal(tmp_path):
    summary, _ = views(tmp_path, mixed())
    command = next(line for line in terminal_text(summary).splitlines() if "$ sessrun" in line)
    assert command.endswith("--backend tensorflow")


def test_the_terminal_shows_no_control_character_and_parses_no_markup(tmp_path):
    summary, _ = views(tmp_path, mixed(), hostile)
    text = terminal_text(summary)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]" in text


def test_junit_counts_what_it_holds(tmp_path):
    summary, answers = views(tmp_path, mixed())
    root = ET.fromstring(junit_xml(summary, answers))  # noqa: S314 - our own output
    assert int(root.get("tests")) == len(root.findall(".//testcase")) == summary.planned
    for attribute, element in (("failures", "failure"), ("errors", "error")):
        assert int(root.get(attribute)) == len(root.findall(f".//testcase/{element}"))
    for suite in root.findall("testsuite"):
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert summary.counts["fail"] + summary.counts["flaky"] == int(root.get("failures"))


def test_unsupported_is_told_from_skipped_in_junit(tmp_path):
    _, answers = pair = views(tmp_path, mixed())
    root = ET.fromstring(junit_xml(*pair))  # noqa: S314 - our own output
    messages = [element.get("message") for element in root.iter("skipped")]
    unsupported = sum(answer.result == "unsupported" for answer in answers)
    assert sum(message.startswith("unsupported: ") for message in messages) == unsupported


def test_junit_is_well_formed_whatever_a_backend_says(tmp_path):
    xml = junit_xml(*views(tmp_path, mixed(), hostile))
    ET.fromstring(xml)  # noqa: S314 - our own output
    assert not re.search(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", xml)


def test_the_page_escapes_whatever_a_backend_says(tmp_path):
    page = report_html(views(tmp_path, mixed(), hostile)[0])
    assert "<script>alert" not in page
    assert "alert(1)" in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert page.count("<script>") == 1
    page.encode("utf-8")


def test_backticks_of_a_statement_become_code_and_nothing_else(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    statement = "The `Session.run(<b>)` of & `OpError` <i>is</i> stated in one sentence."
    table = {
        **run.clauses,
        "FEED-001": dataclasses.replace(run.clauses["FEED-001"], statement=statement),
    }
    page = report_html(summarize(run.record, run.plan, table, "core"))
    assert "The <code>Session.run(&lt;b&gt;)</code> of &amp; <code>OpError</code> &lt;i&gt;" in page


def test_the_page_loads_nothing(tmp_path):
    page = report_html(views(tmp_path, mixed())[0])
    assert "default-src &#39;none&#39;" in page
    elsewhere = r"""(?:src|action)\s*=|href="(?!#)|url\((?!#)|@import|<link|<iframe"""
    assert not re.search(elsewhere, page)


def test_the_policy_admits_the_page_s_own_style_and_script_by_hash(tmp_path):
    page = report_html(views(tmp_path, passing)[0])
    for element in ("style", "script"):
        text = re.search(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert digest.replace("+", "&#43;") in page or digest in page


def test_the_page_has_a_face_and_every_section(tmp_path):
    summary, _ = views(tmp_path, mixed())
    page = report_html(summary)
    for text in (
        "TensorFlow 2.21.0",
        "UNSIGNED",
        "does not mean",
        "What went wrong",
        "Events",
        "Environment",
        "Capabilities declared",
        "Waivers",
        "Not applicable here",
        "Optional",
        "sessrun replay replays/",
    ):
        assert text in page
    for clause in summary.clauses:
        assert f'id="{clause.id}"' in page


def test_the_same_run_gives_the_same_page(tmp_path):
    summary, _ = views(tmp_path, mixed())
    assert report_html(summary) == report_html(summary)


def test_bars_cover_exactly_the_planned_cases(tmp_path):
    page = report_html(views(tmp_path, mixed())[0])
    bars = re.findall(r'preserveAspectRatio="none".*?</svg>', page, re.DOTALL)
    assert bars
    for bar in bars:
        widths = re.findall(r'<rect class="fill-\w+" x="[\d.]+" width="([\d.]+)"', bar)
        assert sum(map(float, widths)) == pytest.approx(1000, abs=0.1)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_badge_is_well_formed_and_says_the_verdict_in_words(tmp_path, verdict):
    summary = dataclasses.replace(views(tmp_path, passing, hostile)[0], verdict=verdict)
    badge = badge_svg(summary)
    ET.fromstring(badge)  # noqa: S314 - our own output
    assert f">{verdict.lower()}<" in badge


def test_the_json_view_holds_every_planned_case(tmp_path):
    summary, answers = views(tmp_path, mixed(), hostile)
    form = json.loads(json.dumps(results_json(summary, answers)))
    assert len(form["results"]) == form["summary"]["totals"]["planned"]
    assert all("reason" in result for result in form["results"] if result["result"] != "pass")


def test_tensors_are_shown_decoded_and_long_ones_cut():
    assert value_text(describe(np.arange(3, dtype=np.int32))) == "int32[3] (0, 1, 2)"
    assert value_text(describe(np.zeros(99, np.float32))).endswith("… 83 more)")
    assert value_text({"$array": {"dtype": "int32"}}) == "(no tensor)"


def test_a_value_nested_deeper_than_python_s_stack_is_shown():
    value = 1
    for _ in range(100_000):
        value = [value]
    assert len(value_text(value)) < 700


def test_printable_leaves_nothing_invisible():
    assert printable("a\tb\nc\x7f\u200f\ud800é") == "a\\tb\nc\\x7f\\u200f\\ud800é"
