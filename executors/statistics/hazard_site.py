"""One source's release: its noisy cumulative hazard with its noisy counts at risk.

All else (a curve with its band, a test of two sites) is computed from the JSON of such releases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from executors.noise import StatementNoise
from executors.noise.realise import gaussian_grid, laplace_grid
from executors.pricing.hazard import (
    AT_RISK,
    HAZARD,
    MOST_BINS,
    HazardParams,
    floor_of,
    horizon_of,
    query,
)
from executors.release import NoiseNote, Outcome
from executors.statistics.hazard_leaves import STEPS, leaves
from executors.statistics.hazard_noise import Law, deviations, upper_reach
from executors.statistics.hazard_tree import Doubles, measured, prefixes
from executors.summaries.survival_groups import SurvivalGroups
from planner.calculus.leaves import Loss
from planner.facts import Facts, SourceFacts
from planner.mechanism import Query

__all__ = ["SiteCurve", "SiteValue", "as_release", "laws_of", "measure", "site_of"]

_LAWS: Mapping[str, Law] = {"discrete_gaussian": "gaussian", "discrete_laplace": "laplace"}
Finite = Annotated[float, Field(strict=True, ge=-1e100, le=1e100)]
"""What noise makes of a sum of at most 10^15 records lies far inside; NaN is refused."""


class SiteValue(BaseModel):
    """The `value` of a source's release; it names n and q, which are public.

    `hazard` holds the noisy cumulative hazard at the end of each bin, `at_risk` the noisy number of
    records whose time lies beyond it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    source: str
    n: int = Field(ge=2)
    floor: int = Field(ge=1)
    horizon: float = Field(gt=0, allow_inf_nan=False)
    tree: Literal["sqrt", "haar"]
    hazard: tuple[Finite, ...] = Field(min_length=1, max_length=MOST_BINS)
    at_risk: tuple[Finite, ...]

    @model_validator(mode="after")
    def _consistent(self) -> SiteValue:
        if len(self.at_risk) != len(self.hazard):
            raise ValueError("hazard and at_risk do not have one number a bin each")
        bins = len(self.hazard)
        if self.tree == "haar" and (bins < 2 or bins & (bins - 1)):
            raise ValueError("tree=haar wants a power of two of bins")
        if self.floor > self.n:
            raise ValueError("the floor is above the number of records")
        return self


@dataclass(frozen=True, slots=True)
class SiteCurve:
    """A source's release as numbers; arrays have one entry a bin, laws the scale really drawn."""

    value: SiteValue
    hazard: Doubles
    at_risk: Doubles
    hazard_law: Law
    hazard_scale: float
    at_risk_law: Law
    at_risk_scale: float

    @property
    def hazard_noise(self) -> tuple[Law, float]:
        """Law and scale of the noise on the measured hazard."""
        return self.hazard_law, self.hazard_scale

    @property
    def at_risk_noise(self) -> tuple[Law, float]:
        """Law and scale of the noise on the measured counts."""
        return self.at_risk_law, self.at_risk_scale

    @property
    def bins(self) -> int:
        """B."""
        return len(self.hazard)

    @property
    def hazard_sd(self) -> Doubles:
        """The standard deviation of the noise on each cumulative hazard."""
        return deviations(self.value.tree, self.hazard_law, self.bins, self.hazard_scale)

    def reliable(self) -> int:
        """The number of first bins at whose ends surely, but for 5 %, at least q are at risk."""
        reach = upper_reach(self.value.tree, self.at_risk_law, self.bins, self.at_risk_scale)
        fails = np.flatnonzero(self.at_risk - reach < self.value.floor)
        return int(fails[0]) if len(fails) else self.bins

    def least_at_risk(self) -> Doubles:
        """The records at risk when each bin begins, shape (B,): never more than before, in [q, n].

        Post-processing of the noisy counts; n at the beginning is public.
        """
        return self._at_risk()[:-1]

    def inverse_at_risk(self) -> Doubles:
        """The mean of 1/Y over each bin, by its values at the two ends, shape (B,)."""
        inverse = 1.0 / self._at_risk()
        return np.asarray((inverse[:-1] + inverse[1:]) / 2.0)

    def _at_risk(self) -> Doubles:
        counts = np.concatenate([[float(self.value.n)], self.at_risk])
        falling = np.minimum.accumulate(np.minimum(counts, float(self.value.n)))
        return np.asarray(np.maximum(falling, float(self.value.floor)))


def measure(
    params: HazardParams,
    facts: Facts,
    loss: Loss,
    stats: Callable[[Query], SurvivalGroups],
    noise: StatementNoise,
    horizon: Fraction | None = None,
) -> Outcome:
    """The release of the first source of `facts`, with the two leaves that `loss` has for it.

    The only step that sees rows; all else is made of what it returns. `horizon` is given where
    several sources share one that `facts` does not show.
    """
    source = facts.source
    end = horizon_of(params, facts) if horizon is None else horizon
    floor = floor_of(params, source)
    mine = {leaf.role: leaf for leaf in loss.leaves if _home(leaf) == (source.dataset, source.site)}
    found = leaves(stats(query(params, facts)), end, params.bins, floor)
    curves: dict[str, Doubles] = {}
    notes: list[NoiseNote] = []
    for role, numbers, step in (
        (HAZARD, found.hazard, Fraction(1, STEPS)),
        (AT_RISK, found.ended, Fraction(1)),
    ):
        leaf = mine[role]
        draw = noise.lap if leaf.kind == "lap" else noise.gauss
        noisy, note = draw(leaf, measured(params.tree, numbers, step))
        curves[role] = prefixes(params.tree, noisy)
        notes.append(note)
    return Outcome(
        value={
            "source": source.name,
            "n": source.rows,
            "floor": floor,
            "horizon": float(end),
            "tree": params.tree,
            "hazard": curves[HAZARD].tolist(),
            "at_risk": (source.rows - curves[AT_RISK]).tolist(),
        },
        uncertainty={
            "of": "the sums over these records without noise",
            "hazard_sd": deviations(
                params.tree, _LAWS[notes[0].law], params.bins, notes[0].scale
            ).tolist(),
            "at_risk_sd": deviations(
                params.tree, _LAWS[notes[1].law], params.bins, notes[1].scale
            ).tolist(),
        },
        noise=tuple(notes),
    )


def _home(leaf: Any) -> tuple[str, str | None]:
    return leaf.dataset, leaf.site


def laws_of(loss: Loss, source: SourceFacts) -> dict[str, tuple[Law, float]]:
    """Law and scale, by role, of the noise that a source draws: its leaves' on their grids.

    Raises ValueError for a leaf without a scale.
    """
    found: dict[str, tuple[Law, float]] = {}
    for leaf in loss.leaves:
        if (leaf.dataset, leaf.site) != (source.dataset, source.site):
            continue
        if leaf.sensitivity is None or leaf.scale is None:
            raise ValueError("a leaf of a curve has a scale")
        grid_of = laplace_grid if leaf.kind == "lap" else gaussian_grid
        grid = grid_of(leaf.sensitivity, leaf.scale, leaf.width)
        found[leaf.role] = ("laplace" if leaf.kind == "lap" else "gaussian", float(grid.width))
    return found


def as_release(outcome: Outcome) -> dict[str, Any]:
    """What `site_of` reads of an outcome, as its file would hold it."""
    noise = [{"law": n.law, "scale": n.scale, "role": n.role} for n in outcome.noise]
    return {"value": dict(outcome.value), "noise": noise}


def site_of(release: Mapping[str, Any]) -> SiteCurve:
    """A source's release, from its JSON. Raises ValueError where it is none."""
    try:
        return _read(release)
    except (KeyError, TypeError, AttributeError, OverflowError) as failure:
        raise ValueError("this is no release of a curve") from failure


def _read(release: Mapping[str, Any]) -> SiteCurve:
    value = SiteValue.model_validate(release["value"])
    laws: dict[str, tuple[Law, float]] = {}
    for note in release["noise"]:
        law, scale = _LAWS.get(note["law"]), float(note["scale"])
        if law is None or not (math.isfinite(scale) and scale > 0) or note["role"] in laws:
            raise ValueError("the noise of a curve is discrete Gaussian or Laplace, once a list")
        laws[note["role"]] = (law, scale)
    if set(laws) != {HAZARD, AT_RISK}:
        raise ValueError("a curve has noise on its hazard and on its counts at risk")
    return SiteCurve(
        value, np.array(value.hazard), np.array(value.at_risk), *laws[HAZARD], *laws[AT_RISK]
    )
