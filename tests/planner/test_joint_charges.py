"""The whole of a mixed plan is charged less mu than the sum of its statements, and says so."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpql import checker
from dpql.pipeline import plan_source
from dpql.report.spending import section
from dpql.text import plan_text
from dpql.view import plan_json
from grammar.source import Source
from planner.calculus.exact import number
from planner.calculus.joint_total import joint_total
from planner.calculus.leaves import Leaf
from planner.certificate import CertificateError
from planner.charges import charge_of, is_within, native_charges, reservations, total_of
from suites.certificates import canonical, certified, dataset, plan, reserve, statement
from suites.queries import ROSSI, checked, errors, findings

F = Fraction
TESTS = "".join(f"TEST cox beta=b0 VS b1 eps=0.5 AS t{k}\n" for k in range(3))
MIXED = TESTS + "COVARIANCE ssp COLUMNS (age, prio) mu=0.3 AS c\n"


def rossi(budget: str) -> str:
    return ROSSI.replace("BUDGET mu=2.5", f"BUDGET {budget}")


def test_the_whole_costs_less_than_its_parts_and_each_part_its_own():
    prices = checked(rossi("mu=2") + MIXED).prices
    own = [price.charge("mu") for price in prices]
    charge = charge_of(prices, "mu")
    assert total_of(prices, "mu") == sum(own)
    assert charge.by == "PLD"
    # No less than twice the KL of its worst pairs, no more than a little above.
    least = 3 * 2 * F("0.10653065") + F(9, 100)
    assert least < charge.amount < least * F(107, 100) < sum(own)
    assert charge_of(prices[:1], "mu").by == "sum"
    assert charge_of(prices[:1], "mu").amount == own[0]
    for unit in ("eps", "rho"):
        charge = charge_of(prices, unit)
        assert (None if charge is None else charge.amount) == total_of(prices, unit)


def test_reservations_hold_the_joint_amount():
    plan = checked(rossi("mu=2") + MIXED)
    (amount,) = [r["amount"] for r in reservations(plan) if r["unit"] == "mu2"]
    assert number(amount) == charge_of(plan.prices, "mu").amount
    assert native_charges(plan, "rossi")["mu2"] == number(amount)


def test_a_budget_below_the_sum_holds_what_fits_together_and_a_note_says_why():
    text = rossi("mu=0.95") + MIXED
    assert total_of(checked(text).prices, "mu") > F("0.95") ** 2
    assert errors(text) == []
    (note,) = [one for one in findings(text) if one.code == "DPQL-W231"]
    assert "together mu=0.8" in note.message
    assert "would add up to mu=1.01" in note.note


def test_a_budget_that_composing_cannot_reach_is_refused_without_composing(monkeypatch):
    def never(*_):
        raise AssertionError("nothing should be composed")

    monkeypatch.setattr("planner.calculus.joint_total.joint", never)
    monkeypatch.setattr("planner.rules.fits_budget.noise_factor", lambda *_: None)
    text = rossi("mu=0.7") + MIXED
    ((code, message),) = errors(text)
    assert code == "DPQL-E071"
    assert "the plan spends mu=" in message
    assert errors(rossi("mu=1.1") + MIXED) == []


def test_a_budget_just_below_what_all_cost_together_is_refused_and_told():
    text = rossi("mu=0.855") + MIXED
    (found,) = [one for one in findings(text) if one.severity == "error"]
    assert found.code == "DPQL-E071"
    assert "all together cost mu=0.8" in found.note
    assert "above the budget too" in found.note


def test_the_plan_proves_and_shows_what_it_is_charged():
    made = plan_source(Source("q.dpql", rossi("mu=0.95") + MIXED))
    content = plan_json(made)
    total = content["datasets"][0]["total"]
    assert total["mu_by"] == "PLD"
    assert number(total["mu"]) ** 2 >= number(total["mu_squared"])
    assert number(total["mu_of_parts"]) > 1 > number(total["mu"])
    assert content["keys"][0]["total"]["mu_squared"] == total["mu_squared"]
    for one in content["statements"]:
        cost = one["cost"][0]["total"]
        assert (cost["mu_by"], cost["mu_of_parts"]) == ("sum", cost["mu"])
    (claim,) = [
        one["out"]["mu2"] for one in content["certificate"]["totals"] if "mu2" in one["out"]
    ]
    assert claim == total["mu_squared"]
    checker.check(made.plan.certificate, canonical(made.plan.body), None)
    assert "together  mu=0.8" in plan_text(made)
    words = " ".join(str(block) for block in section(content).blocks)
    assert "by joint composition (PLD)" in words
    assert "The saving belongs to the plan as a whole" in words


def test_a_plan_of_one_draw_says_nothing_of_composition():
    made = plan_source(Source("q.dpql", rossi("mu=2") + TESTS.split("\n")[0]))
    assert plan_json(made)["datasets"][0]["total"]["mu_by"] == "sum"
    assert "joint composition" not in plan_text(made)


def test_checking_what_fits_by_sums_composes_nothing(monkeypatch):
    def never(*_, **__):
        raise AssertionError("nothing should be composed")

    monkeypatch.setattr("planner.calculus.joint.compose", never)
    monkeypatch.setattr("planner.calculus.grid_eps.compose", never)
    for budget in ("mu=1.1", "rho=0.5", "eps=6, delta=1e-6"):
        assert errors(rossi(budget) + MIXED) == []
    assert errors(rossi("eps=1.5") + TESTS) == []


def test_a_pair_of_eps_and_delta_may_fit_by_composition_alone():
    text = rossi("eps=2.7, delta=1e-6") + MIXED
    assert errors(text) == []
    (note,) = [one for one in findings(text) if one.code == "DPQL-W231"]
    assert "at delta=0.000001" in note.message
    ((code, message),) = errors(rossi("eps=2.5, delta=1e-6") + MIXED)
    assert code == "DPQL-E071"
    assert "at delta=0.000001" in message


def test_a_limit_is_held_against_the_sum_first(monkeypatch):
    prices = checked(rossi("mu=2") + MIXED).prices
    joint = charge_of(prices, "mu").amount
    assert is_within(prices, "mu", joint)
    assert not is_within(prices, "mu", joint * F(99, 100))
    assert not is_within(prices, "eps", F(100))
    monkeypatch.setattr("planner.charges.joint_total", None)
    assert is_within(prices, "mu", total_of(prices, "mu"))
    assert not is_within(prices, "mu", F(1, 10))


KINDS = [
    [Leaf.lap(1, 10, count=10)],
    [Leaf.lap(1, 4, count=3), Leaf.gauss(1, 2), Leaf.br(1, 20, count=20)],
    [Leaf.pure(1, 2), Leaf.cap("gdp", F(1, 2), ("br", "gauss")), Leaf.lap(1, 3)],
]


def at(leaves, site=None):
    return [replace(leaf, dataset="d", site=site) for leaf in leaves]


@pytest.mark.parametrize("leaves", KINDS, ids=["lap", "mixed", "caps"])
def test_the_joint_amount_is_proved_and_a_smaller_one_is_not(leaves):
    leaves = at(leaves)
    amount = joint_total(leaves).mu_squared
    body = plan([dataset("d")], *(statement(f"s{k}", leaf) for k, leaf in enumerate(leaves)))
    certificate, data, reserved = certified(body, reserve("mu2", amount))
    assert "pld_mu2" in {node["rule"] for node in certificate["nodes"]}
    checker.check(certificate, data, reserved)
    with pytest.raises(CertificateError):
        certified(body, reserve("mu2", amount * F(999, 1000)))
    # A claim lowered by a thousandth is refused by the checker too.
    for node in certificate["nodes"]:
        if node["rule"] == "pld_mu2":
            node["out"]["mu2"] = str(number(node["out"]["mu2"]) * F(996, 1000))
    with pytest.raises(checker.Rejected):
        checker.check(certificate, data, reserved)


def test_joint_amounts_of_sites_are_proved_site_by_site():
    sites = {"max": 2, "members": [{"name": name} for name in "abc"]}
    leaves = [*at(KINDS[0], "a"), *at(KINDS[1], "b"), *at(KINDS[0][:1], "c"), *at(KINDS[2])]
    amount = joint_total(leaves, 2).mu_squared
    body = plan([dataset("d", sites=sites)], statement("s", *leaves))
    certificate, data, reserved = certified(body, reserve("mu2", amount))
    assert [node["rule"] for node in certificate["nodes"]].count("pld_mu2") == 4
    checker.check(certificate, data, reserved)
