"""The picture of two sources' survival."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executors.plots.steps import Arm, drawn

__all__ = ["plot"]


def plot(release: Mapping[str, Any]) -> str:
    """Both survival curves with their bands, grey beyond the last time that was compared."""
    value = release["value"]
    shared = {name: value[name] for name in ("reliable_to", "time_column", "level")}
    arms = tuple(Arm.of({**site, **shared}, str(site["source"])) for site in value["sites"])
    if value["outcome"] == "INCONCLUSIVE":
        said = "inconclusive"
    else:
        said = f"p = {value['p_value']:.3g}"
    return drawn(f"{release['name']}: {said}", arms, "survival")
