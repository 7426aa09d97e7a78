"""How the power of the test grows with the effect, by simulation and interpolation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from executors.mechanisms.cox.design import Design
from executors.mechanisms.cox.synthetic import Moments, Synthetic
from executors.statistics.survival_decision import Noise, Rule, power, threshold

__all__ = ["Outlook"]

WANTED = 0.8
"""The power at which an effect counts as detectable."""
FARTHEST = Fraction(4)
"""Effects beyond so many times the alternative are not searched."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """A priced test, with people among whom the second coefficients may be true."""

    design: Design
    synthetic: Synthetic
    noise: Noise
    level: float
    rule: Rule

    @property
    def limit(self) -> float:
        """The threshold of the noisy statistic."""
        return threshold(self.level, self.noise, self.rule)

    @property
    def noise_deviation(self) -> float:
        """The standard deviation of the noise."""
        return self.noise.scale * (math.sqrt(2.0) if self.noise.law == "laplace" else 1.0)

    def noise_to_sampling(self, moments: Moments) -> float | None:
        """The deviation of the noise over that of the statistic; None where that is always 0."""
        return self.noise_deviation / moments.deviation if moments.deviation > 0 else None

    def power(self, moments: Moments) -> float:
        """The chance of a rejection."""
        return power(self.limit, moments.mean, moments.deviation, self.noise)

    def power_error(self, moments: Moments) -> float:
        """The standard error of `power`, which rests on simulated moments."""
        mean, deviation = moments.mean, moments.deviation
        left, right = mean - moments.mean_error, mean + moments.mean_error
        low = max(deviation - moments.deviation_error, 0.0)
        high = deviation + moments.deviation_error
        by_mean = power(self.limit, right, deviation, self.noise) - power(
            self.limit, left, deviation, self.noise
        )
        by_deviation = power(self.limit, mean, high, self.noise) - power(
            self.limit, mean, low, self.noise
        )
        return math.hypot(by_mean, by_deviation) / 2.0

    def detectable(self) -> float | None:
        """The least multiple of the step b1 - b0 with a power of 80 %, to two digits.

        None where four times the step do not suffice. The power is found at multiples that are
        halved or doubled, then taken as linear between two that are a fifth apart.
        """
        high = Fraction(1)
        while self._at(high) < WANTED:
            high *= 2
            if high > FARTHEST:
                return None
        low = high / 2
        while low > Fraction(1, 64) and self._at(low) >= WANTED:
            low, high = low / 2, low
        for _ in range(2):
            middle = (low + high) / 2
            low, high = (middle, high) if self._at(middle) < WANTED else (low, middle)
        below, above = self._at(low), self._at(high)
        if below >= WANTED:
            return float(f"{float(high):.2g}")
        share = (WANTED - below) / (above - below)
        return float(f"{float(low) + share * float(high - low):.2g}")

    def _at(self, share: Fraction) -> float:
        return self.power(self.synthetic.toward(share).moments(self.design))
