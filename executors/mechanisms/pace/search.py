"""Choosing single pairs by their misfit, one after the other, to measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from executors.mechanisms.pace.first_stage import FirstStage
from executors.mechanisms.pace.journal import Journal
from executors.mechanisms.pace.params import PaceParams
from executors.mechanisms.pace.schedule import Schedule
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import GRID, PRODUCT
from executors.statistics.covariance_matrix import Matrix, Vector
from executors.statistics.entropy_graph import Entry, Reconstruction
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = [
    "SCORE_SENSITIVITY",
    "Candidates",
    "Searched",
    "candidates_of",
    "recentred",
    "scores",
    "search",
]

Integers = npt.NDArray[Any]

SCORE_SENSITIVITY = 2**33
"""How far one row moves a score: the length of the interval of a product, in its own unit L."""

_SAFE_ROWS = 2**27
_EACH_ROUND, _AT_THE_END = 1e-7, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs j < k, shape (m,); `reach` is 2^16 + max(|M_j|, |M_k|), in grid steps."""

    j: npt.NDArray[np.int64]
    k: npt.NDArray[np.int64]
    reach: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The fit to the measured pairs, after shrinkage, and all that was measured, before it."""

    fit: Reconstruction
    measured: Mapping[tuple[int, int], Entry]


def candidates_of(
    names: Sequence[str], pairs: Sequence[Sequence[str]] | None, steps: npt.NDArray[np.int64]
) -> Candidates:
    """The listed pairs, or all of them, in lexicographic order of their places."""
    if pairs is None:
        j, k = np.triu_indices(len(names), 1)
    else:
        at = {name: place for place, name in enumerate(names)}
        places = sorted(tuple(sorted(at[name] for name in pair)) for pair in pairs)
        j, k = (np.array(part, dtype=np.int64) for part in zip(*places, strict=True))
    own = np.abs(steps)
    return Candidates(j.astype(np.int64), k.astype(np.int64), GRID + np.maximum(own[j], own[k]))


def recentred(moments: Any, steps: npt.NDArray[np.int64], pairs: Candidates, rows: int) -> Integers:
    """sum (z_j - M_j)(z_k - M_k) of every pair, in exact integers: G - M S' - S M' + n M M'.

    |z|, |M| <= 2^16, so every term stays below n 2^32 <= 2^59 for n <= 2^27; beyond that Python's
    integers are used.
    """
    kind: Any = np.int64 if rows <= _SAFE_ROWS else object
    gram = moments.gram[pairs.j, pairs.k].astype(kind)
    total, about = moments.total.astype(kind), steps.astype(kind)
    crossed = about[pairs.j] * total[pairs.k] + total[pairs.j] * about[pairs.k]
    found: Integers = gram - crossed + rows * (about[pairs.j] * about[pairs.k])
    return found


def scores(secret: Integers, expected: Vector, pairs: Candidates, rows: int) -> Integers:
    """floor(2^16 |G - h| / reach) with h = round(n 2^32 expected), clipped to n 2^35.

    One row moves |G - h| by at most 2^17 reach, hence a score by at most 2^33. The product 2^16 |.|
    would leave 64 bits, so quotient and remainder are taken apart.
    """
    limit = rows * 2**35
    with np.errstate(all="ignore"):
        near = np.clip(np.rint(float(rows * PRODUCT) * expected), -float(limit), float(limit))
    if rows <= _SAFE_ROWS:
        aim: Integers = near.astype(np.int64)
    else:
        aim = np.array([int(value) for value in near], dtype=object)
    distance = np.abs(secret - aim)
    quotient = distance // pairs.reach
    rest = distance - quotient * pairs.reach
    found: Integers = quotient * GRID + rest * GRID // pairs.reach
    return found


def search(
    params: PaceParams,
    facts: Facts,
    allowance: Allowance,
    filtered: Any,
    moments: Any,
    first: FirstStage,
    journal: Journal,
) -> Searched:
    """Rounds of choosing and measuring until the allowance is empty.

    Every choice is charged before it is made, every measurement too; both depend on rows only
    through the integers handed to `filtered`. Proof: proof.md, claims 3, 5 and 6.
    """
    rows, people = facts.rows, facts.source.max_rows
    pairs = candidates_of(journal.names, params.pairs, first.steps)
    secret = recentred(moments, first.steps, pairs, rows)
    walls = 1.0 + np.abs(first.mean)
    fit = Reconstruction(first.variance, first.noise, float(params.gamma))
    rounds = 2 * len(facts.columns) if params.rounds == AUTO else params.rounds
    schedule = Schedule(allowance, rounds, params.anneal, params.maxrounds)
    choice = params.select if len(pairs.j) > 1 else Fraction(0)
    while not schedule.is_over:
        part = schedule.slice()
        place = 0
        if choice:
            place = _chosen(part.part(choice), people, filtered, secret, fit, pairs, rows, journal)
        j, k = int(pairs.j[place]), int(pairs.k[place])
        moved = 2 * GRID * int(pairs.reach[place]) * people
        scale = part.part(1 - choice).scale(moved)
        before = filtered.left
        (noisy,) = filtered.dgauss(moved, scale, [int(secret[place])])
        deviation = scale / (rows * PRODUCT)
        journal.draw(journal.title(j, k), before - filtered.left, scale, begins=not choice)
        value = float(noisy / (rows * PRODUCT))
        journal.pair(j, k, value, deviation)
        wall = walls[j] * walls[k]
        known = float(fit.sigma[j, k])
        fit.measure(j, k, float(np.clip(value, -wall, wall)), deviation**2, _EACH_ROUND)
        if abs(float(fit.sigma[j, k]) - known) <= sqrt(2.0 / pi) * deviation:
            schedule.anneal()
    last = fit if params.variant == "paper" else fit.shrunk()
    last.finish(_AT_THE_END)
    return Searched(last, fit.entries)


def _chosen(
    part: Allowance,
    people: int,
    filtered: Any,
    secret: Integers,
    fit: Reconstruction,
    pairs: Candidates,
    rows: int,
    journal: Journal,
) -> int:
    """The place of a pair, drawn by the exponential mechanism on its misfit."""
    eta = part.eta()
    expected: Matrix = fit.sigma[pairs.j, pairs.k]
    before = filtered.left
    (place,) = filtered.select(
        eta, SCORE_SENSITIVITY * people, scores(secret, expected, pairs, rows), 1
    )
    journal.selection(before - filtered.left, float(2 * SCORE_SENSITIVITY * people / eta))
    return int(place)
