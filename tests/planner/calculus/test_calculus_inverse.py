"""From a cost to noise scales: what is solved costs no more when charged again, and hardly less."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executors.noise.realise import gaussian_grid, laplace_grid
from planner.calculus import inverse, profiles
from planner.calculus.compose import eps_at, total
from planner.calculus.convert import NATIVE
from planner.calculus.cost import Cost
from planner.calculus.exact import round_up, text
from planner.calculus.inverse import Unsolvable, declared, divided, solve
from planner.calculus.need import Need
from planner.calculus.targets import target, target_with_delta
from suites.prices import charged

F = Fraction
SMALL = F(1, 10**5)
UNIT = {"eps": "eps", "rho": "rho", "mu": "mu_squared"}
AMOUNTS = ["1e-12", "0.000001", "0.01", "0.3", "1", "7", "1000", "1000000"]
costs = st.builds(
    Cost,
    st.sampled_from(["eps", "rho", "mu"]),
    st.fractions(min_value=F(1, 1000), max_value=20, max_denominator=10**6),
)


def need(kind, sensitivity=1, count=1, **more):
    return Need(kind, lambda: F(sensitivity), count, **more)


def one(kind, cost, **more):
    return solve((need(kind, **more),), cost).leaves[0]


@pytest.mark.parametrize("amount", AMOUNTS)
@pytest.mark.parametrize("kind", ["pure", "lap", "br", "gauss"])
@pytest.mark.parametrize("unit", ["eps", "rho", "mu"])
@pytest.mark.parametrize("count", [1, 20])
def test_a_solved_scale_costs_no_more_and_nearly_as_much(kind, unit, amount, count):
    if (kind, unit) == ("gauss", "eps"):
        return
    cost = Cost(unit, F(amount))
    leaf = one(kind, cost, sensitivity=F(7, 3), count=count)
    back = total([leaf], UNIT[unit])
    assert cost.additive * (1 - F(1, 10**9)) <= back <= cost.additive
    assert round_up(leaf.scale) == leaf.scale


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["pure", "lap", "br", "gauss", "dgauss"]),
    cost=costs,
    count=st.integers(1, 400),
    share=st.fractions(F(1, 100), 1, max_denominator=1000),
    sensitivity=st.fractions(F(1, 1000), 1000, max_denominator=10**6),
)
def test_inverse_then_forward_never_exceeds_the_share_and_nearly_fills_it(
    kind, cost, count, share, sensitivity
):
    if cost.unit == "eps" and kind in ("gauss", "dgauss"):
        return
    if kind == "dgauss":
        sensitivity = 1 + int(sensitivity * 10**15)
    leaf = one(kind, cost, sensitivity=sensitivity, count=count, share=share)
    back = total([leaf], UNIT[cost.unit])
    assert cost.additive * share * (1 - F(1, 10**9)) <= back <= cost.additive * share


@pytest.mark.parametrize("delta", ["1e-30", "1e-6", "0.01", "0.9"])
@pytest.mark.parametrize("eps", ["1e-12", "0.01", "1", "30", "1000000"])
@pytest.mark.parametrize("kind", ["pure", "lap", "br", "gauss", "dgauss"])
def test_a_scale_solved_for_eps_delta_is_within_both(kind, eps, delta):
    cost = Cost("eps_delta", F(eps), F(delta))
    leaf = one(kind, cost, sensitivity=10**6)
    profile = {
        "pure": profiles.pure_delta,
        "lap": profiles.laplace_delta,
        "br": profiles.range_delta,
    }.get(kind)
    found = (
        profile(leaf.param, cost.amount)
        if profile
        else profiles.gdp_delta(leaf.param**2, cost.amount)
    )
    assert found <= cost.delta
    if kind != "dgauss":
        louder = leaf.param * (1 + F(1, 10**9))
        found = (
            profile(louder, cost.amount) if profile else profiles.gdp_delta(louder**2, cost.amount)
        )
        assert found > cost.delta


@pytest.mark.parametrize("unit", ["eps", "rho", "mu"])
@pytest.mark.parametrize("kind", ["pure", "lap", "br"])
def test_a_dearer_cost_means_less_noise(kind, unit):
    scales = [one(kind, Cost(unit, F(amount))).scale for amount in AMOUNTS]
    assert all(before > after for before, after in pairwise(scales))


def test_scales_that_end_are_exact():
    assert one("lap", Cost("eps", F(1, 2)), sensitivity=3).scale == 6
    assert one("br", Cost("eps", F(1, 2)), sensitivity=3).scale == 12
    assert one("pure", Cost("eps", F(1, 2)), sensitivity=3, factor=2).scale == 12
    assert one("gauss", Cost("mu", F(1, 2)), sensitivity=3, count=4).scale == 12
    assert one("gauss", Cost("rho", F(1, 8)), sensitivity=3).scale == 6
    assert one("br", Cost("rho", F(1, 8)), sensitivity=3).scale == 6


SELECT_MEASURE = (
    need("br", 2, 20, share=F(1, 2), role="select"),
    need("gauss", 2, 20, share=F(1, 2), role="measure"),
)


@pytest.mark.parametrize(
    ("cost", "eta", "sigma"),
    [
        (Cost("mu", F(1, 2)), 0.12616560290417, 25.298221281347),
        (Cost("rho", F(1, 10)), 0.14142135623731, 28.2842712474619),
    ],
)
def test_select_and_measure_rounds_match_the_table(cost, eta, sigma):
    select, measure = solve(SELECT_MEASURE, cost).leaves
    assert float(select.param) == pytest.approx(eta, rel=1e-13)
    assert float(measure.scale) == pytest.approx(sigma, rel=1e-13)
    assert total([select, measure], UNIT[cost.unit]) <= cost.additive


def test_select_and_measure_under_eps_and_under_eps_delta():
    mixed = (need("br", 1, 10, share=F(1, 4)), need("lap", 3, 10, share=F(3, 4)))
    leaves = solve(mixed, Cost("eps", F(1))).leaves
    assert [leaf.param for leaf in leaves] == [F(1, 40), F(3, 40)]
    leaves = solve(SELECT_MEASURE, Cost("eps_delta", F(1), SMALL)).leaves
    assert eps_at(leaves, SMALL).eps <= 1
    assert total(leaves, "mu_squared") <= profiles.gdp_mu(F(1), SMALL) ** 2


def test_gaussian_noise_under_eps_delta_never_prefers_rho():
    """C10 is exact for it, so its mu is at least the root of 2 rho."""
    for eps in (F(1, 100), F(1), F(20)):
        for delta in (SMALL, F(1, 10**12), F(1, 3)):
            assert profiles.gdp_mu(eps, delta) ** 2 >= 2 * profiles.zcdp_rho(eps, delta)


@pytest.mark.parametrize("count", [2, 5, 40, 1000])
def test_many_selections_under_eps_delta_take_the_least_noise(count):
    cost = Cost("eps_delta", F(1), SMALL)
    many = (need("br", 1, count),)
    leaf = solve(many, cost).leaves[0]
    assert eps_at([leaf], SMALL).eps <= 1
    others = [
        target("br", "eps", F(1, count)),
        target("br", "rho", profiles.zcdp_rho(F(1), SMALL) / count),
        target("br", "mu_squared", profiles.gdp_mu(F(1), SMALL) ** 2 / count),
    ]
    assert leaf.param >= max(other.estimate for other in others) * (1 - F(1, 10**15))


def test_several_bounded_draws_under_eps_delta_leave_delta_unspent():
    for kinds in (("lap", "lap"), ("pure", "lap")):
        needs = tuple(need(kind, share=F(1, 2)) for kind in kinds)
        assert total(solve(needs, Cost("eps_delta", F(1), SMALL)).leaves, "eps") == 1
    assert total(solve((need("lap", 1, 3),), Cost("eps_delta", F(1), SMALL)).leaves, "eps") == 1


def test_a_draw_with_part_of_the_cost_does_not_take_all_of_delta():
    leaf = one("lap", Cost("eps_delta", F(1), SMALL), share=F(1, 2))
    assert leaf.param == F(1, 2)


CAPS = [
    ("pure", "eps", F(1)),
    ("zcdp", "rho", F(1)),
    ("gdp", "mu", F(1)),
    ("gdp", "rho", F("1.41421356237309504")),
    ("pure", "rho", None),
    ("pure", "mu", None),
]


@pytest.mark.parametrize(("kind", "unit", "value"), CAPS)
def test_a_cap_is_the_whole_cost_rounded_down(kind, unit, value):
    cap = Need(kind, None, role="cap", of=("br", "lap"), dataset="d", site="s")
    cost = Cost(unit, F(1))
    leaf = solve((cap,), cost).leaves[0]
    assert leaf.role == "cap"
    assert (leaf.of, leaf.dataset, leaf.site) == (("br", "lap"), "d", "s")
    assert value is None or leaf.param == value
    back = total([leaf], UNIT[unit])
    assert 1 - F(1, 10**9) <= back <= 1
    draft = declared((cap,), cost)[0]
    assert draft.param >= leaf.param
    assert (draft.role, draft.of) == ("cap", ("br", "lap"))


def test_a_cap_under_eps_delta_is_a_mu_or_a_rho():
    cost = Cost("eps_delta", F(1), SMALL)
    mu = solve((Need("gdp", None, role="cap", of=("gauss",)),), cost).leaves[0]
    assert mu.param == profiles.gdp_mu(F(1), SMALL)
    rho = solve((Need("zcdp", None, role="cap", of=("gauss",)),), cost).leaves[0]
    assert rho.param == profiles.zcdp_rho(F(1), SMALL)
    pure = solve((Need("pure", None, role="cap", of=("lap",)),), cost).leaves[0]
    assert pure.param == 1


def test_rows_of_a_person_multiply_the_sensitivity_and_not_a_cap():
    once, thrice = (solve((need("lap", 2),), Cost("eps", F(1)), k).leaves[0] for k in (1, 3))
    assert (once.sensitivity, thrice.sensitivity) == (2, 6)
    assert (once.scale, thrice.scale) == (2, 6)
    cap = Need("zcdp", None, role="cap", of=("br",))
    assert solve((cap,), Cost("rho", F(1)), 3).leaves[0].param == 1


@pytest.mark.parametrize("amount", ["0.000001", "0.01", "0.5", "3"])
@pytest.mark.parametrize("unit", ["rho", "mu"])
def test_integer_scales_are_whole_and_fit_a_double(unit, amount):
    cost = Cost(unit, F(amount))
    for sensitivity in (1, 12345, 10**15, 10**24):
        leaf = one("dgauss", cost, sensitivity=sensitivity, width=5)
        scale = int(leaf.scale)
        assert leaf.scale == scale
        assert scale >= 1024
        assert int(float(scale)) == scale
        square = 2 * cost.amount if unit == "rho" else cost.amount**2
        assert leaf.param**2 <= square
        assert total([leaf], "rho") <= square / 2
        if scale > 1024:
            assert (leaf.param * scale / (scale - max(1, scale // 2**52))) ** 2 > square * (
                1 - F(1, 10**15)
            )


def test_the_share_in_another_unit_covers_what_is_drawn():
    """Any budget may charge the declared parameters, before a sensitivity is known."""
    for cost in (Cost("eps", F(1, 3)), Cost("rho", F(1, 10)), Cost("mu", F(2, 7))):
        for kind in ("pure", "lap", "br", "gauss", "dgauss"):
            if (kind, cost.unit) in (("gauss", "eps"), ("dgauss", "eps")):
                continue
            needs = (need(kind, F(10**7, 3), 3, share=F(2, 3)), need(kind, 10**6, share=F(1, 3)))
            drawn = solve(needs, cost, 2).leaves
            for unit, native in NATIVE.items():
                charge = charged(needs, cost, unit)
                spent = total(drawn, native)
                assert (charge is None) == (spent is None)
                assert charge is None or spent <= charge
                assert charge is None or kind == "dgauss" or charge <= spent * (1 + F(1, 10**9))


def test_own_unit_is_charged_exactly_and_gaussian_rho_equals_half_mu_squared():
    gauss = (need("gauss"),)
    assert charged(gauss, Cost("rho", F(1, 10)), "rho") == F(1, 10)
    assert charged(gauss, Cost("rho", F(1, 10)), "mu") == F(1, 5)
    assert charged(gauss, Cost("mu", F(1, 3)), "mu") == F(1, 9)
    assert charged(gauss, Cost("mu", F(1, 3)), "rho") == F(1, 18)
    assert charged(gauss, Cost("mu", F("0.3"), square=F(1, 11)), "mu") == F(1, 11)
    lap = (need("lap"),)
    assert float(charged(lap, Cost("eps", F(1)), "mu")) == pytest.approx(1.03006399762443**2)
    pure = (need("pure"),)
    assert float(charged(pure, Cost("eps", F(1)), "mu")) == pytest.approx(1.2320353853449**2)
    assert charged(gauss, Cost("mu", F(1)), "eps") is None
    assert charged((need("zcdp", role="cap", of=("br",)),), Cost("rho", F(1)), "mu") is None


def test_declared_leaves_ask_for_no_sensitivity():
    def never():
        raise AssertionError("asked")

    needs = (Need("lap", never, 2, role="r", dataset="d", site="s"),)
    draft = declared(needs, Cost("eps", F(1)))[0]
    assert (draft.kind, draft.count, draft.param) == ("lap", 2, F(1, 2))
    assert (draft.role, draft.dataset, draft.site) == ("r", "d", "s")


def test_each_source_is_solved_with_the_whole_cost():
    needs = tuple(need("lap", 1, dataset=name, share=F(1)) for name in ("d", "e"))
    assert [leaf.param for leaf in solve(needs, Cost("eps", F(1))).leaves] == [1, 1]
    needs = (need("lap", dataset="d", site="a"), need("lap", dataset="d", site="b"))
    assert [leaf.site for leaf in solve(needs, Cost("eps", F(1))).leaves] == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "cost", "word"),
    [
        ("gauss", Cost("eps", F(1)), "Gaussian"),
        ("dgauss", Cost("eps", F(1)), "Gaussian"),
        ("zcdp", Cost("mu", F(1)), "zCDP"),
        ("zcdp", Cost("eps", F(1)), "zCDP"),
        ("adp", Cost("rho", F(1)), "elsewhere"),
    ],
)
def test_a_unit_that_cannot_be_honoured_is_named(kind, cost, word):
    with pytest.raises(Unsolvable, match=word) as caught:
        solve((need(kind, role="cap" if kind == "zcdp" else ""),), cost)
    assert caught.value.reason == str(caught.value)
    with pytest.raises(Unsolvable):
        declared((need(kind),), cost)


@pytest.mark.parametrize("kind", ["lap", "gauss", "pure"])
@pytest.mark.parametrize(
    ("unit", "amount", "sensitivity", "width"),
    [
        ("rho", F(1, 10**40), F(1), 1),
        ("rho", F(1, 10**27), F(1), 10**4),
        ("rho", F(1), F(10**45), 1),
        ("rho", F(1), F(1, 10**59), 1),
    ],
)
def test_noise_that_no_sampler_draws_is_refused_with_a_way_out(
    kind, unit, amount, sensitivity, width
):
    asked = need(kind, sensitivity=sensitivity, width=width)
    with pytest.raises(Unsolvable) as refused:
        solve((asked,), Cost(unit, amount))
    assert refused.value.suggestion


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(["lap", "gauss"]),
    unit=st.sampled_from(["rho", "mu"]),
    digits=st.integers(0, 29),
    width=st.integers(1, 10**5),
)
def test_what_is_planned_can_be_drawn(kind, unit, digits, width):
    try:
        leaf = one(kind, Cost(unit, F(1, 10**digits)), sensitivity=F(7, 3), width=width)
    except Unsolvable:
        return
    grid_of = laplace_grid if kind == "lap" else gaussian_grid
    assert grid_of(leaf.sensitivity, leaf.scale, width).scale <= 2**52


def test_a_scale_below_the_least_is_refused():
    with pytest.raises(Unsolvable, match="at least 2") as caught:
        one("lap", Cost("eps", F(1)), minimum_scale=F(2))
    assert caught.value.suggestion
    assert one("lap", Cost("eps", F(1)), minimum_scale=F(1)).scale == 1


@pytest.mark.parametrize("sensitivity", [0, -1])
def test_a_sensitivity_that_is_not_positive_is_refused(sensitivity):
    with pytest.raises(Unsolvable, match="sensitivity"):
        one("lap", Cost("eps", F(1)), sensitivity=sensitivity)


def test_a_float_sensitivity_is_a_mistake():
    with pytest.raises(TypeError):
        solve((Need("lap", lambda: 1.0),), Cost("eps", F(1)))


def test_a_long_sensitivity_is_rounded_up():
    odd = F(10**40 + 1, 3**80)
    leaf = one("lap", Cost("eps", F(1)), sensitivity=odd)
    assert odd < leaf.sensitivity < odd * (1 + F(1, 10**19))
    assert len(text(leaf.sensitivity)) < 30


@pytest.mark.parametrize(
    ("needs", "cost"),
    [
        ((), Cost("eps", F(1))),
        ((need("lap", share=F(0)),), Cost("eps", F(1))),
        ((need("lap", share=F(-1)),), Cost("eps", F(1))),
        ((need("lap", share=F(2, 3)), need("lap", share=F(2, 3))), Cost("eps", F(1))),
        ((need("lap"),), Cost("eps", F(0))),
        ((need("lap"),), Cost("eps", F(-1))),
        ((need("lap"),), Cost("eps", F(1), SMALL)),
        ((need("lap"),), Cost("eps_delta", F(1))),
        ((need("lap"),), Cost("eps_delta", F(1), F(1))),
        ((Need("lap", None),), Cost("eps", F(1))),
        ((Need("gdp", None, of=("br",)),), Cost("mu", F(1))),
    ],
)
def test_wrong_orders_are_refused(needs, cost):
    with pytest.raises(ValueError):
        solve(needs, cost)


@pytest.mark.parametrize(
    "cost", [Cost("eps", 1.0), Cost("eps", float("nan")), Cost("eps_delta", F(1), 0.5)]
)
def test_a_float_cost_is_a_mistake(cost):
    with pytest.raises(TypeError):
        solve((need("lap"),), cost)


@pytest.mark.parametrize(("group", "error"), [(0, ValueError), (1.0, TypeError), (True, TypeError)])
def test_the_rows_of_a_person_are_counted(group, error):
    with pytest.raises(error):
        solve((need("lap"),), Cost("eps", F(1)), group)


def test_a_cost_divided_over_sites_adds_up_again():
    assert divided(Cost("eps", F(1)), 3).amount == F(1, 3)
    assert divided(Cost("rho", F(1)), 3).amount == F(1, 3)
    third = divided(Cost("mu", F(1)), 3)
    assert third.additive * 3 == 1
    assert third.amount**2 <= F(1, 3)
    pair = divided(Cost("eps_delta", F(1), SMALL), 2)
    assert pair.unit == "mu"
    assert pair.additive * 2 == profiles.gdp_mu(F(1), SMALL) ** 2
    assert divided(Cost("mu", F(1)), 1) == Cost("mu", F(1))
    with pytest.raises(ValueError):
        divided(Cost("mu", F(1)), 0)


@settings(max_examples=60, deadline=None)
@given(
    costs,
    st.sampled_from(["pure", "lap", "br"]),
    st.integers(1, 50),
    st.fractions(min_value=F(1, 1000), max_value=1000, max_denominator=10**6),
)
def test_inverse_then_forward_never_exceeds(cost, kind, count, sensitivity):
    leaf = one(kind, cost, sensitivity=sensitivity, count=count)
    back = total([leaf], UNIT[cost.unit])
    assert cost.additive * (1 - F(1, 10**9)) <= back <= cost.additive


def test_targets_refuse_what_has_no_profile():
    with pytest.raises(KeyError):
        target_with_delta("gauss", F(1), SMALL)


def test_the_search_for_a_scale_ends():
    class Never:
        def is_met_by(self, leaf):
            return False

    with pytest.raises(Unsolvable):
        inverse._first(F(1), lambda scale: 2 * scale, lambda scale: None, Never())
