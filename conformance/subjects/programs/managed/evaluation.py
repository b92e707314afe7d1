"""Programs of `evaluate_once`: number of evaluations, results, hooks that stop."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt
from sessrun.conformance.subjects.programs.paths import module_of
from sessrun.conformance.subjects.programs.program import Action, TensorFunction
from sessrun.conformance.subjects.programs.saved_graphs import in_a_folder
from sessrun.spec.cases.objects import Tensor

__all__ = ["BEHAVIOURS"]


def _module(tf):
    return module_of(tf, "training.evaluation")


def _steps_per_run(tf):
    return module_of(tf, "training.basic_session_run_hooks").get_or_create_steps_per_run_variable()


def _saved(tf) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=3.0)
        tf.train.get_or_create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, "d/x")


def _model(tf) -> tuple[Tensor, Tensor]:
    """A model with a variable from the checkpoint, and a sum that every evaluation increases."""
    v = tf.get_variable("v", initializer=0.0)
    tf.train.get_or_create_global_step()
    total = tf.get_local_variable("total", initializer=0.0, use_resource=False)
    return total, tf.assign_add(total, v)


@in_a_folder
def _once(tf):
    evaluation = _module(tf)
    _saved(tf)

    def evaluated(count: int, several: bool = False, **options) -> Action:
        def call():
            with tf.Graph().as_default():
                total, more = _model(tf)
                hooks = [evaluation._StopAfterNEvalsHook(count)]
                if several:
                    _steps_per_run(tf)
                    hooks = [evaluation._MultiStepStopAfterNEvalsHook(count, 2)]
                return evaluation._evaluate_once(
                    checkpoint_path=tf.train.latest_checkpoint("d"),
                    eval_ops=more,
                    final_ops={"total": total},
                    hooks=hooks,
                    **options,
                )

        return call

    return attempt(
        evaluated(3),
        evaluated(1),
        evaluated(25),
        evaluated(4, several=True),
        evaluated(2, final_ops_feed_dict={}),
    )


@in_a_folder
def _kinds_of_operations(tf):
    """Evaluations whose `eval_ops` are one operation, several, or none."""
    evaluation = _module(tf)
    _saved(tf)

    def evaluated(choose: TensorFunction) -> Action:
        def call():
            with tf.Graph().as_default():
                total, more = _model(tf)
                return evaluation._evaluate_once(
                    checkpoint_path="d/x",
                    eval_ops=choose(more),
                    final_ops=[total],
                    hooks=[evaluation._StopAfterNEvalsHook(2, log_progress=False)],
                )

        return call

    def unhooked():
        with tf.Graph().as_default():
            total, _ = _model(tf)
            return evaluation._evaluate_once("d/x", final_ops=total)

    return attempt(
        evaluated(lambda more: more),
        evaluated(lambda more: [more]),
        evaluated(lambda more: (more,)),
        evaluated(lambda more: {"more": more}),
        unhooked,
        lambda: evaluation._evaluate_once("d/none"),
    )


def _counts(tf):
    """The variables that count evaluations, and the steps of one run."""
    evaluation = _module(tf)
    count = evaluation._get_or_create_eval_step()
    steps = _steps_per_run(tf)
    again = [evaluation._get_or_create_eval_step() is count, _steps_per_run(tf) is steps]
    latest = evaluation._get_latest_eval_step_value([count.assign_add(5)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.local_variables_initializer())
        values = session.run(latest), session.run([count, steps])
    tf.add_to_collection(tf.GraphKeys.EVAL_STEP, count)
    return [
        [count.name, count.dtype.name, steps.name, steps.dtype.name],
        again,
        values,
        attempt(evaluation._get_or_create_eval_step),
        sorted(key for key in tf.get_default_graph().get_all_collection_keys() if "eval" in key),
    ]


BEHAVIOURS = {
    "once": _once,
    "kinds of operations": _kinds_of_operations,
    "counts": _counts,
}
