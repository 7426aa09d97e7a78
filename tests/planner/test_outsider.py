"""An outsider recomputes every sensitivity and scale from the plan's JSON alone.

Nothing of the project but the plan is used: floats, the standard library, formulas on paper.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpql.api import plan
from suites.queries import EVALUES, ROSSI

TEXT = (
    ROSSI
    + EVALUES
    + """\
TEST cox beta=b0 VS b1 shrink=0.5 eps=1 AS pure
TEST cox beta=b0 VS b1 shrink=auto mu=0.7 AS gaussian
TEST cox beta=b0 VS b1 riskfloor=0 shrink=1 rho=0.1 AS everyone
TEST cox beta=b0 VS b1 shrink=0.5 eps=0.5, delta=1e-6 AS pair
COVARIANCE ssp COLUMNS (age, prio) rho=0.1 AS matrix
COVARIANCE ssp COLUMNS (age, prio, fin) center=midpoint weights=plain mu=0.4 AS moments
COVARIANCE diagonal COLUMNS (age, prio, fin) mu=0.4 AS spread
COVARIANCE pace COLUMNS (age, prio, fin) mu=0.4 AS chosen
PEEL evalues size=5 mu=0.8 AS fixed
PEEL evalues size=40 rho=0.2 AS all_of_them
PEEL evalues ADAPTIVE rho=0.3 AS adaptive
"""
)


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    result = plan(TEXT.replace("  BUDGET mu=2.5\n", ""))
    assert result.ok, str(result)
    return result.json()


def statement(made: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(s for s in made["body"]["statements"] if s["name"] == name)
    return found


def number(text: Any) -> float:
    if isinstance(text, dict):
        text = text["auto"]
    top, _, bottom = text.partition("/")
    return float(top) / float(bottom or "1")


def gaussian_delta(mu: float, eps: float) -> float:
    def cdf(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return cdf(mu / 2 - eps / mu) - math.exp(eps) * cdf(-mu / 2 - eps / mu)


def ranges(made: dict[str, Any], one: dict[str, Any]) -> list[tuple[float, float]]:
    (dataset,) = [d for d in made["body"]["datasets"] if d["name"] == one["on"][0]["dataset"]]
    declared = {c["name"]: c for c in dataset["columns"]}
    return [
        (0.0, 1.0)
        if declared[name]["type"] == "boolean"
        else (number(declared[name]["lo"]), number(declared[name]["hi"]))
        for name in one["columns"]
    ]


def cox_sensitivity(made: dict[str, Any], one: dict[str, Any]) -> float:
    """How far one record can move the weighted log partial likelihood ratio."""
    widths = [hi - lo for lo, hi in ranges(made, one)]
    params = one["params"]
    left = [number(v) for v in params["beta"]["left"]]
    right = [number(v) for v in params["beta"]["right"]]
    shrink, floor = number(params["shrink"]), number(params["riskfloor"])
    point = [a + shrink * (b - a) for a, b in zip(left, right)]
    n = made["body"]["datasets"][0]["rows"]
    q = math.ceil(floor * n - 1e-12)

    def width(a: list[float]) -> float:
        return sum(abs(v) * w for v, w in zip(a, widths))

    w_step = width([b - a for a, b in zip(left, point)])
    w0, w1 = width(left), width(point)
    kappa = min(w0, w1)

    def weight(y: int) -> float:
        return min(1.0, y / q) if q else 1.0

    def a_of(m: int) -> float:
        return math.log((m + math.exp(kappa + w_step)) / (m + math.exp(kappa)))

    def c_of(m: int) -> float:
        up, down = min(w0 + w_step, w1), min(w1 + w_step, w0)
        u = math.log((m + math.exp(up)) / (m + math.exp(up - w_step)))
        d = math.log((m + math.exp(down)) / (m + math.exp(down - w_step)))
        b = math.log((m + math.exp(w1)) / (m + 1)) + math.log((m + math.exp(w0)) / (m + 1))
        return min(a_of(m), max(u, d, b))

    def running(h: Any) -> float:
        total, largest = 0.0, 0.0
        for m in range(n - 1, 0, -1):
            largest = max(largest, h(m))
            total += largest
        return total

    def g(m: int) -> float:
        return weight(m + 1) - weight(m)

    def h_a(m: int) -> float:
        return weight(m + 1) * a_of(m) + g(m) * w_step

    def h_c(m: int) -> float:
        return weight(m + 1) * c_of(m) + g(m) * w_step

    first = w_step + max(w_step * (1 + running(g)), running(h_a))
    if q == 0:
        first = w_step + max(w_step, running(a_of))
        return min(first, 2 * w_step + running(c_of))
    return min(first, 2 * w_step + running(h_c))


@pytest.mark.parametrize("name", ["pure", "gaussian", "everyone", "pair"])
def test_cox(made: dict[str, Any], name: str) -> None:
    one = statement(made, name)
    (leaf,) = one["leaves"]
    expected = cox_sensitivity(made, one)
    assert number(leaf["sensitivity"]) == pytest.approx(expected, rel=1.1e-9)
    assert number(leaf["sensitivity"]) >= expected * (1 - 1e-12)
    divisor = {
        "pure": 1.0,
        "gaussian": 0.7,
        "everyone": math.sqrt(0.2),
        "pair": 0.5 - 2 * math.log1p(-1e-6),
    }[name]
    assert number(leaf["scale"]) == pytest.approx(number(leaf["sensitivity"]) / divisor, rel=1e-12)


def test_covariances(made: dict[str, Any]) -> None:
    for name, d, mu in (("matrix", 3, math.sqrt(0.2)), ("moments", 3, 0.4)):
        (leaf,) = statement(made, name)["leaves"]
        assert number(leaf["sensitivity"]) == d * 2**32
        assert number(leaf["scale"]) == pytest.approx(d * 2**32 / mu, rel=1e-9)
    (leaf,) = statement(made, "spread")["leaves"]
    expected = math.sqrt(1.402 * 3) * 2**32
    assert number(leaf["sensitivity"]) == pytest.approx(expected, rel=1e-9)
    assert number(leaf["scale"]) == pytest.approx(expected / 0.4, rel=1e-9)


def test_a_pilot_and_its_filter(made: dict[str, Any]) -> None:
    first, pilot, cap = statement(made, "chosen")["leaves"]
    moved = math.sqrt(1.402 * 3) * 2**32
    ball = (2**16 + math.sqrt(3) + 1) ** 2
    for leaf, length, share in ((first, moved, 0.3), (pilot, ball, 0.7 * 0.4)):
        assert number(leaf["sensitivity"]) == pytest.approx(length, rel=1e-9)
        scale = length / (0.4 * math.sqrt(share))
        assert number(leaf["scale"]) == pytest.approx(scale, rel=1e-8)
    assert (cap["kind"], cap["role"]) == ("gdp", "cap")
    assert number(cap["params"]["mu"]) == pytest.approx(0.4 * math.sqrt(0.42), rel=1e-12)


def test_peels(made: dict[str, Any]) -> None:
    step = math.ceil(0.3 * 2**40) + 1
    select, measure = statement(made, "fixed")["leaves"]
    share, size, mu = 0.4, 5, 0.8
    part = mu * math.sqrt(share / size)

    def log_cdf(x: float) -> float:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)

    eta = 2 * (log_cdf(part / 2) - log_cdf(-part / 2))
    assert (select["kind"], select["count"]) == ("br", 5)
    assert 2 * number(select["sensitivity"]) / number(select["scale"]) == pytest.approx(
        eta, rel=1e-9
    )
    scale = (step + 1) * math.sqrt(size / (1 - share)) / mu
    assert number(measure["sensitivity"]) == step
    assert number(measure["scale"]) == pytest.approx(scale, rel=1e-9)
    (everyone,) = statement(made, "all_of_them")["leaves"]
    assert everyone["count"] == 40
    assert number(everyone["scale"]) == pytest.approx(
        (step + 1) * math.sqrt(40 / (2 * 0.2)), rel=1e-9
    )
    (cap,) = statement(made, "adaptive")["leaves"]
    assert (cap["kind"], cap["role"], cap["params"]) == ("zcdp", "cap", {"rho": "0.3"})


def test_totals(made: dict[str, Any]) -> None:
    (rossi, hits) = made["datasets"]
    assert hits["total"]["mu"] is None
    (select, _) = statement(made, "fixed")["leaves"]
    eta = number(select["params"]["eta"])
    fixed = 5 * eta**2 / 8 + 0.6 * 0.8**2 / 2
    assert number(hits["total"]["rho"]) == pytest.approx(fixed + 0.2 + 0.3, rel=1e-9)
    lap = lambda e: e - 1 + math.exp(-e)  # noqa: E731
    pair = 0.5 - 2 * math.log1p(-1e-6)
    rho = lap(1) + 0.7**2 / 2 + 0.1 + lap(pair) + 0.1 + 3 * 0.4**2 / 2
    assert number(rossi["total"]["rho"]) == pytest.approx(rho, rel=1e-12)
    (eps,) = [p for p in rossi["total"]["eps_delta"] if p["delta"] == "0.000001"]
    mu = number(rossi["total"]["mu"])
    assert number(eps["eps"]) <= _eps_of(mu) * (1 + 1e-9)


def _eps_of(mu: float) -> float:
    low, high = 0.0, 200.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(mu, middle) > 1e-6 else (low, middle)
    return high
