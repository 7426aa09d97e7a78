"""The trade-off of a plan as two small pictures, drawn as SVG text without any library.

A sheet must look the same wherever it is made, so its pictures do not depend on what is installed;
the colours are those of the pictures of releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import log10

from dpql.report import words
from dpql.report.document import Curve
from executors.plots.canvas import BLUE, GREY, INK, ORANGE

__all__ = ["pictures"]

_WIDTH, _HEIGHT = 340, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 318, 34, 252
_SHADE = "#e8f0f7"
_DECADES = 4
Point = tuple[float, float]


def pictures(curve: Curve) -> str:
    """The whole trade-off beside its corner of few false alarms, as two figures side by side."""
    return f'<div class="curves">{_whole(curve)}\n{_corner(curve)}</div>'


def _whole(curve: Curve) -> str:
    """Misses by false alarms; every attack lies on or above the curve."""
    line = [(0.0, 1 - curve.points[0][1]), *((a, 1 - b) for a, b in curve.points), (1.0, 0.0)]
    percent = [k / 4 for k in range(5)]
    parts = [
        _area([(0.0, 0.0), *line], _linear, _linear),
        _axes("targets missed"),
        *_ticks(percent, _linear, percent, _linear),
        _path([(0.0, 1.0), (1.0, 0.0)], _linear, _linear, GREY, dashed=True),
        _path(line, _linear, _linear, BLUE),
        *(_dot(rate, 1 - caught, _linear, _linear) for rate, caught in curve.marks),
        _say(_x(0.57), _y(0.48), "guessing alone", GREY, turned=39),
    ]
    said = "; ".join(
        f"with {words.percent_up(rate)} of others accused, "
        f"at least {words.percent_down(1 - caught)} of targets are missed"
        for rate, caught in curve.marks
    )
    return _figure("Every attack", said, parts)


def _corner(curve: Curve) -> str:
    """Catches by false alarms on logarithmic axes; every attack lies on or below the curve."""
    least = 10.0**-_DECADES
    line = [(a, b) for a, b in curve.points if a >= least] + [(1.0, 1.0)]
    decades = [10.0**-k for k in range(_DECADES, -1, -1)]
    parts = [
        _area([*line, (least, 1.0)], _logarithmic, _logarithmic),
        _axes("targets found, at most"),
        *_ticks(decades, _logarithmic, decades, _logarithmic),
        _path([(least, least), (1.0, 1.0)], _logarithmic, _logarithmic, GREY, dashed=True),
        _path(line, _logarithmic, _logarithmic, BLUE),
    ]
    for rate, caught in curve.marks:
        x, y, shown = _x(_logarithmic(rate)), _y(_logarithmic(caught)), words.percent_up(caught)
        is_far = caught > 5 * rate  # from the dashed line, so that there is room below
        parts.append(_dot(rate, caught, _logarithmic, _logarithmic))
        parts.append(
            _say(x + 7, y + 15, shown, INK, bold=True)
            if is_far
            else _say(x - 7, y - 6, shown, INK, bold=True, anchor="end")
        )
    said = "; ".join(
        f"with {words.percent_up(rate)} of others accused, "
        f"at most {words.percent_up(caught)} of targets are found"
        for rate, caught in curve.marks
    )
    return _figure("Attacks with few false alarms", said, parts)


def _figure(title: str, said: str, parts: Iterable[str]) -> str:
    label = escape(f"{title}: {said}", quote=True)
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    return (
        f'<svg {size} role="img" aria-label="{label}">'
        f"{_say(_LEFT, 18, title, INK, bold=True, size=13)}{''.join(parts)}</svg>"
    )


def _linear(value: float) -> float:
    return value


def _logarithmic(value: float) -> float:
    return 1 + log10(max(value, 10.0**-_DECADES)) / _DECADES


def _x(share: float) -> float:
    return _LEFT + share * (_RIGHT - _LEFT)


def _y(share: float) -> float:
    return _BOTTOM - share * (_BOTTOM - _TOP)


Scale = Callable[[float], float]


def _places(points: Sequence[Point], across: Scale, up: Scale) -> str:
    return " ".join(f"{_x(across(a)):.1f},{_y(up(b)):.1f}" for a, b in points)


def _area(points: Sequence[Point], across: Scale, up: Scale) -> str:
    return f'<polygon points="{_places(points, across, up)}" fill="{_SHADE}"/>'


def _path(
    points: Sequence[Point], across: Scale, up: Scale, colour: str, dashed: bool = False
) -> str:
    dash = ' stroke-dasharray="4 4"' if dashed else ' stroke-linejoin="round"'
    width = "1.2" if dashed else "2.4"
    return (
        f'<polyline points="{_places(points, across, up)}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}"{dash}/>'
    )


def _dot(rate: float, share: float, across: Scale, up: Scale) -> str:
    return (
        f'<circle cx="{_x(across(rate)):.1f}" cy="{_y(up(share)):.1f}" r="4.2" fill="{ORANGE}" '
        'stroke="#fff" stroke-width="1.2"/>'
    )


def _axes(up: str) -> str:
    middle = (_TOP + _BOTTOM) / 2
    return (
        f'<path d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}" fill="none" stroke="{INK}"/>'
        + _say((_LEFT + _RIGHT) / 2, _HEIGHT - 10, "others wrongly accused", INK, anchor="middle")
        + f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle" '
        f'fill="{INK}" font-size="11">{escape(up)}</text>'
    )


def _ticks(
    across: Sequence[float], scale: Scale, up: Sequence[float], rise: Scale
) -> Iterable[str]:
    for value in across:
        x = _x(scale(value))
        yield f'<path d="M{x:.1f} {_BOTTOM}v4" stroke="{INK}"/>'
        yield _say(x, _BOTTOM + 17, _percent(value), INK, anchor="middle", size=10)
    for value in up:
        y = _y(rise(value))
        yield f'<path d="M{_LEFT} {y:.1f}h-4" stroke="{INK}"/>'
        yield _say(_LEFT - 7, y + 3.5, _percent(value), INK, anchor="end", size=10)


def _percent(value: float) -> str:
    return f"{100 * value:.6g}\u00a0%"


def _say(
    x: float,
    y: float,
    text: str,
    colour: str,
    *,
    anchor: str = "start",
    bold: bool = False,
    size: int = 11,
    turned: int = 0,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    turn = f' transform="rotate({turned} {x:.1f} {y:.1f})"' if turned else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="{size}" '
        f'text-anchor="{anchor}"{weight}{turn}>{escape(text)}</text>'
    )
