"""The badge: a small SVG that says who was judged by what, and how it came out."""

from __future__ import annotations

from html import escape
from typing import Final

from sessrun.reports.printable import shortened
from sessrun.reports.summary import Summary, Verdict

__all__ = ["badge_svg"]

#: Background of the right half; each has a contrast of at least 4.5 with white.
_COLOUR: Final[dict[Verdict, str]] = {
    "CERTIFIED": "#1f6f43",
    "CERTIFIED WITH WAIVERS": "#7a5a00",
    "SIMULATED": "#254e7a",
    "NOT CERTIFIED": "#a4262c",
    "NOT APPLICABLE": "#57606a",
    "VOID": "#6b3fa0",
}
#: A mark beside the word, so that nothing depends on the colour: a path in a box of 12 by 12.
_MARK: Final[dict[Verdict, str]] = {
    "CERTIFIED": "M2 6.5 5 9.5 10.5 3",
    "CERTIFIED WITH WAIVERS": "M2 6.5 5 9.5 10.5 3",
    "SIMULATED": "M1.5 5 4 3 8 5 10.5 3M1.5 9 4 7 8 9 10.5 7",
    "NOT CERTIFIED": "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5",
    "NOT APPLICABLE": "M2 6H10",
    "VOID": "M6 1.5V7.5M6 10V10.6",
}
#: Width of a character in pixels: a generous mean at 11 px; `textLength` does the rest.
_CHARACTER: Final = 6.4


def badge_svg(summary: Summary) -> str:
    """An SVG of 22 pixels height: `sess.run PROFILE SPEC | verdict`."""
    left = shortened(f"sess.run {summary.profile} {summary.header['spec']['version']}", 40)
    right = summary.verdict.lower()
    backend = summary.header["backend"]
    title = shortened(f"{backend['name']} {backend['version']}: {left}: {right} (unsigned)", 160)
    left_text, right_text = round(len(left) * _CHARACTER), round(len(right) * _CHARACTER)
    split = left_text + 16
    width = split + right_text + 32
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="22" '
        f'viewBox="0 0 {width} 22" role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n"
        f'<clipPath id="edge"><rect width="{width}" height="22" rx="4"/></clipPath>\n'
        f'<g clip-path="url(#edge)"><rect width="{width}" height="22" fill="#2b3038"/>\n'
        f'<rect x="{split}" width="{width - split}" height="22" '
        f'fill="{_COLOUR[summary.verdict]}"/></g>\n'
        f'<path d="{_MARK[summary.verdict]}" transform="translate({split + 7} 5)" fill="none" '
        'stroke="#fff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/>\n'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'<text x="8" y="15" textLength="{left_text}">{escape(left)}</text>\n'
        f'<text x="{split + 24}" y="15" textLength="{right_text}">{escape(right)}</text>\n'
        "</g></svg>\n"
    )
