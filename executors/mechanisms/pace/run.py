"""From exact integer moments to a private covariance matrix, one draw after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from executors.mechanisms.pace.cost import query
from executors.mechanisms.pace.dense import again, assembled, ball_query, measure_all, public_scales
from executors.mechanisms.pace.first_stage import FirstStage, measure_variances
from executors.mechanisms.pace.journal import Journal
from executors.mechanisms.pace.params import PaceParams
from executors.mechanisms.pace.report import Found, outcome
from executors.mechanisms.pace.search import search
from executors.pricing.allowance import Allowance
from executors.pricing.covariance_columns import box_of
from executors.release import Outcome
from executors.statistics.covariance_shrinkage import stands_out
from planner.calculus.convert import Native
from planner.calculus.leaves import Leaf
from planner.facts import Facts

if TYPE_CHECKING:
    from planner.calculus.leaves import Loss

__all__ = ["run"]


def run(
    params: PaceParams, facts: Facts, loss: Loss, stats: Callable[[Any], Any], noise: Any
) -> Outcome:
    """The matrix with everything that was measured and every draw.

    Only the leaves decide what is drawn: variances; then all pairs, a search, or a pilot that shows
    which. Raises ValueError where the price has another shape than the statement.
    """
    first_leaf, dense_leaf, cap = _parts(loss)
    box = box_of(params.center, facts)
    units = np.array([float(half) for half in box.half])
    names = [column.name for column in facts.columns]
    journal = Journal.of(names, units, facts.rows, _unit(cap))
    moments = stats(query(params, facts))
    first = measure_variances(params, facts, first_leaf, moments, noise, journal)
    if dense_leaf is None and cap is None:
        return outcome(params, facts, first, _variances(first), journal)
    if dense_leaf is None and cap is not None:
        allowance = Allowance.behind(cap)
        found = search(params, facts, allowance, noise.cap(cap), moments, first, journal)
        return outcome(params, facts, first, Found.searched(found), journal)
    if dense_leaf is None:
        raise ValueError("a statement with pairs has a leaf or a filter for them")
    scales = public_scales(params, facts, first, dense_leaf)
    ball = stats(ball_query(params, facts, first, scales))
    pilot = measure_all(facts, dense_leaf, ball, scales, noise, journal)
    if cap is None:
        return outcome(params, facts, first, Found.released(assembled(first, pilot)), journal)
    allowance, filtered = Allowance.behind(cap), noise.cap(cap)
    if stands_out(pilot.noisy, pilot.deviation):
        both = again(facts, allowance, filtered, ball, pilot, journal)
        return outcome(params, facts, first, Found.released(assembled(first, both)), journal)
    found = search(params, facts, allowance, filtered, moments, first, journal)
    return outcome(params, facts, first, Found.searched(found), journal)


def _parts(loss: Loss) -> tuple[Leaf, Leaf | None, Leaf | None]:
    """The leaf of the variances, that of all pairs, the filter's cap."""
    kinds = tuple("cap" if leaf.role == "cap" else leaf.kind for leaf in loss.leaves)
    first = loss.leaves[0]
    if kinds == ("dgauss",):
        return first, None, None
    if kinds == ("dgauss", "cap"):
        return first, None, loss.leaves[1]
    if kinds == ("dgauss", "dgauss"):
        return first, loss.leaves[1], None
    if kinds == ("dgauss", "dgauss", "cap"):
        return first, loss.leaves[1], loss.leaves[2]
    raise ValueError("this statement is priced with variances, then pairs, then a filter")


def _unit(cap: Leaf | None) -> Native:
    """What the journal counts in: rho under a zcdp cap or without one, else mu squared."""
    return "mu_squared" if cap is not None and cap.kind == "gdp" else "rho"


def _variances(first: FirstStage) -> Found:
    d = len(first.variance)
    values = np.clip(first.variance, 0.0, 1.0)
    return Found(np.diag(values), None, np.full((d, d), np.nan), "diagonal", True, "")
