"""From a drawing to the text of an SVG file, the same bytes each time."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["BLUE", "GREY", "INK", "LIGHT", "ORANGE", "svg"]

BLUE, ORANGE = "#0b5c9e", "#c4540a"
"""Two colours that every kind of colour vision tells apart, also in grey print."""

INK, GREY, LIGHT = "#222222", "#767676", "#ebebeb"

_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "font.family": "sans-serif",
    "font.size": 10,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "dpql",
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
}


def svg(draw: Callable[[Figure], None], width: float = 7.2, height: float = 4.6) -> str:
    """The SVG text of what `draw` puts on an empty figure of so many inches.

    Texts stay texts, and a name is never read as a formula. No date, version or random identifier
    is written, and no setting of the user's own matters.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
