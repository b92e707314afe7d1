"""Vectors of VARIABLES and PLACEMENT: shared names, kinds, devices, destroyed variables."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from sessrun.conformance.authoring.record import EngineAuthor, by, engine_case
from sessrun.conformance.subjects.run.cases.run import floats
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Tensor

_NAME: Final = "shared"


def reference(
    tf: Namespace, name: str, first: npt.ArrayLike, shared: str = _NAME, container: str = ""
) -> None:
    """A reference variable NAME, and NAME_set and NAME_read, which set and read it."""
    value = np.asarray(first)
    variable = tf.raw_ops.VariableV2(
        shape=value.shape, dtype=value.dtype, shared_name=shared, container=container, name=name
    )
    tf.raw_ops.Assign(ref=variable, value=value, name=f"{name}_set")
    tf.identity(variable, name=f"{name}_read")


def resource(
    tf: Namespace, name: str, first: npt.ArrayLike, shared: str = _NAME, container: str = ""
) -> Tensor:
    """A handle NAME, and the operations NAME_set, NAME_read, NAME_known and NAME_destroy."""
    value = np.asarray(first)
    handle = tf.raw_ops.VarHandleOp(
        shape=value.shape, dtype=value.dtype, shared_name=shared, container=container, name=name
    )
    tf.raw_ops.AssignVariableOp(resource=handle, value=value, name=f"{name}_set")
    tf.raw_ops.ReadVariableOp(resource=handle, dtype=value.dtype, name=f"{name}_read")
    tf.raw_ops.VarIsInitializedOp(resource=handle, name=f"{name}_known")
    destroy = tf.raw_ops.DestroyResourceOp
    destroy(resource=handle, ignore_lookup_error=False, name=f"{name}_destroy")
    destroy(resource=handle, ignore_lookup_error=True, name=f"{name}_let_go")
    return handle


# --- one name ------------------------------------------------------------------------------


@engine_case("VARIABLES-037", title="A reference variable of a known name has its dtype.")
def a_reference_of_another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        reference(tf, "a", floats(1, 2))
        reference(tf, "b", np.array([3, 4], np.float64))
        reference(tf, "same", floats(5, 6))
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], error=[3, 13])
    s.run(["b_set"], error=[3, 13])
    s.run(["same_read:0"], values=[floats(1, 2)])


@engine_case("VARIABLES-037", title="A handle of a known name has its dtype.")
def a_handle_of_another_dtype(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "a", np.array([1, 2], np.int64))
        resource(tf, "b", np.array([3, 4], np.float64))
        resource(tf, "same", np.array([5, 6], np.int64))
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], error=[3, 13])
    s.run(["b_set"], error=[3, 13])
    s.run(["a_read:0"], values=[np.array([1, 2], np.int64)])
    s.run(["same_set"])
    s.run(["a_read:0"], values=[np.array([5, 6], np.int64)])


@engine_case("VARIABLES-037", title="A name has a dtype for each container and device.")
def another_dtype_elsewhere(c: EngineAuthor) -> None:
    with c.graph() as tf:
        reference(tf, "r", floats(1, 2))
        resource(tf, "v", floats(1, 2))
        reference(tf, "boxed_r", np.int64(3), container="box")
        resource(tf, "boxed_v", np.int64(3), container="box")
        with tf.device("/cpu:1"):
            resource(tf, "far_v", np.int64(4))
            resource(tf, "odd_far_v", floats(6))
        reference(tf, "odd_boxed_r", floats(5), container="box")
        resource(tf, "odd_boxed_v", floats(5), container="box")
    s = c.open(config={"deviceCount": {"CPU": 2}})
    s.run(["r_set", "v_set", "boxed_r_set", "boxed_v_set", "far_v_set"])
    s.run(["r_read:0", "v_read:0"], values=[floats(1, 2), floats(1, 2)])
    s.run(["boxed_r_read:0", "boxed_v_read:0"], values=[np.int64(3), np.int64(3)])
    s.run(["far_v_read:0"], values=[np.int64(4)])
    for name in ("odd_boxed_r", "odd_boxed_v", "odd_far_v"):
        s.run([f"{name}_set"], error=[3, 13])


@engine_case("VARIABLES-066", title="A reference and a resource variable of one name are two.")
def two_kinds_of_one_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        reference(tf, "a", floats(1, 2))
        resource(tf, "b", floats(3, 4))
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], error=[9])
    s.run(["b_known:0"], values=[np.bool_(False)])
    s.run(["b_set"])
    s.run(["a_read:0", "b_read:0"], values=[floats(1, 2), floats(3, 4)])


@engine_case("VARIABLES-066", title="Destroying a resource variable leaves the reference variable.")
def a_reference_outlives_the_resource(c: EngineAuthor) -> None:
    with c.graph() as tf:
        reference(tf, "a", np.int64(7))
        resource(tf, "b", np.int64(8))
    s = c.open()
    s.run(["b_set"])
    s.run(["a_read:0"], error=[9])
    s.run(["a_set"])
    s.run(["b_destroy"])
    s.run(["a_read:0"], values=[np.int64(7)])


@engine_case(
    "VARIABLES-035",
    "VARIABLES-036",
    title="Handles of one name share a variable; in another container they do not.",
)
def handles_in_containers(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "a", np.array([1, 2], np.uint8))
        resource(tf, "b", np.array([3, 4], np.uint8))
        resource(tf, "apart", np.array([5, 6], np.uint8), container="elsewhere")
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], values=[np.array([1, 2], np.uint8)])
    c.blame("VARIABLES-035")
    s.run(["apart_known:0"], values=[np.bool_(False)])
    s.run(["apart_set"])
    c.blame("VARIABLES-036")
    s.run(["b_set"])
    one, apart = np.array([3, 4], np.uint8), np.array([5, 6], np.uint8)
    wanted = [by("VARIABLES-035", one), by("VARIABLES-036", apart)]
    s.run(["a_read:0", "apart_read:0"], values=wanted)
    c.blame("VARIABLES-035")


@engine_case("VARIABLES-035", title="A reference variable without a shared name has its node's.")
def names_of_reference_variables(c: EngineAuthor) -> None:
    with c.graph() as tf:
        reference(tf, "a", floats(1, 2), shared="")
        reference(tf, "b", floats(3, 4), shared="a")
        reference(tf, "apart", floats(5, 6), shared="")
        with tf.name_scope("scope"):
            reference(tf, "inner", floats(7, 8), shared="")
        reference(tf, "by_path", floats(9, 10), shared="scope/inner")
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], values=[floats(1, 2)])
    s.run(["apart_read:0"], error=[9])
    s.run(["by_path_read:0"], error=[9])
    s.run(["b_set", "by_path_set"])
    s.run(["a_read:0", "scope/inner_read:0"], values=[floats(3, 4), floats(9, 10)])


@engine_case("VARIABLES-035", title="Handles without a shared name are of one variable.")
def handles_without_a_name(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "a", np.array([1, 2], np.int64), shared="")
        resource(tf, "b", np.array([3, 4], np.int64), shared="")
        resource(tf, "apart", np.array([5, 6], np.int64), shared="a")
    s = c.open()
    s.run(["a_set"])
    s.run(["b_read:0"], values=[np.array([1, 2], np.int64)])
    s.run(["apart_read:0"], error=[9])
    s.run(["b_set"])
    s.run(["a_read:0"], values=[np.array([3, 4], np.int64)])


# --- two devices ---------------------------------------------------------------------------


@engine_case("PLACEMENT-039", title="A name on a second CPU is another resource variable.")
def one_name_on_two_devices(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for number, first in enumerate((floats(1, 2), floats(3, 4))):
            with tf.device(f"/cpu:{number}"):
                resource(tf, f"v{number}", first)
    s = c.open(config={"deviceCount": {"CPU": 2}})
    s.run(["v0_set"])
    s.run(["v0_known:0", "v1_known:0"], values=[np.bool_(True), np.bool_(False)])
    s.run(["v1_read:0"], error=[9])
    s.run(["v1_set"])
    s.run(["v0_read:0", "v1_read:0"], values=[floats(1, 2), floats(3, 4)])
    s.run(["v1_destroy"])
    s.run(["v0_read:0"], values=[floats(1, 2)])


@engine_case("PLACEMENT-039", title="Handles of one name on the second CPU are one variable there.")
def one_name_on_the_second_device(c: EngineAuthor) -> None:
    with c.graph() as tf:
        for name, device in (("a", "/cpu:1"), ("b", "/cpu:1"), ("apart", "/cpu:0")):
            with tf.device(device):
                resource(tf, name, np.array([len(name)], np.int64))
    s = c.open(config={"deviceCount": {"CPU": 2}})
    s.run(["a_set"])
    s.run(["b_read:0"], values=[np.array([1], np.int64)])
    s.run(["apart_read:0"], error=[9])


# --- destroyed variables -------------------------------------------------------------------


@engine_case("VARIABLES-041", title="A destroyed variable is uninitialised, until it is set again.")
def a_destroyed_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = resource(tf, "v", floats(1, 2))
        tf.raw_ops.AssignAddVariableOp(resource=handle, value=floats(1, 1), name="plus")
    s = c.open()
    s.run(["v_set"])
    s.run(["v_destroy"], values=[None])
    s.run(["v_known:0"], values=[np.bool_(False)])
    s.run(["v_read:0"], error=[9])
    s.run(["plus"], error=[9, 5])
    s.run(["v_set"])
    s.run(["v_read:0"], values=[floats(1, 2)])


@engine_case("VARIABLES-041", title="A variable destroyed by one of its handles is gone for all.")
def destroyed_by_another_handle(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "a", np.array([True, False]))
        resource(tf, "b", np.array([False, False]))
    s = c.open()
    s.run(["a_set"])
    s.run(["b_let_go"])
    s.run(["a_known:0"], values=[np.bool_(False)])
    s.run(["a_read:0"], error=[9])
    s.run(["b_set"])
    s.run(["a_read:0"], values=[np.array([False, False])])


@engine_case("VARIABLES-042", title="What does not exist can be destroyed only if that is ignored.")
def destroying_what_is_not_there(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "v", np.float64(1))
    s = c.open()
    s.run(["v_destroy"], error=[5])
    s.run(["v_let_go"], values=[None])
    s.run(["v_set"])
    s.run(["v_destroy"], values=[None])
    s.run(["v_destroy"], error=[5])


@engine_case("VARIABLES-029", title="Asking whether a variable is initialised changes nothing.")
def asking_nodes(c: EngineAuthor) -> None:
    with c.graph() as tf:
        resource(tf, "v", np.complex64(1j))
        variable = tf.raw_ops.VariableV2(shape=[2], dtype=tf.string, name="r")
        tf.raw_ops.IsVariableInitialized(ref=variable, name="r_known")
        tf.raw_ops.Assign(ref=variable, value=[b"a", b""], name="r_set")
    s = c.open()
    for set_ in (False, True):
        for _ in range(2):
            s.run(["v_known:0", "r_known:0"], values=[np.bool_(set_), np.bool_(set_)])
        s.run(["v_set", "r_set"])


# --- shapes --------------------------------------------------------------------------------


@engine_case("VARIABLES-084", title="VariableShape is that of the value, not that of the handle.")
def the_shape_of_the_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = resource(tf, "v", floats(1, 2))
        x = tf.placeholder(tf.float32, None, name="x")
        tf.raw_ops.AssignVariableOp(resource=handle, value=x, name="set")
        tf.raw_ops.VariableShape(input=handle, name="shape")
        tf.raw_ops.VariableShape(input=handle, out_type=tf.int64, name="long_shape")
    s = c.open()
    for value in (np.zeros([2, 3], np.float32), floats(), np.float32(4), floats(1, 2)):
        s.run(["set"], {"x:0": value})
        shape = np.array(value.shape)
        s.run(["shape:0", "long_shape:0"], values=[shape.astype(np.int32), shape.astype(np.int64)])


@engine_case("VARIABLES-085", title="A value of any shape is assigned where no shape is validated.")
def any_shape_is_assigned(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = resource(tf, "v", floats(1, 2))
        x = tf.placeholder(tf.float32, None, name="x")
        tf.raw_ops.AssignVariableOp(resource=handle, value=x, name="any")
    s = c.open()
    s.run(["v_set"])
    for value in (floats(1, 2, 3), np.float32(4), np.ones([1, 2], np.float32)):
        s.run(["any"], {"x:0": value})
        s.run(["v_read:0"], values=[value])


@engine_case("VARIABLES-107", title="A validated shape is that of the value held.")
def a_validated_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        handle = tf.raw_ops.VarHandleOp(shape=[2], dtype=tf.int32, name="v")
        x = tf.placeholder(tf.int32, None, name="x")
        assign = tf.raw_ops.AssignVariableOp
        assign(resource=handle, value=x, validate_shape=True, name="same")
        tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.int32, name="read")
    s = c.open()
    s.run(["same"], {"x:0": np.array([1, 2, 3], np.int32)})
    s.run(["same"], {"x:0": np.array([4, 5], np.int32)}, error=[3])
    s.run(["read:0"], values=[np.array([1, 2, 3], np.int32)])
    s.run(["same"], {"x:0": np.array([7, 8, 9], np.int32)})
    s.run(["read:0"], values=[np.array([7, 8, 9], np.int32)])
