"""The engine: compiles ONNX models by ONNX Runtime for the CPU and runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NoKernelError

from sessrun.adapters.client_layer import EngineError
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import ConvertingEngine
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.onnxruntime.model import CARRIERS, translated
from sessrun.adapters.onnxruntime.table import operations
from sessrun.spec.dtypes import BY_NAME

__all__ = ["Engine"]

#: Errors come as exceptions; what it logs besides says the same.
_FATAL: Final = 4


class Engine(ConvertingEngine):
    """ONNX Runtime, which declares what its translator offers."""

    def __init__(self) -> None:
        version = str(onnxruntime.__version__)
        super().__init__("onnxruntime", version, operations(), capabilities=["control_inputs"])

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part."""
        self.decline_fed_structure(part)
        model = translated(part, shapes, _evaluate)
        if model is None:
            return lambda _: ()
        session = _session(model)
        dtypes = [part.dtypes[tensor] for tensor in part.fetches]
        outputs = [output.name for output in session.get_outputs()]

        def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            feeds = {
                f"feed_{number}": _carried(value, part.dtypes[tensor])
                for number, (tensor, value) in enumerate(zip(part.feeds, values, strict=True))
            }
            fetched = zip(dtypes, _run(session, outputs, feeds), strict=False)  # effects are last
            return [np.asarray(value).astype(BY_NAME[dtype].numpy) for dtype, value in fetched]

        return run


def _session(model: bytes) -> Any:
    """The compiled model, which runs in the calling thread.

    Raises:
      EngineError: it is refused; code 12 where a kernel is missing.

    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = _FATAL
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except NoKernelError as error:
        raise EngineError(12, str(error)) from error
    except Exception as error:  # its classes have no base of their own
        raise EngineError(3, str(error)) from error


def _evaluate(model: bytes) -> list[np.ndarray]:
    """The outputs of a model without inputs."""
    session = _session(model)
    return _run(session, [output.name for output in session.get_outputs()], {})


def _run(session: Any, names: Sequence[str], feeds: dict[str, np.ndarray]) -> list[np.ndarray]:
    try:
        values: list[np.ndarray] = session.run(names, feeds)
    except Exception as error:  # its classes have no base of their own
        raise EngineError(3, str(error)) from error
    return values


def _carried(value: np.ndarray, dtype: str) -> np.ndarray:
    """A fed value as ONNX Runtime takes it."""
    return value.astype(BY_NAME[CARRIERS[dtype]].numpy) if dtype in CARRIERS else value
