"""How a mistake shows in a session: what is run, compared and counted."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from sessrun.adapters.fakes import simulated_gpu
from sessrun.adapters.registry import load
from sessrun.conformance.selfcheck.covered import BACKEND
from sessrun.conformance.selfcheck.gpu_mistakes.sessions import ProgramSession

__all__ = ["Sign", "counted", "signs"]

#: Steps before one is counted: the first ones compile, and allocate what stays.
_WARM: Final = 2
#: Steps after it, which are to keep no more memory than it did.
_MORE: Final = 3

#: How a mistake shows, and what is wrong in words.
Sign = tuple[str, str]


@dataclass(slots=True)
class _Ran:
    """What became of a session: the values of each step, what one of them counted, what it left."""

    values: list[list[Any]] = field(default_factory=list)
    counters: Mapping[str, int] = field(default_factory=dict)
    left: list[Sign] = field(default_factory=list)


def signs(session: ProgramSession) -> list[Sign]:
    """What is wrong with a session on simulated GPUs.

    It shows as an `exception`, a `race`, a `value` other than the CPU's, a `budget` that is passed,
    `memory` that is not given back, or another `state` of the thread than the session found.
    """
    try:
        ran = _run(session, on_gpu=True)
    except Exception as error:  # noqa: BLE001 - whatever the mistake does
        return [("exception", f"{type(error).__name__}: {error}".splitlines()[0]), *_races()]
    shown = [*_races(), *ran.left]
    wanted = _run(session, on_gpu=False).values
    shown += [("value", text) for text in _differences(ran.values, wanted)]
    return shown + [
        ("budget", f"a step counts {ran.counters[name]} {name}, not {most} or less")
        for name, most in session.budget.items()
        if ran.counters[name] > most
    ]


def counted(session: ProgramSession) -> Mapping[str, int]:
    """The counters of a step, those of all devices together."""
    return _run(session, on_gpu=True).counters


def _run(session: ProgramSession, *, on_gpu: bool) -> _Ran:
    backend: Any = load(f"{BACKEND}#simulated-gpu={session.devices}")
    tf = backend.namespace
    machine, ran = simulated_gpu.machine(), _Ran()
    with tf.Graph().as_default(), tf.device(None if on_gpu else "/cpu:0"):
        step = session.build(tf, "/gpu:1" if on_gpu else "/cpu:0")
        first = tf.global_variables_initializer()
        config = tf.ConfigProto(allow_soft_placement=True)
        with tf.Session(config=config) as opened:
            opened.run(first)
            ran.values += [step(opened) for _ in range(_WARM)]
            before = _counters()
            ran.values.append(step(opened))
            ran.counters = {name: count - before[name] for name, count in _counters().items()}
            used = _used_bytes()
            ran.values += [step(opened) for _ in range(_MORE)]
            ran.left += _kept(_used_bytes() - used, f"{_MORE} steps")
            current = (machine.device.index, machine.stream.number)
            if current != (0, 0):
                text = "device {} and stream {} are current after a step".format(*current)
                ran.left.append(("state", text))
    ran.left += _kept(_used_bytes(), "the session")
    return ran


def _counters() -> dict[str, int]:
    devices = simulated_gpu.machine().devices
    forms = [device.counters.as_dict() for device in devices]
    return {name: sum(form[name] for form in forms) for name in forms[0]}


def _used_bytes() -> int:
    gc.collect()
    return sum(device.used_bytes for device in simulated_gpu.machine().devices)


def _kept(size: int, what: str) -> list[Sign]:
    return [("memory", f"{what} kept {size} bytes of a device")] if size > 0 else []


def _races() -> list[Sign]:
    return [("race", text) for text in simulated_gpu.races()[:1]]


def _differences(values: Sequence[Any], wanted: Sequence[Any]) -> Iterator[str]:
    """The first value that is another one, or no value of the host."""
    for number, (mine, its) in enumerate(zip(values, wanted, strict=True), 1):
        for index, (value, want) in enumerate(zip(mine, its, strict=True)):
            where = f"value {index} of step {number}"
            if not isinstance(value, np.ndarray | np.generic | int):
                yield f"{where} is a {type(value).__module__}.{type(value).__name__}"
                return
            near = np.isclose(value, want, rtol=1e-4, atol=1e-5)  # no session gives NaN
            if not near.all():
                first = np.argmin(near)
                got, expected = np.broadcast_arrays(value, want)
                yield f"{where} has {got.flat[first]}, on the CPU {expected.flat[first]}"
                return
