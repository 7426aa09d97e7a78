"""Made-up survival of two sites, through the measurement and its noise, for simulations."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from executors.pricing.hazard import AT_RISK, HAZARD, CurveParams, floor_of, needs
from executors.statistics.hazard_leaves import STEPS, leaves
from executors.statistics.hazard_site import SiteCurve, SiteValue
from executors.statistics.hazard_tree import to_prefixes
from planner.calculus.cost import Cost
from planner.calculus.inverse import solve
from planner.facts import Facts
from suites.hazard_cases import source

__all__ = ["World"]


@dataclass(frozen=True)
class World:
    """Exponential times and censoring at one site, with the price of its release.

    Noise is drawn with the ideal law of each leaf by a seeded generator and added to the sums,
    which is what adding it to the measured numbers comes to.
    """

    rows: int
    cost: Cost
    tree: str
    rate: float
    censoring: float
    bins: int = 32

    @cached_property
    def params(self) -> CurveParams:
        return CurveParams(bins=self.bins, tree=self.tree, horizon=F(1))

    @cached_property
    def laws(self) -> dict[str, tuple[Any, float]]:
        facts = Facts((source(self.rows),), ())
        loss = solve(needs(self.params, facts, {"people": self.cost.unit}), self.cost)
        names: dict[str, Any] = {"lap": "laplace", "gauss": "gaussian"}
        return {leaf.role: (names[leaf.kind], float(leaf.scale or 0)) for leaf in loss.leaves}

    def release(self, rng: np.random.Generator) -> SiteCurve:
        """One site's release, of records that are drawn anew."""
        ends = rng.exponential(1 / self.rate, self.rows)
        censored = rng.exponential(1 / self.censoring, self.rows)
        time, seen = np.minimum(ends, censored), ends <= censored
        order = np.argsort(time)
        groups: Any = SimpleNamespace(
            time=time[order],
            count=np.ones(self.rows, dtype=np.int64),
            events=seen[order].astype(np.int64),
        )
        floor = floor_of(self.params, source(self.rows))
        found = leaves(groups, F(1), self.bins, floor)
        hazard = np.cumsum(found.hazard) / STEPS + self._noise(HAZARD, rng)
        at_risk = self.rows - np.cumsum(found.ended) + self._noise(AT_RISK, rng)
        value = SiteValue(
            source="people",
            n=self.rows,
            floor=floor,
            horizon=1.0,
            tree=self.params.tree,
            hazard=tuple(hazard.tolist()),
            at_risk=tuple(at_risk.tolist()),
        )
        return SiteCurve(value, hazard, at_risk, *self.laws[HAZARD], *self.laws[AT_RISK])

    def _noise(self, role: str, rng: np.random.Generator) -> Any:
        law, scale = self.laws[role]
        matrix = to_prefixes(self.params.tree, self.bins)
        size = matrix.shape[1]
        drawn = rng.laplace(size=size) if law == "laplace" else rng.standard_normal(size)
        return scale * (matrix @ drawn)
