"""Vectors of PROGRAMS: for each of its clauses one function or class of the public namespace."""

from __future__ import annotations

from functools import partial

import numpy as np

from sessrun.conformance.authoring.forms import near
from sessrun.conformance.authoring.record import ApiAuthor, Symbol, api_case
from sessrun.conformance.subjects.run.cases.run import floats, ints


@api_case("PROGRAMS-001", title="Identities are removed from a GraphDef for inference.")
def training_nodes_are_removed(c: ApiAuthor) -> None:
    x = c.tf.constant(2.0, name="x")
    c.tf.negative(c.tf.identity(x, name="same"), name="y")
    graph = c.tf.get_default_graph().as_graph_def()
    nodes = c.tf.graph_util.remove_training_nodes(graph).node
    c.check(c.expr("$len", nodes), 2)
    c.check(nodes[1].input[0], "x")


@api_case("PROGRAMS-002", title="Structures of different keys are not the same.")
def structures_differ_by_their_keys(c: ApiAuthor) -> None:
    same = c.tf.nest.assert_same_structure
    c.check(same({"a": 1}, {"a": 2}), None)
    c.raises("ValueError", partial(same, {"a": 1}, {"b": 1}))


@api_case("PROGRAMS-003", title="A queue is chosen from a list by a fed number.")
def a_queue_of_a_list(c: ApiAuthor) -> None:
    queues = [c.tf.FIFOQueue(2, [c.tf.int32], [[]]) for _ in range(2)]
    puts = [queue.enqueue(number) for queue, number in zip(queues, (7, 8), strict=True)]
    number = c.tf.placeholder(c.tf.int32, [])
    chosen = c.tf.QueueBase.from_list(number, queues).dequeue()
    session = c.tf.Session()
    session.run(puts)
    c.check(session.run(chosen, {number: 1}), np.int32(8))


@api_case("PROGRAMS-004", title="A table of a vocabulary counts its words and its buckets.")
def a_vocabulary_counts_its_buckets(c: ApiAuthor) -> None:
    words = c.tf.lookup.KeyValueTensorInitializer(
        c.tf.constant(["a", "b"]), c.tf.constant([0, 1], c.tf.int64)
    )
    size = c.tf.lookup.StaticVocabularyTable(words, 3).size()
    session = c.tf.Session()
    session.run(c.tf.tables_initializer())
    c.check(session.run(size), np.int64(5))


@api_case("PROGRAMS-005", title="Initializers for ReLUs draw from twice the variance.")
def scales_of_initializers(c: ApiAuthor) -> None:
    he, lecun = c.tf.initializers.he_normal(seed=3), c.tf.initializers.lecun_normal(seed=3)
    c.tf.set_random_seed(1)
    one, other = he([4, 2], c.tf.float32), lecun([4, 2], c.tf.float32)
    quotient = c.tf.reduce_mean(one * one) / c.tf.reduce_mean(other * other)
    c.check(c.tf.Session().run(quotient), near(np.float32(2), "close(1e-4, 1e-4)"))


@api_case("PROGRAMS-006", title="A parsed sequence gives its context before its lists.")
def context_before_sequence(c: ApiAuthor) -> None:
    feature = c.tf.train.Feature(int64_list=c.tf.train.Int64List(value=[5]))
    features = c.tf.train.Features(feature={"c": feature})
    lists = c.tf.train.FeatureLists(
        feature_list={"s": c.tf.train.FeatureList(feature=[feature, feature])}
    )
    example = c.tf.train.SequenceExample(context=features, feature_lists=lists)
    parsed = c.tf.io.parse_single_sequence_example(
        example.SerializeToString(),
        context_features={"c": c.tf.FixedLenFeature([], c.tf.int64)},
        sequence_features={"s": c.tf.FixedLenSequenceFeature([], c.tf.int64)},
    )
    c.check(c.tf.Session().run(parsed[0]["c"]), np.int64(5))
    c.check(c.tf.Session().run(parsed[1]["s"]), np.array([5, 5]))


@api_case("PROGRAMS-007", title="A checkpoint lists all its variables by name.")
def variables_of_a_checkpoint(c: ApiAuthor) -> None:
    for name in "ba":
        c.tf.get_variable(name, initializer=1.0)
    session = c.tf.Session()
    session.run(c.tf.global_variables_initializer())
    path = c.tf.train.Saver().save(session, c.path("model"))
    listed = c.tf.train.list_variables(path)
    c.check(c.expr("$len", listed), 2)
    c.check(listed[1][0], "b")


@api_case("PROGRAMS-008", title="An array that is unstacked gives its rows in order.")
def rows_of_an_unstacked_array(c: ApiAuthor) -> None:
    array = c.tf.TensorArray(c.tf.float32, 2).unstack(c.tf.constant([1.0, 2.0]))
    c.check(c.tf.Session().run(array.read(0)), np.float32(1))


@api_case("PROGRAMS-009", title="A scan that goes back gives the last sum first.")
def a_scan_that_goes_back(c: ApiAuthor) -> None:
    total = Symbol(c, {"$op": ["+", {"$": "a"}, {"$": "x"}]})
    add = c.function(["a", "x"], lambda *_: total)
    sums = c.tf.scan(add, c.tf.constant([1.0, 2.0, 4.0]), reverse=True)
    c.check(c.tf.Session().run(sums), floats(7, 6, 4))


@api_case("PROGRAMS-010", title="The second derivatives of a sum of cubes are diagonal.")
def second_derivatives(c: ApiAuthor) -> None:
    x = c.tf.constant([1.0, 2.0])
    hessians = c.tf.hessians(c.tf.reduce_sum(x * x * x), x)
    c.check(c.tf.Session().run(hessians[0]), np.array([[6, 0], [0, 12]], np.float32))


@api_case("PROGRAMS-011", title="A searched place is that before equal numbers.")
def places_before_equal_numbers(c: ApiAuthor) -> None:
    positions = c.tf.searchsorted(c.tf.constant([1, 3, 3, 5]), c.tf.constant([3, 0, 9]))
    c.check(c.tf.Session().run(positions), ints(1, 0, 4))


@api_case("PROGRAMS-012", title="The logarithm of a determinant of a positive matrix.")
def logarithm_of_a_determinant(c: ApiAuthor) -> None:
    logarithm = c.tf.linalg.logdet(c.tf.constant([[4.0, 0.0], [0.0, 4.0]]))
    c.check(c.tf.Session().run(logarithm), near(np.float32(np.log(16)), "close(1e-5, 1e-6)"))


@api_case("PROGRAMS-013", title="Every match of a pattern is replaced.")
def every_match_is_replaced(c: ApiAuthor) -> None:
    replaced = c.tf.strings.regex_replace(c.tf.constant("a1b22"), "[0-9]+", "-")
    c.check(c.tf.Session().run(replaced), b"a-b-")


@api_case("PROGRAMS-014", title="A sparse tensor takes a larger shape.")
def a_larger_shape(c: ApiAuthor) -> None:
    sparse = c.tf.SparseTensor([[0, 1]], [1.0], [1, 2])
    shape = c.tf.sparse.reset_shape(sparse, [2, 3]).dense_shape
    c.check(c.tf.Session().run(shape), np.array([2, 3]))


@api_case("PROGRAMS-015", title="Gamma correction multiplies by its gain.")
def gamma_correction_has_a_gain(c: ApiAuthor) -> None:
    adjusted = c.tf.image.adjust_gamma(c.tf.ones([1, 1, 1]), 2.0, 3.0)
    c.check(c.tf.Session().run(adjusted), np.full((1, 1, 1), 3, np.float32))


@api_case("PROGRAMS-016", title="Weighted moments weigh each element.")
def moments_by_weights(c: ApiAuthor) -> None:
    x, weights = c.tf.constant([0.0, 4.0]), c.tf.constant([3.0, 1.0])
    moments = c.tf.nn.weighted_moments(x, [0], weights)
    c.check(c.tf.Session().run(moments[1]), np.float32(3))


@api_case("PROGRAMS-017", title="A layer permutes the dimensions of its inputs.")
def dimensions_are_permuted(c: ApiAuthor) -> None:
    layer: Symbol = c.tf.keras.layers.Permute([2, 1])
    permuted = layer(c.tf.constant([[[1.0, 2.0]]]))
    c.check(c.tf.Session().run(permuted), np.array([[[1], [2]]], np.float32))


@api_case("PROGRAMS-018", title="A learning rate that decays by a line and a cosine begins whole.")
def a_decay_begins_whole(c: ApiAuthor) -> None:
    rate = c.tf.train.linear_cosine_decay(0.5, 0, 10, alpha=0.0, beta=0.0)
    c.check(c.tf.Session().run(rate), np.float32(0.5))


@api_case("PROGRAMS-019", title="A hook that logs needs an interval.")
def a_hook_that_logs_needs_an_interval(c: ApiAuthor) -> None:
    c.raises("ValueError", partial(c.tf.train.LoggingTensorHook, ["x:0"]))
