"""Functions as TensorFlow 2 calls them, by their modules' paths: the graphs that they build."""

from __future__ import annotations

from typing import Any

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.graphs_and_values import fed, shown
from sessrun.conformance.subjects.programs.paths import module_of

__all__ = ["BEHAVIOURS"]


def _sparse(tf: Any, values: Any) -> Any:
    return tf.SparseTensor([[0, 1], [2, 0]], values, [3, 2])


def _reductions_and_arrays(tf: Any) -> Any:
    math, arrays = module_of(tf, "ops.math_ops"), module_of(tf, "ops.array_ops")
    x, ids = [[3.0, 1.0], [0.0, 4.0]], [0, 0, 1]
    return shown(
        tf,
        lambda tf: math.argmax_v2(fed(tf, x), 1, tf.int32),
        lambda tf: math.argmin_v2(fed(tf, x)),
        lambda tf: math.count_nonzero_v2(fed(tf, x), 1, True, tf.int32, "many"),
        lambda tf: math.scalar_mul_v2(2.0, fed(tf, x), name="twice"),
        lambda tf: math.sparse_segment_sum_v2(fed(tf, x), [0, 1, 0], ids, 3),
        lambda tf: math.sparse_segment_mean_v2(fed(tf, x), [0, 1, 0], ids),
        lambda tf: math.and_(fed(tf, [True, False]), True, "both"),
        lambda tf: math.or_(fed(tf, [5, 1]), 2),
        lambda tf: math.xor_(fed(tf, [True, False]), True),
        lambda tf: math.invert_(fed(tf, [5, 1])),
        lambda _: arrays.convert_to_int_tensor(3, "three"),
        lambda tf: arrays.tile_one_dimension(fed(tf, x), 1, 2),
        lambda tf: arrays.tile_one_dimension(fed(tf, x, [None, 2]), 0, 2),
        lambda tf: module_of(tf, "ops.linalg_ops").norm_v2(fed(tf, x), 1, 0, True),
        lambda tf: module_of(tf, "ops.nn_impl").normalize(fed(tf, x), axis=1),
        lambda tf: module_of(tf, "ops.numerics").verify_tensor_all_finite_v2(fed(tf, x), "no"),
    )


def _axes(tf: Any) -> Any:
    positive = module_of(tf, "ops.array_ops").get_positive_axis
    integers = module_of(tf, "ops.array_ops").convert_to_int_tensor
    return attempt(
        lambda: positive(-1, 3), lambda: positive(1, None), lambda: positive(-1, None),
        lambda: positive(3, 3, "batch_dims", "rank(x)"), lambda: positive("0", 3),
        lambda: integers(tf.constant(1.0, name="one"), "n"),
    )  # fmt: skip


def _sparse_forms(tf: Any) -> Any:
    sparse = module_of(tf, "ops.sparse_ops")

    def dense(made: Any) -> Any:
        return tf.sparse.to_dense(made)

    return shown(
        tf,
        lambda tf: dense(sparse.sparse_add_v2(_sparse(tf, [1, 2]), _sparse(tf, [-1, 1]), 1)),
        lambda tf: dense(sparse.sparse_concat_v2(0, [_sparse(tf, [1, 2])] * 2)),
        lambda tf: dense(sparse.sparse_split_v2(_sparse(tf, [1, 2]), 2, 0)[1]),
        lambda tf: sparse.sparse_reduce_max_v2(_sparse(tf, [1, 2]), 1, True),
        lambda tf: dense(sparse.sparse_reduce_sum_v2(_sparse(tf, [1, 2]), 0, False, True)),
        lambda tf: dense(sparse.map_values(tf.add, _sparse(tf, [1, 2]), _sparse(tf, [3, 4]))),
        lambda tf: dense(sparse.map_values(tf.add, _sparse(tf, [1, 2]), y=5)),
        lambda tf: sparse.map_values(tf.add, 1, 2),
        lambda tf: sparse.serialize_sparse_v2(_sparse(tf, [1, 2]), tf.string, "kept"),
    )


def _texts_and_examples(tf: Any) -> Any:
    strings, parsing = module_of(tf, "ops.string_ops"), module_of(tf, "ops.parsing_ops")
    return shown(
        tf,
        lambda tf: strings.reduce_join_v2(fed(tf, [["a", "b"]]), 1, True, "-"),
        lambda tf: strings.string_length_v2(fed(tf, ["ab", "ü"]), "UTF8_CHAR"),
        lambda tf: strings.substr_v2(fed(tf, ["abc"]), 1, 1, "BYTE", "part"),
        lambda tf: strings.substr_deprecated(fed(tf, ["abc"]), 1, 1, "part"),
        lambda tf: parsing.decode_csv_v2(fed(tf, ["1;-"]), [[0], [7]], ";", True, "-"),
    )


def _flow_and_gradients(tf: Any) -> Any:
    def differentiated(tf: Any) -> Any:
        x = fed(tf, [2.0, 3.0])
        with tf.device("/cpu:0"):
            y = x * x
        return module_of(tf, "ops.gradients_impl").gradients_v2(y, [x], name="back")

    def curved(tf: Any) -> Any:
        x = fed(tf, [2.0, 3.0], [2])
        return module_of(tf, "ops.gradients_impl").HessiansV2(tf.reduce_sum(x * x * x), x)

    def looped(tf: Any) -> Any:
        loop = module_of(tf, "ops.while_loop").while_loop_v2
        return loop(lambda i: i < 5, lambda i: [i + 1], [fed(tf, 0)], maximum_iterations=3)

    folds = module_of(tf, "ops.functional_ops")
    return shown(
        tf, differentiated, curved, looped,
        lambda tf: module_of(tf, "ops.cond").cond_for_tf_v2(
            fed(tf, True), lambda: [tf.constant(1)], lambda: [tf.constant(2)]),
        lambda tf: module_of(tf, "ops.control_flow_ops").tuple_v2([fed(tf, 1)], [tf.no_op()]),
        lambda tf: folds.foldl_v2(tf.add, fed(tf, [1, 2, 3])),
        lambda tf: folds.scan_v2(tf.add, fed(tf, [1, 2, 3]), reverse=True),
        lambda tf: module_of(tf, "ops.map_fn").map_fn_v2(lambda x: x + 1, fed(tf, [1, 2, 3])),
    )  # fmt: skip


def _checks(tf: Any) -> Any:
    checks = module_of(tf, "ops.check_ops")

    def after(check: Any) -> Any:
        def make(tf: Any) -> Any:
            x = fed(tf, [[1.0, 2.0]], [1, None])
            with tf.control_dependencies([each for each in [check(x)] if each is not None]):
                return tf.identity(x)

        return make

    return shown(
        tf,
        after(lambda x: checks.assert_equal_v2(x, x, "same", 2, "e")),
        after(lambda x: checks.assert_less_v2(x, 1.5, "less")),
        after(lambda x: checks.assert_positive_v2(x, "above", name="p")),
        after(lambda x: checks.assert_near_v2(x, x, 0.1, 0.2, "near")),
        after(lambda x: checks.assert_rank_v2(x, 1, "flat")),
        after(lambda x: checks.assert_rank_at_least_v2(x, 1, "flat")),
        after(lambda x: checks.assert_rank_in_v2(x, [0, 2], "flat")),
        after(lambda x: checks.assert_integer_v2(x, "whole")),
        after(lambda x: checks.assert_type_v2(x, "float32", "real")),
        after(lambda x: checks.assert_scalar_v2(x, "single", "s")),
    )


def _what_tests_use(tf: Any) -> Any:
    util = module_of(tf, "framework.test_util")
    named = util.generate_combinations_with_testcase_name(b=[1, "x-y"], a=[True], c=None)

    class Tests:
        @util.run_in_v1_v2()
        def run_plainly(self) -> None:
            pass

    return [
        [list(each.items()) for each in named], util.is_asan_enabled(), util.IsBuiltWithNvcc(),
        util.run_class_in_v1_v2(Tests) is Tests, util.NHWCToNCHW_VECT_C([2, 3, 5, 8]),
        util.NCHW_VECT_CToNHWC([2, 2, 3, 5, 4]),
        attempt(lambda: util.NHWCToNCHW_VECT_C([2, 3, 5, 7]),
                lambda: util.NCHW_VECT_CToNHWC([2, 2, 3, 5, 3])),
        shown(tf, lambda tf: util.NHWCToNCHW_VECT_C(tf.ones([1, 2, 3, 8])),
              lambda tf: util.NCHW_VECT_CToNHWC(tf.ones([1, 2, 3, 2, 4]))),
    ]  # fmt: skip


BEHAVIOURS = {
    "what-tests-use": _what_tests_use,
    "newer-forms-of-reductions-and-arrays": _reductions_and_arrays,
    "newer-forms-of-axes": _axes,
    "newer-forms-of-sparse-functions": _sparse_forms,
    "newer-forms-of-texts-and-examples": _texts_and_examples,
    "newer-forms-of-flow-and-gradients": _flow_and_gradients,
    "newer-forms-of-checks": _checks,
}
