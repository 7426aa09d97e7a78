"""A budget that a statement spends as it goes, never beyond its cap."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import index

import numpy as np
import numpy.typing as npt

from executors.noise.realise import Value, gaussian_grid, integers, laplace_grid, reals
from executors.noise.sampler import Sampler, check_scale
from executors.noise.selection import ladder, select
from executors.noise.weighted import weighted_gaussians
from planner.calculus.convert import Native, charge
from planner.calculus.exact import sum_up
from planner.calculus.leaves import Leaf

__all__ = ["Filter", "FilterExhausted"]

_UNITS: dict[str, Native] = {"pure": "eps", "gdp": "mu_squared", "zcdp": "rho"}


class FilterExhausted(Exception):
    """The next draw would cost more than is left. Nothing was drawn, nothing was charged."""


class Filter:
    """Charges each draw before it is made, exactly or rounded up, and refuses beyond the cap.

    What adds up is eps under a `pure` cap, mu squared under a `gdp` cap, rho under a `zcdp` cap.
    The size of each draw may depend on earlier answers: these three sums are valid filters. A
    refusal is a function of earlier answers and public costs, so it tells nothing more.
    """

    def __init__(self, sampler: Sampler, cap: Leaf) -> None:
        self._sampler = sampler
        self._of = cap.of
        self._unit = _UNITS[cap.kind]
        self._cap = cap.param**2 if cap.kind == "gdp" else cap.param
        self._spent = Fraction(0)

    @property
    def left(self) -> Fraction:
        """What is left, in eps, mu squared or rho."""
        return self._cap - self._spent

    @property
    def spent(self) -> Fraction:
        """What was charged so far, in eps, mu squared or rho."""
        return self._spent

    def price(self, leaf: Leaf) -> Fraction:
        """What `leaf` would be charged, all its draws together."""
        return leaf.count * charge(leaf, self._unit).value

    def dgauss(
        self,
        sensitivity_int: int | Fraction,
        scale_int: int,
        integers: Sequence[int],
        weights: Sequence[Fraction] | None = None,
    ) -> list[int]:
        """`integers`, of joint L2 sensitivity `sensitivity_int`, with discrete Gaussian noise.

        With `weights` w >= 1 the sensitivity is that of each part times its weight, and each part
        has its own scale, `weighted_scale`, as for a leaf of a statement.
        """
        check_scale(scale_int)
        self._charge(Leaf.dgauss(sensitivity_int, scale_int, width=max(1, len(integers))))
        noise = weighted_gaussians(self._sampler, scale_int, len(integers), weights)
        return [index(value) + drawn for value, drawn in zip(integers, noise, strict=True)]

    def lap(
        self, sensitivity: Fraction | int, scale: Fraction | int, values: Sequence[Value]
    ) -> list[float]:
        """`values`, of joint L1 sensitivity `sensitivity`, with Laplace noise."""
        width = max(1, len(values))
        grid = laplace_grid(Fraction(sensitivity), Fraction(scale), width)
        self._charge(Leaf.lap(sensitivity, scale, width=width))
        noise = self._sampler.discrete_laplace(grid.scale, len(values))
        return reals([a + b for a, b in zip(integers(values, grid), noise, strict=True)], grid)

    def gauss(
        self, sensitivity: Fraction | int, sigma: Fraction | int, values: Sequence[Value]
    ) -> list[float]:
        """`values`, of joint L2 sensitivity `sensitivity`, with Gaussian noise."""
        width = max(1, len(values))
        grid = gaussian_grid(Fraction(sensitivity), Fraction(sigma), width)
        self._charge(Leaf.gauss(sensitivity, sigma, width=width))
        noise = self._sampler.discrete_gaussian(grid.scale, len(values))
        return reals([a + b for a, b in zip(integers(values, grid), noise, strict=True)], grid)

    def select(
        self,
        eta: Fraction,
        sensitivity_int: int,
        scores: Sequence[int] | npt.NDArray[np.integer],
        k: int,
    ) -> list[int]:
        """`k` indices without replacement, each draw of bounded range `eta`."""
        if not 1 <= k <= len(scores):
            raise ValueError("a selection draws at least one and at most all candidates")
        ladder(eta, sensitivity_int)  # what cannot be drawn is not charged
        self._charge(Leaf.br(eta, 2, count=k))
        return select(self._sampler, eta, sensitivity_int, scores, k)

    def _charge(self, leaf: Leaf) -> None:
        if leaf.kind not in self._of:
            raise FilterExhausted(f"the cap does not pay for a `{leaf.kind}` draw")
        after = sum_up([self._spent, self.price(leaf)])
        if after > self._cap:
            raise FilterExhausted("the draw would cost more than is left")
        self._spent = after
