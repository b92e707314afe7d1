"""Assertions about texts, containers and numbers that TensorFlow's test classes have from absl."""

from __future__ import annotations

import itertools
import operator
import re
import unittest
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from typing import Any, Final, NoReturn

__all__ = ["ContainerAssertions"]

#: So many differences are listed, no more.
_LISTED: Final = 30
_ABSENT: Final = object()
#: What holds of two equal values, of a value and a greater one, of a value and a smaller one.
_EQUAL: Final = {operator.eq, operator.le, operator.ge}
_LESS: Final = {operator.lt, operator.le, operator.ne}
_GREATER: Final = {operator.gt, operator.ge, operator.ne}


class ContainerAssertions(unittest.TestCase):
    """A TestCase that compares texts, containers and numbers."""

    maxDiff = 80 * 20

    # --- texts -----------------------------------------------------------------------------------

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: object = None) -> None:
        """Fail unless a text begins so."""
        if not actual.startswith(expected_start):
            self._fail(f"{actual!r} does not start with {expected_start!r}", msg)

    def assertNotStartsWith(self, actual: Any, unexpected_start: Any, msg: object = None) -> None:
        """Fail if a text begins so."""
        if actual.startswith(unexpected_start):
            self._fail(f"{actual!r} starts with {unexpected_start!r}", msg)

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: object = None) -> None:
        """Fail unless a text ends so."""
        if not actual.endswith(expected_end):
            self._fail(f"{actual!r} does not end with {expected_end!r}", msg)

    def assertNotEndsWith(self, actual: Any, unexpected_end: Any, msg: object = None) -> None:
        """Fail if a text ends so."""
        if actual.endswith(unexpected_end):
            self._fail(f"{actual!r} ends with {unexpected_end!r}", msg)

    def assertRegexMatch(
        self, actual_str: str | bytes, regexes: Sequence[Any], message: str | None = None
    ) -> None:
        """Fail unless at least one of several regular expressions is found in a text."""
        if isinstance(regexes, str | bytes) or not regexes:
            self._fail("regexes must be a list of at least one; assertRegex takes one", message)
        if len({type(regex) for regex in regexes}) > 1:
            self._fail("regexes must all be of one type", message)
        text: Any = actual_str
        kind = type(text)
        wanted: list[Any] = [it if isinstance(it, kind) else _other_text(it) for it in regexes]
        if not any(re.search(regex, text, re.MULTILINE) for regex in wanted):
            self._fail(f"none of {regexes} is found in {actual_str!r}", message)

    def assertContainsInOrder(self, strings: Any, target: Any, msg: object = None) -> None:
        """Fail unless a text contains all of these texts, one after the other's begin."""
        wanted = [strings] if isinstance(strings, str | bytes) else strings
        position = 0
        for text in wanted:
            index = target.find(text, position)
            if index < 0:
                self._fail(f"did not find {text!r} after position {position} in {target!r}", msg)
            position = index

    # --- sequences and sets ----------------------------------------------------------------------

    def assertEmpty(self, container: Any, msg: object = None) -> None:
        """Fail unless a container has no items."""
        if self._length(container):
            self._fail(f"{container!r} has length of {len(container)}, not 0", msg)

    def assertNotEmpty(self, container: object, msg: object = None) -> None:
        """Fail if a container has no items."""
        if not self._length(container):
            self._fail(f"{container!r} has length of 0", msg)

    def assertLen(self, container: Any, expected_len: int, msg: object = None) -> None:
        """Fail unless a container has that many items."""
        if self._length(container) != expected_len:
            text = f"{container!r} has length of {len(container)}, expected {expected_len}"
            self._fail(text, msg)

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Sequence[Any],
        actual_seq: Sequence[Any],
        places: int | None = None,
        msg: object = None,
        delta: Any = None,
    ) -> None:
        """Fail unless two sequences are of one length, and each pair of items almost equal.

        Args:
          expected_seq: the one sequence.
          actual_seq: the other.
          places: to how many decimal places; 7 if neither this nor `delta` is given.
          msg: what to say besides, on failure.
          delta: how far two items may be apart, instead of `places`.

        """
        if len(expected_seq) != len(actual_seq):
            self._fail(f"Sequence size mismatch: {len(expected_seq)} vs {len(actual_seq)}", msg)
        wrong = []
        for index, (expected, actual) in enumerate(zip(expected_seq, actual_seq, strict=True)):
            try:
                self.assertAlmostEqual(expected, actual, places=places, delta=delta)
            except self.failureException as error:
                wrong.append(f"At index {index}: {error}")
        if wrong:
            self._fail("\n".join([*wrong[:_LISTED], *["..."] * (len(wrong) > _LISTED)]), msg)

    def assertSequenceStartsWith(
        self, prefix: Any, whole: Sequence[Any], msg: object = None
    ) -> None:
        """Fail unless a sequence begins with these items, or with this one item."""
        wanted = list(prefix) if isinstance(prefix, Iterable) else [prefix]
        beginning = list(itertools.islice(whole, len(wanted)))
        if beginning != wanted or (not wanted and len(whole)):
            self._fail(f"Sequence begins with {beginning!r}, expected {wanted!r}", msg)

    def assertContainsSubset(
        self,
        expected_subset: Iterable[Hashable],
        actual_set: Iterable[Hashable],
        msg: object = None,
    ) -> None:
        """Fail unless every item of the first is in the second."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self._fail(f"Missing elements {missing} of {actual_set!r}", msg)

    def assertNoCommonElements(
        self, expected_seq: Iterable[Hashable], actual_seq: Iterable[Hashable], msg: object = None
    ) -> None:
        """Fail if an item is in both."""
        both = set(expected_seq) & set(actual_seq)
        if both:
            self._fail(f"Common elements {both}", msg)

    def assertSameElements(
        self, expected_seq: Iterable[Any], actual_seq: Iterable[Any], msg: object = None
    ) -> None:
        """Fail unless each item of the one is in the other, however often and in any order."""
        if isinstance(expected_seq, str | bytes) or isinstance(actual_seq, str | bytes):
            self._fail("assertSameElements compares containers; texts: assertEqual", msg)
        expected, actual = list(expected_seq), list(actual_seq)
        missing = [item for item in expected if item not in actual]
        unexpected = [item for item in actual if item not in expected]
        if missing or unexpected:
            text = f"Expected, but missing: {missing!r}; unexpected, but present: {unexpected!r}"
            self._fail(text, msg)

    def assertContainsSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: object = None
    ) -> None:
        """Fail unless these items come in this order, with others between or not."""
        wanted = list(subsequence)
        left = iter(container)
        for index, item in enumerate(wanted):
            if not any(item == other for other in left):
                self._fail(f"{wanted!r} is no subsequence of {container!r}: no item {index}", msg)

    def assertContainsExactSubsequence(
        self, container: Iterable[Any], subsequence: Iterable[Any], msg: object = None
    ) -> None:
        """Fail unless these items come in this order, one right after the other."""
        items, wanted = list(container), list(subsequence)
        starts = range(len(items) - len(wanted) + 1)
        if not any(items[start : start + len(wanted)] == wanted for start in starts):
            self._fail(f"{wanted!r} is no run of {items!r}", msg)

    # --- mappings --------------------------------------------------------------------------------

    def assertDictContainsSubset(
        self, subset: Mapping[Any, Any], dictionary: Mapping[Any, Any], msg: object = None
    ) -> None:
        """Fail unless every item of `subset` is one of `dictionary`."""
        wrong = {
            key: (dictionary.get(key, "absent"), value)
            for key, value in subset.items()
            if key not in dictionary or dictionary[key] != value
        }
        if wrong:
            self._fail(f"by key, (found, expected): {wrong!r}", msg)

    def assertDictAlmostEqual(
        self,
        a: Mapping[Any, Any],
        b: Mapping[Any, Any],
        places: int | None = None,
        msg: object = None,
        delta: Any = None,
    ) -> None:
        """Fail unless two dicts have the same keys, and for each key almost equal values."""
        self.assertSameElements(a.keys(), b.keys(), msg)
        for key in a:
            self.assertAlmostEqual(a[key], b[key], places=places, delta=delta, msg=f"key {key!r}")

    def assertMappingEqual(
        self, a: Mapping[Any, Any], b: Mapping[Any, Any], msg: object = None
    ) -> None:
        """Fail unless two mappings, of whichever types, have the same items."""
        self.assertDictEqual(dict(a), dict(b), msg)

    def assertSameStructure(
        self, a: object, b: object, aname: str = "a", bname: str = "b", msg: object = None
    ) -> None:
        """Fail unless two structures of lists and dicts are equal; says every place they differ."""
        differences = list(_differences(a, b, ""))
        if differences:
            lines = [f"{aname}{at} is {x!r} but {bname}{at} is {y!r}" for at, x, y in differences]
            self._fail("; ".join(lines[:_LISTED]), msg)

    # --- numbers, classes, order, errors ---------------------------------------------------------

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: object = None) -> None:
        """Fail unless `minv <= value <= maxv`."""
        if not minv <= value <= maxv:
            self._fail(f'"{value!r}" unexpectedly not between "{minv!r}" and "{maxv!r}"', msg)

    def assertIsSubclass(self, cls: Any, superclass: Any, msg: object = None) -> None:
        """Fail unless the one class derives from the other, or is it."""
        if not issubclass(cls, superclass):
            self._fail(f"{cls!r} does not derive from {superclass!r}", msg)

    def assertNotIsSubclass(self, cls: Any, superclass: Any, msg: object = None) -> None:
        """Fail if the one class derives from the other, or is it."""
        if issubclass(cls, superclass):
            self._fail(f"{cls!r} derives from {superclass!r}", msg)

    def assertTotallyOrdered(self, *groups: Sequence[Any], msg: object = None) -> None:
        """Fail unless each group's items equal each other, and are less than later groups'."""
        for group in groups:
            for a, b in itertools.product(group, group):
                if _comparisons(a, b) != _EQUAL:
                    self._fail(f"{a!r} and {b!r} do not compare as equal", msg)
                if isinstance(a, Hashable) and isinstance(b, Hashable):
                    self.assertEqual(hash(a), hash(b), f"hashes of {a!r} and {b!r}")
        for smaller, bigger in itertools.combinations(groups, 2):
            for a, b in itertools.product(smaller, bigger):
                if _comparisons(a, b) != _LESS or _comparisons(b, a) != _GREATER:
                    self._fail(f"{a!r} does not compare as less than {b!r}", msg)

    def assertRaisesWithLiteralMatch(
        self,
        expected_exception: type[BaseException],
        expected_exception_message: str,
        callable_obj: Callable[..., Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Fail unless this is raised, with exactly this message.

        Args:
          expected_exception: the class.
          expected_exception_message: the whole message.
          callable_obj: what to call with the other arguments; without it, this returns a context
            manager for the code that is to raise.
          *args: its arguments.
          **kwargs: its keyword arguments.

        """
        if callable_obj is None:
            return self._raising(expected_exception, expected_exception_message)
        with self._raising(expected_exception, expected_exception_message):
            callable_obj(*args, **kwargs)
        return None

    @contextmanager
    def _raising(self, expected: type[BaseException], message: str) -> Iterator[None]:
        with self.assertRaises(expected) as caught:
            yield
        self.assertEqual(str(caught.exception), message)

    # --- saying what is wrong --------------------------------------------------------------------

    def _fail(self, text: str, msg: object) -> NoReturn:
        self.fail(f"{text} : {msg}" if msg else text)

    def _length(self, container: object) -> int:
        if not isinstance(container, Sized):
            self.fail(f"Expected a container with a length, got {container!r}")
        return len(container)


def _comparisons(a: Any, b: Any) -> set[Callable[[Any, Any], Any]]:
    """The comparisons that hold."""
    return {comparison for comparison in _EQUAL | _LESS | _GREATER if comparison(a, b)}


def _other_text(regex: str | bytes) -> str | bytes:
    return regex.encode() if isinstance(regex, str) else regex.decode()


def _differences(a: object, b: object, path: str) -> Iterator[tuple[str, Any, Any]]:
    """(place, value there in a, value there in b) for each difference."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        keys = [*a, *(key for key in b if key not in a)]
        pairs = [(key, a.get(key, _ABSENT), b.get(key, _ABSENT)) for key in keys]
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        pairs = [
            (index, *pair)
            for index, pair in enumerate(itertools.zip_longest(a, b, fillvalue=_ABSENT))
        ]
    else:
        if type(a) is not type(b) or a != b:
            yield path, a, b
        return
    for key, x, y in pairs:
        yield from _differences(x, y, f"{path}[{key!r}]")
