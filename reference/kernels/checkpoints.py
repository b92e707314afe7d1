"""Kernels that save and restore tensors; `state/checkpoints` reads and writes the files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sessrun.reference.base.arrays import Array, ArrayModule
from sessrun.reference.base.kernel_errors import InvalidArgument, NotFound
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.input_shapes import require_rank
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder, kernel
from sessrun.reference.state.checkpoints.bundle_files import local
from sessrun.reference.state.checkpoints.merge import merge_checkpoints
from sessrun.reference.state.checkpoints.reader import Checkpoint
from sessrun.reference.state.checkpoints.tensor_slices import read_spec
from sessrun.reference.state.checkpoints.version1 import SliceFiles, write_slices
from sessrun.reference.state.checkpoints.writer import Saved, write_checkpoint
from sessrun.spec.dtypes import BY_NAME
from sessrun.spec.tensor_slices import TensorSlice

_CPU: Final = ("CPU",)


def _path(tensor: Array) -> str:
    """The only string of a tensor, as a path."""
    if tensor.size != 1:
        raise InvalidArgument(
            f"Input prefix should have a single element, got {tensor.size} instead."
        )
    return local(tensor.item())


def _named(names: Array, slices: Array, dtypes: Sequence[str]) -> list[tuple[bytes, str]]:
    """The name and the slice specification of each tensor."""
    require_rank(1, names=names, slices=slices)
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
def save(bind: Bind) -> KernelFunction:
    """Writes tensors, or slices of tensors, to a checkpoint of version 2."""
    dtypes = bind.attrs["dtypes"]

    def compute(prefix: Array, names: Array, slices: Array, *tensors: Array) -> None:
        path = _path(prefix)
        rows = zip(_named(names, slices, dtypes), tensors, dtypes, strict=True)
        write_checkpoint(path, [_saved(*named, *row) for named, *row in rows])

    return compute


def _saved(name: bytes, text: str, array: Array, dtype: str) -> Saved:
    if not text:
        return Saved(name, array, dtype)
    shape, part, sizes = read_spec(text)
    if array.shape != sizes:
        raise InvalidArgument(
            f"The slice {text} has another shape than the tensor to save, {bracketed(array.shape)}"
        )
    return Saved(name, array, dtype, shape, part)


@kernel("RestoreV2", devices=_CPU)
def restore(
    _: ArrayModule, prefix: Array, names: Array, slices: Array, *, dtypes: Sequence[str]
) -> Array | tuple[Array, ...]:
    """Reads tensors, or slices of tensors, from a checkpoint of version 2 or 1."""
    path = _path(prefix)
    wanted = _named(names, slices, dtypes)
    checkpoint = _opened(path)
    _check_dtypes(checkpoint, wanted, dtypes)
    values = tuple(_restored(checkpoint, name, text) for name, text in wanted)
    return values[0] if len(values) == 1 else values


def _opened(path: str) -> Checkpoint | SliceFiles:
    """The checkpoint of a path; without an index file it is taken for one of version 1."""
    try:
        return Checkpoint(path)
    except NotFound:
        return SliceFiles(path)


def _check_dtypes(
    checkpoint: Checkpoint | SliceFiles, wanted: Sequence[tuple[bytes, str]], dtypes: Sequence[str]
) -> None:
    """Check that the checkpoint has every tensor, in the expected dtype."""
    wrong = []
    for (name, _), dtype in sorted(zip(wanted, dtypes, strict=True)):
        has = checkpoint.dtype(name)
        if has != dtype:
            wrong.append(
                f"tensor_name = {name.decode(errors='replace')}; expected dtype "
                f"{BY_NAME[dtype].opdef} does not equal original dtype {BY_NAME[has].opdef}"
            )
    if wrong:
        raise InvalidArgument("\n".join(wrong))


def _restored(checkpoint: Checkpoint | SliceFiles, name: bytes, text: str) -> Array:
    if not text:
        return _read(checkpoint, name)
    shape, part, _ = read_spec(text)
    has = checkpoint.shape(name)
    if shape != has:
        raise InvalidArgument(
            f"tensor_name = {name.decode(errors='replace')}; shape in shape_and_slice "
            f"spec {bracketed(shape)} does not match the shape stored in checkpoint: "
            f"{bracketed(has)}"
        )
    return _read(checkpoint, name, part)


def _read(
    checkpoint: Checkpoint | SliceFiles, name: bytes, part: TensorSlice | None = None
) -> Array:
    return HOST.asarray(checkpoint.tensor(name) if part is None else checkpoint.tensor(name, part))


@kernel("MergeV2Checkpoints", devices=_CPU)
def merge(
    _: ArrayModule,
    prefixes: Array,
    destination: Array,
    *,
    delete_old_dirs: bool,
    allow_missing_files: bool,
) -> None:
    """Merges several checkpoints into one."""
    require_rank(1, prefixes=prefixes)
    (target,) = _scalars(**{"Input destination_prefix": destination})
    merge_checkpoints(
        [local(prefix) for prefix in prefixes.tolist()],
        local(target),
        delete_folders=delete_old_dirs,
        allow_missing=allow_missing_files,
    )


def _scalars(**tensors: Array) -> list[Any]:
    """The elements of tensors that must be scalars, as Python values."""
    for name, tensor in tensors.items():
        require_rank(0, **{name: tensor})
    return [tensor.item() for tensor in tensors.values()]


@kernel("ShardedFilename", devices=_CPU)
def sharded_filename(_: ArrayModule, basename: Array, shard: Array, num_shards: Array) -> Array:
    """The name of one of several files: `base-00001-of-00003`."""
    base, part, count = _scalars(basename=basename, shard=shard, num_shards=num_shards)
    return string_array([base + b"-%05d-of-%05d" % (part, count)], ())


@kernel("ShardedFilespec", devices=_CPU)
def sharded_filespec(_: ArrayModule, basename: Array, num_shards: Array) -> Array:
    """The pattern of the names of several files: `base-?????-of-00003`."""
    base, count = _scalars(basename=basename, num_shards=num_shards)
    return string_array([base + b"-?????-of-%05d" % count], ())


@kernel("Save", devices=_CPU)
def save_tensors(
    _: ArrayModule, filename: Array, names: Array, *tensors: Array, T: Sequence[str]
) -> None:
    """Writes tensors to a checkpoint file of version 1."""
    rows = zip(names.tolist(), tensors, T, strict=True)
    write_slices(_path(filename), [Saved(*row) for row in rows])


@binder("SaveSlices", devices=_CPU)
def save_slices(bind: Bind) -> KernelFunction:
    """Writes tensors, or slices of tensors, to a checkpoint file of version 1."""
    dtypes = bind.attrs["T"]

    def compute(filename: Array, names: Array, slices: Array, *tensors: Array) -> None:
        rows = zip(_named(names, slices, dtypes), tensors, dtypes, strict=True)
        write_slices(_path(filename), [_saved(*named, *row) for named, *row in rows])

    return compute


@binder("Restore", devices=_CPU)
@binder("RestoreSlice", devices=_CPU)
def restore_slice(bind: Bind) -> KernelFunction:
    """Reads a tensor, or a slice of one, from checkpoint files of version 1."""
    dtype = bind.attrs["dt"]

    def compute(pattern: Array, name: Array, part: Array | None = None) -> Array:
        (wanted,) = _scalars(tensor_name=name)
        text = "" if part is None else part.item().decode(errors="replace")
        files = SliceFiles(_path(pattern))
        _check_dtypes(files, [(wanted, text)], [dtype])
        return _restored(files, wanted, text)

    return compute
