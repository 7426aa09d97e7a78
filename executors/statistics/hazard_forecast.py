"""What a noisy cumulative hazard will look like, from planning values: no record is simulated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from executors.pricing.hazard import AT_RISK, HAZARD, CurveParams, HazardParams, floor_of
from executors.statistics.hazard_curve import Scale, curve
from executors.statistics.hazard_site import SiteCurve, SiteValue, laws_of
from planner.calculus.leaves import Loss
from planner.facts import Facts, SourceFacts
from planner.mechanism import AUTO

__all__ = ["curve_figures", "expected", "least_reaching"]

_LEAST_EFFECT, _LARGEST_EFFECT = 0.02, 5.0


def expected(
    params: HazardParams,
    source: SourceFacts,
    loss: Loss,
    horizon: float,
    rate: float,
    censoring: float,
) -> SiteCurve:
    """The curve without noise that these cumulative hazards at the horizon lead to on average.

    Y(t_j) = n exp(-(rate + censoring) j / B); a bin's step is rate / B, less where fewer than q
    are at risk.
    """
    bins, floor = params.bins, floor_of(params, source)
    at_risk = source.rows * np.exp(-(rate + censoring) * np.arange(bins + 1) / bins)
    halfway = (at_risk[:-1] + at_risk[1:]) / 2
    hazard = np.cumsum(rate / bins * np.minimum(1.0, halfway / floor))
    laws = laws_of(loss, source)
    value = SiteValue(
        source=source.name,
        n=source.rows,
        floor=floor,
        horizon=horizon,
        tree=params.tree,
        hazard=tuple(hazard.tolist()),
        at_risk=tuple(at_risk[1:].tolist()),
    )
    return SiteCurve(value, hazard, at_risk[1:], *laws[HAZARD], *laws[AT_RISK])


def curve_figures(params: CurveParams, facts: Facts, loss: Loss, scale: Scale) -> dict[str, Any]:
    """The forecast of one curve.

    `reliable_to`, the last time that will be reliable; there `estimate` and `half_width` of the
    band (at its widest up to there), and `noise_to_sampling`, the standard deviation of the noise
    over that of sampling. Raises ValueError while `horizon=auto` is not resolved.
    """
    if params.horizon == AUTO:
        raise ValueError("`horizon=auto` has not been resolved")
    end = float(params.horizon)
    site = expected(params, facts.source, loss, end, float(params.rate), float(params.censoring))
    found = curve(site, float(params.level), scale)
    reach = found.reliable
    shown: dict[str, Any] = {"reliable_to": found.reliable_to, "bins": params.bins}
    if reach:
        widths = (found.upper - found.lower)[1 : reach + 1] / 2
        sampling = (np.diff(site.hazard, prepend=0.0) * site.inverse_at_risk())[:reach].sum()
        shown |= {
            "estimate_there": float(found.estimate[reach]),
            "half_width": float(widths.max()),
            "noise_to_sampling": float(site.hazard_sd[reach - 1] / sampling**0.5),
        }
    shown |= {
        "hazard_noise_sd": float(site.hazard_sd[-1]),
        "floor_records": site.value.floor,
        "warnings": [] if reach else [_NOTHING_RELIABLE],
    }
    if reach:
        # Of a survival curve a half of its range; of a hazard as much as it rises.
        whole = 0.5 if scale == "survival" else 2.0 * shown["estimate_there"]
        if 2.0 * shown["half_width"] >= whole and shown["noise_to_sampling"] > 1.0:
            shown["warnings"].append(_band_too_wide(shown["half_width"]))
    return shown


def _band_too_wide(half_width: float) -> dict[str, str]:
    return {
        "code": "DPQL-W222",
        "message": f"the band of this curve will be as wide as +-{half_width:.2g}, most of it for "
        "noise",
        "help": "give it more of the budget, a higher floor, or an earlier horizon",
    }


_NOTHING_RELIABLE = {
    "code": "DPQL-W221",
    "message": "at this budget no part of the curve will be reliable: the noise on the numbers at "
    "risk is too large to tell that enough are",
    "help": "give it more of the budget, or a lower floor, or fewer bins",
}


def least_reaching(power: Callable[[float], float], goal: float) -> float | None:
    """The least effect up to 5 whose power reaches the goal, to 0.001; None if none does.

    It is bracketed from small effects up, because a very large one leaves nobody at risk.
    """
    low, high = 0.0, _LEAST_EFFECT
    while power(high) < goal:
        low, high = high, high * 1.25
        if high > _LARGEST_EFFECT:
            return None
    while high - low > 0.0005:
        middle = (low + high) / 2
        if power(middle) < goal:
            low = middle
        else:
            high = middle
    return high
