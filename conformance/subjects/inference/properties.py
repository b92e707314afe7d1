"""The properties of the profile `inference`."""

from __future__ import annotations

from sessrun.conformance.properties import prop
from sessrun.conformance.subjects.inference import (
    control_flow,
    networks,
    operations,
    runs,
    values,
)

#: So many times the plan's count that a certification asks every cell of the table.
_CELLS_WEIGHT = 40

prop(
    "inference-cells", "INFERENCE-001", "INFERENCE-002", weight=_CELLS_WEIGHT,
    rows=operations.cell_count,
)(operations.cell_case)  # fmt: skip
prop("inference-structure", "INFERENCE-003", rows=operations.structured_count)(
    operations.structured_case
)
prop("inference-specials", "INFERENCE-004", weight=2)(values.special_case)
prop("inference-divisions", "INFERENCE-005")(values.division_case)
prop("inference-zero-divisors", "INFERENCE-006")(values.zero_divisor_case)
prop("inference-overflows", "INFERENCE-007")(values.overflow_case)
prop("inference-empty", "INFERENCE-008")(values.empty_case)
prop("inference-missing-feeds", "INFERENCE-009")(runs.missing_feed_case)
prop("inference-indices", "INFERENCE-010")(runs.index_case)
prop("inference-cuts", "INFERENCE-011")(runs.cut_case)
prop("inference-shapes", "INFERENCE-012", "INFERENCE-013")(runs.shapes_case)
prop("inference-fetches", "INFERENCE-014")(runs.fetches_case)
prop("inference-control-inputs", "INFERENCE-015")(runs.control_case)
prop("inference-branches", "INFERENCE-016")(control_flow.branch_case)
prop("inference-loops", "INFERENCE-016")(control_flow.loop_case)
prop("inference-functions", "INFERENCE-017")(control_flow.call_case)
prop("inference-networks", "INFERENCE-018")(networks.network_case)
