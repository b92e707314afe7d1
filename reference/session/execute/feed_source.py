"""The part of a run's source that is about its feeds; its names are those of `source`.

Clauses: FEED.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from sessrun.reference.base.dtypes import string
from sessrun.reference.graph.tensor import Tensor
from sessrun.reference.kernels.host import dtype_of
from sessrun.reference.session.execute.plan import Plan
from sessrun.reference.session.resolve.feeds import number_feeder
from sessrun.reference.session.resolve.signature import Signature
from sessrun.spec.feeds import FEEDABLE

__all__ = ["MISSED", "FeedWriter"]

#: What a look-up gives that is of no use for a run: the fetches or the feed keys are others.
MISSED: Final = object()


class FeedWriter:
    """Writes the lines from the values of the feeds to registers.

    Args:
      plan: the plan.
      signature: the signature that it was made of.
      feed_keys: the key of each feed, as given; empty for a run that no feed_dict is given to.

    Attributes:
      names: what the names in the lines stand for; they fill as lines are written.
      fetched: the feeds that are fetched, too: the caller gets their arrays.

    """

    def __init__(self, plan: Plan, signature: Signature, feed_keys: Sequence[object]) -> None:
        self._plan = plan
        self._signature = signature
        self._keys = feed_keys
        self.names: dict[str, object] = {"ndarray": np.ndarray, "type": type, "missed": MISSED}
        self.fetched = sorted(
            {number for is_fed, number in filter(None, signature.sources) if is_fed}
        )

    def conversions(self) -> Iterator[str]:
        """The lines from the values of the feeds to registers: all are checked before any step."""
        signature, fetched = self._signature, self.fetched
        left = []
        for number, (tensor, feeder) in enumerate(
            zip(signature.fed, signature.feeders, strict=True)
        ):
            is_right = self._check(number, tensor)
            if self._is_scalar(number) and number not in fetched and is_right:
                self.names[f"f{number}"] = number_feeder(tensor, feeder)
                register = f"r{self._plan.feeds[number]}"
                yield f"  {register} = v{number} if {is_right} else f{number}(v{number})"
                continue
            self.names[f"f{number}"] = feeder
            left.append(number)
            if is_right and not self._is_scalar(number):
                yield f"  a{number} = v{number} if {is_right} else f{number}(v{number})"
            else:
                yield f"  a{number} = f{number}(v{number})"
        yield from self.views(left)

    def _check(self, number: int, tensor: Tensor) -> str | None:
        """The condition under which a fed value needs no conversion; None if it always does.

        It is a scalar or an array of the tensor's dtype and shape. A shape is a tuple that
        `set_shape` replaces, so that its identity tells that the code knows it.
        """
        dtype, sizes = tensor.dtype.base_dtype, tensor.sizes
        if (
            dtype.spec_name not in FEEDABLE
            or dtype.is_quantized
            or dtype == string
            or sizes is None
        ):
            return None
        self.names["unfeedable"] = tensor.graph.unfeedable
        value = f"v{number}"
        if sizes == ():
            if not self._is_scalar(number):  # the shape was set after the plan was made
                return None
            self.names[f"t{number}"] = dtype_of(dtype.spec_name).type
            return f"type({value}) is t{number} and not unfeedable"
        if None not in sizes:
            fits = f"{value}.shape == s{number}"
        else:
            known = [axis for axis, size in enumerate(sizes) if size is not None]
            equal = [f"{value}.shape[{axis}] == s{number}[{axis}]" for axis in known]
            fits = " and ".join([f"{value}.ndim == {len(sizes)}", *equal])
        self.names[f"d{number}"] = dtype_of(dtype.spec_name)
        self.names[f"s{number}"], self.names[f"x{number}"] = sizes, tensor
        return (
            f"type({value}) is ndarray and {value}.dtype is d{number} and {fits} "
            f"and x{number}._sizes is s{number} and not unfeedable"
        )

    def views(self, feeds: Iterable[int]) -> Iterator[str]:
        """The lines from the arrays of these feeds to registers."""
        for number in feeds:
            target = f"  r{self._plan.feeds[number]} = "
            if self._is_scalar(number):
                yield f"{target}a{number}[()]"
            else:
                self.names[f"w{number}"] = self._signature.views[number]
                yield f"{target}w{number}(a{number})"

    def _is_scalar(self, feed: int) -> bool:
        """Whether kernels get a numpy scalar for a fed value."""
        return isinstance(self._signature.views[feed], operator.itemgetter)

    def look_up(self) -> Iterator[str]:
        """The lines from a feed_dict to registers, or to `missed` if it has not the same keys.

        Where a value has to be converted, all are, in the order of the feed_dict: it decides which
        one is refused first.
        """
        signature, count = self._signature, len(self._signature.fed)
        if count != len(self._keys) or not count:
            yield "  if d: return missed"
            return
        self.names |= {"dict": dict, "len": len, "KeyError": KeyError, "keys": [*self._keys]}
        self.names |= {f"y{number}": key for number, key in enumerate(self._keys)}
        numbers = range(count)
        yield f"  if type(d) is not dict or len(d) != {count}: return missed"
        yield "  try:"
        yield f"   {'; '.join(f'v{number} = d[y{number}]' for number in numbers)}"
        yield "  except KeyError:"
        yield "   return missed"
        checks = [
            None if self._comes_back(number) else self._check(number, tensor)
            for number, tensor in enumerate(signature.fed)
        ]
        if None not in checks:
            yield f"  if {' and '.join(filter(None, checks))}:"
            for number in numbers:
                name = f"a{number}" if self._is_viewed(number) else f"r{self._plan.feeds[number]}"
                yield f"   {name} = v{number}"
            yield from (f" {line}" for line in self.views(filter(self._is_viewed, numbers)))
            yield "  elif [*d] != keys: return missed"
            yield "  else:"
        else:
            yield "  if [*d] != keys: return missed"
            yield "  else:"
        yield from (f" {line}" for line in self.conversions())

    def _is_viewed(self, feed: int) -> bool:
        """Whether kernels get a view of the array that is fed."""
        return feed in self.fetched or not self._is_scalar(feed)

    def _comes_back(self, feed: int) -> bool:
        """Whether a scalar is fed and fetched: the caller gets an array of it."""
        return feed in self.fetched and self._is_scalar(feed)
