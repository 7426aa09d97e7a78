"""The picture of a released cumulative hazard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.plots.steps import Arm, drawn

__all__ = ["plot"]


def plot(release: Mapping[str, Any]) -> str:
    """Steps with their band, grey where the curve is not reliable; SVG text."""
    return drawn(str(release["name"]), (Arm.of(release["value"], ""),), "hazard")
