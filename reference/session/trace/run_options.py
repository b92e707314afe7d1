"""The RunOptions of a run.

As in TensorFlow, the argument is any object that can be serialized; a false value (None, an
empty string) means no options. Clauses: TRACING, RUN-044 on.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from sessrun.reference import errors
from sessrun.spec.proto import ConfigProto, RunOptions

__all__ = ["check_options", "read_options", "wants_graphs", "wants_report", "wants_trace"]


def read_options(options: RunOptions | None) -> RunOptions | None:
    """The RunOptions of the argument `options`; None if that is a false value.

    Raises:
      AttributeError: the argument cannot be serialized.
      InvalidArgumentError: what it serializes to are no RunOptions.

    """
    if not options:
        return None
    data: bytes | str = options.SerializeToString()
    try:
        return RunOptions.FromString(data.encode() if isinstance(data, str) else data)
    except DecodeError as error:
        raise errors.bad_argument("Unparseable RunOptions proto") from error


def wants_trace(options: RunOptions | None) -> bool:
    """Whether step statistics are wanted: every level but NO_TRACE gives the same ones.

    TensorFlow records them, too, to report the live tensors when memory runs out.
    """
    return options is not None and (
        options.trace_level > RunOptions.NO_TRACE or options.report_tensor_allocations_upon_oom
    )


def wants_report(options: RunOptions | None) -> bool:
    """Whether an error for want of memory is to list the allocations of the run."""
    return options is not None and options.report_tensor_allocations_upon_oom


def wants_graphs(options: RunOptions | None) -> bool:
    """Whether RunMetadata is to hold the graphs that are executed."""
    return options is not None and options.output_partition_graphs


def check_options(options: RunOptions | None, config: ConfigProto) -> None:
    """Refuse options that a session of this configuration cannot serve.

    Raises:
      InvalidArgumentError: there is no such thread pool, or partition graphs are disabled.

    """
    if options is None:
        return
    pools = 1
    if not config.use_per_session_threads:
        pools = max(1, len(config.session_inter_op_thread_pool))
    if not -1 <= options.inter_op_thread_pool < pools:
        raise errors.bad_argument(f"Invalid inter_op_thread_pool: {options.inter_op_thread_pool}")
    if options.output_partition_graphs and config.experimental.disable_output_partition_graphs:
        raise errors.bad_argument(
            "RunOptions.output_partition_graphs() is not supported when "
            "disable_output_partition_graphs is true.",
        )
