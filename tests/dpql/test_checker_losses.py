"""The checker's own composition of privacy losses, against known values and other computations."""

from __future__ import annotations

from fractions import Fraction
from math import comb, exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpql import checker
from dpql.checker import Rejected, check
from planner.calculus.exact import text
from planner.calculus.leaves import Leaf
from suites.certificates import by_hand, dataset, plan, reserve, statement, step

F = Fraction
ROOT = F("0.447213595499957939281834733746255247")  # of 1/5, to 36 digits


def lap(eps, **more):
    return Leaf.lap(F(eps), 1, dataset="d", **more)


def gauss(mu, **more):
    return Leaf.gauss(F(mu), 1, dataset="d", **more)


def ranged(eta, **more):
    return Leaf.br(F(eta) / 2, 1, dataset="d", **more)


def pure(eps, **more):
    return Leaf.pure(F(eps), 1, dataset="d", **more)


def given_pair(eps, delta, **more):
    return Leaf.declared("adp", F(eps), F(delta), dataset="d", **more)


A = [gauss("0.5"), lap("0.5")]
B = [pure(1), ranged("0.1", count=20), gauss("0.08", count=20), gauss(ROOT)]
E = [given_pair("0.3", "0.000001", count=2), gauss("0.4"), ranged("0.5")]


def certificate(leaves, rule, out, rows=1, **more):
    body = plan([dataset("d", rows=rows)], statement("s", *leaves))
    of = [f"l0.{i}" for i in range(len(leaves))]
    if rule == "pld_adp":
        wanted = reserve("adp", out["eps"], delta=out["delta"])
    else:
        wanted = reserve("mu2", out["mu2"])
    return by_hand(body, [step("t", rule, of, out, **more)], wanted)


def proves(leaves, eps, delta="0.00001", h="1/1000", rows=1):
    """Whether the checker composes the leaves to at most (eps, delta)."""
    return accepts(certificate(leaves, "pld_adp", {"delta": delta, "eps": eps}, rows, h=h))


def proves_mu2(leaves, mu2, h, bits):
    return accepts(certificate(leaves, "pld_mu2", {"mu2": mu2}, h=h, bits=bits))


def accepts(case):
    try:
        check(*case)
    except Rejected:
        return False
    return True


@pytest.mark.parametrize(
    ("leaves", "right", "wrong"),
    [(A, "2.4152", "2.4151"), (B, "3.5247", "3.5246")],
    ids="AB",
)
def test_the_golden_plans_are_accepted_and_one_digit_less_is_not(leaves, right, wrong):
    assert proves(leaves, right)
    assert not proves(leaves, wrong)


@pytest.mark.parametrize(
    ("leaves", "h", "bits", "right", "wrong"),
    [
        ([lap("0.1", count=10)], "1/200", 128, "0.1002809", "0.1002"),
        ([lap("0.1", count=10), gauss("0.5")], "1/100", 300, "0.347273", "0.3472"),
        ([pure(1)], "1/100", 300, "1.51791119075", "1.517911190"),
        (B, "1/50", 300, "1.617", "1.614"),
    ],
)
def test_the_joint_mu_is_accepted_and_a_little_less_is_not(leaves, h, bits, right, wrong):
    assert proves_mu2(leaves, right, h, bits)
    assert not proves_mu2(leaves, wrong, h, bits)


def test_a_mu_needs_bits_enough_to_reach_the_tests_that_a_bound_covers():
    assert proves_mu2([lap("0.1"), gauss(1)], "1.011", "1/20", 300)
    assert not proves_mu2([lap("0.1"), gauss(1)], "1.011", "1/20", 96)


def test_a_joint_mu_is_never_below_what_gaussian_noise_alone_costs():
    assert proves_mu2([gauss("0.5", count=3)], "0.78", "1/20", 128)
    assert not proves_mu2([gauss("0.5", count=3)], "0.7499", "1/20", 128)


@pytest.mark.parametrize(("leaves", "near"), [(A, 2.415187), (E, 2.347209)])
def test_dp_accounting_agrees(leaves, near):
    """Its pessimistic distributions, by floating-point transforms, on the same grid."""
    losses = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    pmf = pytest.importorskip("dp_accounting.pld.pld_pmf")
    made = []
    for leaf in leaves:
        size = float(leaf.param)
        if leaf.kind in ("pure", "adp"):
            pair = losses.common.DifferentialPrivacyParameters(size, float(leaf.delta))
            one = losses.from_privacy_parameters(pair, value_discretization_interval=1e-3)
        elif leaf.kind == "lap":
            one = losses.from_laplace_mechanism(
                1 / size, value_discretization_interval=1e-3, use_connect_dots=True
            )
        elif leaf.kind == "gauss":
            one = losses.from_gaussian_mechanism(
                1 / size, value_discretization_interval=1e-3, use_connect_dots=True
            )
        else:
            edge = round(size * 1000)
            eps = [i / 1000 for i in range(-edge, edge + 1)]
            deltas = [
                (exp(size / 2) - exp(e / 2)) ** 2 / (exp(size) - 1)
                if e >= 0
                else 1 - exp(e) + exp(e) * (exp(size / 2) - exp(-e / 2)) ** 2 / (exp(size) - 1)
                for e in eps
            ]
            grid = pmf.create_pmf_pessimistic_connect_dots_fixed_gap
            one = losses.PrivacyLossDistribution(grid(1e-3, -edge, edge, deltas))
        made.append(one.self_compose(leaf.count) if leaf.count > 1 else one)
    whole = made[0]
    for one in made[1:]:
        whole = whole.compose(one)
    eps = whole.get_epsilon_for_delta(1e-5)
    assert eps == pytest.approx(near, abs=2e-6)
    assert proves(leaves, f"{eps + 3e-6:.7f}")
    assert not proves(leaves, f"{eps - 3e-5:.7f}")


def test_composed_responses_never_fall_below_the_binomial_truth():
    """k draws of randomised response, off the grid, at eps between its atoms."""
    for size, count, at in ((0.37, 5, 1.0), (1.01, 3, 1.9), (0.8, 8, 2.5)):
        chance = 1 / (1 + exp(-size))
        true = sum(
            comb(count, i)
            * (chance ** (count - i) * (1 - chance) ** i)
            * (1 - exp(at - (count - 2 * i) * size))
            for i in range(count + 1)
            if (count - 2 * i) * size > at
        )
        draws, eps = [pure(str(size), count=count)], str(at)
        assert proves(draws, eps, f"{true * 1.0005:.12f}", "1/500")
        assert not proves(draws, eps, f"{true * 0.999999:.12f}", "1/500")
        assert not proves(draws, eps, f"{true * 0.999:.12f}", "1/7")


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    st.floats(0.05, 3).map(lambda x: round(x, 3)),
    st.floats(0.05, 1.5).map(lambda x: round(x, 3)),
    st.sampled_from([7, 30]),
    st.floats(0.1, 3).map(lambda x: round(x, 2)),
)
def test_no_delta_below_the_truth_of_laplace_with_gaussian_is_accepted(size, mu, fine, at):
    from scipy.integrate import quad
    from scipy.stats import norm

    def left(shift):
        """delta of the Gaussian draw at eps - shift, also where that is negative."""
        e = at - shift
        return norm.sf(e / mu - mu / 2) - exp(e) * norm.sf(e / mu + mu / 2)

    true = left(size) / 2 + exp(-size) / 2 * left(-size)
    true += quad(lambda x: exp((x - size) / 2) / 4 * left(x), -size, size, epsabs=1e-13)[0]
    draws = [lap(str(size)), gauss(str(mu))]
    if true > 1e-9:
        assert not proves(draws, str(at), f"{true * (1 - 1e-6):.15f}", f"1/{fine}")
        assert proves(draws, str(at), f"{true * 1.01 + 1e-12:.15f}", "1/200")


def test_rows_of_a_person_multiply_what_is_declared_for_one():
    """(eps, delta) three times: (3 eps, delta (1 + e^eps + e^2eps))."""
    delta = 0.000001 * (1 + exp(0.1) + exp(0.2))
    pair = [given_pair("0.1", "0.000001")]
    assert accepts(_claimed(pair, {"delta": f"{delta * 1.000001:.15f}", "eps": "0.3"}, 3))
    assert not accepts(_claimed(pair, {"delta": f"{delta * 0.99999:.15f}", "eps": "0.3"}, 3))
    assert not accepts(_claimed(pair, {"delta": f"{delta * 1.1:.15f}", "eps": "0.2999"}, 3))
    assert proves(pair, "0.3", f"{delta * 1.000001:.15f}", rows=3)
    assert not proves(pair, "0.3", f"{delta * 0.99999:.15f}", rows=3)


def _claimed(leaves, out, rows):
    body = plan([dataset("d", rows=rows)], statement("s", *leaves))
    done, data, wanted = by_hand(
        body, [step("t", "sum_adp", ["l0.0"], out)], reserve("adp", out["eps"], delta=out["delta"])
    )
    done["nodes"][0]["out"] = out
    return done, data, wanted


def test_two_pairs_from_elsewhere_never_cost_less_than_their_deltas():
    both = [given_pair("0.2", "0.001"), given_pair("0.3", "0.002")]
    assert proves(both, "0.5", "0.0030001")
    assert not proves(both, "0.5", "0.0029999")


def test_a_finer_grid_proves_the_same_claim_and_a_coarser_one_may_not():
    assert proves(A, "2.4152", h="1/1500")
    assert not proves(A, "2.4152", h="1/20")


FORBIDDEN = [
    Leaf.declared("zcdp", F(1, 100), dataset="d"),
    Leaf.cap("zcdp", F(1, 100), ("br",), dataset="d"),
]


@pytest.mark.parametrize("leaf", FORBIDDEN, ids=["zcdp", "cap"])
def test_what_has_no_worst_pair_has_no_place_on_the_grid(leaf):
    assert not proves([gauss("0.1"), leaf], "9")
    assert not proves_mu2([gauss("0.1"), leaf], "9", "1/10", 128)


def test_a_delta_has_no_place_in_a_mu():
    assert not proves_mu2([gauss("0.1"), given_pair("0.1", "0.000001")], "9", "1/10", 128)


@pytest.mark.parametrize("cap", ["pure", "gdp"])
def test_a_filter_costs_its_whole_reserve(cap):
    kinds = ("br",) if cap == "pure" else ("br", "gauss")
    one = [Leaf.cap(cap, F(1, 2), kinds, dataset="d")]
    eps = "0.5" if cap == "pure" else "1.9931"
    assert proves(one, eps, rows=3)
    assert not proves(one, "0.49" if cap == "pure" else "1.9930", rows=3)


def test_leaves_of_two_sites_are_never_composed_as_if_of_one():
    members = {"max": 1, "members": [{"name": name, "rows": 9} for name in "ab"]}
    at = [lap("0.1", site="a"), lap("0.1", site="b")]
    body = plan([dataset("d", sites=members)], statement("s", *at))
    out = {"delta": "0.5", "eps": "9"}
    nodes = [step("t", "pld_adp", ["l0.0", "l0.1"], out, h="1/10")]
    assert not accepts(by_hand(body, nodes, reserve("adp", "9", delta="0.5")))


def test_a_sum_has_no_place_on_the_grid():
    body = plan([dataset("d")], statement("s", gauss("0.1"), gauss("0.2")))
    for unit, cost in (("mu2", "0.05"), ("rho", "0.025")):
        for rule, out, more in (
            ("pld_mu2", {"mu2": "9"}, {"h": "1/10", "bits": 128}),
            ("pld_adp", {"delta": "0.5", "eps": "9"}, {"h": "1/10"}),
        ):
            nodes = [
                step("u", f"sum_{unit}", ["l0.0", "l0.1"], {unit: cost}),
                step("t", rule, ["u"], out, **more),
            ]
            wanted = reserve("mu2", "9") if "mu2" in out else reserve("adp", "9", delta="0.5")
            done, data, reserved = by_hand(body, nodes, wanted)
            for node, mu2 in zip(done["nodes"], (F(1, 100), F(4, 100)), strict=False):
                node["out"] = {"mu2": text(mu2), "rho": text(mu2 / 2)}
            assert not accepts((done, data, reserved))


@pytest.mark.parametrize(
    ("leaves", "more"),
    [
        (A, {"h": "1/99999999999"}),
        (A, {"h": "0.000000000000000000000000000000000000000000000000000000000001"}),
        (A, {"h": "9" * 60}),
        (A, {"h": "1"}),
        ([gauss("100000")], {"h": "1"}),
        ([gauss("1" + "0" * 39)], {"h": "1"}),
        ([lap("1" + "0" * 39)], {"h": "1"}),
        ([lap("0.1", count=2**52)], {"h": "1"}),
        ([lap("0.1", count=10**6)], {"h": "1/1000"}),
        ([ranged("1", count=10**40)], {"h": "1"}),
    ],
)
@pytest.mark.parametrize("bits", [None, 96, 10**5, 10**30, 0, -1])
def test_work_without_end_is_refused(leaves, more, bits):
    more = dict(more) if bits is None else {**more, "bits": bits}
    if bits is None:
        pair = {"delta": "0.000000001", "eps": "0.1"}
        assert not accepts(certificate(leaves, "pld_adp", pair, **more))
    else:
        assert not accepts(certificate(leaves, "pld_mu2", {"mu2": "0.0001"}, **more))


def test_many_compositions_share_one_limit(monkeypatch):
    """Each of them would pass, all of them together are too much."""
    monkeypatch.setattr(checker, "WORK", 96 * 25)
    for count in (2, 3):
        many = [lap("0.1") for _ in range(count)]
        body = plan([dataset("d")], statement("s", *many))
        pair = {"delta": "0.1", "eps": "0.1"}
        nodes = [step(f"p{i}", "pld_adp", [f"l0.{i}"], pair, h="1/100") for i in range(count)]
        total = {"delta": text(F(count, 10)), "eps": text(F(count, 10))}
        nodes.append(step("t", "sum_adp", [f"p{i}" for i in range(count)], total))
        done = by_hand(body, nodes, reserve("adp", total["eps"], delta=total["delta"]))
        assert accepts(done) == (count == 2)
    with pytest.raises(Rejected, match="too much"):
        check(*done)


def test_a_thousand_mechanisms_are_composed():
    many = [Leaf.lap(F(1000 + i, 99991), 1, dataset="d") for i in range(1000)]
    assert proves(many, "3", h="1/500")


def test_gaussian_noise_that_is_large_is_composed_beside_other_noise_on_a_fine_grid():
    leaves = [gauss("0.00000982"), ranged("0.00000833", count=2)]
    assert proves(leaves, "0.00003", delta="0.0000001", h="1/1000000")
    assert not proves(leaves, "0.0000001", delta="0.0000001", h="1/1000000")


def test_fine_units_of_mass_cost_less_work_than_points(monkeypatch):
    """300 draws at 10 points with 307 bits: about as long as with 96."""
    monkeypatch.setattr(checker, "WORK", 600 * 10 * 300)
    assert proves_mu2([lap("0.02", count=300)], "0.15", "0.002", 307)
    monkeypatch.setattr(checker, "WORK", 590 * 10 * 300)
    assert not proves_mu2([lap("0.02", count=300)], "0.15", "0.002", 307)
