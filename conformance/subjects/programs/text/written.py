"""Programs of `as_string`, and of Unicode categories in patterns."""

from __future__ import annotations

import itertools

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]


def _words_in_columns(tf):
    """`as_string` of strings with a width and a fill character."""
    words = tf.constant([b"ab", b"", b"longer than it", b"\xc3\xa4", b"a\0b"])
    outcomes = []
    for width, fill in itertools.product((-1, 0, 1, 5), ("", "-", "0", " ", "+", "#", "xy", "x")):
        outcomes += attempt(lambda w=width, f=fill: run(tf, tf.as_string(words, width=w, fill=f)))
    return outcomes, attempt(
        lambda: run(tf, tf.as_string(words, precision=2)),
        lambda: run(tf, tf.as_string(words, scientific=True)),
        lambda: run(tf, tf.as_string(words, shortest=True)),
        lambda: run(tf, tf.as_string(words, scientific=True, shortest=True)),
        lambda: run(tf, tf.as_string(tf.constant([[b"x"], [b"yz"]]), width=3, fill="-")),
    )


def _categories(tf):
    r"""Patterns `\p{...}` of letters, digits, marks, symbols, and their complements."""
    text = tf.constant(
        [
            "aZ\u00e9 \u01c5 \u02b0",
            "5\u0665\u2167\u00bd",
            "_-(\u00ab\u00bb)!",
            "+$\u20ac\u0301^\u00a0\u2028\x07",
            "\u4e2d\u0416\U0001d400",
            "",
        ]
    )
    patterns = (
        r"\pL",
        r"\p{L}",
        r"\p{Lu}",
        r"\p{Ll}",
        r"\p{Lt}",
        r"\p{Lm}",
        r"\p{Lo}",
        r"\PL",
        r"\P{Lu}",
        r"\p{^Lu}",
        r"\P{^Lu}",
        r"\pN",
        r"\p{Nd}",
        r"\p{Nl}",
        r"\p{No}",
        r"[\p{Nd}_]",
        r"[^\p{L}]",
        r"[\PL]",
        r"\p{P}",
        r"\p{Pd}",
        r"\p{Ps}",
        r"\p{Pi}",
        r"\p{S}",
        r"\p{Sc}",
        r"\p{Sm}",
        r"\p{Mn}",
        r"\pZ",
        r"\p{Zs}",
        r"\p{Zl}",
        r"\p{Cc}",
        r"\p{Any}",
        r"\P{Any}",
        r"\p{Nope}",
        r"\p",
        r"\p{",
        r"\p{Lx}",
        r"\p{}",
        r"\pX",
        r"[\p{Lu}-z]",
        r"\p{Lu}+\p{Ll}*",
        r"\\p{L}",
        r"(\pL)(\pN?)",
    )
    return attempt(
        *(
            lambda p=pattern: run(tf, tf.strings.regex_replace(text, p, "<>"))
            for pattern in patterns
        )
    ), attempt(
        *(
            lambda p=pattern: run(tf, tf.strings.regex_full_match(text, p + "*"))
            for pattern in patterns[:12]
        )
    )


BEHAVIOURS = {"words_in_columns": _words_in_columns, "categories": _categories}
