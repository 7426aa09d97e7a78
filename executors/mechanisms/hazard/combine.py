"""From the releases of two sources to the test: it sees no row, and costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from executors.mechanisms.hazard.cost import HazardTestParams
from executors.pricing.hazard import AT_RISK, HAZARD, floor_of, horizon_of
from executors.release import Outcome
from executors.statistics.hazard_comparison import compare
from executors.statistics.hazard_curve import curve
from executors.statistics.hazard_noise import DRAWS, SEED
from executors.statistics.hazard_site import SiteCurve, laws_of, site_of
from planner.calculus.leaves import Loss
from planner.facts import Facts

__all__ = ["combine"]


def combine(
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    params: HazardTestParams,
    facts: Facts,
    loss: Loss,
) -> Outcome:
    """The test of two sources' releases, in the order of ON, as JSON each.

    Of a release only `value` and `noise` are read. What it repeats of the plan (name, n, q,
    horizon, bins, tree, the laws and scales of its noise) must be as the plan has it. Raises
    ValueError where it is not, or where something is no release of a curve.
    """
    sites = (
        _confirmed(first, params, facts, loss, 0),
        _confirmed(second, params, facts, loss, 1),
    )
    level = float(params.level)
    verdict = compare(*sites, level)
    curves = [curve(site, level, "survival") for site in sites]
    (duration,) = facts.source.role("duration")
    return Outcome(
        value={
            "outcome": "TESTED" if verdict.is_conclusive else "INCONCLUSIVE",
            "statistic": verdict.statistic,
            "p_value": verdict.p_value,
            "reject": verdict.is_conclusive and Fraction(verdict.p_value) <= params.level,
            "level": level,
            "threshold": verdict.threshold,
            "reliable_to": float(curves[0].time[verdict.reach]),
            "time_column": duration.name,
            "sites": [
                {
                    "source": site.value.source,
                    **found.json(),
                    "raw": dict(release["value"]),
                }
                for site, found, release in zip(sites, curves, (first, second), strict=True)
            ],
            "draws": DRAWS,
            "seed": SEED,
        },
        uncertainty={
            "of": "the largest difference of the two cumulative hazards up to `reliable_to`",
            "hazard_noise_sd": [site.hazard_sd.tolist() for site in sites],
        },
        noise=(),
        notes=(
            "`estimate` is survival, with a pointwise band of the stated level, of each source "
            "alone.",
            "INCONCLUSIVE: at no time are enough records surely at risk in both; it is not a "
            "rejection, and no evidence of equal hazards.",
            "The level is for many records; in simulations it lay within 1.1 times the one stated.",
        ),
    )


def _confirmed(
    release: Mapping[str, Any], params: HazardTestParams, facts: Facts, loss: Loss, place: int
) -> SiteCurve:
    """The release as numbers, where it is of the source that the plan has at this place."""
    site, source = site_of(release), facts.sources[place]
    told = site.value
    plan = (source.name, source.rows, floor_of(params, source), params.bins, params.tree)
    if (told.source, told.n, told.floor, site.bins, told.tree) != plan:
        raise ValueError(f"this is not the release of `{source.name}` under this plan")
    if told.horizon != float(horizon_of(params, facts)):
        raise ValueError(f"the release of `{source.name}` has another horizon")
    drawn = {HAZARD: site.hazard_noise, AT_RISK: site.at_risk_noise}
    if drawn != laws_of(loss, source):
        raise ValueError(f"the release of `{source.name}` has other noise than the plan")
    return site
