"""Vectors of VARIABLES, profile core: what a variable holds, of both kinds."""

from __future__ import annotations

import numpy as np

from sessrun.conformance.authoring.record import (
    ApiAuthor,
    EngineAuthor,
    api_case,
    differs_from,
    engine_case,
    keep,
    like,
    same_as,
)
from sessrun.spec.cases.arguments import TensorLike
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Variable


def variable(
    tf: Namespace, value: TensorLike, name: str = "v", *, resource: bool = False
) -> Variable:
    """A variable with the operations `init` (its initializer) and `read`, named by `name`."""
    result = tf.Variable(value, name=name, use_resource=resource)
    tf.group(result.initializer, name=f"{name}_init")
    tf.identity(result.read_value() if resource else result.value(), name=f"{name}_read")
    return result


@engine_case("VARIABLES-001", title="Reading an uninitialised reference variable fails.")
def an_uninitialised_reference_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable(tf, np.array([1, 2], np.float32))
    s = c.open()
    s.run(["v_read:0"], error=[9])
    s.run(["v_read:0"], error=[9])


@engine_case("VARIABLES-002", title="Reading an uninitialised resource variable fails.")
def an_uninitialised_resource_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        variable(tf, np.array([1, 2], np.float32), resource=True)
    s = c.open()
    s.run(["v_read:0"], error=[9])
    s.run(["v_read:0"], error=[9])


@engine_case("VARIABLES-003", title="An update of an uninitialised reference variable fails.")
def an_update_of_an_uninitialised_reference(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.float32(1))
        tf.assign_add(v, 2.0, name="plus")
        tf.assign_sub(v, 2.0, name="minus")
    s = c.open()
    s.run(["plus:0"], error=[9])
    s.run(["minus:0"], error=[9])


@engine_case("VARIABLES-004", title="An update of an uninitialised resource variable fails.")
def an_update_of_an_uninitialised_resource(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.float32(1), resource=True)
        tf.group(v.assign_add(2.0, read_value=False), name="plus")
        tf.group(v.assign_sub(2.0, read_value=False), name="minus")
    s = c.open()
    s.run(["plus"], error=[9, 5])
    s.run(["minus"], error=[9, 5])


def _initialised(c: EngineAuthor, *, resource: bool) -> None:
    start = np.array([[1, 2], [3, 4]], np.int32)
    with c.graph() as tf:
        variable(tf, start, resource=resource)
    s = c.open()
    s.run(["v_init"], values=[None])
    s.run(["v_read:0"], values=[start])


@engine_case("VARIABLES-005", title="An initializer gives a reference variable its initial value.")
def an_initialised_reference_variable(c: EngineAuthor) -> None:
    _initialised(c, resource=False)


@engine_case("VARIABLES-005", title="An initializer gives a resource variable its initial value.")
def an_initialised_resource_variable(c: EngineAuthor) -> None:
    _initialised(c, resource=True)


@engine_case("VARIABLES-007", title="A reference variable keeps its value from run to run.")
def a_reference_variable_lasts(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([[0, 0]], np.float32))
        tf.assign_add(v, np.array([[1, 2]], np.float32), name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"])
    s.run(["plus"])
    s.run(["v_read:0"], values=[np.array([[2, 4]], np.float32)])
    s.run(["v_read:0"], values=[np.array([[2, 4]], np.float32)])


@engine_case("VARIABLES-007", title="A resource variable keeps its value from run to run.")
def a_resource_variable_lasts(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([[0, 0]], np.float32), resource=True)
        tf.group(v.assign_add(np.array([[1, 2]], np.float32), read_value=False), name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"])
    s.run(["plus"])
    s.run(["v_read:0"], values=[np.array([[2, 4]], np.float32)])


@engine_case("VARIABLES-008", title="An assignment gives the assigned value.")
def an_assignment_gives_the_new_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.float32(1))
        tf.assign(v, tf.placeholder(tf.float32, [], name="x"), name="set")
    s = c.open()
    s.run(["v_init"])
    s.run(["set:0"], {"x:0": np.float32(5)}, values=[np.float32(5)])
    s.run(["set:0"], {"x:0": np.float32(-2)}, values=[np.float32(-2)])
    s.run(["v_read:0"], values=[np.float32(-2)])


@engine_case("VARIABLES-009", title="assign_add gives the new value.")
def assign_add_gives_the_new_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 10], np.int32))
        tf.assign_add(v, np.array([2, 3], np.int32), name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus:0"], values=[np.array([3, 13], np.int32)])
    s.run(["plus:0"], values=[np.array([5, 16], np.int32)])
    s.run(["v_read:0"], values=[np.array([5, 16], np.int32)])


@engine_case("VARIABLES-010", title="assign_sub of a reference variable gives the new value.")
def assign_sub_gives_the_new_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 10], np.float32))
        tf.assign_sub(v, np.array([2, 3], np.float32), name="minus")
    s = c.open()
    s.run(["v_init"])
    s.run(["minus:0"], values=[np.array([-1, 7], np.float32)])
    s.run(["v_read:0"], values=[np.array([-1, 7], np.float32)])


@engine_case("VARIABLES-010", title="assign_sub of a resource variable subtracts.")
def assign_sub_of_a_resource_variable(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 10], np.float32), resource=True)
        tf.group(v.assign_sub(np.array([2, 3], np.float32), read_value=False), name="minus")
    s = c.open()
    s.run(["v_init"])
    s.run(["minus"])
    s.run(["v_read:0"], values=[np.array([-1, 7], np.float32)])


@engine_case("VARIABLES-011", title="An initializer run again restores the initial value.")
def an_initializer_runs_again(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.float32(3))
        tf.assign_add(v, 1.0, name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"])
    s.run(["v_init"])
    s.run(["v_read:0"], values=[np.float32(3)])


@engine_case("VARIABLES-012", title="A random initial value is drawn when the initializer runs.")
def a_random_initial_value(c: EngineAuthor) -> None:
    with c.graph() as tf:
        tf.set_random_seed(7)
        variable(tf, tf.random_uniform([4], seed=3), resource=True)
    s = c.open()
    s.run(["v_init"])
    s.run(["v_read:0"], values=[keep("first")])
    s.run(["v_read:0"], values=[same_as("first")])
    s.run(["v_init"])
    s.run(["v_read:0"], values=[differs_from("first")])
    s.run(["v_read:0"], values=[like("float32", [4])])


@engine_case("VARIABLES-013", title="Variables of every kind of dtype hold their values exactly.")
def variables_of_every_kind_of_dtype(c: EngineAuthor) -> None:
    values = [
        np.array([b"a", b"\0b", b""], object),
        np.array([True, False]),
        np.array([1 + 2j, -0.5j], np.complex64),
        np.array([2**62 + 1, -1], np.int64),
        np.array([0.1, 1e300]),
        np.array([255, 0], np.uint8),
    ]
    with c.graph() as tf:
        for index, value in enumerate(values):
            fed = value.tolist() if value.dtype == object else value
            variable(tf, tf.constant(fed), f"v{index}")
    s = c.open()
    s.run([f"v{index}_init" for index in range(len(values))])
    s.run([f"v{index}_read:0" for index in range(len(values))], values=values)


@engine_case("VARIABLES-015", title="An assignment of a fed value of another shape fails.")
def an_assignment_of_another_shape(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 2], np.float32))
        tf.assign(v, tf.placeholder(tf.float32, None, name="x"), name="set")
    s = c.open()
    s.run(["v_init"])
    s.run(["set"], {"x:0": np.array([1, 2, 3], np.float32)}, error=[3])
    s.run(["set"], {"x:0": np.float32(1)}, error=[3])
    s.run(["set:0"], {"x:0": np.array([5, 6], np.float32)}, values=[np.array([5, 6], np.float32)])


@engine_case("VARIABLES-016", title="An update of a reference variable is not broadcast.")
def an_update_is_not_broadcast(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 2], np.float32))
        tf.assign_add(v, tf.placeholder(tf.float32, None, name="x"), name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"], {"x:0": np.float32(1)}, error=[3])
    s.run(["plus"], {"x:0": np.array([1], np.float32)}, error=[3])


@engine_case("VARIABLES-016", title="An update of a resource variable is not broadcast.")
def an_update_of_a_resource_is_not_broadcast(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 2], np.float32), resource=True)
        x = tf.placeholder(tf.float32, None, name="x")
        tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=x, name="plus")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"], {"x:0": np.float32(1)}, error=[3])


@engine_case("VARIABLES-017", title="An update that fails leaves the value as it was.")
def a_failed_update_changes_nothing(c: EngineAuthor) -> None:
    with c.graph() as tf:
        v = variable(tf, np.array([1, 2], np.float32))
        x = tf.placeholder(tf.float32, None, name="x")
        tf.assign_add(v, x, name="plus")
        tf.assign(v, x, name="set")
    s = c.open()
    s.run(["v_init"])
    s.run(["plus"], {"x:0": np.array([1, 2, 3], np.float32)}, error=[3])
    s.run(["v_read:0"], values=[np.array([1, 2], np.float32)])
    s.run(["set"], {"x:0": np.array([1, 2, 3], np.float32)}, error=[3])
    s.run(["v_read:0"], values=[np.array([1, 2], np.float32)])


@engine_case("VARIABLES-019", title="Assigning a variable to another copies its value.")
def an_assigned_variable_is_a_copy(c: EngineAuthor) -> None:
    with c.graph() as tf:
        a, b = (
            variable(tf, np.array([1, 2], np.float32), "a"),
            variable(tf, np.array([0, 0], np.float32), "b"),
        )
        tf.assign(b, a, name="copy")
        tf.assign_add(a, np.array([10, 10], np.float32), name="plus")
    s = c.open()
    s.run(["a_init", "b_init"])
    s.run(["copy"])
    s.run(["plus"])
    s.run(
        ["a_read:0", "b_read:0"],
        values=[np.array([11, 12], np.float32), np.array([1, 2], np.float32)],
    )


@api_case("VARIABLES-021", title="The global initializer initialises every variable there is.")
def the_global_initializer_initialises_all(c: ApiAuthor) -> None:
    tf = c.tf
    first = tf.Variable(np.float32(1), name="first")
    second = tf.Variable(np.float32(2), name="second", use_resource=True)
    third = tf.Variable(np.float32(3), name="third")
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    c.check(sess.run([first, second, third]), [np.float32(1), np.float32(2), np.float32(3)])


@api_case("VARIABLES-022", title="The global initializer leaves later variables alone.")
def the_global_initializer_is_of_its_time(c: ApiAuthor) -> None:
    tf = c.tf
    early = tf.Variable(np.float32(1))
    init = tf.global_variables_initializer()
    late = tf.Variable(np.float32(2))
    sess = tf.Session()
    sess.run(init)
    c.check(sess.run(early), np.float32(1))
    c.raises("FailedPreconditionError", lambda: sess.run(late))


@api_case("VARIABLES-025", title="variables_initializer initialises those it is given.")
def an_initializer_of_some_variables(c: ApiAuthor) -> None:
    tf = c.tf
    one, other = tf.Variable(np.float32(1)), tf.Variable(np.float32(2))
    sess = tf.Session()
    sess.run(tf.variables_initializer([one]))
    c.check(sess.run(one), np.float32(1))
    c.raises("FailedPreconditionError", lambda: sess.run(other))


@api_case("VARIABLES-029", title="is_variable_initialized tells, and changes nothing.")
def asking_does_not_initialise(c: ApiAuthor) -> None:
    tf = c.tf
    v = tf.Variable(np.float32(1))
    ask = tf.is_variable_initialized(v)
    sess = tf.Session()
    c.check(sess.run(ask), np.bool_(False))
    c.check(sess.run(ask), np.bool_(False))
    sess.run(v.initializer)
    c.check(sess.run(ask), np.bool_(True))
