"""A heat map of released correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from executors.plots.canvas import BLUE, GREY, INK, ORANGE, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "said"]

_NUMBERS_UP_TO, _NOISE_UP_TO = 14, 10
"""Up to so many columns each cell says its number, and its noise."""

_MOST_LABELS = 70

_TITLES = {
    "correlation": "Correlations",
    "cosine": "Cosines of second moments",
    "partial correlation": "Partial correlations",
}


def plot(release: Mapping[str, Any]) -> str:
    """The SVG of a `heatmap`: colours from -1 to 1, a dot on what was measured."""
    value = release["value"]
    names = [str(name) for name in value["columns"]]
    side = min(11.0, max(3.0, 0.62 * len(names)))
    longest = max(len(name) for name in names)

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _cells(figure, axes, value["matrix"], str(value["kind"]))
        _labels(axes, names, side)
        if len(names) <= _NUMBERS_UP_TO:
            _numbers(axes, value["matrix"], release["uncertainty"]["standard_error"])
        _dots(axes, value["measured"], side)
        axes.set_title(f"{_TITLES[value['kind']]}: {release['name']}", pad=10)
        errors = release["uncertainty"]["standard_error"]
        lines = [_legend(value["measured"], errors)]
        if any(entry is None for row in value["matrix"] for entry in row):
            lines.append("Grey: the variance of a column cannot be told from 0.")
        figure.supxlabel("\n".join(lines), fontsize=8.5, color=GREY, x=0.02, ha="left")

    margin = 1.3 + 0.06 * min(longest, 24)
    return svg(draw, side + margin + 0.6, side + margin)


def said(number: float) -> str:
    """Two places, and no minus before a zero."""
    return f"{number:z.2f}"


def _cells(figure: Figure, axes: Axes, matrix: Sequence[Sequence[Any]], kind: str) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("dpql", [ORANGE, "#ffffff", BLUE], bad="#dcdcdc")
    numbers = np.ma.masked_invalid(np.array(matrix, dtype=float))
    edges = np.arange(len(matrix) + 1) - 0.5
    is_large = len(matrix) > _MOST_LABELS
    mesh = axes.pcolormesh(
        edges,
        edges,
        numbers,
        cmap=colours,
        vmin=-1,
        vmax=1,
        edgecolors="none" if is_large else "white",
        linewidth=0.0 if is_large else 0.6,
        rasterized=is_large,  # a million rectangles would make a file that nothing opens
    )
    axes.invert_yaxis()
    axes.set_aspect("equal")
    bar = figure.colorbar(mesh, ax=axes, shrink=0.8, ticks=[-1, -0.5, 0, 0.5, 1], pad=0.03)
    bar.outline.set_visible(False)
    bar.set_label(kind)


def _labels(axes: Axes, names: Sequence[str], side: float) -> None:
    step = -(-len(names) // _MOST_LABELS)
    places = range(0, len(names), step)
    shown = [names[j] if len(names[j]) <= 24 else names[j][:23] + "…" for j in places]
    size = min(10.0, max(4.0, 72.0 * side / len(names) * 0.55 * step))
    axes.set_xticks(list(places), shown, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(list(places), shown)
    axes.tick_params(length=0, labelsize=size)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _numbers(axes: Axes, matrix: Sequence[Sequence[Any]], errors: Sequence[Sequence[Any]]) -> None:
    """The number in each cell, with its noise where cells are large enough."""
    says_noise = len(matrix) <= _NOISE_UP_TO
    for j, row in enumerate(matrix):
        for k, number in enumerate(row):
            if number is None:
                axes.text(k, j, "NA", ha="center", va="center", fontsize=8, color=GREY)
                continue
            error = errors[j][k]
            has_noise = says_noise and j != k and error is not None
            colour = "#ffffff" if abs(number) > 0.5 else INK
            up = 0.1 if has_noise else 0.0
            axes.text(k, j - up, said(number), ha="center", va="center", fontsize=9, color=colour)
            if has_noise:
                axes.text(
                    k, j + 0.2, f"±{error:.2f}", ha="center", va="center", fontsize=7, color=colour
                )


def _dots(axes: Axes, measured: Sequence[Sequence[bool]], side: float) -> None:
    """A dot in the upper right corner of every pair that was measured."""
    order = len(measured)
    places = [(j, k) for j in range(order) for k in range(order) if j != k and measured[j][k]]
    if not places or (order > _NUMBERS_UP_TO and len(places) == order * (order - 1)):
        return
    cell = 72.0 * side / order
    shift = 0.36 if order <= _NUMBERS_UP_TO else 0.0
    axes.scatter(
        [k + shift for _, k in places],
        [j - shift for j, _ in places],
        s=min(9.0, (cell * 0.35) ** 2),
        color=INK,
        linewidths=0.5,
        edgecolors="#ffffff",
    )


def _legend(measured: Sequence[Sequence[bool]], errors: Sequence[Sequence[Any]]) -> str:
    order = len(measured)
    pairs = order * (order - 1) // 2
    count = sum(measured[j][k] for j in range(order) for k in range(j))
    if count == pairs and order > _NUMBERS_UP_TO:
        return "All pairs were measured, with noise."
    if count == pairs:
        has_noise = order <= _NOISE_UP_TO and any(e for row in errors for e in row)
        shown = " ± is privacy noise alone." if has_noise else ""
        return "● measured, with noise: all pairs." + shown
    return (
        f"● measured, with noise: {count} of {pairs} pairs.\n"
        "Without a dot: not measured, implied by a model."
    )
