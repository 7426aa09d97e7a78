"""What survival statements need of each distinct time.

Beside `domain` (see `survival_records`) a query's parameters are `parts`, any of "ratio" and
"score", and what these need: `null` and `alternative`, the coefficients b0 and b1, one Fraction a
covariate, and `scale`, by which a score multiplies each covariate (None: 1). Without parts only
times, records and events are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from executors.data.source import Reader
from executors.pricing.survival_domain import Domain
from executors.statistics.survival_sums import (
    LONGEST_RUN,
    Doubles,
    Integers,
    Pair,
    group_sums,
    levels_for,
    pair_of,
)
from executors.summaries.survival_records import Records, records
from planner.mechanism import Query

__all__ = ["Layout", "SurvivalGroups", "gather", "summarise"]

PENDING = 1 << 22
"""So many entries wait before they are merged, so that tied times need little memory."""


@dataclass(frozen=True)
class Layout:
    """Which sums are kept, by name in the order of their rows; all of it is public."""

    parts: tuple[str, ...]
    null: tuple[Fraction, ...]
    alternative: tuple[Fraction, ...]
    scale: tuple[Fraction, ...] | None
    levels: int

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Layout:
        """The layout that a query asks for."""
        parts = parameters.get("parts", ("ratio",))
        domain: Domain = parameters["domain"]
        null, alternative = parameters.get("null", ()), parameters.get("alternative", ())
        used = [side for side in (null, alternative) if side]
        spread = max((float(domain.width(side)) for side in used), default=0.0)
        return cls(parts, null, alternative, parameters.get("scale"), levels_for(spread))

    @cached_property
    def places(self) -> dict[str, slice]:
        """The rows of each name."""
        d = len(self.null)
        sizes = {"null": 1} if self.parts else {}
        if "ratio" in self.parts:
            sizes |= {"alternative": 1, "gain": 1}
        if "score" in self.parts:
            sizes |= {"seen": d, "score": d, "square": 1}
        places, start = {}, 0
        for name, size in sizes.items():
            places[name] = slice(start, start + size)
            start += size
        return places

    @cached_property
    def size(self) -> int:
        """The number of rows."""
        return max((place.stop for place in self.places.values()), default=0)

    def fill(self, found: Records) -> Doubles:
        """The terms of each record, shape (rows, r)."""
        terms = np.empty((self.size, len(found.time)))
        if not self.parts:
            return terms
        null = terms[self.places["null"]]
        null[:] = np.exp(_row(self.null) @ found.y)
        if "ratio" in self.parts:
            step = [b - a for a, b in zip(self.null, self.alternative, strict=True)]
            terms[self.places["alternative"]] = np.exp(_row(self.alternative) @ found.y)
            terms[self.places["gain"]] = found.event * (_row(step) @ found.y)
        if "score" in self.parts:
            z = found.y if self.scale is None else found.y * _row(self.scale).T
            np.multiply(found.event, z, out=terms[self.places["seen"]])
            np.multiply(null, z, out=terms[self.places["score"]])
            terms[self.places["square"]] = null * np.einsum("ji,ji->i", z, z)
        return terms


@dataclass(frozen=True, slots=True, eq=False)
class SurvivalGroups:
    """One entry a distinct time, ascending: a monoid under `plus`.

    `count` records with that time, `events` of them events. `sums` are pairs of doubles of shape
    (rows, g), whose rows `layout` names: see `part`.
    """

    time: Doubles
    count: Integers
    events: Integers
    sums: Pair
    layout: Layout

    @property
    def rows(self) -> int:
        """How many records were read."""
        return int(self.count.sum())

    def part(self, name: str) -> Pair:
        """The sums of one name, shape (k, g); y is x about the domain's centre, z = scale y.

        `null` and `alternative`: exp(b0.y) and exp(b1.y) over all records of the time; `gain`:
        (b1-b0).y over its events; `seen`: z over its events; `score`: exp(b0.y) z over all;
        `square`: exp(b0.y) |z|^2 over all.
        """
        place = self.layout.places[name]
        return self.sums[0][place], self.sums[1][place]

    def plus(self, other: SurvivalGroups) -> SurvivalGroups:
        """The summary of both tables together."""
        return _merged([self, other], self.layout)


def summarise(query: Query, reader: Reader) -> SurvivalGroups:
    """The groups of all records, in one pass over the rows in any order."""
    return gather(records(query, reader), Layout.of(dict(query.parameters)))


def gather(batches: Iterable[Records], layout: Layout) -> SurvivalGroups:
    """The groups of all records in batches of at most 65,536."""
    return _merged(list(_folded((_groups(found, layout) for found in batches), layout)), layout)


def _folded(parts: Iterator[SurvivalGroups], layout: Layout) -> Iterator[SurvivalGroups]:
    """The parts, those that wait merged whenever they have grown to twice what was merged."""
    waiting: list[SurvivalGroups] = []
    size, limit = 0, PENDING
    for part in parts:
        waiting.append(part)
        size += len(part.time)
        if size >= limit or len(waiting) == LONGEST_RUN:
            waiting = [_merged(waiting, layout)]
            size = len(waiting[0].time)
            limit = max(PENDING, 2 * size)
    yield from waiting


def _row(values: Iterable[Fraction]) -> Doubles:
    """One row of coefficients, each rounded once, shape (1, d)."""
    return np.array([[float(value) for value in values]])


def _groups(found: Records, layout: Layout) -> SurvivalGroups:
    counts = np.ones(len(found.time), dtype=np.int64)
    terms = pair_of(layout.fill(found))
    return _gathered(found.time, counts, found.event.astype(np.int64), terms, layout)


def _merged(parts: list[SurvivalGroups], layout: Layout) -> SurvivalGroups:
    if len(parts) == 1:
        return parts[0]
    none, nothing = np.zeros(0), np.zeros(0, dtype=np.int64)
    if not parts:
        empty = np.zeros((layout.size, 0))
        return SurvivalGroups(none, nothing, nothing, (empty, empty), layout)
    high = np.concatenate([part.sums[0] for part in parts], axis=1)
    lows = [part.sums[1] for part in parts]
    is_exact = not any(any(low.strides) for low in lows)
    return _gathered(
        np.concatenate([part.time for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.events for part in parts]),
        pair_of(high) if is_exact else (high, np.concatenate(lows, axis=1)),
        layout,
    )


def _gathered(
    time: Doubles, count: Integers, events: Integers, terms: Pair, layout: Layout
) -> SurvivalGroups:
    """Entries in any order, sorted and added up by time."""
    order = np.argsort(time, kind="stable")
    time = time[order]
    starts = np.flatnonzero(np.r_[True, time[1:] != time[:-1]])
    sizes = np.diff(np.r_[starts, len(time)])
    high = np.take(terms[0], order, axis=1)
    pair = (high, np.take(terms[1], order, axis=1)) if any(terms[1].strides) else pair_of(high)
    return SurvivalGroups(
        time[starts],
        np.add.reduceat(count[order], starts),
        np.add.reduceat(events[order], starts),
        group_sums(pair, sizes, layout.levels),
        layout,
    )
