"""Replays: one case with what it takes to run it again, and the plain code that shows it.

A replay is a JSON file `{"replay": 1, "case": …, "backend": …, "finding": …}`; `sessrun replay
FILE --backend X` runs it and says whether it still fails.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sessrun.spec import tensors
from sessrun.spec.cases.model import Case
from sessrun.spec.loader import read_json
from sessrun.spec.schema import SpecError

__all__ = ["python_lines", "read_replay", "replay_form", "write_replay"]


def replay_form(case: Case, line: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The replay of a case whose result line is given."""
    return {
        "replay": 1,
        "case": case.to_json(),
        "backend": backend,
        "result": line["result"],
        "finding": line.get("finding"),
        "python": python_lines(case),
    }


def write_replay(path: Path, case: Case, line: Mapping[str, Any], backend: str) -> None:
    """Write the replay of a failed case."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(replay_form(case, line, backend), indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def read_replay(path: Path) -> Case:
    """The case of a replay file, or of a vector's file.

    Raises:
      SpecError: it is neither.

    """
    form = read_json(path)
    if isinstance(form, dict) and "replay" in form:
        if form["replay"] != 1:
            raise SpecError(str(path), "replay", f"format {form['replay']!r} is not known, 1 is")
        form = form.get("case")
    return Case.from_json(form, str(path))


def python_lines(case: Case) -> list[str]:
    """The lines of plain TensorFlow code that do what the case does, for people to paste."""
    lines = ["import numpy as np", "import tensorflow.compat.v1 as tf", "tf.disable_v2_behavior()"]
    if case.surface == "engine":
        return [*lines, *_engine_lines(case)]
    return [*lines, *_api_lines(case.steps, "")]


def _engine_lines(case: Case) -> list[str]:
    lines = ["from google.protobuf import json_format"]
    for name, graph in case.graphs.items():
        lines.append(f"{name} = tf.Graph()")
        text = json.dumps(graph, separators=(",", ":"))
        lines.append(f"with {name}.as_default():")
        lines.append(
            f"    tf.import_graph_def(json_format.Parse(r'''{text}''', tf.GraphDef()), name='')"
        )
    for step in case.steps:
        lines.extend(_engine_step(step))
    return lines


def _engine_step(step: Mapping[str, Any]) -> list[str]:
    match step["do"]:
        case "open":
            config = step.get("config")
            extra = (
                f", config=json_format.ParseDict({config!r}, tf.ConfigProto())" if config else ""
            )
            return [f"{step['session']} = tf.Session(graph={step['graph']}{extra})"]
        case "run":
            feeds = {name: _array(form) for name, form in step.get("feeds", {}).items()}
            body = ", ".join(f"{name!r}: {text}" for name, text in feeds.items())
            return [f"print({step['session']}.run({step['fetches']!r}, {{{body}}}))" + _why(step)]
        case "close":
            return [f"{step['session']}.close()"]
    return [f"# {json.dumps(step)[:200]}"]


def _why(step: Mapping[str, Any]) -> str:
    error = step.get("expect", {}).get("error")
    return f"  # must fail with code {error['codes']}" if error and "codes" in error else ""


def _array(form: Mapping[str, Any]) -> str:
    array = tensors.decode(form)
    if array.size > 50:
        return f"np.zeros({array.shape}, '{form['dtype']}')  # shortened"
    dtype = "object" if form["dtype"] == "string" else form["dtype"]
    return f"np.array({array.tolist()!r}, dtype={dtype!r})"


def _api_lines(steps: Any, indent: str) -> list[str]:
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
                lines.append(f"{indent}thread.start(); thread.join()")
            case "assign":
                target = f"{_text(step['object'])}.{step['attr']}"
                lines.append(f"{indent}{target} = {_text(step['value'])}")
            case "raise":
                lines.append(f"{indent}raise {_text(step['error']).replace('py.', '')}")
            case "check":
                lines.append(f"{indent}# named check {step['name']}({step.get('args', {})})")
            case _:
                name = f"{step['as']} = " if "as" in step else ""
                lines.append(f"{indent}{name}{_text(step['expr'])}{_api_why(step)}")
    return lines


def _api_why(step: Mapping[str, Any]) -> str:
    expect = step.get("expect", {})
    if "error" in expect:
        names = " or ".join(expect["error"].get("classes", ()))
        return f"  # must raise {names}"
    if "value" in expect:
        return f"  # must be {_text(expect['value'])}"[:160]
    return ""


def _text(form: Any) -> str:  # noqa: C901, PLR0912 - one line per form
    """Python text of an expression: for people, never executed."""
    if isinstance(form, list):
        return f"[{', '.join(_text(item) for item in form)}]"
    if not isinstance(form, dict):
        return repr(form)
    key = next((k for k in form if k.startswith("$")), None)
    body = form.get(key) if key else None
    match key:
        case "$":
            return str(body)
        case "$call":
            args = [_text(item) for item in form.get("args", [])]
            args += [f"{k}={_text(v)}" for k, v in form.get("kwargs", {}).items()]
            return f"{body if isinstance(body, str) else _text(body)}({', '.join(args)})"
        case "$array" | "$scalar":
            text = _array(body)  # type: ignore[arg-type]
            return text if key == "$array" else f"{text}[()]"
        case "$item":
            return f"{_text(body[0])}[{_text(body[1])}]"  # type: ignore[index]
        case "$op":
            symbol, *rest = body  # type: ignore[misc]
            return f"({f' {symbol} '.join(_text(item) for item in rest)})"
        case "$is":
            return f"({_text(body[0])} is {_text(body[1])})"  # type: ignore[index]
        case "$tuple":
            return f"({', '.join(_text(item) for item in body)},)"  # type: ignore[union-attr]
        case "$set":
            return f"{{{', '.join(_text(item) for item in body)}}}"  # type: ignore[union-attr]
        case "$dict":
            return f"{{{', '.join(f'{_text(k)}: {_text(v)}' for k, v in body)}}}"  # type: ignore[union-attr]
        case "$bytes" | "$float" | "$int":
            return f"{key[1:]}({body!r})"
        case None:
            return f"{{{', '.join(f'{k!r}: {_text(v)}' for k, v in form.items())}}}"
    return f"<{key[1:]} {json.dumps(body)[:80]}>"
