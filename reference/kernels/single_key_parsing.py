"""Kernels of parsing Examples in graphs of earlier releases: single keys, no ragged features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sessrun.reference.base.arrays import Array
from sessrun.reference.base.kernel_errors import InvalidArgument
from sessrun.reference.graph.node_summary import bracketed
from sessrun.reference.kernels.examples import parse_example
from sessrun.reference.kernels.host import HOST, string_array
from sessrun.reference.kernels.registry import Bind, KernelFunction, binder
from sessrun.reference.kernels.sequence_examples import parse_sequence_example

_CPU: Final = ("CPU",)
_NO_ROWS: Final = {
    f"{group}ragged_{what}_types": ()
    for group in ("", "context_", "feature_list_")
    for what in ("value", "split")
}
#: The counts of keys, in the order of the inputs.
_COUNTS: Final = (
    "Ncontext_sparse",
    "Ncontext_dense",
    "Nfeature_list_sparse",
    "Nfeature_list_dense",
)


def _newer(bind: Bind) -> Bind:
    """The node's attributes as those of the newer operation, without ragged features."""
    return replace(bind, attrs={**bind.attrs, **_NO_ROWS})


def _vector(keys: Sequence[Array | bytes | str]) -> Array:
    """Keys, which are scalar tensors or attributes, as one vector of strings."""
    items = [key if isinstance(key, bytes | str) else key.item() for key in keys]
    texts = [item.encode() if isinstance(item, str) else item for item in items]
    return string_array(texts, (len(texts),))


def _assumed_empty(keys: Array, assumed: Array) -> Array:
    """For each of the keys whether a missing feature list counts as empty: a vector of bools."""
    known = set(assumed.reshape(-1).tolist())
    return HOST.array([key in known for key in keys.tolist()], dtype="bool")


@binder("ParseExample", devices=_CPU)
def older_example(bind: Bind) -> KernelFunction:
    """As `ParseExampleV2`."""
    parse = parse_example(_newer(bind))
    sparse, dense = bind.attrs["Nsparse"], bind.attrs["Ndense"]

    def compute(serialized: Array, names: Array, *rest: Array) -> object:
        keys = _vector(rest[:sparse]), _vector(rest[sparse : sparse + dense]), _vector(())
        return parse(serialized, names, *keys, *rest[sparse + dense :])

    return compute


@binder("ParseSingleExample", devices=_CPU)
def single_example(bind: Bind) -> KernelFunction:
    """As `ParseExampleV2` for a single Example, with the keys as attributes."""
    attrs, parse = bind.attrs, parse_example(_newer(bind))
    keys = _vector(attrs["sparse_keys"]), _vector(attrs["dense_keys"]), _vector(())
    none = _vector(())

    def compute(serialized: Array, *defaults: Array) -> object:
        if serialized.ndim:
            shape = bracketed(serialized.shape)
            raise InvalidArgument(f"Expected serialized to be a scalar, got shape: {shape}")
        return parse(serialized, none, *keys, *defaults)

    return compute


@binder("ParseSequenceExample", devices=_CPU)
def older_sequence_example(bind: Bind) -> KernelFunction:
    """As `ParseSequenceExampleV2`."""
    attrs, parse = bind.attrs, parse_sequence_example(_newer(bind))
    first, second = (
        [_vector(attrs[f"{group}_{kind}_keys"]) for kind in ("sparse", "dense")]
        for group in ("context", "feature_list")
    )
    assumed = _vector(attrs["feature_list_dense_missing_assumed_empty"])
    none, may_miss = _vector(()), _assumed_empty(second[1], assumed)

    def compute(serialized: Array, names: Array, *defaults: Array) -> object:
        return parse(serialized, names, *first, none, *second, none, may_miss, *defaults)

    return compute


@binder("ParseSingleSequenceExample", devices=_CPU)
def older_single_sequence_example(bind: Bind) -> KernelFunction:
    """As `ParseSequenceExampleV2` for a single one, without the lengths of dense lists."""
    parse = parse_sequence_example(_newer(bind))
    counts = [bind.attrs[name] for name in _COUNTS]

    def compute(serialized: Array, assumed: Array, *rest: Array) -> Array | tuple[Array, ...]:
        given = list(rest)
        keys = [_vector([given.pop(0) for _ in range(count)]) for count in counts]
        *defaults, name = given
        none, may_miss = _vector(()), _assumed_empty(keys[3], assumed)
        outputs = parse(serialized, name, *keys[:2], none, *keys[2:], none, may_miss, *defaults)
        values = outputs if isinstance(outputs, tuple) else (outputs,)
        kept = values[: len(values) - counts[3]]
        return kept[0] if len(kept) == 1 else kept

    return compute
