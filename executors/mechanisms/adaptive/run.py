"""From two readings of the data to a private matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from executors.mechanisms.adaptive.cost import assumptions
from executors.mechanisms.adaptive.estimate import limited, rebuilt, spectrum
from executors.mechanisms.adaptive.layout import (
    COARSE,
    AdaptiveParams,
    clipped_query,
    constant,
    gram_sensitivity,
    order,
    pair_weight,
    radius_square,
    spectrum_sensitivity,
    sums_query,
    thresholds,
)
from executors.mechanisms.adaptive.radius import Errors, errors_of, upper_trace
from executors.mechanisms.adaptive.report import Found, outcome
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import PRODUCT
from executors.pricing.weighted import weighted_scale
from executors.statistics.covariance_matrix import Matrix, from_triangle, triangle
from planner.facts import Facts

if TYPE_CHECKING:
    from executors.release import Outcome
    from planner.calculus.leaves import Leaf, Loss

__all__ = ["run"]


def run(
    params: AdaptiveParams, facts: Facts, loss: Loss, stats: Callable[[Any], Any], noise: Any
) -> Outcome:
    """The matrix with its radius and everything that was measured.

    The mean squared length, then the radius, then the matrix: what each asks depends on the
    answers before it, never on a row. Raises ValueError where the price has another shape.
    """
    if [leaf.role for leaf in loss.leaves] != ["length", "radius", "cap"]:
        raise ValueError("this statement is priced with a length, a radius and a cap")
    length, search, cap = loss.leaves
    sums = stats(sums_query(params, facts))
    steps = facts.rows * radius_square(params, facts) * PRODUCT // COARSE
    trace, sd = _trace(params, facts, length, sums, steps, noise)
    allowance = Allowance.behind(cap)
    errors = errors_of(
        order(params, facts),
        facts.rows / facts.source.max_rows,
        float(allowance.mu_squared / 2),
        float(params.beta),
        upper_trace(trace, sd, float(params.beta)),
    )
    stop = _stop(params, facts, search, sums, errors, steps, noise)
    halvings = max(0, -stop - 1)
    moments = stats(clipped_query(params, facts, halvings))
    draw = _Draw(params, facts, 4.0**-halvings, noise.cap(cap), allowance, order(params, facts))
    is_gaussian = errors.prefers_gaussian(stop)
    if is_gaussian:
        noisy, deviation = draw.gram(moments, Fraction(1))
        second, values = limited(noisy, draw.unit), None
    else:
        noisy, deviation = draw.gram(moments, Fraction(1, 2))
        values = draw.spectrum(moments)
        second = rebuilt(noisy, values, draw.unit)
    found = Found(
        second=second * radius_square(params, facts),
        noisy=noisy * radius_square(params, facts),
        deviation=deviation * radius_square(params, facts),
        spectrum=None if values is None else values * radius_square(params, facts),
        halvings=halvings,
        trace=trace * radius_square(params, facts),
        trace_deviation=sd * radius_square(params, facts),
        search_scale=float(search.scale or 0) / steps * radius_square(params, facts),
        spectrum_deviation=draw.spectrum_deviation * radius_square(params, facts),
    )
    return outcome(params, facts, found, assumptions(params, facts))


def _trace(
    params: AdaptiveParams, facts: Facts, leaf: Leaf, sums: Any, steps: int, noise: Any
) -> tuple[float, float]:
    """The noisy mean squared length of a row, R = 1, with its deviation; the constant counts."""
    (noisy,) = noise.dgauss(leaf, [sums.total // COARSE])
    beside = facts.rows * constant(params, facts) ** 2 // COARSE
    return (noisy + beside) / steps, float(leaf.scale or 0) / steps


def _stop(
    params: AdaptiveParams,
    facts: Facts,
    leaf: Leaf,
    sums: Any,
    errors: Errors,
    steps: int,
    noise: Any,
) -> int:
    """The first k = 0, -1, ... at which more is cut off than noise would add; else the last."""
    scores = [
        sums.excess[threshold] // COARSE - floor(steps * errors.at(-place))
        for place, threshold in enumerate(thresholds(params, facts))
    ]
    place = noise.above(leaf, scores)
    return -(len(scores) - 1 if place is None else place)


@dataclass(slots=True)
class _Draw:
    """Releases of the shortened Gram matrix under one filter; `unit` is its largest eigenvalue."""

    params: AdaptiveParams
    facts: Facts
    unit: float
    filter: Any
    allowance: Allowance
    order: int
    spectrum_deviation: float = 0.0

    def gram(self, moments: Any, share: Fraction) -> tuple[Matrix, Matrix]:
        """The noisy matrix, R = 1, with the deviation of each entry."""
        sensitivity = gram_sensitivity(self.params, self.facts)
        scale = self.allowance.part(share).scale(sensitivity)
        integers = [int(moments.gram[j, j]) for j in range(self.order)] + triangle(moments.gram)
        one, pairs = Fraction(1), pair_weight(self.params)
        weights = [one] * self.order + [pairs] * (len(integers) - self.order)
        noisy = self.filter.dgauss(sensitivity, scale, integers, weights)
        step = self.unit / (self.facts.rows * PRODUCT)
        values = [step * int(value) for value in noisy]
        deviation = np.full((self.order, self.order), step * weighted_scale(scale, pairs))
        np.fill_diagonal(deviation, step * scale)
        return from_triangle(values[: self.order], values[self.order :]), deviation

    def spectrum(self, moments: Any) -> Any:
        """The noisy eigenvalues, R = 1, in the order of the eigenvalues without noise."""
        sensitivity = spectrum_sensitivity(self.params, self.facts)
        scale = self.allowance.part(Fraction(1, 2)).scale(sensitivity)
        noisy = self.filter.dgauss(sensitivity, scale, spectrum(moments.gram))
        step = self.unit / (self.facts.rows * PRODUCT)
        self.spectrum_deviation = step * scale
        return np.array([step * int(value) for value in noisy])
