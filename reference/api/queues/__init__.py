"""Queues and their kin: runners and coordinators, barriers, staging areas, accumulators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATER"]

#: The modules of this room, and the public names for which each is imported.
LATER: Final[Mapping[str, str]] = {
    "api.queues.coordinator": "train.Coordinator train.LooperThread",
    "api.queues.queue_runner": (
        "train.QueueRunner train.add_queue_runner train.queue_runner.QueueRunner "
        "train.queue_runner.add_queue_runner train.queue_runner.start_queue_runners "
        "train.start_queue_runners"
    ),
    "api.queues.queues": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue "
    "io.PaddingFIFOQueue io.PriorityQueue io.QueueBase io.RandomShuffleQueue queue.FIFOQueue "
    "queue.PaddingFIFOQueue queue.PriorityQueue queue.QueueBase queue.RandomShuffleQueue",
}
