"""The adapter of LiteRT: TensorFlow's converter makes a model of a GraphDef, LiteRT runs it."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np

from sessrun.adapters.client_layer import ClientLayer, EngineError, NotOfferedError
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import TableEngine, cause_line
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.extras import import_engine
from sessrun.spec.dtypes import BY_NAME

__all__ = ["backend"]

#: The dtypes of tensors that a model may have.
_DTYPES: Final = frozenset(BY_NAME) - {"bfloat16"}
#: The first operation that the converter would leave to TensorFlow's kernels ("flex").
_UNCONVERTED: Final = re.compile(r"'tf\.(\w+)' op is neither a custom op nor a flex op")


def backend(argument: str | None = None) -> ClientLayer:
    """LiteRT under our client.

    Raises:
      AdapterError: it or TensorFlow is not installed; an argument is given.

    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tensorflow, interpreter, package = import_engine(
        "litert",
        argument,
        "LiteRT",
        "litert",
        "tensorflow",
        "ai_edge_litert.interpreter",
        "ai_edge_litert",
    )
    return ClientLayer(_Engine(tensorflow, interpreter, str(package.__version__)))


class _Engine(TableEngine):
    """LiteRT's interpreter, and TensorFlow's converter in its default settings: no flex kernels."""

    def __init__(self, tensorflow: ModuleType, interpreter: ModuleType, version: str) -> None:
        self._tf = tensorflow
        self._interpreter = interpreter
        details = {"converter": f"TensorFlow {tensorflow.__version__}"}
        table = Path(__file__).with_suffix(".toml")
        super().__init__("litert", version, table, _DTYPES, details=details)

    def convert(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part, converted for these shapes."""
        with contextlib.redirect_stdout(sys.stderr):
            model = self._converted(part, shapes)
        try:
            interpreter = self._interpreter.Interpreter(model_content=model)
            interpreter.allocate_tensors()
        except (RuntimeError, ValueError) as error:  # it lacks a kernel, or prepares none
            raise EngineError(3, cause_line(error)) from error
        return _program(interpreter)

    def _converted(self, part: Part, shapes: Sequence[Sequence[int]]) -> bytes:
        """The model: its inputs and outputs are the part's feeds and fetches, in their order."""
        v1 = self._tf.compat.v1
        definition = v1.GraphDef.FromString(part.definition(shapes).SerializeToString())
        try:
            with self._tf.Graph().as_default() as graph:
                v1.import_graph_def(definition, name="")
        except (ValueError, self._tf.errors.OpError) as error:  # its shape functions refuse it
            raise EngineError(3, cause_line(error)) from error
        inputs, outputs = (
            [graph.get_tensor_by_name(f"{kind}_{number}:0") for number in range(len(tensors))]
            for kind, tensors in (("feed", part.feeds), ("fetch", part.fetches))
        )
        try:
            with v1.Session(graph=graph) as session:
                converter = v1.lite.TFLiteConverter.from_session(session, inputs, outputs)
                model: bytes = converter.convert()
                return model
        except Exception as error:  # the converter and what it calls have classes of their own
            missing = _UNCONVERTED.search(str(error))
            if missing:
                raise NotOfferedError("op", missing[1]) from error
            raise EngineError(3, cause_line(error)) from error


def _program(interpreter: Any) -> Program:
    inputs = [row["index"] for row in interpreter.get_input_details()]

    def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        try:
            for index, value in zip(inputs, values, strict=True):
                interpreter.set_tensor(index, value)
            interpreter.invoke()
            return [_value(interpreter, row) for row in interpreter.get_output_details()]
        except (RuntimeError, ValueError) as error:
            raise EngineError(3, cause_line(error)) from error

    return run


def _value(interpreter: Any, row: Any) -> np.ndarray:
    """An output; of one without elements, which it has no memory for, it tells the shape alone."""
    shape = tuple(row["shape"])
    if 0 in shape:
        return np.empty(shape, object if row["dtype"] == np.bytes_ else row["dtype"])
    return np.asarray(interpreter.get_tensor(row["index"]))
