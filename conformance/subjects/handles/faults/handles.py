"""Faults of HANDLES: kept tensors that change, leak between sessions or come back otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Feeds, Fetches, Session, Tensor, Value
from sessrun.spec.proto.config_pb2 import RunOptions
from sessrun.spec.proto.metadata_pb2 import RunMetadata

#: From (session, base, fetches, feed_dict) to the values; `base` takes the last two.
_Run: TypeAlias = Callable[[Session, Call, Fetches, Feeds], Value]


def _running(tf: Namespace, change: _Run) -> Namespace:
    """The namespace whose `Session.run` is `change(session, base, fetches, feed_dict)`."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            conforming = super().run

            def base(fetches: Fetches = fetches, feed_dict: Feeds = feed_dict) -> Value:
                return conforming(fetches, feed_dict, options, run_metadata)

            return change(self, base, fetches, feed_dict)

    return override(tf, Session=Session)


def _is_handle(value: object) -> TypeGuard[TensorHandle]:
    return type(value).__name__ == "TensorHandle"


class TensorHandle(Protocol):
    """What a run gives for a fetched handle."""

    @property
    def handle(self) -> str:
        """The handle as text."""

    def eval(self) -> Value:
        """The value that is kept."""

    def delete(self) -> None:
        """Delete what is kept."""

    def get_raw_handle(self) -> str:
        """The handle as text, which the caller then owns."""


class _Handle:
    """A TensorHandle of which one thing is different."""

    def __init__(self, base: TensorHandle) -> None:
        self._base = base

    def __getattr__(self, name: str) -> Any:
        return getattr(self._base, name)


def _handing_out(tf: Namespace, wrapper: type[_Handle]) -> Namespace:
    """The namespace whose fetched handles are wrapped, and fed ones unwrapped."""

    def wrapped(value: Any) -> Any:
        if _is_handle(value):
            return wrapper(value)
        if type(value) is dict:
            return {key: wrapped(item) for key, item in value.items()}
        return type(value)(map(wrapped, value)) if type(value) in {list, tuple} else value

    def unwrapped(value: Value) -> Value:
        return value._base if isinstance(value, _Handle) else value  # noqa: SLF001 - our own class

    def holds_handles(fetches: Fetches) -> bool:
        if isinstance(fetches, dict):
            return any(map(holds_handles, fetches.values()))
        if isinstance(fetches, list | tuple):
            return any(map(holds_handles, fetches))
        return isinstance(fetches, tf.Tensor) and fetches.op.type == "GetSessionHandle"

    def change(_session: Session, base: Call, fetches: Fetches, feed_dict: Feeds) -> Value:
        fed = feed_dict
        if feed_dict and any(isinstance(value, _Handle) for value in feed_dict.values()):
            fed = {key: unwrapped(value) for key, value in feed_dict.items()}
        return wrapped(base(fetches, fed)) if holds_handles(fetches) else base(fetches, fed)

    return _running(tf, change)


@fault("HANDLES-001", "A tensor read by its handle in the same session is zero.")
def kept_tensors_are_lost(tf: Namespace) -> Namespace:
    """Give zeros of the right shape for what get_session_tensor reads."""

    def change(_session: Session, base: Call, fetches: Fetches, _feed_dict: Feeds) -> Value:
        value = base()
        is_read = isinstance(fetches, tf.Tensor) and fetches.op.type == "GetSessionTensor"
        return value * 0 if is_read else value

    return _running(tf, change)


@fault("HANDLES-002", "eval() of a handle gives its value the first time only.")
def eval_gives_the_value_once(tf: Namespace) -> Namespace:
    """Give None from the second call on."""

    class Once(_Handle):
        is_used = False

        def eval(self) -> Value:
            value, self.is_used = None if self.is_used else self._base.eval(), True
            return value

    return _handing_out(tf, Once)


@fault("HANDLES-003", "A handle fed in another session stands for its value.")
def handles_are_known_to_every_session(tf: Namespace) -> Namespace:
    """Feed the value that the session of the handle keeps."""

    class Anywhere(_Handle):
        pass

    spread = _handing_out(tf, Anywhere)

    class Session(spread.Session):  # type: ignore[misc,name-defined]
        def run(
            self,
            fetches: Fetches,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            try:
                return super().run(fetches, feed_dict, options, run_metadata)
            except tf.errors.InvalidArgumentError:
                if not any(isinstance(value, _Handle) for value in (feed_dict or {}).values()):
                    raise
            given = (feed_dict or {}).items()
            fed = {k: v.eval() if isinstance(v, _Handle) else v for k, v in given}
            return super().run(fetches, fed, options, run_metadata)

    return override(tf, Session=Session)


@fault("HANDLES-004", "A handle is fed to placeholders only.")
def only_placeholders_take_handles(tf: Namespace) -> Namespace:
    """Refuse a handle that is fed to any other tensor."""

    def change(_session: Session, base: Call, _fetches: Fetches, feed_dict: Feeds) -> Value:
        for key, value in (feed_dict or {}).items():
            if _is_handle(value) and isinstance(key, tf.Tensor) and key.op.type != "Placeholder":
                raise TypeError("a handle is fed to a placeholder")
        return base()

    return _running(tf, change)


@fault("HANDLES-005", "A tensor deleted by its object can still be read.")
def deleting_frees_nothing(tf: Namespace) -> Namespace:
    """Refuse a second `delete` of the handle, and keep the tensor."""

    class Kept(_Handle):
        def delete(self) -> None:
            self._base.get_raw_handle()
            self.delete = self._again  # type: ignore[method-assign]

        def _again(self) -> None:
            raise TypeError("the handle was deleted")

    return _handing_out(tf, Kept)


@fault("HANDLES-006", "Deleting a handle again does nothing.")
def deleting_again_is_silent(tf: Namespace) -> Namespace:
    """Delete at the first call only."""

    class Deleted(_Handle):
        is_deleted = False

        def delete(self) -> None:
            if not self.is_deleted:
                self._base.delete()
            self.is_deleted = True

    return _handing_out(tf, Deleted)


@fault("HANDLES-007", "A handle in a list or a dict of fetches comes back as its bytes.")
def handles_in_structures_are_bytes(tf: Namespace) -> Namespace:
    """Return the bytes of handles that are fetched in a dict."""

    def change(_session: Session, base: Call, fetches: Fetches, _feed_dict: Feeds) -> Value:
        value = base()
        if type(fetches) is not dict:
            return value
        return {key: _bare(item) for key, item in value.items()}

    def _bare(value: Any) -> Value:
        if type(value) in {list, tuple}:
            return type(value)(map(_bare, value))
        return value.get_raw_handle().encode() if _is_handle(value) else value

    return _running(tf, change)


@fault("HANDLES-008", "What is kept of a fed array is the array itself.")
def fed_arrays_are_kept_themselves(tf: Namespace) -> Namespace:
    """Let eval() answer with the array that was fed."""

    class Aliasing(_Handle):
        fed: Value = None

        def eval(self) -> Value:
            value = self._base.eval()
            return value if self.fed is None else self.fed

    handing = _handing_out(tf, Aliasing)

    class Session(handing.Session):  # type: ignore[misc,name-defined]
        def run(
            self,
            fetches: Tensor,
            feed_dict: Feeds = None,
            options: RunOptions | None = None,
            run_metadata: RunMetadata | None = None,
        ) -> Value:
            value = super().run(fetches, feed_dict, options, run_metadata)
            if isinstance(value, Aliasing) and feed_dict:
                value.fed = feed_dict.get(fetches.op.inputs[0])
            return value

    return override(tf, Session=Session)


@fault("HANDLES-009", "Taking the raw handle deletes what is kept.")
def taking_the_raw_handle_deletes(tf: Namespace) -> Namespace:
    """Delete the tensor, and return the handle."""

    class Raw(_Handle):
        def get_raw_handle(self) -> str:
            handle = self._base.handle
            self._base.delete()
            return handle

    return _handing_out(tf, Raw)


@fault("HANDLES-010", "A handle fed for another dtype is cast.")
def fed_handles_are_cast(tf: Namespace) -> Namespace:
    """Feed the value of the handle, cast to the dtype."""

    def change(session: Session, base: Call, fetches: Fetches, feeds: Feeds) -> Value:
        del session
        given = {
            key: np.asarray(value.eval()).astype(key.dtype.as_numpy_dtype)[()]
            if _is_handle(value) and hasattr(key, "dtype")
            else value
            for key, value in (feeds or {}).items()
        }
        return base(fetches, given or feeds)

    return _running(tf, change)


def _evaluating(tf: Namespace, evaluate: Callable[[Any, Callable[[], Any]], Value]) -> Namespace:
    """The namespace whose fetched handles have `evaluate(handle, eval)` for `eval`."""

    class Handle(_Handle):
        def eval(self) -> Value:
            return evaluate(self, self._base.eval)

    return _handing_out(tf, Handle)


@fault("HANDLES-011", "A kept string ends at its first NUL.")
def kept_strings_are_cut(tf: Namespace) -> Namespace:
    """Cut each string at its first NUL."""

    def evaluate(_: TensorHandle, conforming: Callable[[], np.ndarray]) -> Value:
        value = conforming()
        if getattr(getattr(value, "dtype", None), "kind", "") != "O":
            return value
        cut = value.copy()
        cut[...] = [item.partition(b"\0")[0] for item in value]
        return cut

    return _evaluating(tf, evaluate)


@fault("HANDLES-012", "Keeping a tensor again replaces what was kept of it.")
def kept_tensors_are_replaced(tf: Namespace) -> Namespace:
    """Let the earlier handle have the value of the later one."""

    def change(session: Session, base: Call, fetches: Fetches, _: Feeds) -> Value:
        value = base()
        if _is_handle(value):
            kept = session.__dict__.setdefault("kept_of", {})
            if fetches in kept:
                kept[fetches].eval = value.eval
            kept[fetches] = value
        return value

    return _running(tf, change)


@fault("HANDLES-013", "A handle has its last value after its session was closed.")
def values_outlive_sessions(tf: Namespace) -> Namespace:
    """Return the last value of a handle where the session is closed."""

    def evaluate(handle: Any, conforming: Callable[[], Value]) -> Value:
        try:
            handle.last = conforming()
        except RuntimeError:
            if not hasattr(handle, "last"):
                raise
        return handle.last

    return _evaluating(tf, evaluate)


@fault("HANDLES-014", "A fetched resource handle is its name as text.")
def resource_handles_are_text(tf: Namespace) -> Namespace:
    """Return the name of the tensor, as engines do that know resources by name."""

    def change(_session: Session, base: Call, fetches: Fetches, _feed_dict: Feeds) -> Value:
        values = base()
        if isinstance(fetches, tf.Tensor) and fetches.dtype.base_dtype == tf.resource:
            return np.array(fetches.name)
        return values

    return _running(tf, change)
