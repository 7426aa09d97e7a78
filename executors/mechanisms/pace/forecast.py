"""How good the matrix will be, before any row is read."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from executors.mechanisms.pace.advice import advice
from executors.mechanisms.pace.cost import PaceParams, depends_on_amount, need
from executors.mechanisms.pace.rules import (
    all_pairs_rho,
    clipping,
    correlation_noise,
    needed_rho,
    sees_variances_only,
    worth,
)
from executors.pricing.allowance import Allowance
from executors.pricing.covariance import GRID, PRODUCT, ball_limit
from executors.pricing.covariance_columns import box_of
from executors.pricing.covariance_squares import square_deviations
from executors.pricing.drawable import LARGEST_SCALE, confirm_drawable
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable, solve
from planner.calculus.leaves import Leaf
from planner.facts import Facts
from planner.mechanism import AUTO

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["forecast", "resolve"]

_LEAST_SCALE = 2**20
_DECIMALS = 3


def resolve(params: PaceParams, facts: Facts, cost: Cost) -> PaceParams:
    """`rounds` as a number; `auto` as `pilot`, as `diagonal` where that could show only noise.

    Raises Unsolvable where the noise of this cost could not be drawn.
    """
    values = {name: getattr(params, name) for name in type(params).model_fields}
    if params.rounds == AUTO:
        values["rounds"] = 2 * len(facts.columns)
    if params.strategy == "auto":
        is_blind = not depends_on_amount(params, facts) or sees_variances_only(
            params, facts, worth(cost)
        )
        values["strategy"] = "diagonal" if is_blind else "pilot"
    for table in facts.tables:
        values["prior_sha256"] = table.sha256
    resolved = type(params).model_construct(params.model_fields_set, **values)
    needs = need(resolved, facts, {facts.source.name: cost.unit})
    confirm_drawable(needs, cost, facts.source.max_rows)
    loss = solve(needs, cost, facts.source.max_rows)
    for leaf in loss.leaves:
        if leaf.role == "cap":
            _confirm_rounds(resolved, facts, Allowance.behind(leaf))
    return resolved


def forecast(params: PaceParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    """Public design figures, in the unit box; `precision` only with a public prior.

    `noise_sd_correlation` is the noise of one correlation in a release of all, `noise_edge` twice
    its root-d fold: what the largest eigenvalue of a correlation matrix must exceed 1 by. Of a
    search, `noise_sd_first_pair` belongs to the first round and `noise_sd_one_pair` to a search
    that spends everything on one pair, which hides correlations below
    `least_visible_correlation` where variances are 1/9; `break_even_pairs` of equal rounds have the
    noise of a release of the whole matrix. With a prior, `error_median` is the median Frobenius
    error of 20 simulated runs, `precision` its inverse. Formulas: proof.md, accuracy.
    """
    leaf = loss.leaves[0]
    sd = square_deviations(facts, Fraction(leaf.scale or 0))
    figures: dict[str, Any] = {
        "sees": "variances only" if len(loss.leaves) == 1 else "variances and covariances",
        "noise_sd_variance": sd.square,
        "units": [float(half) for half in box_of(params.center, facts).half],
        "grid_steps": GRID,
        "integer_sensitivity": float(leaf.sensitivity or 0),
        "integer_scale": float(leaf.scale or 0),
    }
    if params.center == "private":
        figures["noise_sd_mean"] = sd.mean
    if len(facts.columns) > 1:
        figures["rho_for_covariances"] = float(needed_rho(params, facts))
    dense = next((leaf for leaf in loss.leaves[1:] if leaf.kind == "dgauss"), None)
    if dense is not None:
        figures |= _of_all_pairs(params, facts, dense)
    cap = next((leaf for leaf in loss.leaves if leaf.role == "cap"), None)
    if cap is not None:
        figures |= _of_search(params, facts, Allowance.behind(cap))
    if facts.tables:
        figures |= _on_prior(params, facts, loss)
    figures["warnings"] = advice(params, facts, loss, figures)
    return figures


def _of_all_pairs(params: PaceParams, facts: Facts, leaf: Leaf) -> dict[str, Any]:
    rest = all_pairs_rho(params, leaf)
    kappa = correlation_noise(facts, rest)
    return {
        "noise_sd_correlation": kappa,
        "noise_edge": 2.0 * kappa * sqrt(len(facts.columns)),
        "clipping": clipping(facts, rest),
    }


def _of_search(params: PaceParams, facts: Facts, allowance: Allowance) -> dict[str, Any]:
    d, step = len(facts.columns), facts.rows * PRODUCT
    moved = 2 * PRODUCT * facts.source.max_rows
    measure = 1 - params.select if _candidates(params, facts) > 1 else Fraction(1)
    first = allowance.part(Fraction(1, _rounds(params, facts)))
    figures: dict[str, Any] = {
        "rounds": _rounds(params, facts),
        "noise_sd_first_pair": first.part(measure).scale(moved) / step,
        "noise_sd_one_pair": allowance.part(measure).scale(moved) / step,
        "least_visible_correlation": 9.0 * allowance.part(measure).scale(moved) / step,
        "break_even_pairs": float((1 - params.diag) * measure * d * d / 4),
    }
    if measure != 1:
        figures["selection_range"] = float(first.part(params.select).eta())
    return figures


def _on_prior(params: PaceParams, facts: Facts, loss: Loss) -> dict[str, Any]:
    from executors.mechanisms.pace.simulation import foresee

    found = foresee(params, facts, loss)
    return {
        "precision": round(1.0 / found.median, _DECIMALS),
        "error_low": round(found.low, _DECIMALS + 3),
        "error_median": round(found.median, _DECIMALS + 3),
        "error_high": round(found.high, _DECIMALS + 3),
        "dense_runs": found.dense,
        "simulated_rows": found.rows,
    }


def _rounds(params: PaceParams, facts: Facts) -> int:
    return params.rounds if isinstance(params.rounds, int) else 2 * len(facts.columns)


def _candidates(params: PaceParams, facts: Facts) -> int:
    d = len(facts.columns)
    return d * (d - 1) // 2 if params.pairs is None else len(params.pairs)


def _confirm_rounds(params: PaceParams, facts: Facts, allowance: Allowance) -> None:
    """Raise Unsolvable unless every draw of the filter has a scale that is fine and possible.

    Released means lie within the box, so a product is at most 2^34 long; no round costs less than
    the first one, or than all that is left after it.
    """
    people = facts.source.max_rows
    finest = allowance.scale(people * min(2 * PRODUCT, ball_limit(len(facts.columns))))
    if finest < _LEAST_SCALE:
        raise Unsolvable(
            f"the noise scale would be {finest:.3g}, this method needs at least {_LEAST_SCALE:.3g}",
            "lower the cost of this statement",
        )
    least = allowance.part(Fraction(1, _rounds(params, facts)) * (1 - params.select))
    if least.scale(people * 4 * PRODUCT) > LARGEST_SCALE:
        raise Unsolvable(
            "the noise would be wider than the exact sampler can draw",
            "raise the cost of this statement, or have fewer `rounds`",
        )
