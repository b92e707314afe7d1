"""Faulty namespaces, one for each clause of PROGRAMS: a public function that is slightly wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace

__all__ = ["replaced"]


def replaced(namespace: Namespace, path: str, change: Callable[[Any], Any]) -> Namespace:
    """The namespace with one public name changed.

    Args:
      namespace: the namespace.
      path: the name, such as `linalg.logdet`.
      change: from the object of that name to its replacement.

    """
    first, dot, rest = path.partition(".")
    own = getattr(namespace, first)
    return override(namespace, **{first: replaced(own, rest, change) if dot else change(own)})


@fault("PROGRAMS-001", "Training nodes are not removed from a GraphDef.")
def training_nodes_stay(tf: Namespace) -> Namespace:
    return replaced(tf, "graph_util.remove_training_nodes", lambda _: lambda graph, *_, **__: graph)


@fault("PROGRAMS-002", "Structures that differ count as the same.")
def structures_are_all_the_same(tf: Namespace) -> Namespace:
    return replaced(tf, "nest.assert_same_structure", lambda _: lambda *_, **__: None)


@fault("PROGRAMS-003", "A queue chosen from a list by its number is the first one.")
def the_first_queue_of_a_list(tf: Namespace) -> Namespace:
    def first(base: Any) -> Any:
        class QueueBase(base):  # type: ignore[misc]
            from_list = staticmethod(lambda _, queues: queues[0])

        return QueueBase

    return replaced(tf, "QueueBase", first)


@fault("PROGRAMS-004", "A table of a vocabulary counts one bucket too many.")
def one_bucket_too_many(tf: Namespace) -> Namespace:
    def larger(base: Any) -> Any:
        class StaticVocabularyTable(base):  # type: ignore[misc]
            def size(self, name: Any = None) -> Any:
                return super().size(name) + 1

        return StaticVocabularyTable

    return replaced(tf, "lookup.StaticVocabularyTable", larger)


@fault("PROGRAMS-005", "What scales a variance by the inputs scales it as for ReLUs.")
def every_scale_is_that_of_relus(tf: Namespace) -> Namespace:
    return replaced(tf, "initializers.lecun_normal", lambda _: tf.initializers.he_normal)


@fault("PROGRAMS-006", "The features of a sequence come before those of its context.")
def sequence_before_context(tf: Namespace) -> Namespace:
    def turned(parse: Any) -> Any:
        return lambda *args, **options: parse(*args, **options)[::-1]

    return replaced(tf, "io.parse_single_sequence_example", turned)


@fault("PROGRAMS-007", "The last variable of a checkpoint is not listed.")
def the_last_variable_is_not_listed(tf: Namespace) -> Namespace:
    return replaced(tf, "train.list_variables", lambda listed: lambda path: listed(path)[:-1])


@fault("PROGRAMS-008", "An array of tensors is unstacked from the end.")
def unstacked_from_the_end(tf: Namespace) -> Namespace:
    def backwards(base: Any) -> Any:
        class TensorArray(base):  # type: ignore[misc]
            def unstack(self, value: Any, name: Any = None) -> Any:
                return super().unstack(tf.reverse(value, [0]), name)

        return TensorArray

    return replaced(tf, "TensorArray", backwards)


@fault("PROGRAMS-009", "A scan goes forward though it is asked to go back.")
def scans_go_forward(tf: Namespace) -> Namespace:
    def forward(scan: Any) -> Any:
        return lambda *args, **options: scan(*args, **options | {"reverse": False})

    return replaced(tf, "scan", forward)


@fault("PROGRAMS-010", "Second derivatives are twice as large.")
def hessians_are_doubled(tf: Namespace) -> Namespace:
    return replaced(
        tf, "hessians", lambda hessians: lambda *a, **k: [2.0 * h for h in hessians(*a, **k)]
    )


@fault("PROGRAMS-011", "A searched place is one too far.")
def places_one_too_far(tf: Namespace) -> Namespace:
    return replaced(
        tf, "searchsorted", lambda search: lambda *args, **options: search(*args, **options) + 1
    )


@fault("PROGRAMS-012", "The logarithm of a determinant has the other sign.")
def log_determinants_are_negated(tf: Namespace) -> Namespace:
    return replaced(tf, "linalg.logdet", lambda logdet: lambda *a, **k: -logdet(*a, **k))


@fault("PROGRAMS-013", "Only the first match of a pattern is replaced.")
def only_the_first_match(tf: Namespace) -> Namespace:
    def once(replace: Any) -> Any:
        def replace_once(source: Any, pattern: Any, rewrite: Any, *_: Any, **options: Any) -> Any:
            options["replace_global"] = False
            return replace(source, pattern, rewrite, **options)

        return replace_once

    return replaced(tf, "strings.regex_replace", once)


@fault("PROGRAMS-014", "A sparse tensor keeps its shape though another is asked for.")
def sparse_shapes_stay(tf: Namespace) -> Namespace:
    return replaced(tf, "sparse.reset_shape", lambda reset: lambda sparse, *_, **__: reset(sparse))


@fault("PROGRAMS-015", "Gamma correction forgets its gain.")
def gamma_without_gain(tf: Namespace) -> Namespace:
    def without_gain(adjust: Any) -> Any:
        return lambda image, gamma=1, *_, **__: adjust(image, gamma)

    return replaced(tf, "image.adjust_gamma", without_gain)


@fault("PROGRAMS-016", "A weighted variance is twice as large.")
def weighted_variances_are_doubled(tf: Namespace) -> Namespace:
    def doubled(moments: Any) -> Any:
        def weighted_moments(*args: Any, **options: Any) -> Any:
            mean, variance = moments(*args, **options)
            return mean, 2.0 * variance

        return weighted_moments

    return replaced(tf, "nn.weighted_moments", doubled)


@fault("PROGRAMS-017", "A layer that permutes dimensions leaves them where they are.")
def permuted_dimensions_stay(tf: Namespace) -> Namespace:
    def unmoved(base: Any) -> Any:
        class Permute(base):  # type: ignore[misc]
            def call(self, inputs: Any) -> Any:
                return inputs

        return Permute

    return replaced(tf, "keras.layers.Permute", unmoved)


@fault("PROGRAMS-018", "A learning rate that decays by a line and a cosine is twice as large.")
def linear_cosine_decays_are_doubled(tf: Namespace) -> Namespace:
    return replaced(
        tf, "train.linear_cosine_decay", lambda decay: lambda *a, **k: 2.0 * decay(*a, **k)
    )


@fault("PROGRAMS-019", "A hook that logs needs no interval.")
def logging_without_interval(tf: Namespace) -> Namespace:
    def lenient(base: Any) -> Any:
        class LoggingTensorHook(base):  # type: ignore[misc]
            def __init__(self, tensors: Any, every_n_iter: Any = None, **options: Any) -> None:
                super().__init__(tensors, every_n_iter or 1, **options)

        return LoggingTensorHook

    return replaced(tf, "train.LoggingTensorHook", lenient)
