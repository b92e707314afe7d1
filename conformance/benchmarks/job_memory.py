"""The memory of jobs, each measured in a process of its own, apart from the times.

Interpreter and backend are loaded, the kernel's high-water mark is set back, and then the job is
prepared and called. So the peak is of this job, and what the process had before is known. The
processes that a backend starts are not counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from sessrun.conformance.benchmarks.blocks import Blocks
from sessrun.conformance.benchmarks.memory import JobMemory, resident, set_peak_back
from sessrun.conformance.benchmarks.processes import BenchProcess, JobError, ProcessEndedError

__all__ = ["job_memory", "measure_memory"]


def measure_memory(
    blocks: Blocks, seed: int, progress: Callable[[int, int], None] | None = None
) -> None:
    """Measure the memory of all jobs that every side does, and keep it with their batches.

    Where the kernel does not tell, nothing is kept. A job that fails here is said to be left out.

    Args:
      blocks: the sides and jobs, after their times were measured.
      seed: of the processes' hashes.
      progress: called after each job with how many are done, and how many there are.

    Raises:
      AdapterError: a side does not answer, or answers something else.

    """
    jobs, draw = blocks.jobs(), random.Random(seed)
    with ExitStack() as stack:
        ahead = _started(blocks, draw, stack) if jobs else []
        for number, job in enumerate(jobs, 1):
            processes = ahead
            ahead = _started(blocks, draw, stack) if number < len(jobs) else []  # they load
            for process in processes:
                with process:
                    _measure(blocks, job, process)
            if progress is not None:
                progress(number, len(jobs))


def _started(blocks: Blocks, draw: random.Random, stack: ExitStack) -> Sequence[BenchProcess]:
    """A process of each side, ended with the stack at the latest."""
    seed = draw.randrange(2**31)
    processes = [BenchProcess(side, seed) for side in blocks.sides]
    for process in processes:
        stack.callback(process.close, 0)
    return processes


def _measure(blocks: Blocks, job: str, process: BenchProcess) -> None:
    batches = blocks.batches[job, process.side.name]
    try:
        batches.memory = job_memory(process, job, blocks.device, 2 * batches.calls)
        batches.is_memory_asked = True
    except (JobError, ProcessEndedError) as error:
        entry = {"case": f"memory of {job}", "backend": process.side.name}
        blocks.left_out.append(entry | {"reason": str(error)[:500]})


def job_memory(process: BenchProcess, job: str, device: str, calls: int) -> JobMemory | None:
    """The memory of one job in a process that does nothing else; None where the kernel is silent.

    Args:
      process: a new process.
      job: the job's name.
      device: where its graph is placed.
      calls: how often it is called after its warm-up.

    Raises:
      AdapterError: as `BenchProcess.prepare` and `batch`.

    """
    process.loaded()
    is_of_job = set_peak_back(process.pid)
    before = resident(process.pid)
    process.prepare(job, device)
    process.batch(job, calls)
    after = resident(process.pid)
    if before is None or after is None:
        return None
    return JobMemory(before.now, after.peak, after.now, is_of_job)
