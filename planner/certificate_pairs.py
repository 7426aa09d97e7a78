"""Pairs of eps and delta in a certificate: the way with the least eps from leaves to a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

from planner.calculus import grid_eps
from planner.calculus.compose import total
from planner.calculus.discretise import Part
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.exact import claimable, sum_up, text
from planner.calculus.pld import BITS
from planner.calculus.profiles import (
    gdp_eps,
    laplace_eps,
    pure_eps,
    range_eps,
    zcdp_eps,
    zcdp_order,
)
from planner.certificate_steps import BOUNDED, UNITS, Member, Steps

__all__ = ["least_pair"]

_LEAST_EPS = Fraction(1, 10**18)
_EPS_AT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {"mu2": gdp_eps, "rho": zcdp_eps}
_POINTS, _AT_SITES = 1 << 17, 1 << 19
"""So many points of one grid, and of the grids of all sites, the checker composes in seconds."""

_ONE_DRAW: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "pure": pure_eps,
    "lap": laplace_eps,
    "br": range_eps,
}
_FEW_POINTS, _ROUNDING = 1 << 4, Fraction(1, 1 << 91)
"""On so few points the checker's masses, each rounded up, stay within this."""

Built = tuple[list[str], Fraction]


@dataclass(frozen=True, slots=True)
class _Way:
    """An eps that can be derived, with what writes the nodes whose sum has at most that eps."""

    eps: Fraction
    write: Callable[[], Built]


def least_pair(
    steps: Steps, members: Sequence[Member], delta: Fraction, most: int
) -> Callable[[], Built] | None:
    """What writes the nodes whose sum is the least eps known at `delta`; None where none is.

    Declared pairs add up, beside the rest at what is left of delta; all leaves of one home are
    composed on a grid; sites that share nobody have the largest of their eps. The rest goes
    through mu, rho or eps, or the bounded draws by eps with the others by mu or rho.
    """
    way = min(_ways(steps, members, delta, most), key=lambda way: way.eps, default=None)
    return None if way is None else way.write


def _ways(
    steps: Steps, members: Sequence[Member], delta: Fraction, most: int, points: int = _POINTS
) -> Iterator[_Way]:
    given = tuple(member for member in members if member.leaf.kind == "adp")
    rest = tuple(member for member in members if member.leaf.kind != "adp")
    left = delta - sum_up(member.leaf.count * member.leaf.delta for member in given)
    if left >= 0:
        spent = sum_up(member.leaf.count * member.leaf.param for member in given)
        for way in _closed(steps, rest, left, most):
            yield _beside(given, spent, way)
        if given and not rest:
            yield _beside(given, spent, _Way(Fraction(0), lambda: ([], Fraction(0))))
    sites = {member.leaf.site for member in members}
    if len(sites) == 1:
        yield from _on_grid(steps, members, delta, points)
        yield from _one_draw(steps, members, delta)
    elif None not in sites and most == 1:
        yield from _at_sites(steps, members, delta)


def _beside(given: Sequence[Member], spent: Fraction, way: _Way) -> _Way:
    """Another way with declared pairs beside it."""

    def write() -> Built:
        ids, eps = way.write()
        return [*(member.id for member in given), *ids], spent + eps

    return _Way(spent + way.eps, write) if given else way


def _closed(steps: Steps, members: Sequence[Member], delta: Fraction, most: int) -> Iterator[_Way]:
    """Bounded leaves by their eps, the others by a total in mu or rho, turned into eps."""
    bounded = tuple(member for member in members if member.leaf.kind in BOUNDED)
    loose = tuple(member for member in members if member.leaf.kind not in BOUNDED)
    for apart, smooth in dict.fromkeys((((), tuple(members)), (bounded, loose))):
        base = total((member.leaf for member in apart), "eps", most)
        if not smooth and apart and base is not None:
            yield _Way(base, partial(steps.sum_of, apart, "eps", most))
        if base is None or not smooth or delta == 0:
            continue
        for unit in ("mu2", "rho"):
            cost = total((member.leaf for member in smooth), UNITS[unit], most)
            if cost is not None:
                eps = base + _EPS_AT[unit](cost, delta)
                yield _Way(eps, partial(_through, steps, apart, smooth, unit, delta, most))


def _through(
    steps: Steps,
    apart: Sequence[Member],
    smooth: Sequence[Member],
    unit: str,
    delta: Fraction,
    most: int,
) -> Built:
    ids, base = steps.sum_of(apart, "eps", most)
    parts, cost = steps.sum_of(smooth, unit, most)
    claim = claimable(cost)
    node = steps.add("s", f"sum_{unit}", {"of": parts}, {unit: claim})
    eps = max(_EPS_AT[unit](claim, delta), _LEAST_EPS)
    given: dict[str, Any] = {"of": [node]}
    if unit == "rho":
        given["alpha"] = text(zcdp_order(claim, delta))
    rule = "rho_to_adp" if unit == "rho" else "mu_to_adp"
    return [*ids, steps.add("d", rule, given, {"eps": eps, "delta": delta})], base + eps


def _on_grid(
    steps: Steps, members: Sequence[Member], delta: Fraction, points: int
) -> Iterator[_Way]:
    """All leaves of one home, composed: declared pairs as what is pure in them, beside their delta.

    None where a closed form is exact, and where the checker would have too much to compute.
    """
    found = parts_of(member.leaf for member in members)
    if not found or (len(found) == 1 and found[0].kind == "gdp"):
        return
    if sum(part.count for part in found) > points:
        return
    left = delta - sum_up(part.count * part.delta for part in found)
    parts = tuple(replace(p, kind="pure", delta=Fraction(0)) if p.delta else p for p in found)
    losses, eps = grid_eps.on_grid(parts), grid_eps.eps_at(parts, left) if left > 0 else None
    if losses is None or eps is None:
        return
    if sum(part.count * part.points(losses.step, BITS) for part in parts) > points:
        return
    claim = max(eps, _LEAST_EPS)
    given = {"h": text(losses.step), "of": [member.id for member in members]}

    def write() -> Built:
        out = {"eps": claim, "delta": delta}
        return [steps.add_grid("pld_adp", given, out, parts, losses.step, BITS)], claim

    yield _Way(claim, write)


def _one_draw(steps: Steps, members: Sequence[Member], delta: Fraction) -> Iterator[_Way]:
    """A single bounded draw by its profile (C11), which a grid has exactly at its own points."""
    leaf, goal = members[0].leaf, delta - _ROUNDING
    if len(members) > 1 or leaf.count > 1 or leaf.kind not in _ONE_DRAW or goal <= 0:
        return
    eps = _ONE_DRAW[leaf.kind](leaf.param, goal)
    step = eps / ceil(eps) if eps else Fraction(0)
    if eps < _LEAST_EPS or leaf.param > _FEW_POINTS * step:
        return
    part = Part(leaf.kind, leaf.param)
    given = {"h": text(step), "of": [members[0].id]}

    def write() -> Built:
        out = {"eps": eps, "delta": delta}
        return [steps.add_grid("pld_adp", given, out, [part], step, BITS)], eps

    yield _Way(eps, write)


def _at_sites(steps: Steps, members: Sequence[Member], delta: Fraction) -> Iterator[_Way]:
    """Each site at the whole of delta: nobody is at two."""
    sites: dict[str | None, list[Member]] = {}
    for member in members:
        sites.setdefault(member.leaf.site, []).append(member)
    points = min(_POINTS, _AT_SITES // len(sites))
    found = [
        min(_ways(steps, mine, delta, 1, points), key=lambda way: way.eps, default=None)
        for mine in sites.values()
    ]
    known = [way for way in found if way is not None]
    if len(known) < len(found):
        return

    def write() -> Built:
        tops, largest = [], Fraction(0)
        for way in known:
            ids, eps = way.write()
            claim = claimable(eps)
            largest = max(largest, claim)
            tops.append(steps.add("s", "sum_adp", {"of": ids}, {"eps": claim, "delta": delta}))
        out = {"eps": largest, "delta": delta}
        return [steps.add("m", "site_top", {"of": tops}, out)], largest

    yield _Way(max(way.eps for way in known), write)
