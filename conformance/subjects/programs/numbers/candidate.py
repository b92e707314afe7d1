"""Programs of candidate samplers: numbers of successive runs, learned unigrams, errors."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from sessrun.conformance.subjects.programs.described import attempt, run
from sessrun.conformance.subjects.programs.queues.pipeline import built

__all__ = ["BEHAVIOURS"]

_TRUE = np.array([[1, 2], [0, 5], [2, 2]], np.int64)


def _samplers(tf):
    nn = tf.nn
    return {
        "uniform": nn.uniform_candidate_sampler,
        "log_uniform": nn.log_uniform_candidate_sampler,
        "learned": nn.learned_unigram_candidate_sampler,
    }


def _runs(tf, tensors, runs: int = 3):
    with tf.Session() as session:
        return [_rounded(session.run(tensors)) for _ in range(runs)]


def _rounded(values):
    """Floats rounded: mathematical functions may differ in the last bits."""
    return [np.round(value, 4) if value.dtype.kind == "f" else value for value in values]


def _successive_runs(tf):
    return [
        _runs(tf, sample(_TRUE, 2, count, unique, classes, seed=3))
        for sample in _samplers(tf).values()
        for count, unique, classes in (
            (4, True, 6),
            (6, True, 6),
            (9, False, 6),
            (50, True, 99),
            (200, False, 5000),
            (3, False, 2**31 - 2),
        )
        if classes < 10**6 or sample is not tf.nn.learned_unigram_candidate_sampler
    ]


def _all_of_many(tf):
    sample = tf.random.log_uniform_candidate_sampler
    return _runs(tf, sample(_TRUE, 2, 300, True, 300, seed=1)[:1], 2)


def _learning(tf):
    fed = tf.placeholder(tf.int64, [None, 1])
    raw = tf.raw_ops.ThreadUnsafeUnigramCandidateSampler
    makes = [
        tf.nn.learned_unigram_candidate_sampler(fed, 1, 20, False, 1500, seed=7),
        raw(true_classes=fed, num_true=1, num_sampled=20, unique=False, range_max=1500, seed=7),
    ]
    with tf.Session() as session:
        return [
            [
                _rounded(session.run(make, {fed: np.full([900, 1], value)}))
                for value in (1400, 3, 600, 3)
            ]
            for make in makes
        ]


def _weights(tf):
    sample = tf.nn.fixed_unigram_candidate_sampler
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "words")
        Path(path).write_text("a,1\nb,c,3\n7\nd,2.5\n", encoding="utf-8")
        wrong = str(Path(folder) / "wrong")
        Path(wrong).write_text("a,x\n", encoding="utf-8")
        common = {"seed": 2}
        rows = np.array([[1], [3]], np.int64)
        return attempt(
            lambda: _runs(tf, sample(rows, 1, 10, False, 4, path, **common)),
            lambda: _runs(tf, sample(rows, 1, 3, True, 5, path, 0.5, 1, **common)),
            lambda: _runs(tf, sample(rows, 1, 9, False, 4, unigrams=[0.0, 1.0, 0.0, 2.0], seed=1)),
            lambda: run(tf, sample(rows, 1, 9, False, 4, wrong)),
            lambda: run(tf, sample(rows, 1, 9, False, 4, str(Path(folder) / "none"))),
            lambda: run(tf, sample(rows, 1, 9, False, 5, path)),
            lambda: run(tf, sample(rows, 1, 9, False, 5)),
            lambda: run(tf, sample(rows, 1, 9, False, 4, path, unigrams=[1.0] * 4)),
        )


def _refusals(tf):
    samplers = list(_samplers(tf).values())
    fed = tf.placeholder_with_default(_TRUE, None)
    return attempt(
        *(
            call
            for sample in samplers
            for call in (
                lambda s=sample: run(tf, s(_TRUE, 2, 7, True, 6)[0]),
                lambda s=sample: run(tf, s(_TRUE, 2, 4, True, 5)[0]),
                lambda s=sample: run(tf, s(_TRUE, 3, 4, True, 6)[0]),
                lambda s=sample: run(tf, s(fed, 3, 4, True, 6)[0]),
                lambda s=sample: s([1, 2], 2, 4, True, 6),
                lambda s=sample: s(_TRUE, 2, 0, True, 6),
                lambda s=sample: s(_TRUE, 2, 3, True, 0),
                lambda s=sample: s(_TRUE.astype(np.int32), 2, 3, True, 9, name="narrow"),
            )
        ),
        lambda: tf.nn.learned_unigram_candidate_sampler(_TRUE, 2, 4, True, 2**31),
        lambda: run(tf, tf.nn.all_candidate_sampler(_TRUE, 2, 4, True)),
    )


def _graphs(tf):
    fed = tf.placeholder(tf.int64, [None, 2])
    samples = [sample(fed, 2, 3, True, 9, seed=1) for sample in _samplers(tf).values()]
    tf.set_random_seed(4)
    samples += [
        tf.nn.all_candidate_sampler(fed, 2, 3, True, name="every"),
        tf.random.fixed_unigram_candidate_sampler(fed, 2, 3, False, 4, unigrams=[1, 2, 3, 4.5]),
        tf.nn.compute_accidental_hits(fed, samples[0][0], 2),
        tf.nn.compute_accidental_hits(_TRUE, [5, 2, 2], num_true=2, seed=5, name="hits"),
    ]
    return [built(tf), samples, run(tf, samples[-1])]


def _hits(tf):
    hits = tf.nn.compute_accidental_hits
    none = np.zeros([0, 2], np.int64)
    fed = tf.placeholder_with_default(_TRUE, None)
    return attempt(
        lambda: run(tf, hits(_TRUE, [2, 7, 2, 0], 2)),
        lambda: run(tf, hits(_TRUE, tf.zeros([0], tf.int64), 2)),
        lambda: run(tf, hits(none, [1], 2)),
        lambda: hits(_TRUE, [1], 3),
        lambda: run(tf, hits(fed, [1], 3)),
        lambda: hits(_TRUE, [[1]], 2),
        lambda: run(tf, hits(_TRUE, tf.placeholder_with_default(np.int64(1), None), 2)),
    )


BEHAVIOURS = {
    "accidental_hits": _hits,
    "all_of_many": _all_of_many,
    "graphs": _graphs,
    "learning": _learning,
    "refusals": _refusals,
    "successive_runs": _successive_runs,
    "weights": _weights,
}
