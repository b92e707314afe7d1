"""Programs of `tf.config`: devices, soft placement, threads, options of the graph optimizer.

The logical devices are listed first, which fixes what a program can change: what a program
before this one did makes no difference then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]

#: The switches of the graph optimizer with their default values.
_SWITCHES: Final = {
    "layout_optimizer": True,
    "constant_folding": True,
    "shape_optimization": True,
    "remapping": True,
    "arithmetic_optimization": True,
    "dependency_optimization": True,
    "loop_optimization": True,
    "function_optimization": True,
    "debug_stripper": False,
    "scoped_allocator_optimization": False,
    "pin_to_host_optimization": False,
    "implementation_selector": True,
    "auto_mixed_precision": False,
    "auto_mixed_precision_mkl": False,
    "auto_mixed_precision_onednn_bfloat16": False,
    "use_plugin_optimizers": True,
    "disable_model_pruning": False,
    "disable_meta_optimizer": False,
}


def _processors(tf):
    config = tf.config
    logical = config.list_logical_devices("CPU")
    physical = config.list_physical_devices("CPU")
    visible = config.get_visible_devices("CPU")
    return [list(map(tuple, devices)) for devices in (logical, physical, visible)], attempt(
        lambda: [type(device[0]).__name__ for device in (logical, physical, visible)],
        lambda: config.list_logical_devices("NPU"),
        lambda: config.get_visible_devices("NPU"),
        lambda: tuple(config.list_logical_devices()[0]),
        lambda: config.list_logical_devices("cpu"),
        lambda: tuple(config.get_visible_devices()[0]),
        lambda: tuple(config.LogicalDevice("a", 1)),
        lambda: config.PhysicalDevice("a", "b") == ("a", "b"),
        lambda: config.experimental.list_logical_devices("CPU") == logical,
        lambda: config.experimental.get_visible_devices("CPU") == visible,
        lambda: config.experimental.get_device_details(physical[0]),
        lambda: config.experimental.get_device_details(logical[0]),
        lambda: config.experimental.get_device_details(config.PhysicalDevice("x", "CPU")),
        lambda: config.experimental.get_device_details("/cpu:0"),
    )


def _visible_processors(tf):
    config = tf.config
    config.list_logical_devices()
    first, other = config.list_physical_devices("CPU")[0], config.PhysicalDevice("x", "CPU")
    return attempt(
        lambda: config.set_visible_devices(first, "CPU"),
        lambda: config.set_visible_devices([first], "CPU"),
        lambda: config.set_visible_devices(config.list_physical_devices()),
        lambda: config.set_visible_devices([], "CPU"),
        lambda: config.set_visible_devices([]),
        lambda: config.set_visible_devices(other),
        lambda: config.set_visible_devices([first], "GPU"),
        lambda: config.set_visible_devices([first, other], "CPU"),
        lambda: config.set_visible_devices("/cpu:0"),
        lambda: config.set_visible_devices(None),
        lambda: config.set_visible_devices((first,), "CPU"),
        lambda: config.experimental.set_visible_devices([], "CPU"),
        lambda: [tuple(device) for device in config.get_visible_devices("CPU")],
    )


def _logical_processors(tf):
    config = tf.config
    config.list_logical_devices()
    part, experimental = config.LogicalDeviceConfiguration, config.experimental
    first, other = config.list_physical_devices("CPU")[0], config.PhysicalDevice("x", "CPU")
    tell = config.set_logical_device_configuration
    return attempt(
        lambda: config.get_logical_device_configuration(first),
        lambda: config.get_logical_device_configuration(other),
        lambda: experimental.get_virtual_device_configuration(first),
        lambda: tell(first, [part(), part()]),
        lambda: tell(first, []),
        lambda: tell(other, [part()]),
        lambda: tell(first, [part(), part(memory_limit=10)]),
        lambda: tell(first, [part(experimental_priority=1)]),
        lambda: tell(first, [part(experimental_device_ordinal=1)]),
        lambda: experimental.set_virtual_device_configuration(first, [part()]),
        lambda: tuple(part()),
        lambda: tuple(part(1, 2, 3)),
        lambda: tuple(experimental.VirtualDeviceConfiguration(memory_limit=5)),
        lambda: config.get_logical_device_configuration(first),
    )


def _memory(tf):
    """Memory of devices that do not exist; that of a CPU depends on what ran before."""
    config, experimental = tf.config, tf.config.experimental
    config.list_logical_devices()
    first, other = config.list_physical_devices("CPU")[0], config.PhysicalDevice("x", "GPU")
    return [
        attempt(
            *(
                lambda ask=ask, device=device: ask(device)
                for device in (
                    "CPU",
                    "CPU:9",
                    "/job:a/cpu:0",
                    "/device:CPU:9",
                    "no name",
                    3,
                )
            )
        )
        for ask in (
            experimental.get_memory_info,
            experimental.reset_memory_stats,
            experimental.get_memory_usage,
        )
    ], attempt(
        lambda: experimental.get_memory_growth(first),
        lambda: experimental.get_memory_growth(other),
        lambda: experimental.set_memory_growth(first, True),
        lambda: experimental.set_memory_growth(first, False),
        lambda: experimental.set_memory_growth(other, True),
    )


def _threads(tf):
    config, threads = tf.config, tf.config.threading
    config.list_logical_devices()
    pairs = (
        (threads.get_inter_op_parallelism_threads, threads.set_inter_op_parallelism_threads),
        (threads.get_intra_op_parallelism_threads, threads.set_intra_op_parallelism_threads),
    )
    return [
        attempt(get, lambda s=tell, g=get: s(g()), lambda s=tell, g=get: s(g() + 3), get)
        for get, tell in pairs
    ]


def _soft_placement(tf):
    """Sessions without a configuration, for operations on a device that does not exist."""
    config = tf.config
    before = config.get_soft_device_placement()

    def placed():
        with tf.Graph().as_default(), tf.device("/device:CPU:7"):
            x = tf.constant(3) * 2
            with tf.Session() as session:
                return session.run(x)

    outcomes = []
    try:
        for value in (True, False, 1, 0):
            config.set_soft_device_placement(value)
            outcomes.append(attempt(lambda: bool(config.get_soft_device_placement()), placed))
    finally:
        config.set_soft_device_placement(before)
    return outcomes


@contextlib.contextmanager
def _usual_options(optimizer) -> Iterator[None]:
    """Afterwards every option has its default value again."""
    try:
        yield
    finally:
        optimizer.set_experimental_options({**_SWITCHES, "min_graph_nodes": 0})
        optimizer.set_jit(False)


def _optimizer_options(tf):
    optimizer, tell = tf.config.optimizer, tf.config.optimizer.set_experimental_options
    outcomes = []
    with _usual_options(optimizer):
        tell(_SWITCHES)
        for number, name in enumerate(_SWITCHES):
            tell({name: number % 2 == 0})
            outcomes.append(optimizer.get_experimental_options())
        outcomes += attempt(
            lambda: tell({"min_graph_nodes": 7}),
            optimizer.get_experimental_options,
            lambda: tell({}),
            lambda: tell({"no such option": True}),
            lambda: sorted(optimizer.get_experimental_options().items()),
            lambda: tell(None),
            lambda: tell(3),
            lambda: tell({"min_graph_nodes": -1}),
            optimizer.get_experimental_options,
        )
        with tf.Graph().as_default(), tf.Session() as session:
            outcomes.append(session.run(tf.constant([1, 2]) + tf.constant([3, 4])))
    return outcomes, sorted(optimizer.get_experimental_options().items())


def _jit(tf):
    """`set_jit` and `get_jit` with several values."""
    optimizer = tf.config.optimizer
    outcomes = []
    with _usual_options(optimizer):
        for value in (True, False, "autoclustering", "", 1, None, "other"):
            outcomes += attempt(lambda v=value: optimizer.set_jit(v), optimizer.get_jit)
    return outcomes, optimizer.get_jit()


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (
        _processors,
        _visible_processors,
        _logical_processors,
        _memory,
        _threads,
        _soft_placement,
        _optimizer_options,
        _jit,
    )
}
