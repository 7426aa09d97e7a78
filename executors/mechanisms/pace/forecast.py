"""How good the matrix will be, before any row is read."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from executors.mechanisms.pace.cost import PaceParams, depends_on_amount, need
from executors.mechanisms.pace.rules import sees_variances_only, worth
from executors.pricing.covariance import PRODUCT, ball_limit
from executors.pricing.covariance_squares import square_deviations
from executors.pricing.covariance_warnings import warnings_of
from executors.pricing.drawable import LARGEST_SCALE, confirm_drawable
from executors.pricing.purse import Purse
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, solve
from planner.facts import Facts
from planner.mechanism import AUTO

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["forecast", "resolve"]

_LEAST_SCALE = 2**20


def resolve(params: PaceParams, facts: Facts, cost: Cost) -> PaceParams:
    """`rounds` as a number; `auto` as `pilot`, as `diagonal` where that could show only noise.

    Raises Unsolvable where the noise of this cost could not be drawn.
    """
    values = {name: getattr(params, name) for name in type(params).model_fields}
    if params.rounds == AUTO:
        values["rounds"] = 2 * len(facts.columns)
    if depends_on_amount(params, facts):
        is_blind = len(facts.columns) == 1 or sees_variances_only(params, facts, worth(cost))
        values["strategy"] = "diagonal" if is_blind else "pilot"
    resolved = type(params).model_construct(params.model_fields_set, **values)
    needs = need(resolved, facts, {facts.source.name: cost.unit})
    confirm_drawable(needs, cost, facts.source.max_rows)
    loss = solve(needs, cost, facts.source.max_rows)
    for leaf in loss.leaves:
        if leaf.role == "cap":
            _confirm_rounds(resolved, facts, Purse.behind(leaf))
    return resolved


def _confirm_rounds(params: PaceParams, facts: Facts, purse: Purse) -> None:
    """Raise Unsolvable unless every draw of the filter has a scale that is fine and possible.

    Released means lie within the box, so a product is at most 2^34 long; no round costs less than
    the first one, or than all that is left after it.
    """
    people = facts.source.max_rows
    rounds = params.rounds if isinstance(params.rounds, int) else 1
    least = purse.part(Fraction(1, rounds) * (1 - params.select))
    finest = purse.scale(people * min(2 * PRODUCT, ball_limit(len(facts.columns))))
    if finest < _LEAST_SCALE:
        raise Unsolvable(
            f"the noise scale would be {finest}, this method needs at least {_LEAST_SCALE}",
            "lower the cost of this statement",
        )
    if least.scale(people * 4 * PRODUCT) > LARGEST_SCALE:
        raise Unsolvable(
            "the noise would be wider than the exact sampler can draw",
            "raise the cost of this statement, or name fewer columns",
        )


def forecast(params: PaceParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Public design figures; `precision` only with a public prior."""
    leaf = loss.leaves[0]
    scale, sensitivity = Fraction(leaf.scale or 0), Fraction(leaf.sensitivity or 0)
    sd = square_deviations(facts, scale)
    figures: dict[str, Any] = {
        "noise_sd_variance": sd.square,
        "warnings": warnings_of(sd.square, sensitivity, scale),
    }
    if params.center == "private":
        figures["noise_sd_mean"] = sd.mean
    return figures
