"""Principal components of a release: their variances against the noise, and their loadings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from executors.plots.canvas import BLUE, GREY, INK, ORANGE, svg
from executors.plots.heatmap import said

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot"]

_SHOWN = 20
_AXES = 3
_NAMES = 24


def plot(release: Mapping[str, Any]) -> str:
    """The SVG of a `pca`: bars of variance with the edge of noise, then the first loadings."""
    value = release["value"]
    count = min(_AXES, len(value["variance"]))
    chosen = _largest(value["loadings"][:count])
    names = [str(value["columns"][j]) for j in chosen]

    def draw(figure: Figure) -> None:
        if not count:
            figure.suptitle(f"Principal components: {release['name']}")
            figure.text(0.5, 0.5, "no variance can be told from 0", ha="center", color=GREY)
            return
        left, right = figure.subplots(1, 2, width_ratios=[1.2, 0.35 * count + 0.5])
        _variances(left, value, str(release["name"]))
        _loadings(
            right, value, names, [[axis[j] for j in chosen] for axis in value["loadings"][:count]]
        )

    return svg(draw, 8.4, max(3.8, 1.4 + 0.24 * len(names)))


def _variances(axes: Axes, value: Mapping[str, Any], name: str) -> None:
    variance = value["variance"][:_SHOWN]
    places = list(range(1, len(variance) + 1))
    colours = [BLUE if seen else "#c9c9c9" for seen in value["beyond_noise"]][:_SHOWN]
    axes.bar(places, variance, color=colours, width=0.72)
    for place, height, share in zip(places, variance, value["share"], strict=False):
        if len(places) <= 12:
            text = f"{100 * share:.0f} %"
            axes.annotate(
                text, (place, height), (0, 3), textcoords="offset points", ha="center", fontsize=8
            )
    edge = value["noise_edge"]
    axes.axhline(edge, color=ORANGE, linewidth=1.4, linestyle="--", label="edge of pure noise")
    axes.legend(loc="upper right", fontsize=9)
    axes.set_xticks(places if len(places) <= 12 else places[::2])
    axes.set_xlim(0.4, len(places) + 0.6)
    axes.set_ylim(0, 1.2 * max([*variance, edge, 1e-12]))
    axes.set_xlabel("component")
    axes.set_ylabel(f"variance ({value['scale']})")
    axes.set_title(f"Principal components: {name}")


def _largest(loadings: Sequence[Sequence[float]]) -> list[int]:
    """The columns with the largest loadings, in the order of the release."""
    if not loadings:
        return []
    reach = [max(abs(axis[j]) for axis in loadings) for j in range(len(loadings[0]))]
    return sorted(sorted(range(len(reach)), key=lambda j: -reach[j])[:_NAMES])


def _loadings(
    axes: Axes, value: Mapping[str, Any], names: list[str], shown: Sequence[Sequence[float]]
) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("dpql", [ORANGE, "#ffffff", BLUE])
    loadings, count = np.array(shown).T, len(shown)
    x, y = np.arange(count + 1) - 0.5, np.arange(len(names) + 1) - 0.5
    axes.pcolormesh(
        x, y, loadings, cmap=colours, vmin=-1, vmax=1, edgecolors="white", linewidth=0.6
    )
    axes.invert_yaxis()
    for j, row in enumerate(loadings):
        for k, number in enumerate(row):
            seen = value["beyond_noise"][k]
            colour = GREY if not seen else "#ffffff" if abs(number) > 0.5 else INK
            axes.text(k, j, said(number), ha="center", va="center", fontsize=8, color=colour)
    axes.set_xticks(range(count), [str(k + 1) for k in range(count)])
    axes.set_yticks(range(len(names)), [n if len(n) <= 18 else n[:17] + "…" for n in names])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xlabel("component")
    cut = len(names) < len(value["columns"])
    axes.set_title(f"The {len(names)} largest loadings" if cut else "Loadings")
