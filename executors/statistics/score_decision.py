"""From a noisy score and its noisy trace to a decision with a p-value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from executors.statistics.score_law import ScoreNoise
from executors.statistics.survival_decision import Noise

__all__ = ["Judge"]

TRACE_SHARE = 0.1
"""The part of the level that pays for the chance that the trace comes out too small."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The test at one level: noise over the root of n, and what is known of the trace.

    `trace` is the noise on V over the number of its rows, None where no trace is released; then
    the largest possible trace is assumed.
    """

    level: float
    score: ScoreNoise
    trace: Noise | None
    largest_trace: float

    @property
    def trace_level(self) -> float:
        """alpha_2, the chance allowed for a trace that is too small."""
        return 0.0 if self.trace is None else TRACE_SHARE * self.level

    @property
    def lift(self) -> float:
        """By how much a noisy trace is raised: it is then too small with chance alpha_2."""
        if self.trace is None:
            return 0.0
        if self.trace.law == "laplace":
            return -self.trace.scale * math.log(2.0 * self.trace_level)
        return -self.trace.scale * NormalDist().inv_cdf(self.trace_level)

    def upper_trace(self, found: float | None) -> float:
        """tau: an upper bound of the trace of the covariance, from V over its rows."""
        if found is None:
            return self.largest_trace
        return min(max(found + self.lift, 0.0), self.largest_trace)

    def p_value(self, length: float, trace: float) -> float:
        """The p-value of a score of this length over the root of n; reject where <= level."""
        return min(1.0, self.score.tail(max(length, 0.0), trace) + self.trace_level)

    def threshold(self, trace: float) -> float:
        """A length over the root of n whose p-value is at most the level."""
        return self.score.threshold(self.level - self.trace_level, trace)
