"""Engines that convert: what they declare is all that they are asked, and values are checked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from adapter_graphs import ADD, CONDITIONAL, node, placeholder

from sessrun.adapters.backend import Backend
from sessrun.adapters.client_layer import ClientLayer, converting
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import TableEngine, cause_line
from sessrun.adapters.client_layer.graph import Part
from sessrun.spec.cases.outcomes import Failure, Fetched, Opened, Outcome, Unsupported
from sessrun.spec.inference import table
from sessrun.spec.tables.ops import OPERATIONS

TABLES = sorted(Path(converting.__file__).parents[1].glob("*.toml"))
FLOAT, INT = {"type": 1}, {"type": 3}
ONES = np.ones(2, np.float32)

#: Messages of engines, each with the line of it that is told.
MESSAGES: Final = {
    """Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- ReverseV2 with a message:
Check 'axes.size() == 1' failed at src/frontends/tensorflow_common/src/op/reverse.cpp:43:
FrontEnd API failed with OpValidationFailureWhile validating node 'ReverseV2':
OpenVINO TensorFlow Frontend does not support Reverse or ReverseV2 with multiple axes for the \
reversing.

Summary:
-- Conversion is failed for: ReverseV2
""": "OpenVINO TensorFlow Frontend does not support Reverse or ReverseV2 with multiple axes "
    "for the reversing.",
    """Exception from src/inference/src/cpp/core.cpp:132:
Exception from src/inference/src/dev/plugin.cpp:59:
Check 'top_k >= 1' failed at src/plugins/intel_cpu/src/nodes/topk.cpp:2087:
TopK node with name 'TopKV2' K (0) must be greater or equal to 1.


""": "TopK node with name 'TopKV2' K (0) must be greater or equal to 1.",
    """<unknown>:0: error: failed to legalize unresolved materialization from ('tensor<f64>') to \
('tensor<2xf64>') that remained live after conversion
<unknown>:0: note: see existing live user here: "func.return"(%2) : (tensor<2xf64>) -> ()
""": "failed to legalize unresolved materialization from ('tensor<f64>') to ('tensor<2xf64>') that "
    "remained live after conversion",
    "Non-contiguous `axes` not supportedNode number 0 (REVERSE_V2) failed to invoke.": (
        "Non-contiguous `axes` not supportedNode number 0 (REVERSE_V2) failed to invoke."
    ),
    """Graph execution error:

XLA does not support pooling ops with explicit padding.
\t [[{{node part/r}}]]
\ttf2xla conversion failed while converting __inference_function_55[]. Run with \
TF_DUMP_GRAPH_PREFIX=/path/to/dump/dir and --vmodule=xla_compiler=2 to obtain a dump of the \
compiled functions.
\t [[PartitionedCall]]""": "XLA does not support pooling ops with explicit padding.",
    """Input to reshape is a tensor with 2 values, but the requested shape has 3

Stack trace for op definition:
File "reshape.py", line 20, in <module>

\t [[{{node Reshape}}]]
""": "Input to reshape is a tensor with 2 values, but the requested shape has 3",
    " \n": "RuntimeError",
}


class Adding(TableEngine):
    """Adds its two feeds whatever the graph says, in float64 where it is told to."""

    def __init__(self, table: Path, dtypes: Sequence[str], dtype: str = "float32") -> None:
        super().__init__("adding", "1.0", table, dtypes)
        self._dtype = dtype

    def convert(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        assert len(shapes) == len(part.feeds)
        return lambda values: [np.add(*values).astype(self._dtype)]


@pytest.fixture
def table_file(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text('AddV2 = ["float32"]\n', encoding="utf-8")
    return path


def answer(backend: Backend, graph: dict[str, Any], *fetches: str) -> Outcome:
    opened = backend.open(graph=graph, config={})
    assert isinstance(opened, Opened)
    feeds = {f"{name}:0": ONES for name in "xy"}
    return backend.run(session=opened.handle, fetches=fetches, feeds=feeds, options={})


def test_what_is_declared_is_converted(table_file: Path) -> None:
    backend = ClientLayer(Adding(table_file, ["float32"]))
    assert backend.describe().operations == {"AddV2": ["float32"]}
    fetched = answer(backend, ADD, "s:0")
    assert isinstance(fetched, Fetched)
    assert np.array_equal(fetched.values[0], 2 * ONES)


def test_an_operation_or_a_dtype_that_is_not_declared_is_declined(table_file: Path) -> None:
    backend = ClientLayer(Adding(table_file, ["float32"]))
    assert answer(backend, ADD, "d:0") == Unsupported("op", "operation Mul")
    cast = node("i", "Cast", "x", SrcT=FLOAT, DstT=INT)
    added = node("t", "AddV2", "i", "i", T=INT)
    graph = {"node": [placeholder("x"), placeholder("y"), cast, added]}
    table_file.write_text('AddV2 = ["float32"]\nCast = ["float32", "int32"]\n', encoding="utf-8")
    backend = ClientLayer(Adding(table_file, ["float32", "int32"]))
    assert answer(backend, graph, "t:0") == Unsupported("op", "operation AddV2 of int32")


def test_a_tensor_of_a_dtype_that_it_has_not_is_declined(table_file: Path) -> None:
    backend = ClientLayer(Adding(table_file, ["int32"]))
    assert answer(backend, ADD, "s:0") == Unsupported("dtype", "float32")


def test_effects_and_other_configurations_are_declined(table_file: Path) -> None:
    backend = ClientLayer(Adding(table_file, ["float32"]))
    graph = {"node": [*ADD["node"], node("after", "AddV2", "x", "y", "^d", T=FLOAT)]}
    assert answer(backend, graph, "after:0") == Unsupported("control_inputs", "d")
    declined = backend.open(graph=ADD, config={"deviceCount": {"CPU": 2}})
    assert declined == Unsupported("config", "device_count")


def test_what_chooses_between_constants_is_no_lost_effect(tmp_path: Path) -> None:
    """A conversion keeps a condition on which two constants wait, each in its branch."""
    table_file = tmp_path / "table.toml"
    operations = ("Greater", "Merge", "Switch")
    table_file.write_text(
        "".join(f'{op} = ["float32", "bool"]\n' for op in operations), encoding="utf-8"
    )
    backend = ClientLayer(Adding(table_file, ["float32", "bool", "int32"]))
    assert isinstance(answer(backend, CONDITIONAL, "m:0"), Fetched)


def test_a_value_of_another_dtype_is_no_answer(table_file: Path) -> None:
    failed = answer(ClientLayer(Adding(table_file, ["float32"], "float64")), ADD, "s:0")
    assert isinstance(failed, Failure)
    assert failed.code == 13
    assert "s:0 came as float64, not as float32" in failed.message


@pytest.mark.parametrize(("message", "cause"), MESSAGES.items())
def test_the_line_of_the_cause_is_told(message: str, cause: str) -> None:
    assert cause_line(RuntimeError(message)) == cause


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_tables_declare_cells_that_are_asked(path: Path) -> None:
    for name, dtypes in tomllib.loads(path.read_text(encoding="utf-8")).items():
        assert dtypes
        assert name in OPERATIONS
        assert name not in table() or set(dtypes) <= set(table()[name].dtypes), name
