"""The noise of one statement: every draw uses up a leaf that was paid for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from operator import index

import numpy as np
import numpy.typing as npt

from executors.noise.filter import Filter
from executors.noise.realise import (
    Grid,
    Value,
    gaussian_grid,
    integers,
    knorm_grid,
    laplace_grid,
    reals,
)
from executors.noise.sampler import LARGEST_SCALE, Sampler, check_scale
from executors.noise.selection import select
from executors.noise.weighted import weighted_gaussians
from executors.pricing.drawable import Norm
from executors.release import Law, NoiseNote
from planner.calculus.exact import double_above
from planner.calculus.leaves import SEARCH_FACTOR, Kind, Leaf, Loss

__all__ = ["NoiseMismatch", "StatementNoise"]


class NoiseMismatch(Exception):
    """A mechanism asked for noise that its statement has not paid for."""


class StatementNoise:
    """Draws the noise of the leaves of `loss`, each at most as often as it counts.

    A draw names its leaf. It is refused with NoiseMismatch, before anything is drawn, unless an
    equal leaf is in the loss, is of the kind that is drawn, and is not used up.
    """

    def __init__(self, sampler: Sampler, loss: Loss) -> None:
        self._sampler = sampler
        self._left: dict[Leaf, int] = {}
        for leaf in loss.leaves:
            self._left[leaf] = self._left.get(leaf, 0) + leaf.count

    def lap(
        self, leaf: Leaf, values: Sequence[Value], domain: tuple[Value, Value] | None = None
    ) -> tuple[list[float], NoiseNote]:
        """`values` with Laplace noise, for a `lap` leaf or a `pure` one; clamped to `domain` first.

        `values` hold `leaf.width` numbers for each draw. They never leave exact arithmetic before
        the noise is on them.
        """
        self._use(leaf, ("lap", "pure"), self._draws(leaf, len(values)))
        sensitivity, scale = _scaled(leaf)
        grid = laplace_grid(sensitivity, scale, leaf.width)
        noise = self._sampler.discrete_laplace(grid.scale, len(values))
        return _added(values, domain, noise, grid), _note(leaf, "discrete_laplace", grid)

    def gauss(
        self, leaf: Leaf, values: Sequence[Value], domain: tuple[Value, Value] | None = None
    ) -> tuple[list[float], NoiseNote]:
        """`values` with Gaussian noise, for a `gauss` leaf; clamped to `domain` first."""
        self._use(leaf, ("gauss",), self._draws(leaf, len(values)))
        sensitivity, sigma = _scaled(leaf)
        grid = gaussian_grid(sensitivity, sigma, leaf.width)
        noise = self._sampler.discrete_gaussian(grid.scale, len(values))
        return _added(values, domain, noise, grid), _note(leaf, "discrete_gaussian", grid)

    def knorm(
        self, leaf: Leaf, values: Sequence[Value], norm: Norm
    ) -> tuple[list[float], NoiseNote]:
        """`values` with noise of density exp(-|z| / scale) in `norm`, for a `pure` leaf.

        The leaf's sensitivity is that of all `leaf.width` values together in the same norm.
        """
        self._use(leaf, ("pure",), self._draws(leaf, len(values)))
        sensitivity, scale = _scaled(leaf)
        grid, rate = knorm_grid(norm, sensitivity, scale, leaf.width)
        noise: list[int] = []
        for _ in range(len(values) // leaf.width):
            noise += self._sampler.knorm(norm, rate, leaf.width)
        law: Law = "knorm_linf" if norm == "linf" else "knorm_l2"
        return _added(values, None, noise, grid), NoiseNote(law, float(grid.step / rate), leaf.role)

    def dgauss(
        self, leaf: Leaf, integers: Sequence[int], weights: Sequence[Fraction] | None = None
    ) -> list[int]:
        """`integers` with discrete Gaussian noise of the leaf's integer scale.

        With `weights` w >= 1, one an integer, each has its own scale, `weighted_scale`: the leaf
        then pays for integers whose move, each part times its weight, is at most its sensitivity
        in L2.
        """
        self._use(leaf, ("dgauss",), self._draws(leaf, len(integers)))
        scale = _integer_scale(leaf)
        noise = weighted_gaussians(self._sampler, scale, len(integers), weights)
        return [index(value) + drawn for value, drawn in zip(integers, noise, strict=True)]

    def above(self, leaf: Leaf, scores: Sequence[int]) -> int | None:
        """The place of the first score whose noisy value reaches a noisy 0; None if none does.

        Scores are integers that move by at most the leaf's sensitivity D between neighbours. For a
        `pure` leaf with factor 4, so eps0 = 4 D / scale: the scores carry discrete Laplace noise of
        the scale, the 0 carries half as much. Uses up the leaf as a whole, however soon it stops.
        Proof: proof.md, claim 6. Checked: tests/executors/noise/test_above.py.
        """
        if leaf.kind != "pure" or leaf.factor != SEARCH_FACTOR:
            raise NoiseMismatch("a search for the first score above needs a `pure` leaf, factor 4")
        _, scale = _scaled(leaf)
        half = double_above(ceil(scale / 2))
        if 2 * half > LARGEST_SCALE:
            raise NoiseMismatch("the noise of this search is wider than can be drawn")
        self._take(leaf, self._draws(leaf, len(scores)))
        (threshold,) = self._sampler.discrete_laplace(half, 1)
        noise = self._sampler.discrete_laplace(2 * half, len(scores))
        for place, (score, drawn) in enumerate(zip(scores, noise, strict=True)):
            if index(score) + drawn >= threshold:
                return place
        return None

    def select(
        self,
        leaf: Leaf,
        scores: Sequence[int] | npt.NDArray[np.integer],
        sensitivity_int: int,
    ) -> list[int]:
        """`leaf.count` indices, drawn one after the other without replacement, largest preferred.

        Scores are integers that move by at most `sensitivity_int` between neighbours. Uses up a
        `br` leaf as a whole.
        """
        self._use(leaf, ("br",), leaf.count)
        return select(self._sampler, leaf.param, sensitivity_int, scores, leaf.count)

    def cap(self, leaf: Leaf) -> Filter:
        """The filter that may spend a `cap` leaf; it can be opened once."""
        if leaf.role != "cap":
            raise NoiseMismatch("a filter needs a leaf with the role of a cap")
        self._use(leaf, ("pure", "gdp", "zcdp"), 1)
        return Filter(self._sampler, leaf)

    def below(self, n: int) -> int:
        """A uniform integer in [0, n), for coins that are published."""
        return self._sampler.below(n)

    def _draws(self, leaf: Leaf, values: int) -> int:
        draws, rest = divmod(values, leaf.width)
        if rest or not draws:
            raise NoiseMismatch(f"the leaf noises {leaf.width} numbers at once")
        return draws

    def _use(self, leaf: Leaf, kinds: tuple[Kind, ...], draws: int) -> None:
        if leaf.kind not in kinds:
            raise NoiseMismatch(f"a `{leaf.kind}` leaf does not pay for this noise")
        if leaf.kind == "pure" and leaf.factor != 1:
            raise NoiseMismatch("a leaf with a factor does not pay for additive noise")
        self._take(leaf, draws)

    def _take(self, leaf: Leaf, draws: int) -> None:
        left = self._left.get(leaf)
        if left is None:
            raise NoiseMismatch("the statement has no such leaf")
        if draws > left:
            raise NoiseMismatch("the leaf is used up")
        self._left[leaf] = left - draws


def _scaled(leaf: Leaf) -> tuple[Fraction, Fraction]:
    if leaf.sensitivity is None or leaf.scale is None:
        raise NoiseMismatch("a leaf without a scale pays for no draw")
    return leaf.sensitivity, leaf.scale


def _integer_scale(leaf: Leaf) -> int:
    _, scale = _scaled(leaf)
    if scale.denominator != 1:
        raise NoiseMismatch("integer noise needs an integer scale")
    try:
        check_scale(int(scale))
    except ValueError as problem:
        raise NoiseMismatch(str(problem)) from None
    return int(scale)


def _added(
    values: Sequence[Value],
    domain: tuple[Value, Value] | None,
    noise: Sequence[int],
    grid: Grid,
) -> list[float]:
    steps = integers(values, grid, domain)
    return reals([step + drawn for step, drawn in zip(steps, noise, strict=True)], grid)


def _note(leaf: Leaf, law: Law, grid: Grid) -> NoiseNote:
    return NoiseNote(law, float(grid.width), leaf.role)
