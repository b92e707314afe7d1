"""The type of what JSON holds: cases, records, messages and tables are made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

__all__ = ["Json", "JsonObject"]

#: A form: what `json.loads` gives, and what `json.dumps` takes.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
#: An object of JSON whose members are of any type.
JsonObject: TypeAlias = Mapping[str, Json]
