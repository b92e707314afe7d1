"""Named checks of FETCH: fetch structures of classes that a case has no form for."""

from __future__ import annotations

import collections

from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.forms import Json

__all__ = ["defaultdict_class"]


def defaultdict_class(tf: Namespace, values: list[int]) -> list[Json]:
    """Fetch a defaultdict of constants.

    Returns:
      the class's name of what came back, how many keys it has, and the first value as an int.

    """
    with tf.Graph().as_default() as graph:
        fetches = collections.defaultdict(list)
        for index, value in enumerate(values):
            fetches[f"k{index}"] = tf.constant(value)
    with tf.Session(graph=graph) as session:
        got = session.run(fetches)
    return [type(got).__name__, len(got), int(got["k0"])]
