"""The session that Keras owns, and variables read and set in it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

import sessrun.reference as tf
from sessrun.reference.api.argument_types import TensorLike
from sessrun.reference.api.variables.variable_base import Variable
from sessrun.reference.base.dtypes import DTypeLike
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.library.keras import learning_phases as phases
from sessrun.reference.library.keras import naming
from sessrun.reference.library.keras.object_configs import Identifier
from sessrun.reference.library.keras.settings import floatx
from sessrun.reference.session.session import Session

__all__ = [
    "batch_get_value",
    "batch_set_value",
    "clear_session",
    "evaluated",
    "get_session",
    "get_value",
    "manual_variable_initialization",
    "set_session",
    "set_value",
    "track_variable",
    "variable",
]


class _Kept(threading.local):
    """Per thread: the Keras session, and whether programs initialize variables themselves."""

    session: Any = None
    by_hand = False


_KEPT: Final = _Kept()
#: The variables of layers by graph, to be initialized at the next use of the session.
_TRACKED: Final[WeakKeyDictionary[object, WeakSet[object]]] = WeakKeyDictionary()
#: Those variables that a session is known to have initialized.
_INITIALIZED: Final[WeakSet[object]] = WeakSet()
#: The placeholder and the assignment that set each variable's value.
_SETTERS: Final[WeakKeyDictionary[object, tuple[object, object]]] = WeakKeyDictionary()


def track_variable(variable: Variable) -> None:
    """Register a variable for initialization by `get_session`."""
    _TRACKED.setdefault(variable.graph, WeakSet()).add(variable)


def manual_variable_initialization(value: bool) -> None:
    """Choose whether programs initialize variables themselves."""
    _KEPT.by_hand = value


def set_session(session: Session) -> None:
    """Set the session that Keras uses."""
    _KEPT.session = session


def get_session(op_input_list: Sequence[TensorLike] = ()) -> Session:
    """The default session, or Keras' own; uninitialized variables of layers are initialized.

    Args:
      op_input_list: tensors or variables; the session is one of their graph.

    """
    session = tf.get_default_session()
    if session is None:
        graph = next((item.graph for item in op_input_list if hasattr(item, "graph")), None)
        graph = tf.get_default_graph() if graph is None else graph
        if _KEPT.session is None or _KEPT.session.graph is not graph:
            _KEPT.session = tf.Session(graph=graph)
        session = _KEPT.session
    if not _KEPT.by_hand:
        with session.graph.as_default():
            _initialize(session)
    return session


def _initialize(session: Session) -> None:
    """Initialize the tracked variables of the graph that have no value yet."""
    tracked = _TRACKED.get(session.graph, ())
    new = [variable for variable in tf.global_variables() if variable in tracked]
    new = [variable for variable in new if variable not in _INITIALIZED]
    if not new:
        return
    known = session.run([tf.is_variable_initialized(variable) for variable in new])
    _INITIALIZED.update(new)
    unknown = [variable for variable, is_known in zip(new, known, strict=True) if not is_known]
    if unknown:
        session.run(tf.variables_initializer(unknown))


def clear_session() -> None:
    """Reset the default graph, the Keras session and the counters of layer names."""
    tf.reset_default_graph()
    naming.reset_uids()
    if _KEPT.session is not None:
        _KEPT.session.close()
        _KEPT.session = None
    phases.forget_phases()
    phases.learning_phase()


def batch_get_value(tensors: Sequence[TensorLike]) -> list[HostArray]:
    """The values of tensors or variables, in one run."""
    return list(get_session(tensors).run(list(tensors))) if tensors else []


def get_value(x: Tensor) -> Any:
    """The value of a tensor or variable; any other object unchanged."""
    if not tf.is_tensor(x):
        return x
    with x.graph.as_default():
        return x.eval(session=get_session((x,)))


def evaluated(x: Tensor) -> HostArray:
    """The value of a tensor; a sparse one is converted to a dense array."""
    return get_value(tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x)


def set_value(x: Variable, value: HostArray | Sequence[float] | float) -> None:
    """Set a variable's value to an array or a number."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Iterable[tuple[Variable, object]]) -> None:
    """Set the values of many variables in one run.

    Args:
      tuples: pairs of a variable and an array.

    """
    updates, feeds = [], {}
    for target, given in tuples:
        value = np.asarray(given, dtype=target.dtype.base_dtype.as_numpy_dtype)
        if target not in _SETTERS:
            placeholder = tf.placeholder(target.dtype.base_dtype, [None] * value.ndim)
            _SETTERS[target] = placeholder, target.assign(placeholder)
        placeholder, update = _SETTERS[target]
        updates.append(update)
        feeds[placeholder] = value
    if updates:
        get_session().run(updates, feed_dict=feeds)


def variable(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    constraint: Identifier = None,
) -> Variable:
    """A resource variable that `get_session` initializes.

    Args:
      value: its initial value.
      dtype: its dtype; `floatx()` by default.
      name: its name.
      constraint: a function of its value that optimizers apply after updates.

    """
    created = tf.Variable(
        value,
        dtype=tf.as_dtype(dtype or floatx()),
        name=name,
        constraint=constraint,
        use_resource=True,
    )
    track_variable(created)
    return created
