"""Vectors of GPU on memory: want of it, limits, virtual GPUs, which GPUs a session has.

The first session of a process decides how TensorFlow divides its GPUs: a case that configures
them has a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from sessrun.conformance.authoring.forms import Recordable
from sessrun.conformance.authoring.record import ApiAuthor, Symbol
from sessrun.conformance.authoring.record import api_case as authored
from sessrun.conformance.subjects.run.cases.run import floats

#: Elements of a square of float32 that no GPU holds: 4 TiB.
_SIDE: Final = 1048576
#: So many floats are 16 MiB.
_MIB_16: Final = 4194304


def _filled(
    c: ApiAuthor, device: str, rank: int = 1, name: str = "filled"
) -> tuple[Symbol, Symbol]:
    """A fill of float32 on a device, and the placeholder of its shape."""
    dims = c.tf.placeholder(c.tf.int32, [rank], name=f"{name}_dims")
    with c.within(c.tf.device(device)):
        return c.tf.fill(dims, np.float32(1.5), name=name), dims


def _square() -> np.ndarray:
    return np.array([_SIDE, _SIDE], np.int32)


def _api_case(
    clause: str, title: str, **options: Any
) -> Callable[[Callable[[ApiAuthor], None]], Callable[[ApiAuthor], None]]:
    return authored(clause, title=title, **({"needs": ("gpu",)} | options))


def _gpu_options(c: ApiAuthor, **options: Recordable) -> Symbol:
    return c.tf.ConfigProto(gpu_options=c.tf.GPUOptions(**options))


def _virtual(c: ApiAuthor, *limits: int, **options: Recordable) -> Symbol:
    """A configuration that makes virtual GPUs of the first one, with limits in MiB."""
    kinds = c.tf.GPUOptions.Experimental
    devices = kinds.VirtualDevices(memory_limit_mb=list(limits))
    experimental = kinds(virtual_devices=[devices])
    return _gpu_options(c, visible_device_list="0", experimental=experimental, **options)


@_api_case("GPU-023", "More memory than there is: code 8.")
def more_than_there_is(c: ApiAuthor) -> None:
    filled, dims = _filled(c, "/gpu:0", 2)
    sess = c.tf.Session()
    c.raises("ResourceExhaustedError", lambda: sess.run(filled.op, {dims: _square()}))


@_api_case("GPU-024", "The want of memory is told with shape, type, device and allocator.")
def the_want_of_memory_is_told(c: ApiAuthor) -> None:
    filled, dims = _filled(c, "/gpu:0", 2)
    words = [f"[{_SIDE},{_SIDE}]", "float", "/device:GPU:0", "allocator"]
    c.named_check(
        "gpu.failure",
        [8],
        session=c.tf.Session(),
        fetches=filled.op,
        feeds={dims: _square()},
        words=words,
    )


@_api_case("GPU-025", "The session goes on after a want of memory.", deadline_s=60.0)
def the_session_goes_on(c: ApiAuthor) -> None:
    filled, dims = _filled(c, "/gpu:0", 2)
    with c.within(c.tf.device("/gpu:0")):
        variable = c.tf.Variable(floats(1, 2), use_resource=True, name="v")
        added = c.tf.assign_add(variable, floats(1, 1))
    sess = c.tf.Session()
    sess.run(variable.initializer)
    for total in (2, 3):
        c.raises("ResourceExhaustedError", lambda: sess.run(filled.op, {dims: _square()}))
        c.check(sess.run(added), floats(total, total + 1))
        c.check(
            sess.run(filled, {dims: np.array([1, 2], np.int32)}), np.full((1, 2), 1.5, np.float32)
        )


@_api_case("GPU-026", "A part of the GPU's memory is all there is.", isolated=True)
def a_part_of_the_memory(c: ApiAuthor) -> None:
    filled, count = _filled(c, "/gpu:0")
    options: dict[str, Recordable] = {
        "per_process_gpu_memory_fraction": 0.004,
        "visible_device_list": "0",
    }
    sess = c.tf.Session(config=_gpu_options(c, **options))
    c.named_check("gpu.limits_below", [True], session=sess, most=2**32)
    c.named_check(
        "gpu.over_its_limit", [8, 0], session=sess, number=0, filled=filled.op, count=count
    )


@_api_case("GPU-027", "Virtual GPUs are listed with their limits.", isolated=True)
def virtual_gpus_are_listed(c: ApiAuthor) -> None:
    sess = c.tf.Session(config=_virtual(c, 64, 8))
    c.named_check("gpu.limits", [64 * 2**20, 8 * 2**20], session=sess)


@_api_case("GPU-028", "Each virtual GPU has its limit.", isolated=True)
def each_virtual_gpu_has_its_limit(c: ApiAuthor) -> None:
    small, few = _filled(c, "/gpu:0", name="small")
    large, many = _filled(c, "/gpu:1", name="large")
    sess = c.tf.Session(config=_virtual(c, 8, 64))
    length = np.array([_MIB_16], np.int32)
    c.raises("ResourceExhaustedError", lambda: sess.run(small.op, {few: length}))
    c.check(sess.run(large.op, {many: length}), None)
    c.check(sess.run(small, {few: np.array([2], np.int32)}), floats(1.5, 1.5))


@_api_case("GPU-029", "The second GPU of a session works as the first.", isolated=True)
def the_second_gpu_works(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [2], name="x")
    with c.within(c.tf.device("/gpu:0")):
        first = c.tf.exp(x, name="first")
    with c.within(c.tf.device("/gpu:1")):
        variable = c.tf.Variable(floats(1, 2), use_resource=True, name="v")
        added = c.tf.assign_add(variable, first, name="added")
        second = c.tf.negative(first, name="second")
    sess = c.tf.Session(config=_virtual(c, 64, 64))
    sess.run(variable.initializer)
    feeds = {x: floats(0, 0)}
    c.check(sess.run([added, second], feeds), [floats(2, 3), floats(-1, -1)])
    names = ["first", "second", added.op.name]
    c.named_check(
        "gpu.ran_on",
        [["GPU:0"], ["GPU:1"], ["GPU:1"]],
        session=sess,
        fetches=[added, second],
        feeds=feeds,
        names=names,
    )
    c.check(sess.run(variable), floats(3, 4))


@_api_case("GPU-030", "Virtual GPUs and a part of the memory contradict each other.", isolated=True)
def limits_that_contradict(c: ApiAuthor) -> None:
    config = _virtual(c, 8, 8, per_process_gpu_memory_fraction=0.25)
    c.named_check("gpu.refused_by_a_session", 3, config=config)


@_api_case("GPU-031", "A session with allow_growth takes more and more.", isolated=True)
def memory_grows(c: ApiAuthor) -> None:
    filled, dims = _filled(c, "/gpu:0")
    sess = c.tf.Session(config=_gpu_options(c, allow_growth=True))
    for length in (1, 2**12, 2**20, 2**24):
        c.check(sess.run(filled.op, {dims: np.array([length], np.int32)}), None)
    c.check(sess.run(filled, {dims: np.array([2], np.int32)}), floats(1.5, 1.5))


@_api_case("GPU-032", "A visible_device_list that makes no sense is refused.", isolated=True)
def lists_that_make_no_sense(c: ApiAuthor) -> None:
    for text in ("x", "901", "0,0"):
        c.named_check(
            "gpu.refused_by_a_session", 3, config=_gpu_options(c, visible_device_list=text)
        )


@_api_case(
    "GPU-033",
    "The second GPU of two may be the only one.",
    isolated=True,
    needs=("gpu", "two-gpus"),
)
def the_second_of_two(c: ApiAuthor) -> None:
    x = c.tf.placeholder(c.tf.float32, [2], name="x")
    with c.within(c.tf.device("/gpu:0")):
        y = c.tf.exp(x, name="y")
    sess = c.tf.Session(config=_gpu_options(c, visible_device_list="1"))
    c.named_check("gpu.listed_count", 1, session=sess)
    c.named_check(
        "gpu.ran_on", [["GPU:0"]], session=sess, fetches=y, feeds={x: floats(0, 0)}, names=["y"]
    )
