"""Faulty namespaces, one for each clause of PROGRAMS: a public function that is slightly wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sessrun.conformance.faulty.framework import fault, override
from sessrun.spec.cases.namespace import Namespace
from sessrun.spec.cases.objects import Call, Fetches, Tensor

__all__ = ["replaced"]


def replaced(namespace: Namespace, path: str, change: Callable[[Call], Call]) -> Namespace:
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
    class QueueBase(tf.QueueBase):  # type: ignore[misc, name-defined]
        from_list = staticmethod(lambda _, queues: queues[0])

    return override(tf, QueueBase=QueueBase)


@fault("PROGRAMS-004", "A table of a vocabulary counts one bucket too many.")
def one_bucket_too_many(tf: Namespace) -> Namespace:
    class StaticVocabularyTable(tf.lookup.StaticVocabularyTable):  # type: ignore[misc, name-defined]
        def size(self, name: str | None = None) -> Tensor:
            return super().size(name) + 1

    return replaced(tf, "lookup.StaticVocabularyTable", lambda _: StaticVocabularyTable)


@fault("PROGRAMS-005", "What scales a variance by the inputs scales it as for ReLUs.")
def every_scale_is_that_of_relus(tf: Namespace) -> Namespace:
    return replaced(tf, "initializers.lecun_normal", lambda _: tf.initializers.he_normal)


@fault("PROGRAMS-006", "The features of a sequence come before those of its context.")
def sequence_before_context(tf: Namespace) -> Namespace:
    def turned(parse: Call) -> Call:
        return lambda *args, **options: parse(*args, **options)[::-1]

    return replaced(tf, "io.parse_single_sequence_example", turned)


@fault("PROGRAMS-007", "The last variable of a checkpoint is not listed.")
def the_last_variable_is_not_listed(tf: Namespace) -> Namespace:
    return replaced(tf, "train.list_variables", lambda listed: lambda path: listed(path)[:-1])


@fault("PROGRAMS-008", "An array of tensors is unstacked from the end.")
def unstacked_from_the_end(tf: Namespace) -> Namespace:
    class TensorArray(tf.TensorArray):  # type: ignore[misc, name-defined]
        def unstack(self, value: Tensor, name: str | None = None) -> TensorArray:
            return super().unstack(tf.reverse(value, [0]), name)

    return override(tf, TensorArray=TensorArray)


@fault("PROGRAMS-009", "A scan goes forward though it is asked to go back.")
def scans_go_forward(tf: Namespace) -> Namespace:
    def forward(scan: Call) -> Call:
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
    def once(replace: Call) -> Call:
        def replace_once(
            source: Tensor, pattern: str, rewrite: str, *_: bool, **options: bool | str | None
        ) -> Tensor:
            options["replace_global"] = False
            return replace(source, pattern, rewrite, **options)

        return replace_once

    return replaced(tf, "strings.regex_replace", once)


@fault("PROGRAMS-014", "A sparse tensor keeps its shape though another is asked for.")
def sparse_shapes_stay(tf: Namespace) -> Namespace:
    return replaced(tf, "sparse.reset_shape", lambda reset: lambda sparse, *_, **__: reset(sparse))


@fault("PROGRAMS-015", "Gamma correction forgets its gain.")
def gamma_without_gain(tf: Namespace) -> Namespace:
    def without_gain(adjust: Call) -> Call:
        return lambda image, gamma=1, *_, **__: adjust(image, gamma)

    return replaced(tf, "image.adjust_gamma", without_gain)


@fault("PROGRAMS-016", "A weighted variance is twice as large.")
def weighted_variances_are_doubled(tf: Namespace) -> Namespace:
    def doubled(moments: Call) -> Call:
        def weighted_moments(
            *args: Tensor | Sequence[int], **options: bool | str | None
        ) -> tuple[Tensor, Tensor]:
            mean, variance = moments(*args, **options)
            return mean, 2.0 * variance

        return weighted_moments

    return replaced(tf, "nn.weighted_moments", doubled)


@fault("PROGRAMS-017", "A layer that permutes dimensions leaves them where they are.")
def permuted_dimensions_stay(tf: Namespace) -> Namespace:
    class Permute(tf.keras.layers.Permute):  # type: ignore[misc, name-defined]
        def call(self, inputs: Tensor) -> Tensor:
            return inputs

    return replaced(tf, "keras.layers.Permute", lambda _: Permute)


@fault("PROGRAMS-018", "A learning rate that decays by a line and a cosine is twice as large.")
def linear_cosine_decays_are_doubled(tf: Namespace) -> Namespace:
    return replaced(
        tf, "train.linear_cosine_decay", lambda decay: lambda *a, **k: 2.0 * decay(*a, **k)
    )


@fault("PROGRAMS-019", "A hook that logs needs no interval.")
def logging_without_interval(tf: Namespace) -> Namespace:
    class LoggingTensorHook(tf.train.LoggingTensorHook):  # type: ignore[misc, name-defined]
        def __init__(
            self,
            tensors: Fetches,
            every_n_iter: int | None = None,
            every_n_secs: float | None = None,
            at_end: bool = False,
            formatter: Call | None = None,
        ) -> None:
            super().__init__(tensors, every_n_iter or 1, every_n_secs, at_end, formatter)

    return replaced(tf, "train.LoggingTensorHook", lambda _: LoggingTensorHook)
