"""Assertions about arrays: of the values of tensors, of lists, of structures of both."""

from __future__ import annotations

import itertools
import math
import unittest
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from sessrun.reference.api.argument_types import Structure, TensorLike
from sessrun.reference.api.ragged_tensor import RaggedTensor, is_ragged
from sessrun.reference.base import dtypes
from sessrun.reference.base.host_arrays import HostArray
from sessrun.reference.build import conversion
from sessrun.reference.compat.test.sessions import SessionCase
from sessrun.reference.graph.tensor import Tensor

__all__ = ["ArrayAssertions"]

#: So many elements are listed where they break a rule.
_LISTED: Final = 10
#: Larger arrays of more than three dimensions are not shown.
_SHOWN: Final = 500
#: Numpy's own tests of nearness know nothing of these.
_SMALL_FLOATS: Final = frozenset(
    dtype.as_numpy_dtype
    for dtype in dtypes.ALL
    if dtype.is_floating and dtype.name.startswith(("bfloat", "float8"))
)
_TEXTS: Final = frozenset("USO")


class ArrayAssertions(SessionCase):
    """A TestCase that compares arrays; a tensor stands for its value, see `evaluate`."""

    # --- near ------------------------------------------------------------------------------------

    def assertNear(
        self, f1: float | HostArray, f2: float | HostArray, err: float, msg: str | None = None
    ) -> None:
        """Fail unless two numbers are at most `err` apart."""
        a, b = np.squeeze(f1), np.squeeze(f2)
        if a != b:
            difference = math.fabs(a - b)
            text = f"{a:f} != {b:f} +/- {err:f} (difference: {difference:g})"
            self.assertTrue(difference <= err, text if msg is None else f"{text} ({msg})")

    def assertArrayNear(
        self,
        farray1: Sequence[float] | HostArray,
        farray2: Sequence[float] | HostArray,
        err: float,
        msg: str | None = None,
    ) -> None:
        """Fail unless two lists of numbers are of one length, and each pair at most `err` apart."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for index, (a, b) in enumerate(zip(farray1, farray2, strict=True)):
            where = f"element {index}"
            self.assertNear(float(a), float(b), err, where if msg is None else f"{where}: {msg}")

    def assertNDArrayNear(
        self,
        ndarray1: npt.NDArray[np.float64],
        ndarray2: npt.NDArray[np.float64],
        err: float,
        msg: str | None = None,
    ) -> None:
        """Fail unless the norm of the difference of two arrays is less than `err`."""
        norm = np.linalg.norm(ndarray1 - ndarray2)
        text = f"the norm of the difference is {norm}, not less than {err}"
        self.assertTrue(self._NDArrayNear(ndarray1, ndarray2, err), self._formatMessage(msg, text))

    def _NDArrayNear(
        self, ndarray1: npt.NDArray[np.float64], ndarray2: npt.NDArray[np.float64], err: float
    ) -> bool:
        return bool(np.linalg.norm(ndarray1 - ndarray2) < err)

    def assertAllClose(
        self,
        a: Structure,
        b: Structure,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        msg: str | None = None,
    ) -> None:
        """Fail unless all elements are near: `|a - b| <= atol + rtol * |b|`.

        Args:
          a: an array, a tensor, or a structure (lists, tuples, named tuples, dicts) of them.
          b: another one of the same structure.
          rtol: the relative tolerance.
          atol: the absolute tolerance.
          msg: what to say besides, on failure.

        Raises:
          ValueError: their structures differ.

        """
        self._assert_near(a, b, rtol, atol, (), msg or "")

    def _assert_near(
        self, a: Any, b: Any, rtol: float, atol: float, path: tuple[object, ...], msg: str
    ) -> None:
        subscripts = "".join(f"[{key}]" for key in path)
        a, b = (value._asdict() if hasattr(value, "_asdict") else value for value in (a, b))
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(
                f"Can't compare dict to non-dict, a{subscripts} vs b{subscripts}. {msg}"
            )
        wrong = f"Mismatched value: a{subscripts} is different from b{subscripts}. {msg}"
        pairs: Iterable[tuple[object, object, object]]
        if isinstance(a, Mapping):
            keys = f"a{subscripts} has keys {list(a)}, but b{subscripts} has keys {list(b)}"
            self.assertCountEqual(a.keys(), b.keys(), f"mismatched keys: {keys}. {msg}")
            pairs = [(key, a[key], b[key]) for key in a]
        elif isinstance(a, list | tuple):
            try:  # as a single array, if possible
                self._assert_near_arrays(a, b, rtol, atol, wrong)
            except (ValueError, TypeError, NotImplementedError):
                pairs = self._items(a, b, subscripts, msg)
            else:
                return
        else:
            self._assert_near_leaves(a, b, rtol, atol, subscripts, wrong)
            return
        for key, x, y in pairs:
            self._assert_near(x, y, rtol, atol, (*path, key), msg)

    def _items(
        self, a: Sequence[Any], b: Sequence[Any], subscripts: str, msg: str
    ) -> list[tuple[object, Structure, Structure]]:
        if len(a) != len(b):
            text = f"a{subscripts} has {len(a)} items, but b{subscripts} has {len(b)} items"
            raise ValueError(f"Mismatched length: {text}. {msg}")
        return [(index, x, y) for index, (x, y) in enumerate(zip(a, b, strict=True))]

    def _assert_near_leaves(
        self, a: Structure, b: Structure, rtol: float, atol: float, at: str, msg: str
    ) -> None:
        try:
            self._assert_near_arrays(a, b, rtol, atol, msg)
        except TypeError as error:
            text = f"{error} : Error: a{at} has {type(a)}, but b{at} has {type(b)}. {msg}"
            raise TypeError(text) from error

    def _assert_near_arrays(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._arrays(a, b)
        self._assert_same_shape(a, b, "")
        dtype = a.dtype
        a, b = (
            array.astype(np.float32) if array.dtype.type in _SMALL_FLOATS else array
            for array in (a, b)
        )
        if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
            return
        is_far = (np.abs(a - b) > atol + rtol * np.abs(b)) | (np.isnan(a) != np.isnan(b))
        x, y = (a[is_far], b[is_far]) if a.ndim else (a, b)
        lines = [f"not close where = {np.nonzero(is_far)}"] if a.ndim else []
        lines += [
            f"not close lhs = {x}",
            f"not close rhs = {y}",
            f"not close dif = {np.abs(x - y)}",
            f"not close tol = {atol + rtol * np.abs(y)}",
            f"dtype = {dtype}, shape = {a.shape}",
        ]
        text = "\n".join([str(msg), *lines])
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=text, equal_nan=True)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Fail unless all elements are near, by the tolerances of the coarser dtype.

        Args:
          a: an array, or a tensor.
          b: another.
          rtol: the relative tolerance, of every dtype at least.
          atol: the absolute tolerance, of every dtype at least.
          float_rtol: of float32 and complex64.
          float_atol: of float32 and complex64.
          half_rtol: of float16.
          half_atol: of float16.
          bfloat16_rtol: of bfloat16.
          bfloat16_atol: of bfloat16.
          msg: what to say besides, on failure.

        """
        a, b = self._arrays(a, b)
        tolerances = {
            "float32": (float_rtol, float_atol),
            "complex64": (float_rtol, float_atol),
            "float16": (half_rtol, half_atol),
            "bfloat16": (bfloat16_rtol, bfloat16_atol),
        }
        for array in (a, b):
            relative, absolute = tolerances.get(array.dtype.name, (rtol, atol))
            rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(
        self,
        a: Structure,
        b: Structure,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        msg: str | None = None,
    ) -> None:
        """Fail if all elements are near; arguments as of `assertAllClose`."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    # --- equal -----------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fail unless two arrays, tensors or nested lists have equal shapes and elements."""
        if is_ragged(a) or is_ragged(b):
            self.assertEqual(self._as_lists(a), self._as_lists(b), msg)
            return
        a, b = self._arrays(a, b)
        self._assert_same_shape(a, b, msg or "")
        if a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} <= _TEXTS:
            a, b = _as_bytes(a), _as_bytes(b)
        same = a == b
        if dtypes.as_dtype(a.dtype).is_floating:
            same |= np.isnan(a) & np.isnan(b)
        if np.all(same):
            return
        x, y = (a[~same], b[~same]) if a.ndim else (a, b)
        lines = [f"not equal where = {np.nonzero(~same)}"] if a.ndim else []
        lines = [str(msg or ""), *lines, f"not equal lhs = {x!r}", f"not equal rhs = {y!r}"]
        np.testing.assert_array_equal(a, b, err_msg="\n".join(lines))

    def assertNotAllEqual(self, a: TensorLike, b: TensorLike, msg: str | None = None) -> None:
        """Fail if two arrays, tensors or nested lists have equal shapes and elements."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertShapeEqual(
        self,
        input_a: HostArray | np.generic | Tensor,
        input_b: HostArray | np.generic | Tensor,
        msg: str | None = None,
    ) -> None:
        """Fail unless two arrays have the same shape, or tensors the same static one.

        Raises:
          TypeError: an argument is neither an array nor a tensor.

        """
        shapes = []
        for name, value in (("input_a", input_a), ("input_b", input_b)):
            if isinstance(value, Tensor):
                shapes.append(value.get_shape().as_list())
            elif isinstance(value, np.ndarray | np.generic):
                shapes.append(list(value.shape))
            else:
                raise TypeError(
                    f"{name} must be a Numpy ndarray, Numpy scalar, or a Tensor. "
                    f"Instead received {type(value)}"
                )
        self.assertAllEqual(shapes[0], shapes[1], msg=msg)

    def assertDTypeEqual(self, target: TensorLike, expected_dtype: npt.DTypeLike) -> None:
        """Fail unless the array, or the value of the tensor, has that dtype of numpy's."""
        self.assertEqual(self._GetNdArray(target).dtype, expected_dtype)

    def assertDictEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fail unless two dicts are equal; arrays and tensors in them by value, floats nearly."""
        try:
            unittest.TestCase.assertDictEqual(self, a, b, msg)
        except Exception:  # noqa: BLE001 - comparing arrays by == raises many things
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                if np.issubdtype(self._GetNdArray(a[key]).dtype, np.floating):
                    self.assertAllClose(a[key], b[key], msg=key)
                else:
                    self.assertAllEqual(a[key], b[key], msg=key)

    # --- bounds ----------------------------------------------------------------------------------

    def assertAllGreater(self, a: TensorLike, comparison_target: Any) -> None:
        """Fail unless every element is greater than a number."""
        a, comparison_target = self.evaluate_if_both_tensors(a, comparison_target)
        self.assertGreater(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLess(self, a: TensorLike, comparison_target: Any) -> None:
        """Fail unless every element is less than a number."""
        a, comparison_target = self.evaluate_if_both_tensors(a, comparison_target)
        self.assertLess(np.max(self._GetNdArray(a)), comparison_target)

    def assertAllGreaterEqual(self, a: TensorLike, comparison_target: Any) -> None:
        """Fail unless every element is a number or greater."""
        a, comparison_target = self.evaluate_if_both_tensors(a, comparison_target)
        self.assertGreaterEqual(np.min(self._GetNdArray(a)), comparison_target)

    def assertAllLessEqual(self, a: TensorLike, comparison_target: Any) -> None:
        """Fail unless every element is a number or less."""
        a, comparison_target = self.evaluate_if_both_tensors(a, comparison_target)
        self.assertLessEqual(np.max(self._GetNdArray(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: float,
        upper_bound: float,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fail unless every element is in a range, and none is NaN.

        Args:
          target: an array or tensor of integers or floats.
          lower_bound: the least number.
          upper_bound: the greatest number.
          open_lower_bound: whether the least is not in the range itself.
          open_upper_bound: whether the greatest is not in the range itself.

        """
        target = self._GetNdArray(target)
        if not any(np.issubdtype(target.dtype, kind) for kind in (np.floating, np.integer)):
            self.fail(f"The value of {target} has no ordered numeric type, but {target.dtype}")
        self._assert_nowhere(np.isnan(target), target, "are NaN")
        is_low = target <= lower_bound if open_lower_bound else target < lower_bound
        is_high = target >= upper_bound if open_upper_bound else target > upper_bound
        left, right = "[("[open_lower_bound], "])"[open_upper_bound]
        wanted = f"are outside the range {left}{lower_bound}, {upper_bound}{right}"
        self._assert_nowhere(is_low | is_high, target, wanted)

    def assertAllInSet(self, target: TensorLike, expected_set: Iterable[object]) -> None:
        """Fail unless every element is one of these."""
        wrong = np.setdiff1d(self._GetNdArray(target).flatten(), list(expected_set))
        if wrong.size:
            self.fail(f"{wrong.size} unique element(s) are not in the set {expected_set}: {wrong}")

    # --- the arrays to compare -------------------------------------------------------------------

    def evaluate_if_both_tensors(self, a: Structure, b: Structure) -> tuple[Any, Any]:
        """The two arguments; if both are tensors, their values in one run."""
        if conversion.is_tensor(a) and conversion.is_tensor(b):
            a, b = self.evaluate((a, b))
        return a, b

    def _arrays(self, a: Structure, b: Structure) -> tuple[Any, Any]:
        a, b = self.evaluate_if_both_tensors(a, b)
        return self._GetNdArray(a), self._GetNdArray(b)

    def _as_lists(self, a: Any) -> Any:
        """The value of a tensor, a ragged one too, as nested lists."""
        if isinstance(a, RaggedTensor | Tensor):
            a = self.evaluate(a)
        return a.to_list() if is_ragged(a) else np.array(a, dtype=object).tolist()

    def _GetNdArray(self, a: Structure) -> Any:
        """The array of a tensor's value, of a number or of a nested list, a ragged one too."""
        if conversion.is_tensor(a):
            a = self.evaluate(a)
        if isinstance(a, np.ndarray):
            return a
        try:
            return np.array(a)
        except ValueError as error:
            if "inhomogeneous shape" not in str(error):
                raise
            return np.array(a, dtype=object)

    def _assert_same_shape(self, a: HostArray, b: HostArray, msg: str) -> None:
        text = f"Shape mismatch: expected {a.shape}, got {b.shape}."
        if a.shape != b.shape and (b.ndim <= 3 or b.size < _SHOWN):
            text += f" Contents: {b!r}."
        self.assertEqual(a.shape, b.shape, f"{text} {msg}")

    def _assert_nowhere(self, is_wrong: npt.NDArray[np.bool_], array: HostArray, what: str) -> None:
        """Fail if a condition holds anywhere; the message lists the subscripts and values."""
        indices = np.argwhere(is_wrong)
        if not np.any(is_wrong):
            return
        lines = [
            f"  {index if array.ndim else [0]} : {array[tuple(index)]}"
            for index in itertools.islice(indices, _LISTED)
        ]
        lines += ["  ..."] * (len(indices) > _LISTED)
        counts = f"{np.count_nonzero(is_wrong)} of the {array.size} element(s) {what}."
        self.fail("\n".join([f"{counts} Subscript(s) and value(s):", *lines]))


def _as_bytes(array: HostArray) -> HostArray:
    """The texts of an array, all as bytes."""
    flat = [item.encode() if isinstance(item, str) else item for item in array.flat]
    return np.array(flat).reshape(array.shape)
