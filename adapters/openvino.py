"""The adapter of OpenVINO: reads GraphDefs by its TensorFlow frontend, compiles for the CPU."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import ml_dtypes
import numpy as np

from sessrun.adapters.client_layer import ClientLayer, EngineError, NotOfferedError
from sessrun.adapters.client_layer.compiled import Program
from sessrun.adapters.client_layer.converting import TableEngine, cause_line
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.extras import import_engine

__all__ = ["backend"]

#: The dtypes of tensors that it takes and gives; int64 is that of indices.
_DTYPES: Final = frozenset(
    {
        "bfloat16",
        "bool",
        "float16",
        "float32",
        "int32",
        "int64",
        "int8",
        "uint8",
    }
)
_UNCONVERTED: Final = re.compile(r"No conversion rule found for operations: (\w+)")


def backend(argument: str | None = None) -> ClientLayer:
    """OpenVINO under our client.

    Raises:
      AdapterError: it is not installed; an argument is given.

    """
    modules = import_engine(
        "openvino", argument, "OpenVINO", "openvino", "openvino", "openvino.frontend"
    )
    return ClientLayer(_Engine(*modules))


class _Engine(TableEngine):
    """OpenVINO's TensorFlow frontend and its plug-in for the CPU, in full precision."""

    def __init__(self, openvino: ModuleType, frontend: ModuleType) -> None:
        self._openvino = openvino
        self._core = openvino.Core()
        self._tf = frontend.FrontEndManager().load_by_framework("tf")
        version = str(openvino.__version__)
        super().__init__("openvino", version, Path(__file__).with_suffix(".toml"), _DTYPES)

    def convert(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part, whose GraphDef is written to a file: it reads nothing else.

        A dimension without elements is left open: what is known to be empty ends its process.
        """
        known = [[-1 if dim == 0 else dim for dim in shape] for shape in shapes]
        content = part.definition(known).SerializeToString()
        with tempfile.TemporaryDirectory(prefix="sessrun-openvino-") as folder:
            path = Path(folder, "part.pb")
            path.write_bytes(content)
            compiled = self._compiled(path)
        return _program(self._tensor, compiled, len(part.fetches))

    def _tensor(self, value: np.ndarray) -> Any:
        """A feed as its tensor."""
        if value.dtype != ml_dtypes.bfloat16:
            return self._openvino.Tensor(value)
        bits = np.ascontiguousarray(value).view(np.uint16)
        return self._openvino.Tensor(bits, list(value.shape), self._openvino.Type.bf16)

    def _compiled(self, path: Path) -> Any:
        """The compiled model of a file.

        A conversion that names operations it has no translator for declines them; whatever else is
        raised, here or by the plug-in, is the engine's failure.
        """
        try:
            model = self._tf.convert(self._tf.load(str(path)))
            return self._core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        except Exception as error:  # its frontend and its plug-in have classes of their own
            missing = _UNCONVERTED.search(str(error))
            if missing:
                raise NotOfferedError("op", missing[1]) from error
            raise EngineError(3, cause_line(error)) from error


def _program(tensor: Callable[[np.ndarray], object], compiled: Any, fetches: int) -> Program:
    request = compiled.create_infer_request()
    # A tensor that only passes through has the feed's name: outputs are identified by their nodes.
    outputs = {output.node.get_friendly_name(): output for output in compiled.outputs}

    def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        feeds = {f"feed_{number}:0": tensor(value) for number, value in enumerate(values)}
        try:
            request.infer(feeds, share_inputs=False)
            return [_value(request.get_tensor(outputs[f"fetch_{n}:0"])) for n in range(fetches)]
        except RuntimeError as error:
            raise EngineError(3, cause_line(error)) from error

    return run


def _value(tensor: Any) -> np.ndarray:
    """The elements of an output; numpy has bfloat16 by another package, which it does not know."""
    elements: np.ndarray = tensor.data.copy()
    is_bfloat16 = tensor.element_type.get_type_name() == "bf16"
    return elements.view(ml_dtypes.bfloat16) if is_bfloat16 else elements
