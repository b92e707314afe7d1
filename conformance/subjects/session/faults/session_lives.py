"""Faults of SESSION that only a longer life of sessions shows."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Value


@fault("SESSION-060", "The run after a refused one is executed twice.")
def refused_runs_are_made_up_for(tf: Namespace) -> Namespace:
    """As a client does that tries again, and loses count."""

    class Session(tf.Session):  # type: ignore[misc, name-defined]
        def run(self, *args: Any, **kwargs: Any) -> Value:
            if self.__dict__.pop("refused", False):
                super().run(*args, **kwargs)
            try:
                return super().run(*args, **kwargs)
            except tf.errors.OpError:
                self.__dict__["refused"] = True
                raise

    return override(tf, Session=Session)
