"""The feeds and options of one run, of the caller and the hooks together. Source: TF 2.21."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sessrun.spec.proto import RunOptions

__all__ = ["joined_feeds", "merge_options"]

#: Options of which the largest counts.
_LARGEST: Final = (
    "trace_level",
    "timeout_in_ms",
    "inter_op_thread_pool",
    "output_partition_graphs",
    "report_tensor_allocations_upon_oom",
)


def joined_feeds(
    feeds: Mapping[object, object], others: Mapping[object, object], who: str
) -> dict[object, object]:
    """The feeds of both.

    Raises:
      RuntimeError: a key is in both.

    """
    both = [key for key in feeds if key in others]
    if both:
        raise RuntimeError(f"Same tensor is fed by {who}. Conflict(s): {both}")
    return {**feeds, **others}


def merge_options(options: RunOptions, others: RunOptions) -> None:
    """Put more options into those of a run."""
    for name in _LARGEST:
        setattr(options, name, max(getattr(options, name), getattr(others, name)))
    debug, more = options.debug_options, others.debug_options
    debug.debug_tensor_watch_opts.extend(more.debug_tensor_watch_opts)
    debug.reset_disk_byte_usage = debug.reset_disk_byte_usage or more.reset_disk_byte_usage
