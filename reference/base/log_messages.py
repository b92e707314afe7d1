"""Messages for people (`tf.logging`): Python's logger `sessrun`, written to stderr.

The logger gets its handler when a program first uses it, unless the root logger has one: a
program that sets up logging itself sees each message once.
"""

from __future__ import annotations

import functools
import itertools
import logging
import sys
from collections.abc import Iterator, Mapping
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from types import FrameType, TracebackType
from typing import TypeAlias, TypedDict, Unpack

from sessrun.reference.public import public

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "error",
    "get_logger",
    "info",
    "log_first_n",
    "warning",
]


#: An error as `sys.exc_info` gives it.
_Caught: TypeAlias = (
    "tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]"
)


class LogOptions(TypedDict, total=False):
    """The options of a message, which are those of Python's `logging`."""

    exc_info: bool | BaseException | _Caught | None
    stack_info: bool
    stacklevel: int
    extra: Mapping[str, object] | None


@public("get_logger")
@functools.cache
def get_logger() -> logging.Logger:
    """The logger of the namespace."""
    logger = logging.getLogger("sessrun")
    if not logging.getLogger().handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
        logger.addHandler(handler)
    return logger


@public("logging.log", "logging.vlog")
def log(level: int, msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of a level, the arguments put into it by `%`.

    Raises:
      TypeError: the level is not an integer.

    """
    get_logger().log(level, msg, *args, **_from_here(kwargs))


@public("logging.debug")
def debug(msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of level DEBUG."""
    get_logger().debug(msg, *args, **_from_here(kwargs))


@public("logging.info")
def info(msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of level INFO."""
    get_logger().info(msg, *args, **_from_here(kwargs))


@public("logging.warn", "logging.warning")
def warning(msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of level WARN."""
    get_logger().warning(msg, *args, **_from_here(kwargs))


@public("logging.error")
def error(msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of level ERROR."""
    get_logger().error(msg, *args, **_from_here(kwargs))


@public("logging.fatal")
def fatal(msg: object, *args: object, **kwargs: Unpack[LogOptions]) -> None:
    """Write a message of level FATAL; the program is not ended."""
    get_logger().fatal(msg, *args, **_from_here(kwargs))


@public("logging.TaskLevelStatusMessage")
def task_level_status_message(msg: object) -> None:
    """Write a message of level ERROR."""
    get_logger().error(msg, stacklevel=2)


@public("logging.log_if")
def log_if(level: int, msg: object, condition: object, *args: object) -> None:
    """Write a message if a condition holds."""
    if condition:
        get_logger().log(level, msg, *args, stacklevel=2)


@public("logging.log_every_n")
def log_every_n(level: int, msg: object, n: int, *args: object) -> None:
    """Write a message at the first call and every n-th after it, counted by `_counter`."""
    if next(_calls(_counter())) % n == 0:
        get_logger().log(level, msg, *args, stacklevel=2)


@public("logging.log_first_n")
def log_first_n(level: int, msg: object, n: int, *args: object) -> None:
    """Write a message at the first n calls, counted by `_counter`."""
    if next(_calls(_counter())) < n:
        get_logger().log(level, msg, *args, stacklevel=2)


def _counter() -> tuple[str, int]:
    """The line whose calls are counted: the last one outside of the file that writes the message.

    A program of a single file has one counter for all its lines.
    """
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - the way to know the line
    own = frame.f_code.co_filename if frame is not None else ""
    while frame is not None and frame.f_code.co_filename == own:
        frame = frame.f_back
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


@functools.cache
def _calls(line: tuple[str, int]) -> Iterator[int]:
    """The numbers of the calls of a line."""
    del line
    return itertools.count()


def _from_here(kwargs: LogOptions) -> LogOptions:
    """The arguments, with the caller of our function as the line of the message."""
    return {"stacklevel": 2, **kwargs}


@public("logging.get_verbosity")
def get_verbosity() -> int:
    """The level below which messages are not written."""
    return get_logger().getEffectiveLevel()


@public("logging.set_verbosity")
def set_verbosity(v: int | str) -> None:
    """Write no messages below a level.

    Raises:
      ValueError: no level has this name.

    """
    get_logger().setLevel(v)


@public("logging.flush")
def flush() -> None:
    """Raise an error, as in TensorFlow: messages are written at once.

    Raises:
      NotImplementedError: always.

    """
    raise NotImplementedError("Messages are written at once; there is nothing to flush.")


#: The other names of some, in `tensorflow.python.platform.tf_logging` too.
TaskLevelStatusMessage = task_level_status_message
vlog = log
warn = warning


for _level, _number in (
    ("DEBUG", DEBUG),
    ("ERROR", ERROR),
    ("FATAL", FATAL),
    ("INFO", INFO),
    ("WARN", logging.WARNING),
):
    public(f"logging.{_level}")(_number)
