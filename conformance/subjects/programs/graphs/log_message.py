"""Programs of `tf.logging`: levels, arguments, conditions, and lines that are counted."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Final

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]

#: Numbers of files that functions pretend to come from: so their lines are counted from 0.
_FILES: Final = itertools.count()


class _Kept(logging.Handler):
    """Keeps messages with their level and with the function that wrote them.

    TensorFlow attributes fatal ones to a function of its own, which is left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.messages = []

    def emit(self, record: logging.LogRecord) -> None:
        caller = [Path(record.pathname).name.partition("@")[0], record.funcName]
        origin = [] if record.levelno == logging.FATAL else caller
        self.messages.append([record.levelno, record.getMessage(), *origin])


@contextlib.contextmanager
def _listening(tf) -> Iterator[list[list[int | str]]]:
    """The messages that are written within the block; afterwards the logger is as before."""
    logger, kept = tf.get_logger(), _Kept()
    level, goes_on = logger.level, logger.propagate
    logger.addHandler(kept)
    logger.propagate = False
    try:
        yield kept.messages
    finally:
        logger.removeHandler(kept)
        logger.setLevel(level)
        logger.propagate = goes_on


def _in_own_file(function: FunctionType) -> FunctionType:
    """The same function with a file name of its own, none of whose lines has been counted."""
    assert isinstance(function, FunctionType)
    code = function.__code__.replace(co_filename=f"/lines@{next(_FILES)}")
    return FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)


def _levels(tf):
    log = tf.logging
    writers = (
        log.debug,
        log.info,
        log.warn,
        log.warning,
        log.error,
        log.fatal,
        log.TaskLevelStatusMessage,
    )
    results = []
    with _listening(tf) as messages:
        for level in (log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL, 15, "WARNING"):
            log.set_verbosity(level)
            for number, write in enumerate(writers):
                write(f"{level} {number}")
            results.append([log.get_verbosity(), tf.get_logger().level, *messages])
            messages.clear()
    return results, [log.DEBUG, log.INFO, log.WARN, log.ERROR, log.FATAL]


def _arguments(tf):
    log = tf.logging
    with _listening(tf) as messages:
        log.set_verbosity(log.DEBUG)
        outcomes = attempt(
            lambda: log.debug("a %d of %s", 1, [2]),
            lambda: log.info("100%"),
            lambda: log.warn("b %s", "c"),  # noqa: G010 - that one is asked
            lambda: log.error("%(k)s", {"k": 3}),
            lambda: log.fatal("d %.1f", 2.25),
            lambda: log.log(log.WARN, "e %s %s", 1, 2),
            lambda: log.log("INFO", "not written"),
            lambda: log.vlog(log.ERROR, "f %s", 3),
            lambda: log.vlog(1, "below all"),
            lambda: log.log(25, "g"),
            lambda: log.TaskLevelStatusMessage("h %s"),
            lambda: log.TaskLevelStatusMessage("h %s", 1),
            lambda: log.info(4),
            log.debug,
            log.flush,
            lambda: log.set_verbosity("nope"),
            lambda: log.set_verbosity(None),
            log.get_verbosity,
        )
    return outcomes, messages


def _conditions(tf):
    log = tf.logging
    with _listening(tf) as messages:
        log.set_verbosity(log.INFO)
        outcomes = attempt(
            lambda: log.log_if(log.INFO, "a %s", True, 1),
            lambda: log.log_if(log.ERROR, "b", []),
            lambda: log.log_if(log.WARN, "c", [0]),
            lambda: log.log_if(log.DEBUG, "d", True),
            lambda: log.log_if("INFO", "e", True),
            lambda: log.log_if("INFO", "f", False),
        )
    return outcomes, messages


def _every_n(log, number: int) -> None:
    log.log_every_n(log.ERROR, "every third: %s", 3, number)
    log.log_every_n(log.INFO, "every second: %s", 2, number)


def _first_n(log, number: int) -> None:
    log.log_first_n(log.WARN, "first three: %s", 3, number)
    log.log_first_n(log.WARN, "first", 1)


def _called_in_two_lines(write: Callable[[Namespace, int], None], log, number: int) -> None:
    write(log, number)
    if number % 2:
        write(log, -number)


def _counted_lines(tf):
    """`log_every_n` and `log_first_n` count for each line that calls into the file that writes."""
    log = tf.logging
    results = []
    with _listening(tf) as messages:
        log.set_verbosity(log.INFO)
        for function in (_every_n, _first_n):
            callers = _in_own_file(_called_in_two_lines), _in_own_file(_called_in_two_lines)
            for call in (*callers, callers[0]):
                write = _in_own_file(function)
                for number in range(8):
                    call(write, log, number)
                results.append(list(messages))
                messages.clear()
    return results


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_levels, _arguments, _conditions, _counted_lines)
}
