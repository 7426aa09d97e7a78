"""How likely the test is to reject if the second coefficients are true, from public facts only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from executors.mechanisms.cox.design import design_of
from executors.mechanisms.cox.outlook import Outlook
from executors.mechanisms.cox.params import CoxParams
from executors.mechanisms.cox.synthetic import Synthetic
from executors.pricing.survival_covariates import covariate_domain
from executors.pricing.survival_sentences import cannot_succeed
from executors.pricing.survival_spreads import even_score
from executors.statistics.survival_decision import Noise, power, threshold
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.calculus.leaves import Kind, Leaf, Loss
from planner.calculus.need import Need
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["SHRINKS", "forecast", "resolve"]

SHRINKS = tuple(Fraction(part, 100) for part in (100, 70, 50, 35, 25, 15, 10, 5, 3, 2, 1))
NEAR = 0.005


def resolve(params: CoxParams, facts: Facts, cost: Cost) -> CoxParams:
    """The options with `spread=auto` and `shrink=auto` replaced.

    Of the shrinks listed, the largest whose forecast, rounded to 3 decimals, is within 0.005 of the
    best: so the choice does not hang on last digits. It costs nothing and leaves the level as it
    is, because no row is read.
    """
    settled: dict[str, Any] = {}
    if params.spread == AUTO:
        domain = covariate_domain(facts)
        settled["spread"] = even_score(domain, params.beta.left, params.beta.right)
    params = params.model_copy(update=settled)
    if params.shrink != AUTO:
        return params
    synthetic = _synthetic(params, facts)
    powers = {}
    for shrink in SHRINKS:
        design = design_of(params, facts, shrink)
        noise = _expected_noise(design.coarse_sensitivity, cost)
        moments = synthetic.moments(design)
        limit = threshold(float(params.level), noise, params.rule)
        powers[shrink] = round(power(limit, moments.mean, moments.deviation, noise), 3)
    best = max(powers.values())
    chosen = max(shrink for shrink, found in powers.items() if found >= best - NEAR - 1e-9)
    return params.model_copy(update={"shrink": chosen})


def forecast(params: CoxParams, facts: Facts, loss: Loss) -> Mapping[str, Any]:
    """`power` with its error by simulation, and the figures of the design.

    `detectable_effect` is in units of the step from the first coefficients to the second.
    """
    design = design_of(params, facts)
    leaf = loss.leaves[0]
    noise = _noise(leaf)
    synthetic = _synthetic(params, facts)
    outlook = Outlook(design, synthetic, noise, float(params.level), params.rule)
    limit, moments = outlook.limit, synthetic.moments(design)
    found = round(outlook.power(moments), 3)
    shown: dict[str, Any] = {
        "power": found,
        "power_error": outlook.power_error(moments),
        "detectable_effect": outlook.detectable(),
        "noise_to_sampling": outlook.noise_to_sampling(moments),
        "threshold": limit,
        "sensitivity": float(design.exact_sensitivity),
        "noise_scale": noise.scale,
        "noise_law": noise.law,
        "shrink": float(params.shrink),
        "riskfloor": float(params.riskfloor),
        "riskfloor_records": design.floor,
        "tested_against": [float(value) for value in design.alternative],
        "statistic_mean": moments.mean,
        "statistic_sd": moments.deviation,
        "warnings": [],
    }
    if found < 2 * params.level:
        way = "an alternative farther from `b0`"
        shown["warnings"] = [cannot_succeed(found, float(params.level), "`b0`", way)]
    return shown


def _synthetic(params: CoxParams, facts: Facts) -> Synthetic:
    if params.spread == AUTO:
        raise ValueError("`spread=auto` has not been resolved")
    return Synthetic(
        domain=covariate_domain(facts),
        rows=facts.rows,
        null=params.beta.left,
        truth=params.beta.right,
        riskfloor=params.riskfloor,
        event_rate=float(params.event_rate),
        spread=float(params.spread),
    )


def _expected_noise(sensitivity: Fraction, cost: Cost) -> Noise:
    kind: Kind = "lap" if cost.unit in ("eps", "eps_delta") else "gauss"
    return _noise(solve((Need(kind, lambda: sensitivity),), cost).leaves[0])


def _noise(leaf: Leaf) -> Noise:
    if leaf.scale is None:
        raise ValueError("the statistic's leaf has no scale")
    return Noise("laplace" if leaf.kind == "lap" else "gaussian", float(leaf.scale))
