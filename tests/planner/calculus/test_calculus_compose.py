"""What several releases cost together: sums, sites, the least of all bounds, what is shown."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.calculus import convert, profiles
from planner.calculus.compose import Bound, eps_at, over_sites, total, view
from planner.calculus.convert import Unconvertible, charge
from planner.calculus.exact import number, text
from planner.calculus.leaves import Draft, Leaf

F = Fraction
SMALL = F(1, 10**5)
sizes = st.fractions(min_value=F(1, 1000), max_value=10, max_denominator=1000)
kinds = st.sampled_from(["lap", "gauss", "br", "pure"])
leaves = st.builds(
    lambda kind, size, count: getattr(Leaf, kind)(size, 1, count=count),
    kinds,
    sizes,
    st.integers(1, 30),
)


def test_each_kind_has_the_cost_of_the_table():
    def row(leaf):
        return [total([leaf], unit) for unit in ("eps", "rho", "mu_squared")]

    half = F(1, 2)
    assert row(Leaf.pure(1, 2)) == [
        half, convert.pure_to_rho(half), convert.pure_to_mu_squared(half)
    ]  # fmt: skip
    assert row(Leaf.lap(1, 2)) == [
        half, convert.laplace_to_rho(half), convert.laplace_to_mu_squared(half)
    ]  # fmt: skip
    assert row(Leaf.br(1, 4)) == [half, F(1, 32), convert.range_to_mu_squared(half)]
    assert row(Leaf.gauss(1, 2)) == [None, F(1, 8), F(1, 4)]
    assert row(Leaf.declared("gdp", half)) == [None, F(1, 8), F(1, 4)]
    fine = Leaf.dgauss(1, 1024)
    assert row(fine) == [None, F(1, 2 * 1024**2), fine.param**2]
    assert row(Leaf.declared("zcdp", half)) == [None, half, None]
    assert row(Leaf.declared("adp", half, SMALL)) == [None, None, None]
    assert row(Leaf.cap("zcdp", half, ("br",))) == [None, half, None]
    assert row(Leaf.cap("gdp", half, ("br",))) == [None, F(1, 8), F(1, 4)]
    assert row(Leaf.cap("pure", half, ("br",))) == row(Leaf.declared("pure", half))


def test_counts_multiply():
    assert total([Leaf.br(1, 4, count=20)], "rho") == 20 * F(1, 32)
    assert total([Leaf.lap(1, 2, count=3)], "mu_squared") == 3 * convert.laplace_to_mu_squared(
        F(1, 2)
    )


def test_nothing_costs_nothing():
    assert total([], "eps") == 0
    assert eps_at([], SMALL) == Bound(F(0), "eps")


def test_one_leaf_without_a_rule_makes_the_total_none():
    both = [Leaf.lap(1, 1), Leaf.declared("zcdp", 1)]
    assert total(both, "mu_squared") is None
    assert total(both, "eps") is None
    assert total(both, "rho") == convert.laplace_to_rho(F(1)) + 1


@pytest.mark.parametrize(
    ("leaf", "unit", "rule", "word"),
    [
        (Leaf.gauss(1, 1), "eps", "C14", "rho="),
        (Leaf.dgauss(1, 1024), "eps", "C14", "rho="),
        (Leaf.declared("gdp", 1), "eps", "C14", "mu="),
        (Leaf.declared("zcdp", 1), "eps", "C14", "rho="),
        (Leaf.declared("zcdp", 1), "mu_squared", "C13", "BUDGET as rho="),
        (Leaf.cap("zcdp", 1, ("br",)), "mu_squared", "C13", "BUDGET as rho="),
        (Leaf.declared("adp", 1, SMALL), "eps", "C12", "eps= delta="),
        (Leaf.declared("adp", 1, SMALL), "rho", "C12", "eps= delta="),
        (Leaf.declared("adp", 1, SMALL), "mu_squared", "C12", "eps= delta="),
    ],
)
def test_what_cannot_be_charged_says_the_way_out(leaf, unit, rule, word):
    with pytest.raises(Unconvertible) as caught:
        charge(leaf, unit)
    assert caught.value.rule == rule
    assert caught.value.kind == leaf.kind
    assert caught.value.unit == unit
    assert word in caught.value.suggestion
    assert "cannot be charged to a budget in" in str(caught.value)
    assert caught.value.reason


@pytest.mark.parametrize(
    ("leaf", "rules"),
    [
        (Leaf.pure(1, 1), ["exact", "C3", "C2"]),
        (Leaf.lap(1, 1), ["C8", "C8'", "C7"]),
        (Leaf.br(1, 1), ["C4", "C6", "C5"]),
    ],
)
def test_every_charge_names_its_rule(leaf, rules):
    assert [charge(leaf, unit).rule for unit in convert.NATIVE.values()] == rules


def test_gaussian_charges_name_their_rules():
    assert charge(Leaf.gauss(1, 1), "rho").rule == "C1"
    assert charge(Leaf.dgauss(1, 1024), "rho").rule == "C1"
    assert charge(Leaf.gauss(1, 1), "mu_squared").rule == "exact"
    assert charge(Leaf.declared("zcdp", 1), "rho").rule == "exact"


def test_a_draft_is_charged_by_its_parameter_and_its_exact_square():
    assert total([Draft("lap", 2, F(1))], "rho") == 2 * convert.laplace_to_rho(F(1))
    draft = Draft("dgauss", 1, F("0.4472135954999579393"), mu_squared=F(1, 5))
    assert total([draft], "rho") == F(1, 10)
    assert total([draft], "mu_squared") == F(1, 5)
    assert total([Draft("gdp", 1, F(1, 2))], "mu_squared") == F(1, 4)


def test_sites_compose_by_the_dearest():
    at = [
        Leaf.gauss(1, 2, dataset="d", site="a"),
        Leaf.gauss(1, 2, dataset="d", site="a"),
        Leaf.gauss(1, 1, dataset="d", site="b"),
        Leaf.gauss(1, 4, dataset="d", site="c"),
        Leaf.gauss(1, 8, dataset="d"),
    ]
    whole = F(1, 64)
    assert total(at, "mu_squared") == whole + 1
    assert total(at, "mu_squared", 2) == whole + 1 + F(1, 2)
    assert total(at, "mu_squared", 3) == whole + 1 + F(1, 2) + F(1, 16)
    assert total(at, "mu_squared", 9) == total(at, "mu_squared", 3)


def test_sites_of_two_datasets_do_not_share_a_maximum():
    at = [Leaf.lap(1, 1, dataset="d", site="a"), Leaf.lap(1, 1, dataset="e", site="a")]
    assert total(at, "eps") == 2


def test_a_person_is_at_one_site_at_least():
    with pytest.raises(ValueError):
        over_sites([], 0)


def test_the_least_bound_wins_and_is_named():
    assert eps_at([Leaf.gauss(1, 1)], SMALL).by == "C10"
    assert eps_at([Leaf.lap(1, 1)], SMALL).by == "C11"
    assert eps_at([Leaf.lap(1, 1)], F(0)) == Bound(F(1), "eps")
    assert eps_at([Leaf.gauss(1, 1)], F(0)) is None
    assert eps_at([Leaf.declared("zcdp", 1)], SMALL).by == "C9"
    mixed = [Leaf.lap(10, 1), Leaf.gauss(1, 10)]
    assert eps_at(mixed, SMALL, grid=False).by == "eps+C10"
    assert eps_at(mixed, SMALL).by == "PLD"
    assert eps_at(mixed, SMALL).eps < eps_at(mixed, SMALL, grid=False).eps
    assert eps_at([Leaf.lap(10, 1), Leaf.declared("zcdp", F(1, 200))], SMALL).by == "eps+C9"


def test_declared_pairs_add_up_beside_the_rest():
    pairs = [Leaf.declared("adp", F(3, 10), F(1, 10**6), count=2)]
    assert eps_at(pairs, F(2, 10**6)) == Bound(F(6, 10), "adp+eps")
    assert eps_at(pairs, F(1, 10**6)) is None
    more = [*pairs, Leaf.gauss(4, 10)]
    rest = profiles.gdp_eps(F(16, 100), SMALL - F(2, 10**6))
    assert eps_at(more, SMALL, grid=False) == Bound(F(6, 10) + rest, "adp+C10")
    assert eps_at(more, SMALL).by == "PLD"
    assert eps_at(more, F(2, 10**6)) is None
    assert eps_at([*pairs, Leaf.lap(1, 1)], F(2, 10**6)) == Bound(F(16, 10), "adp+eps")


@pytest.mark.parametrize("delta", [F(1), F(-1), F(2)])
def test_delta_lies_below_one(delta):
    with pytest.raises(ValueError):
        eps_at([Leaf.lap(1, 1)], delta)
    with pytest.raises(TypeError):
        eps_at([Leaf.lap(1, 1)], float(delta))


def test_the_view_is_null_where_nothing_may_be_claimed():
    shown = view([Leaf.gauss(1, 2)])
    assert (shown["eps"], shown["rho"], shown["mu"], shown["mu_squared"]) == (
        None,
        "0.125",
        "0.5",
        "0.25",
    )
    assert [pair["delta"] for pair in shown["eps_delta"]] == ["0.00001", "0.000001"]
    shown = view([Leaf.declared("zcdp", F(1, 10))], [SMALL, SMALL])
    assert (shown["eps"], shown["rho"], shown["mu"], shown["mu_squared"]) == (
        None,
        "0.1",
        None,
        None,
    )
    assert len(shown["eps_delta"]) == 1
    shown = view([Leaf.declared("adp", 1, F(1, 2))])
    assert shown.pop("eps_delta") == []
    assert set(shown.values()) == {None}


def test_a_bounded_loss_is_shown_at_delta_0_first():
    pairs = view([Leaf.lap(1, 3)])["eps_delta"]
    assert pairs[0] == {"eps": "1/3", "delta": "0", "by": "eps"}
    assert view([Leaf.lap(1, 3)], [F(0)])["eps_delta"] == pairs[:1]


def test_long_numbers_are_shown_rounded_up():
    leaf = Leaf.gauss(F(1, 7), F("1.23456789012345678"))
    shown = view([leaf])
    assert number(shown["mu_squared"]) >= leaf.param**2
    assert "/" not in shown["mu_squared"]
    assert number(shown["mu"]) ** 2 >= leaf.param**2


@settings(max_examples=40, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=6), leaves, st.randoms(use_true_random=False))
def test_composition_is_commutative_and_monotone(some, one, shuffler):
    for unit in convert.NATIVE.values():
        before, after = total(some, unit), total([*some, one], unit)
        assert (before is None and after is None) or after is None or after > before
        mixed = [*some, one]
        shuffler.shuffle(mixed)
        assert total(mixed, unit) == after
    low, high = (eps_at(each, SMALL, grid=False) for each in (some, [*some, one]))
    assert low.eps <= high.eps


@settings(max_examples=40, deadline=None)
@given(kinds, sizes, sizes)
def test_more_noise_costs_less(kind, size, extra):
    loud, quiet = getattr(Leaf, kind)(size, 1), getattr(Leaf, kind)(size, 1 + extra)
    for unit in convert.NATIVE.values():
        dear, cheap = total([loud], unit), total([quiet], unit)
        assert (dear is None and cheap is None) or cheap <= dear
    assert eps_at([quiet], SMALL).eps <= eps_at([loud], SMALL).eps


@settings(max_examples=8, deadline=None)
@given(st.lists(leaves, min_size=1, max_size=3), sizes)
def test_a_smaller_delta_costs_more_eps(some, share):
    small = SMALL * share / 20
    assert eps_at(some, small).eps >= eps_at(some, SMALL).eps


def test_numbers_shown_are_plain():
    for pair in view([Leaf.lap(1, 3, count=7), Leaf.gauss(1, 9)])["eps_delta"]:
        assert text(number(pair["eps"])) == pair["eps"]
