"""The public rules that decide what `COVARIANCE pace` can see at all."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from executors.mechanisms.pace.params import PaceParams
from planner.calculus.cost import Cost
from planner.calculus.leaves import Leaf
from planner.calculus.profiles import gdp_mu
from planner.facts import Facts

__all__ = [
    "all_pairs_rho",
    "clipping",
    "correlation_noise",
    "needed_rho",
    "sees_variances_only",
    "worth",
]


def worth(cost: Cost) -> Fraction:
    """What a cost buys, in rho: mu^2 / 2 for a cost in mu, or for the mu inside eps and delta."""
    if cost.unit == "eps_delta":
        return gdp_mu(cost.amount, cost.delta) ** 2 / 2
    return cost.additive if cost.unit == "rho" else cost.additive / 2


def sees_variances_only(params: PaceParams, facts: Facts, rho: Fraction) -> bool:
    """Whether a pilot could show nothing but noise, whatever the data.

    With kappa = 2 d / (n sqrt(2 rho2)), the noise of one correlation in a release of all that may
    spend rho2 = (1 - diag) rho, the eigenvalues of that noise reach 2 kappa sqrt(d); the largest
    correlation matrix has d - 1 beyond the identity. True where 2 kappa sqrt(d) is at least half of
    that, for d = 2 at least 1. Under `MAX k`, n / k stands for n.
    """
    return rho <= needed_rho(params, facts)


def needed_rho(params: PaceParams, facts: Facts) -> Fraction:
    """The cost, in rho, above which more than variances can be seen."""
    d = len(facts.columns)
    if d == 1:
        raise ValueError("one column has no pairs")
    reach = Fraction(1) if d == 2 else Fraction(d - 1, 2)
    people = Fraction(facts.rows, facts.source.max_rows)
    return 8 * d**3 / (people * reach) ** 2 / (1 - params.diag)


def all_pairs_rho(params: PaceParams, leaf: Leaf) -> float:
    """What all releases of all pairs may spend, in rho, from the leaf of the first one."""
    rho = float((Fraction(leaf.sensitivity or 0) / Fraction(leaf.scale or 1)) ** 2 / 2)
    return rho if params.strategy == "dense" else rho / float(params.pilot)


def correlation_noise(facts: Facts, rest: float) -> float:
    """kappa: the noise of one correlation in a release of all that spends `rest` in rho."""
    people = facts.rows / facts.source.max_rows
    return 2.0 * len(facts.columns) / (people * sqrt(2.0 * rest))


def clipping(facts: Facts, rest: float) -> float:
    """c: rows keep up to c times their expected squared length; more where the noise is small."""
    people = facts.rows / facts.source.max_rows
    grown: float = 0.025 * people * sqrt(2.0 * rest) / len(facts.columns) ** 1.5
    return max(2.0, grown)
