"""The plot of a made-up method: one line, with the release's name as the title."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.plots.canvas import svg


def plot(release: Mapping[str, Any]) -> str:
    """A line through two points."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1])
        axes.set_title(release["name"])

    return svg(draw)
