"""Interleaved measurement: every backend does every job in every round, in a drawn order.

All backends live in this one process, so that they share the machine's moods. All samples are
kept. What this process's clock says of each is held against a clock in another process
(`clock.py`): where the two disagree nothing is measured.
"""

from __future__ import annotations

import contextlib
import datetime
import gc
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from sessrun import __version__
from sessrun.adapters.device_clock import DeviceClock
from sessrun.adapters.errors import AdapterError
from sessrun.adapters.namespace import NamespaceBackend
from sessrun.adapters.peer import PEERS, Peer, load_peer
from sessrun.adapters.registry import load
from sessrun.conformance.benchmarks.ceilings import ceilings
from sessrun.conformance.benchmarks.clock import OtherClock
from sessrun.conformance.benchmarks.jobs import JOBS, Job, Prepared
from sessrun.conformance.benchmarks.measured_device import MeasuredDevice, measured_device
from sessrun.conformance.benchmarks.selection import Fitted, fitted, gpu_jobs
from sessrun.conformance.benchmarks.series import Series
from sessrun.conformance.facts import environment
from sessrun.spec import devices
from sessrun.spec.forms import Json

__all__ = ["measure"]

_Backend = NamespaceBackend | Peer


def measure(
    backends: Sequence[str],
    jobs: Sequence[Job] = (),
    *,
    rounds: int,
    seed: int,
    device: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure jobs on backends.

    Args:
      backends: names of peers (`sessrun.adapters.peer`), or names as `sessrun.adapters.registry`
        takes them; these need a namespace.
      jobs: the jobs to time; if empty, all that suit the device.
      rounds: samples per job and backend.
      seed: of the order in each round.
      device: where the graphs are placed (`/gpu:0`), empty for the default.
      progress: called with (rounds done, rounds).

    Returns:
      The measurement as `bench.schema.json` has it, times in seconds per call.

    Raises:
      AdapterError: a backend cannot be loaded, has no namespace, is named twice, can do no job
        at all, or the clock of this process is not to be trusted.

    """
    if len(set(backends)) < len(backends):
        raise AdapterError(f"a backend is named twice: {', '.join(backends)}")
    loaded = {spec: _loaded(spec, device) for spec in backends}
    target = measured_device(device, list(loaded.values()))
    chosen = _chosen(jobs, target, len(loaded))
    left_out: list[dict[str, str]] = [_left(name, why) for name, why in chosen.left_out]
    series = _ready(chosen, loaded, device, target, left_out)
    before, unknown = ceilings(target)
    left_out += [_left(f"ceiling {name}", why) for name, why in unknown]
    try:
        order, states = _sampled(series, rounds, seed, target, progress)
        after = {} if target.index is None else ceilings(target)[0]
    finally:
        for entry in series:
            entry.prepared.close()
    optional = {"ceilings_after": after, "states": states, "left_out": left_out}
    return {
        "bench": 1,
        "sessrun": __version__,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "fingerprint": _fingerprint(loaded, device) | target.fingerprint(),
        "device": target.to_json(),
        "seed": seed,
        "rounds": rounds,
        "order": order,
        "ceilings": before,
        "series": [entry.to_json() for entry in series],
    } | {key: value for key, value in optional.items() if value}


def _sampled(
    series: Sequence[Series],
    rounds: int,
    seed: int,
    target: MeasuredDevice,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[list[int]], list[dict[str, Any]]]:
    """Sample every series in every round; the order of each round, and the device's state after it.

    Raises:
      AdapterError: the clock of this process is not to be trusted.

    """
    states: list[dict[str, Any]] = []

    def after_round(number: int) -> None:
        state = target.state()
        if state is not None:
            states.append({"round": number, **state})
        if progress is not None:
            progress(number + 1, rounds)

    with OtherClock() as clock:
        began = clock.moment(perf_counter)
        order = _interleave(series, rounds, seed, clock, after_round)
        apart = began.disagreement(clock.moment(perf_counter))
    if not target.simulated:  # whose times count for nothing anyway
        _check_clocks(series, apart)
    return order, states


def _loaded(spec: str, device: str) -> _Backend:
    if spec in PEERS:
        name = devices.parse(device)
        return load_peer(spec, name.index or 0 if name.kind == "GPU" else None)
    backend = load(spec)
    if not isinstance(backend, NamespaceBackend):
        raise AdapterError(
            f"{spec!r} has no Python namespace and is no peer ({', '.join(PEERS)}); "
            "bench times Session.run"
        )
    return backend


def _fingerprint(loaded: Mapping[str, _Backend], device: str) -> dict[str, Json]:
    """The facts of the machine and the backends, without those of the device."""
    versions = {spec: _version(backend) for spec, backend in loaded.items()}
    return environment() | {"device": device or "default", "backends": versions}


def _version(backend: _Backend) -> str:
    return (
        backend.version if not isinstance(backend, NamespaceBackend) else backend.describe().version
    )


def _chosen(jobs: Sequence[Job], target: MeasuredDevice, copies: int) -> Fitted:
    """The jobs that were named, else those that suit the device; on a GPU of sizes that fit it."""
    wanted = tuple(jobs) or (JOBS if target.index is None else (*JOBS, *gpu_jobs()))
    if target.gpu is None:
        return Fitted(wanted, {}, [])
    gpu = target.gpu
    small = gpu.simulated and not jobs  # what is named is done, if it takes minutes
    return fitted(wanted, copies, gpu.free_bytes, gpu.cache_bytes, small=small)


def _left(case: str, reason: str, **more: str) -> dict[str, str]:
    return {"case": case, **more, "reason": reason[:500]}


def _ready(
    chosen: Fitted,
    loaded: Mapping[str, _Backend],
    device: str,
    target: MeasuredDevice,
    left_out: list[dict[str, str]],
) -> list[Series]:
    """Every job on every backend that does it, warmed up; what one cannot do is left out.

    Jobs in their order, backends as they were named: the others are compared with the first.

    Raises:
      AdapterError: a backend can do no job.

    """
    series: list[Series] = []
    for job in chosen.jobs:
        for spec, backend in loaded.items():
            try:
                measured = _series(job, spec, backend, device, target)
                if measured is not None:
                    measured.note = chosen.notes.get(job.name, "")
                    series.append(measured)
            except AdapterError as error:
                left_out.append(_left(job.name, str(error), backend=spec))
    for spec in loaded:
        if not any(entry.backend == spec for entry in series):
            reasons = [entry["reason"] for entry in left_out if entry.get("backend") == spec]
            raise AdapterError(reasons[0] if reasons else f"{spec!r} does none of these jobs")
    return series


def _series(
    job: Job, spec: str, backend: _Backend, device: str, target: MeasuredDevice
) -> Series | None:
    """A job on a backend, warmed up; None if peers do not do it."""
    clock: DeviceClock | None
    with _as_adapter_error(job, spec):
        if isinstance(backend, NamespaceBackend):
            prepared = job.prepare(backend.namespace, device)
            clock = target.gpu if backend.gpu is not None else None
        elif job.peer is None:
            return None
        else:
            prepared, clock = job.peer(backend), backend.clock
        series = Series(job, spec, _settled(prepared, target), clock)
        counts = target.gpu is not None and clock is target.gpu
        try:
            series.warm_up(target.gpu.counted if counts and target.gpu else lambda _: None)
        except Exception:
            prepared.close()  # its memory is for the others
            raise
    return series


def _settled(prepared: Prepared, target: MeasuredDevice) -> Prepared:
    """The job, waiting for the whole device where its backend has no way of its own."""
    if prepared.settle is not None or target.gpu is None:
        return prepared
    return replace(prepared, settle=target.gpu.settle)


def _check_clocks(series: Sequence[Series], apart: str | None) -> None:
    """Refuse what was measured if the clocks went apart over the run, or around the samples."""
    for entry in series:
        difference = entry.clocks.disagreement()
        apart = apart or (difference and f"of {entry.job.name!r} on {entry.backend!r} {difference}")
    if apart is not None:
        raise AdapterError(f"no time counts: {apart}")


@contextlib.contextmanager
def _as_adapter_error(job: Job, spec: str) -> Iterator[None]:
    """Raise AdapterError for whatever a backend raises before anything is timed."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AdapterError(f"{spec!r} cannot do the job {job.name!r}: {reason}") from error


def _interleave(
    series: Sequence[Series],
    rounds: int,
    seed: int,
    clock: OtherClock,
    after_round: Callable[[int], None],
) -> list[list[int]]:
    """Sample every series once a round, in a drawn order; the orders."""
    draw = random.Random(seed)
    orders = []
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            orders.append(draw.sample(range(len(series)), len(series)))
            for index in orders[-1]:
                series[index].sample(clock)
            after_round(number)
    finally:
        gc.enable()
    return orders
