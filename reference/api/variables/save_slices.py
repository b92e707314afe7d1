"""`tf.Variable.SaveSliceInfo`: offset and shape of a part of a partitioned variable."""

from __future__ import annotations

from collections.abc import Sequence

from sessrun.spec.proto import SaveSliceInfoDef
from sessrun.spec.proto.foreign import adopt

__all__ = ["SaveSliceInfo"]


def _integer(text: str, rule: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"Spec string {rule}: {text!r} is none.") from error


class SaveSliceInfo:
    """The offset and shape of a part in a partitioned variable.

    Args:
      full_name: the name of the partitioned variable.
      full_shape: its shape.
      var_offset: the offset of the part along every axis.
      var_shape: the shape of the part.
      save_slice_info_def: a SaveSliceInfoDef, which says all of this instead.
      import_scope: a name scope that is put before the name in `save_slice_info_def`.

    Raises:
      AssertionError: `save_slice_info_def` is not a SaveSliceInfoDef.

    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape
        if not save_slice_info_def:
            return
        if type(save_slice_info_def).__name__ != "SaveSliceInfoDef":
            raise AssertionError(
                f"save_slice_info_def must be a SaveSliceInfoDef, not {save_slice_info_def!r}"
            )
        proto = adopt(save_slice_info_def, SaveSliceInfoDef)
        scope = f"{import_scope.rstrip('/')}/" if import_scope else ""
        self.full_name = scope + proto.full_name
        self.full_shape = list(proto.full_shape)
        self.var_offset, self.var_shape = list(proto.var_offset), list(proto.var_shape)

    @classmethod
    def from_spec(cls, spec: str) -> SaveSliceInfo:
        """The SaveSliceInfo that `spec` is the text of, None for an empty one; without the name.

        Raises:
          ValueError: the shape, or a pair of an offset and a size, is missing.

        """
        if not spec:
            return cls()
        *shape, places = spec.split(" ")
        if not shape:
            raise ValueError("Spec string must contain space-separated full_shape info.")
        full = [_integer(size, "full_shape must be a sequence of integers") for size in shape]
        offsets, sizes = [], []
        for extent in places.split(":"):
            pair = extent.split(",")
            if len(pair) != 2:
                raise ValueError(
                    "Spec string must contain comma-separated pairs of offsets and shapes."
                )
            offsets.append(_integer(pair[0], "var_offset must be an integer"))
            sizes.append(_integer(pair[1], "var_shape must be an integer"))
        return cls(None, full, offsets, sizes)

    @property
    def spec(self) -> str:
        """Full shape and slice as checkpoints write them: `4 6 0,2:0,3`."""
        offsets, sizes = self.var_offset or (), self.var_shape or ()
        places = (f"{offset},{size}" for offset, size in zip(offsets, sizes, strict=True))
        return f"{' '.join(map(str, self.full_shape or ()))} {':'.join(places)}"

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """The SaveSliceInfoDef, without `export_scope` in its name; None if outside of that."""
        name = self.full_name or ""
        if export_scope is not None and not name.startswith(export_scope):
            return None
        prefix = f"{export_scope.rstrip('/')}/" if export_scope else ""
        return SaveSliceInfoDef(
            full_name=name.removeprefix(prefix),
            full_shape=list(self.full_shape or ()),
            var_offset=list(self.var_offset or ()),
            var_shape=list(self.var_shape or ()),
        )
