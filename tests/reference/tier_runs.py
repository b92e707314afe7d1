"""Sessions and runs of a tier of the executor; the tests that use them need `chosen_tiers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sessrun.reference as tf
from sessrun.reference.session.execute import generated

TIERS = (1, 2)


def session(tier: int | None) -> Any:
    tf.experimental.set_execution_tier(tier)
    return tf.Session()


def hot(run: Callable[[], Any]) -> Any:
    """The last of as many runs as make a signature hot, and one more."""
    for _ in range(generated.RUNS_BEFORE + 1):
        result = run()
    return result
