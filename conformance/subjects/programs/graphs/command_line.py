"""Programs of `tf.flags`, and of `tf.app.run`, which ends the program."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import logging
import operator
import sys
from collections.abc import Iterator, Sequence

from sessrun.conformance.subjects.programs.described import attempt, caught
from sessrun.spec.cases.namespace import Namespace

__all__ = ["BEHAVIOURS"]

_NAMES = (
    "spec_name",
    "spec_count",
    "spec_rate",
    "spec_loud",
    "spec_sure",
    "spec_kind",
    "spec_parts",
    "spec_sizes",
    "spec_new",
)


@contextlib.contextmanager
def _command_line(tf, *arguments: str) -> Iterator[Namespace]:
    """The flags of another command line, which is replaced by the former one afterwards."""
    flags, arguments_before = tf.flags.FLAGS, sys.argv
    was_parsed = flags.is_parsed()
    sys.argv = ["program", *arguments]
    _define(tf.flags)
    flags.unparse_flags()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield flags
    finally:
        for name in set(_NAMES) & set(flags):
            delattr(flags, name)
        flags.unparse_flags()
        sys.argv = arguments_before
        if was_parsed:
            flags.mark_as_parsed()


def _define(flags) -> None:
    flags.DEFINE_string("spec_name", "nobody", "Who it is.")
    flags.DEFINE_integer("spec_count", 3, "How often.", lower_bound=0, upper_bound=9)
    flags.DEFINE_float("spec_rate", 0.5, "How fast.", lower_bound=0.0)
    flags.DEFINE_bool("spec_loud", False, "Whether it shouts.")
    flags.DEFINE_boolean("spec_sure", True, "Whether it is sure.")
    flags.DEFINE_enum("spec_kind", "a", ["a", "b"], "Which.")
    flags.DEFINE_list("spec_parts", "x,y", "Of what.")
    flags.DEFINE_multi_integer("spec_sizes", [1], "How large.")


def _values(flags):
    return [caught(lambda name=name: getattr(flags, name)) for name in _NAMES]


def _parsed_when_asked(tf):
    results = []
    for arguments in (
        (),
        ("--spec_name=me", "-spec_count", "7", "--spec_loud", "--nospec_sure"),
        ("--spec_kind=b", "--spec_parts=p,q", "--spec_sizes=4", "--spec_sizes=5", "rest"),
        ("--spec_rate", "2", "--", "--spec_name=you"),
        ("--spec_count=many",),
        ("--spec_rate=-1",),
        ("--spec_count=10",),
        ("--spec_nope=1",),
        ("--spec_kind=c",),
    ):
        with _command_line(tf, *arguments) as flags:
            before = flags.is_parsed()
            first = caught(lambda f=flags: f.spec_name)
            results.append([before, first, flags.is_parsed(), _values(flags)])
    return results


def _defined(tf):
    with _command_line(tf) as flags:
        return attempt(
            lambda: flags["spec_count"].value,
            lambda: flags["spec_rate"].default,
            lambda: flags["spec_loud"].help,
            lambda: flags["spec_nope"],
            flags.is_parsed,
            lambda: [name in flags for name in (*_NAMES, "spec_nope")],
            lambda: len(flags) == len(list(flags)),
            lambda: set(_NAMES) - set(flags),
            lambda: set(_NAMES) - set(dir(flags)),
            lambda: "spec_nope" in dir(flags),
            lambda: "How fast." in str(flags),
            lambda: "Nothing of it." in str(flags),
            lambda: tf.flags.DEFINE_integer("spec_new", "many", "?"),
            lambda: tf.flags.DEFINE_string("spec_name", "again", "?"),
            lambda: tf.app.flags is tf.flags,
            lambda: tf.app.flags.FLAGS is flags,
            lambda: sorted(name for name in dir(tf.flags) if name.startswith("DEFINE")),
            lambda: issubclass(tf.flags.DuplicateFlagError, tf.flags.Error),
            lambda: flags.find_module_defining_flag("spec_count") == __name__,
            lambda: flags.find_module_defining_flag("spec_nope") is None,
            lambda: sorted(flag.name for flag in flags.get_key_flags_for_module(__name__)),
        )


def _changed(tf):
    with _command_line(tf, "--spec_name=first") as flags:
        outcomes = attempt(
            lambda: setattr(flags, "spec_count", 5),
            lambda: flags.spec_count,
            lambda: setattr(flags, "spec_count", 11),
            lambda: flags.spec_count,
            lambda: setattr(flags, "spec_nope", 1),
            lambda: flags.spec_nope,
            lambda: delattr(flags, "spec_rate"),
            lambda: hasattr(flags, "spec_rate"),
            lambda: delattr(flags, "spec_rate"),
            lambda: "spec_rate" in flags,
            lambda: operator.setitem(flags, "spec_new", flags["spec_name"]),
            lambda: flags.spec_new,
            lambda: operator.setitem(flags, "spec_name", flags["spec_kind"]),
            lambda: flags.spec_name,
            lambda: operator.setitem(flags, "spec_new", 3),
        )
        own = [name for name in _NAMES if name in flags]
    return outcomes, own, [name in tf.flags.FLAGS for name in _NAMES]


def _called(tf):
    results = []
    for arguments, options in (
        (["p", "--spec_count=4", "left", "--spec_loud"], {}),
        (["p", "--spec_nope", "x"], {}),
        (["p", "--spec_nope=2", "x", "--spec_sure=false"], {"known_only": True}),
        ([], {}),
        ("p --spec_count=1", {}),
        (["p", "--spec_name"], {}),
    ):
        with _command_line(tf, "--spec_name=unread") as flags:
            left = caught(lambda f=flags, a=arguments, o=options: f(a, **o))
            results.append([left, flags.is_parsed(), _values(flags) if flags.is_parsed() else None])
    return results


def _older_names(tf):
    """The deprecated arguments `flag_name`, `default_value` and `docstring`."""
    outcomes = []
    with _command_line(tf, "--spec_new=4") as flags:
        for define, given in (
            (tf.flags.DEFINE_string, {"flag_name": "spec_new", "default_value": "a"}),
            (tf.flags.DEFINE_integer, {"flag_name": "spec_new", "default_value": 3}),
            (tf.flags.DEFINE_float, {"name": "spec_new", "default_value": 2}),
            (tf.flags.DEFINE_bool, {"flag_name": "spec_new", "default": True}),
            (tf.flags.DEFINE_boolean, {"name": "spec_new", "default": None}),
            (tf.flags.DEFINE_integer, {"flag": "spec_new", "default": None}),
            (tf.flags.DEFINE_enum, {"flag_name": "spec_new", "default": "a"}),
        ):
            outcomes += attempt(
                lambda d=define, g=given: type(d(**g, docstring="Old.")).__name__,
                lambda: (flags["spec_new"].default, flags["spec_new"].help),
            )
            if "spec_new" in flags:
                delattr(flags, "spec_new")
        tf.flags.DEFINE_integer("spec_new", default_value=3, docstring="Mixed.")
        outcomes.append(flags.spec_new)
    return outcomes


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Afterwards the logging handlers and `faulthandler` are as they were before."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    was_on = faulthandler.is_enabled()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        if not was_on:
            faulthandler.disable()


def _ended(tf, run):
    """The exit status that a program ends with."""
    try:
        return run(), "it goes on"
    except SystemExit as end:
        return end.code
    except tf.errors.OpError:
        return "an error of an operation"


def _run_to_the_end(tf):
    seen = []

    def main(arguments: Sequence[str]):
        flags = tf.flags.FLAGS
        seen.append([list(arguments), flags.spec_name, flags.spec_count, flags.is_parsed()])
        if flags.spec_loud:
            raise tf.errors.AbortedError(None, None, "loud")
        return flags.spec_kind if flags.spec_sure else None

    outcomes = []
    for here, argv in (
        (["--spec_name=me", "one"], None),
        (["--spec_name=me"], ["q", "--spec_count=7", "two"]),
        (["--nospec_sure"], None),
        ([], ["q", "--spec_loud"]),
        (["--spec_nope=3", "x"], None),
        (["--spec_count=many"], None),
    ):
        with _undisturbed(), _command_line(tf, *here):
            outcomes.append(caught(lambda a=argv: _ended(tf, lambda: tf.app.run(main, a))))
    return outcomes, seen


BEHAVIOURS = {
    function.__name__.strip("_"): function
    for function in (_parsed_when_asked, _defined, _changed, _called, _older_names, _run_to_the_end)
}
