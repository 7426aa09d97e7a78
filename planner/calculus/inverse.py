"""The solver: from a declared cost to noise scales that never cost more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from planner.calculus.convert import NATIVE, Native, charge
from planner.calculus.cost import Cost
from planner.calculus.exact import (
    double_above,
    exact,
    positive,
    root_down,
    root_up,
    round_down,
    round_up,
    step_down,
    step_up,
)
from planner.calculus.leaves import LEAST_INTEGER_SCALE, Draft, Leaf, Loss
from planner.calculus.need import Need
from planner.calculus.profiles import gdp_mu, laplace_delta, pure_delta, range_delta, zcdp_rho
from planner.calculus.targets import Target, Unsolvable, target, target_with_delta

__all__ = ["Unsolvable", "declared", "divided", "solve"]

_TRIES = 64
_SENSITIVITY_DIGITS = 20
_LONGEST = 10**30
_LEAST_SCALE, _LARGEST_SCALE = Fraction(1, 10**58), Fraction(10**38)
"""Scales are raised a little from here, and a leaf's lies in [1e-60, 1e40]."""
_WIDEST = 2**51


@dataclass(frozen=True, slots=True)
class _Order:
    """What one draw of a need may cost: an amount in a unit, or (eps, delta) where delta > 0."""

    need: Need
    unit: Native
    amount: Fraction
    delta: Fraction = Fraction(0)

    @property
    def target(self) -> Target:
        if self.delta:
            return target_with_delta(self.need.kind, self.amount, self.delta)
        return target(self.need.kind, self.unit, self.amount)

    def is_met_by(self, leaf: Leaf) -> bool:
        """Whether one draw certainly costs no more; both conditions carry the claim.

        The second lets a budget in another unit charge the declared parameter.
        """
        if self.delta:
            profile = _PROFILES[leaf.kind]
            return profile(leaf.param, self.amount) <= self.delta and (
                leaf.param <= self.target.bound
            )
        square = self.target.mu_squared
        below = leaf.param <= self.target.bound if square is None else leaf.param**2 <= square
        return below and charge(leaf, self.unit).value <= self.amount


_PROFILES: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "pure": pure_delta,
    "lap": laplace_delta,
    "br": range_delta,
}


def declared(needs: tuple[Need, ...], cost: Cost) -> tuple[Draft, ...]:
    """The leaves as they follow from a cost alone: parameters rounded up, no sensitivity asked.

    `cost` is that of each source (dataset, site) among the needs. Charging these in any unit
    bounds what `solve` will draw. Raises Unsolvable where the unit cannot be honoured.
    """
    drafts = []
    for order in _orders(needs, cost):
        need, aim = order.need, order.target
        drafts.append(
            Draft(
                kind=need.kind,
                count=need.count,
                param=aim.bound,
                mu_squared=aim.mu_squared,
                role=need.role,
                of=need.of,
                dataset=need.dataset,
                site=need.site,
            )
        )
    return tuple(drafts)


def solve(needs: tuple[Need, ...], cost: Cost, group: int = 1) -> Loss:
    """The leaves of a statement: scales rounded up until no source costs more than `cost`.

    Sensitivities are called and multiplied by `group`, the rows that one person may own. A scale
    has 18 significant digits, an integer scale at most 53 significant bits. Raises Unsolvable where
    a unit cannot be honoured, a sensitivity is not positive, the scale comes out below what the
    method accepts, or no exact sampler draws such noise. A `group` that is no int is a TypeError,
    one below 1 a ValueError.
    """
    if not isinstance(group, int) or isinstance(group, bool):
        raise TypeError("a number of rows is an int")
    if group < 1:
        raise ValueError("a person owns at least one row")
    return Loss(tuple(_leaf(order, group) for order in _orders(needs, cost)))


def divided(cost: Cost, parts: int) -> Cost:
    """The cost of each of `parts` sites that one person may be at; together they cost `cost`.

    eps, rho and mu squared are divided; (eps, delta) is made mu first, rounded down. Raises
    ValueError for fewer than one site.
    """
    if parts < 1:
        raise ValueError("a person is at one site at least")
    if parts == 1:
        return cost
    if cost.unit in ("eps", "rho"):
        return Cost(cost.unit, cost.amount / parts)
    whole = gdp_mu(cost.amount, cost.delta) ** 2 if cost.unit == "eps_delta" else cost.additive
    return Cost("mu", root_down(whole / parts), square=whole / parts)


def _orders(needs: tuple[Need, ...], cost: Cost) -> tuple[_Order, ...]:
    """What each draw of each need may cost, source by source, in the order of the needs."""
    _check_cost(cost)
    if not needs:
        raise ValueError("a statement without a leaf would be free")
    sources: dict[tuple[str, str | None], list[int]] = {}
    for place, need in enumerate(needs):
        sources.setdefault((need.dataset, need.site), []).append(place)
    found: dict[int, _Order] = {}
    for places in sources.values():
        members = [needs[place] for place in places]
        if any(exact(need.share) <= 0 for need in members):
            raise ValueError("a share of a cost is positive")
        if sum(need.share for need in members) > 1:
            raise ValueError("the shares of a source sum to more than 1")
        found.update(zip(places, _of_source(members, cost), strict=True))
    return tuple(found[place] for place in range(len(needs)))


def _of_source(needs: list[Need], cost: Cost) -> list[_Order]:
    if cost.unit != "eps_delta":
        return _shared(needs, NATIVE[cost.unit], cost.additive)
    only = needs[0]
    alone = len(needs) == 1 and only.count == 1 and only.share == 1 and only.role != "cap"
    if alone and only.kind in _PROFILES:
        return [_Order(only, "eps", cost.amount, cost.delta)]
    kinds = {need.kind for need in needs}
    if kinds <= {"pure", "lap"}:
        return _shared(needs, "eps", cost.amount)
    if "zcdp" in kinds:
        return _shared(needs, "rho", zcdp_rho(cost.amount, cost.delta))
    by_mu = _shared(needs, "mu_squared", gdp_mu(cost.amount, cost.delta) ** 2)
    if kinds & {"gauss", "dgauss", "gdp"}:
        # C10 is exact for Gaussian noise, so its mu is never below the root of 2 rho from C9.
        return by_mu
    by_rho = _shared(needs, "rho", zcdp_rho(cost.amount, cost.delta))
    by_eps = _shared(needs, "eps", cost.amount)
    measured = next((i for i, need in enumerate(needs) if need.role == "measure"), -1)
    return max(by_mu, by_rho, by_eps, key=lambda orders: orders[measured].target.estimate)


def _shared(needs: Iterable[Need], unit: Native, whole: Fraction) -> list[_Order]:
    return [_Order(need, unit, whole * need.share / need.count) for need in needs]


def _check_cost(cost: Cost) -> None:
    positive(cost.amount, cost.unit)
    if cost.unit == "eps_delta":
        if not 0 < exact(cost.delta) < 1:
            raise ValueError("delta lies in (0, 1)")
    elif cost.delta != 0:
        raise ValueError(f"a cost in {cost.unit} has no delta")


def _leaf(order: _Order, group: int) -> Leaf:
    need = order.need
    if need.role == "cap":
        return _cap(order)
    moved = _sensitivity(need, group)
    leaf = _integer_leaf(order, moved) if need.kind == "dgauss" else _real_leaf(order, moved)
    if leaf.scale is not None and leaf.scale < need.minimum_scale:
        raise Unsolvable(
            f"the noise scale would be {float(leaf.scale):.3g}, this method needs at least "
            f"{float(need.minimum_scale):.3g}",
            "lower the cost of this statement",
        )
    return leaf


def _cap(order: _Order) -> Leaf:
    """A filter's reserve: a parameter rounded down, since the filter spends up to it."""
    need, aim = order.need, order.target
    value = aim.bound if aim.bound == aim.estimate else round_down(aim.estimate)
    leaf = _first(
        value,
        step_down,
        lambda param: Leaf.cap(need.kind, param, need.of, dataset=need.dataset, site=need.site),
        order,
    )
    return leaf


def _real_leaf(order: _Order, moved: Fraction) -> Leaf:
    need, aim = order.need, order.target
    about = {"count": need.count, "width": need.width, "role": need.role}
    about |= {"dataset": need.dataset, "site": need.site}
    if aim.mu_squared is not None:
        scale = _drawable(
            root_up(moved**2 / aim.mu_squared), moved, 2 * root_up(Fraction(need.width))
        )
        return _first(scale, step_up, lambda sigma: Leaf.gauss(moved, sigma, **about), order)
    if need.kind == "pure":
        scale = _drawable(round_up(need.factor * moved / aim.estimate), moved, need.width)
        return _first(scale, step_up, lambda b: Leaf.pure(moved, b, need.factor, **about), order)
    if need.kind == "br":
        scale = round_up(2 * moved / aim.estimate)
        return _first(scale, step_up, lambda s: Leaf.br(moved, s, **about), order)
    scale = _drawable(round_up(moved / aim.estimate), moved, need.width)
    return _first(scale, step_up, lambda b: Leaf.lap(moved, b, **about), order)


def _drawable(scale: Fraction, moved: Fraction, numbers: Fraction | int) -> Fraction:
    """The scale, if exact samplers can draw such noise on a grid; so no run fails once charged.

    Rounding to the grid moves neighbours by up to `numbers` steps more (w for Laplace noise on w
    numbers, 2 sqrt(w) for Gaussian), which the integer scale, at most 2^52, must hide as well.
    """
    if scale > _LARGEST_SCALE or numbers * scale > _WIDEST * moved:
        raise Unsolvable(
            "the noise would be wider than the exact sampler can draw",
            "raise the cost of this statement",
        )
    if scale < _LEAST_SCALE:
        raise Unsolvable(
            "the noise would be finer than can be computed with",
            "change the unit of the columns, so that their ranges are wider",
        )
    return scale


def _integer_leaf(order: _Order, moved: Fraction) -> Leaf:
    """The least integer scale that is met, then the next one that a double can hold."""
    need, aim = order.need, order.target
    start = max(LEAST_INTEGER_SCALE, ceil(moved / aim.estimate))
    about = {"count": need.count, "width": need.width, "role": need.role}
    about |= {"dataset": need.dataset, "site": need.site}
    return _first(
        Fraction(double_above(start)),
        lambda scale: Fraction(double_above(int(scale) + 1)),
        lambda scale: Leaf.dgauss(moved, scale, **about),
        order,
    )


def _first(
    value: Fraction,
    step: Callable[[Fraction], Fraction],
    make: Callable[[Fraction], Leaf],
    order: _Order,
) -> Leaf:
    """The first leaf, from `value` on, that costs no more than ordered."""
    for _ in range(_TRIES):
        leaf = make(value)
        if order.is_met_by(leaf):
            return leaf
        value = step(value)
    raise Unsolvable("no noise scale honours this cost")


def _sensitivity(need: Need, group: int) -> Fraction:
    if need.sensitivity is None:
        raise ValueError("only a cap comes without a sensitivity")
    value = exact(need.sensitivity()) * group
    if value <= 0:
        raise Unsolvable("the sensitivity of this statement is not positive")
    if value.denominator > _LONGEST:
        value = round_up(value, _SENSITIVITY_DIGITS)
    return value
