"""Kernels of checkpoints: the files themselves are the matter of `reference/checkpoints`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from sessrun.reference.base.kernel_errors import InvalidArgument, NotFound
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import string_array
from sessrun.reference.kernels.registry import Bind, binder, kernel
from sessrun.reference.state.checkpoints.bundle_files import local
from sessrun.reference.state.checkpoints.merge import merge_checkpoints
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.checkpoints.tensor_slices import read_spec
from sessrun.reference.state.checkpoints.version1 import SliceFiles, write_slices
from sessrun.reference.state.checkpoints.writer import Saved, write_checkpoint
from sessrun.spec.dtypes import BY_NAME

__all__: list[str] = []

_CPU: Final = ("CPU",)


def _path(tensor: Any) -> str:
    """The one string of a tensor, as a path."""
    if tensor.size != 1:
        raise InvalidArgument(
            f"Input prefix should have a single element, got {tensor.size} instead."
        )
    return local(tensor.reshape(-1)[0])


def _named(names: Any, slices: Any, dtypes: Sequence[str]) -> list[tuple[bytes, str]]:
    """The name and the slice of each tensor."""
    if names.ndim != 1 or slices.ndim != 1:
        raise InvalidArgument(
            "Input tensor_names and shape_and_slices should be an 1-D tensors, got "
            f"{bracketed(names.shape)} and {bracketed(slices.shape)} instead."
        )
    if names.size != len(dtypes):
        raise InvalidArgument(f"Got {names.size} tensor names, but {len(dtypes)} expected dtypes.")
    if names.size != slices.size:
        raise InvalidArgument(
            "tensor_names and shape_and_slices have different number of elements: "
            f"{names.size} vs. {slices.size}"
        )
    texts = [text.decode(errors="replace") for text in slices.tolist()]
    return list(zip(names.tolist(), texts, strict=True))


@binder("SaveV2", devices=_CPU)
def save(bind: Bind) -> Callable[..., Any]:
    """Writes tensors to a checkpoint."""
    dtypes = bind.attrs["dtypes"]

    def compute(prefix: Any, names: Any, slices: Any, *tensors: Any) -> None:
        path = _path(prefix)
        rows = zip(_named(names, slices, dtypes), tensors, dtypes, strict=True)
        write_checkpoint(path, [_saved(*named, *row) for named, *row in rows])

    return compute


def _saved(name: bytes, text: str, array: Any, dtype: str) -> Saved:
    if not text:
        return Saved(name, array, dtype)
    shape, part, sizes = read_spec(text)
    if array.shape != sizes:
        raise InvalidArgument(
            "Slice in shape_and_slice specification does not match the shape of the "
            f"tensor to  save: {text}, tensor: {bracketed(array.shape)}"
        )
    return Saved(name, array, dtype, shape, part)


@binder("RestoreV2", devices=_CPU)
def restore(bind: Bind) -> Callable[..., Any]:
    """Reads tensors from a checkpoint."""
    dtypes = bind.attrs["dtypes"]

    def compute(prefix: Any, names: Any, slices: Any) -> Any:
        path = _path(prefix)
        wanted = _named(names, slices, dtypes)
        found = _opened(path)
        _check_dtypes(found, wanted, dtypes)
        values = tuple(_restored(found, name, text) for name, text in wanted)
        return values[0] if len(values) == 1 else values

    return compute


def _opened(path: str) -> Checkpoint | SliceFiles:
    """The checkpoint; what has no index may be one of version 1."""
    try:
        return Checkpoint(path)
    except NotFound:
        return SliceFiles(path)


def _check_dtypes(
    found: Checkpoint | SliceFiles, wanted: Sequence[tuple[bytes, str]], dtypes: Sequence[str]
) -> None:
    """Every tensor is there, and of its dtype."""
    wrong = []
    for (name, _), dtype in sorted(zip(wanted, dtypes, strict=True)):
        has = found.dtype(name)
        if has != dtype:
            wrong.append(
                f"tensor_name = {name.decode(errors='replace')}; expected dtype "
                f"{BY_NAME[dtype].opdef} does not equal original dtype {BY_NAME[has].opdef}"
            )
    if wrong:
        raise InvalidArgument("\n".join(wrong))


def _restored(found: Checkpoint | SliceFiles, name: bytes, text: str) -> Any:
    if not text:
        return found.tensor(name)
    shape, part, _ = read_spec(text)
    has = found.shape(name)
    if shape != has:
        raise InvalidArgument(
            f"tensor_name = {name.decode(errors='replace')}; shape in shape_and_slice "
            f"spec {bracketed(shape)} does not match the shape stored in checkpoint: "
            f"{bracketed(has)}"
        )
    return found.tensor(name, part)


@binder("MergeV2Checkpoints", devices=_CPU)
def merge(bind: Bind) -> Callable[..., Any]:
    """Makes one checkpoint of several."""
    delete, missing = bind.attrs["delete_old_dirs"], bind.attrs["allow_missing_files"]

    def compute(prefixes: Any, destination: Any) -> None:
        if prefixes.ndim != 1:
            raise InvalidArgument(
                "Input checkpoint_prefixes should be an 1-D tensor, got "
                f"{bracketed(prefixes.shape)} instead."
            )
        (target,) = _scalars(**{"Input destination_prefix": destination})
        merge_checkpoints(
            [local(prefix) for prefix in prefixes.tolist()],
            local(target),
            delete_folders=delete,
            allow_missing=missing,
        )

    return compute


def _scalars(**tensors: Any) -> list[Any]:
    """The one element of each."""
    for name, tensor in tensors.items():
        if tensor.ndim:
            raise InvalidArgument(f"{name} must be a scalar, got shape {bracketed(tensor.shape)}")
    return [tensor.item() for tensor in tensors.values()]


@kernel("ShardedFilename", devices=_CPU)
def sharded_filename(_: Any, basename: Any, shard: Any, num_shards: Any) -> Any:
    """The name of one of several files."""
    base, part, count = _scalars(basename=basename, shard=shard, num_shards=num_shards)
    return string_array([base + b"-%05d-of-%05d" % (part, count)], ())


@kernel("ShardedFilespec", devices=_CPU)
def sharded_filespec(_: Any, basename: Any, num_shards: Any) -> Any:
    """The pattern of the names of several files."""
    base, count = _scalars(basename=basename, num_shards=num_shards)
    return string_array([base + b"-?????-of-%05d" % count], ())


@binder("Save", devices=_CPU)
def save_whole(bind: Bind) -> Callable[..., Any]:
    """Writes tensors to a file of version 1."""
    dtypes = bind.attrs["T"]

    def compute(filename: Any, names: Any, *tensors: Any) -> None:
        rows = zip(names.tolist(), tensors, dtypes, strict=True)
        write_slices(_path(filename), [Saved(*row) for row in rows])

    return compute


@binder("SaveSlices", devices=_CPU)
def save_slices(bind: Bind) -> Callable[..., Any]:
    """Writes tensors, or slices of tensors, to a file of version 1."""
    dtypes = bind.attrs["T"]

    def compute(filename: Any, names: Any, slices: Any, *tensors: Any) -> None:
        rows = zip(_named(names, slices, dtypes), tensors, dtypes, strict=True)
        write_slices(_path(filename), [_saved(*named, *row) for named, *row in rows])

    return compute


@binder("Restore", devices=_CPU)
@binder("RestoreSlice", devices=_CPU)
def restore_slice(bind: Bind) -> Callable[..., Any]:
    """Reads a tensor, or a slice of one, from files of version 1."""
    dtype = bind.attrs["dt"]

    def compute(pattern: Any, name: Any, part: Any = None) -> Any:
        (wanted,) = _scalars(tensor_name=name)
        text = "" if part is None else part.item().decode(errors="replace")
        found = SliceFiles(_path(pattern))
        _check_dtypes(found, [(wanted, text)], [dtype])
        return _restored(found, wanted, text)

    return compute
