"""Which worst pairs one person may meet: leaves by where the person's rows are."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from planner.calculus.convert import charge
from planner.calculus.dots import Part
from planner.calculus.leaves import Leaf, Priced

__all__ = ["mixes", "parts_of"]

_GAUSSIAN = ("gauss", "dgauss", "gdp")
_MOST = 16


def parts_of(leaves: Iterable[Priced]) -> tuple[Part, ...] | None:
    """The leaves of one person by worst pair, equal ones counted; None where a zcdp leaf has none.

    All Gaussian ones are one pair with the sum of their mu squared, exactly. A cap is the pair of
    its whole reserve.
    """
    counts: dict[tuple[str, Fraction, Fraction], int] = {}
    mu_squared = Fraction(0)
    for leaf in leaves:
        if leaf.kind == "zcdp":
            return None
        if leaf.kind in _GAUSSIAN:
            mu_squared += leaf.count * charge(leaf, "mu_squared").value
            continue
        key = (leaf.kind, leaf.param, leaf.delta if isinstance(leaf, Leaf) else Fraction(0))
        counts[key] = counts.get(key, 0) + leaf.count
    parts = [Part(kind, param, count, delta) for (kind, param, delta), count in counts.items()]
    if mu_squared:
        parts.append(Part("gdp", mu_squared))
    return tuple(sorted(parts))


def mixes(leaves: Iterable[Priced], max_sites: int = 1) -> tuple[tuple[Part, ...], ...] | None:
    """The parts at each choice of one site a dataset, without repetitions; None where unknown.

    Unknown with a zcdp leaf, with persons at several sites (the worst pair of two sites is that of
    no one site), and beyond 16 different choices.
    """
    kept = tuple(leaves)
    if max_sites > 1 and any(leaf.site is not None for leaf in kept):
        return None
    sites: dict[str, dict[str, list[Priced]]] = {}
    for leaf in kept:
        if leaf.site is not None:
            sites.setdefault(leaf.dataset, {}).setdefault(leaf.site, []).append(leaf)
    whole = [leaf for leaf in kept if leaf.site is None]
    different = [
        {parts_of(members): members for members in places.values()} for places in sites.values()
    ]
    if any(None in places for places in different):
        return None
    found: dict[tuple[Part, ...], None] = {}
    for choice in product(*(places.values() for places in different)):
        parts = parts_of([*whole, *(leaf for members in choice for leaf in members)])
        if parts is None:
            return None
        found[parts] = None
        if len(found) > _MOST:
            return None
    return tuple(found)
