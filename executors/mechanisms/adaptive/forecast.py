"""What can be said of the matrix before any row is read: little, since the radius is not known."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from executors.mechanisms.adaptive.cost import AdaptiveParams, need
from executors.mechanisms.adaptive.layout import (
    gram_sensitivity,
    order,
    pair_weight,
    radius_square,
    searched,
    spectrum_sensitivity,
)
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import PRODUCT, root_below
from executors.pricing.covariance_advice import advice
from executors.pricing.covariance_frame import frame_of
from executors.pricing.covariance_warnings import warnings_of
from executors.pricing.drawable import LARGEST_SCALE, confirm_drawable
from executors.pricing.weighted import weighted_scale
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, solve
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["forecast", "resolve"]

_LEAST_SCALE = 2**20
_SHARE = Fraction(3, 4)
"""The part of the cost that the matrix takes."""

_TYPICAL_SQUARE = 1.0 / 4.0
"""Rows of columns with the variance 1/9 mostly fit into half of the largest radius."""


def resolve(params: AdaptiveParams, facts: Facts, cost: Cost) -> AdaptiveParams:
    """The params as they are: nothing is left to the planner.

    Raises Unsolvable where some noise of this cost could not be drawn, or would be next to nothing.
    """
    units = {source.name: cost.unit for source in facts.sources}
    needs = need(params, facts, units)
    confirm_drawable(needs, cost, facts.source.max_rows)
    _, search, cap = solve(needs, cost, facts.source.max_rows).leaves
    allowance = Allowance.behind(cap)
    least = allowance.scale(gram_sensitivity(params, facts))
    if least < _LEAST_SCALE:
        raise Unsolvable(
            f"the noise scale would be {least:.3g}, this method needs at least {_LEAST_SCALE:.3g}",
            "lower the cost of this statement",
        )
    widest = allowance.part(Fraction(1, 2)).scale(spectrum_sensitivity(params, facts))
    if max(widest, 2 * (search.scale or 0)) > LARGEST_SCALE:
        raise Unsolvable(
            "the noise would be wider than the exact sampler can draw",
            "raise the cost of this statement, or name fewer columns",
        )
    return params


def forecast(params: AdaptiveParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Public design figures; no metric, since the gain depends on how long the rows are.

    Deviations are in the unit box (or ball) of the frame, for rows that are not shortened at all.
    `rms_error` is the root mean square Frobenius error of that release, an upper guide:
    with the radius R 2^-k all noise is 4^k times smaller.
    """
    length, search, cap = loss.leaves
    box, _ = frame_of(params.center, params.norm, facts)
    count, whole = len(facts.columns), radius_square(params, facts)
    sensitivity = gram_sensitivity(params, facts)
    scale = Allowance.behind(cap).scale(sensitivity)
    step = whole / (facts.rows * PRODUCT)
    diagonal = step * scale
    pairs = step * weighted_scale(scale, pair_weight(params))
    better: list[dict[str, str]] = []
    if params.center == "private":
        mu = Fraction(sensitivity, scale) * root_below(1 / _SHARE)
        better = advice("adaptive", facts, mu, params.norm)
    return {
        "rms_error": sqrt(count * diagonal**2 + count * (count - 1) * pairs**2),
        "noise_sd_variance_unshortened": diagonal,
        "noise_sd_covariance_unshortened": pairs,
        "noise_edge_unshortened": 2.0 * pairs * sqrt(order(params, facts)),
        "radii_searched": searched(params, facts),
        "units": [float(half) for half in box.half],
        "grid_steps": 2**16,
        "integer_sensitivity": float(sensitivity),
        "integer_scale": float(scale),
        "length_scale": float(length.scale or 0),
        "search_scale": float(search.scale or 0),
        "distance_over_scale": sensitivity / scale,
        "warnings": warnings_of(
            diagonal * _TYPICAL_SQUARE, Fraction(sensitivity), Fraction(scale), _SHARE
        )
        or better,
    }
