"""Whether two noisy cumulative hazards differ: computed from two releases alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from executors.statistics.hazard_noise import DRAWS, noise_draws, normal_draws
from executors.statistics.hazard_site import SiteCurve
from executors.statistics.hazard_tree import Doubles

__all__ = ["Comparison", "Verdict", "compare", "comparison"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared, up to the last time at which both curves are reliable.

    `reach` is j*, the number of bins compared (0: none); `variance` the sampling variance of each
    bin's difference under equal hazards, shape (j*,); `null` draws of the difference of the curves
    under equal hazards, shape (draws, j*).
    """

    reach: int
    variance: Doubles
    null: Doubles

    def threshold(self, level: float) -> float:
        """The (1 - level) quantile of the largest absolute difference under equal hazards."""
        return float(np.quantile(np.abs(self.null).max(axis=1), 1.0 - level))

    def power(self, difference: Doubles, level: float) -> float:
        """How often the largest absolute difference passes the threshold, if this is added."""
        moved = np.abs(self.null + difference[: self.reach]).max(axis=1)
        return float((moved >= self.threshold(level)).mean())


@dataclass(frozen=True, slots=True)
class Verdict:
    """The test: `statistic` and `threshold` are None where nothing could be compared."""

    reach: int
    statistic: float | None
    threshold: float | None
    p_value: float

    @property
    def is_conclusive(self) -> bool:
        """Whether anything was compared."""
        return self.statistic is not None


def comparison(first: SiteCurve, second: SiteCurve, draws: int = DRAWS) -> Comparison:
    """The null law of the difference of two curves; their noise laws may differ.

    Pooled curve: the mean with weights 1 / (scale^2 + 1/n), clipped at 0, never falling. Each of
    its steps has the variance step x (1/Y_1 + 1/Y_2). The draws are the same each time.
    """
    sites = (first, second)
    reach = min(first.reliable(), second.reliable())
    weights = [1.0 / (site.hazard_scale**2 + 1.0 / site.value.n) for site in sites]
    mean = (weights[0] * first.hazard + weights[1] * second.hazard) / sum(weights)
    steps = np.diff(np.maximum.accumulate(np.maximum(mean, 0.0)), prepend=0.0)
    variance = (steps * sum(1.0 / site.least_at_risk() for site in sites))[:reach]
    null = (normal_draws(first.bins, draws)[:, :reach] * np.sqrt(variance)).cumsum(axis=1)
    for stream, (site, sign) in enumerate(zip(sites, (1.0, -1.0)), start=1):
        drawn = noise_draws(site.value.tree, site.hazard_law, site.bins, draws, stream)
        null += sign * site.hazard_scale * drawn[:, :reach]
    return Comparison(reach, variance, null)


def compare(first: SiteCurve, second: SiteCurve, level: float, draws: int = DRAWS) -> Verdict:
    """The largest difference up to the last reliable time, against draws under equal hazards.

    p = (1 + draws at least as large) / (draws + 1). Where no time is reliable, p = 1.
    """
    found = comparison(first, second, draws)
    if not found.reach:
        return Verdict(0, None, None, 1.0)
    largest = np.abs(found.null).max(axis=1)
    statistic = float(np.abs(first.hazard - second.hazard)[: found.reach].max())
    p_value = (1 + int((largest >= statistic).sum())) / (draws + 1)
    return Verdict(found.reach, statistic, found.threshold(level), p_value)
