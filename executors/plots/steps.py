"""Step curves over time as clinical papers show them: band, numbers at risk, an unreliable rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from executors.plots.canvas import BLUE, GREY, LIGHT, ORANGE, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Arm", "drawn"]

_COLOURS = (BLUE, ORANGE)
_DASHES = ("solid", "dashed")
_COLUMN = 64
"""About so many small figures fit side by side below the curves."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One curve at times 0 = t_0 < ... < t_B with the ends of its band and counts at risk."""

    label: str
    column: str
    time: Sequence[float]
    estimate: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    at_risk: Sequence[int]
    reliable_to: float
    level: float

    @classmethod
    def of(cls, value: Mapping[str, Any], label: str) -> Arm:
        """The curve of a release's value."""
        named = ("time", "estimate", "lower", "upper", "at_risk", "reliable_to", "level")
        found = {name: value[name] for name in named}
        return cls(label=label, column=str(value["time_column"]), **found)

    @property
    def reach(self) -> int:
        """The place of the last time that can be trusted."""
        return sum(time <= self.reliable_to for time in self.time) - 1


def drawn(title: str, arms: Sequence[Arm], scale: Literal["survival", "hazard"]) -> str:
    """One picture of the curves, SVG text; two arms get two colours, two dashes and a legend."""

    def draw(figure: Figure) -> None:
        rows = figure.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": [10, 1.1 + len(arms)]}
        )
        places = _places(arms)
        _curves(rows[0], title, arms, scale)
        rows[0].set_xticks(
            [arms[0].time[place] for place in places],
            [_written(arms[0].time[place]) for place in places],
        )
        _counts(rows[1], arms, places)

    return svg(draw, height=4.4 + 0.3 * len(arms))


def _places(arms: Sequence[Arm]) -> range:
    """Of which times the axis is marked and the counts are shown: at most 9, fewer of long counts.

    Equal steps that end at the last time, where that takes less than twice as long a step.
    """
    bins = len(arms[0].time) - 1
    longest = max(len(f"{count:,}") for arm in arms for count in arm.at_risk)
    least = -(-bins // max(2, min(8, _COLUMN // (longest + 2))))
    even = next(step for step in range(least, bins + 1) if bins % step == 0)
    return range(0, bins + 1, even if even < 2 * least else least)


def _written(time: float) -> str:
    return f"{time:.4g}" if time < 10_000 else f"{time:,.0f}"


def _curves(axes: Axes, title: str, arms: Sequence[Arm], scale: str) -> None:
    end = arms[0].time[-1]
    trusted = min(arm.reliable_to for arm in arms)
    for arm, colour, dash in zip(arms, _COLOURS, _DASHES, strict=False):
        _arm(axes, arm, colour, dash)
    if trusted < end:
        axes.axvspan(trusted, end, color=LIGHT, zorder=0, linewidth=0, label="too few at risk")
    if scale == "survival":
        axes.set_ylim(0.0, 1.02)
        axes.set_ylabel("Survival probability")
    else:
        axes.set_ylim(0.0, _height(arms))
        axes.set_ylabel("Cumulative hazard")
    axes.set_xlim(0.0, end)
    axes.set_title(title)
    axes.text(
        1.0,
        1.01,
        f"shaded: {100 * (1 - arms[0].level):g} % band at each time, privacy noise included",
        ha="right",
        va="bottom",
        color=GREY,
        fontsize=8,
        transform=axes.transAxes,
    )
    axes.tick_params(labelbottom=True)
    axes.set_xlabel(arms[0].column)
    if len(arms) > 1 or trusted < end:
        axes.legend(loc="best", frameon=True, facecolor="white", edgecolor="white", framealpha=0.9)


def _height(arms: Sequence[Arm]) -> float:
    """A little more than the highest end of a band that can be trusted."""
    return 1.05 * max(0.1, *(arm.upper[arm.reach] for arm in arms))


def _arm(axes: Axes, arm: Arm, colour: str, dash: str) -> None:
    """The curve with its band up to where it can be trusted, a grey line beyond."""
    split = arm.reach + 1
    seen, rest = slice(0, split), slice(split - 1, None)
    axes.fill_between(
        arm.time[seen],
        arm.lower[seen],
        arm.upper[seen],
        step="post",
        color=colour,
        alpha=0.18,
        linewidth=0,
    )
    axes.step(
        arm.time[seen],
        arm.estimate[seen],
        where="post",
        color=colour,
        linestyle=dash,
        linewidth=1.6,
        label=arm.label or None,
    )
    axes.step(
        arm.time[rest], arm.estimate[rest], where="post", color=GREY, linestyle=dash, linewidth=0.9
    )


def _counts(axes: Axes, arms: Sequence[Arm], places: Sequence[int]) -> None:
    """Noisy numbers at risk under the marks of the axis, one line an arm."""
    axes.set_axis_off()
    axes.set_ylim(0.0, 1.2 + len(arms))
    axes.text(0.0, len(arms) + 0.5, "Number at risk (with noise)", va="center", fontsize=9)
    time = arms[0].time
    longest = max(len(f"{arm.at_risk[0]:,}") for arm in arms)
    for line, (arm, colour) in enumerate(zip(arms, _COLOURS, strict=False)):
        height = len(arms) - line - 0.5
        axes.annotate(
            arm.label,
            (0.0, height),
            (-10.0 - 3.0 * longest, 0.0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=8,
            color=colour,
        )
        for place in places:
            axes.text(
                time[place],
                height,
                f"{arm.at_risk[place]:,}",
                ha="center",
                va="center",
                fontsize=9,
                color=colour,
            )
