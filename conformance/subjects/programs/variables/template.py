"""Programs of `tf.make_template`: names of scopes, and shared variables."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt

__all__ = ["BEHAVIOURS"]


def _scaled(tf):
    def scaled(x, start: float = 1.0):
        weight = tf.get_variable("w", [], initializer=tf.constant_initializer(start))
        return tf.multiply(x, weight, name="m")

    return scaled


def _names(variables):
    return [variable.name for variable in variables]


def _facts(template):
    return [
        template.name,
        template.variable_scope_name,
        *map(
            _names,
            (
                template.variables,
                template.trainable_variables,
                template.global_variables,
                template.local_variables,
                template.non_trainable_variables,
                template.weights,
                template.trainable_weights,
                template.non_trainable_weights,
            ),
        ),
        None if template.variable_scope is None else template.variable_scope.name,
    ]


def _calls(tf):
    one, function = tf.constant(1.0), _scaled(tf)
    first = tf.make_template("sc", function, start=3.0)
    before = _facts(first)
    outputs = [first(one), first(one), tf.make_template("sc", function)(one), first(one)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return (
            before,
            outputs,
            _facts(first),
            session.run(outputs),
            attempt(
                lambda: tf.make_template(None, function),
                lambda: tf.make_template("", function).name,
                lambda: tf.make_template("a", function).func is function,
                lambda: first.var_scope is first.variable_scope,
                lambda: first(),
                lambda: tf.make_template("deep/er", function)(one),
            ),
        )


def _places(tf):
    one, function = tf.constant(1.0), _scaled(tf)
    now = tf.make_template("now", function, create_scope_now_=True)
    later = tf.make_template("later", function)
    unique = tf.make_template("unique", function, unique_name_="u")
    with tf.variable_scope("outer"), tf.name_scope("names"):
        outputs = [template(one) for template in (now, later, unique, now, later)]
        inside = tf.make_template("inside", function, True)
    outputs += [template(one) for template in (now, later, unique, inside)]
    return (
        outputs,
        [_facts(template) for template in (now, later, unique, inside)],
        attempt(
            lambda: tf.make_template("v", function, unique_name_="u")(one),
        ),
        _names(tf.global_variables()),
    )


def _nested(tf):
    def outer(x):
        inner = tf.make_template("inner", _scaled(tf))
        return inner(x) + inner(x)

    template, one = tf.make_template("out", outer), tf.constant(1.0)
    return template(one), template(one), _facts(template)


def _refusals(tf):
    count = [0]

    def growing():
        count[0] += 1
        return tf.get_variable(f"v{count[0]}", [])

    def plain():
        return tf.Variable(1.0, name="own")

    def untrained():
        return tf.Variable(1.0, name="own", trainable=False)

    def failing():
        tf.get_variable("q", [])
        raise KeyError("mine")

    grows, owns, fails = (
        tf.make_template(*pair) for pair in (("g", growing), ("p", plain), ("f", failing))
    )
    keeps, shares = tf.make_template("k", untrained), tf.make_template("s", _scaled(tf))

    def shared():
        with tf.variable_scope("vs", reuse=True):
            return shares(tf.constant(1.0))

    return attempt(
        lambda: grows().name,
        lambda: grows().name,
        lambda: owns().name,
        lambda: owns().name,
        lambda: keeps().name,
        lambda: keeps().name,
        fails,
        fails,
        shared,
        lambda: _facts(owns),
    )


def _getters(tf):
    seen = []

    def own(getter, name: str, *args, **kwargs):
        seen.append(name)
        return getter(name, *args, **kwargs)

    template = tf.make_template("sc", _scaled(tf), custom_getter_=own)
    now = tf.make_template("now", _scaled(tf), True, custom_getter_=own)
    return [call(tf.constant(1.0)) for call in (template, template, now, now)], seen


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_calls, _places, _nested, _refusals, _getters)
}
