"""Risk: what an attacker who knows all other people can learn of one, as upper bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, inf, nextafter
from typing import Any

from planner.calculus.ball_arithmetic import ball, ceiling
from planner.calculus.compose import eps_at, total
from planner.calculus.dominating_pairs import parts_of
from planner.calculus.exact import exact, positive, root_down, root_up, sum_up
from planner.calculus.grid_eps import is_closed, on_grid
from planner.calculus.grid_power import powers
from planner.calculus.leaves import Kind, Leaf, Priced
from planner.calculus.tradeoff import Family, Worst

__all__ = ["CURVE", "Limits", "limits", "posterior", "pure_posterior", "view", "worst_cases"]

FALSE_ALARMS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))
PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
AT = Fraction(1, 100)
"""Beliefs are those after a flag that has this rate of false alarms."""

GUESS = Fraction(1, 10**4)
_TAIL = tuple(Fraction(k, 10**places) for places in (4, 3, 2) for k in (1, 2, 3, 5, 7))
CURVE = (*_TAIL, *(Fraction(k, 20) for k in range(2, 20)), Fraction(97, 100), Fraction(99, 100))
"""The rates of false alarms at which the trade-off is shown."""

_DELTAS = tuple(Fraction(1, 10**places) for places in range(2, 10))
_MOST_EXPOSURES = 64


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of any attack: the advantage, and the chance to catch by false alarms."""

    advantage: Fraction
    power: dict[Fraction, Fraction]

    def above(self, other: Limits) -> Limits:
        """The higher of two limits at each place: each bounds the release for other people."""
        return Limits(
            max(self.advantage, other.advantage),
            {rate: max(self.power[rate], other.power[rate]) for rate in self.power},
        )


def posterior(power: Fraction, false_alarms: Fraction, prior: Fraction) -> Fraction:
    """The largest belief that a flagged record is a member: p TPR / (p TPR + (1 - p) FPR).

    Raises ValueError for a rate outside (0, 1].
    """
    for rate in (power, false_alarms, prior):
        if not 0 < exact(rate) <= 1:
            raise ValueError("a rate lies in (0, 1]")
    return prior * power / (prior * power + (1 - prior) * false_alarms)


def pure_posterior(eps: Fraction, prior: Fraction) -> Fraction:
    """The largest belief after any release of eps-DP: p e^eps / (1 - p + p e^eps); rounded up.

    Raises ValueError for a prior outside (0, 1).
    """
    if not 0 < exact(prior) < 1:
        raise ValueError("a prior lies in (0, 1)")
    positive(eps, "eps")
    return ceiling(lambda: 1 / (1 + ball((1 - prior) / prior) * (-ball(eps)).exp()))


def worst_cases(leaves: Iterable[Priced], max_sites: int = 1) -> Iterator[Worst]:
    """Sound descriptions of all leaves together, each of which bounds the same release."""
    kept = tuple(leaves)
    if len(kept) == 1 and kept[0].count == 1 and kept[0].kind in _ONE:
        yield Worst(_ONE[kept[0].kind], kept[0].param)
    mu_squared = total(kept, "mu_squared", max_sites)
    if mu_squared:
        yield Worst("gdp", root_up(mu_squared))
    eps = total(kept, "eps", max_sites)
    if eps:
        yield Worst("pure", eps)
    rho = total(kept, "rho", max_sites)
    if rho and (mu_squared is None or 2 * rho < mu_squared):
        yield Worst("zcdp", rho)
    if mu_squared is None:
        given = sum_up(leaf.count * leaf.delta for leaf in kept if isinstance(leaf, Leaf))
        for delta in (given, *_DELTAS):
            bound = eps_at(kept, delta, max_sites, grid=False) if 0 < delta < 1 else None
            if bound is not None and bound.eps > 0:
                yield Worst("adp", bound.eps, delta)


def limits(
    leaves: Iterable[Priced], rates: Sequence[Fraction], max_sites: int = 1
) -> Limits | None:
    """The least limits that are proved for the people of a dataset; None where none are.

    A person is at no more than `max_sites` sites: the limits are the largest over all choices of
    sites, each over the leaves that it exposes a person to.
    """
    found: Limits | None = None
    for exposed, most in _exposures(tuple(leaves), max_sites):
        mine = _of_person(exposed, rates, most)
        if mine is None:
            return None
        found = mine if found is None else found.above(mine)
    return found


def view(leaves: Iterable[Priced], max_sites: int = 1) -> dict[str, Any] | None:
    """The figures that a board reads, as floats rounded up; None where none may be claimed.

    `tpr` by rate of false alarms; `posterior` by prior belief, after a flag with 1 % of false
    alarms, and `pointwise` after any release whatever, null where the loss has no bound;
    `reconstruction` where a guess succeeds once in 10,000; `curve` as pairs of false alarms with
    catches.
    """
    kept = tuple(leaves)
    found = limits(kept, (*FALSE_ALARMS, GUESS, *CURVE), max_sites)
    if found is None:
        return None
    eps = total(kept, "eps", max_sites)
    return {
        "advantage": _up(found.advantage),
        "tpr": {str(float(rate)): _up(found.power[rate]) for rate in FALSE_ALARMS},
        "posterior": {
            str(float(prior)): _up(posterior(found.power[AT], AT, prior)) for prior in PRIORS
        },
        "pointwise": None
        if eps is None
        else {str(float(prior)): _up(pure_posterior(eps, prior)) for prior in PRIORS},
        "reconstruction": _up(found.power[GUESS]),
        "curve": [[float(rate), _up(found.power[rate])] for rate in CURVE],
    }


_ONE: dict[Kind, Family] = {"br": "br", "lap": "lap"}


def _of_person(exposed: tuple[Priced, ...], rates: Sequence[Fraction], most: int) -> Limits | None:
    """The least of the closed forms and the composed losses, at each rate; None without any."""
    cases = tuple(worst_cases(exposed, most))
    parts = parts_of(exposed)
    losses = None if not parts or is_closed(parts) else on_grid(parts)
    advantage, power = (Fraction(1), {}) if losses is None else powers(losses, rates)
    if not cases and losses is None:
        return None
    return Limits(
        min([advantage, *(case.advantage() for case in cases)]),
        {rate: _power(cases, rate, power.get(rate, Fraction(1))) for rate in rates},
    )


def _power(cases: Sequence[Worst], rate: Fraction, known: Fraction) -> Fraction:
    """The least power over the cases, with zCDP last: its search takes a hundred times as long.

    Gaussian noise with a rho satisfies it, so its own power is never above the one searched for.
    """
    slow = [case for case in cases if case.family == "zcdp"]
    found = [known, *(case.power(rate) for case in cases if case.family != "zcdp")]
    for case in slow:
        floor = Worst("gdp", root_down(2 * case.param)).power(rate)
        if floor < min(found):
            found.append(case.power(rate))
    return min(found)


def _exposures(
    leaves: tuple[Priced, ...], max_sites: int
) -> Iterator[tuple[tuple[Priced, ...], int]]:
    """What different people are exposed to, by the sites at which they are.

    Each with the number of its sites that add up. Where the choices are too many, all leaves stand
    for every person, and their largest sites add up.
    """
    sites = list(dict.fromkeys((leaf.dataset, leaf.site) for leaf in leaves if leaf.site))
    most = min(max_sites, len(sites))
    is_one = len({dataset for dataset, _ in sites}) <= 1
    if not sites or not is_one or comb(len(sites), most) > _MOST_EXPOSURES:
        yield leaves, max_sites
        return
    seen = set()
    for chosen in combinations(sites, most):
        exposed = tuple(leaf for leaf in leaves if not leaf.site or _home(leaf) in chosen)
        alike = tuple(sorted(_law(leaf) for leaf in exposed))
        if alike not in seen:
            seen.add(alike)
            yield exposed, max_sites


def _home(leaf: Priced) -> tuple[str, str | None]:
    return leaf.dataset, leaf.site


def _law(leaf: Priced) -> tuple[Any, ...]:
    more = leaf.delta if isinstance(leaf, Leaf) else leaf.mu_squared or Fraction(0)
    return leaf.kind, leaf.count, leaf.param, more


def _up(value: Fraction) -> float:
    """The least float that is not below the value."""
    near = float(value)
    return near if Fraction(near) >= value else nextafter(near, inf)
