"""The price of a score test: one noisy vector, beside one noisy trace."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from executors.pricing.drawable import Norm
from executors.pricing.survival import floor_count, with_slack
from executors.pricing.survival_domain import Domain
from executors.pricing.survival_score import (
    score_error,
    score_factor,
    squared_diameter,
    trace_error,
    trace_sensitivity,
)
from planner.calculus.cost import Cost, Unit
from planner.calculus.exact import root_up
from planner.calculus.leaves import Kind
from planner.calculus.need import Need
from planner.calculus.profiles import gdp_mu
from planner.facts import SourceFacts

__all__ = ["Law", "NoiseWord", "ScoreDesign", "quieter_noise"]

NoiseWord = Literal["knorm", "gaussian"]
Law = Literal["laplace", "gaussian", "knorm_linf", "knorm_l2"]

LARGEST_BALL = 6
"""Up to so many covariates noise in the shape of a ball is drawn without much rejection."""
LEAST_SCALE = Fraction(1, 2**40)
"""Noise is never smaller than this part of a statistic's range."""


@dataclass(frozen=True, slots=True)
class ScoreDesign:
    """A test of b0 on `rows` records, the trace on `trace_rows` (all of them unless split).

    `domain` is that of the covariates. With `scale` (a box alone) each is centred and multiplied
    by it, so that it lies in [-1, 1]; statistics are in these units. `share` of the cost pays for
    the score, the rest for the trace (1: no trace is released). `floor` and `trace_floor` are the
    numbers of records at risk below which events weigh less (0: never).
    """

    rows: int
    trace_rows: int
    floor: int
    trace_floor: int
    domain: Domain
    null: tuple[Fraction, ...]
    scale: tuple[Fraction, ...] | None
    share: Fraction

    @classmethod
    def of(
        cls,
        rows: int,
        riskfloor: Fraction,
        domain: Domain,
        null: tuple[Fraction, ...],
        share: Fraction,
        *,
        standardise: bool,
        split: bool = False,
    ) -> ScoreDesign:
        """`split` gives the ceil(n/10) first rows to the trace, the others to the score."""
        first = -(-rows // 10) if split else 0
        scale = tuple(2 / (hi - lo) for lo, hi in zip(domain.lo, domain.hi))
        own, of_trace = rows - first, first if split else rows
        return cls(
            rows=own,
            trace_rows=of_trace,
            floor=floor_count(riskfloor, own),
            trace_floor=floor_count(riskfloor, of_trace),
            domain=domain,
            null=null,
            scale=scale if standardise and domain.radius is None else None,
            share=share,
        )

    @property
    def columns(self) -> int:
        """d."""
        return len(self.null)

    @property
    def is_split(self) -> bool:
        """Whether score and trace read different rows."""
        return self.trace_rows != self.rows

    @property
    def null_width(self) -> Fraction:
        """W0, the width of b0.x over the domain."""
        return self.domain.width(self.null)

    @property
    def squared_diameter(self) -> Fraction:
        """Diam^2 of the domain in the units of the statistics."""
        return Fraction(4 * self.columns) if self.scale else squared_diameter(self.domain)

    @property
    def largest_trace(self) -> Fraction:
        """R2: no covariance on the domain has a larger trace."""
        return self.squared_diameter / 4

    @property
    def diameter(self) -> Fraction:
        """Diam, rounded up."""
        return root_up(self.squared_diameter, 30)

    @property
    def factor(self) -> Fraction:
        """S: one record moves h.U by at most S times the width of h.x."""
        return score_factor(self.rows, self.floor, self.null_width)

    @property
    def norm(self) -> Norm:
        """The norm of pure noise on more than one number: l2 on a small ball, else l-infinity."""
        return "l2" if self.scale is None and self.columns <= LARGEST_BALL else "linf"

    @property
    def norm_width(self) -> Fraction:
        """The diameter of the domain in `norm`."""
        return Fraction(2) if self.scale and self.columns > 1 else self.diameter

    @property
    def score_error(self) -> Fraction:
        """By how much floating-point arithmetic may miss the score, in l2."""
        return score_error(self.rows, self.columns, self.null_width, self.diameter)

    @property
    def trace_error(self) -> Fraction:
        """By how much floating-point arithmetic may miss the trace."""
        columns, width = self.columns, self.squared_diameter
        return trace_error(self.trace_rows, columns, self.null_width, width)

    @property
    def trace_sensitivity(self) -> Fraction:
        """How far one record moves the trace as it is computed."""
        found = trace_sensitivity(
            self.trace_rows, self.trace_floor, self.null_width, self.squared_diameter
        )
        return with_slack(found, self.trace_error)

    def score_sensitivity(self, kind: Kind) -> Fraction:
        """How far one record moves the score as it is computed: in l2, for `pure` in `norm`."""
        width = self.norm_width if kind == "pure" else self.diameter
        return with_slack(width * self.factor, self.score_error)

    def needs(self, source: SourceFacts, unit: Unit, noise: NoiseWord) -> tuple[Need, ...]:
        """The leaves of a release: the score, then the trace where one is released.

        Laplace noise on one number under eps, K-norm noise on several, Gaussian noise under rho and
        mu; under eps with delta `noise` says which. Proof: the score mechanism's proof.md.
        """
        smooth = unit in ("rho", "mu") or (unit == "eps_delta" and noise == "gaussian")
        several = self.columns > 1
        kind: Kind = "gauss" if smooth else "pure" if several else "lap"
        score = Need(
            kind=kind,
            sensitivity=lambda: self.score_sensitivity(kind),
            width=self.columns,
            role="score",
            share=self.share,
            dataset=source.dataset,
            site=source.site,
            minimum_scale=self.rows * self.diameter * LEAST_SCALE,
        )
        if self.share == 1:
            return (score,)
        trace = Need(
            kind="gauss" if smooth else "lap",
            sensitivity=lambda: self.trace_sensitivity,
            role="trace",
            share=1 - self.share,
            dataset=source.dataset,
            site=source.site,
            minimum_scale=self.trace_rows * self.largest_trace * LEAST_SCALE,
        )
        return score, trace

    def law(self, kind: Kind) -> Law:
        """The law of the noise on the score under a leaf of this kind."""
        if kind == "pure":
            return "knorm_l2" if self.norm == "l2" else "knorm_linf"
        return "gaussian" if kind == "gauss" else "laplace"


def quieter_noise(design: ScoreDesign, cost: Cost) -> NoiseWord:
    """Whichever noise on the score has the smaller mean square under eps with delta.

    K-norm noise leaves delta unspent: eps' = share eps. Gaussian noise has mu'^2 = share mu^2. Both
    grow with the same sensitivity, so the choice needs none.
    """
    d = design.columns
    if cost.unit != "eps_delta" or d == 1:
        return "knorm"
    spread = Fraction(d * (d + 1)) * design.norm_width**2
    if design.norm == "linf":
        spread *= Fraction(d + 2, 3)
    knorm = spread / (design.share * cost.amount) ** 2
    gaussian = d * design.squared_diameter / (design.share * gdp_mu(cost.amount, cost.delta) ** 2)
    return "knorm" if knorm <= gaussian else "gaussian"
