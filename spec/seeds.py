"""Where the seed of a plan comes from: drawn anew, given, or derived from a challenge.

A seed that the tested side drew or chose can be drawn again until the run passes. One that
follows from a text of somebody else, given after the backend was fixed, cannot be foreseen.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

__all__ = ["SEEDS", "Seed"]

#: Seeds are below this, as the ids of generated cases have it.
SEEDS: Final = 10**18
_PREFIX: Final = b"sessrun challenge\n"


@dataclass(frozen=True, slots=True)
class Seed:
    """A seed and how it came.

    Attributes:
      value: the number, from 0 to `SEEDS` - 1.
      how: `drawn` by this command, `given` by its user, or derived from a `challenge`.
      challenge: the text that it was derived from.

    """

    value: int
    how: Literal["drawn", "given", "challenge"] = "given"
    challenge: str | None = None

    @classmethod
    def drawn(cls) -> Seed:
        """A seed that could not be foreseen."""
        return cls(secrets.randbelow(SEEDS), "drawn")

    @classmethod
    def of_challenge(cls, text: str) -> Seed:
        """The seed of a challenge: SHA-256 of the text as a number, modulo `SEEDS`."""
        digest = hashlib.sha256(_PREFIX + text.encode("utf-8", "surrogatepass")).digest()
        return cls(int.from_bytes(digest, "big") % SEEDS, "challenge", text)

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Seed:
        """Read the form in a record's header."""
        return cls(form["value"], form["how"], form.get("challenge"))

    def to_json(self) -> dict[str, Any]:
        """The form in a record's header, a summary and a manifest."""
        form: dict[str, Any] = {"value": self.value, "how": self.how}
        return form if self.challenge is None else form | {"challenge": self.challenge}

    @property
    def fault(self) -> str | None:
        """What is wrong with it, in a sentence: its number does not follow from its challenge."""
        if (self.how == "challenge") != (self.challenge is not None):
            return "The seed is said to come of a challenge, and there is none; or the reverse."
        if self.challenge is not None and Seed.of_challenge(self.challenge) != self:
            return f"The seed {self.value} does not follow from the challenge."
        return None
