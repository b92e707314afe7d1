"""A spare worker: started while another one works, it waits past `hello` to take its place.

Whoever needs a new worker then has one at once. A spare is asked nothing but `hello`. One that
dies, or does not introduce itself in time, costs nothing: a worker is started as if there had
been none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

from sessrun.adapters.backend import Description
from sessrun.adapters.process.channel import Channel, Ids
from sessrun.adapters.process.errors import AdapterError, WorkerError

__all__ = ["Spare"]

#: How long its starting thread may take to notice that it is not wanted, in seconds.
_GOODBYE: Final = 5.0


class Spare:
    """A worker in waiting, started in a thread of its own.

    Args:
      command: program and arguments.
      ids: where the ids of its requests come from.
      deadline_s: seconds until it must have introduced itself.

    """

    def __init__(self, command: Sequence[str], ids: Ids, deadline_s: float) -> None:
        self._until: Final = time.monotonic() + deadline_s
        self._lock = threading.Lock()
        self._channel: Channel | None = None
        self._description: Description | None = None
        self._discarded = False
        self._thread = threading.Thread(
            target=self._start, args=(command, ids, deadline_s), daemon=True, name="spare worker"
        )
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether it has introduced itself, or failed to."""
        return not self._thread.is_alive()

    def take(self) -> tuple[Channel, Description] | None:
        """The worker and its description of itself; None if it has failed or is late.

        It waits for a worker that is still starting, no longer than its deadline.
        """
        self._thread.join(max(0.0, self._until - time.monotonic()))
        with self._lock:
            channel, description = self._channel, self._description
            if channel is not None and description is not None and channel.alive:
                return channel, description
        self.discard()
        return None

    def discard(self) -> None:
        """End the worker, whatever it does; its folder is removed."""
        with self._lock:
            self._discarded = True
            channel = self._channel
        if channel is not None:
            channel.kill()
        self._thread.join(_GOODBYE)

    def _start(self, command: Sequence[str], ids: Ids, deadline_s: float) -> None:
        try:
            channel = Channel(command, ids)
        except (AdapterError, OSError):  # the machine has no more processes, say
            return
        with self._lock:
            unwanted = self._discarded
            self._channel = channel
        try:
            if not unwanted:
                self._description = channel.hello(deadline_s)
                return
        except (WorkerError, ValueError, OSError):
            pass
        channel.kill()
