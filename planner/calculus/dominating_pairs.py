"""The dominating pairs that one person may meet: leaves by where the person's rows are."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product

from planner.calculus.convert import charge
from planner.calculus.discretise import Part
from planner.calculus.exact import round_up, sum_up
from planner.calculus.leaves import Leaf, Priced

__all__ = ["parts_over_sites", "parts_of"]

_GAUSSIAN = ("gauss", "dgauss", "gdp")
_DIGITS = 12
_MOST = 16
_TRIED = 1000


def parts_of(leaves: Iterable[Priced]) -> tuple[Part, ...] | None:
    """The leaves of one person by worst pair, equal ones counted; None where a leaf has none.

    That is zcdp, and an adp whose delta is not known. All Gaussian ones are one pair with the sum
    of their mu squared, rounded up at 1e-60. A cap is the pair of its whole reserve. Parameters of
    the others are rounded up to 12 digits: draws of one cost and different sensitivities, whose
    scales are rounded in the 18th, are then alike, as they are where only their cost is known.
    """
    counts: dict[tuple[str, Fraction, Fraction], int] = {}
    squares = list[Fraction]()
    for leaf in leaves:
        if leaf.kind == "zcdp" or (leaf.kind == "adp" and not isinstance(leaf, Leaf)):
            return None
        if leaf.kind in _GAUSSIAN:
            squares.append(leaf.count * charge(leaf, "mu_squared").value)
            continue
        delta = leaf.delta if isinstance(leaf, Leaf) else Fraction(0)
        key = (leaf.kind, round_up(leaf.param, _DIGITS), delta)
        counts[key] = counts.get(key, 0) + leaf.count
    parts = [Part(kind, param, count, delta) for (kind, param, delta), count in counts.items()]
    if squares:
        parts.append(Part("gdp", sum_up(squares)))
    return tuple(sorted(parts))


def parts_over_sites(
    leaves: Iterable[Priced], max_sites: int = 1
) -> tuple[tuple[Part, ...], ...] | None:
    """The parts at each choice of `max_sites` sites a dataset, once each; None where unknown.

    A person meets the leaves of so many sites beside those of the whole dataset. Unknown with a
    zcdp leaf, and beyond 16 different choices.
    """
    kept = tuple(leaves)
    sites: dict[str, dict[str, list[Priced]]] = {}
    for leaf in kept:
        if leaf.site is not None:
            sites.setdefault(leaf.dataset, {}).setdefault(leaf.site, []).append(leaf)
    whole = [leaf for leaf in kept if leaf.site is None]
    choices = [
        combinations(places.values(), min(max_sites, len(places))) for places in sites.values()
    ]
    found: dict[tuple[Part, ...], None] = {}
    for number, choice in enumerate(product(*choices)):
        chosen = (leaf for places in choice for members in places for leaf in members)
        parts = parts_of([*whole, *chosen])
        if parts is None or number > _TRIED:
            return None
        found[parts] = None
        if len(found) > _MOST:
            return None
    return tuple(found)
