"""TensorFlow's C API by ctypes: what its libraries export, statuses, buffers and tensors.

Nothing of TensorFlow's Python is imported: the libraries of any release will do. Sources: the
public headers `c_api.h`, `tf_tensor.h`, `tf_tstring.h`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Final

import numpy as np

from sessrun.adapters.client_layer import EngineError, NotOfferedError
from sessrun.adapters.errors import AdapterError
from sessrun.spec.dtypes import BY_ENUM, row_of_numpy
from sessrun.spec.proto import VersionDef

__all__ = ["CLibrary", "Output"]

#: Bytes of one string in a string tensor (`TF_TString`).
_STRING_BYTES: Final = 24
_FRAMEWORK: Final = "libtensorflow_framework.so.2"
#: The library with the C API, in a wheel and in the `libtensorflow` archive.
_MAIN: Final = ("libtensorflow_cc.so.2", "libtensorflow.so.2")
_STRING: Final = BY_ENUM[7]
#: What the functions that are called here return; one that is not named returns nothing.
_RETURNS: Final[Mapping[type, str]] = {
    c_void_p: "TF_NewStatus TF_NewBuffer TF_NewGraph TF_NewSession TF_NewSessionOptions "
    "TF_NewTensor TF_NewImportGraphDefOptions TF_AllocateTensor TF_GraphOperationByName "
    "TF_TensorData TF_SessionListDevices TF_StringGetDataPointer",
    c_char_p: "TF_Version TF_Message TF_DeviceListName",
    c_size_t: "TF_TensorByteSize TF_StringGetSize",
    c_int64: "TF_Dim",
    c_int: "TF_GetCode TF_DeviceListCount TF_NumDims TF_TensorType TF_OperationNumOutputs "
    "TF_GraphGetTensorNumDims TF_OperationOutputType",
}
_RETURN_OF: Final = {name: type_ for type_, names in _RETURNS.items() for name in names.split()}
_Deallocator: Final = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)


class Output(ctypes.Structure):
    """`TF_Output`: an operation and the index of one of its outputs."""

    _fields_ = (("operation", c_void_p), ("index", c_int))


class _Buffer(ctypes.Structure):
    """`TF_Buffer`: bytes, and what frees them."""

    _fields_ = (("data", c_void_p), ("length", c_size_t), ("free", c_void_p))


class CLibrary:
    """The functions of the C API, called by name.

    Args:
      folder: where the libraries lie.

    Raises:
      AdapterError: they are not there, or cannot be loaded.

    """

    def __init__(self, folder: Path) -> None:
        main = next((folder / name for name in _MAIN if (folder / name).exists()), None)
        if main is None:
            raise AdapterError(f"{folder} has neither {_MAIN[0]} nor {_MAIN[1]}")
        try:
            if (folder / _FRAMEWORK).exists():
                ctypes.CDLL(str(folder / _FRAMEWORK), mode=ctypes.RTLD_GLOBAL)
            self._library = ctypes.CDLL(str(main), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise AdapterError(f"{main} cannot be loaded: {error}") from error
        # Elements of string tensors by address, kept until the engine calls the deallocator.
        self._strings: dict[int, ctypes.Array[c_int64]] = {}
        self._deallocator = _Deallocator(self._free_strings)

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._library, name)
        function.restype = _RETURN_OF.get(name)
        setattr(self, name, function)
        return function

    def call(self, name: str, *arguments: Any) -> Any:
        """Call a function whose last argument is a status.

        Raises:
          EngineError: the status is not OK.

        """
        status = c_void_p(self.TF_NewStatus())
        try:
            result = getattr(self, name)(*arguments, status)
            code = self.TF_GetCode(status)
            if code:
                raise EngineError(code, self.TF_Message(status).decode(errors="replace"))
            return result
        finally:
            self.TF_DeleteStatus(status)

    def producer(self) -> int:
        """The version of the GraphDefs that this release writes."""
        graph, buffer = c_void_p(self.TF_NewGraph()), c_void_p(self.TF_NewBuffer())
        try:
            self.call("TF_GraphVersions", graph, buffer)
            contents = ctypes.cast(buffer, ctypes.POINTER(_Buffer)).contents
            return VersionDef.FromString(ctypes.string_at(contents.data, contents.length)).producer
        finally:
            self.TF_DeleteBuffer(buffer)
            self.TF_DeleteGraph(graph)

    def buffer(self, content: bytes) -> _Buffer:
        """A `TF_Buffer` of these bytes, which it keeps alive."""
        copied = ctypes.create_string_buffer(content, len(content))
        buffer = _Buffer(ctypes.cast(copied, c_void_p), len(content), None)
        buffer.content = copied
        return buffer

    def tensor(self, value: np.ndarray) -> c_void_p:
        """A new `TF_Tensor` of an array's elements (strings: an object array of bytes).

        Raises:
          NotOfferedError: no tensor has such elements.

        """
        row = row_of_numpy(value.dtype)
        if row is None:
            raise NotOfferedError("dtype", str(value.dtype))
        sizes = (c_int64 * value.ndim)(*value.shape)
        if row is _STRING:
            return self._string_tensor(value, sizes)
        length = c_size_t(value.nbytes)
        tensor = c_void_p(self.TF_AllocateTensor(c_int(row.enum), sizes, c_int(value.ndim), length))
        content = np.ascontiguousarray(value)
        ctypes.memmove(self.TF_TensorData(tensor), content.ctypes.data, value.nbytes)
        return tensor

    def _string_tensor(self, value: np.ndarray, sizes: ctypes.Array[c_int64]) -> c_void_p:
        length = value.size * _STRING_BYTES
        elements = (c_int64 * max(length // 8, 1))()
        start = ctypes.addressof(elements)
        for address, item in zip(_addresses(start, value.size), value.reshape(-1), strict=True):
            self.TF_StringInit(address)
            self.TF_StringCopy(address, item, c_size_t(len(item)))
        self._strings[start] = elements
        return c_void_p(
            self.TF_NewTensor(
                c_int(_STRING.enum),
                sizes,
                c_int(value.ndim),
                elements,
                c_size_t(length),
                self._deallocator,
                None,
            )
        )

    def _free_strings(self, start: int, length: int, _: object) -> None:
        """The engine needs a string tensor's elements no more: called from any of its threads."""
        for address in _addresses(start, length // _STRING_BYTES):
            self.TF_StringDealloc(address)
        self._strings.pop(start, None)

    def array(self, tensor: c_void_p) -> np.ndarray:
        """A copy of a `TF_Tensor`'s elements.

        Raises:
          NotOfferedError: no array holds such elements.

        """
        number = self.TF_TensorType(tensor)
        row = BY_ENUM.get(number)
        if row is None or row.numpy is None:
            raise NotOfferedError("dtype", row.name if row else str(number))
        shape = [self.TF_Dim(tensor, c_int(n)) for n in range(self.TF_NumDims(tensor))]
        start, length = self.TF_TensorData(tensor), self.TF_TensorByteSize(tensor)
        if row is _STRING:
            strings = np.empty(int(np.prod(shape, dtype=np.int64)), object)
            strings[:] = [self._text(address) for address in _addresses(start, strings.size)]
            return strings.reshape(shape)
        array = np.empty(shape, row.numpy)
        if length:
            ctypes.memmove(array.ctypes.data, start, length)
        return array

    def _text(self, address: c_void_p) -> bytes:
        """The bytes of one string of a tensor."""
        size = self.TF_StringGetSize(address)
        data = self.TF_StringGetDataPointer(address)
        return bytes((ctypes.c_char * size).from_address(data)) if size else b""


def _addresses(start: int, count: int) -> list[c_void_p]:
    """The address of each string of a string tensor."""
    return [c_void_p(start + number * _STRING_BYTES) for number in range(count)]
