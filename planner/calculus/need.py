"""What a mechanism says it will draw, before anyone has chosen a scale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.calculus.leaves import Kind

__all__ = ["Need"]


@dataclass(frozen=True, slots=True)
class Need:
    """One leaf without a scale, for one source of a statement.

    `sensitivity` is computed on demand, for ONE row replaced (lap: L1, gauss: L2, br and pure:
    L-infinity, dgauss: grid steps), as a rational upper bound; it is None for a cap. `share` is
    the part of the statement's cost that this leaf takes, in what adds up (eps, rho, mu squared);
    the shares of a source sum to 1. `minimum_scale` is the least scale that the mechanism accepts
    (0: none); a smaller one is an error when planned.
    """

    kind: Kind
    sensitivity: Callable[[], Fraction] | None
    count: int = 1
    width: int = 1
    role: str = ""
    share: Fraction = Fraction(1)
    dataset: str = ""
    site: str | None = None
    factor: int = 1
    of: tuple[Kind, ...] = ()
    minimum_scale: Fraction = Fraction(0)
