"""How good the variances will be, before any row is read."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from executors.mechanisms.diagonal.cost import DiagonalParams, measured, need
from executors.pricing.covariance import GRID, MEAN_WEIGHT
from executors.pricing.covariance_advice import correlation_noise
from executors.pricing.covariance_columns import box_of
from executors.pricing.covariance_squares import square_deviations
from executors.pricing.covariance_warnings import warnings_of
from executors.pricing.drawable import confirm_drawable
from planner.calculus.cost import Cost
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["forecast", "resolve"]


def resolve(params: DiagonalParams, facts: Facts, cost: Cost) -> DiagonalParams:
    """The params as they are: nothing is left to the planner.

    Raises Unsolvable where the noise of this cost could not be drawn.
    """
    units = {source.name: cost.unit for source in facts.sources}
    confirm_drawable(need(params, facts, units), cost, facts.source.max_rows)
    return params


def forecast(params: DiagonalParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Public design figures; no metric, since the covariances are missing by design.

    `rms_error` is the root mean square error of the measured variances from noise alone, before
    they are drawn towards their average, in the unit box; for center=private at the worst means,
    |m_j| = 1, and at zero means. What the zeros miss is `missed_at_most`;
    `correlation_noise_of_all_pairs` is what `ssp` would leave on each correlation at this cost.
    """
    leaf = loss.leaves[0]
    scale = Fraction(leaf.scale or 0)
    sensitivity = Fraction(leaf.sensitivity or 0)
    sd = square_deviations(facts, scale)
    count, noised = len(facts.columns), len(measured(params, facts))
    error = sd.square**2
    figures: dict[str, Any] = {
        "noise_sd_variance": sd.square,
        "missed_at_most": sqrt(count * (count - 1)),
        "distance_over_scale": float(sensitivity / scale),
        "units": [float(half) for half in box_of(params.center, facts).half],
        "grid_steps": GRID,
        "integer_sensitivity": float(sensitivity),
        "integer_scale": float(scale),
        "integer_weights": {"squares": 1, "means": MEAN_WEIGHT},
        "correlation_noise_of_all_pairs": correlation_noise(facts, sensitivity / scale),
        "warnings": warnings_of(sd.square, sensitivity, scale),
    }
    if params.center == "private":
        error += 3.0 * sd.mean**4
        figures["rms_error_at_zero_mean"] = sqrt(noised * error)
        error += 4.0 * sd.mean**2
        figures["noise_sd_mean"] = sd.mean
    figures["rms_error"] = sqrt(noised * error)
    return figures
