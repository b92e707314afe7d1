"""Programs of regular expressions of RE2, and of encodings."""

from __future__ import annotations

from sessrun.conformance.subjects.programs.described import attempt, run

__all__ = ["BEHAVIOURS"]

_TEXTS = ["", "abxd", "a1b22\n", "日本 go", "A.B[c]-d", "x\ny\n", "foo_bar  baz", "(a)\\b"]
_PATTERNS = [
    "",
    "x*",
    "b*",
    ".",
    "a|ab",
    "(a)(b)?",
    "[[:alpha:]]+",
    "[^[:space:][:digit:]]",
    r"\d+$",
    r"\w+",
    r"\Q[c]\E",
    "(?m)^.$",
    "(?s).y",
    "(?i)A",
    "[]a]",
    r"y\n\z",
    "^",
    "$",
    r"[\]\[]",
    r"\bgo\b",
    "(?P<n>o+)",
    "a{0,2}",
    "[a-c]+?",
    r"\\b",
    "[.-]",
    "x$",
]
_REWRITES = ["-", r"<\0>", r"\1\1", r"\\"]


def _replaced(tf):
    return attempt(
        *(
            lambda p=p, r=r, e=e: run(tf, tf.strings.regex_replace(_TEXTS, p, r, replace_global=e))
            for p in _PATTERNS
            for r in _REWRITES
            for e in (True, False)
            if r != r"\1\1" or "(a" in p or "(?P" in p
        )
    )


def _matched(tf):
    return attempt(
        *(lambda p=p: run(tf, tf.strings.regex_full_match(_TEXTS, p)) for p in _PATTERNS)
    )


def _refused(tf):
    wrong = ["(", "a(?=b)", "(?!a)", "(?<=a)b", r"(a)\1", "[", "a**", r"\Z", "(?P<n"]
    return attempt(
        *(lambda p=p: run(tf, tf.strings.regex_replace(["ab"], p, "-")) for p in wrong),
        lambda: run(tf, tf.strings.regex_replace([b"\xffa", b"a\xfe"], "a", "b")),
    )


def _transcoded(tf):
    strings = tf.strings
    texts = [b"gr\xc3\xbcn", b"\xff\xfe", b"a\0\n"]
    return attempt(
        *(
            lambda o=o, e=e, c=c: run(
                tf,
                strings.unicode_transcode(
                    texts, "UTF-8", o, errors=e, replace_control_characters=c
                ),
            )
            for o in ("UTF-8", "UTF-16-BE", "UTF-32-BE")
            for e in ("replace", "ignore", "strict")
            for c in (False, True)
        ),
        lambda: run(tf, strings.unicode_transcode(texts, "none such", "UTF-8")),
        lambda: run(tf, strings.unsorted_segment_join(["a", "b", "c"], [1, 0, 1], 3, "-")),
        lambda: run(tf, strings.unsorted_segment_join(["a", "b"], [0, 5], 2)),
        lambda: strings.unsorted_segment_join(["a", "b"], [0], 2, name="j"),
    )


BEHAVIOURS = {
    "matched": _matched,
    "refused": _refused,
    "replaced": _replaced,
    "transcoded": _transcoded,
}
