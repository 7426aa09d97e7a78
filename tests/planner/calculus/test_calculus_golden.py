"""Values computed apart from the code: by mpmath with 40 digits, or by scipy's quadrature."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf

from planner.calculus import convert, profiles
from planner.calculus.compose import eps_at, total
from planner.calculus.exact import root_up, text
from planner.calculus.group import grouped
from planner.calculus.leaves import Leaf
from planner.calculus.risk import Worst
from planner.calculus.targets import target, target_with_delta

F = Fraction


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def cdf(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def quantile(p):
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def logit(p):
    return mpmath.log(p / (1 - p))


def delta_of_mu(mu, eps):
    mu, eps = mpf(mu), mpf(eps)
    return cdf(mu / 2 - eps / mu) - mpmath.exp(eps) * cdf(-mu / 2 - eps / mu)


def eps_of_mu(mu, delta):
    return mpmath.findroot(lambda e: mpmath.log(delta_of_mu(mu, e) / delta), (mpf(2), mpf(4)))


def eps_of_rho(rho, delta):
    rho, delta = mpf(rho), mpf(delta)

    def eps(t):
        alpha = 1 + mpmath.exp(t)
        return (
            alpha * rho
            + mpmath.log(1 - 1 / alpha)
            - (mpmath.log(delta) + mpmath.log(alpha)) / (alpha - 1)
        )

    best = mpmath.findroot(lambda t: mpmath.diff(eps, t), mpf(1))
    return eps(best)


def delta_of_rho(rho, eps):
    rho, eps = mpf(rho), mpf(eps)

    def log_delta(t):
        a = 1 + mpmath.exp(t)
        return (a - 1) * (a * rho - eps) - mpmath.log(a - 1) + a * mpmath.log(1 - 1 / a)

    best = mpmath.findroot(lambda t: mpmath.diff(log_delta, t), mpf(1))
    return mpmath.exp(log_delta(best))


def mu(square):
    return root_up(square, 30)


SMALL = F(1, 10**5)
THREE = (Leaf.declared("pure", F(1)), Leaf.declared("gdp", F(1, 2)), Leaf.br(F(3, 20), 1))
MIXED = (Leaf.br(1, 20, count=20), Leaf.declared("gdp", F(8, 100), count=20))

GOLDEN = [
    (
        "G01",
        mu(convert.pure_to_mu_squared(F(1))),
        "1.23203538534490",
        lambda: 2 * quantile(sigmoid(1)),
    ),
    (
        "G02",
        mu(convert.pure_to_mu_squared(F(1, 10))),
        "0.125309012211608",
        lambda: 2 * quantile(sigmoid(mpf("0.1"))),
    ),
    (
        "G03",
        mu(convert.pure_to_mu_squared(F(3))),
        "3.34068371224060",
        lambda: 2 * quantile(sigmoid(3)),
    ),
    ("G04", convert.pure_to_rho(F(1)), "0.462117157260010", lambda: mpmath.tanh(mpf("0.5"))),
    (
        "G05",
        convert.pure_to_rho(F(1, 2)),
        "0.122459331201855",
        lambda: mpf("0.5") * mpmath.tanh(mpf("0.25")),
    ),
    (
        "G06",
        mu(convert.range_to_mu_squared(F(1))),
        "0.623892592098508",
        lambda: 2 * quantile(sigmoid(mpf("0.5"))),
    ),
    (
        "G07",
        mu(convert.range_to_mu_squared(F(1, 5))),
        "0.125309012211608",
        lambda: 2 * quantile(sigmoid(mpf("0.1"))),
    ),
    (
        "G08",
        profiles.range_delta(F(1), F(1, 4)),
        "0.154698330553100",
        lambda: (mpmath.exp(mpf("0.5")) - mpmath.exp(mpf("0.125"))) ** 2 / (mpmath.e - 1),
    ),
    (
        "G10",
        target("br", "mu_squared", F(1, 100)).bound,
        "0.159595079915363",
        lambda: 2 * logit(cdf(mpf("0.05"))),
    ),
    (
        "G11",
        target("br", "rho", F(1, 100)).bound,
        "0.282842712474619",
        lambda: mpmath.sqrt(mpf("0.08")),
    ),
    (
        "G12",
        mu(convert.laplace_to_mu_squared(F(1))),
        "1.03006399762443",
        lambda: -2 * quantile(mpmath.exp(mpf("-0.5")) / 2),
    ),
    (
        "G13",
        mu(convert.laplace_to_mu_squared(F(1, 2))),
        "0.561764323211019",
        lambda: -2 * quantile(mpmath.exp(mpf("-0.25")) / 2),
    ),
    (
        "G14",
        profiles.laplace_delta(F(1), F(1, 2)),
        "0.221199216928595",
        lambda: 1 - mpmath.exp(mpf("-0.25")),
    ),
    ("G15", profiles.gdp_delta(F(1), F(1)), "0.126936737506644", lambda: delta_of_mu(1, 1)),
    (
        "G16",
        profiles.gdp_delta(F(1, 4), F(2)),
        "0.00000943916863494723",
        lambda: delta_of_mu("0.5", 2),
    ),
    ("G17", profiles.gdp_eps(F(1), SMALL), "4.37717809568122", lambda: eps_of_mu(1, mpf("1e-5"))),
    (
        "G18",
        profiles.gdp_eps(F(1, 4), F(1, 10**6)),
        "2.25408465021974",
        lambda: eps_of_mu(mpf("0.5"), mpf("1e-6")),
    ),
    (
        "G19",
        profiles.gdp_mu(F(1), SMALL),
        "0.268051123211294",
        lambda: mpmath.findroot(
            lambda m: delta_of_mu(m, 1) - mpf("1e-5"), (mpf("0.2"), mpf("0.4")), solver="anderson"
        ),
    ),
    (
        "G20",
        profiles.gdp_mu(F(3), F(1, 10**6)),
        "0.647726530688730",
        lambda: mpmath.findroot(
            lambda m: delta_of_mu(m, 3) - mpf("1e-6"), (mpf("0.5"), mpf("0.8")), solver="anderson"
        ),
    ),
    (
        "G21",
        profiles.zcdp_eps(F(1, 10), SMALL),
        "1.91423883200360",
        lambda: eps_of_rho("0.1", "1e-5"),
    ),
    (
        "G23",
        profiles.zcdp_eps(F(1, 2), F(1, 10**6)),
        "5.22153444453017",
        lambda: eps_of_rho("0.5", "1e-6"),
    ),
    (
        "G24",
        profiles.zcdp_delta(F(1, 10), F(1)),
        "0.00893324577181836",
        lambda: delta_of_rho("0.1", 1),
    ),
    (
        "G25",
        mu(total([Leaf.declared("gdp", F(m, 10)) for m in (5, 3, 2)], "mu_squared")),
        "0.616441400296898",
        lambda: mpmath.sqrt(mpf("0.38")),
    ),
    (
        "G26",
        mu(total(MIXED, "mu_squared")),
        "0.454458793089994",
        lambda: mpmath.sqrt(20 * (4 * quantile(sigmoid(mpf("0.05"))) ** 2 + mpf("0.08") ** 2)),
    ),
    (
        "G27",
        total(MIXED, "rho"),
        "0.0890000000000000",
        lambda: 20 * (mpf("0.01") / 8 + mpf("0.0064") / 2),
    ),
    (
        "G28",
        mu(total(THREE, "mu_squared")),
        "1.34284239800655",
        lambda: mpmath.sqrt(
            4 * quantile(sigmoid(1)) ** 2 + mpf("0.25") + 4 * quantile(sigmoid(mpf("0.15"))) ** 2
        ),
    ),
    (
        "G29",
        total(THREE, "rho"),
        "0.598367157260010",
        lambda: mpmath.tanh(mpf("0.5")) + mpf("0.125") + mpf("0.09") / 8,
    ),
    (
        "G30",
        Worst("gdp", F(1)).power(F(1, 1000)),
        "0.0182984684056566",
        lambda: cdf(quantile(mpf("0.001")) + 1),
    ),
    ("G31", Worst("gdp", F(1)).advantage(), "0.382924922548026", lambda: 2 * cdf(mpf("0.5")) - 1),
    (
        "G32",
        1 - Worst("br", F(1)).power(F(1, 20)),
        "0.874839002001665",
        lambda: mpf("0.95") / (mpf("0.95") + mpmath.e * mpf("0.05")),
    ),
    (
        "G33",
        1 - Worst("lap", F(1)).power(F(3, 10)),
        "0.306566200976202",
        lambda: 1 / (mpmath.e * mpf("1.2")),
    ),
    (
        "G34",
        eps_at([grouped(Leaf.declared("gdp", F(1, 2)), 3)], SMALL).eps,
        "7.05141322379396",
        lambda: eps_of_mu(mpf("1.5"), mpf("1e-5")),
    ),
    ("lap to rho, 1", convert.laplace_to_rho(F(1)), "0.367879441171442", lambda: mpmath.exp(-1)),
    (
        "lap to rho, .5",
        convert.laplace_to_rho(F(1, 2)),
        "0.106530659712633",
        lambda: mpmath.exp(mpf("-0.5")) - mpf("0.5"),
    ),
    (
        "mu .5 to lap",
        target("lap", "mu_squared", F(1, 4)).bound,
        "0.439829168502379",
        lambda: -2 * mpmath.log(2 * cdf(mpf("-0.25"))),
    ),
    (
        "rho .1 to lap",
        target("lap", "rho", F(1, 10)).bound,
        "0.483183168208295",
        lambda: mpmath.findroot(lambda e: e - 1 + mpmath.exp(-e) - mpf("0.1"), mpf("0.5")),
    ),
    (
        "pure at (1, 1e-5)",
        target_with_delta("pure", F(1), SMALL).bound,
        "1.00001367883765",
        lambda: mpmath.log((mpmath.e + mpf("1e-5")) / (1 - mpf("1e-5"))),
    ),
    (
        "lap at (1, 1e-5)",
        target_with_delta("lap", F(1), SMALL).bound,
        "1.0000200001",
        lambda: 1 - 2 * mpmath.log(1 - mpf("1e-5")),
    ),
    (
        "br at (1, 1e-5)",
        target_with_delta("br", F(1), SMALL).bound,
        "1.0050421056354",
        lambda: mpmath.findroot(
            lambda n: (
                (mpmath.exp(n / 2) - mpmath.exp(mpf("0.5"))) ** 2
                - mpf("1e-5") * (mpmath.exp(n) - 1)
            ),
            (mpf("1.001"), mpf("1.01")),
            solver="anderson",
        ),
    ),
]


@pytest.mark.parametrize(
    ("name", "ours", "printed", "independent"), GOLDEN, ids=[g[0] for g in GOLDEN]
)
def test_golden_values_hold_to_twelve_digits(name, ours, printed, independent):
    ours = mpf(ours.numerator) / ours.denominator
    places = len(printed.replace(".", "").lstrip("0"))
    assert abs(ours / mpf(printed) - 1) < mpf(10) ** (1 - min(places, 13))
    assert abs(ours / independent() - 1) < mpf("1e-17")


def test_closed_forms_of_one_plan():
    """Gauss .5 beside Laplace .5: rho and mu totals at 1e-5, against the same sums by mpmath."""
    plan = [Leaf.gauss(1, 2), Leaf.lap(1, 2)]
    rho = total(plan, "rho")
    assert abs(float(profiles.zcdp_eps(rho, SMALL)) - 3.05430515274385) < 1e-12
    square = total(plan, "mu_squared")
    assert abs(float(profiles.gdp_eps(square, SMALL)) - 3.15658) < 1e-5
    best = eps_at(plan, SMALL, grid=False)
    bounded = F(1, 2) + profiles.gdp_eps(F(1, 4), SMALL)
    assert best.eps == min(profiles.zcdp_eps(rho, SMALL), profiles.gdp_eps(square, SMALL), bounded)


def test_costs_of_the_plans_with_many_leaves():
    plan_b = [Leaf.declared("pure", 1), *MIXED, Leaf.gauss(1, F("2.236067977499789697"))]
    assert abs(float(profiles.zcdp_eps(total(plan_b, "rho"), SMALL)) - 5.50675) < 1e-5
    assert abs(float(profiles.gdp_eps(total(plan_b, "mu_squared"), SMALL)) - 6.42421) < 1e-5
    plan_c = [Leaf.br(1, 10, count=50), Leaf.gauss(1, 10, count=50)]
    assert abs(float(profiles.zcdp_eps(total(plan_c, "rho"), SMALL)) - 4.72839) < 1e-5
    assert abs(float(profiles.gdp_eps(total(plan_c, "mu_squared"), SMALL)) - 5.06458) < 1e-5
    assert eps_at(plan_c, SMALL).by == "C9"


def test_a_laplace_leaf_and_a_pure_leaf_of_the_same_eps_are_charged_apart():
    assert text(total([Leaf.lap(1, 1)], "mu_squared")) == "1.06103183920202972"
    assert text(total([Leaf.declared("pure", 1)], "mu_squared")) == "1.51791119074195864"
