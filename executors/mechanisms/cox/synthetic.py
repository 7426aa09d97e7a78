"""Moments of the statistic on synthetic tables; no row of any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from executors.mechanisms.cox.design import Design
from executors.pricing.survival import floor_count
from executors.pricing.survival_domain import Domain
from executors.statistics.draws import row_chunks
from executors.statistics.survival_sums import Doubles

__all__ = ["SEED", "Moments", "Synthetic"]

Truths: TypeAlias = npt.NDArray[np.bool_]

SEED = 20261130
"""Recorded, so that a plan made twice is the same plan."""

TABLES, MOST_ROWS, DRAWS = 40, 2000, 20_000


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and standard deviation of the statistic without noise, each with its standard error."""

    mean: float
    deviation: float
    mean_error: float
    deviation_error: float


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Tables of at most 2,000 records, 80,000 in all, where b = null + share (truth - null) holds.

    Covariates are uniform on the domain, stretched about its centre until (truth-null).x has the
    standard deviation `spread`; event times are exponential with rate exp(b.x), censoring times
    exponential with the rate that lets a share `event_rate` of the events be seen.
    """

    domain: Domain
    rows: int
    null: tuple[Fraction, ...]
    truth: tuple[Fraction, ...]
    riskfloor: Fraction
    event_rate: float
    spread: float
    share: Fraction = Fraction(1)

    def moments(self, design: Design) -> Moments:
        """The moments of the design's statistic, scaled from the tables' size to the real one."""
        return _moments(self, design)

    def toward(self, share: Fraction) -> Synthetic:
        """The same people, if the truth is null + share (truth - null)."""
        return replace(self, share=share)


@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """null.y, (truth-null).y and whether an event is seen, shape (tables, m), latest time first.

    y are the centred covariates. `null_sums` are the logarithms of the sums of exp(null.y) over
    those at risk.
    """

    null: Doubles
    step: Doubles
    is_event: Truths
    null_sums: Doubles


@lru_cache(maxsize=256)
def _moments(synthetic: Synthetic, design: Design) -> Moments:
    drawn = _tables(replace(synthetic, riskfloor=Fraction(0)))
    tables, size = drawn.is_event.shape
    values = _ratios(drawn, float(design.shrink), floor_count(synthetic.riskfloor, size))
    scale = synthetic.rows / size
    deviation = float(values.std(ddof=1))
    return Moments(
        mean=float(values.mean()) * scale,
        deviation=deviation * math.sqrt(scale),
        mean_error=deviation / math.sqrt(tables) * scale,
        deviation_error=deviation / math.sqrt(2.0 * (tables - 1)) * math.sqrt(scale),
    )


@lru_cache(maxsize=4)
def _tables(synthetic: Synthetic) -> _Tables:
    null, domain, share = synthetic.null, synthetic.domain, float(synthetic.share)
    size = min(synthetic.rows, MOST_ROWS)
    tables = max(TABLES, TABLES * MOST_ROWS // size)
    rng = np.random.default_rng(SEED)
    effect = [float(b - a) for a, b in zip(null, synthetic.truth, strict=True)]
    ways = np.array([[float(value) for value in null], effect])
    sample = _scores(domain, ways, DRAWS, rng)
    found = float(np.std(sample[1]))
    stretch = synthetic.spread / found if found > 0.0 else 1.0
    censoring = _censoring_rate(stretch * (sample[0] + share * sample[1]), synthetic.event_rate)
    here = stretch * _scores(domain, ways, tables * size, rng).reshape(2, tables, size)
    event_time = np.log(rng.standard_exponential((tables, size))) - here[0] - share * here[1]
    censor_time = np.log(rng.standard_exponential((tables, size))) - censoring
    order = np.argsort(-np.minimum(event_time, censor_time), axis=1)
    null_scores, step = (np.take_along_axis(scores, order, axis=1) for scores in here)
    is_event = np.take_along_axis(event_time <= censor_time, order, axis=1)
    return _Tables(null_scores, step, is_event, np.logaddexp.accumulate(null_scores, axis=1))


def _ratios(drawn: _Tables, shrink: float, floor: int) -> Doubles:
    """The statistic of each table against null + shrink (truth - null), shape (tables,)."""
    gain = shrink * drawn.step
    drop = np.logaddexp.accumulate(drawn.null + gain, axis=1) - drawn.null_sums
    at_risk = np.arange(1, gain.shape[1] + 1)
    weight = np.minimum(1.0, at_risk / floor) if floor else np.ones(gain.shape[1])
    terms = drawn.is_event * weight * (gain - drop)
    return np.asarray(terms.sum(axis=1), dtype=np.float64)


def _scores(domain: Domain, ways: Doubles, size: int, rng: np.random.Generator) -> Doubles:
    """Points uniform on the domain, about its centre, times each row of `ways`: (2, size).

    A few at a time: so many points of thousands of columns would not fit into memory.
    """
    chunks = row_chunks(size, ways.shape[1])
    parts = [np.einsum("ij,kj->ki", _uniform(domain, some, rng), ways) for some in chunks]
    return np.concatenate(parts, axis=1)


def _uniform(domain: Domain, size: int, rng: np.random.Generator) -> Doubles:
    """Points uniform on the domain, about its centre, shape (size, d)."""
    lo = np.array([float(a - c) for a, c in zip(domain.lo, domain.center)])
    hi = np.array([float(b - c) for b, c in zip(domain.hi, domain.center)])
    if domain.radius is None:
        return rng.uniform(lo, hi, (size, len(lo)))
    # A point of the ball; one outside the box is moved to its edge, which a forecast can bear.
    direction = rng.standard_normal((size, len(lo)))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = float(domain.radius) * rng.random((size, 1)) ** (1.0 / len(lo))
    return np.clip(direction * length, lo, hi)


def _censoring_rate(score: Doubles, event_rate: float) -> float:
    """log of the rate c with mean e^s / (e^s + c) = event_rate, by bisection."""

    def share(log_rate: float) -> float:
        return float(np.mean(_logistic(score - log_rate)))

    least, most = float(score.min()) - 50.0, float(score.max()) + 50.0
    for _ in range(80):
        middle = (least + most) / 2.0
        if share(middle) > event_rate:
            least = middle
        else:
            most = middle
    return (least + most) / 2.0


def _logistic(value: Doubles) -> Doubles:
    return np.asarray(0.5 * (1.0 + np.tanh(value / 2.0)), dtype=np.float64)
