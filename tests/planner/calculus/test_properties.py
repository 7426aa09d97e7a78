"""The properties that the accounting must have, each with the tests that hold it.

Those without a file name are below. The last test fails where a name is no test any more.

| property | held by |
| --- | --- |
| P1 processes never exceed a budget | test_sixteen_processes_are_granted_exactly_the_cap |
| P2 a kill at any statement | test_a_kill_between_any_two_statements_leaves_a_sound_ledger |
| P3 shares sum to the budget | test_shares_of_any_weights_fill_a_budget_and_leave_nothing, test_shares_that_sum_to_a_hundred_fill_every_budget |
| P4 any changed bit is found | test_any_single_bit_change_of_any_row_is_found_at_that_row |
| P5 order of admission | test_the_order_of_admission_does_not_change_a_total, test_the_order_of_admission_does_not_change_the_sum |
| P6 nothing is released after start | test_no_step_is_taken_from_a_wrong_state |
| P7 converting never lowers risk | test_converting_never_lowers_any_risk, test_converting_never_lowers_delta |
| P8 composition is monotone, commutative | test_composition_is_commutative_and_monotone, test_risk_is_monotone_and_commutative |
| P9 certified delta of Gaussian plans | test_gaussian_plans_through_the_grid_stay_close_to_the_exact_profile |
| P10 inverse then forward | test_inverse_then_forward_never_exceeds, test_a_solved_scale_costs_no_more_and_nearly_as_much |
| P11 mutated certificates | test_every_forgery_is_refused_with_a_reason |
| P12 numbers that are no cost | test_what_is_no_number_is_no_cost, test_other_texts_are_no_numbers |
| P13 vertices of discrete Laplace noise | test_discrete_laplace_lies_on_laplace_with_the_inflated_eps |
| P14 frequencies of a selection | test_another_selection_under_the_same_name_fails_the_frequency_gate |
| P15 exact softmax | test_ordered_pairs_follow_the_exact_softmax |
| P16 parts by a private column | test_parts_by_a_private_column_are_refused |
| P17 the two traps of locking | test_the_race_catches_both_known_traps |
"""  # noqa: E501

from __future__ import annotations

import random
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql import checker
from dpql.ledger.amounts import added, amount
from planner.calculus.compose import total
from planner.calculus.convert import NATIVE, Unconvertible, charge
from planner.calculus.cost import Cost
from planner.calculus.exact import number, root_up, sum_up
from planner.calculus.leaves import Leaf
from planner.calculus.risk import limits
from planner.calculus.shares import part_of
from planner.calculus.tradeoff import Worst
from suites.certificates import certified, dataset, plan, reserve, statement
from suites.queries import errors, survey

F = Fraction
TESTS = Path(__file__).parents[2]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=500),
    st.sampled_from(["eps", "rho", "mu", "eps_delta"]),
    st.fractions(min_value=F(1, 1000), max_value=50, max_denominator=1009),
)
def test_shares_of_any_weights_fill_a_budget_and_leave_nothing(weights, unit, whole):
    """P3: 1 to 500 shares are all admitted, then not even 1e-60 fits."""
    budget = Cost(unit, whole, F(1, 10**6) if unit == "eps_delta" else F(0))
    parts = [part_of(budget, F(weight, sum(weights))) for weight in weights]
    spent = F(0)
    for part in parts:
        spent += part.additive
        assert spent <= budget.additive
    assert spent == budget.additive
    assert spent + F(1, 10**60) > budget.additive
    assert sum(part.delta for part in parts) == budget.delta
    if unit == "mu":
        assert all(part.amount**2 <= part.additive for part in parts)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.fractions(min_value=F(1, 10**9), max_value=9), min_size=1, max_size=40),
    st.randoms(use_true_random=False),
)
def test_the_order_of_admission_does_not_change_a_total(charges, shuffler):
    """P5: beyond 1e-60 for each charge, and a plan's own sums not even that."""
    other = list(charges)
    shuffler.shuffle(other)
    assert sum_up(charges) == sum_up(other)
    totals = []
    for order in (charges, other):
        spent = F(0)
        for one in order:
            spent = added(spent, one)
        totals.append(spent)
        assert 0 <= spent - sum(order) <= F(len(order), 10**60)
    assert abs(totals[0] - totals[1]) <= F(len(charges), 10**60)


SIZES = ["0.02", "0.3", "1", "3", "9"]
RATES = [F(1, 10**6), F(1, 1000), F(1, 20), F(1, 2), F(19, 20)]
SOURCES = {
    "pure": ("pure", lambda size: Leaf.declared("pure", size)),
    "lap": ("lap", lambda size: Leaf.lap(size, 1)),
    "br": ("br", lambda size: Leaf.br(size, 2)),
    "gauss": ("gdp", lambda size: Leaf.gauss(size, 1)),
    "gdp": ("gdp", lambda size: Leaf.declared("gdp", size)),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", SOURCES)
def test_converting_never_lowers_any_risk(kind, size):
    """P7: at every rate of false alarms, hence at every eps, and for the advantage."""
    family, make = SOURCES[kind]
    leaf, source = make(F(size)), Worst(family, F(size))
    targets = []
    for unit in NATIVE.values():
        try:
            value = charge(leaf, unit).value
        except Unconvertible:
            continue
        family = {"eps": "pure", "rho": "zcdp", "mu_squared": "gdp"}[unit]
        targets.append(Worst(family, root_up(value) if unit == "mu_squared" else value))
    assert len(targets) == (2 if kind in ("gauss", "gdp") else 3)
    for target in targets:
        assert target.advantage() >= source.advantage()
        for rate in RATES:
            assert target.power(rate) >= source.power(rate)


kinds = st.sampled_from(["lap", "gauss", "br", "pure"])
leaves = st.builds(
    lambda kind, size, count: getattr(Leaf, kind)(size, 1, count=count),
    kinds,
    st.fractions(min_value=F(1, 100), max_value=2, max_denominator=100),
    st.integers(1, 6),
)


@settings(max_examples=4, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=3), leaves, st.randoms(use_true_random=False))
def test_risk_is_monotone_and_commutative(some, one, shuffler):
    """P8: one release more never helps the people; the order of releases is nothing."""
    mixed = [*some, one]
    shuffler.shuffle(mixed)
    fewer, more, other = (limits(leaves, RATES) for leaves in (some, [*some, one], mixed))
    assert more == other
    slack = 1 + F(1, 10**4)  # a further leaf may ask for a finer grid
    assert fewer.advantage <= more.advantage * slack
    assert all(fewer.power[rate] <= more.power[rate] * slack for rate in RATES)


def claiming(written: str) -> None:
    """An honest plan whose total claims a text; only its true cost is accepted."""
    leaf = Leaf.gauss(1, 2, dataset="d")
    proof, data, asked = certified(
        plan([dataset("d")], statement("a", leaf)), reserve("rho", "0.125")
    )
    for claim in (proof["nodes"][-1], proof["totals"][0]):
        claim["out"] = {"rho": written}
    asked[0]["amount"] = written
    checker.check(proof, data, asked)


def test_the_true_cost_is_accepted():
    claiming("1/8")
    claiming("0.125")


NO_COSTS = ["NaN", "nan", "inf", "-inf", "1e400", "-1", "0.1e-400", "", " 1", "1 ", "1/0", "0x1"]


@pytest.mark.parametrize("written", NO_COSTS)
def test_what_is_no_number_is_no_cost(written):
    """P12: neither for the planner, the ledger, the checker nor in a query."""
    if written != "-1":
        with pytest.raises(ValueError):
            number(written)
    with pytest.raises(ValueError):
        amount(written)
    with pytest.raises(checker.Rejected):
        claiming(written)
    if written.strip() == written:
        assert errors(survey() + f"COVARIANCE ssp rho={written}\n") != []


@pytest.mark.parametrize("bad", [0.1, float("nan"), float("inf"), True, "1", None])
def test_only_exact_numbers_become_leaves(bad):
    for make in (Leaf.lap, Leaf.gauss, Leaf.br, Leaf.pure):
        with pytest.raises(TypeError):
            make(1, bad)
        with pytest.raises(TypeError):
            make(bad, 1)


PARTS = [
    "COVARIANCE ssp BY x rho=0.1",
    "COVARIANCE ssp PARTITION BY x rho=0.1",
    "COVARIANCE ssp GROUP BY x rho=0.1",
    "COVARIANCE ssp WHERE x = 1 rho=0.1",
    "COVARIANCE ssp AT x rho=0.1",
    "COVARIANCE ssp ON s WHERE x rho=0.1",
]


@pytest.mark.parametrize("statement", PARTS)
def test_parts_by_a_private_column_are_refused(statement):
    """P16: replacing one person moves that person from part to part, so parts are not apart."""
    assert errors(survey() + "COVARIANCE ssp rho=0.1\n") == []
    assert errors(survey() + statement + "\n") != []


def test_two_statements_about_the_same_people_always_add_up():
    both = [Leaf.gauss(1, 2, dataset="s"), Leaf.gauss(1, 2, dataset="s")]
    assert total(both, "rho") == 2 * total(both[:1], "rho")
    assert errors(survey("rho=0.1") + "COVARIANCE ssp rho=0.1\n" * 2) != []


def test_every_property_is_held_by_a_test_that_exists():
    text = "\n".join(path.read_text("utf-8") for path in TESTS.rglob("test_*.py"))
    known = set(re.findall(r"def (test_\w+)\(", text))
    rows = re.findall(r"^\| (P\d+) .*\| (.*) \|$", __doc__, re.MULTILINE)
    assert [name for name, _ in rows] == [f"P{k}" for k in range(1, 18)]
    for name, held in rows:
        for test in held.split(", "):
            assert test in known, (name, test)


def test_the_shuffled_total_of_a_plan_is_the_same():
    some = [Leaf.lap(1, k + 2) for k in range(20)] + [Leaf.br(1, k + 3) for k in range(20)]
    for unit in NATIVE.values():
        mixed = random.Random(3).sample(some, len(some))
        assert total(mixed, unit) == total(some, unit)
