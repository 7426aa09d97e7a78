"""The score of grouped survival records with the trace of its information."""

from __future__ import annotations

import numpy as np

from executors.statistics.survival import Groups, later, weights
from executors.statistics.survival_sums import Doubles, total

__all__ = ["score_and_trace", "score_of"]


def score_of(groups: Groups, floor: int) -> list[float]:
    """U = sum over events of w(Y) (z - mean of the risk set), d numbers.

    The mean weighs the Y records at risk by exp(b0.x), the event's own time included; w(Y) is
    min(1, Y / floor), and 1 for floor 0; z is x as the summary centres and scales it. Breslow's
    ties, no 1/n. Off by at most `score_error` in l2.
    """
    weight, at_risk = weights(groups, floor), later(groups.part("null"))[0]
    return [_score(groups, weight, at_risk, j)[0] for j in range(len(groups.part("seen")[0]))]


def score_and_trace(groups: Groups, floor: int) -> tuple[list[float], float]:
    """`score_of` with V = sum over events of w(Y)^2 times the trace of the risk set's covariance.

    V is off by at most `trace_error`.
    """
    weight, at_risk = weights(groups, floor), later(groups.part("null"))[0]
    score, square = [], np.zeros(len(weight))
    for j in range(len(groups.part("seen")[0])):
        found, mean = _score(groups, weight, at_risk, j)
        score.append(found)
        square += mean * mean
    trace = later(groups.part("square"))[0] / at_risk - square
    return score, total(weight * weight * groups.events * trace)


def _score(groups: Groups, weight: Doubles, at_risk: Doubles, j: int) -> tuple[float, Doubles]:
    """One coordinate of U, and its mean over each risk set."""
    mean = later(groups.part("score"), j)[0] / at_risk
    high, low = (part[j] for part in groups.part("seen"))
    return total(weight * (high + low - groups.events * mean)), mean
