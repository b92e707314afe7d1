"""Programs of the algorithm, key and counter of stateless random numbers."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _algorithms(tf):
    raw = tf.raw_ops
    seed = tf.constant([7, 11], tf.int64)
    chosen = raw.StatelessRandomGetAlg()
    key, counter = raw.StatelessRandomGetKeyCounter(seed=seed)
    drawn = raw.StatelessRandomUniformV2(
        shape=[3], key=key, counter=counter, alg=chosen, dtype=tf.float32
    )
    together = raw.StatelessRandomGetKeyCounterAlg(seed=seed)
    again = raw.StatelessRandomUniformV2(
        shape=[3], key=together.key, counter=together.counter, alg=together.alg, dtype=tf.float32
    )
    return (
        chosen,
        run(tf, [chosen, key, counter, drawn, *together, again]),
        attempt(
            *(
                lambda n=number: run(
                    tf,
                    raw.StatelessRandomUniformV2(
                        shape=[2], key=key, counter=counter, alg=n, dtype=tf.float32
                    ),
                )
                for number in (0, 1, 4)
            ),
        ),
    )


BEHAVIOURS = {"algorithms": _algorithms}
