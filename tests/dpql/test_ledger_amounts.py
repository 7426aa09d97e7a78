"""Exact sums, in every unit, in any order."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpql.errors import CertificateRefused, LedgerDamaged, OverBalance
from dpql.ledger import Ledger
from dpql.ledger.amounts import added, amount, recorded, shown, stored, taken_back
from suites.ledger import certificate, facts, plan

RATIONALS = st.fractions(min_value=Fraction(1, 10**12), max_value=10, max_denominator=10**24)
FINEST = Fraction(1, 10**60)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger.connect(str(tmp_path / "ledger.db"), create=True)


@pytest.mark.parametrize(
    ("unit", "cap", "costs"),
    [
        ("rho", "1", ["0.1"] * 10),
        ("rho", "1", ["1/11"] * 11),
        ("eps", "3", ["1/3"] * 9),
        ("mu", "0.25", ["0.3", "0.4"]),
        ("mu", "0.015241578750190521", ["0.123456789"]),
        ("eps", "0.000000000003", ["0.000000000001"] * 3),
    ],
)
def test_costs_that_fill_the_cap_are_admitted_and_nothing_more(ledger, unit, cap, costs):
    native = "mu2" if unit == "mu" else unit
    ledger.open_key(facts(cap=cap, unit=native))
    for number, cost in enumerate(costs):
        asked = plan(cost, unit=unit, tag=str(number))
        ledger.reserve(asked, certificate(asked))
    assert ledger.remaining("trial").remaining == 0
    last = plan("0.000000000001", unit=unit, tag="more")
    with pytest.raises(OverBalance) as refused:
        ledger.reserve(last, certificate(last))
    assert "nothing is left" in refused.value.help
    assert ledger.verify() == ()


def test_a_refusal_under_mu_speaks_of_mu_and_of_its_squares(ledger):
    ledger.open_key(facts(cap="0.25", unit="mu2"))
    first = plan("0.3", unit="mu")
    ledger.reserve(first, certificate(first))
    second = plan("0.45", unit="mu")
    with pytest.raises(OverBalance) as refused:
        ledger.reserve(second, certificate(second))
    assert refused.value.message == "the plan needs mu=0.45 of `trial`, whose balance is mu=0.4"
    assert "mu=0.3 of mu=0.5 is spent or reserved; squares of mu add up" in refused.value.note


def test_a_key_counts_in_its_own_unit_only(ledger):
    ledger.open_key(facts(cap="1", unit="mu2"))
    asked = plan("0.1", unit="rho")
    with pytest.raises(CertificateRefused, match="0 totals in mu for `trial`") as refused:
        ledger.reserve(asked, certificate(asked))
    assert "give that cost as mu=, or ask the custodian for a key that counts rho" in (
        refused.value.help
    )


def test_a_key_in_eps_says_what_else_it_could_count(ledger):
    ledger.open_key(facts(cap="1", unit="eps"))
    asked = plan("0.1", unit="rho")
    with pytest.raises(CertificateRefused, match="0 totals in eps for `trial`") as refused:
        ledger.reserve(asked, certificate(asked))
    assert "give every cost as eps=, or ask the custodian for a key that counts rho or mu" in (
        refused.value.help
    )


def test_a_claim_below_the_cost_is_refused_by_the_checker(ledger):
    ledger.open_key(facts())
    asked = plan("0.1")
    proof = certificate(asked)
    for total in (proof["totals"][0], proof["nodes"][-1]):
        total["out"] = {"rho": "0.0999"}
    with pytest.raises(CertificateRefused, match="does not prove the plan's cost"):
        ledger.reserve(asked, proof)
    other = plan("0.05", tag="other")
    with pytest.raises(CertificateRefused):
        ledger.reserve(asked, certificate(other))
    assert ledger.head()["seq"] == 2


def test_the_order_of_admission_does_not_change_the_sum():
    charges = [Fraction(1, 7**40), Fraction(2, 3**50), Fraction(1, 10), Fraction(5, 11**20)]
    sums = set()
    for order in permutations(charges):
        total = Fraction(0)
        for charge in order:
            total = added(total, charge)
        sums.add(total)
    assert max(sums) - min(sums) <= len(charges) * FINEST
    assert min(sums) >= sum(charges)


@given(st.lists(RATIONALS, max_size=30), RATIONALS)
def test_sums_are_never_below_the_truth_and_stay_short(charges, last):
    total = Fraction(0)
    for charge in charges:
        total = added(total, charge)
        assert total.denominator <= 10**60
    assert 0 <= total - sum(charges) <= len(charges) * FINEST
    after = taken_back(added(total, last), last)
    assert total <= after <= total + 2 * FINEST


@given(RATIONALS)
def test_what_is_stored_is_read_back(value):
    assert recorded(stored(added(Fraction(0), value))) == value
    assert stored(Fraction(6, 4)) == "3/2"
    assert stored(Fraction(1)) == "1/1"


@pytest.mark.parametrize(
    "written",
    ["nan", "inf", "1e400", "1e-400", "-1", "0.1e-400", "", "1/0", "½", " 1", "1_0", "+1"],
)
def test_what_is_no_plain_number_is_no_amount(written):
    with pytest.raises(ValueError):
        amount(written)
    with pytest.raises(LedgerDamaged):
        recorded(written)


@pytest.mark.parametrize("value", [0.1, 1, None, True, float("nan")])
def test_a_number_that_is_no_text_is_no_amount(value):
    with pytest.raises(ValueError, match="written as a text"):
        amount(value)


@pytest.mark.parametrize("written", ["2/4", "1", "01/2", "1/2 ", "٣/٤", "1/-2"])
def test_only_reduced_fractions_are_a_balance(written):
    with pytest.raises(LedgerDamaged):
        recorded(written)


@given(RATIONALS, st.booleans(), st.sampled_from(["eps", "rho", "mu2"]))
def test_what_people_see_errs_in_the_stated_direction(value, up, unit):
    name, _, number = shown(unit, value, up=up).partition("=")
    read = Fraction(number)
    assert name == ("mu" if unit == "mu2" else unit)
    exact = read**2 if unit == "mu2" else read
    assert exact >= value if up else exact <= value


def test_sums_of_many_unlike_fractions_stay_exact_enough_in_the_database(ledger):
    ledger.open_key(facts(cap="1"))
    total = Fraction(0)
    for number in range(30):
        cost = Fraction(1, 97 + 2 * number)
        asked = plan(cost, tag=str(number))
        ledger.reserve(asked, certificate(asked))
        total += cost
    spent = ledger.remaining("trial").reserved + ledger.remaining("trial").spent
    assert 0 <= spent - total <= 30 * FINEST
    assert ledger.verify() == ()
