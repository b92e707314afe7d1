"""A case as lines of plain TensorFlow code: for people to read and paste, never executed here."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.conformance.plain_arrays import array_text
from sessrun.conformance.plain_files import (
    file_line,
    folder_lines,
    graph_text,
    path_text,
)
from sessrun.spec.cases.forms import Expect, Step
from sessrun.spec.cases.model import Case, walk
from sessrun.spec.forms import Json, JsonObject

__all__ = ["python_lines"]

#: How many characters of a finding are shown.
_REASON: Final = 400


def python_lines(case: Case, finding: JsonObject | None = None) -> list[str]:
    """The lines of plain TensorFlow code that do what the case does; comments say what must happen.

    Args:
      case: the case.
      finding: the failure of a backend: its `step` and its `reason`.

    """
    lines = ["import numpy as np", "import tensorflow.compat.v1 as tf", "tf.disable_v2_behavior()"]
    if any(step["do"] in {"thread", "start"} for _, step in walk(case.steps)):
        lines.insert(0, "import threading")
    lines += [] if case.files is None else folder_lines(case.files)
    steps = _engine_lines(case) if case.surface == "engine" else _api_lines(case.steps, "")
    if case.files is None and any("base64." in line for line in steps):
        lines.insert(0, "import base64")
    return [*_finding_lines(finding), *lines, *steps]


def _finding_lines(finding: JsonObject | None) -> list[str]:
    """The finding as a comment of one line; characters that do not print are escaped."""
    if not finding or not finding.get("reason"):
        return []
    sentence = f"At step {finding.get('step')} a backend failed so: {finding['reason']}"[:_REASON]
    return ["# " + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in sentence)]


def _engine_lines(case: Case) -> list[str]:
    lines = ["from google.protobuf import json_format"]
    for name, graph in case.graphs.items():
        lines.append(f"{name} = tf.Graph()")
        if case.files is None:
            text = json.dumps(graph, separators=(",", ":"))
            lines.append(f"{name}_def = json_format.Parse({text!r}, tf.GraphDef())")
        else:
            lines.append(f"{name}_def = json_format.ParseDict({graph_text(graph)}, tf.GraphDef())")
        lines.append(f"with {name}.as_default():")
        lines.append(f"    tf.import_graph_def({name}_def, name='')")
    for step in case.steps:
        lines.extend(_engine_step(step))
    return lines


def _engine_step(step: Step) -> list[str]:
    session = step.get("session")
    match step["do"]:
        case "start":
            inner = [f"    {line}" for line in _engine_step(step["step"])]
            thread = step["thread"]
            return [
                f"def call_{thread}():",
                *inner,
                f"{thread} = threading.Thread(target=call_{thread})",
                f"{thread}.start()",
            ]
        case "join":
            return [f"{step['thread']}.join()"]
        case "extend":
            return [
                f"with {session}.graph.as_default():",
                f"    tf.import_graph_def({step['graph']}_def, name='')",
            ]
        case "open":
            config = step.get("config")
            extra = f", config=json_format.ParseDict({config!r}, tf.ConfigProto())"
            return [f"{session} = tf.Session(graph={step['graph']}{extra if config else ''})"]
        case "devices":
            return [f"print({session}.list_devices())"]
        case "file":
            return [file_line(step)]
        case "reset":
            return [f"tf.Session.reset('', {step.get('containers', [])!r})"]
        case "close":
            return [f"{session}.close()"]
        case "check":
            return [f"# {step['name']}, which makes calls of its own: {step.get('args', {})!r}"]
    return _engine_run(step)


def _engine_run(step: Step) -> list[str]:
    session, handle, fetches = step["session"], step.get("handle"), step.get("fetches")
    feeds = ", ".join(f"{k!r}: {array_text(v)}" for k, v in step.get("feeds", {}).items())
    match step["do"]:
        case "run":
            options = step.get("options")
            extra = f", options=json_format.ParseDict({options!r}, tf.RunOptions())"
            call = f"{session}.run({fetches!r}, {{{feeds}}}{extra if options else ''})"
            return [f"print({call})" + _why(step)]
        case "setup":
            names = step.get("names", [])
            return [f"{handle} = {session}.partial_run_setup({fetches!r}, {names!r})" + _why(step)]
        case "partial":
            call = f"{session}.partial_run({handle}, {fetches!r}, {{{feeds}}})"
            return [f"print({call})" + _why(step)]
        case "callable":
            names = step.get("names", [])
            return [f"{handle} = {session}.make_callable({fetches!r}, {names!r})" + _why(step)]
    values = ", ".join(array_text(value) for value in step.get("values", []))
    return [f"print({handle}({values}))" + _why(step)]


def _why(step: Step) -> str:
    """What the step must give, as a comment; empty if any success will do."""
    expect = step.get("expect", {})
    wanted = [_wanted(option) for option in expect.get("any_of") or [expect]]
    words = " or ".join(text for text in wanted if text)
    return f"  # must {words}".replace("\n", " ") if words else ""


def _wanted(expect: Expect) -> str:
    if "error" in expect:
        return f"fail with code {expect['error']['codes']}" if "codes" in expect["error"] else ""
    if "values" in expect:
        return f"give [{_listed(expect['values'])}]"
    if expect.get("oracle", {}).get("by") == "definition":
        return f"give what the definition says: {expect['oracle'].get('contract', 'exact')}"
    if "oracle" in expect:
        return f"do as the reference does: {expect['oracle'].get('contract', 'exact')}"
    return ""


def _api_lines(steps: Sequence[Step], indent: str) -> list[str]:
    lines = []
    for step in steps:
        match step["do"]:
            case "with":
                entered = f" as {step['as']}" if "as" in step else ""
                lines.append(f"{indent}with {_text(step['context'])}{entered}:{_api_why(step)}")
                lines.extend(_api_lines(step["steps"], indent + "    ") or [f"{indent}    pass"])
            case "thread":
                lines.append(f"{indent}def in_a_new_thread():")
                lines.extend(_api_lines(step["steps"], indent + "    ") or [f"{indent}    pass"])
                lines.append(f"{indent}thread = threading.Thread(target=in_a_new_thread)")
                lines.append(f"{indent}thread.start()")
                lines.append(f"{indent}thread.join()")
            case "assign":
                target = f"{_text(step['object'])}.{step['attr']}"
                lines.append(f"{indent}{target} = {_text(step['value'])}{_api_why(step)}")
            case "file":
                lines.append(indent + file_line(step))
            case "raise":
                lines.append(f"{indent}raise {_text(step['error'])}")
            case "check":
                args = ", ".join(f"{k}={_text(v)}" for k, v in step.get("args", {}).items())
                lines.append(f"{indent}# the named check {step['name']}({args})")
            case _:
                name = f"{step['as']} = " if "as" in step else ""
                lines.append(f"{indent}{name}{_text(step['expr'])}{_api_why(step)}")
    return lines


def _api_why(step: Step) -> str:
    expect = step.get("expect", {})
    if "error" in expect:
        names = " or ".join(expect["error"].get("classes", ()))
        return f"  # must raise {names}"
    if "value" in expect:
        return f"  # must be {_text(expect['value'])}"[:160]
    return ""


def _text(form: Json) -> str:
    """Python text of an expression, or of a value."""
    if isinstance(form, list):
        return f"[{_listed(form)}]"
    if not isinstance(form, dict):
        return repr(form)
    key = next((k for k in form if k.startswith("$")), None)
    if key is None:
        return f"{{{', '.join(f'{k!r}: {_text(v)}' for k, v in form.items())}}}"
    try:
        return _form_text(key, form[key], form)
    except (TypeError, ValueError, LookupError, AttributeError):  # no such form: shown as it is
        return f"({json.dumps(form)[:80]!r})"


def _form_text(key: str, body: Any, form: JsonObject) -> str:  # noqa: C901, PLR0912 - one line per form
    match key:
        case "$":
            return str(body).removeprefix("py.")
        case "$call":
            target = body if isinstance(body, str) else _text(body)
            return f"{target.removeprefix('py.')}({_arguments(form)})"
        case "$array":
            return array_text(body)
        case "$scalar":
            return f"{array_text(body)}[()]"
        case "$getattr":
            return f"{_text(body[0])}.{body[1]}"
        case "$item":
            return f"{_text(body[0])}[{_text(body[1])}]"
        case "$op":
            return _operation(*body)
        case "$is":
            return f"({_text(body[0])} is {_text(body[1])})"
        case "$type":
            return f"type({_text(body)}).__name__"
        case "$isinstance" | "$slice":
            return f"{key[1:]}({_listed(body)})"
        case "$len" | "$str" | "$list":
            return f"{key[1:]}({_text(body)})"
        case "$generator":
            return f"(item for item in {_text(body)})"
        case "$tuple":
            return f"({_listed(body)},)" if body else "()"
        case "$set":
            return f"{{{_listed(body)}}}" if body else "set()"
        case "$dict" | "$ordered_dict" | "$mapping":
            pairs = ", ".join(f"{_text(k)}: {_text(v)}" for k, v in body)
            return f"{{{pairs}}}"
        case "$namedtuple" | "$attrs":
            fields = zip(body["fields"], body["values"], strict=True)
            return f"{body['type']}({', '.join(f'{k}={_text(v)}' for k, v in fields)})"
        case "$fn":
            return f"(lambda {', '.join(body['params'])}: {_text(body['returns'])})"
        case "$bytes" | "$float" | "$int" | "$complex":
            return _literal(key, body)
        case "$none":
            return "None"
        case "$py":
            return f"{body}({_arguments(form)})"
        case "$numpy":
            return f"np.array({_text(body['items'])}, {body['dtype']!r}).reshape({body['shape']})"
        case "$path":
            return path_text(body)
        case "$view":
            return f"seen_as({body['as']!r}, {_text(body['of'])})"
    return f"{key[1:]}({json.dumps(body)[:80]!r})"


def _arguments(form: Mapping[str, Any]) -> str:
    args = [_text(item) for item in form.get("args", [])]
    return ", ".join(args + [f"{k}={_text(v)}" for k, v in form.get("kwargs", {}).items()])


def _listed(forms: Iterable[Json]) -> str:
    return ", ".join(_text(item) for item in forms)


def _operation(symbol: str, *operands: Json) -> str:
    if len(operands) == 1:
        prefix = {"neg": "-", "invert": "~", "not": "not "}.get(symbol)
        text = _text(operands[0])
        return f"{symbol}({text})" if prefix is None else f"({prefix}{text})"
    return f"({f' {symbol} '.join(_text(item) for item in operands)})"


def _literal(key: str, body: Any) -> str:
    match key:
        case "$bytes":
            return repr(base64.b64decode(body))
        case "$complex":
            return f"complex({', '.join(repr(float(part)) for part in body)})"
    return f"{key[1:]}({body!r})"
