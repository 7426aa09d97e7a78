"""The public frame in which rows are bounded: a box of ranges, or the ball that NORM declares."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

from executors.pricing.covariance import GRID, Box
from executors.pricing.covariance_columns import Center, box_of, center_complaints, complaints
from planner.calculus.exact import root_above
from planner.facts import Facts, Norm
from planner.mechanism import Complaint

__all__ = [
    "BALL_CONSTANT",
    "NormName",
    "ball_of",
    "frame_of",
    "norm_complaints",
    "norm_rules",
    "order_of",
]

NormName: TypeAlias = Literal["linf", "l2"]
"""What bounds a row: the range of every column, or the ball of the dataset."""

BALL_CONSTANT = 29308
"""The constant column in the ball, in grid steps: floor(2^16 (1/2) / sqrt(5/4))."""

_STRETCH = Fraction(root_above(Fraction(5, 4) * 10**40), 10**20)
_LARGEST = Fraction(10**100)
_FARTHEST = Fraction(10**50)
"""How many times larger or smaller than the radius a column may be about the centre."""


def order_of(center: Center, facts: Facts) -> int:
    """The order of the measured matrix: d, or d + 1 with the constant column of a private mean."""
    count = len(facts.columns)
    return count + 1 if center == "private" and count > 1 else count


def frame_of(center: Center, norm: NormName, facts: Facts) -> tuple[Box, int]:
    """The public map of the columns onto the unit box, with the constant column in grid steps.

    In the ball every column has the same unit: its radius, stretched by sqrt(5/4) to make room for
    the constant column. One column in a ball is a column in a box. Raises ValueError where no ball
    is declared.
    """
    if norm == "linf":
        return box_of(center, facts), GRID
    ball = facts.source.norm
    if ball is None:
        raise ValueError("norm=l2 without a declared ball")
    places = dict(zip(ball.columns, ball.center, strict=True))
    middle = tuple(places[column.name] for column in facts.columns)
    stretched = center == "private" and len(facts.columns) > 1
    unit = ball.bound * (_STRETCH if stretched else 1)
    return Box(middle, (unit,) * len(middle)), BALL_CONSTANT if stretched else GRID


def ball_of(norm: NormName, facts: Facts) -> Norm | None:
    """The ball in which rows are shortened; None where every column has its own range."""
    return facts.source.norm if norm == "l2" and len(facts.columns) > 1 else None


def norm_rules(norm: NormName) -> tuple[str, ...]:
    """What happens to rows outside the ball without anybody being told, as a plain sentence."""
    if norm == "linf":
        return ()
    return ("Rows outside the declared ball are shortened to it; how many is not told.",)


def norm_complaints(center: Center, norm: NormName, facts: Facts) -> tuple[Complaint, ...]:
    """What is wrong with the centre and the norm together."""
    if norm == "linf":
        return center_complaints(center, facts)
    found = []
    if isinstance(center, tuple):
        found.append(
            Complaint(
                "DPQL-E057",
                "with `norm=l2` the centre is the dataset's",
                "center",
                note="the ball that NORM declares lies about CENTER",
                help="drop the list, and declare `CENTER [...]` beside NORM",
            )
        )
    ball = facts.source.norm
    if ball is None:
        found.append(
            Complaint(
                "DPQL-E058",
                f"`norm=l2` needs a ball, and `{facts.source.dataset}` declares none",
                "norm",
                help="declare `NORM (columns) <= C` in the dataset, or write `norm=linf`",
            )
        )
        return tuple(found)
    if not 1 / _LARGEST <= ball.bound <= _LARGEST:
        found.append(
            Complaint("DPQL-E058", "the radius of NORM is beyond what can be computed", "norm")
        )
    outside = [column.name for column in facts.columns if column.name not in ball.columns]
    if outside:
        found.append(
            Complaint(
                "DPQL-E058",
                f"the ball of `{facts.source.dataset}` says nothing about `{outside[0]}`",
                "norm",
                note="NORM must list every column that is used",
                help="leave the column out of COLUMNS, or add it to NORM",
            )
        )
    return tuple(found) or _sizes(norm, facts)


def _sizes(norm: NormName, facts: Facts) -> tuple[Complaint, ...]:
    """A column whose range about the centre of the ball has no size in units of its radius."""
    if complaints(facts):
        return ()
    frame, _ = frame_of("midpoint", norm, facts)
    ranges = box_of(frame.center, facts)
    for column, half, radius in zip(facts.columns, ranges.half, frame.half, strict=True):
        if not radius / _FARTHEST <= half <= radius * _FARTHEST:
            return (
                Complaint(
                    "DPQL-E058",
                    f"the radius of NORM and the range of `{column.name}` about CENTER are too far "
                    "apart in size",
                    "norm",
                    help=f"declare a range of `{column.name}` of about the size of the ball",
                ),
            )
    return ()
