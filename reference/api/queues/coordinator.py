"""`tf.train.Coordinator`: stops a group of threads together. Source: TF 2.21."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sessrun.reference import errors
from sessrun.reference.public import public

__all__ = ["Coordinator", "LooperThread"]

#: The seconds that `join` first waits after `request_stop`, and the factor of later waits.
_FIRST_WAIT_S: Final = 0.001
_GROWTH: Final = 2
#: How often `join` looks whether all threads ended without having been asked.
_LOOK_S: Final = 1.0


@public("train.Coordinator")
class Coordinator:
    """Lets threads stop together, and hands the error that stopped them to who waits for them.

    Args:
      clean_stop_exception_types: errors that end a thread as planned; OutOfRangeError by default.

    """

    def __init__(
        self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None
    ) -> None:
        clean = clean_stop_exception_types
        self._clean = (errors.OutOfRangeError,) if clean is None else tuple(clean)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def request_stop(self, ex: object = None) -> None:
        """Ask the threads to stop.

        Args:
          ex: why: an error, what `sys.exc_info` returns, or None. The first one is raised by
            `join`, unless it is one of the clean types.

        Raises:
          BaseException: `ex`, if the threads were joined already.

        """
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if isinstance(error, self._clean):
                error = None
            if error is not None and not isinstance(error, BaseException):
                error = ValueError(f"ex must be an exception or what sys.exc_info returns: {ex}")
            if self._joined and error is not None:
                raise error
            if not self._stop.is_set():
                if error is not None and self._error is None:
                    _log("Error reported to Coordinator: %s, %s", type(error), error)
                    self._error = error
                self._stop.set()

    def clear_stop(self) -> None:
        """Clear the request to stop, and its reason."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether the threads are requested to stop."""
        return self._stop.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Request the threads to stop if the `with` raises an exception; it is not propagated."""
        try:
            yield
        except BaseException:  # noqa: BLE001 - `join` raises whatever ended the thread
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait for a request to stop, at most `timeout` seconds; returns whether there is one."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Add a thread to those that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until the threads have ended.

        Args:
          threads: threads besides those that were registered.
          stop_grace_period_secs: how long threads may take to stop after the request.
          ignore_live_threads: whether threads that take longer are no error.

        Raises:
          RuntimeError: some take longer.
          BaseException: what a thread was stopped for.

        """
        with self._lock:
            waited = list(self._registered_threads.union(threads or ()))
        while _alive(waited) and not self.wait_for_stop(_LOOK_S):
            pass
        pause = _FIRST_WAIT_S
        while _alive(waited) and stop_grace_period_secs >= 0.0:
            time.sleep(pause)
            stop_grace_period_secs -= pause
            pause = max(min(_GROWTH * pause, stop_grace_period_secs), _FIRST_WAIT_S)
        left = _alive(waited)
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                raise self._error
            text = f"Coordinator stopped with threads still running: {' '.join(left)}"
            if left and not ignore_live_threads:
                raise RuntimeError(text)
            if left:
                _log(text)

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raise what the threads were stopped for, if it was an error."""
        with self._lock:
            if self._error is not None:
                raise self._error


def _alive(threads: Iterable[threading.Thread]) -> list[str]:
    return [thread.name for thread in threads if thread.is_alive()]


def _log(text: str, *arguments: object) -> None:
    logging.getLogger("sessrun").info(text, *arguments)


@public("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that calls a function repeatedly until its coordinator requests a stop.

    Args:
      coord: the coordinator.
      timer_interval_secs: the seconds from one time to the next; None for no pause.
      target: the function that is called repeatedly; a subclass may define `run_loop` instead.
      args: its arguments.
      kwargs: its keyword arguments.

    Raises:
      ValueError: `coord` is no coordinator, or there are arguments for no target.

    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")  # noqa: TRY004 - TensorFlow's class
        if not target and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._interval = timer_interval_secs
        self._call = target
        self._arguments, self._keywords = tuple(args or ()), dict(kwargs or {})
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """A thread of these arguments, started."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """Loop until the coordinator asks to stop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Is called before the first time."""

    def stop_loop(self) -> None:
        """Is called after the last time."""

    def run_loop(self) -> None:
        """Called repeatedly: calls the target."""
        if self._call is not None:
            self._call(*self._arguments, **self._keywords)
