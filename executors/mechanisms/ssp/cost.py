"""The price of all second moments released at once."""

from __future__ import annotations

from fractions import Fraction

from executors.mechanisms.ssp.layout import (
    SspParams,
    dimension,
    entries,
    frame,
    is_joint,
    sensitivity,
    weights,
)
from executors.pricing.covariance import ball_limit
from executors.pricing.covariance_columns import center_rules, complaints, silent_rules
from executors.pricing.covariance_frame import BALL_CONSTANT, ball_of, norm_complaints, norm_rules
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import Complaint, Query, Units

__all__ = ["SspParams", "assumptions", "check", "need", "query"]

_LEAST_SCALE = Fraction(2**20)
_LEAST_JOINT_SCALE = Fraction(2**26)


def check(params: SspParams, facts: Facts, units: Units) -> tuple[Complaint, ...]:
    """Everything that is wrong with the statement, found without data."""
    found = [*complaints(facts), *norm_complaints(params.center, params.norm, facts)]
    if params.norm == "l2" and params.weights != "balanced":
        found.append(
            Complaint(
                "DPQL-E058",
                "`weights` has nothing to choose with `norm=l2`",
                "weights",
                note="in a ball the best shares are fixed: pairs get 1/sqrt(2) of a variance's "
                "noise",
                help="drop `weights`, or write `norm=linf`",
            )
        )
    return tuple(found)


def need(params: SspParams, facts: Facts, units: Units) -> tuple[Need, ...]:
    """One discrete Gaussian leaf for the whole upper triangle.

    Its sensitivity is the l2 move of the measured integers, each part times its weight.
    Proof: proof.md, claims 1 to 5.
    """
    return (
        Need(
            kind="dgauss",
            sensitivity=lambda: sensitivity(params, facts),
            width=max(1, entries(params, facts)),
            role="measure",
            dataset=facts.source.dataset,
            site=facts.source.site,
            minimum_scale=_least_scale(params, facts),
        ),
    )


def query(params: SspParams, facts: Facts) -> Query:
    """The Gram matrix of rows on the grid of the box, or of rows clipped to the ball."""
    frame_box, _ = frame(params, facts)
    norm = ball_of(params.norm, facts)
    if norm is None:
        return Query(
            "moments",
            facts.columns,
            (("center", frame_box.center), ("half", frame_box.half)),
        )
    constant = BALL_CONSTANT if params.center == "private" else 0
    return Query(
        "ball_moments",
        facts.columns,
        (
            ("center", frame_box.center),
            ("radius", norm.bound),
            ("unit", frame_box.half[0]),
            ("limit", ball_limit(dimension(params, facts)) - constant**2),
        ),
    )


def assumptions(params: SspParams, facts: Facts) -> tuple[str, ...]:
    """What the reader of the plan has to know."""
    return (*silent_rules(facts), *center_rules(params.center), *norm_rules(params.norm))


def _least_scale(params: SspParams, facts: Facts) -> Fraction:
    """The least leaf scale, so that every sum is blurred over 2^20 of its own steps."""
    if is_joint(params, facts):
        return _LEAST_JOINT_SCALE
    weight = weights(params, facts)
    return _LEAST_SCALE * max(weight.diagonal, weight.pairs)
