"""What all leaves of a plan cost together in mu squared: less than the sum of their own costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from planner.calculus.compose import over_sites, total
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.exact import round_up
from planner.calculus.joint import joint, least_possible
from planner.calculus.leaves import Priced

__all__ = ["JointTotal", "could_be", "joint_total"]

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class JointTotal:
    """mu squared of all leaves; `by` is "sum", or "PLD" where composing lowered it."""

    mu_squared: Fraction
    by: str


def joint_total(leaves: Iterable[Priced], max_sites: int = 1) -> JointTotal | None:
    """The least mu squared of all leaves that is proved; None where none may be claimed.

    Leaves of one dataset and site are composed together where that is less than their sum,
    rounded up to 12 digits; datasets and sites then add up as in `compose.total`. It holds for a
    plan as a whole, fixed before data access and published after its last draw.
    """
    kept = tuple(leaves)
    whole = total(kept, "mu_squared", max_sites)
    if whole is None:
        return None
    lower = over_sites(
        ((*home, _least(members)) for home, members in _homes(kept).items()), max_sites
    )
    if lower is None or lower >= whole:
        return JointTotal(whole, "sum")
    return JointTotal(lower, "PLD")


def could_be(leaves: Iterable[Priced], mu_squared: Fraction, max_sites: int = 1) -> bool:
    """Whether composing may bring the leaves to this; quick, and False only where it cannot."""
    least = over_sites(
        ((*home, _bottom(members)) for home, members in _homes(leaves).items()), max_sites
    )
    return least is not None and least <= mu_squared


def _homes(leaves: Iterable[Priced]) -> dict[tuple[str, str | None], list[Priced]]:
    found: dict[tuple[str, str | None], list[Priced]] = {}
    for leaf in leaves:
        found.setdefault((leaf.dataset, leaf.site), []).append(leaf)
    return found


def _least(members: list[Priced]) -> Fraction | None:
    own = total(members, "mu_squared", len(members))
    parts = parts_of(members)
    if own is None or parts is None:
        return None
    found = joint(parts)
    return own if found is None else min(own, round_up(found.mu_squared, _DIGITS))


def _bottom(members: list[Priced]) -> Fraction | None:
    parts = parts_of(members)
    return None if parts is None else least_possible(parts)
