"""A program that starts by `tf.app.run`; its first argument names the namespace."""

from __future__ import annotations

import importlib
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = importlib.import_module(sys.argv.pop(1))
tf.logging.set_verbosity(tf.logging.ERROR)
flags = tf.app.flags
FLAGS = flags.FLAGS

flags.DEFINE_string("name", "nobody", "Who it is.")
flags.DEFINE_integer(flag_name="count", default_value=3, docstring="How often.")
flags.DEFINE_float("rate", 0.5, "How fast.", lower_bound=0.0)
tf.flags.DEFINE_bool("loud", False, "Whether it shouts.")
tf.flags.DEFINE_boolean("sure", True, "Whether it is sure.")
tf.flags.DEFINE_enum("kind", "a", ["a", "b"], "Which.")
tf.flags.DEFINE_list("parts", "x,y", "Of what.")
tf.flags.DEFINE_multi_integer("sizes", [1], "How large.")


def main(arguments: list[str]) -> str | None:
    print(FLAGS.name, FLAGS.count, FLAGS.rate, FLAGS.loud, FLAGS.sure, FLAGS.kind, FLAGS.parts)
    print(FLAGS.sizes, arguments[1:], FLAGS["count"].value, "name" in FLAGS, "nope" in dir(FLAGS))
    FLAGS.name = "somebody"
    del FLAGS.rate
    print(FLAGS.name, len(FLAGS) == len(list(FLAGS)), hasattr(FLAGS, "rate"))
    key = sorted(flag.name for flag in FLAGS.get_key_flags_for_module(sys.argv[0]))
    print(key, FLAGS.find_module_defining_flag("count") == sys.argv[0], FLAGS.is_parsed())
    for define in (tf.flags.DEFINE_string, tf.flags.DEFINE_integer):
        try:
            print(type(define("again", "text", "?")).__name__)
        except (tf.flags.Error, TypeError) as error:
            print(type(error).__name__)
    print(sorted(name for name in dir(tf.flags) if name[0] in "DELMUV"))
    return "the end" if FLAGS.loud else None


if __name__ == "__main__":
    if "early" in sys.argv:
        print(FLAGS.name, FLAGS.is_parsed())
    tf.app.run()
