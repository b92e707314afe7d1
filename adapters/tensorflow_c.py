"""The adapter of TensorFlow's C API: the engine without its Python client.

`tensorflow-c#FOLDER` takes the libraries of another release, such as
`old/lib/python3.9/site-packages/tensorflow`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Collection, Mapping, Sequence
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Final

import numpy as np

from sessrun.adapters.backend import Description
from sessrun.adapters.c_api import CLibrary, Output
from sessrun.adapters.client_layer import (
    ClientLayer,
    Endpoint,
    EngineSession,
    GraphEngine,
    TensorFacts,
)
from sessrun.adapters.errors import AdapterError
from sessrun.spec.dtypes import BY_ENUM, REF_OFFSET
from sessrun.spec.proto import ConfigProto, GraphDef, RunOptions

__all__ = ["backend", "engine_of"]

_OFFERED: Final = frozenset({"concurrent", "devices", "extend", "partial_runs", "reset", "state"})


def backend(folder: str | None = None) -> ClientLayer:
    """TensorFlow's C API under our client; see `engine_of`."""
    return ClientLayer(engine_of(folder))


def engine_of(folder: str | None = None) -> GraphEngine:
    """TensorFlow's engine without a client.

    Args:
      folder: where its libraries lie; None for those of the TensorFlow that is installed here.

    Raises:
      AdapterError: there are none, or they cannot be loaded.

    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return _Engine(CLibrary(Path(folder) if folder else _installed()))


def _installed() -> Path:
    """The folder of the TensorFlow that is installed here, which is not imported."""
    package = importlib.util.find_spec("tensorflow")
    if package is None or not package.submodule_search_locations:
        raise AdapterError(
            "TensorFlow is not installed: pip install 'sessrun[tensorflow]', or name the folder "
            "of its libraries: tensorflow-c#FOLDER"
        )
    return Path(package.submodule_search_locations[0])


class _Engine:
    """TensorFlow's engine (`sessrun.adapters.client_layer.GraphEngine`)."""

    def __init__(self, library: CLibrary) -> None:
        self.c = library

    def describe(self) -> Description:
        """Who this is; its devices are those of a session on an empty graph."""
        session = self.open(GraphDef(), ConfigProto())
        devices = tuple(session.devices())
        session.close()
        session.forget()
        details = {"producer": str(self.c.producer())}
        return Description("tensorflow-c", self.c.TF_Version().decode(), _OFFERED, devices, details)

    def open(self, graph: GraphDef, config: ConfigProto) -> _Session:
        """Import the graph, open a session."""
        session = _Session(self.c)
        options = c_void_p(self.c.TF_NewSessionOptions())
        try:
            session.extend(graph)
            self._configure(options, config)
            session.handle = c_void_p(self.c.call("TF_NewSession", session.graph, options))
        except BaseException:
            self.c.TF_DeleteGraph(session.graph)
            raise
        finally:
            self.c.TF_DeleteSessionOptions(options)
        return session

    def reset(self, containers: Sequence[str]) -> None:
        """Clear resource containers."""
        options = c_void_p(self.c.TF_NewSessionOptions())
        names = (c_char_p * len(containers))(*(name.encode() for name in containers))
        try:
            self.c.call("TF_Reset", options, names, c_int(len(containers)))
        finally:
            self.c.TF_DeleteSessionOptions(options)

    def _configure(self, options: c_void_p, config: ConfigProto) -> None:
        content = config.SerializeToString()
        self.c.call("TF_SetConfig", options, content, c_size_t(len(content)))


class _Session(EngineSession):
    """A graph and the `TF_Session` on it."""

    def __init__(self, library: CLibrary) -> None:
        self.c = library
        self.graph = c_void_p(library.TF_NewGraph())
        self.handle: c_void_p | None = None

    def has_operation(self, name: str) -> bool:
        return self._operation(name) is not None

    def facts(self, tensor: Endpoint) -> TensorFacts | None:
        operation = self._operation(tensor.operation)
        if operation is None or tensor.index >= self.c.TF_OperationNumOutputs(c_void_p(operation)):
            return None
        output = Output(operation, tensor.index)
        dtype = BY_ENUM[self.c.TF_OperationOutputType(output) % REF_OFFSET].name
        rank = self.c.call("TF_GraphGetTensorNumDims", self.graph, output)
        if rank < 0:
            return TensorFacts(dtype)
        sizes = (c_int64 * rank)()
        self.c.call("TF_GraphGetTensorShape", self.graph, output, sizes, c_int(rank))
        return TensorFacts(dtype, tuple(None if size < 0 else size for size in sizes))

    def extend(self, graph: GraphDef) -> None:
        options = c_void_p(self.c.TF_NewImportGraphDefOptions())
        new = {node.name for node in graph.node}
        for name in sorted({name for node in graph.node for name in node.input}):
            self._map_older(options, name, new)
        content = self.c.buffer(graph.SerializeToString())
        try:
            self.c.call("TF_GraphImportGraphDef", self.graph, byref(content), options)
        finally:
            self.c.TF_DeleteImportGraphDefOptions(options)

    def _map_older(self, options: c_void_p, name: str, new: Collection[str]) -> None:
        """Map an input that names an older node to that node."""
        source, _, digits = name.removeprefix("^").partition(":")
        older = None if source in new else self._operation(source)
        if older is None or not self._has_output(older, digits or "0"):
            return
        if name.startswith("^"):
            self.c.TF_ImportGraphDefOptionsRemapControlDependency(
                options, source.encode(), c_void_p(older)
            )
        else:
            output = Output(older, int(digits or 0))
            self.c.TF_ImportGraphDefOptionsAddInputMapping(
                options, source.encode(), c_int(output.index), output
            )

    def _has_output(self, operation: int, digits: str) -> bool:
        count: int = self.c.TF_OperationNumOutputs(c_void_p(operation))
        return digits.isdecimal() and int(digits) < count

    def run(
        self,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        options: RunOptions,
    ) -> Sequence[np.ndarray]:
        content = self.c.buffer(options.SerializeToString())
        given = byref(content) if content.length else None
        return self._run_step("TF_SessionRun", (given,), fetches, feeds, targets, (None,))

    def setup(
        self, fetches: Sequence[Endpoint], feeds: Sequence[Endpoint], targets: Sequence[str]
    ) -> c_char_p:
        handle = c_char_p()
        self.c.call(
            "TF_SessionPRunSetup",
            self.handle,
            *self._outputs(feeds),
            *self._outputs(fetches),
            *self._operations(targets),
            byref(handle),
        )
        return handle

    def partial(
        self,
        handle: c_char_p,
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
    ) -> Sequence[np.ndarray]:
        return self._run_step("TF_SessionPRun", (handle,), fetches, feeds, targets, ())

    def devices(self) -> Sequence[str]:
        listed = c_void_p(self.c.call("TF_SessionListDevices", self.handle))
        try:
            count = self.c.TF_DeviceListCount(listed)
            names = (self.c.call("TF_DeviceListName", listed, c_int(n)) for n in range(count))
            return [name.decode() for name in names]
        finally:
            self.c.TF_DeleteDeviceList(listed)

    def close(self) -> None:
        self.c.call("TF_CloseSession", self.handle)

    def forget(self) -> None:
        self.c.call("TF_DeleteSession", self.handle)
        self.c.TF_DeleteGraph(self.graph)

    def _operation(self, name: str) -> int | None:
        if "\0" in name:  # C would look up what stands before it
            return None
        operation: int | None = self.c.TF_GraphOperationByName(self.graph, name.encode())
        return operation

    def _outputs(self, tensors: Sequence[Endpoint]) -> tuple[ctypes.Array[Output], c_int]:
        pairs = [Output(self._operation(tensor.operation), tensor.index) for tensor in tensors]
        return (Output * len(pairs))(*pairs), c_int(len(pairs))

    def _operations(self, names: Sequence[str]) -> tuple[ctypes.Array[c_void_p], c_int]:
        operations = [self._operation(name) for name in names]
        return (c_void_p * len(operations))(*operations), c_int(len(operations))

    def _run_step(
        self,
        function: str,
        first: tuple[object, ...],
        fetches: Sequence[Endpoint],
        feeds: Mapping[Endpoint, np.ndarray],
        targets: Sequence[str],
        last: tuple[object, ...],
    ) -> list[np.ndarray]:
        """Call `TF_SessionRun` or `TF_SessionPRun`: the arrays of the fetches.

        Args:
          function: its name.
          first: its arguments before the feeds, without the session.
          fetches: the fetched tensors.
          feeds: the fed values.
          targets: names of operations.
          last: its arguments after the targets, without the status.

        """
        inputs, input_count = self._outputs(list(feeds))
        outputs, output_count = self._outputs(fetches)
        given = (c_void_p * len(feeds))()
        fetched = (c_void_p * len(fetches))()
        try:
            for number, value in enumerate(feeds.values()):
                given[number] = self.c.tensor(value)
            self.c.call(
                function,
                self.handle,
                *first,
                inputs,
                given,
                input_count,
                outputs,
                fetched,
                output_count,
                *self._operations(targets),
                *last,
            )
            return [self.c.array(c_void_p(tensor)) for tensor in fetched]
        finally:
            for tensor in (*given, *fetched):
                if tensor:
                    self.c.TF_DeleteTensor(c_void_p(tensor))
