"""The judge: observations of a case against what its steps expect, or against an oracle's.

Expectations (`expect` of a step):

  absent                         the step must succeed
  {"value": M} {"values": [M…]}  it must succeed with a value (api) or values (engine) that match
  {"error": {"classes": [...]}}  it must raise one of these classes (or a subclass)
  {"error": {"codes": [...]}}    it must fail with one of these codes
  {"facts": {...}}               it must succeed and report at least these facts
  {"any_of": [EXPECT...]}        one of several outcomes the clauses allow
  {"oracle": {"contract": C}}    as the oracle: equal values under the contract (or a list of them,
                                 one for each of a list of fetches), or a failure of
                                 the same code (engine) or class (api); `clauses` may name
                                 the clause of each of a list;
                                 with `by: definition` the oracle's answer is what executable
                                 definitions say (`sessrun.spec.definitions`)

Matchers `M` are the forms of `values`, compared exactly (NaN equals NaN, -0.0 is 0.0), in which
any subtree may be {"near": form, "contract": C}, {"like": {"dtype": d, "shape": s}},
{"anything": true}, {"object": "ClassName"}, {"as_array": form} (0-d array and numpy scalar are
alike), {"one_of": [M…]}, {"keep": name}, {"same_as": name}, {"differs_from": name} or
{"clause": id, "is": M}.

A step may name the clause that its failure shows false (`clause`), and so may a matcher of what it
expects: the innermost one around what differs counts. A finding has that clause; one without
speaks of all clauses of the case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from sessrun.spec import tensors
from sessrun.spec.cases.forms import ErrorForm, Expect, Matcher, OracleForm, Step, members
from sessrun.spec.cases.model import Case, Observation, walk
from sessrun.spec.forms import Json, JsonObject
from sessrun.spec.rules.numeric import difference

__all__ = ["Finding", "Judgement", "clause_of", "judge", "oracle_steps"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a case fails: the step, what was wanted, what was seen, in words for people.

    `clause` is the one that the step names; empty if it names none.
    """

    step: str
    reason: str
    want: Json = None
    got: Json = None
    clause: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """`pass`, `fail` or `unsupported`, and the finding that decided it."""

    result: str
    finding: Finding | None = None


#: How much of a value is told in a reason.
_BRIEF: Final = 160


class _Mismatch(Exception):  # noqa: N818 - not an error: the judge's way out of a deep comparison
    """A value does not match; the argument says where and how.

    Attributes:
      clause: the clause that the innermost matcher around it names; empty if none does.

    """

    def __init__(self, reason: str, clause: str = "") -> None:
        super().__init__(reason)
        self.clause = clause


def oracle_steps(case: Case) -> list[str]:
    """The paths of the steps that expect what an oracle does."""
    return [path for path, step in walk(case.steps) if _expects_oracle(step)]


def _expects_oracle(step: Step) -> bool:
    expect = step.get("expect", {})
    return any("oracle" in option for option in (expect, *expect.get("any_of", ())))


def judge(
    case: Case, seen: Sequence[Observation], oracle: Sequence[Observation] | None = None
) -> Judgement:
    """Judge one interpretation of a case.

    Args:
      case: the case.
      seen: the observations of the backend.
      oracle: the observations of the oracle, for cases whose steps expect `oracle`.

    """
    by_step = {entry["step"]: entry for entry in seen}
    oracle_by_step = {entry["step"]: entry for entry in oracle or ()}
    kept: dict[str, Json] = {}
    unknown = set(by_step) - {path for path, _ in walk(case.steps)}
    if unknown:
        return Judgement("fail", Finding(min(unknown), "an answer to a step that is not there"))
    for path, step in walk(case.steps):
        entry = by_step.get(path)
        if entry is None:
            if _observed(step):
                unanswered = Finding(path, "the step was not answered")
                return Judgement("fail", _blaming(unanswered, step))
            continue
        if entry["outcome"] == "unsupported":
            reason = f"unsupported: {entry.get('capability')} {entry.get('message', '')}".strip()
            return Judgement("unsupported", Finding(path, reason))
        finding = _judge_step(path, step, entry, kept, oracle_by_step.get(path))
        if finding is not None:
            return Judgement("fail", _blaming(finding, step))
    return Judgement("pass")


def _blaming(finding: Finding, step: Step) -> Finding:
    """The finding with the step's clause, unless it has a matcher's."""
    return finding if finding.clause else replace(finding, clause=clause_of(step))


def clause_of(step: Step) -> str:
    """The clause that a step shows false where it is not answered; empty if it names none."""
    return str(step.get("clause", ""))


def _observed(step: Step) -> bool:
    """Whether a step that succeeds leaves an observation."""
    match step["do"]:
        case "start" | "thread" | "raise":
            return False
        case "with":
            expect = step.get("expect", {})
            return all("error" in option for option in expect.get("any_of", [expect]))
        case "eval":
            return "as" not in step or "expect" in step
    return True


def _judge_step(
    path: str,
    step: Step,
    entry: Observation,
    kept: dict[str, Json],
    oracle: Observation | None,
) -> Finding | None:
    expect = step.get("expect", {})
    options = expect.get("any_of") or [expect]
    reasons = []
    clause = ""
    for option in options:
        trial = dict(kept)
        try:
            _match_option(option, entry, trial, oracle)
        except _Mismatch as mismatch:
            reasons.append(str(mismatch))
            clause = clause or mismatch.clause
        else:
            kept.update(trial)
            return None
    return Finding(path, "; or ".join(reasons), members(expect), _shown(entry), clause)


def _shown(entry: Observation) -> JsonObject:
    """What a finding shows of an observation: not its step and its outcome."""
    items = members(entry).items()
    return {key: value for key, value in items if key not in {"step", "outcome"}}


def _match_option(
    expect: Expect, entry: Observation, kept: dict[str, Json], oracle: Observation | None
) -> None:
    """Raise _Mismatch if the observation breaks the expectation."""
    if "oracle" in expect:
        _match_oracle(expect["oracle"], entry, oracle)
        return
    if "error" in expect:
        reason = _error_reason(expect["error"], entry)
        if reason is not None:
            raise _Mismatch(reason)
        return
    if entry["outcome"] == "failure":
        name = entry["classes"][0] if entry["classes"] else f"code {entry['code']}"
        raise _Mismatch(f"it failed with {name}: {entry['message']}")
    if "value" in expect:
        _match(expect["value"], entry.get("value"), kept, "value")
    if "values" in expect:
        _match(list(expect["values"]), entry.get("values"), kept, "values")
    for name, want in expect.get("facts", {}).items():
        _match(want, entry.get("facts", {}).get(name), kept, f"facts.{name}")


def _error_reason(error: ErrorForm, entry: Observation) -> str | None:
    if entry["outcome"] != "failure":
        classes = error.get("classes")
        wanted = _either(classes) if classes else f"code {_either(error['codes'])}"
        return f"it succeeded, but must fail with {wanted}"
    if "classes" in error and not set(error["classes"]) & set(entry["classes"]):
        return f"it raised {entry['classes'][0]}, not {_either(error['classes'])}"
    if "codes" in error and entry["code"] not in error["codes"]:
        return f"it failed with code {entry['code']}, not {_either(error['codes'])}"
    if "nodes" in error and entry["node"] is not None and entry["node"] not in error["nodes"]:
        return f"it named node {entry['node']!r}, not {_either(error['nodes'])}"
    if "calls" in error and entry["call"] not in error["calls"]:
        return f"the call that failed was {entry['call']}, not {_either(error['calls'])}"
    return None


def _either(options: Sequence[str] | Sequence[int]) -> str:
    return " or ".join(map(str, options))


def _match_oracle(expect: OracleForm, entry: Observation, oracle: Observation | None) -> None:
    """Raise _Mismatch unless the observation is the oracle's, under the contract."""
    if oracle is None or oracle["outcome"] == "unsupported":
        raise _Mismatch("the oracle did not answer this step")
    if oracle["outcome"] == "failure":
        _match_failure(entry, oracle)
        return
    if entry["outcome"] == "failure":
        reason = f"it raised {entry['classes'][0]}: {entry['message']}; the oracle succeeded"
        raise _Mismatch(reason)
    for key in ("value", "values", "facts"):
        if key in oracle:
            contract = expect.get("contract", "exact")
            want: Json = {"near": oracle[key], "contract": contract}
            parts = oracle[key]
            if isinstance(contract, list):  # one for each of the list that is fetched
                assert isinstance(parts, list)
                want = [
                    {"near": item, "contract": text}
                    for item, text in zip(parts, contract, strict=True)
                ]
            elif "clauses" in expect:
                assert isinstance(parts, list)
                pairs = zip(expect["clauses"], parts, strict=True)
                want = [
                    {"clause": clause, "is": {"near": item, "contract": contract}}
                    for clause, item in pairs
                ]
            _match(want, entry.get(key), {}, key)


def _match_failure(entry: Observation, oracle: Observation) -> None:
    """Raise _Mismatch unless it failed as the oracle did: with its code, or with its class."""
    if entry["outcome"] != "failure":
        reason = f"it succeeded, the oracle raised {oracle['classes'][0]}: {oracle['message']}"
        raise _Mismatch(reason)
    same_class = set(oracle["classes"][:1]) & set(entry["classes"])
    if oracle["code"] != entry["code"] and not same_class:
        raise _Mismatch(
            f"it raised {entry['classes'][0]} (code {entry['code']}), "
            f"the oracle {oracle['classes'][0]} (code {oracle['code']})"
        )


def _match(
    want: Json, got: Json, kept: dict[str, Json], path: str, contract: str = "exact"
) -> None:
    """Raise _Mismatch unless `got` (a described value) matches the matcher `want`."""
    if isinstance(want, dict) and want and not next(iter(want)).startswith("$"):
        handler = _MATCHERS.get(next(iter(want)))
        if handler is None:
            raise _Mismatch(f"{path}: the case has an unknown matcher {next(iter(want))!r}")
        handler(cast("Matcher", want), got, kept, path, contract)
    elif isinstance(want, dict) and want:
        _match_form(want, got, kept, path, contract)
    elif isinstance(want, list):
        if not isinstance(got, list) or len(got) != len(want):
            raise _Mismatch(f"{path}: want a list of {len(want)}, got {_brief(got)}")
        for index, item in enumerate(want):
            _match(item, got[index], kept, f"{path}[{index}]", contract)
    elif type(want) is not type(got) or want != got:
        raise _Mismatch(f"{path}: want {_brief(want)}, got {_brief(got)}")


def _match_form(
    want: JsonObject, got: Json, kept: dict[str, Json], path: str, contract: str
) -> None:
    ((key, body),) = want.items()
    if not isinstance(got, dict) or set(got) != {key}:
        raise _Mismatch(f"{path}: want {key}, got {_brief(got)}")
    if key in {"$array", "$scalar"}:
        _match_tensor(_members(body), got[key], path, contract)
    elif key in {"$tuple", "$dict", "$ordered_dict", "$mapping"}:
        _match(body, got[key], kept, f"{path}{key}", contract)
    elif key in {"$namedtuple", "$attrs"}:
        theirs, ours = _members(got[key]), _members(body)
        for part in ("type", "fields", "values"):
            _match(ours[part], theirs.get(part), kept, f"{path}.{part}", contract)
    elif key == "$raised":
        _match_raised(_members(body), got[key], path)
    elif key == "$float" and contract != "exact":
        _match_tensor(_as_double(body, path), _as_double(got[key], path), path, contract)
    elif body != got[key]:
        raise _Mismatch(f"{path}: want {_brief(want)}, got {_brief(got)}")


def _match_raised(want: JsonObject, got: Json, path: str) -> None:
    """An error may be of several classes at once: either's own class must be one of the other's."""
    theirs = _members(got)
    wanted, seen = _items(want["classes"]), _items(theirs.get("classes")) or ["no class"]
    if wanted[0] not in seen and seen[0] not in wanted:
        raise _Mismatch(f"{path}: it raised {seen[0]}, not {wanted[0]}")
    codes = {want["code"], theirs.get("code")} - {None}
    if len(codes) > 1:
        raise _Mismatch(f"{path}: it raised code {theirs.get('code')}, not {want['code']}")


def _as_double(text: Json, path: str) -> JsonObject:
    try:
        return tensors.encode(float(str(text)))
    except ValueError as error:
        raise _Mismatch(f"{path}: {_brief(text)} is no float") from error


def _match_tensor(want: JsonObject, got: Json, path: str, contract: str) -> None:
    head = _members(got)
    if want["dtype"] != head.get("dtype", want["dtype"]):
        raise _Mismatch(f"{path}: want dtype {want['dtype']}, got {_text(head['dtype'])}")
    shape = head.get("shape", want["shape"])
    if contract != "free" and list(_items(want["shape"])) != shape:
        raise _Mismatch(f"{path}: want shape {want['shape']}, got {_text(shape)}")
    try:  # not before: what has a wrong shape may be of any size
        theirs = tensors.decode(got)
    except tensors.TensorError as error:
        raise _Mismatch(f"{path}: {error}") from error
    reason = difference(contract, tensors.decode(want), theirs)
    if reason is not None:
        raise _Mismatch(f"{path}: {reason}")


def _near(want: Matcher, got: Json, kept: dict[str, Json], path: str, _: str) -> None:
    _match(want["near"], got, kept, path, want.get("contract", "exact"))


def _tensor_of(got: Json) -> JsonObject | None:
    if not isinstance(got, dict) or len(got) != 1 or next(iter(got)) not in {"$array", "$scalar"}:
        return None
    tensor = next(iter(got.values()))
    return tensor if isinstance(tensor, dict) else None


def _members(form: Json) -> JsonObject:
    """An object's members; none of what is no object, as a backend may answer."""
    return form if isinstance(form, Mapping) else {}


def _items(form: Json) -> Sequence[Json]:
    """A list's items; none of what is no list, as a backend may answer."""
    return form if isinstance(form, list | tuple) else ()


def _like(want: Matcher, got: Json, _kept: dict[str, Json], path: str, _: str) -> None:
    tensor = _tensor_of(got)
    if tensor is None:
        raise _Mismatch(f"{path}: want a tensor, got {_brief(got)}")
    parts: tuple[Literal["dtype", "shape"], ...] = ("dtype", "shape")
    for part in parts:
        if part in want["like"] and want["like"][part] != tensor.get(part):
            raise _Mismatch(f"{path}: want {part} {want['like'][part]}, got {tensor.get(part)}")


def _as_array(want: Matcher, got: Json, _kept: dict[str, Json], path: str, contract: str) -> None:
    tensor = _tensor_of(got)
    if tensor is None:
        raise _Mismatch(f"{path}: want a tensor, got {_brief(got)}")
    _match_tensor(_tensor_of(want["as_array"]) or {}, tensor, path, contract)


def _object(want: Matcher, got: Json, _kept: dict[str, Json], path: str, _: str) -> None:
    if got != {"$object": want["object"]}:
        raise _Mismatch(f"{path}: want an object of class {want['object']}, got {_brief(got)}")


def _anything(want: Matcher, got: Json, kept: dict[str, Json], path: str, contract: str) -> None:
    """Every value matches."""


def _one_of(want: Matcher, got: Json, kept: dict[str, Json], path: str, contract: str) -> None:
    reasons = []
    for option in want["one_of"]:
        try:
            return _match(option, got, kept, path, contract)
        except _Mismatch as mismatch:
            reasons.append(str(mismatch))
    raise _Mismatch("; or ".join(reasons))


def _keep(want: Matcher, got: Json, kept: dict[str, Json], _path: str, _: str) -> None:
    kept[want["keep"]] = got


def _same_as(want: Matcher, got: Json, kept: dict[str, Json], path: str, _: str) -> None:
    if kept.get(want["same_as"]) != got:
        raise _Mismatch(f"{path}: want the same value as {want['same_as']}, got {_brief(got)}")


def _differs_from(want: Matcher, got: Json, kept: dict[str, Json], path: str, _: str) -> None:
    if kept.get(want["differs_from"]) == got:
        raise _Mismatch(f"{path}: want another value than {want['differs_from']}, got the same")


def _of_clause(want: Matcher, got: Json, kept: dict[str, Json], path: str, contract: str) -> None:
    try:
        _match(want["is"], got, kept, path, contract)
    except _Mismatch as mismatch:
        mismatch.clause = mismatch.clause or want["clause"]
        raise


_MATCHERS = {
    "clause": _of_clause,
    "near": _near,
    "like": _like,
    "as_array": _as_array,
    "object": _object,
    "anything": _anything,
    "one_of": _one_of,
    "keep": _keep,
    "same_as": _same_as,
    "differs_from": _differs_from,
}


def _brief(value: Json) -> str:
    tensor = _tensor_of(value)
    if isinstance(tensor, tensors.Held):
        return f"{tensor['dtype']}{tensor['shape']}"
    if tensor is not None:
        try:
            text = f"{tensor['dtype']}{tensor['shape']} {tensors.decode(tensor).tolist()!r}"
        except (tensors.TensorError, KeyError, TypeError):
            text = repr(value)
    else:
        text = repr(value)
    return _cut(text)


def _text(value: Json) -> str:
    """Of a backend's own words, as they are: a dtype, a shape."""
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _BRIEF else text[: _BRIEF - 3] + "..."
