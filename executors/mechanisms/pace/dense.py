"""One release, or two, of all correlations of rows that are shortened to a ball."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from executors.mechanisms.pace.first_stage import FirstStage
from executors.mechanisms.pace.journal import Journal
from executors.mechanisms.pace.params import PaceParams
from executors.mechanisms.pace.rules import all_pairs_rho, clipping
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import PRODUCT, ball_limit
from executors.pricing.covariance_columns import box_of
from executors.release import NoiseNote
from executors.statistics.covariance_matrix import (
    Matrix,
    from_triangle,
    projected,
    scaled,
    triangle,
)
from executors.statistics.covariance_scales import Scales, scales_of
from executors.statistics.covariance_shrinkage import shrunk
from planner.calculus.leaves import Leaf
from planner.facts import Facts
from planner.mechanism import Query

__all__ = [
    "Correlations",
    "Dense",
    "again",
    "assembled",
    "ball_query",
    "measure_all",
    "public_scales",
]


@dataclass(frozen=True, slots=True, eq=False)
class Correlations:
    """Noisy mean products of rescaled rows, zero diagonal; noise `deviation` a pair."""

    noisy: Matrix
    deviation: float
    scales: Scales


@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """The matrix in the unit box, its noise a pair before shrinkage, the rule that shrank it."""

    matrix: Matrix
    deviation: Matrix
    rule: str


def public_scales(params: PaceParams, facts: Facts, first: FirstStage, leaf: Leaf) -> Scales:
    """The row map for all pairs, from released variances and the price of the first leaf."""
    average = float(first.raw[list(first.places)].mean())
    clip = clipping(facts, all_pairs_rho(params, leaf))
    return scales_of(first.variance, average, first.deviation, first.mean, clip)


def ball_query(params: PaceParams, facts: Facts, first: FirstStage, scales: Scales) -> Query:
    """The Gram matrix of rows (z - mean) / s shortened to the ball; every parameter is public."""
    box = box_of(params.center, facts)
    center = tuple(
        c + half * Fraction(float(mean))
        for c, half, mean in zip(box.center, box.half, first.mean, strict=True)
    )
    scale = tuple(half * Fraction(float(s)) for half, s in zip(box.half, scales.s, strict=True))
    radius = Fraction(float(np.sqrt(scales.square)))
    return Query(
        "ball_moments",
        facts.columns,
        (
            ("center", center),
            ("radius", radius),
            ("unit", radius),
            ("limit", ball_limit(len(facts.columns))),
            ("scale", scale),
        ),
    )


def measure_all(
    facts: Facts, leaf: Leaf, moments: Any, scales: Scales, noise: Any, journal: Journal
) -> Correlations:
    """Draw the leaf on every pair. Proof: proof.md, claim 4."""
    noisy = noise.dgauss(leaf, triangle(moments.gram))
    journal.leaf(leaf, "all pairs")
    return _written(facts, noisy, Fraction(leaf.scale or 0), scales, journal)


def again(
    facts: Facts,
    allowance: Allowance,
    filtered: Any,
    moments: Any,
    pilot: Correlations,
    journal: Journal,
) -> Correlations:
    """A second release of every pair with all that is left, joined with the pilot by precision."""
    moved = facts.source.max_rows * ball_limit(len(facts.columns))
    scale = allowance.scale(moved)
    before = filtered.left
    noisy = filtered.dgauss(moved, scale, triangle(moments.gram))
    journal.draw("all pairs", before - filtered.left, scale, begins=True)
    second = _written(facts, noisy, Fraction(scale), pilot.scales, journal)
    weights = np.array([pilot.deviation**-2.0, second.deviation**-2.0])
    total = float(weights.sum())
    joined = (weights[0] * pilot.noisy + weights[1] * second.noisy) / total
    return Correlations(joined, total**-0.5, pilot.scales)


def assembled(first: FirstStage, found: Correlations) -> Dense:
    """PSD(s M s + diag y), M the shrunk correlations."""
    best = shrunk(found.noisy, found.deviation)
    s = found.scales.s
    matrix = projected(scaled(best.matrix, s) + np.diag(first.variance))
    return Dense(matrix, scaled(np.full_like(matrix, found.deviation), s), best.rule)


def _written(
    facts: Facts, noisy: list[int], scale: Fraction, scales: Scales, journal: Journal
) -> Correlations:
    """Noisy integer sums as mean products of rescaled rows."""
    step = scales.square / (facts.rows * PRODUCT)
    matrix = from_triangle([0.0] * len(scales.s), [float(int(value) * step) for value in noisy])
    deviation = float(scale) * step
    journal.all_pairs(matrix, scales.s, deviation)
    journal.notes.append(
        NoiseNote("discrete_gaussian", deviation, f"all pairs, release {journal.round}, rescaled")
    )
    return Correlations(matrix, deviation, scales)
