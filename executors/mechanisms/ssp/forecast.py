"""How good the matrix will be, before any row is read."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from executors.mechanisms.ssp.cost import need
from executors.mechanisms.ssp.layout import (
    SspParams,
    deviations,
    frame,
    is_joint,
    weights,
)
from executors.pricing.covariance_advice import advice
from executors.pricing.covariance_columns import box_of
from executors.pricing.covariance_warnings import warnings_of
from executors.pricing.drawable import confirm_drawable
from planner.calculus.cost import Cost
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["forecast", "resolve", "rms_error"]


def resolve(params: SspParams, facts: Facts, cost: Cost) -> SspParams:
    """The params as they are: nothing is left to the planner.

    Raises Unsolvable where the noise of this cost could not be drawn.
    """
    units = {source.name: cost.unit for source in facts.sources}
    confirm_drawable(need(params, facts, units), cost, facts.source.max_rows)
    return params


def forecast(params: SspParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Metrics with the public design figures.

    `precision` is 1 / (root mean square of the Frobenius error of the raw matrix, in the unit box),
    at the worst means for center=private. Deviations are in the unit box of `frame`: entry (j, k)
    times the units of columns j and k, both listed. Formula: proof.md, accuracy.
    """
    leaf = loss.leaves[0]
    scale = Fraction(leaf.scale or 0)
    sensitivity = Fraction(leaf.sensitivity or 0)
    sd = deviations(params, facts, scale)
    box, constant = frame(params, facts)
    weight = weights(params, facts)
    worst = rms_error(params, facts, scale, at_worst_mean=True)
    figures: dict[str, Any] = {
        "precision": 1.0 / worst,
        "rms_error": worst,
        "noise_sd_variance": sd.diagonal,
        "noise_sd_covariance": sd.pairs,
        "noise_edge": 2.0 * sd.pairs * sqrt(len(facts.columns)),
        "distance_over_scale": float(sensitivity / scale),
        "units": [float(half) for half in box.half],
        "grid_steps": 2**16,
        "integer_sensitivity": float(sensitivity),
        "integer_scale": float(scale),
        "noise_divided_by": {
            "squares": float(weight.diagonal),
            "products": float(weight.pairs),
            "means": float(weight.mean if is_joint(params, facts) else weight.pairs * constant),
        },
        "warnings": warnings_of(sd.diagonal, sensitivity, scale)
        or advice("ssp", facts, sensitivity / scale, params.norm),
    }
    if params.center == "private":
        figures["rms_error_at_zero_mean"] = rms_error(params, facts, scale, at_worst_mean=False)
        figures["noise_sd_mean"] = sd.mean
    return figures


def rms_error(params: SspParams, facts: Facts, scale: Fraction, at_worst_mean: bool) -> float:
    """Root mean square Frobenius error of the raw matrix from noise alone, in the unit box.

    With w_j the ratio of the frame's unit to the half-width of column j, squared, p and v the
    deviations of a product and a square, e that of a mean m:
    sum_{j != k} w_j w_k (p^2 + e^2 (m_j^2 + m_k^2) + e^4)
    + sum_j w_j^2 (v^2 + 4 e^2 m_j^2 + 3 e^4).
    """
    sd = deviations(params, facts, scale)
    box, _ = frame(params, facts)
    halves = box_of(params.center if params.norm == "linf" else box.center, facts).half
    ratios = [float((unit / half) ** 2) for unit, half in zip(box.half, halves, strict=True)]
    weight = np.array(ratios)
    others = weight.sum() - weight
    total = float(sd.pairs**2 * (weight * others).sum() + sd.diagonal**2 * (weight**2).sum())
    if params.center == "private":
        variance = sd.mean**2
        total += variance**2 * float((weight * others).sum() + 3.0 * (weight**2).sum())
        if at_worst_mean:
            slopes = variance * (2.0 * weight * others + 4.0 * weight**2)
            total += _worst_mean(params, facts, slopes)
    return sqrt(total)


def _worst_mean(params: SspParams, facts: Facts, slopes: np.ndarray[Any, Any]) -> float:
    """The most that sum_j slope_j m_j^2 can be.

    In the box |m_j| <= 1, in the ball and its stretched unit |m|^2 <= 1/1.25.
    """
    if params.norm == "linf" or len(facts.columns) == 1:
        return float(slopes.sum())
    return float(slopes.max()) / 1.25
