"""A cost of `auto` becomes the least that meets what is expected, or a reason why there is none."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql import checker
from dpql.pipeline import Planned, plan_source
from dpql.plan_file import of_plan, runnable
from grammar.source import Source
from planner.bound import BoundExpect, BoundMeasurement, BoundPlan, SourceCost
from planner.calculus.cost import Cost, Unit
from planner.calculus.need import Need
from planner.candidate_costs import candidate, place_below
from planner.charges import total_of
from planner.check import check
from planner.checked import CheckedPlan
from planner.encode import canonical
from planner.facts import Facts
from planner.findings import Findings
from planner.least_cost import least
from planner.mechanism import Mechanism
from planner.plan import plan
from suites.queries import EVALUES, ROSSI, bound, survey

COX = "TEST cox beta=b0 VS b1 shrink=0.15 event_rate=0.26 {} AS a\nEXPECT a.power >= 0.4\n"
SSP = "COVARIANCE ssp {} AS a\nEXPECT a.precision >= 70\n"
PEEL = "PEEL evalues size=3 signals=4 strength=12 {} AS a\nEXPECT a.power >= 0.5\n"
FILES = {
    "cox in mu": ROSSI + COX,
    "cox in eps": ROSSI.replace("mu=2.5", "eps=4") + COX,
    "cox in rho": ROSSI.replace("mu=2.5", "rho=4") + COX,
    "cox without a budget": ROSSI.replace("BUDGET mu=2.5", "") + COX,
    "ssp in rho": survey("rho=1") + SSP,
    "ssp in mu": survey("mu=2") + SSP,
    "ssp in pairs": survey("eps=6, delta=1e-6") + SSP,
    "ssp without a budget": survey() + SSP,
    "ssp beside another": survey("mu=2") + "COVARIANCE diagonal mu=0.7\n" + SSP,
    "peel in mu": EVALUES.replace("COLUMNS", "BUDGET mu=40 COLUMNS") + PEEL,
}


def planned(text: str) -> Planned:
    return plan_source(Source("t.dpql", text))


def errors(text: str) -> list[str]:
    return [one.code for one in planned(text).diagnostics if one.severity == "error"]


def found(text: str) -> Cost:
    made = planned(text)
    assert made.plan is not None, [one.message for one in made.diagnostics]
    (one,) = [one for one in made.plan.measurements if one.name == "a"]
    return one.prices[0].cost


def written(cost: Cost, lower: Fraction = Fraction(0)) -> str:
    amount = cost.amount - lower
    if cost.unit == "eps_delta":
        return f"eps={amount}, delta={cost.delta * amount / cost.amount}"
    return f"{cost.unit}={amount}"


@pytest.mark.parametrize("name", FILES)
def test_the_least_cost_is_enough_and_the_next_lower_one_is_not(name: str) -> None:
    cost = found(FILES[name].format("auto"))
    assert errors(FILES[name].format(written(cost))) == []
    whole = 6 if cost.unit == "eps_delta" else 1
    place = place_below(cost.amount / whole)
    assert candidate(place) == cost.amount / whole
    step = (candidate(place) - candidate(place - 1)) * whole
    assert errors(FILES[name].format(written(cost, step))) == ["DPQL-E072"]


def test_all_that_is_left_is_tried_though_it_has_more_digits() -> None:
    text = survey("rho=0.123456") + "COVARIANCE ssp {} AS a\nEXPECT a.precision >= {}\n"
    exact, rounded = (
        planned(text.format(f"rho={amount}", 1)).plan for amount in ("0.123456", "0.123")
    )
    assert exact is not None
    assert rounded is not None
    best, good = (one.measurements[0].forecast["precision"] for one in (exact, rounded))
    between = (best + good) / 2
    assert found(text.format("auto", between)) == Cost("rho", Fraction("0.123456"))


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (survey("mu=1") + "COVARIANCE ssp auto AS a\n", "E077", "no EXPECT stands on `a`"),
        (survey("mu=1") + "COVARIANCE diagonal auto AS a\n", "E077", "no EXPECT stands on `a`"),
        (
            ROSSI + COX.format("auto").replace("0.4", "0.01"),
            "E077",
            "what is expected of `a` is met at any cost",
        ),
        (
            survey("mu=0.2") + SSP.format("auto"),
            "E078",
            "no cost that is left reaches `a.precision >= 70`: at mu=0.2 it is forecast at",
        ),
        (
            survey("mu=0.5") + "COVARIANCE diagonal mu=0.5\n" + SSP.format("auto"),
            "E078",
            "nothing is left of the budget for `a`",
        ),
        (
            survey() + SSP.format("auto").replace("70", "1e30"),
            "E078",
            "no cost that is left reaches",
        ),
        (survey("eps=9") + SSP.format("auto"), "E067", "`a` cannot be charged to a budget in eps"),
        (
            EVALUES.replace("COLUMNS", "BUDGET mu=40 COLUMNS")
            + PEEL.format("auto").replace("signals=4 strength=12", ""),
            "E066",
            "`a.power` cannot be forecast from what is given",
        ),
    ],
)
def test_a_cost_that_cannot_be_found_says_why(text: str, code: str, words: str) -> None:
    made = planned(text)
    (said,) = [one for one in made.diagnostics if one.severity == "error"]
    assert said.code == f"DPQL-{code}"
    assert words in said.message
    assert made.plan is None


def test_what_is_said_to_be_reachable_is_the_forecast_at_all_that_is_left() -> None:
    made = planned(survey("mu=0.2") + SSP.format("auto"))
    whole = planned(survey("mu=0.2") + SSP.format("mu=0.2").replace("70", "0.1"))
    assert whole.plan is not None
    best = whole.plan.measurements[0].forecast["precision"]
    assert f"forecast at {best:.3g}" in made.diagnostics[0].message


def test_two_open_costs_are_each_the_least_for_their_own_clauses() -> None:
    second = "COVARIANCE ssp auto AS b\nEXPECT b.precision >= 50\n"
    made = planned(survey("mu=2") + SSP.format("auto") + second)
    assert made.plan is not None
    alone = [
        found(survey("mu=2") + SSP.format("auto")),
        found(survey("mu=2") + second.replace(" b", " a")),
    ]
    assert [one.prices[0].cost for one in made.plan.measurements] == alone


def test_open_costs_that_fit_alone_and_not_together_pass_the_budget() -> None:
    one = found(survey() + SSP.format("auto"))
    budget = f"rho={one.amount * Fraction(3, 2)}"
    second = SSP.format("auto").replace("AS a", "AS b").replace("a.", "b.")
    assert errors(survey(budget) + SSP.format("auto")) == []
    assert errors(survey(budget) + SSP.format("auto") + second) == ["DPQL-E071"]


def test_a_cost_beside_one_whose_draws_follow_from_its_amount_finds_its_room() -> None:
    text = survey("mu=3") + "COVARIANCE pace rho={} AS p\n" + SSP.format("auto")
    small = planned(text.format("1e-6"))
    alone = found(survey("mu=3") + SSP.format("auto"))
    assert small.plan is not None
    assert small.plan.measurements[1].prices[0].cost == alone
    assert errors(text.format("1")) == ["DPQL-E067"]


def test_what_composing_the_whole_plan_saves_is_room_for_an_open_cost() -> None:
    head = ROSSI.replace("mu=2.5", "mu=1.01") + "TEST cox beta=b0 VS b1 shrink=0.15 eps=0.9 AS t\n"
    text = head + "COVARIANCE ssp COLUMNS (age, prio) {} AS a\nEXPECT a.precision >= 17\n"
    cost = found(text.format("auto"))
    made = planned(text.format("auto"))
    assert made.plan is not None
    assert "DPQL-W231" in [one.code for one in made.diagnostics]
    alone = total_of(made.plan.checked.prices, "mu")
    assert alone is not None
    assert alone > Fraction("1.01") ** 2
    runnable(of_plan(made.plan))
    checker.check(made.plan.certificate, canonical(made.plan.body), None)
    step = candidate(place_below(cost.amount)) - candidate(place_below(cost.amount) - 1)
    assert errors(text.format(written(cost, step))) == ["DPQL-E072"]


def test_check_leaves_it_open_as_a_note_that_the_plan_does_not_repeat() -> None:
    text = survey("mu=2") + SSP.format("auto")
    _, said = check(bound(text)[0])
    assert [(one.code, one.severity) for one in said] == [("DPQL-E068", "note")]
    assert "DPQL-E068" not in [one.code for one in planned(text).diagnostics]


def test_the_certificate_covers_the_cost_that_was_found() -> None:
    made = planned(survey("mu=2") + SSP.format("auto"))
    assert made.plan is not None
    file = of_plan(made.plan)
    runnable(file)
    ((cost,),) = [[p.cost for p in one.prices] for one in made.plan.measurements]
    amounts = {
        str(entry["out"]["mu2"])
        for entry in made.plan.certificate["totals"]
        if "mu2" in entry["out"]
    }
    assert [Fraction(one) for one in amounts] == [cost.amount**2]


def test_the_policy_is_held_against_the_cost_that_was_found(tmp_path: Any) -> None:
    from dpql.policy import judge

    (tmp_path / "rules.dpql").write_text("POLICY s\n  CAP mu=0.1\n", "utf-8")
    made = planned(survey("mu=2") + SSP.format("auto"))
    assert made.checked is not None
    said = judge(made.checked, tmp_path / "rules.dpql")
    assert [one.code for one in said] == ["DPQL-E073"]


# Methods made for a test: one leaf a source, a forecast that is any function of the amounts.


@pytest.fixture
def forecasts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("forecasts_of_a_test")
    module.resolve = lambda params, facts, cost: params  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def _need(params: Any, facts: Facts, units: Mapping[str, Unit]) -> tuple[Need, ...]:
    return tuple(
        Need("gauss", lambda: Fraction(1), dataset=source.dataset) for source in facts.sources
    )


def _open(text: str, units: tuple[Unit, ...], goal: Fraction = Fraction(1, 2)) -> CheckedPlan:
    """The datasets of a text under one measurement `a` that reads them all at a cost of `auto`."""
    plan_ = bound(text)[0]
    like: Mechanism = bound(survey() + "COVARIANCE ssp mu=1\n")[0].measurements[0].mechanism
    mechanism = replace(
        like,
        need=_need,
        forecast="forecasts_of_a_test",
        solve=None,
        units=units,
        metrics=("power",),
    )
    sources = tuple(dataset.facts for dataset in plan_.datasets)
    costs = []
    for dataset in plan_.datasets:
        budget = dataset.budget
        unit = budget.unit if budget is not None and budget.unit in units else units[0]
        costs.append(SourceCost(dataset.facts, None, sought=unit))
    measurement = BoundMeasurement("a", mechanism, like.params(), Facts(sources, ()), tuple(costs))
    expect = BoundExpect("a", "power", goal)
    whole = BoundPlan(plan_.source, plan_.datasets, (measurement,), (), (expect,))
    checked, said = check(whole)
    assert all(one.severity == "note" for one in said)
    return checked


def _mu(loss: Any) -> float:
    return float(loss.leaves[0].param)


def test_a_forecast_that_jumps_up_and_down_is_met_where_it_is_accepted(forecasts: Any) -> None:
    tried: dict[float, float] = {}

    def forecast(params: Any, facts: Facts, loss: Any) -> dict[str, float]:
        mu = _mu(loss)
        tried[mu] = 1.0 if mu > 1.5 or (0.3 < mu < 0.9) else 0.0
        return {"power": tried[mu]}

    forecasts.forecast = forecast
    checked = _open(survey("mu=2"), ("mu",))
    measurement = checked.bound.measurements[0]
    one = least(measurement, checked, Findings())
    assert one is not None
    cost = one.prices[0].cost.amount
    step = candidate(place_below(cost)) - candidate(place_below(cost) - 1)
    assert tried[float(cost)] == 1.0
    assert tried[float(cost - step)] == 0.0


@settings(deadline=None, max_examples=40, derandomize=True)
@given(edge=st.floats(0.0001, 1.99))
def test_the_least_of_a_step_is_the_first_rung_at_or_above_it(edge: float) -> None:
    module = ModuleType("forecasts_of_a_test")
    module.resolve = lambda params, facts, cost: params  # type: ignore[attr-defined]
    module.forecast = lambda params, facts, loss: {  # type: ignore[attr-defined]
        "power": 1.0 if _mu(loss) >= edge else 0.0
    }
    sys.modules[module.__name__] = module
    try:
        checked = _open(survey("mu=2"), ("mu",))
        one = least(checked.bound.measurements[0], checked, Findings())
    finally:
        del sys.modules[module.__name__]
    assert one is not None
    cost = one.prices[0].cost.amount
    assert float(cost) >= edge > float(candidate(place_below(cost) - 1))


def test_a_unit_that_the_method_does_not_honour_is_named(forecasts: Any) -> None:
    forecasts.forecast = lambda params, facts, loss: {"power": _mu(loss)}
    checked = _open(survey("mu=2"), ("rho",))
    made, said = plan(checked)
    assert [one.code for one in said] == ["DPQL-W213"]
    assert "rho=0.125" in said[0].message
    assert made is not None
    assert made.body["statements"][0]["cost"][0]["declared"] == {"auto": {"rho": "0.125"}}


def test_sources_in_one_unit_pay_the_same(forecasts: Any) -> None:
    forecasts.forecast = lambda params, facts, loss: {"power": _mu(loss)}
    text = survey("mu=2") + survey("mu=1").replace("DATASET s", "DATASET t")
    one = least((checked := _open(text, ("mu",))).bound.measurements[0], checked, Findings())
    assert one is not None
    assert [price.cost for price in one.prices] == [Cost("mu", Fraction(1, 2))] * 2


def test_sources_in_two_units_pay_the_same_share_of_their_budgets(forecasts: Any) -> None:
    forecasts.forecast = lambda params, facts, loss: {"power": _mu(loss)}
    text = survey("mu=2") + survey("rho=0.4").replace("DATASET s", "DATASET t")
    checked = _open(text, ("mu", "rho"))
    one = least(checked.bound.measurements[0], checked, Findings())
    assert one is not None
    assert [p.cost.additive for p in one.prices] == [Fraction(1, 4), Fraction(1, 40)]
    bare = survey("rho=2") + survey().replace("DATASET s", "DATASET t")
    findings = Findings()
    checked = _open(bare, ("mu", "rho"))
    assert least(checked.bound.measurements[0], checked, findings) is None
    assert [one.code for one in findings.items] == ["DPQL-E077"]


@given(st.fractions(Fraction(1, 10**13), Fraction(10**7)).filter(lambda value: value > 0))
def test_the_rung_below_is_the_greatest_number_of_three_digits(value: Fraction) -> None:
    place = place_below(value)
    assert candidate(place) <= value < candidate(place + 1)
    digits = f"{float(candidate(place)):.2e}"
    assert Fraction(digits) == candidate(place)
    assert place_below(candidate(place)) == place
