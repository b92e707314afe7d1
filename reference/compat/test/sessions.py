"""The sessions of a test: a new one, or the one that the whole test shares."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from absl.testing import absltest

from sessrun.reference.api.argument_types import Structure
from sessrun.reference.api.ragged_tensor import RaggedTensor
from sessrun.reference.compat.test.machine import gpu_device_name
from sessrun.reference.devices.physical import default_config
from sessrun.reference.graph import default_session
from sessrun.reference.graph.graph import Graph
from sessrun.reference.session.session import Session
from sessrun.spec.proto import ConfigProto

__all__ = ["SessionCase"]


class SessionCase(absltest.TestCase):
    """A TestCase with sessions."""

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._cached_session: Session | None = None
        #: The graph, configuration and `force_gpu` with which the cached session was created.
        self._cached_arguments: tuple[object, object, object] = (None, None, None)

    @contextmanager
    def session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """A new session for the `with`; it and its graph are the defaults there.

        Args:
          graph: its graph; the default graph if None.
          config: its configuration.
          use_gpu: whether operations may be put on a GPU; else the device is the CPU.
          force_gpu: whether all are put there, without soft placement.

        """
        with (
            Session(graph=graph, config=_prepared(config, force_gpu)) as session,
            _as_default(session, use_gpu, force_gpu),
        ):
            yield session

    @contextmanager
    def cached_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """The session that the test shares, created at first use and closed after the test.

        Args:
          graph: as of `session`, the same each time.
          config: likewise.
          use_gpu: as of `session`; it may differ.
          force_gpu: as of `session`, the same each time.

        Raises:
          ValueError: the session was made for another graph, configuration or `force_gpu`.

        """
        given = graph, config, force_gpu
        session = self._shared(*given)
        for name, old, new in zip(
            ("graph", "config", "force_gpu value"), self._cached_arguments, given, strict=True
        ):
            if old is not new:
                raise ValueError(
                    f"The {name} used to get the cached session is different than the one that "
                    "was used to create the session. Maybe create a new session with "
                    "self.session()"
                )
        with _as_default(session, use_gpu, force_gpu):
            yield session

    @contextmanager
    def test_session(
        self,
        graph: Graph | None = None,
        config: ConfigProto | None = None,
        use_gpu: bool = True,
        force_gpu: bool = False,
    ) -> Iterator[Session]:
        """The session that the test shares; for another graph a new session. An old name.

        Args:
          graph: as of `session`.
          config: as of `session`; it counts when the session is made.
          use_gpu: as of `session`.
          force_gpu: as of `session`; it counts when the session is made.

        """
        if graph is not None:
            with self.session(graph, config, use_gpu, force_gpu) as session:
                yield session
            return
        session = self._shared(graph, config, force_gpu)
        with _as_default(session, use_gpu, force_gpu):
            yield session

    #: It looks like a test by its name; this keeps pytest from taking it for one.
    test_session.__test__ = False  # type: ignore[attr-defined]

    def evaluate(self, tensors: Structure | RaggedTensor) -> Any:
        """The values of tensors, in the default session or else in the test's shared session.

        Args:
          tensors: a tensor, or a structure of them as of `Session.run`.

        """
        session = default_session.get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as session:
            return session.run(tensors)

    def _shared(self, graph: Graph | None, config: ConfigProto | None, force_gpu: bool) -> Session:
        if self._cached_session is None:
            self._cached_session = Session(graph=graph, config=_prepared(config, force_gpu))
            self._cached_arguments = graph, config, force_gpu
        return self._cached_session

    def _ClearCachedSession(self) -> None:
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None


def _prepared(config: ConfigProto | None, force_gpu: bool) -> ConfigProto:
    """The configuration of a test's session: soft placement, unless a GPU is forced."""
    prepared = default_config() if config is None else ConfigProto()
    if config is None:
        prepared.allow_soft_placement = not force_gpu
    else:
        prepared.CopyFrom(config)
        prepared.allow_soft_placement = config.allow_soft_placement and not force_gpu
    return prepared


@contextmanager
def _as_default(session: Session, use_gpu: bool, force_gpu: bool) -> Iterator[None]:
    """Make a session and its graph the defaults, and say where operations go."""
    graph = session.graph
    if force_gpu:
        device: Any = graph.device(gpu_device_name() or "/device:GPU:0")
    elif use_gpu:
        device = nullcontext()
    else:
        device = graph.device("/device:CPU:0")
    with graph.as_default(), session.as_default(), device:
        yield
