"""What a file spends fits its BUDGET, exactly, in every unit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.calculus.cost import Cost
from planner.calculus.shares import split
from planner.charges import reservations, total_of
from planner.costing import price_at
from planner.findings import Findings
from planner.rules import fits_budget
from suites.queries import ROSSI, bound, checked, errors, findings, survey


def repeated(cost: str, times: int) -> str:
    return "".join(f"COVARIANCE ssp {cost}\n" for _ in range(times))


def test_ten_times_a_tenth_fill_one() -> None:
    assert errors(survey("rho=1") + repeated("rho=0.1", 10)) == []
    ((code, message),) = errors(survey("rho=1") + repeated("rho=0.1", 11))
    assert code == "DPQL-E071"
    assert message == "the plan spends rho=1.1, the budget of `s` is rho=1"


def test_eleven_elevenths_fill_one() -> None:
    assert errors(survey("rho=1") + repeated("rho=1/11", 11)) == []


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_shares_that_sum_to_a_hundred_fill_every_budget(weights: list[int]) -> None:
    total = sum(weights)
    shares = [Fraction(100 * weight, total) for weight in weights]
    short = [Fraction(int(share * 100), 100) for share in shares[:-1]]
    last = 100 - sum(short)
    statements = "".join(
        f"COVARIANCE ssp {float(share)}%\n" for share in [*short, last] if 0 < share <= 100
    )
    for budget in ("rho=0.7", "mu=1.3", "eps=1, delta=1e-6"):
        assert errors(survey(budget) + statements) == []


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.sampled_from(
        [Cost("eps", Fraction(2)), Cost("rho", Fraction(7, 10)), Cost("mu", Fraction(3, 7))]
    ),
    st.lists(st.fractions(Fraction(1, 99), 99, max_denominator=997), min_size=1, max_size=500),
)
def test_shares_by_weight_fill_a_budget_to_the_last_and_no_more_is_admitted(
    budget: Cost, weights: list[Fraction]
) -> None:
    plan, _ = bound(ROSSI + "TEST cox beta=b0 VS b1 eps=1")
    dataset, (measurement,) = replace(plan.datasets[0], budget=budget), plan.measurements
    parts = split(budget, weights)
    prices = [price_at(measurement, measurement.costs[0], part) for part in parts]
    said = Findings()
    fits_budget.judge(dataset, prices, said)
    assert said.items == []
    more = Cost(budget.unit, Fraction(1, 10**12))
    prices.append(price_at(measurement, measurement.costs[0], more))
    assert not fits_budget.fits(dataset, prices, grid=False)
    if budget.unit != "mu":  # in mu Laplace draws cost less together than they do one by one
        fits_budget.judge(dataset, prices, said)
        assert [one.code for one in said.items] == ["DPQL-E071"]


def test_the_message_names_the_statement_that_breaks_it_and_by_how_much() -> None:
    text = survey("rho=0.2") + repeated("rho=0.1", 1) + "COVARIANCE ssp rho=0.15 AS last\n"
    (found,) = [one for one in findings(text) if one.severity == "error"]
    assert found.message == "the plan spends rho=0.25, the budget of `s` is rho=0.2"
    assert found.here == "passes the budget by 0.05"
    assert found.help == "rho=0.1 fits here; or all fit with 1.12 times the noise in each"
    assert [label.text for label in found.labels] == ["0.1 spent here"]
    assert found.span is not None
    assert text[found.span.start : found.span.end] == "rho=0.15"


def test_mu_adds_up_in_squares() -> None:
    assert errors(survey("mu=0.5") + "COVARIANCE ssp mu=0.3\nCOVARIANCE ssp mu=0.4") == []
    (one,) = errors(survey("mu=0.5") + "COVARIANCE ssp mu=0.3\nCOVARIANCE ssp mu=0.4000001")
    assert one[0] == "DPQL-E071"


def test_a_pure_test_is_charged_to_mu_by_its_laplace_leaf() -> None:
    plan = checked(ROSSI + "TEST cox beta=b0 VS b1 eps=1")
    amount = total_of(plan.prices, "mu")
    assert amount is not None
    assert abs(float(amount) - 1.03006399762443**2) < 1e-13
    assert amount >= Fraction("1.03006399762443") ** 2 - Fraction(1, 10**13)


@pytest.mark.parametrize(
    ("budget", "statement", "reason"),
    [
        ("eps=1", "COVARIANCE ssp rho=0.1", "no bound without a delta"),
        ("eps=1", "COVARIANCE ssp eps=0.5, delta=1e-6", "no bound without a delta"),
    ],
)
def test_a_cost_that_cannot_be_charged_is_refused_with_the_way_out(
    budget: str, statement: str, reason: str
) -> None:
    (found,) = [one for one in findings(survey(budget) + statement) if one.severity == "error"]
    assert found.code == "DPQL-E067"
    assert reason in found.note
    assert "BUDGET" in found.help


def test_an_adaptive_peel_in_rho_does_not_fit_a_mu_budget() -> None:
    text = """DATASET h ROWS 40
      COLUMNS (gene ID, l LOG_EVALUE SENSITIVITY 0.3 ASSERTED_BY 'lab') BUDGET mu=1
      PEEL evalues ADAPTIVE rho=0.1"""
    (found,) = [one for one in findings(text) if one.severity == "error"]
    assert found.code == "DPQL-E067"
    assert found.help == (
        "give this cost as mu=, or declare the BUDGET of `h` as rho= or eps=, delta="
    )


def test_pairs_of_eps_and_delta_add_up_or_compose() -> None:
    budget = "eps=1, delta=1e-6"
    assert errors(survey(budget) + repeated("eps=0.5, delta=5e-7", 2)) == []
    assert errors(survey(budget) + "COVARIANCE ssp mu=0.2367") == []
    (found,) = errors(survey(budget) + "COVARIANCE ssp mu=0.2368")
    assert found[0] == "DPQL-E071"
    # Composed, twenty small Gaussian releases cost far less than the sum of their pairs.
    small = "COVARIANCE ssp eps=0.2, delta=5e-7\n"
    assert errors(survey(budget) + small * 8) == []


def test_a_file_without_a_budget_has_no_limit_of_its_own() -> None:
    assert errors(survey() + "COVARIANCE ssp rho=100") == []


def test_budgets_of_two_datasets_are_apart() -> None:
    text = survey("rho=0.1") + survey("rho=0.2").replace(" s ", " t ")
    text += "COVARIANCE ssp ON s rho=0.1\nCOVARIANCE ssp ON t rho=0.2\n"
    assert errors(text) == []
    assert [(r["dataset"], r["unit"], r["amount"]) for r in reservations(checked(text))] == [
        ("s", "rho", "0.1"),
        ("s", "mu2", "0.2"),
        ("t", "rho", "0.2"),
        ("t", "mu2", "0.4"),
    ]


def test_reservations_hold_every_unit_that_may_be_claimed() -> None:
    text = ROSSI + "TEST cox beta=b0 VS b1 eps=1 AS a\n"
    assert [r["unit"] for r in reservations(checked(text))] == ["eps", "rho", "mu2"]
    text += "COVARIANCE ssp mu=0.3\n"
    assert [r["unit"] for r in reservations(checked(text))] == ["rho", "mu2"]
