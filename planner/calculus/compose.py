"""Composition: what several releases about the same people cost together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from planner.calculus import dominating_pairs, grid_eps
from planner.calculus.convert import Native, Unconvertible, charge
from planner.calculus.exact import exact, root_up, round_up, sum_up, text
from planner.calculus.leaves import Leaf, Priced
from planner.calculus.profiles import (
    gdp_eps,
    laplace_eps,
    pure_eps,
    range_eps,
    zcdp_eps,
)

__all__ = ["Bound", "SHOWN_DELTAS", "eps_at", "over_sites", "total", "view"]

SHOWN_DELTAS = (Fraction(1, 10**5), Fraction(1, 10**6))
"""Where no delta is named, (eps, delta) is shown at these."""

_LONGEST_RATIO = 20
_LONGEST_DECIMAL = 62
_BOUNDED = ("pure", "lap", "br")


@dataclass(frozen=True, slots=True)
class Bound:
    """A sound eps at some delta; `by` names the rule that gave it."""

    eps: Fraction
    by: str


def total(leaves: Iterable[Priced], unit: Native, max_sites: int = 1) -> Fraction | None:
    """The cost of all leaves together in `unit` (mu squared for mu); None if none may be claimed.

    Each leaf is converted by its own rule, rounded up, times its count. Leaves without a site add
    up. Those of a dataset's sites add up within a site, then the `max_sites` dearest sites of the
    dataset add up: a person is at so many. One leaf without a rule makes the total None.
    """
    return over_sites(
        ((leaf.dataset, leaf.site, _several(leaf, unit)) for leaf in leaves), max_sites
    )


def over_sites(
    parts: Iterable[tuple[str, str | None, Fraction | None]], max_sites: int = 1
) -> Fraction | None:
    """(dataset, site or None, cost) in a unit that adds up, put together as `total` says.

    Raises ValueError for fewer than one site a person.
    """
    if max_sites < 1:
        raise ValueError("a person is at one site at least")
    whole: list[Fraction] = []
    sites: dict[str, dict[str, list[Fraction]]] = {}
    for dataset, site, cost in parts:
        if cost is None:
            return None
        if site is None:
            whole.append(cost)
        else:
            sites.setdefault(dataset, {}).setdefault(site, []).append(cost)
    for members in sites.values():
        costs = sorted((sum_up(costs) for costs in members.values()), reverse=True)
        whole.extend(costs[:max_sites])
    return sum_up(whole)


def eps_at(
    leaves: Iterable[Priced], delta: Fraction, max_sites: int = 1, *, grid: bool = True
) -> Bound | None:
    """The least sound eps >= 0 of all leaves together at `delta`; None if none may be claimed.

    Bounds: the eps total; a profile for one single draw (C11); C10 of the mu total; C9 of the rho
    total; bounded draws by their eps total with the rest by C10 or C9; with declared (eps, delta)
    costs, their sums with the rest at what is left of delta; privacy losses composed on a grid
    (PLD), unless `grid` is False or a closed form is exact. Each bounds the same fixed release, so
    the least may be reported. Raises ValueError for a delta outside [0, 1).
    """
    kept = tuple(leaves)
    if not 0 <= exact(delta) < 1:
        raise ValueError("delta must lie in [0, 1)")
    given = tuple(leaf for leaf in kept if isinstance(leaf, Leaf) and leaf.kind == "adp")
    found = _with_given(kept, given, delta, max_sites) if given else _bounds(kept, delta, max_sites)
    if grid and delta > 0 and not any(bound.eps == 0 for bound in found):
        found.extend(_on_grid(kept, delta, max_sites))
    return _least(found)


def view(
    leaves: Iterable[Priced], deltas: Iterable[Fraction] = (), max_sites: int = 1
) -> dict[str, Any]:
    """The cost in every unit as JSON values: numbers as text, null where nothing may be claimed.

    Long numbers are rounded up to 18 significant digits, mu is the root of mu_squared rounded up.
    Here that is the sum of the parts (`mu_of_parts`); `planner.calculus.joint_total` may know less.
    `eps_delta` lists eps at each of `deltas`
    (1e-5 and 1e-6 where there is none), first at 0 where the loss is bounded.
    """
    kept = tuple(leaves)
    eps = total(kept, "eps", max_sites)
    mu_squared = total(kept, "mu_squared", max_sites)
    wanted = tuple(dict.fromkeys(deltas)) or SHOWN_DELTAS
    if eps is not None and Fraction(0) not in wanted:
        wanted = (Fraction(0), *wanted)
    pairs = []
    for delta in wanted:
        bound = eps_at(kept, delta, max_sites)
        if bound is not None:
            pairs.append({"eps": _shown(bound.eps), "delta": text(delta), "by": bound.by})
    mu = None if mu_squared is None else text(root_up(mu_squared))
    return {
        "eps": _shown(eps),
        "rho": _shown(total(kept, "rho", max_sites)),
        "mu": mu,
        "mu_squared": _shown(mu_squared),
        "mu_by": None if mu is None else "sum",
        "mu_of_parts": mu,
        "eps_delta": pairs,
    }


def _several(leaf: Priced, unit: Native) -> Fraction | None:
    try:
        return leaf.count * charge(leaf, unit).value
    except Unconvertible:
        return None


def _bounds(leaves: tuple[Priced, ...], delta: Fraction, max_sites: int) -> list[Bound]:
    if not leaves:
        return [Bound(Fraction(0), "eps")]
    found: list[Bound] = []
    eps = total(leaves, "eps", max_sites)
    if eps is not None:
        found.append(Bound(eps, "eps"))
    if delta == 0:
        return found
    if len(leaves) == 1 and leaves[0].count == 1 and leaves[0].kind in _ONE_DRAW:
        found.append(Bound(_ONE_DRAW[leaves[0].kind](leaves[0].param, delta), "C11"))
    found.extend(_smooth(leaves, delta, max_sites))
    loose = tuple(leaf for leaf in leaves if leaf.kind not in _BOUNDED)
    bounded = total((leaf for leaf in leaves if leaf.kind in _BOUNDED), "eps", max_sites)
    if loose and bounded:
        rest = _smooth(loose, delta, max_sites)
        found.extend(Bound(bounded + one.eps, f"eps+{one.by}") for one in rest)
    return found


def _smooth(leaves: tuple[Priced, ...], delta: Fraction, max_sites: int) -> list[Bound]:
    """The bounds by one unit that Gaussian noise has, each at the whole of delta."""
    found: list[Bound] = []
    for rule, unit, solved in _SMOOTH:
        cost = total(leaves, unit, max_sites)
        if cost is not None:
            found.append(Bound(solved(cost, delta), rule))
    return found


def _with_given(
    leaves: tuple[Priced, ...], given: tuple[Leaf, ...], delta: Fraction, max_sites: int
) -> list[Bound]:
    """Declared (eps, delta) costs add up, over all sites too, beside the best bound of the rest."""
    spent = sum_up(leaf.count * leaf.delta for leaf in given)
    rest = tuple(leaf for leaf in leaves if leaf.kind != "adp")
    if spent > delta:
        return []
    eps = sum_up(leaf.count * leaf.param for leaf in given)
    best = _least(_bounds(rest, delta - spent, max_sites))
    return [] if best is None else [Bound(eps + best.eps, f"adp+{best.by}")]


def _on_grid(leaves: tuple[Priced, ...], delta: Fraction, max_sites: int) -> list[Bound]:
    """The largest eps over the sites where a person may be, each composed as it is."""
    places = dominating_pairs.parts_over_sites(leaves, max_sites)
    if places is None or all(grid_eps.is_closed(parts) for parts in places):
        return []
    found = [grid_eps.eps_at(parts, delta) for parts in places]
    known = [eps for eps in found if eps is not None]
    return [Bound(max(known), "PLD")] if len(known) == len(found) else []


def _least(bounds: Sequence[Bound]) -> Bound | None:
    return min(bounds, key=lambda bound: bound.eps, default=None)


def _shown(value: Fraction | None) -> str | None:
    """The exact text where it is short, else that of the number rounded up to 18 digits."""
    if value is None:
        return None
    written = text(value)
    longest = _LONGEST_RATIO if "/" in written else _LONGEST_DECIMAL
    return written if len(written) <= longest else text(round_up(value))


_SMOOTH: tuple[tuple[str, Native, Callable[[Fraction, Fraction], Fraction]], ...] = (
    ("C10", "mu_squared", gdp_eps),
    ("C9", "rho", zcdp_eps),
)
_ONE_DRAW: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "pure": pure_eps,
    "lap": laplace_eps,
    "br": range_eps,
}
