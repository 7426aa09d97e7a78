"""A person pays at the sites where the person is: one running sum, one way to compose."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from planner.calculus.compose import over_sites
from planner.charges import total_of
from planner.rules.fits_budget import _Spent
from suites.queries import checked


@pytest.mark.parametrize("seed", range(40))
def test_the_running_sum_of_a_budget_is_the_composed_one(seed: int) -> None:
    draw = Random(seed)
    most = draw.randint(1, 4)
    spent, parts = _Spent(most), []
    for _ in range(draw.randint(1, 25)):
        site = draw.choice([None, "a", "b", "c", "d", "e"])
        amount = Fraction(draw.randint(1, 1000), draw.randint(1, 1000))
        spent.add(site, amount)
        parts.append(("d", site, amount))
        composed = over_sites(parts, most)
        assert composed is not None
        assert abs(spent.total - composed) <= Fraction(1, 10**50)


def test_a_total_over_sites_is_the_dearest_of_them() -> None:
    plan = checked(
        "DATASET d ROWS 900 SITES (x ROWS 400, y ROWS 500) "
        "COLUMNS (week DURATION IN [0, 9], died EVENT)\n"
        "TEST hazard ON x VS y BUDGET mu=0.3 AT x AND mu=0.4 AT y\n"
        "RELEASE hazard ON x mu=0.3\nRELEASE survival ON d mu=0.1"
    )
    assert total_of(plan.prices, "mu") == Fraction(1, 100) + Fraction(18, 100)
    assert total_of(plan.prices, "eps") is None
    assert plan.payers_of("d") == ("x", "y", None)
    assert {key: [site for _, site in parts] for key, parts in plan.by_key().items()} == {
        "d/x": ["x"],
        "d/y": ["y"],
        "d": [None],
    }
