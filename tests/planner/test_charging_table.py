"""Every kind of noise against every unit of a budget: a charge, or a way out that works."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from planner.bound import BoundDataset
from planner.calculus.cost import Cost, Unit
from planner.calculus.leaves import Draft, Kind, Leaf
from planner.calculus.noise_scaling import scale_cost, scale_noise
from planner.checked import Price
from planner.findings import Findings
from planner.rules import fits_budget
from planner.rules.scaling import noise_factor
from suites.queries import ROSSI, bound, findings, survey

SIZE = 0.75
BUDGETS: dict[str, Cost] = {
    "eps": Cost("eps", Fraction(10)),
    "eps_delta": Cost("eps_delta", Fraction(10), Fraction(1, 10**6)),
    "rho": Cost("rho", Fraction(10)),
    "mu": Cost("mu", Fraction(10)),
}
OWN: dict[Kind, Unit] = {
    "pure": "eps",
    "br": "eps",
    "lap": "eps",
    "gauss": "mu",
    "gdp": "mu",
    "dgauss": "mu",
    "zcdp": "rho",
    "adp": "eps_delta",
}


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


# One row a kind: what SIZE of it costs in eps, rho and mu by the formulas on paper; None: refused.
TABLE: dict[Kind, tuple[float | None, float | None, float | None]] = {
    "pure": (SIZE, SIZE * math.tanh(SIZE / 2), 2 * ndtri(logistic(SIZE))),
    "br": (SIZE, SIZE**2 / 8, 2 * ndtri(logistic(SIZE / 2))),
    "lap": (SIZE, SIZE - 1 + math.exp(-SIZE), -2 * ndtri(math.exp(-SIZE / 2) / 2)),
    "gauss": (None, SIZE**2 / 2, SIZE),
    "gdp": (None, SIZE**2 / 2, SIZE),
    "dgauss": (None, SIZE**2 / 2, SIZE),
    "zcdp": (None, SIZE, None),
    "adp": (None, None, None),
}
HELP: dict[tuple[Kind, str], str] = {
    **{(kind, "eps"): "as rho=, mu= or eps=, delta=" for kind in ("gauss", "gdp", "dgauss")},
    ("zcdp", "eps"): "as rho= or eps=, delta=",
    ("zcdp", "mu"): "as rho= or eps=, delta=",
    **{("adp", unit): "as eps=, delta=" for unit in ("eps", "rho", "mu")},
}


def price(kind: Kind, units: tuple[Unit, ...] = (), unit: Unit | None = None) -> Price:
    """A statement that draws one leaf of a kind, at a cost in another unit than the budget's."""
    measurement = bound(survey() + "COVARIANCE ssp mu=1\n")[0].measurements[0]
    mechanism = replace(measurement.mechanism, units=units)
    size = Fraction(3, 4)
    square = size**2 if kind in ("gauss", "dgauss", "gdp") else None
    leaf = Draft(kind, 1, size, square, dataset="s")
    delta = Fraction(1, 10**7) if kind == "adp" else Fraction(0)
    cost = Cost(unit or OWN[kind], size, delta)
    return Price(replace(measurement, mechanism=mechanism), measurement.costs[0], cost, (leaf,))


def dataset(unit: str) -> BoundDataset:
    return replace(bound(survey())[0].datasets[0], budget=BUDGETS[unit])


def said(unit: str, *prices: Price) -> list[tuple[str, str, str]]:
    found = Findings()
    fits_budget.judge(dataset(unit), prices, found)
    return [(one.code, one.note, one.help) for one in found.items]


@pytest.mark.parametrize("kind", TABLE)
@pytest.mark.parametrize(("column", "unit"), list(enumerate(["eps", "rho", "mu"])))
def test_every_cell_of_the_table_is_charged_or_refused(kind: Kind, column: int, unit: Unit) -> None:
    wanted = TABLE[kind][column]
    # In a unit that is not its own, so that the leaf is charged and not the declared share.
    other: Unit = "eps_delta"
    one = price(kind, unit=other)
    found = one.charge(unit)
    if wanted is None:
        assert found is None
        ((code, reason, help),) = said(unit, one)
        assert code == "DPQL-E067"
        assert reason
        assert HELP[kind, unit] in help
    else:
        assert found is not None
        value = math.sqrt(found) if unit == "mu" else float(found)
        assert value == pytest.approx(wanted, rel=1e-12)
        assert said(unit, one) == []


@pytest.mark.parametrize("kind", TABLE)
def test_every_kind_of_noise_fits_a_budget_of_eps_and_delta(kind: Kind) -> None:
    one = price(kind)
    if kind == "adp":
        leaf = Leaf.declared("adp", one.cost.amount, one.cost.delta, dataset="s")
        one = replace(one, leaves=(leaf,))  # type: ignore[arg-type]
    assert said("eps_delta", one) == []
    assert said("eps_delta", *[one] * 40)[0][0] == "DPQL-E071"


def offered(help: str) -> set[str]:
    """The units in which a BUDGET is offered."""
    words = help.split("declare the BUDGET of `s` as ")[1]
    units = {unit for unit in ("rho", "mu") if f"{unit}=" in words}
    return units | ({"eps_delta"} if "eps=, delta=" in words else set())


@pytest.mark.parametrize(
    "kinds",
    [(one,) for one in TABLE]
    + [
        ("gauss", "zcdp"),
        ("lap", "zcdp"),
        ("pure", "gauss"),
        ("zcdp", "adp"),
        ("gauss", "adp"),
        ("br", "dgauss", "zcdp"),
    ],
)
@pytest.mark.parametrize("unit", ["eps", "rho", "mu"])
def test_every_budget_that_is_offered_can_be_charged_with_all_statements(
    kinds: tuple[Kind, ...], unit: str
) -> None:
    prices = [price(kind, unit="eps_delta") for kind in kinds]
    for code, _, help in said(unit, *prices):
        assert code == "DPQL-E067"
        ways = offered(help)
        assert "eps_delta" in ways
        assert unit not in ways
        for way in ways - {"eps_delta"}:
            assert all(one.charge(way) is not None for one in prices)


def test_a_cost_in_the_unit_of_the_budget_is_offered_where_the_method_honours_it() -> None:
    ((_, _, help),) = said("mu", price("zcdp", ("rho", "mu")))
    assert help.startswith("give this cost as mu=, or declare the BUDGET")
    ((_, _, help),) = said("eps", price("gauss", ("eps", "mu")))
    assert help.startswith("give this cost as eps=, or declare the BUDGET")
    ((_, _, help),) = said("mu", price("zcdp", ("rho",)))
    assert "give this cost" not in help


def test_a_declared_pair_is_told_to_use_another_form() -> None:
    ((_, reason, help),) = said("rho", price("adp", ("eps_delta",)))
    assert "may fail outright" in reason
    assert "use a method with a Gaussian or pure form" in help


@pytest.mark.parametrize(
    ("text", "help"),
    [
        (
            survey("rho=1") + "COVARIANCE ssp eps=1",
            "give its cost as `eps=, delta=` or `rho=` or `mu=`; there is no default delta",
        ),
        (
            survey("eps=1") + "COVARIANCE ssp 50%",
            "declare the BUDGET of `s` as `eps=, delta=` or `rho=` or `mu=`",
        ),
    ],
)
def test_a_method_that_honours_no_pure_eps_says_what_works(text: str, help: str) -> None:
    (found,) = findings(text)
    assert found.code == "DPQL-E065"
    assert found.help == help


# Passing a budget: by how much all noise must grow.


def factor_of(help: str) -> Fraction:
    match = re.search(r"or all fit with ([0-9.]+) times the noise in each", help)
    assert match is not None
    return Fraction(match[1])


@pytest.mark.parametrize(
    ("unit", "budget", "costs", "factor"),
    [
        ("rho", "0.2", ("0.1", "0.15"), math.sqrt(0.25 / 0.2)),
        ("mu", "1", ("0.8", "0.8"), math.sqrt(2 * 0.64)),
        ("mu", "0.3", ("4", "1", "0.2"), math.sqrt(16 + 1 + 0.04) / 0.3),
    ],
)
def test_the_factor_on_all_noise_is_the_least_of_three_digits(
    unit: str, budget: str, costs: tuple[str, ...], factor: float
) -> None:
    text = survey(f"{unit}={budget}")
    found = findings(text + "".join(f"COVARIANCE ssp {unit}={cost}\n" for cost in costs))
    given = factor_of(found[-1].help)
    assert factor <= given < factor * 1.0101
    power = 1 if unit == "mu" else 2
    scaled = [Fraction(cost) / given**power for cost in costs]
    statements = "".join(f"COVARIANCE ssp {unit}={one}\n" for one in scaled)
    assert findings(text + statements) == ()


def test_the_factor_holds_for_mixed_kinds_of_noise_and_for_pairs() -> None:
    for budget in ("mu=1", "rho=0.4", "eps=1, delta=1e-6"):
        text = ROSSI.replace("mu=2.5", budget) + "TEST cox beta=b0 VS b1 eps={}\n"
        text += "COVARIANCE ssp mu={}\n"
        given = factor_of(findings(text.format(2, 1))[-1].help)
        more = findings(text.format(2 / given, 1 / given))
        assert {one.code for one in more} <= {"DPQL-W231"}  # it may fit because it is composed
        less = given * Fraction(98, 100)
        assert [one.code for one in findings(text.format(2 / less, 1 / less))] == ["DPQL-E071"]


def test_a_plan_that_cannot_be_charged_has_no_factor() -> None:
    assert noise_factor(dataset("eps"), [price("gauss")]) is None
    assert noise_factor(dataset("rho"), [price("adp")]) is None
    assert noise_factor(replace(dataset("rho"), budget=None), [price("gauss")]) is None


@settings(max_examples=50, derandomize=True)
@given(
    kind=st.sampled_from(["pure", "lap", "br", "gauss", "zcdp"]),
    factor=st.fractions(Fraction(1), Fraction(50), max_denominator=10**4),
)
def test_louder_noise_costs_less_in_every_unit(kind: Kind, factor: Fraction) -> None:
    one = price(kind, unit="eps_delta")
    less = replace(one, leaves=tuple(scale_noise(leaf, factor) for leaf in one.leaves))
    units: tuple[Unit, ...] = ("eps", "rho", "mu")
    for unit in units:
        before, after = one.charge(unit), less.charge(unit)
        assert (before is None) == (after is None)
        assert before is None or after is None or after <= before


def test_a_cost_for_more_noise_follows_the_law_of_its_unit() -> None:
    three = Fraction(3)
    assert scale_cost(Cost("eps", Fraction(1)), three).amount == Fraction(1, 3)
    assert scale_cost(Cost("rho", Fraction(1)), three).amount == Fraction(1, 9)
    assert scale_cost(Cost("mu", Fraction(1)), three).additive == Fraction(1, 9)
    share = scale_cost(Cost("mu", Fraction(7, 10), square=Fraction(1, 2)), three)
    assert share.additive == Fraction(1, 18)
    assert share.amount**2 <= share.additive
    with pytest.raises(ValueError, match="no power"):
        scale_cost(BUDGETS["eps_delta"], three)
    with pytest.raises(ValueError, match="no noise"):
        scale_noise(Draft("adp", 1, Fraction(1)), three)
