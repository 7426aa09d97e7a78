"""What rows are, how long they may be, and by how much one of them moves each sum."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field

from executors.pricing.covariance import GRID, PRODUCT, ball_limit, ball_sensitivity, root_below
from executors.pricing.covariance_columns import Center
from executors.pricing.covariance_frame import BALL_CONSTANT, NormName, ball_of, frame_of, order_of
from executors.pricing.published import PublishedVariant
from planner.facts import Facts
from planner.mechanism import Query

__all__ = [
    "COARSE",
    "AdaptiveParams",
    "clipped_query",
    "coarse_width",
    "constant",
    "gram_sensitivity",
    "order",
    "pair_weight",
    "radius_square",
    "searched",
    "spectrum_sensitivity",
    "sums_query",
    "thresholds",
]

COARSE = 2**16
"""Squared lengths, counted in steps of 2^-32, are summed and then floored to steps of 2^-16."""

_MOST_HALVINGS = 79


class AdaptiveParams(PublishedVariant):
    """Options of `COVARIANCE adaptive`."""

    PAPER: ClassVar = {"center": "midpoint"}

    center: Center = Field(
        default="private",
        description="about what: `private` (a mean measured beside the matrix; not the default of "
        "variant=paper), `midpoint` (the middle of every range, a second moment; the default of "
        "variant=paper) or a list of public numbers, one a column",
    )
    norm: NormName = Field(
        default="linf",
        description="what bounds a row: `linf` (the range of every column) or `l2` (the ball that "
        "the dataset declares with NORM)",
    )
    beta: Fraction = Field(
        default=Fraction(1, 10),
        gt=0,
        lt=1,
        description="how likely the search may miss its radius; no promise of privacy rests on it",
    )
    variant: Literal["paper"] | None = Field(
        default=None,
        description="`paper`: the same noise on variances and covariances",
    )


def order(params: AdaptiveParams, facts: Facts) -> int:
    """The order of the measured matrix: d, or d + 1 with the constant column of a private mean."""
    return order_of(params.center, facts)


def radius_square(params: AdaptiveParams, facts: Facts) -> int:
    """R^2, the largest squared length of a row in the frame: its order in the box, 1 in the ball.

    It counts the constant column, which is 1 in the box and 29308 / 65536 in the ball.
    """
    return order(params, facts) if params.norm == "linf" else 1


def constant(params: AdaptiveParams, facts: Facts) -> int:
    """The constant column in grid steps; 0 where there is none."""
    if params.center != "private":
        return 0
    return GRID if params.norm == "linf" else BALL_CONSTANT


def searched(params: AdaptiveParams, facts: Facts) -> int:
    """How many radii 2^k R are looked at, k = 0, -1, -2, ...: at most 80."""
    return min(order(params, facts) * facts.rows, _MOST_HALVINGS) + 1


def thresholds(params: AdaptiveParams, facts: Facts) -> tuple[int, ...]:
    """floor(4^k R^2 2^32) for every k that is looked at."""
    whole = radius_square(params, facts) * PRODUCT
    return tuple(whole >> (2 * step) for step in range(searched(params, facts)))


def coarse_width(params: AdaptiveParams, facts: Facts) -> Fraction:
    """By how much one row moves a sum of squared lengths, in steps of 2^-16.

    Squared lengths lie in [0, d] in the box and in [0, limit] in the ball; what exceeds a
    threshold moves by no more. Proof: proof.md, claim 1.
    """
    count = len(facts.columns)
    if params.norm == "linf":
        return Fraction(count * PRODUCT // COARSE)
    limit = ball_limit(order(params, facts)) - constant(params, facts) ** 2
    return Fraction(-(-limit // COARSE))


def gram_sensitivity(params: AdaptiveParams, facts: Facts) -> int:
    """L2 move of (diagonal, sqrt(2) pairs) of shortened rows, for one person. Claim 3."""
    return facts.source.max_rows * int(ball_sensitivity(order(params, facts)))


def pair_weight(params: AdaptiveParams) -> Fraction:
    """How many times less noise a covariance carries than a variance."""
    return Fraction(1) if params.variant == "paper" else root_below(Fraction(2))


def spectrum_sensitivity(params: AdaptiveParams, facts: Facts) -> int:
    """L2 move of the computed, rounded eigenvalues of the Gram matrix, for one person. Claim 4.

    The Frobenius move, 2^-47 d^2 of the largest trace for two computations, sqrt(d) for rounding.
    """
    size = order(params, facts)
    largest = facts.rows * ball_limit(size)
    computed = -(-largest * size**2 // 2**47)
    return gram_sensitivity(params, facts) + computed + size


def sums_query(params: AdaptiveParams, facts: Facts) -> Query:
    """The first pass: squared lengths, and what of them exceeds each threshold."""
    return Query(
        "excess_lengths",
        facts.columns,
        (*_frame(params, facts), ("thresholds", thresholds(params, facts))),
    )


def clipped_query(params: AdaptiveParams, facts: Facts, halvings: int) -> Query:
    """The second pass: the Gram matrix of rows shortened to R 2^-halvings, that length one unit."""
    return Query(
        "clipped_moments",
        facts.columns,
        (
            *_frame(params, facts),
            ("longest", Fraction(radius_square(params, facts), 4**halvings)),
        ),
    )


def _frame(params: AdaptiveParams, facts: Facts) -> tuple[tuple[str, Any], ...]:
    box, _ = frame_of(params.center, params.norm, facts)
    ball = ball_of(params.norm, facts)
    beside = constant(params, facts)
    limit = ball_limit(order(params, facts)) - beside**2
    return (
        ("center", box.center),
        ("half", box.half),
        ("radius", None if ball is None else ball.bound),
        ("limit", limit),
        ("constant", beside),
    )
