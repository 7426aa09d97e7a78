"""What partial likelihoods need of each distinct time.

A query's columns are the DURATION, the EVENT, then the covariates. Its parameters are `domain` (a
`Domain`), `null` and `alternative` (the coefficients b0 and b1, one Fraction a covariate).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from executors.data.source import Clamp, Flag, Plain, Reader, Selection
from executors.pricing.survival_domain import Domain
from executors.statistics.survival_sums import Doubles, Integers, Pair, group_sums
from planner.facts import Column
from planner.mechanism import Query

__all__ = ["SurvivalGroups", "inside", "summarise"]


@dataclass(frozen=True, slots=True, eq=False)
class SurvivalGroups:
    """One entry a distinct time, ascending: a monoid under `plus`.

    `count` records with that time, `events` of them events; `gain` the sum of (b1-b0).y over the
    events; `null` and `alternative` the sums of exp(b0.y) and exp(b1.y) over all of them. y is x
    about the domain's centre. Sums are pairs of doubles, shape (g,) each.
    """

    time: Doubles
    count: Integers
    events: Integers
    gain: Pair
    null: Pair
    alternative: Pair

    @property
    def rows(self) -> int:
        """How many records were read."""
        return int(self.count.sum())

    def plus(self, other: SurvivalGroups) -> SurvivalGroups:
        """The summary of both tables together."""
        return _merged([self, other])


def inside(lo: Fraction, hi: Fraction) -> tuple[float, float]:
    """The least double at or above `lo`, the greatest at or below `hi`."""
    least, most = float(lo), float(hi)
    if Fraction(least) < lo:
        least = math.nextafter(least, math.inf)
    if Fraction(most) > hi:
        most = math.nextafter(most, -math.inf)
    return least, most


def summarise(query: Query, reader: Reader) -> SurvivalGroups:
    """The groups of all records, in one pass over the rows in any order.

    A record with a missing, infinite or unreadable value, a negative time or an event other than 0
    and 1 becomes (time 0, no event, x at the centre). A time beyond its range becomes a censoring
    at the upper end. Covariates are clamped to the box, then drawn into the ball.
    """
    parameters = dict(query.parameters)
    domain: Domain = parameters["domain"]
    slopes = _slopes(parameters["null"], parameters["alternative"])
    duration, event, *covariates = query.columns
    horizon = duration.hi
    if horizon is None:
        raise ValueError("a duration needs an upper end")
    selections: list[Selection] = [Plain(duration.name), Flag(event.name, None)]
    selections += [_clamp(c, domain, j) for j, c in enumerate(covariates)]
    center = np.array([float(value) for value in domain.center])
    parts = [
        _groups(*_records(batch, center, _radius(domain), float(horizon)), slopes)
        for batch in _filled(reader.batches(selections))
    ]
    return _merged(parts)


def _filled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return (batch for batch in batches if batch.num_rows)


def _slopes(null: tuple[Fraction, ...], alternative: tuple[Fraction, ...]) -> Doubles:
    """b1-b0, b0 and b1 as columns, shape (d, 3), each rounded once."""
    step = [b - a for a, b in zip(null, alternative, strict=True)]
    return np.array([[float(value) for value in row] for row in (step, null, alternative)]).T


def _clamp(column: Column, domain: Domain, place: int) -> Clamp:
    lo, hi = inside(domain.lo[place], domain.hi[place])
    return Clamp(column.name, lo, hi, None)


def _radius(domain: Domain) -> float | None:
    """A double a little inside the ball, so that rounding cannot leave it."""
    return None if domain.radius is None else float(domain.radius) * (1.0 - 2.0**-40)


def _records(
    batch: pa.RecordBatch, center: Doubles, radius: float | None, horizon: float
) -> tuple[Doubles, Doubles, Doubles]:
    """Times, events (0 or 1) and centred covariates, shapes (r,), (r,), (r, d), all neutralised."""
    time, event, *columns = (_doubles(column) for column in batch.columns)
    y = np.column_stack(columns) - center
    is_valid = np.isfinite(time) & (time >= 0.0) & np.isfinite(event)
    is_valid &= np.isfinite(y).all(axis=1)
    y[~is_valid] = 0.0
    if radius is not None:
        length = np.sqrt(np.einsum("ij,ij->i", y, y))
        y *= np.where(length > radius, radius / np.maximum(length, radius), 1.0)[:, None]
    is_late = is_valid & (time > horizon)
    time = np.where(is_valid, np.minimum(time, horizon), 0.0)
    return time, np.where(is_valid & ~is_late, event, 0.0), y


def _doubles(column: pa.Array) -> Doubles:
    """The column with NULL as NaN."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _groups(time: Doubles, event: Doubles, y: Doubles, slopes: Doubles) -> SurvivalGroups:
    exponent = y @ slopes
    zero = np.zeros(len(time))
    return _gathered(
        time + 0.0,  # -0.0 and 0.0 are one time
        np.ones(len(time), dtype=np.int64),
        event.astype(np.int64),
        (event * exponent[:, 0], zero),
        (np.exp(exponent[:, 1]), zero),
        (np.exp(exponent[:, 2]), zero),
    )


def _merged(parts: list[SurvivalGroups]) -> SurvivalGroups:
    if not parts:
        none, nothing = np.zeros(0), np.zeros(0, dtype=np.int64)
        return SurvivalGroups(none, nothing, nothing, *(((none, none),) * 3))
    if len(parts) == 1:
        return parts[0]

    def joined(pairs: list[Pair]) -> Pair:
        return np.concatenate([high for high, _ in pairs]), np.concatenate(
            [low for _, low in pairs]
        )

    return _gathered(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.events for part in parts]),
        joined([part.gain for part in parts]),
        joined([part.null for part in parts]),
        joined([part.alternative for part in parts]),
    )


def _gathered(
    time: Doubles, count: Integers, events: Integers, gain: Pair, null: Pair, alternative: Pair
) -> SurvivalGroups:
    """Entries in any order, sorted and added up by time."""
    order = np.argsort(time, kind="stable")
    time = time[order]
    starts = np.flatnonzero(np.r_[True, time[1:] != time[:-1]])
    sizes = np.diff(np.r_[starts, len(time)])

    def sums(pair: Pair) -> Pair:
        return group_sums((pair[0][order], pair[1][order]), sizes)

    return SurvivalGroups(
        time[starts],
        np.add.reduceat(count[order], starts),
        np.add.reduceat(events[order], starts),
        sums(gain),
        sums(null),
        sums(alternative),
    )
