"""Survival records as a source holds them, made valid one by one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa

from executors.data.source import Clamp, Flag, Level, Plain, Reader, Selection
from executors.pricing.survival_domain import Domain
from executors.statistics.survival_sums import Doubles
from planner.facts import Column
from planner.mechanism import Query

__all__ = ["Records", "inside", "records"]


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """`time`, `event` (0 or 1), shape (r,), and centred covariates `y`, shape (d, r)."""

    time: Doubles
    event: Doubles
    y: Doubles

    def slice(self, start: int, stop: int) -> Records:
        """The records from `start` up to `stop`."""
        return Records(self.time[start:stop], self.event[start:stop], self.y[:, start:stop])


def records(query: Query, reader: Reader) -> Iterator[Records]:
    """Batches of at most 65,536 records, in row order, none of them empty.

    A query's columns are the DURATION, the EVENT, then the covariates; its parameter `domain` is
    the covariates' `Domain`. A record with a missing, infinite or unreadable value, a negative time
    or an event other than 0 and 1 becomes (time 0, no event, x at the centre). A time beyond its
    range becomes a censoring at the upper end. Covariates are clamped to the box, then drawn into
    the ball. A category of two levels counts as 0 and 1. Raises ValueError for a duration without
    an upper end.
    """
    domain: Domain = dict(query.parameters)["domain"]
    duration, event, *covariates = query.columns
    if duration.hi is None:
        raise ValueError("a duration needs an upper end")
    selections: list[Selection] = [Plain(duration.name), Flag(event.name, None)]
    selections += [_selection(column, domain, j) for j, column in enumerate(covariates)]
    center = np.array([[float(value)] for value in domain.center]).reshape(-1, 1)
    for batch in reader.batches(selections):
        if batch.num_rows:
            yield _valid(batch, center, _radius(domain), float(duration.hi))


def inside(lo: Fraction, hi: Fraction) -> tuple[float, float]:
    """The least double at or above `lo`, the greatest at or below `hi`."""
    least, most = float(lo), float(hi)
    if Fraction(least) < lo:
        least = math.nextafter(least, math.inf)
    if Fraction(most) > hi:
        most = math.nextafter(most, -math.inf)
    return least, most


def _selection(column: Column, domain: Domain, place: int) -> Selection:
    if column.type == "category":
        return Level(column.name, column.levels, None)
    lo, hi = inside(domain.lo[place], domain.hi[place])
    return Clamp(column.name, lo, hi, None)


def _radius(domain: Domain) -> float | None:
    """A double a little inside the ball, so that rounding cannot leave it."""
    return None if domain.radius is None else float(domain.radius) * (1.0 - 2.0**-40)


def _valid(batch: pa.RecordBatch, center: Doubles, radius: float | None, horizon: float) -> Records:
    time, event, *columns = (_doubles(column) for column in batch.columns)
    y = np.array(columns).reshape(len(columns), len(time)) - center
    is_valid = np.isfinite(time) & (time >= 0.0) & np.isfinite(event)
    is_valid &= np.isfinite(y).all(axis=0)
    y[:, ~is_valid] = 0.0
    if radius is not None:
        length = np.sqrt(np.einsum("ji,ji->i", y, y))
        y *= np.where(length > radius, radius / np.maximum(length, radius), 1.0)
    is_late = is_valid & (time > horizon)
    time = np.where(is_valid, np.minimum(time, horizon), 0.0)
    # -0.0 and 0.0 are one time.
    return Records(time + 0.0, np.where(is_valid & ~is_late, event, 0.0), y)


def _doubles(column: pa.Array) -> Doubles:
    """The column with NULL as NaN."""
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
