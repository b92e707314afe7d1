"""What a benchmark run says of its device, in words: simulated, clocks, throttling, ceilings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sessrun.reports.measures import is_of_stand_in, seconds_text
from sessrun.reports.printable import number, shortened

__all__ = [
    "CEILINGS",
    "COUNTED",
    "SIMULATED",
    "ceiling_rows",
    "ceiling_text",
    "counts_cells",
    "counts_text",
    "device_facts",
    "doubts",
    "quantity_text",
    "throttled",
]

SIMULATED: Final = (
    "SIMULATED: the device is a stand-in on the CPU. Its times mean nothing; what was counted, and "
    "whether the answers are right, does."
)
#: A ceiling that changes by more than this share during a run makes its times doubtful.
_APART: Final = 0.05
#: The ceilings in words, by their keys in a file.
CEILINGS: Final = {
    "flops": "float32 products",
    "flops_tf32": "TF32 products",
    "flops_bfloat16": "bfloat16 products",
    "flops_float64": "float64 products",
    "bytes": "copy within the device",
    "upload_bytes": "upload from pinned memory",
    "download_bytes": "download to pinned memory",
    "launch_seconds": "launch of an empty kernel",
    "graph_node_seconds": "empty kernel in a graph",
}
#: What is counted in one call: the word that reports use, and the key in a file.
COUNTED: Final = {
    "launches": "launches",
    "waits": "synchronizations",
    "hidden": "hidden_synchronizations",
    "up": "upload_bytes",
    "down": "download_bytes",
    "pool": "pool_bytes",
}
_STATES: Final = (
    ("SM clock", "sm_clock_mhz", "MHz"),
    ("Memory clock", "memory_clock_mhz", "MHz"),
    ("Power", "power_w", "W"),
    ("Temperature", "temperature_c", "°C"),
)
_PREFIXES: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def device_facts(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The device's name, the range of its clocks, power and temperature, what throttled it.

    Args:
      run: a benchmark run, as its schema has it.

    """
    device = run.get("device")
    if device is None:
        return []
    name = shortened(device["name"], 80)
    facts = [("Device", f"{name}, SIMULATED" if device["simulated"] else name)]
    states = run.get("states", [])
    for label, key, unit in _STATES:
        values = [state[key] for state in states if key in state]
        if values:
            facts.append((label, f"{_span(min(values), max(values))} {unit}"))
    if any("throttle" in state for state in states):
        facts.append(("Throttling", throttled(states) or "none"))
    return facts


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def throttled(states: Sequence[Mapping[str, Any]]) -> str:
    """In how many rounds the clocks were held down, and for which reasons; empty for none."""
    held = [state for state in states if state.get("throttle")]
    reasons = sorted({reason for state in held for reason in state["throttle"]})
    return f"{len(held)} of {number(len(states), 'round')}: {', '.join(reasons)}" if held else ""


def doubts(run: Mapping[str, Any]) -> list[str]:
    """Why the run's times may not be what they seem, in sentences; the first is the worst."""
    sentences = []
    if is_of_stand_in(run):
        return [SIMULATED]
    changed = [
        f"{CEILINGS.get(name, name)} {after / before - 1:+.0%}"
        for name, before, after in _pairs(run)
        if max(before, after) > min(before, after) * (1 + _APART)
    ]
    if changed:
        sentences.append(
            f"The device changed by more than {_APART:.0%} from before the first round to after "
            "the last, and no time is surer than that: "
            f"{shortened(', '.join(changed), 300)}."
        )
    held_down = throttled(run.get("states", []))
    if held_down:
        sentences.append(f"The device's clocks were held down in {shortened(held_down, 200)}.")
    return sentences


def _pairs(run: Mapping[str, Any]) -> Iterable[tuple[str, float, float]]:
    before, after = run.get("ceilings", {}), run.get("ceilings_after", {})
    return ((name, before[name], after[name]) for name in before if name in after)


def ceiling_rows(run: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """A row for each ceiling: its name, its value before the rounds, and its value after them."""
    before, after = run.get("ceilings", {}), run.get("ceilings_after", {})
    return [
        (
            shortened(CEILINGS.get(name, name), 60),
            ceiling_text(name, before[name]) if name in before else "",
            ceiling_text(name, after[name]) if name in after else "",
        )
        for name in dict.fromkeys((*before, *after))
    ]


def ceiling_text(name: str, value: float) -> str:
    """A ceiling in the unit that fits it: `51.2 TFLOP/s`, `4.1 TB/s`, `2.1 µs`."""
    if name.endswith("seconds"):
        return seconds_text(value)
    unit = "FLOP/s" if name.startswith("flops") else "B/s"
    return quantity_text(value, unit)


def counts_cells(counts: Mapping[str, Any]) -> tuple[str, ...]:
    """The counts of one call in the order of `COUNTED`, as text; empty where there is none."""
    cells = []
    for name in COUNTED.values():
        scaled = (
            quantity_text(counts[name], "B") if name.endswith("bytes") and name in counts else None
        )
        cells.append(scaled or f"{counts[name]:,}" if name in counts else "")
    return tuple(cells)


def counts_text(counts: Mapping[str, Any]) -> str:
    """The counts of one call in one line."""
    pairs = zip(COUNTED, counts_cells(counts), strict=True)
    counted = ", ".join(f"{name} {cell}" for name, cell in pairs if cell)
    return f"{counted}; counted on {shortened(counts['counted_on'], 40)}"


def quantity_text(value: float, unit: str) -> str:
    """A quantity with the prefix that fits it: `51.2 TFLOP/s`."""
    scale, prefix = next((pair for pair in _PREFIXES if value >= pair[0]), (1.0, ""))
    return f"{float(f'{value / scale:.3g}'):g} {prefix}{unit}"
