"""The operations of a saver: those that save variables, and those that restore them."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.reference.api.ops import array_ops
from sessrun.reference.api.ops.string_ops import regex_full_match, string_join
from sessrun.reference.api.saving.saveables import SaveableObject, SaveSpec
from sessrun.reference.api.variables.partitioned_variable import PartitionedVariable
from sessrun.reference.base.tensor_shape import TensorShape
from sessrun.reference.build.build import apply_op
from sessrun.reference.build.constant_op import constant
from sessrun.reference.build.framework_ops import group, identity, placeholder_with_default
from sessrun.reference.graph import default_graph
from sessrun.reference.graph.name_scopes import name_scope
from sessrun.reference.graph.operation import Operation
from sessrun.reference.graph.tensor import Tensor
from sessrun.spec import devices
from sessrun.spec.proto import SaverDef

__all__ = ["build"]

#: Prefixes of file systems without rename, and the suffixes of their temporary files.
_REMOTE, _BESIDE, _FOLDER = "^s3://.*", ".part", "_temp/part"


def build(
    saveables: Sequence[SaveableObject],
    *,
    name: str | None,
    filename: str | None,
    sharded: bool,
    reshape: bool,
    version: int,
    max_to_keep: int,
    hours: float,
) -> SaverDef:
    """Make the operations in the default graph, and tell their names.

    Args:
      saveables: the SaveableObjects.
      name: the name scope, `save` by default.
      filename: where to, if a run does not feed it; `model` by default.
      sharded: whether the variables of each device are saved to a separate file.
      reshape: whether restored values take the static shapes of the variables.
      version: the version of the format.
      max_to_keep: for the message.
      hours: for the message.

    Raises:
      TypeError: `write_version` is unknown.

    """
    if version not in (SaverDef.V1, SaverDef.V2):
        raise TypeError(f"Unexpected write_version: {version}")
    with name_scope(name, "save", [saveable.op for saveable in saveables]):
        given = placeholder_with_default(filename or "model", (), name="filename")
        prefix = placeholder_with_default(given, (), name="Const")
        if sharded:
            shards = _by_device(saveables)
            save_shards = _save_shards if version == SaverDef.V2 else _save_old_shards
            saved = save_shards(prefix, shards)
            restored = _restore_shards(prefix, shards, reshape=reshape)
        else:
            saved = _save(prefix, saveables, version)
            restored = _restore(prefix, saveables, "restore_all", reshape=reshape)
        _join_partitioned()
        return SaverDef(
            filename_tensor_name=prefix.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep,
            sharded=sharded,
            keep_checkpoint_every_n_hours=hours,
            version=SaverDef.CheckpointFormatVersion.Name(version),
        )


def _join_partitioned() -> None:
    """Build the concatenated values of partitioned variables of a collection, for meta graphs."""
    graph = default_graph.get_default_graph()
    for key in graph.get_all_collection_keys():
        for item in graph.get_collection(key):
            if isinstance(item, PartitionedVariable):
                item.as_tensor()


def _specs(saveables: Sequence[SaveableObject]) -> list[SaveSpec]:
    return [spec for saveable in saveables for spec in saveable.specs]


def _save(
    prefix: Tensor, saveables: Sequence[SaveableObject], version: int = SaverDef.V2
) -> Tensor:
    """The prefix, once the variables have been saved."""
    specs = _specs(saveables)
    names = [spec.name for spec in specs]
    slices = [spec.slice_spec for spec in specs]
    values = [_value(spec) for spec in specs]
    if version == SaverDef.V2:
        op = apply_op(
            "SaveV2",
            {
                "prefix": prefix,
                "tensor_names": names,
                "shape_and_slices": slices,
                "tensors": values,
            },
            {},
        )
    else:
        op = apply_op(
            "SaveSlices",
            {
                "filename": prefix,
                "tensor_names": names,
                "shapes_and_slices": slices,
                "data": values,
            },
            {},
            name="save",
        )
    graph = default_graph.get_default_graph()
    with graph.control_dependencies([op]), graph.colocate_with(prefix):
        return identity(prefix, name="control_dependency")


def _value(spec: SaveSpec) -> Tensor:
    tensor: Tensor = spec.tensor() if callable(spec.tensor) else spec.tensor
    return tensor


def _restore(
    prefix: Tensor, saveables: Sequence[SaveableObject], name: str, *, reshape: bool
) -> Operation:
    """The operation after which the variables are restored."""
    specs = _specs(saveables)
    with default_graph.get_default_graph().device("/device:CPU:0"):
        values = apply_op(
            "RestoreV2",
            {
                "prefix": prefix,
                "tensor_names": [spec.name for spec in specs],
                "shape_and_slices": [spec.slice_spec for spec in specs],
            },
            {"dtypes": [spec.dtype.base_dtype for spec in specs]},
        ).outputs
    assigned: list[Operation | Tensor] = []
    start = 0
    for saveable in saveables:
        shapes = [_shape(spec) for spec in saveable.specs] if reshape else None
        end = start + len(saveable.specs)
        assigned.append(saveable.restore(values[start:end], shapes))
        start = end
    return group(*assigned, name=name)


def _shape(spec: SaveSpec) -> TensorShape | Tensor:
    tensor = _value(spec)
    return tensor.shape if tensor.shape.is_fully_defined() else array_ops.shape(tensor)


def _cpu(device: str) -> str:
    """The CPU beside a device."""
    return str(devices.DeviceName(kind="CPU", index=0).over(devices.parse(device)))


def _by_device(
    saveables: Sequence[SaveableObject],
) -> list[tuple[str, list[SaveableObject]]]:
    """The saveables by device, in the order of the devices' names."""
    groups: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        asked = {str(devices.parse(spec.device or "")) for spec in saveable.specs}
        if len(asked) != 1:
            raise ValueError(
                "All tensors of a saveable object must be on the same device: " + saveable.name
            )
        groups.setdefault(asked.pop(), []).append(saveable)
    return sorted(groups.items())


def _save_shards(prefix: Tensor, shards: Sequence[tuple[str, list[SaveableObject]]]) -> Tensor:
    """The prefix, once all devices have saved and the shards are merged into a checkpoint."""
    graph = default_graph.get_default_graph()
    with graph.device("CPU"):
        remote = regex_full_match(prefix, _REMOTE)
        suffix = array_ops.where(remote, constant(_BESIDE), constant(_FOLDER))
        unfinished = string_join([prefix, suffix])
    count = constant(len(shards), name="num_shards")
    names, saved = [], []
    for number, (device, saveables) in enumerate(shards):
        with graph.device(_cpu(device)):
            inputs = {"basename": unfinished, "shard": number, "num_shards": count}
            names.append(apply_op("ShardedFilename", inputs, {}).outputs[0])
            saved.append(_save(names[-1], saveables))
    saves = [tensor.op for tensor in saved]
    with graph.control_dependencies(saves), graph.device(_cpu(shards[-1][0])):
        inputs = {"checkpoint_prefixes": names, "destination_prefix": prefix}
        merged = apply_op("MergeV2Checkpoints", inputs, {"delete_old_dirs": True})
        with graph.control_dependencies([merged]):
            return identity(prefix)


def _save_old_shards(prefix: Tensor, shards: Sequence[tuple[str, list[SaveableObject]]]) -> Tensor:
    """The pattern of the shards' names, once all devices have saved their variables."""
    graph = default_graph.get_default_graph()
    count = constant(len(shards), name="num_shards")
    saved = []
    for number, (device, saveables) in enumerate(shards):
        with graph.device(device):
            inputs = {"basename": prefix, "shard": number, "num_shards": count}
            name = apply_op("ShardedFilename", inputs, {}).outputs[0]
            saved.append(_save(name, saveables, SaverDef.V1))
    with graph.control_dependencies([tensor.op for tensor in saved]):
        inputs = {"basename": prefix, "num_shards": count}
        return apply_op("ShardedFilespec", inputs, {}).outputs[0]


def _restore_shards(
    prefix: Tensor, shards: Sequence[tuple[str, list[SaveableObject]]], *, reshape: bool
) -> Operation:
    graph = default_graph.get_default_graph()
    restored = []
    for device, saveables in shards:
        with graph.device(device):
            restored.append(_restore(prefix, saveables, "restore_shard", reshape=reshape))
    return group(*restored, name="restore_all")
