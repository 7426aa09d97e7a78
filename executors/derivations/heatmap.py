"""`DERIVE name = heatmap(sigma)`: a picture of the correlations of a released covariance."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from executors.derivations.covariances import COVARIANCES
from planner.mechanism import Derivation, Params

__all__ = ["DERIVATION", "HeatmapParams"]


class HeatmapParams(Params):
    """Options of `heatmap(...)`."""

    show: Literal["correlations", "partial"] = Field(
        default="correlations",
        description="`correlations`, or `partial` ones: of two columns given all others, where a "
        "matrix that a search reconstructed has a 0 for every pair without an edge",
    )
    order: Literal["given", "similar"] = Field(
        default="given",
        description="how columns are arranged: as they were `given`, or `similar` ones together",
    )


DERIVATION = Derivation(
    name="heatmap",
    params=HeatmapParams,
    accepts=COVARIANCES,
    run="executors.derivations.heatmap_run",
    summary="a picture of the correlations, with a dot on each that was measured",
    plot="executors.plots.heatmap",
)
