"""`register_session_run_conversion_functions`: fetches and feeds that stand for several tensors.

The registry of `register_session_run_conversion_functions`: a type, how a fetch of it expands
and contracts, how a feed of it expands. The last registered type comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from sessrun.reference.public import public

__all__ = ["Expansion", "expansion_of", "register_session_run_conversion_functions"]

#: From a value to the fetches that stand for it, and the function of their values that gives
#: the value's own. The value is of the type that was registered, whichever that is.
FetchFunction: TypeAlias = Callable[[Any], tuple[Sequence[object], Callable[[list[Any]], object]]]
#: From a key and a value to pairs of a tensor and the value that is fed to it.
FeedFunction: TypeAlias = Callable[[Any, Any], Iterable[tuple[object, object]]]
#: From a key to the tensors that a partial run feeds for it.
FeedKeysFunction: TypeAlias = Callable[[Any], Iterable[object]]


@dataclass(frozen=True, slots=True)
class Expansion:
    """A registered type.

    Attributes:
      type: the type.
      fetch: from an object to (its fetches, the function from their values to its value).
      feed: from (object, value) to pairs (feed key, value); None if it cannot be fed.
      feed_keys: from an object to the feed keys of a partial run; None if it has none.

    """

    type: type
    fetch: FetchFunction
    feed: FeedFunction | None
    feed_keys: FeedKeysFunction | None


_EXPANSIONS: Final[list[Expansion]] = []


@public("register_session_run_conversion_functions")
def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: FetchFunction,
    feed_function: FeedFunction | None = None,
    feed_function_for_partial_run: FeedKeysFunction | None = None,
) -> None:
    """Let sessions fetch and feed objects of a type of the caller's own.

    An object that is an instance of several registered types is of the last registered one.

    Args:
      tensor_type: the type.
      fetch_function: from an object to (list of graph elements, contraction of their values).
        Without elements the value is None, and nothing is contracted.
      feed_function: from (object, value) to pairs (tensor, value).
      feed_function_for_partial_run: from an object to the tensors to be fed.

    Raises:
      ValueError: the type itself, or one derived from it, is registered; `object` always is.
      TypeError: `tensor_type` is not a type.

    """
    for known in (object, *(entry.type for entry in _EXPANSIONS)):
        if issubclass(known, tensor_type):
            raise ValueError(  # noqa: TRY004 - TensorFlow's class
                f"{tensor_type} has already been registered so ignore it. ({known.__name__} is)"
            )
    _EXPANSIONS.insert(
        0, Expansion(tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    )


def expansion_of(value: object) -> Expansion | None:
    """The expansion of a value's type, or None."""
    return next((entry for entry in _EXPANSIONS if isinstance(value, entry.type)), None)
