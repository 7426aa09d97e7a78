"""A noisy cumulative hazard or survival curve with its pointwise band, from one release alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from executors.pricing.hazard import HazardParams
from executors.release import Outcome
from executors.statistics.hazard_noise import noise_draws, normal_draws
from executors.statistics.hazard_site import SiteCurve, as_release, site_of
from executors.statistics.hazard_tree import Doubles
from planner.facts import Facts

__all__ = ["Curve", "Scale", "curve", "released"]

Scale = Literal["survival", "hazard"]

_BAND_DRAWS = 8000


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve at times 0, t_1, ..., t_B: arrays of shape (B + 1,), the estimate in its band.

    `reliable` tells how many bins can be trusted: up to there at least q records are at risk.
    """

    time: Doubles
    estimate: Doubles
    lower: Doubles
    upper: Doubles
    at_risk: tuple[int, ...]
    reliable: int

    @property
    def reliable_to(self) -> float:
        """The last time that can be trusted; 0 where there is none."""
        return float(self.time[self.reliable])

    def json(self) -> dict[str, Any]:
        """The curve as JSON values: lists of B + 1 numbers, and how far it can be trusted."""
        return {
            "time": self.time.tolist(),
            "estimate": self.estimate.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "at_risk": list(self.at_risk),
            "reliable_to": self.reliable_to,
        }


def curve(site: SiteCurve, level: float, scale: Scale) -> Curve:
    """The curve with a band of which each time's true value lies outside with chance `level`.

    The estimate is the nondecreasing curve nearest to the noisy hazard in least squares, at least
    0; survival is exp(-hazard). (A running maximum would gather the noise's highest points.) The
    band is about the noisy hazard as released: sampling variance, step of the running maximum x
    the mean of 1/Y of every bin up to the time, and the noise. It is widened, if at all, to hold
    the estimate.
    """
    raw = site.hazard
    clean = np.maximum(isotonic_regression(raw).x, 0.0)
    highest = np.maximum.accumulate(np.maximum(raw, 0.0))
    variance = np.cumsum(np.diff(highest, prepend=0.0) * site.inverse_at_risk())
    half = _half_width(site, variance, level)
    lower = np.minimum(np.maximum(raw - half, 0.0), clean)
    upper = np.maximum(raw + half, clean)
    estimate, lower, upper = (np.concatenate([[0.0], part]) for part in (clean, lower, upper))
    if scale == "survival":
        # A survival curve falls: the upper end of the hazard is the lower end of its band.
        estimate, lower, upper = np.exp(-estimate), np.exp(-upper), np.exp(-lower)
    time = np.linspace(0.0, site.value.horizon, site.bins + 1)
    return Curve(time, estimate, lower, upper, _counts(site), site.reliable())


def released(site: Outcome, params: HazardParams, facts: Facts, scale: Scale) -> Outcome:
    """The release of a curve, made of a source's release; the raw hazard and counts stay in it."""
    measured = site_of(as_release(site))
    found = curve(measured, float(params.level), scale)
    (duration,) = facts.source.role("duration")
    value: dict[str, Any] = {
        "kind": "survival" if scale == "survival" else "cumulative_hazard",
        "time_column": duration.name,
        **found.json(),
        "level": float(params.level),
        "raw": dict(site.value),
    }
    if scale == "survival":
        value |= _medians(found)
    return Outcome(
        value=value,
        uncertainty={
            "of": "the curve of the population that the records are drawn from, at one time",
            "confidence": 1.0 - float(params.level),
            "hazard_noise_sd": site.uncertainty["hazard_sd"],
            "at_risk_noise_sd": site.uncertainty["at_risk_sd"],
        },
        noise=site.noise,
        notes=(
            "The estimate never rises or falls back and stays in its range; `raw` holds the noisy "
            "sums before that.",
            "Beyond `reliable_to` so few may be at risk that the curve is biased.",
            "`at_risk` is noisy too.",
        ),
    )


def _medians(found: Curve) -> dict[str, float | None]:
    """The median with the ends of its band, None where survival does not fall to a half in reach.

    Ends: the first times at which the lower, then the upper end of the band is at most a half.
    """

    def first(curve: Doubles) -> float | None:
        below = np.flatnonzero(curve[: found.reliable + 1] <= 0.5)
        return float(found.time[below[0]]) if len(below) else None

    return {
        "median": first(found.estimate),
        "median_lower": first(found.lower),
        "median_upper": first(found.upper),
    }


def _half_width(site: SiteCurve, variance: Doubles, level: float) -> Doubles:
    if site.hazard_law == "gaussian":
        return np.asarray(-ndtri(level / 2.0) * np.sqrt(variance + site.hazard_sd**2))
    drawn = normal_draws(site.bins, _BAND_DRAWS) * np.sqrt(variance)
    noise = noise_draws(site.value.tree, "laplace", site.bins, _BAND_DRAWS, 3)
    return np.asarray(np.quantile(np.abs(drawn + site.hazard_scale * noise), 1.0 - level, axis=0))


def _counts(site: SiteCurve) -> tuple[int, ...]:
    """Noisy numbers at risk as a reader wants them: whole, never rising, in [0, n]."""
    falling = isotonic_regression(site.at_risk, increasing=False).x
    counts = np.clip(falling, 0.0, float(site.value.n))
    return (site.value.n, *(int(count) for count in np.rint(counts)))
