"""The rules of verdicts, one by one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from synthetic_run import clauses, make_run, mixed, on_a_simulated_gpu, passing

from sessrun.reports.causes import cause_of, named_lacks
from sessrun.reports.failures import replay_command, replay_name
from sessrun.reports.plan import PlanFacts, PlannedCase
from sessrun.reports.summary import Waiver
from sessrun.reports.verdicts import answers_of, summarize
from sessrun.spec.records import RESULTS
from sessrun.spec.releases import Release
from sessrun.spec.schema import check


def judged(tmp_path, choose=passing, waivers=(), change=None, profile="core"):
    run = make_run(tmp_path / "record.jsonl", choose, change=change, generated=3)
    return summarize(run.record, run.plan, run.clauses, profile, waivers)


def only(result, *ids):
    return lambda case: result if case.id in ids else passing(case)


def clause(summary, id_):
    return next(clause for clause in summary.clauses if clause.id == id_)


VECTOR = "fetch/fetch-001-plain"


def test_all_required_clauses_that_apply_here_hold_gives_certified(tmp_path):
    summary = judged(tmp_path)
    assert summary.verdict == "CERTIFIED"
    assert clause(summary, "PLACEMENT-003").result == "not applicable here"
    assert any("PLACEMENT-003" in reason for reason in summary.reasons)


def test_a_summary_follows_its_schema(tmp_path):
    check(judged(tmp_path, mixed()).to_json(), "summary", "summary")


def test_one_failed_case_breaks_its_clause_and_the_certificate(tmp_path):
    summary = judged(tmp_path, only("fail", VECTOR))
    assert clause(summary, "FETCH-001").result == "broken"
    assert summary.verdict == "NOT CERTIFIED"
    assert summary.reasons[0] == "1 required clause (FETCH-001) is broken."


@pytest.mark.parametrize("result", ["missing", "flaky", "timeout", "crash", "unsupported"])
def test_such_a_case_of_a_required_clause_keeps_it_from_counting(tmp_path, result):
    summary = judged(tmp_path, only(result, VECTOR))
    assert summary.verdict == "NOT CERTIFIED"
    assert clause(summary, "FETCH-001").blocked
    assert any(f"has {result} cases" in reason for reason in summary.reasons)


@pytest.mark.parametrize("result", ["missing", "unsupported"])
def test_a_case_that_did_not_run_does_not_break_a_clause(tmp_path, result):
    assert clause(judged(tmp_path, only(result, VECTOR)), "FETCH-001").result == "holds"


def test_an_unanswered_case_is_missing_and_stays_in_the_denominator(tmp_path):
    whole = judged(tmp_path)
    cut = judged(tmp_path, only(None, VECTOR))
    assert cut.planned == whole.planned == sum(cut.counts.values())
    assert cut.counts["missing"] == 1
    assert cut.verdict == "NOT CERTIFIED"


def test_an_infra_error_anywhere_voids_the_run(tmp_path):
    assert judged(tmp_path, only("infra_error", "run/run-004-plain")).verdict == "VOID"


def test_optional_clauses_are_listed_and_never_counted(tmp_path):
    summary = judged(tmp_path, only("fail", "fetch/fetch-004-plain", "fetch/fetch-005-plain"))
    assert summary.verdict == "CERTIFIED"
    assert clause(summary, "FETCH-004").result == "broken"
    assert not clause(summary, "FETCH-004").required


def test_clauses_of_other_profiles_are_listed_and_never_counted(tmp_path):
    summary = judged(tmp_path, only("fail", "state/state-001-plain"))
    assert summary.verdict == "CERTIFIED"
    assert clause(summary, "STATE-001").result == "broken"


def test_a_required_clause_without_a_case_is_not_tested(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    table = clauses(per_subject=6)
    summary = summarize(run.record, run.plan, table, "core")
    assert clause(summary, "FEED-006").result == "not tested"
    assert summary.verdict == "NOT CERTIFIED"


def test_a_subject_that_no_case_tests_is_listed(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    table = clauses() | {
        "QUEUES-001": dataclasses.replace(run.clauses["FEED-001"], id="QUEUES-001")
    }
    summary = summarize(run.record, run.plan, table, "core")
    found = next(subject for subject in summary.subjects if subject.subject == "queues")
    assert (found.planned, found.counts) == (0, {})


def test_a_skip_without_a_fact_of_the_machine_certifies_nothing(tmp_path):
    def change(line):
        if line.get("result") == "skipped":
            line["detail"] = "the backend declares no GPU"

    summary = judged(tmp_path, change=change)
    assert summary.verdict == "NOT CERTIFIED"
    assert clause(summary, "PLACEMENT-003").result == "not tested"


def test_a_skip_for_want_of_a_gpu_needs_a_machine_without_one(tmp_path):
    def change(line):
        if line["kind"] == "header":
            line["environment"]["gpus"] = ["NVIDIA A100, 550.1, 40960 MiB"]

    assert judged(tmp_path, change=change).verdict == "NOT CERTIFIED"


def test_a_profile_of_which_nothing_applies_here_is_not_applicable(tmp_path):
    summary = judged(tmp_path, lambda _: "skipped")
    assert summary.verdict == "NOT APPLICABLE"


def test_a_profile_without_required_clauses_is_not_applicable(tmp_path):
    assert judged(tmp_path, profile="tracing").verdict == "NOT APPLICABLE"


def test_a_run_in_process_cannot_certify(tmp_path):
    def change(line):
        if line["kind"] == "header":
            line["mode"] = "in-process"

    assert judged(tmp_path, change=change).verdict == "NOT CERTIFIED"


def test_on_a_simulated_gpu_what_would_be_certified_is_simulated(tmp_path):
    summary = judged(tmp_path, lambda _: "pass", change=on_a_simulated_gpu)
    assert summary.verdict == "SIMULATED"
    assert "no certificate" in summary.reasons[0]
    assert clause(summary, "PLACEMENT-003").result == "holds", "what needs a GPU is asked"


def test_cases_that_need_a_gpu_are_not_left_out_where_one_is_simulated(tmp_path):
    summary = judged(tmp_path, change=on_a_simulated_gpu)
    assert summary.verdict == "NOT CERTIFIED"
    assert any("without a fact" in reason for reason in summary.reasons)


def test_a_waiver_on_a_simulated_gpu_is_told_and_certifies_nothing(tmp_path):
    waiver = Waiver("FETCH-001", "a known bug")

    def choose(case):
        return "fail" if case.id == VECTOR else "pass"

    summary = judged(tmp_path, choose, [waiver], on_a_simulated_gpu)
    assert summary.verdict == "SIMULATED"
    assert any("waived" in reason for reason in summary.reasons)


def test_what_fails_on_a_simulated_gpu_is_not_certified(tmp_path):
    summary = judged(tmp_path, only("fail", VECTOR), change=on_a_simulated_gpu)
    assert summary.verdict == "NOT CERTIFIED"
    assert any("SIMULATED" in reason for reason in summary.reasons)


def test_a_cut_record_cannot_certify(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    run.record.complete = False
    assert summarize(run.record, run.plan, run.clauses, "core").verdict == "NOT CERTIFIED"


def test_an_answer_to_another_content_counts_as_missing(tmp_path):
    def change(line):
        if line.get("id") == VECTOR:
            line["hash"] = "0" * 64

    summary = judged(tmp_path, change=change)
    assert summary.counts["missing"] == 1
    assert summary.verdict == "NOT CERTIFIED"
    assert any("other content" in reason for reason in summary.reasons)


def test_the_record_s_word_on_clauses_is_not_taken(tmp_path):
    def change(line):
        if line.get("id") == VECTOR:
            line["clauses"] = ["FETCH-005"]

    summary = judged(tmp_path, only("fail", VECTOR), change=change)
    assert clause(summary, "FETCH-001").result == "broken"


def test_a_record_of_another_plan_certifies_nothing(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    plan = PlanFacts("core", 8, 20, run.plan.cases)
    assert summarize(run.record, plan, run.clauses, "core").verdict == "NOT CERTIFIED"


def test_cases_outside_the_plan_certify_nothing(tmp_path):
    run = make_run(tmp_path / "record.jsonl")
    short = PlanFacts("core", 7, 20, run.plan.cases[:-1])
    run.record.header["plan"] = short.header
    summary = summarize(run.record, short, run.clauses, "core")
    assert summary.verdict == "NOT CERTIFIED"
    assert "outside the plan" in summary.reasons[0]


def test_a_waiver_gives_certified_with_waivers(tmp_path):
    waiver = Waiver("FETCH-001", "the next release mends it")
    summary = judged(tmp_path, only("fail", VECTOR), [waiver])
    assert summary.verdict == "CERTIFIED WITH WAIVERS"
    assert clause(summary, "FETCH-001").waived
    assert summary.required["waived"] == 1


def test_a_waiver_of_what_holds_changes_nothing_and_says_so(tmp_path):
    summary = judged(tmp_path, waivers=[Waiver("FETCH-001", "needless")])
    assert summary.verdict == "CERTIFIED"
    assert summary.reasons[-1] == "The waiver of FETCH-001 changes nothing."


def test_a_waiver_never_excuses_a_case_that_nobody_answered(tmp_path):
    summary = judged(tmp_path, only("missing", VECTOR), [Waiver("FETCH-001", "slow")])
    assert summary.verdict == "NOT CERTIFIED"


def test_a_waiver_that_expired_before_the_run_excuses_nothing(tmp_path):
    for expires, verdict in (
        ("2026-11-20", "NOT CERTIFIED"),
        ("2026-11-21", "CERTIFIED WITH WAIVERS"),
    ):
        waiver = Waiver("FETCH-001", "why", expires=expires)
        assert judged(tmp_path, only("fail", VECTOR), [waiver]).verdict == verdict


def test_waiving_everything_certifies_nothing(tmp_path):
    waivers = [Waiver(id_, "all of it") for id_ in clauses()]
    summary = judged(tmp_path, lambda _: "fail", waivers)
    assert summary.verdict == "NOT CERTIFIED"


def test_every_result_is_counted_even_if_nothing_had_it(tmp_path):
    assert tuple(judged(tmp_path).counts) == RESULTS


def test_failures_alike_but_for_their_values_are_one_group(tmp_path):
    def change(line):
        if line.get("result") == "fail":
            index = line["id"].rpartition(":")[2]
            line["finding"]["reason"] = f"values[0]: want [{index}, 1.5e-3], got 'x{index}'"

    ids = [f"feed_round_trip:7:{index}" for index in range(3)]
    groups = judged(tmp_path, only("fail", *ids), change=change).failures
    assert [len(group.cases) for group in groups] == [3]
    assert groups[0].clauses == ("FEED-001", "FEED-002")


def test_the_cause_whose_mending_gains_most_comes_first(tmp_path):
    groups = judged(tmp_path, mixed()).failures
    gains = [(len(group.cases), len(group.unblocks)) for group in groups]
    assert gains == sorted(gains, reverse=True)
    void = judged(tmp_path, only("infra_error", VECTOR)).failures
    assert void[0].result == "infra_error"


def test_a_cause_unblocks_the_clauses_that_nothing_else_keeps_from_counting(tmp_path):
    results = {
        "fetch/fetch-001-plain": "fail",
        "fetch/fetch-002-plain": "fail",
        "fetch/fetch-002-nested": "crash",
        "fetch/fetch-004-plain": "fail",
    }

    def change(line):
        if line.get("result") == "fail":
            line["finding"]["reason"] = "values[0]: want 1, got 2"

    groups = judged(tmp_path, lambda case: results.get(case.id) or passing(case), change=change)
    failed, crashed = groups.failures
    assert failed.clauses == ("FETCH-001", "FETCH-002", "FETCH-004")
    assert failed.unblocks == ("FETCH-001",), "002 crashes too, and 004 is not required"
    assert crashed.unblocks == ()


ALIKE = [
    (
        "fail",
        (
            "v[0]: want np.int8(1), got np.int8(7) at index [2] (1 of 3 elements differ, contract"
            " exact)"
        ),
        "v[3]: want np.int8(-4), got np.int8(0) (2 of 2 elements differ, contract exact)",
    ),
    (
        "fail",
        "it raised InvalidArgumentError: no node part/x7y; the oracle succeeded",
        "it failed with InvalidArgumentError: no node other/z",
    ),
    ("fail", "Node a12 of 'x', name: foo", "Node b of 'y', name: bar"),
    (
        "crash",
        "the worker ended with signal 11 (SIGSEGV) in request 18",
        "the worker ended with signal 11 (SIGSEGV) in request 20",
    ),
    ("unsupported", "unsupported: state v0", "unsupported: state counter/x"),
    ("unsupported", "unsupported: op Betainc here", "unsupported: op Betainc"),
    ("unsupported", "unsupported: concurrent (not declared)", "unsupported: concurrent"),
]
UNLIKE = [
    ("unsupported", "unsupported: dtype int8", "unsupported: dtype int16"),
    ("unsupported", "unsupported: op Conv2D", "unsupported: op Conv3D"),
    ("unsupported", "unsupported: config device_count", "unsupported: config device_filters"),
    ("fail", "it succeeded, but must fail with code 3", "it succeeded, but must fail with code 5"),
    ("fail", "it failed with code 3, not 12", "it failed with code 3, not 5"),
    ("fail", "want np.float32(nan), got np.float32(1)", "want np.float32(2.5), got np.float32(1)"),
    ("fail", "want np.float16(1), got np.float16(2)", "want np.float32(1), got np.float32(2)"),
    ("fail", "it raised NotFoundError: x", "it raised InternalError: x"),
]


def cause(result, reason, id_="fetch/a"):
    return cause_of(PlannedCase(id_, "0" * 64, ("FETCH-001",)), result, reason)


@pytest.mark.parametrize(("result", "one", "other"), ALIKE)
def test_cases_of_one_cause_are_alike(result, one, other):
    assert cause(result, one) == cause(result, other)
    assert cause(result, one) == cause(result, other, "variant/fetch/b:1:2")


@pytest.mark.parametrize(("result", "one", "other"), UNLIKE)
def test_cases_of_two_causes_are_not(result, one, other):
    assert cause(result, one) != cause(result, other)


def test_a_wrong_answer_is_of_its_family_and_a_message_of_the_backend_of_none():
    wrong, message = "values[0]: want 1, got 2", "it raised InternalError: out of sockets"
    assert cause("fail", wrong) != cause("fail", wrong, "feed/a")
    assert cause("fail", message) == cause("fail", message, "feed/a")
    assert cause("crash", "SIGFPE") == cause("crash", "SIGFPE", "feed/a")


def test_what_is_lacking_is_named():
    assert named_lacks(cause("unsupported", "unsupported: op Betainc")) == ("op", "Betainc")
    assert named_lacks(cause("unsupported", "unsupported: state v0")) is None
    assert named_lacks(cause("fail", "dtype int8")) is None


def test_a_vector_is_an_id_without_a_colon(tmp_path):
    found = clause(judged(tmp_path), "FEED-001")
    assert all(":" not in vector for vector in found.vectors)
    assert (found.tests, len(found.vectors), found.generated) == (6, 3, 3)


def of_release(tmp_path, needing, choose):
    """The summary of a run on TensorFlow 2.17 in which these cases need TensorFlow 2.18."""

    def old(line):
        if line["kind"] == "header":
            line["backend"]["details"] = {"producer": "1882", "numpy": "1.26.4"}

    run = make_run(tmp_path / "record.jsonl", choose, change=old, generated=3)
    cases = tuple(
        dataclasses.replace(case, release=Release(1994)) if needing(case.id) else case
        for case in run.plan.cases
    )
    plan = dataclasses.replace(run.plan, cases=cases)
    # The record is of another plan: what is looked at is how the answers count.
    return summarize(run.record, plan, run.clauses, "core")


def test_a_case_of_a_later_release_is_listed_and_nothing_rests_on_it(tmp_path):
    summary = of_release(tmp_path, lambda id_: id_ == VECTOR, only("unsupported", VECTOR))
    held = clause(summary, "FETCH-001")
    assert (held.result, held.blocked) == ("holds", False)
    assert VECTOR not in held.vectors
    assert not summary.failures
    assert summary.reasons[-1] == (
        "It is of TensorFlow 2.17 with numpy 1: 1 case of later releases is not asked "
        "(1 of TensorFlow 2.18)."
    )


def test_a_clause_of_later_releases_alone_is_not_declared(tmp_path):
    def later(id_):
        return "fetch-003" in id_

    choose = lambda case: "unsupported" if later(case.id) else passing(case)  # noqa: E731 - short
    summary = of_release(tmp_path, later, choose)
    assert clause(summary, "FETCH-003").result == "not declared"
    assert summary.reasons[-1].startswith("Not asked: 1 clause (FETCH-003) of what the backend")


def test_a_case_that_the_release_has_is_no_exception(tmp_path):
    summary = of_release(tmp_path, lambda _: False, only("unsupported", VECTOR))
    assert clause(summary, "FETCH-001").blocked


def test_answers_follow_the_plan_s_order(tmp_path):
    run = make_run(tmp_path / "record.jsonl", mixed())
    ids = [answer.case.id for answer in answers_of(run.record, run.plan)]
    assert ids == [case.id for case in run.plan.cases]


def test_replay_names_are_safe_and_do_not_collide():
    names = {replay_name(id_) for id_ in ("a/b", "a:b", "a_b", "../../etc/passwd", ":", "é" * 300)}
    assert len(names) == 6
    assert all(Path(name).name == name and len(name) < 100 for name in names)
    assert all(name.isascii() and not name.startswith(".") for name in names)


def test_the_replay_command_quotes_the_backend():
    command = replay_command("a/b", "fail", "exec:node my backend.js; rm -rf /")
    assert command.endswith("--backend 'exec:node my backend.js; rm -rf /'")


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ("fail", f"replays/{replay_name('a/b')}"),
        ("crash", f"replays/{replay_name('a/b')}"),
        ("unsupported", "a/b"),
        ("missing", "a/b"),
    ],
)
def test_what_was_not_answered_is_replayed_by_its_id(result: str, what: str) -> None:
    command = replay_command("a/b", result, "reference")
    assert command == f"sessrun replay {what} --backend reference"
