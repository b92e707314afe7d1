"""The adapter of OpenVINO: reads GraphDefs by its TensorFlow frontend, compiles for the CPU."""

from __future__ import annotations

import importlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.client_layer import ClientLayer, EngineError, EngineSession, NotOfferedError
from sessrun.adapters.client_layer.compiled import CompiledSession, Program
from sessrun.adapters.client_layer.graph import Part
from sessrun.adapters.errors import AdapterError
from sessrun.spec.proto import ConfigProto, GraphDef

__all__ = ["backend"]

_DEVICE: Final = "/job:localhost/replica:0/task:0/device:CPU:0"
#: The dtypes that the CPU plug-in computes in.
_DTYPES: Final = frozenset({"float32", "float16", "int32", "bool"})
#: What a configuration may say without changing what a run must give.
_HARMLESS: Final = frozenset({
    "allow_soft_placement", "graph_options", "inter_op_parallelism_threads",
    "intra_op_parallelism_threads", "log_device_placement",
})  # fmt: skip
_UNCONVERTED: Final = re.compile(r"No conversion rule found for operations: (\w+)")


def backend(argument: str | None = None) -> ClientLayer:
    """OpenVINO under our client.

    Raises:
      AdapterError: it is not installed; an argument is given.

    """
    if argument is not None:
        raise AdapterError(f"the adapter 'openvino' takes no argument, got {argument!r}")
    try:
        openvino = importlib.import_module("openvino")
        frontend = importlib.import_module("openvino.frontend")
    except ImportError as error:
        raise AdapterError(
            f"OpenVINO is not installed: pip install 'sessrun[openvino]' ({error})"
        ) from error
    return ClientLayer(_Engine(openvino, frontend))


class _Engine:
    """OpenVINO (`sessrun.adapters.client_layer.GraphEngine`)."""

    def __init__(self, openvino: Any, frontend: Any) -> None:
        self._core = openvino.Core()
        self._version = str(openvino.__version__)
        self._tf = frontend.FrontEndManager().load_by_framework("tf")

    def describe(self) -> Description:
        """Who this is."""
        return Description("openvino", self._version, frozenset(), (_DEVICE,))

    def open(self, graph: GraphDef, config: ConfigProto) -> EngineSession:
        """A session whose programs are compiled when they are run."""
        strange = {field.name for field, _ in config.ListFields()} - _HARMLESS
        if strange:
            raise NotOfferedError("config", min(strange))
        return CompiledSession(graph, self)

    def reset(self, containers: Sequence[str]) -> None:
        """Decline: there is no state."""
        raise NotOfferedError("reset", ", ".join(containers))

    def compile(self, part: Part, shapes: Sequence[Sequence[int]]) -> Program:
        """The program of a part, whose GraphDef is written to a file: it reads nothing else."""
        if part.effects:
            raise NotOfferedError("control_inputs", min(part.effects))
        strange = set(part.dtypes.values()) - _DTYPES
        if strange:
            raise NotOfferedError("dtype", min(strange))
        content = part.definition(shapes).SerializeToString()
        with tempfile.TemporaryDirectory(prefix="sessrun-openvino-") as folder:
            path = Path(folder, "part.pb")
            path.write_bytes(content)
            compiled = self._compiled(path)
        return _program(compiled, len(part.feeds), len(part.fetches))

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
            raise EngineError(3, _brief(error)) from error


def _program(compiled: Any, feeds: int, fetches: int) -> Program:
    """The program of a compiled model.

    Its outputs go by the names of its results: a fetch that is a fed tensor behind identities has
    no tensor's name of its own.
    """
    request = compiled.create_infer_request()
    results = [output.get_node().get_friendly_name() for output in compiled.outputs]
    places = [results.index(f"fetch_{number}:0") for number in range(fetches)]

    def run(values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        names = (f"feed_{number}:0" for number in range(feeds))
        try:
            request.infer(dict(zip(names, values, strict=True)), share_inputs=False)
            return [request.get_output_tensor(place).data.copy() for place in places]
        except RuntimeError as error:
            raise EngineError(3, str(error)) from error

    return run


def _brief(error: Exception) -> str:
    """The last line of its message, which says what was wrong."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__
