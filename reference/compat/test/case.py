"""`TestCase`: the class of a test of TensorFlow's, with every assertion."""

from __future__ import annotations

import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np

from sessrun.reference import errors
from sessrun.reference.base.device_spec import DeviceSpecV1, DeviceSpecV2
from sessrun.reference.compat.test.arrays import ArrayAssertions
from sessrun.reference.compat.test.protos import ProtoAssertions
from sessrun.reference.compat.test.temporary import get_temp_dir
from sessrun.reference.compat.test.threads import CheckedThread
from sessrun.reference.graph import default_graph, random_seed

__all__ = ["TensorFlowTestCase"]

_INCOMPATIBLE_SHAPES = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"


class TensorFlowTestCase(ArrayAssertions, ProtoAssertions):
    """A test: an empty default graph and fixed seeds before each, sessions, assertions.

    A derived class that has a `setUp` or `tearDown` of its own calls this one's in it.
    """

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._threads: list[CheckedThread] = []
        self._tempdir: str | None = None

    def setUp(self) -> None:
        """Start with an empty default graph, and with the seeds of every test."""
        super().setUp()
        self._ClearCachedSession()
        random.seed(random_seed.DEFAULT_GRAPH_SEED)
        np.random.seed(random_seed.DEFAULT_GRAPH_SEED)  # noqa: NPY002 - the one programs use
        default_graph.leave_graphs()
        default_graph.reset_default_graph()
        random_seed.set_random_seed(random_seed.DEFAULT_GRAPH_SEED)
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")

    def tearDown(self) -> None:
        """Look after the threads of the test, and close its session."""
        for thread in self._threads:
            thread.check_termination()
        self._ClearCachedSession()
        super().tearDown()

    # --- files, streams, threads -----------------------------------------------------------------

    def get_temp_dir(self) -> str:
        """The folder of this test's files: the same one at every call, another for each test."""
        if self._tempdir is None:
            self._tempdir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._tempdir

    def checkedThread(
        self,
        target: Callable[..., object],
        args: Sequence[object] | None = None,
        kwargs: Mapping[str, object] | None = None,
    ) -> CheckedThread:
        """A thread that fails this test if it raises, or is not joined before the end.

        Args:
          target: what to call in the thread.
          args: its arguments.
          kwargs: its keyword arguments.

        """
        thread = CheckedThread(self, target, args or (), kwargs)
        self._threads.append(thread)
        return thread

    # --- errors, devices -------------------------------------------------------------------------

    @contextmanager
    def _raising(
        self,
        exception_type: type[BaseException] | tuple[type[BaseException], ...],
        expected_err_re_or_predicate: str | Callable[[BaseException], bool],
    ) -> Iterator[None]:
        """Fail unless the `with` raises an error of this kind.

        Args:
          exception_type: its class, or several.
          expected_err_re_or_predicate: a function of the error that tells whether it is expected,
            or a regular expression to be found in its message; an OpError's is followed by the
            names of its operation and those that it stands for.

        """
        wanted = expected_err_re_or_predicate
        try:
            yield
        except Exception as error:
            is_match = wanted(error) if callable(wanted) else re.search(wanted, _described(error))
            if not isinstance(error, exception_type) or not is_match:
                text = f"Exception of type {type(error)}: {error}"
                if not callable(wanted):
                    text += f"\nwanted: {exception_type}, with {wanted!r}"
                raise AssertionError(text) from error
        else:
            kinds = exception_type if isinstance(exception_type, tuple) else (exception_type,)
            self.fail(" or ".join(kind.__name__ for kind in kinds) + " not raised")

    def assertRaisesOpError(
        self, expected_err_re_or_predicate: str | Callable[[BaseException], bool]
    ) -> AbstractContextManager[None]:
        """As `assertRaisesWithPredicateMatch`, of any OpError."""
        return self._raising(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: type[BaseException] = errors.InvalidArgumentError
    ) -> AbstractContextManager[None]:
        """Fail unless the shapes of operands are refused inside the `with`."""
        return self._raising(exception_type, _INCOMPATIBLE_SHAPES)

    def assertDeviceEqual(
        self,
        device1: str | DeviceSpecV2 | None,
        device2: str | DeviceSpecV2 | None,
        msg: str | None = None,
    ) -> None:
        """Fail unless two devices, by name or DeviceSpec, are the same; None is the empty name."""
        names = [_canonical(device) for device in (device1, device2)]
        text = f"Devices {names[0]} and {names[1]} are not equal. {msg or ''}"
        self.assertEqual(names[0], names[1], text)


def _described(error: Exception) -> str:
    """The message of an error; of an OpError with the names of the operations behind it."""
    if not isinstance(error, errors.OpError):
        return str(error)
    text, operation = error.message, error.op
    while operation is not None:
        text += f"\nCaused by: {operation.name}"
        operation = operation._original_op  # noqa: SLF001 - TensorFlow's name for it
    return text


def _canonical(device: str | DeviceSpecV2 | None) -> str:
    if device is None:
        return ""
    spec = device if isinstance(device, DeviceSpecV2) else DeviceSpecV1.from_string(device)
    return spec.to_string()


setattr(TensorFlowTestCase, "assertRaisesWithPredicateMatch", TensorFlowTestCase._raising)  # noqa: B010, SLF001 - it takes other arguments than absl's
#: Old names of unittest's methods, which old tests use.
for _old, _new in {
    "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertEquals": "assertEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertNotEquals": "assertNotEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
}.items():
    setattr(TensorFlowTestCase, _old, getattr(TensorFlowTestCase, _new))
