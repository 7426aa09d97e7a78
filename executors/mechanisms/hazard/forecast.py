"""How likely the test is to see a stated effect, from public facts only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from executors.mechanisms.hazard.cost import HazardTestParams, censorings
from executors.pricing.hazard import with_horizon
from executors.statistics.hazard_comparison import Comparison, comparison
from executors.statistics.hazard_forecast import expected, least_reaching
from executors.statistics.hazard_noise import DRAWS
from executors.statistics.hazard_site import SiteCurve
from planner.calculus.cost import Cost
from planner.calculus.leaves import Loss
from planner.facts import Facts
from planner.mechanism import AUTO

__all__ = ["forecast", "resolve"]

GOAL = 0.8


def resolve(params: HazardTestParams, facts: Facts, cost: Cost) -> HazardTestParams:
    """The options with `horizon=auto` replaced."""
    return with_horizon(params, facts)


def forecast(params: HazardTestParams, facts: Facts, loss: Loss) -> Mapping[str, Any]:
    """`power` at the stated effect; the least effect, of its sign, that 4 studies in 5 would find.

    Nothing is simulated but the public noise: the curves are those that the planning values lead
    to on average. `noise_to_sampling` is the standard deviation of the noise over that of sampling,
    of the difference at the last reliable time.
    """
    level = float(params.level)

    @lru_cache(maxsize=1)
    def at(effect: float) -> tuple[Comparison, tuple[SiteCurve, SiteCurve]]:
        first, second = _expected(params, facts, loss, effect)
        return comparison(first, second), (first, second)

    def power(effect: float) -> float:
        found, (first, second) = at(effect)
        return found.power(second.hazard - first.hazard, level) if found.reach else 0.0

    stated = None if params.effect is None else float(params.effect)
    shown: dict[str, Any] = {}
    if stated is not None:
        share = round(power(stated), 3)
        shown |= {"power": share, "power_error": math.sqrt(share * (1.0 - share) / DRAWS)}
    sign = -1.0 if stated is not None and stated < 0 else 1.0
    detectable = least_reaching(lambda size: power(sign * size), GOAL)
    found, sites = at(0.0 if stated is None else stated)
    shown["detectable_effect"] = None if detectable is None else round(sign * detectable, 3)
    shown["reliable_to"] = found.reach * sites[0].value.horizon / params.bins
    if found.reach:
        last = found.reach - 1
        noise = math.hypot(*(float(site.hazard_sd[last]) for site in sites))
        shown["noise_to_sampling"] = noise / math.sqrt(float(found.variance.sum()))
        shown["threshold"] = found.threshold(level)
    shown["floor_records"] = [site.value.floor for site in sites]
    shown["warnings"] = _warnings(shown, level, found.reach)
    return shown


def _expected(
    params: HazardTestParams, facts: Facts, loss: Loss, effect: float
) -> tuple[SiteCurve, SiteCurve]:
    if params.horizon == AUTO:
        raise ValueError("`horizon=auto` has not been resolved")
    rate, end = float(params.rate), float(params.horizon)
    rates = (rate, rate * math.exp(effect))
    first, second = (
        expected(params, source, loss, end, hazard, float(censored))
        for source, hazard, censored in zip(facts.sources, rates, censorings(params), strict=True)
    )
    return first, second


def _warnings(shown: Mapping[str, Any], level: float, reach: int) -> list[dict[str, str]]:
    if reach and shown.get("power", 1.0) >= min(2 * level, (1 + level) / 2):
        return []
    if not reach:
        why = "no time is forecast at which enough records are surely at risk in both sources"
    else:
        why = f"it would see the stated effect in {100 * shown['power']:.3g} % of studies"
    return [
        {
            "code": "DPQL-W220",
            "message": f"this test cannot succeed at this budget: {why}",
            "help": "give it more of the budget, more records, or a lower floor; or look for a "
            "larger effect",
        }
    ]
