"""How likely a two-group test is to reject, if survival is exponential in both groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from executors.statistics.score_forecast import Outlook

__all__ = ["Expected", "GroupsOutlook", "expected"]

LARGEST_EFFECT = 30.0
"""Beyond such a logarithm of a hazard ratio one group is gone before the other has begun."""
POINTS = 2000


@dataclass(frozen=True, slots=True)
class Expected:
    """Of a two-group score per record: its mean, its variance, and the trace that is released."""

    mean: float
    variance: float
    trace: float


def expected(share: float, effect: float, event_rate: float, riskfloor: float) -> Expected:
    """The moments for many records, of whom `share` are in the second group.

    Hazards are 1 and h = e^effect, censoring has one rate c in both groups, such that a share
    `event_rate` of all events is seen. With y0, y1 the shares of the records at risk in each group
    at time t, p = y1 / (y0 + y1) and w = min(1, (y0 + y1) / riskfloor), the mean is the integral of
    w (y0 + y1) p (1-p) (h - 1); the small group thins out as it dies, so it is no straight line.
    The variance is that of a record's influence: w (x - p) at its event, less w (x - p) times the
    pooled hazard while it is at risk, and its part in w.
    """
    hazard = math.exp(min(max(effect, -LARGEST_EFFECT), LARGEST_EFFECT))
    censoring = _censoring(share, hazard, event_rate)
    first, second = 1.0 + censoring, hazard + censoring
    logs, step = np.linspace(
        math.log(1e-6 / max(first, second)),
        math.log(40.0 / min(first, second)),
        POINTS,
        retstep=True,
    )
    time = np.exp(logs)
    y0, y1 = (1.0 - share) * np.exp(-first * time), share * np.exp(-second * time)
    at_risk = np.maximum(y0 + y1, 1e-300)
    p = y1 / at_risk
    weight = np.minimum(1.0, at_risk / riskfloor) if riskfloor else np.ones(POINTS)
    cell, spread = float(step) * time, p * (1.0 - p)
    gain = at_risk * spread * (hazard - 1.0)
    rate = p * hazard + 1.0 - p
    # By how much one record at risk more moves the weights.
    lift = np.where(at_risk < riskfloor, gain / riskfloor, 0.0) if riskfloor else np.zeros(POINTS)
    first_moment = second_moment = 0.0
    for member, at, own in ((0.0, y0, 1.0), (1.0, y1, hazard)):
        event = weight * (member - p)
        part = cell * (lift - event * rate)
        until = np.cumsum(part) - part / 2.0
        seen, lost = cell * own * at, cell * censoring * at
        first_moment += float((seen * (event + until) + lost * until).sum())
        second_moment += float((seen * (event + until) ** 2 + lost * until**2).sum())
    return Expected(
        mean=float((cell * weight * gain).sum()),
        variance=max(second_moment - first_moment**2, 0.0),
        trace=float((cell * weight**2 * spread * at_risk * rate).sum()),
    )


def _censoring(share: float, hazard: float, event_rate: float) -> float:
    """The rate of censoring that lets a share `event_rate` of the events be seen, by bisection."""
    least, most = -150.0, 150.0
    for _ in range(100):
        middle = (least + most) / 2.0
        rate = math.exp(middle)
        if share * hazard / (hazard + rate) + (1.0 - share) / (1.0 + rate) > event_rate:
            least = middle
        else:
            most = middle
    return math.exp(least)


@dataclass(frozen=True)
class GroupsOutlook(Outlook):
    """What a two-group test may expect; a radius is the size of a log hazard ratio.

    `share` of the records are in the second group, which dies sooner for `sign` 1, later for -1.
    """

    share: float
    sign: float

    def power(self, radius: float) -> float:
        """The chance of a rejection."""
        found = expected(self.share, self.sign * radius, self.event_rate, self.riskfloor)
        mean = math.sqrt(self.design.rows) * found.mean
        return self.passes(self.limit_at(found.trace), mean, math.sqrt(found.variance))
