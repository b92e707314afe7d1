"""Seeded accidents to data: to bytes, and to the values inside of what is still JSON."""

import copy
import random
from typing import Any

#: Values that a reader may not expect where it finds them.
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**70,
    1.5,
    "",
    "x",
    "\ud800",
    "a" * 5000,
    [],
    {},
    [[]],
    {"$": 3},
    {"$array": 5},
    {"$call": []},
    {"": None},
    [None],
    "..",
    "//",
    "9" * 400,
)


def mutated_bytes(raw: bytes, rng: random.Random) -> bytes:
    """The bytes with one of the usual accidents."""
    place = rng.randrange(len(raw) + 1)
    span = rng.randrange(1, 65)
    match rng.randrange(7):
        case 0:
            return raw[:place] + bytes([rng.randrange(256)]) + raw[place + 1 :]
        case 1:
            return raw[:place] + raw[place + span :]
        case 2:
            return raw[:place] + rng.randbytes(span) + raw[place:]
        case 3:
            return raw[:place]
        case 4:
            return raw[:place] + raw[place : place + span] * 2 + raw[place + span :]
        case 5:
            return raw[:place] + b"[" * 3000 + raw[place:]
    return raw[:place] + raw[place : place + 1].swapcase() + raw[place + 1 :]


def mutated_form(form: Any, rng: random.Random) -> Any:
    """A deep copy of a JSON value in which one place is another, gone, or there twice."""
    made = copy.deepcopy(form)
    holders: list[Any] = []
    _collect(made, holders)
    if not holders:
        return rng.choice(ODD)
    holder = rng.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = rng.choice(keys)
    match rng.randrange(5):
        case 0 | 1:
            holder[key] = rng.choice(ODD)
        case 2:
            del holder[key]
        case 3:
            other = rng.choice(holders)
            holder[key] = copy.deepcopy(other)
        case _:
            if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            else:
                holder[str(key) + "x"] = holder.pop(key)
    return made


def _collect(form: Any, holders: list[Any]) -> None:
    if isinstance(form, dict | list) and form:
        holders.append(form)
        for item in form.values() if isinstance(form, dict) else form:
            _collect(item, holders)
