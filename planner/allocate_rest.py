"""The rest of a budget, shared by the statements of which nothing is expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from planner.bound import BoundDataset, BoundMeasurement, SourceCost
from planner.calculus.cost import Cost
from planner.calculus.exact import root_down, round_down
from planner.calculus.noise_scaling import scale_cost
from planner.calculus.profiles import gdp_mu, zcdp_rho
from planner.calculus.shares import apportioned, part_of
from planner.candidate_costs import candidate, place_below
from planner.charges import total_of
from planner.checked import Price
from planner.costing import price_at, with_verdict
from planner.rules import fits_budget

__all__ = ["Rest", "fill"]

_GRAINS = 1000
"""What is left is handed out in at least so many and less than ten times as many grains."""

_DIGITS = 4
_FINE = 12
_LEAST = Fraction(1, 10**12)
_CLOSE = Fraction(1, 10**9)
_CLOSE_ENOUGH = Fraction(1, 1000)
"""For what composition on a grid adds, which takes longer and is written with four digits."""

_FAR = Fraction(10**6)


@dataclass(frozen=True, slots=True)
class Rest:
    """A statement at a source that takes a part of the rest: by its weight, in its own unit.

    `as_share` tells that the cost is written as `n%` of the BUDGET.
    """

    measurement: BoundMeasurement
    paid: SourceCost
    weight: Fraction
    as_share: bool

    @property
    def delta(self) -> Fraction:
        """The delta that is written beside its eps; 0 where there is none."""
        return Fraction(0) if self.paid.cost is None else self.paid.cost.delta

    def price(self, cost: Cost, budget: Cost) -> Price:
        """The price of a cost, with its charge to the budget known. Raises Unsolvable."""
        return with_verdict(price_at(self.measurement, self.paid, cost), budget.unit)


def fill(
    dataset: BoundDataset, fixed: Sequence[Price], rest: Sequence[Rest]
) -> tuple[Price, ...] | None:
    """The prices with which `rest` fills what `fixed` leaves of the BUDGET; None where that is nil.

    In a unit that adds up each takes its exact part, and costs in that unit sum to all that is left
    wherever they can be written so. Elsewhere (pairs, sites) all start from their parts, and the
    noise of all is scaled by one factor, found from the side that fits: to a billionth by closed
    forms, then to a thousandth by what composition on a grid adds. Written costs are rounded down,
    so they fit as well. Raises ValueError for a dataset without a BUDGET.
    """
    budget = dataset.budget
    if budget is None:
        raise ValueError("only a budget can be filled")
    by_site = any(p.paid.source.site for p in fixed) or any(r.paid.source.site for r in rest)
    if budget.unit == "eps_delta" or by_site:
        return _scaled(dataset, budget, fixed, rest)
    spent = total_of(fixed, budget.unit)
    left = Fraction(0) if spent is None else budget.additive - spent
    if left <= 0:
        return None
    parts = _parts(left, budget, rest)
    filled = [_at_most(one, part, budget) for one, part in zip(rest, parts, strict=True)]
    found = tuple(price for price in filled if price is not None)
    return found if len(found) == len(filled) else None


def _parts(left: Fraction, budget: Cost, rest: Sequence[Rest]) -> list[Fraction]:
    """What each may charge; short numbers that sum to `left` where that is a short number."""
    unit = budget.additive / 100 if all(one.as_share for one in rest) else Fraction(1)
    amount = left / unit
    grain = Fraction(1)
    while amount / grain >= 10 * _GRAINS:
        grain *= 10
    while amount / grain < _GRAINS:
        grain /= 10
    number = int(amount / grain)
    given = [grain * count for count in apportioned(number, [one.weight for one in rest])]
    crumbs = amount - number * grain
    if _is_short(crumbs):
        given[given.index(max(given))] += crumbs
    return [part * unit for part in given]


def _is_short(value: Fraction) -> bool:
    """Whether a number ends within 12 decimal places."""
    return (value * 10**12).denominator == 1


def _at_most(one: Rest, part: Fraction, budget: Cost) -> Price | None:
    """The dearest price in the statement's own unit that charges no more than `part`, if any."""
    if one.paid.unit == budget.unit:
        if one.as_share:
            share = part / budget.additive
            if not _is_short(share):
                share = round_down(share, _DIGITS)
            return one.price(part_of(budget, share), budget)
        return one.price(_written(budget.unit, part), budget)
    unit = one.paid.unit or "rho"

    def fits(place: int) -> bool:
        charge = one.price(Cost(unit, candidate(place), one.delta), budget).charge(budget.unit)
        return charge is not None and charge <= part

    place = _last(fits, place_below(part))
    return None if place is None else one.price(Cost(unit, candidate(place), one.delta), budget)


def _written(unit: str, additive: Fraction) -> Cost:
    """The cost of an additive amount as it is written: mu rounded down to 4 digits."""
    if unit == "mu":
        return Cost("mu", root_down(additive, _DIGITS))
    return Cost("eps" if unit == "eps" else "rho", additive)


def _last(fits: Callable[[int], bool], start: int) -> int | None:
    """The highest place that fits, where every lower one does; None below 1e-12."""
    good, step, lowest = start, 1, place_below(_LEAST)
    while not fits(good):
        if good == lowest:
            return None
        good, step = max(lowest, good - step), 2 * step
    bad, step = good + 1, 1
    while fits(bad):
        good, bad, step = bad, bad + step, 2 * step
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def _scaled(
    dataset: BoundDataset, budget: Cost, fixed: Sequence[Price], rest: Sequence[Rest]
) -> tuple[Price, ...] | None:
    """All parts at the least common factor of noise with which everything fits."""
    whole = sum((one.weight for one in rest), Fraction(0))
    start = [_start(one, budget, one.weight / whole) for one in rest]

    def prices(factor: Fraction) -> tuple[Price, ...]:
        return tuple(
            one.price(_rounded(one, _noisier(cost, factor, budget), budget), budget)
            for one, cost in zip(rest, start, strict=True)
        )

    def fits(factor: Fraction, grid: bool) -> bool:
        return fits_budget.fits(dataset, (*fixed, *prices(factor)), grid)

    good = Fraction(1)
    while not fits(good, grid=False):
        good *= 2
        if good > _FAR:
            return None
    good = _lowest(lambda factor: fits(factor, grid=False), good, _CLOSE)
    if budget.unit == "eps_delta":
        good = _lowest(lambda factor: fits(factor, grid=True), good, _CLOSE_ENOUGH)
    return prices(good)


def _lowest(fits: Callable[[Fraction], bool], good: Fraction, close: Fraction) -> Fraction:
    """A factor that fits, within `close` (relative) above one that does not; `good` fits."""
    step = close
    bad = round_down(good / (1 + step), _FINE)
    while bad > 1 / _FAR and fits(bad):
        good, step = bad, 2 * step
        bad = round_down(good / (1 + step), _FINE)
    while good - bad > good * close:
        middle = round_down((good + bad) / 2, _FINE)
        good, bad = (middle, bad) if fits(middle) else (good, middle)
    return good


def _start(one: Rest, budget: Cost, part: Fraction) -> Cost:
    """The cost of a part of the budget in the statement's own unit, before any scaling."""
    unit = one.paid.unit or budget.unit
    if unit == budget.unit:
        return part_of(budget, part)
    if unit == "eps":
        return Cost("eps", budget.amount * part)
    if budget.unit == "eps_delta" and unit == "mu":
        return Cost("mu", root_down(gdp_mu(budget.amount, budget.delta) ** 2 * part))
    if budget.unit == "eps_delta" and unit == "rho":
        return Cost("rho", zcdp_rho(budget.amount, budget.delta) * part)
    return Cost(unit, budget.amount * part, one.delta)


def _noisier(cost: Cost, factor: Fraction, budget: Cost) -> Cost:
    """The cost for `factor` times the noise; a pair falls as a share of the budget, or in eps."""
    if cost.unit == "eps_delta":
        delta = cost.delta / (factor if budget.unit == "eps_delta" else 1)
        return replace(cost, amount=cost.amount / factor, delta=delta)
    return scale_cost(cost, factor)


def _rounded(one: Rest, cost: Cost, budget: Cost) -> Cost:
    """The cost as it is written, rounded down to 4 digits; of a pair, the share of the budget."""
    if cost.unit == budget.unit and (one.as_share or cost.unit == "eps_delta"):
        is_pair = cost.unit == "eps_delta"
        whole = budget.amount if is_pair else budget.additive
        part = (cost.amount if is_pair else cost.additive) / whole
        return part_of(budget, min(Fraction(1), round_down(part, _DIGITS)))
    if cost.unit == "mu":
        return Cost("mu", root_down(cost.additive, _DIGITS))
    return replace(cost, amount=round_down(cost.amount, _DIGITS))
