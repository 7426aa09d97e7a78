"""Accounting faults that were reported of other libraries, planted here: a check sees each of them.

Each test runs a check on the code as it is, then on the code with the fault, where it must fail.
The faults of noise, data, sums are in tests/executors/test_public_bugs.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpql import checker
from planner.calculus import profiles
from planner.calculus.ball_arithmetic import near, sharp
from planner.calculus.compose import eps_at, total
from planner.calculus.convert import charge
from planner.calculus.cost import Cost
from planner.calculus.inverse import divided, solve
from planner.calculus.leaves import Leaf
from planner.calculus.need import Need
from planner.certificate import CertificateError
from planner.checked import Price
from suites.certificates import certified, dataset, plan, reserve, statement
from suites.queries import errors, survey

F = Fraction
RHOS = [F(1, 10**6), F(1, 100), F(1, 10), F(3), F(50)]


# --- opendp 621: a negative eps from rho where delta is near 1 -----------------------------------


def never_negative(solved) -> None:
    """eps >= 0 at every delta, and it falls as delta grows."""
    for rho in RHOS:
        found = [solved(rho, delta) for delta in (F(1, 10), F(9, 10), F(99, 100), 1 - F(1, 10**9))]
        assert all(eps >= 0 for eps in found)
        assert found == sorted(found, reverse=True)


def test_a_negative_eps_is_seen(monkeypatch):
    never_negative(profiles.zcdp_eps.__wrapped__)
    monkeypatch.setattr(profiles, "ceiling", lambda function: near(sharp(function)))
    with pytest.raises(AssertionError):
        never_negative(profiles.zcdp_eps.__wrapped__)


def test_no_family_has_a_negative_eps():
    for leaf in (Leaf.gauss(1, 100), Leaf.lap(1, 100), Leaf.br(1, 100), Leaf.pure(1, 100)):
        for delta in (F(1, 2), F(999, 1000), 1 - F(1, 10**12)):
            assert eps_at([leaf], delta).eps >= 0


# --- tensorflow/privacy 166: an order of 1 + 1e-8 gave eps = 0 -----------------------------------


def never_free(solved) -> None:
    """Below delta = 1/2 eps is at least that of the Gaussian noise that costs this rho."""
    for rho in RHOS[1:]:
        for delta in (F(1, 10**12), F(1, 10**6), F(1, 1000)):
            assert solved(rho, delta) >= profiles.gdp_eps(2 * rho, delta) > 0


def at_an_order_in_floats(rho: Fraction, delta: Fraction) -> Fraction:
    """A mutant: so near to order 1 the logarithm of the moment is 0 in doubles, and so is eps."""
    above = 1e-17
    moment = math.log(math.exp(above * (1 + above) * float(rho)))
    return F(moment / above)


def test_an_order_next_to_one_makes_nothing_free(monkeypatch):
    never_free(profiles.zcdp_eps)
    with pytest.raises(AssertionError):
        never_free(at_an_order_in_floats)
    # Any order is sound in ours, one next to 1 only wasteful.
    for order in (1 + F(1, 10**8), 1 + F(1, 10**3), F(2), F(10**6)):
        monkeypatch.setattr(profiles, "zcdp_order", lambda rho, delta, order=order: order)
        never_free(profiles.zcdp_eps.__wrapped__)


def test_a_claim_of_nothing_is_no_proof():
    leaf = Leaf.gauss(1, 2, dataset="d")
    proof, data, asked = certified(
        plan([dataset("d")], statement("a", leaf)), reserve("rho", "0.125")
    )
    checker.check(proof, data, asked)
    for nothing in ("0", "0.0", "0/7", "1/9"):
        for claim in (proof["nodes"][-1], proof["totals"][0]):
            claim["out"] = {"rho": nothing}
        asked[0]["amount"] = nothing
        with pytest.raises(checker.Rejected):
            checker.check(proof, data, asked)


# --- w3c attribution 77: eleven shares of 1/11 do not sum to 1 -----------------------------------


def elevenths_fill() -> None:
    """Eleven statements at 1/11 of the budget fit, in every unit; a twelfth does not."""
    for budget in ("rho=1", "mu=1"):
        unit = budget.split("=")[0]
        one = f"COVARIANCE ssp {unit}=1/11\n"
        times = 11 if unit == "rho" else 121
        assert errors(survey(budget) + one * times) == []
        assert errors(survey(budget) + one * (times + 1)) != []


def test_shares_in_floats_are_seen(monkeypatch):
    elevenths_fill()
    honest = Price.charge

    def in_floats(self, unit):
        found = honest(self, unit)
        return None if found is None else F(float(found))

    monkeypatch.setattr(Price, "charge", in_floats)
    with pytest.raises(AssertionError):
        elevenths_fill()


@pytest.mark.parametrize("parts", [3, 7, 11, 49])
@pytest.mark.parametrize("unit", ["eps", "rho", "mu"])
def test_parts_of_a_cost_sum_to_it(unit, parts):
    whole = Cost(unit, F(7, 10))
    assert parts * divided(whole, parts).additive == whole.additive


# --- opendp 2911, google 378 and 464, diffprivlib 104, in the planner: the checker sees them ------


def proved(leaf: Leaf, unit: str) -> None:
    """What the planner claims for a plan of this leaf passes the checker, which shares no code."""
    native = "mu_squared" if unit == "mu2" else unit
    body = plan([dataset("d")], statement("one", leaf))
    certificate, data, asked = certified(body, reserve(unit, total([leaf], native)))
    checker.check(certificate, data, asked)


def half_ratio(kind, moved, noise, factor):
    return moved / noise / 2


PLANTED = [
    pytest.param(
        "planner.calculus.convert.pure_to_rho",
        lambda eps: eps * eps / 8,
        lambda: Leaf.pure(1, 20, 2, dataset="d"),
        "rho",
        id="opendp 2911: the rho of a bounded range for a choice that is only pure",
    ),
    pytest.param(
        "planner.calculus.leaves._param",
        half_ratio,
        lambda: Leaf.gauss(2, 4, dataset="d"),
        "mu2",
        id="google 378: the distance C where a replaced row moves by 2 C",
    ),
    pytest.param(
        "planner.calculus.convert.range_to_rho",
        lambda eta: (eta / 2) ** 2 / 8,
        lambda: Leaf.br(1, 9, dataset="d", count=4),
        "rho",
        id="scores that move both ways, charged as if they only grew",
    ),
    pytest.param(
        "planner.calculus.convert.laplace_to_rho",
        lambda eps: F(float(eps) + math.expm1(-float(eps))) * (1 - F(1, 10**14)),
        lambda: Leaf.lap(1, 3, dataset="d"),
        "rho",
        id="a cost from floats, short by its last digits",
    ),
    pytest.param(
        "planner.calculus.compose._several",
        lambda leaf, unit: charge(leaf, unit).value,
        lambda: Leaf.br(1, 9, dataset="d", count=4),
        "rho",
        id="diffprivlib 104: one share for four draws",
    ),
]


@pytest.mark.parametrize(("place", "fault", "leaf", "unit"), PLANTED)
def test_a_planner_with_the_fault_is_refused_by_the_checker(monkeypatch, place, fault, leaf, unit):
    proved(leaf(), unit)
    monkeypatch.setattr(place, fault)
    with pytest.raises((checker.Rejected, CertificateError)):
        proved(leaf(), unit)


def test_a_person_with_several_rows_moves_a_sum_by_all_of_them():
    need = Need(kind="gauss", sensitivity=lambda: F(1), width=1, dataset="d")
    one, three = (solve((need,), Cost("mu", F(1)), group=rows).leaves[0] for rows in (1, 3))
    assert (one.scale, three.scale) == (1, 3)
    assert three.sensitivity == 3
