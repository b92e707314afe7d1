"""The table of feed conversion: its file, the rules of `spec/feeds.py` against it, its page."""

from __future__ import annotations

import contextlib
import copy
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessrun.spec import tensors
from sessrun.spec.cases.readable import exact
from sessrun.spec.cases.values import describe
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.feeds import (
    FEEDABLE,
    TABLE_PATH,
    FeedCell,
    StringElementError,
    convert,
    converter,
    deliver,
    load_feed_table,
)
from sessrun.spec.schema import SpecError
from sessrun.spec.tables.feed_kinds import kinds
from sessrun.spec.tables.feed_manual import MANUAL_PATH, manual

TABLE = load_feed_table()
FORM = exact(json.loads(TABLE_PATH.read_text(encoding="utf-8")))
SAME_MACHINE = platform.machine() in {"x86_64", "AMD64"} and sys.platform == "linux"
SAME_RELEASES = all(
    importlib.metadata.version(name) == TABLE.measured_with[name] for name in ("numpy", "ml_dtypes")
)


@pytest.fixture(autouse=True)
def _lossy_casts_are_meant() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def outcome(form_of_row: Any, name: str) -> tuple[FeedCell, str | None]:
    """The cell that `convert` and `deliver` give, and the class of the refusal of either."""
    value = form_of_row.value()
    fed = tensor = refusal = None
    alias = None
    try:
        array = convert(value, name)
        fed, alias = shown(array), alias_of(array, value)
        tensor = tensors.encode(deliver(array, name))
    except StringElementError:
        refusal = "InternalError"
    except Exception as error:  # noqa: BLE001 - the class is compared with the table's
        refusal = type(error).__name__
    return FeedCell(tensor, fed, refusal, alias), refusal


def shown(array: np.ndarray) -> dict[str, Any]:
    if array.dtype != object or all(type(item) is bytes for item in array.flat):
        return {"array": tensors.encode(array)}
    items = [describe(item) for item in array.flat]
    return {"objects": {"shape": list(array.shape), "items": items}}


def alias_of(array: np.ndarray, value: Any) -> str | None:
    if array is value:
        return "same"
    try:
        return "shared" if np.shares_memory(array, np.asarray(value)) else None
    except ValueError:  # ragged
        return None


def is_settled(cell: FeedCell) -> bool:
    return cell.varies is None or (SAME_MACHINE and SAME_RELEASES and cell.varies != "cast")


@pytest.mark.parametrize("name", FEEDABLE)
def test_the_rules_reproduce_every_cell(name: str) -> None:
    wrong = []
    for row in TABLE.rows.values():
        want = row.cells[name]
        if not is_settled(want):
            continue
        got, _ = outcome(row, name)
        # TensorFlow's own structured dtype is another object than ours: equal, not identical.
        aliases = {got.alias, want.alias}
        excused = BY_NAME[name].kind == "quantized" and aliases <= {"same", "shared"}
        if (got.tensor, got.fed, got.error) != (want.tensor, want.fed, want.error) or not (
            got.alias == want.alias or excused
        ):
            wrong.append(f"{row.id}: got {got}, should be {want}")
    assert not wrong, "\n".join(wrong)


def test_the_table_has_every_kind_once_and_as_the_kinds_write_it() -> None:
    written = {row["id"]: (row["title"], row["value"]) for row in FORM["rows"]}
    assert written == {id_: (title, form) for id_, title, form in kinds()}
    assert len(kinds()) == len(written) >= 70


def test_every_feedable_dtype_has_a_column() -> None:
    assert TABLE.dtypes == tuple(
        row.name for row in BY_NAME.values() if row.kind not in {"resource", "variant"}
    )


def test_the_page_shows_the_table() -> None:
    assert MANUAL_PATH.read_text(encoding="utf-8") == manual()


@pytest.mark.parametrize("name", FEEDABLE)
def test_an_array_of_the_dtype_passes_itself(name: str) -> None:
    array = np.zeros((2, 3), dtype=BY_NAME[name].numpy)[:, ::-1]
    assert convert(array, name) is array
    assert converter(name)(array) is array


def test_delivered_numbers_are_not_copied() -> None:
    array = np.zeros(3, np.float32)
    assert deliver(array, "float32") is array
    texts = np.array([b"a"], dtype=object)
    assert deliver(texts, "string") is texts


@pytest.mark.parametrize("name", ["resource", "variant", "float31"])
def test_a_dtype_that_takes_no_value_is_a_key_error(name: str) -> None:
    with pytest.raises(KeyError):
        converter(name)


def test_what_no_string_tensor_holds_is_refused_with_code_13() -> None:
    with pytest.raises(StringElementError) as caught:
        deliver(convert([1.5], "string"), "string")
    assert caught.value.code == 13


def plain(value: Any, dtype: np.dtype) -> Any:
    """Conversion in numpy's two steps, without the shortcuts for common values."""
    return np.asarray(value).astype(dtype)


@given(st.floats(width=64), st.sampled_from(["float16", "float32", "float64", "complex64"]))
def test_shortcuts_for_floats_change_nothing(value: float, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = plain(value, np.dtype(name))
        assert convert(value, name).tobytes() == want.tobytes()


@given(
    st.integers(-(2**63), 2**64 - 1) | st.integers(-300, 300) | st.integers(-(2**26), 2**26),
    st.sampled_from(
        ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "complex64"]
    ),
)
def test_shortcuts_for_ints_change_nothing(value: int, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtype = np.dtype(name)
        want = plain(value, dtype)
        if dtype.type(want) != value:
            with pytest.raises(TypeError):
                convert(value, name)
        else:
            got = convert(value, name)
            assert got.dtype == dtype
            assert got.tobytes() == want.tobytes()


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, dict):
        for key, value in node.items():
            if path[:1] != ("rows",) or key != "value":  # a row's value may be any JSON
                yield from places(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from places(value, (*path, index))


JUNK: st.SearchStrategy[Any] = st.sampled_from([None, True, 0, 1, -1, 99, 1.5, "", "a", [], {}])
SMALL = {**FORM, "rows": [row for row in FORM["rows"] if row["id"] in {"str-letter", "list-ints"}]}
PLACES = list(places(SMALL))


def written(folder: Path, form: Any) -> Path:
    path = folder / "table.json"
    path.write_text(json.dumps(form), encoding="utf-8")
    return path


@settings(max_examples=300)
@given(place=st.sampled_from(PLACES), data=st.data())
def test_a_mutated_table_is_a_spec_error_or_a_table(
    place: tuple[Any, ...], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    form: Any = copy.deepcopy(SMALL)
    if not place:
        form = data.draw(JUNK)
    else:
        parent: Any = form
        for key in place[:-1]:
            parent = parent[key]
        if data.draw(st.booleans()):
            del parent[place[-1]]
        else:
            parent[place[-1]] = data.draw(JUNK)
    path = written(tmp_path_factory.getbasetemp(), form)
    with contextlib.suppress(SpecError):
        assert load_feed_table.__wrapped__(path).dtypes == FEEDABLE


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda form: form["rows"].append(form["rows"][0]), "is taken"),
        (lambda form: form["rows"][0]["by_dtype"].__setitem__(0, 99), "every one"),
        (lambda form: form["rows"][0]["cells"].append({"error": "TypeError"}), "every one"),
        (lambda form: form["rows"][1]["cells"][0]["tensor"].update(shape=[7]), "bytes"),
        (lambda form: form["rows"][1]["cells"][0].update(varies="mood"), "no reason"),
        (lambda form: form["dtypes"].reverse(), "feedable"),
        (lambda form: form["rows"][0]["cells"][0].clear(), ""),
    ],
)
def test_a_table_that_disagrees_with_itself_is_refused(
    change: Any, reason: str, tmp_path: Path
) -> None:
    form = copy.deepcopy(SMALL)
    form["rows"].sort(key=lambda row: row["id"], reverse=True)
    change(form)
    with pytest.raises(SpecError, match=reason):
        load_feed_table(written(tmp_path, form))


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(SpecError):
        load_feed_table(path)


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="needs TensorFlow")
@pytest.mark.slow
def test_tensorflow_still_gives_the_table() -> None:
    command = [
        sys.executable,
        "-m",
        "sessrun.spec.tables.feed_probe",
        "--backend-namespace",
        "tensorflow.compat.v1",
        "--check",
    ]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
