"""The rest of a budget is shared so that everything fits and hardly anything is left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.allocate_rest import Rest, fill
from planner.bound import BoundDataset, BoundMeasurement, SourceCost
from planner.calculus.cost import Cost, Unit
from planner.calculus.need import Need
from planner.charges import total_of
from planner.checked import Price
from planner.facts import Facts, SourceFacts
from planner.rules import fits_budget
from suites.queries import bound, survey

HALVES = survey("rho=1", more=" SITES (north ROWS 400, south ROWS 600)")


def _need(params: Any, facts: Facts, units: Mapping[str, Unit]) -> tuple[Need, ...]:
    one = Fraction(1)
    return tuple(
        Need(
            "lap" if units[source.name] in ("eps", "eps_delta") else "gauss",
            lambda: one,
            dataset=source.dataset,
            site=source.site,
        )
        for source in facts.sources
    )


def measurement(source: SourceFacts, unit: Unit, name: str) -> BoundMeasurement:
    like = bound(survey() + "COVARIANCE ssp mu=1\n")[0].measurements[0]
    mechanism = replace(like.mechanism, need=_need, settle=None)
    paid = SourceCost(source, None, sought=unit)
    return BoundMeasurement(name, mechanism, like.params, Facts((source,), ()), (paid,))


def rest(
    source: SourceFacts, unit: Unit, weight: Fraction = Fraction(1), as_share: bool = False
) -> Rest:
    one = measurement(source, unit, f"m_{unit}")
    return Rest(one, one.costs[0], weight, as_share)


def dataset(budget: Cost, text: str = "") -> BoundDataset:
    return replace(bound(text or survey())[0].datasets[0], budget=budget)


def louder_by(prices: Sequence[Price], factor: Fraction, budget: Cost) -> list[Price]:
    """The prices of costs that are `factor` times as large."""
    made = []
    for price in prices:
        cost = replace(
            price.cost,
            amount=price.cost.amount * factor,
            delta=price.cost.delta * factor,
            square=None if price.cost.square is None else price.cost.square * factor**2,
        )
        one = Rest(price.measurement, price.paid, Fraction(1), False)
        made.append(one.price(cost, budget))
    return made


units = st.sampled_from(["eps", "rho", "mu"])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    budget=st.tuples(units, st.fractions(Fraction(1, 50), 20, max_denominator=10**4)),
    fixed=st.fractions(0, 1, max_denominator=100),
    parts=st.lists(st.tuples(units, st.integers(1, 9), st.booleans()), min_size=1, max_size=9),
)
def test_what_is_filled_fits_and_leaves_little(
    budget: tuple[Unit, Fraction], fixed: Fraction, parts: list[tuple[Unit, int, bool]]
) -> None:
    unit, amount = budget
    whole = Cost(unit, amount)
    data = dataset(whole)
    members = [
        rest(data.facts, own if unit != "eps" else "eps", Fraction(weight), share and own == unit)
        for own, weight, share in parts
    ]
    kept = []
    if fixed:
        before = rest(data.facts, unit)
        kept = [before.price(Cost(unit, amount * fixed), whole)]
    filled = fill(data, kept, members)
    if fixed == 1:
        assert filled is None
        return
    assert filled is not None
    assert fits_budget.fits(data, [*kept, *filled])
    left = whole.additive - (total_of(kept, unit) or Fraction(0))
    spent = total_of(filled, unit)
    assert spent is not None
    # Other units have three digits, mu has four; both are squared at most.
    assert left * Fraction(97, 100) <= spent <= left
    if all(one.paid.unit == unit and unit != "mu" for one in members) and left.denominator < 10**6:
        assert spent >= left * Fraction(999, 1000)


@pytest.mark.parametrize("own", [("rho", "mu"), ("eps", "eps_delta"), ("eps_delta", "rho")])
def test_pairs_are_filled_to_the_edge_of_the_composed_plan(own: tuple[Unit, ...]) -> None:
    budget = Cost("eps_delta", Fraction(3), Fraction(1, 10**6))
    data = dataset(budget)
    filled = fill(data, (), [rest(data.facts, unit) for unit in own])
    assert filled is not None
    assert fits_budget.fits(data, filled)
    assert not fits_budget.fits(data, louder_by(filled, Fraction(101, 100), budget))


def test_sites_pay_apart_so_each_may_have_the_whole() -> None:
    budget = Cost("rho", Fraction(1))
    data = dataset(budget, HALVES)
    north, south = data.sites
    filled = fill(data, (), [rest(north, "rho"), rest(south, "rho")])
    assert filled is not None
    assert [price.cost.amount for price in filled] == [1, 1]
    twice = replace(data, facts=replace(data.facts, max_sites=2))
    both = tuple(replace(site, max_sites=2) for site in data.sites)
    filled = fill(twice, (), [rest(site, "rho") for site in both])
    assert filled is not None
    assert [price.cost.amount for price in filled] == [Fraction(1, 2)] * 2


def test_a_site_that_kept_a_cost_leaves_less_for_its_own_alone() -> None:
    budget = Cost("mu", Fraction(1))
    data = dataset(budget, HALVES)
    north, south = data.sites
    kept = [rest(north, "mu").price(Cost("mu", Fraction(3, 5)), budget)]
    filled = fill(data, kept, [rest(north, "mu")])
    assert filled is not None
    assert filled[0].cost.amount == pytest.approx(Fraction(4, 5), rel=1e-3)
    assert (
        fill(data, [rest(south, "mu").price(Cost("mu", Fraction(2)), budget)], [rest(north, "mu")])
        is None
    )


def test_only_a_budget_can_be_filled() -> None:
    data = replace(dataset(Cost("rho", Fraction(1))), budget=None)
    with pytest.raises(ValueError, match="only a budget"):
        fill(data, (), [rest(data.facts, "rho")])
