"""What is noised of a survival table: hazards and ends of records, in equal bins of time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from executors.statistics.survival_sums import Doubles, Integers
from executors.summaries.survival_groups import SurvivalGroups

__all__ = ["STEPS", "Leaves", "edges", "leaves"]

STEPS = 2**50
"""Steps of the grid of a hazard, so that its sum is one integer on every machine."""

_AT_ONCE = 1 << 20
"""So many events are taken at a time, so that a bin of many needs little memory."""


@dataclass(frozen=True, slots=True)
class Leaves:
    """One entry a bin: `hazard` in steps of 2^-50, `ended` the records whose time lies in it."""

    hazard: tuple[int, ...]
    ended: tuple[int, ...]


def edges(horizon: Fraction, bins: int) -> Doubles:
    """The ends t_1 < ... < t_B, shape (B,), each the double nearest to j horizon / B."""
    return np.array([float(horizon * j / bins) for j in range(1, bins + 1)])


def leaves(groups: SurvivalGroups, horizon: Fraction, bins: int, floor: int) -> Leaves:
    """The leaves of bins (t_(j-1), t_j], the first with time 0.

    Records are ordered by time, events before censorings at one time; an event counts
    floor(2^50 / max(Y, q)) steps, Y the records from it on, itself included. A time beyond the
    horizon, or a censoring at it, is at risk throughout and ends in no bin.
    """
    ends = edges(horizon, bins)
    at_risk = groups.count[::-1].cumsum()[::-1]
    stops = np.searchsorted(groups.time, ends, side="right")
    hazard, ended = [], []
    start = 0
    for stop in stops.tolist():
        part = slice(start, stop)
        hazard.append(_steps(at_risk[part], groups.events[part], floor))
        ended.append(int(groups.count[part].sum()))
        start = stop
    last = groups.time == ends[-1]
    ended[-1] -= int((groups.count[last] - groups.events[last]).sum())
    return Leaves(tuple(hazard), tuple(ended))


def _steps(at_risk: Integers, events: Integers, floor: int) -> int:
    """The sum over groups of floor(2^50 / max(Y - k, q)), k = 0, ..., events - 1."""
    ends = events.cumsum()
    total, found = int(events.sum()), 0
    for start in range(0, total, _AT_ONCE):
        event = np.arange(start, min(start + _AT_ONCE, total))
        group = np.searchsorted(ends, event, side="right")
        left = at_risk[group] - (event - (ends[group] - events[group]))
        found += int((STEPS // np.maximum(left, floor)).sum())
    return found
