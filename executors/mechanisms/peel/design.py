"""The public numbers of a `PEEL evalues` statement once its cost is known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from executors.mechanisms.peel.params import EvaluesParams, largest_size
from executors.pricing.allowance import Allowance
from executors.pricing.evalues import (
    FINEST_GRID,
    Rounds,
    rounds,
    sensitivity_steps,
    size_grid,
    value_scale,
)
from planner.calculus.exact import root_up
from planner.calculus.leaves import Leaf
from planner.facts import Column, Facts
from planner.mechanism import AUTO

__all__ = ["Design", "asserted", "evalue_column", "grid_of"]

_DIGITS = 40
"""Of an L2 sensitivity: far more than the slack of any scale, so that a cap is never missed."""


def evalue_column(facts: Facts) -> Column:
    """The LOG_EVALUE column of the source. Raises ValueError where there is none."""
    for column in facts.source.role("log_evalue"):
        return column
    raise ValueError("the source has no LOG_EVALUE column")


def asserted(facts: Facts) -> Fraction:
    """How far one person moves a log e-value, in nats. Raises ValueError where nobody says so."""
    sensitivity = evalue_column(facts).sensitivity
    if sensitivity is None or sensitivity <= 0:
        raise ValueError("a LOG_EVALUE column needs a positive sensitivity")
    return sensitivity


def grid_of(params: EvaluesParams) -> int:
    """The exponent q of the grid 2^-q; 40 while it is left open."""
    return FINEST_GRID if params.grid == AUTO else params.grid


@dataclass(frozen=True, slots=True)
class Design:
    """How an allowance is spent. `sensitivity` is in nats, `steps` in grid steps.

    `size` is the fixed size, or None under ADAPTIVE; then `sizes` are those that the size draw
    weighs, and `choice` pays for that draw (None where there is one size only). `rest` pays for
    everything after it, whatever size comes out.
    """

    hypotheses: int
    sensitivity: Fraction
    grid: int
    share: Fraction
    size: int | None
    largest: int
    choice: Allowance | None
    rest: Allowance

    @classmethod
    def of(cls, params: EvaluesParams, facts: Facts, allowance: Allowance) -> Design:
        """The design of a statement that may spend `allowance`."""
        largest = largest_size(params, facts.rows)
        weighs = params.adaptive and largest > 1
        return cls(
            hypotheses=facts.rows,
            sensitivity=asserted(facts),
            grid=grid_of(params),
            share=params.share,
            size=None if params.adaptive else largest,
            largest=largest,
            choice=allowance.part(params.size_share) if weighs else None,
            rest=allowance.part(1 - params.size_share) if weighs else allowance,
        )

    @property
    def steps(self) -> int:
        """How many grid steps one person moves a value."""
        return sensitivity_steps(self.sensitivity, self.grid)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that are weighed; the size itself where it is fixed."""
        return size_grid(self.largest) if self.size is None else (self.size,)

    def reached(self, weighed: int) -> int:
        """The size that follows from a weighed one: a quarter more, since too few costs more."""
        return weighed if self.size is not None else min(-(-5 * weighed // 4), self.largest)

    def rounds(self, size: int) -> Rounds:
        """What is drawn for that size."""
        return rounds(self.rest, size, self.hypotheses, self.share)

    def scale(self, size: int) -> int:
        """Parameter of the discrete Gaussian behind each value, in grid steps."""
        return value_scale(self.steps, self.rounds(size).value.mu_squared)

    def sigma(self, size: int) -> float:
        """The same in nats."""
        return self.scale(size) / (1 << self.grid)

    def gumbel(self, size: int) -> float | None:
        """Gumbel scale of a selection round, in nats; None where nothing is selected."""
        selection = self.rounds(size).selection
        return None if selection is None else float(2 * self.sensitivity / selection.eta())

    def together(self, size: int) -> Fraction:
        """How many grid steps one person moves that many values jointly, in L2, rounded up."""
        return root_up(Fraction(size * self.steps**2), _DIGITS)

    def draws(self, size: int) -> tuple[Leaf, ...]:
        """Everything that ADAPTIVE charges to its filter if that size comes out."""
        law = self.rounds(size)
        leaves = [Leaf.dgauss(self.together(size), self.scale(size), width=size)]
        if law.selection is not None:
            leaves.append(Leaf.br(law.selection.eta(), 2, count=size))
        if self.choice is not None:
            leaves.append(Leaf.br(self.choice.eta(), 2))
        return tuple(leaves)
