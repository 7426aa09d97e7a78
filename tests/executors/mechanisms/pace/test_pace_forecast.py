"""`COVARIANCE pace`: what is refused, what is planned."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from dpql.pipeline import check_source, plan_source
from executors.mechanisms.pace import MECHANISM
from executors.mechanisms.pace.forecast import forecast, resolve
from executors.mechanisms.pace.rules import (
    clipping,
    correlation_noise,
    needed_rho,
    sees_variances_only,
    worth,
)
from grammar.source import Source
from planner.calculus.cost import Cost
from planner.calculus.inverse import Unsolvable
from planner.facts import Column, Facts, SourceFacts
from suites.covariance_tables import facts_of, loss_of

RHO = Cost("rho", Fraction(1, 10))


def figures(rows: int, columns: int, cost: Cost = RHO, **options: Any) -> dict[str, Any]:
    facts = facts_of(rows, [(-1, 1)] * columns)
    params = resolve(MECHANISM.params(**options), facts, cost)
    found = forecast(params, facts, loss_of(MECHANISM, params, facts, cost))
    json.dumps(found, allow_nan=False)
    return found


def codes(found: dict[str, Any]) -> list[str]:
    return [warning["code"] for warning in found["warnings"]]


# --- what is planned -----------------------------------------------------------------------------


def test_the_published_noise_of_ten_columns_and_a_thousand_rows() -> None:
    found = figures(1000, 10, variant="paper")
    assert found["noise_sd_variance"] == pytest.approx(0.0129099449, abs=1e-9)
    assert found["rounds"] == 20
    assert found["selection_range"] == pytest.approx(0.1183215957, abs=1e-9)
    assert found["noise_sd_first_pair"] == pytest.approx(0.0338061702, abs=1e-8)
    one = 2 / (1000 * (2 * 0.7 * 0.5 * 0.1) ** 0.5)
    assert found["noise_sd_one_pair"] == pytest.approx(one, rel=1e-8)
    assert found["break_even_pairs"] == pytest.approx(0.0875 * 100)


def test_the_published_noise_about_a_private_mean() -> None:
    found = figures(1000, 10)
    assert found["noise_sd_variance"] == pytest.approx(0.015286159317, abs=1e-10)
    assert found["noise_sd_mean"] == pytest.approx(0.026476404590, rel=1e-5)
    assert found["clipping"] == 2.0
    facts = facts_of(1000, [(-1, 1)] * 10)
    params = resolve(MECHANISM.params(), facts, RHO)
    pilot, cap = loss_of(MECHANISM, params, facts, RHO).leaves[1:]
    noise = float((pilot.scale or 0) / 2**32) / 1000
    assert noise == pytest.approx(0.004225771274, rel=2e-4)
    assert cap.param == Fraction(42, 1000)
    assert [leaf.kind for leaf in (pilot, cap)] == ["dgauss", "zcdp"]


@pytest.mark.parametrize(
    ("n", "d", "rho", "reach", "is_blind"),
    [
        (178, 13, "0.01", 8.902069890855, True),
        (178, 13, "0.1", 2.815081674511, False),
        (4000, 260, "0.001", 112.0459089583, False),
        (4000, 260, "0.0001", 354.3202747820, True),
    ],
)
def test_the_published_rule_for_variances_only(
    n: int, d: int, rho: str, reach: float, is_blind: bool
) -> None:
    facts, params = facts_of(n, [(-1, 1)] * d), MECHANISM.params()
    noise = correlation_noise(facts, 0.7 * float(rho))
    assert 2 * noise * d**0.5 == pytest.approx(reach, rel=1e-10)
    assert sees_variances_only(params, facts, Fraction(rho)) == is_blind
    found = figures(n, d, Cost("rho", Fraction(rho)))
    assert (found["sees"] == "variances only") == is_blind
    assert ("DPQL-W242" in codes(found)) == is_blind


def test_the_rule_turns_at_the_cost_that_the_warning_names() -> None:
    facts, params = facts_of(200, [(-1, 1)] * 5), MECHANISM.params()
    edge = needed_rho(params, facts)
    assert figures(200, 5, Cost("rho", edge))["sees"] == "variances only"
    above = Cost("rho", edge * Fraction(1001, 1000))
    assert figures(200, 5, above)["sees"] != "variances only"
    assert worth(Cost("mu", Fraction(2))) == 2
    assert float(worth(Cost("eps_delta", Fraction(1), Fraction(1, 10**5)))) == pytest.approx(
        0.268051123211294**2 / 2
    )


def test_more_rows_a_person_count_as_fewer_people() -> None:
    twice = facts_of(400, [(-1, 1)] * 5, max_rows=2)
    once = facts_of(200, [(-1, 1)] * 5)
    params = MECHANISM.params()
    assert needed_rho(params, twice) == needed_rho(params, once)
    assert clipping(twice, 0.7) == clipping(once, 0.7)
    assert correlation_noise(twice, 0.07) == correlation_noise(once, 0.07)
    resolved = resolve(params, twice, Cost("rho", Fraction(1)))
    leaves = [
        loss_of(MECHANISM, resolved, facts, Cost("rho", Fraction(1))) for facts in (twice, once)
    ]
    for k_rows, one_row in zip(leaves[0].leaves[:2], leaves[1].leaves[:2]):
        assert k_rows.sensitivity == 2 * (one_row.sensitivity or 0)


@pytest.mark.parametrize(
    ("options", "shares"),
    [
        ({"strategy": "entries"}, ["dgauss 3/10", "zcdp 7/10"]),
        ({"strategy": "dense"}, ["dgauss 3/10", "dgauss 7/10"]),
        ({"strategy": "pilot"}, ["dgauss 3/10", "dgauss 7/25", "zcdp 21/50"]),
        ({}, ["dgauss 3/10", "dgauss 7/25", "zcdp 21/50"]),
        ({"strategy": "diagonal"}, ["dgauss 1"]),
        ({"variant": "paper", "diag": Fraction(1, 2)}, ["dgauss 1/2", "zcdp 1/2"]),
    ],
)
def test_the_leaves_are_those_of_the_strategy(options: dict[str, Any], shares: list[str]) -> None:
    params = MECHANISM.params(**options)
    for unit in ("rho", "mu", "eps_delta"):
        needs = MECHANISM.need(params, facts_of(50), {"t": unit})
        expected = [s if unit == "rho" else s.replace("zcdp", "gdp") for s in shares]
        assert [f"{need.kind} {need.share}" for need in needs] == expected


def test_one_column_pays_for_variances_with_everything() -> None:
    (need,) = MECHANISM.need(MECHANISM.params(), facts_of(50, [(0, 1)]), {"t": "rho"})
    assert need.share == 1


def test_the_better_method_is_recommended_before_anything_is_spent() -> None:
    public, one = {"center": "midpoint"}, Cost("rho", Fraction(1))
    assert codes(figures(2000, 2, **public)) == ["DPQL-W243"]
    assert codes(figures(2000, 2)) == []
    assert codes(figures(100_000, 5, one, **public)) == ["DPQL-W243"]
    assert codes(figures(100_000, 5, one)) == []
    assert codes(figures(100_000, 9, one)) == ["DPQL-W243"]
    assert codes(figures(2000, 5, **public)) == []
    assert "DPQL-W244" in codes(figures(50, 4, Cost("rho", Fraction(1, 100)), strategy="entries"))
    assert "DPQL-W240" in codes(figures(10, 4, Cost("rho", Fraction(1, 100))))
    assert "DPQL-W241" in codes(figures(1000, 4, Cost("rho", Fraction(51))))
    assert "DPQL-W241" not in codes(figures(1000, 4, Cost("rho", Fraction(49))))
    assert codes(figures(2000, 10)) == []


@pytest.mark.parametrize("cost", [Cost("mu", Fraction(1, 10**8)), Cost("rho", Fraction(1, 10**15))])
def test_noise_that_no_sampler_can_draw_is_refused_when_planned(cost: Cost) -> None:
    for strategy in ("entries", "pilot", "dense"):
        with pytest.raises(Unsolvable, match="sampler"):
            resolve(MECHANISM.params(strategy=strategy), facts_of(9), cost)


@pytest.mark.parametrize("strategy", ["entries", "pilot", "dense"])
def test_noise_finer_than_the_grid_is_refused_when_planned(strategy: str) -> None:
    params = MECHANISM.params(strategy=strategy, diag=Fraction(1, 10**9))
    with pytest.raises(Unsolvable, match="needs at least"):
        resolve(params, facts_of(9), Cost("rho", Fraction(10**9)))


# --- what is refused -----------------------------------------------------------------------------

DECLARED = "DATASET s ROWS 500 COLUMNS (a REAL IN [0, 1], b REAL IN [0, 2], c BOOLEAN, e REAL)\n"


def said(statement: str) -> list[str]:
    return [d.code for d in check_source(Source("q.dpql", DECLARED + statement)).diagnostics]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("COVARIANCE pace eps=1", "DPQL-E065"),
        ("COVARIANCE pace rho=0", "DPQL-E061"),
        ("COVARIANCE pace rho=0.1 mu=1", "DPQL-E016"),
        ("COVARIANCE pace diag=1 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace select=0 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace pilot=1.5 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace anneal=0.5 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace rounds=0 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace maxrounds=0 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace gamma=0 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace gamma=2 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace gamma=1e-10 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace maxrounds=100001 rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace strategy=best rho=0.1", "DPQL-E043"),
        ("COVARIANCE pace center=[1] rho=0.1", "DPQL-E057"),
        ("COVARIANCE pace COLUMNS (a, e) rho=0.1", "DPQL-E048"),
        ("COVARIANCE pace COLUMNS (a, a) rho=0.1", "DPQL-E048"),
        ("COVARIANCE pace COLUMNS (a, z) rho=0.1", "DPQL-E034"),
        ("COVARIANCE pace COLUMNS (c) center=midpoint rho=0.1", "DPQL-E055"),
        ("COVARIANCE pace pairs=[(a, b), (a, b)] rho=0.1", "DPQL-E156"),
        ("COVARIANCE pace pairs=[(a, z)] rho=0.1", "DPQL-E156"),
        ("COVARIANCE pace pairs=[(a, a)] rho=0.1", "DPQL-E156"),
        ("COVARIANCE pace pairs=[(a, b, c)] rho=0.1", "DPQL-E156"),
        ("COVARIANCE pace variant=paper strategy=dense rho=0.1", "DPQL-E157"),
        ("COVARIANCE pace strategy=dense rounds=3 rho=0.1", "DPQL-W246"),
        ("COVARIANCE pace strategy=entries pilot=0.2 rho=0.1", "DPQL-W246"),
        ("COVARIANCE pace COLUMNS (a, b) select=0.2 rho=0.1", "DPQL-W246"),
    ],
)
def test_a_wrong_statement_is_refused_where_it_is_wrong(statement: str, code: str) -> None:
    assert code in said(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "COVARIANCE pace rho=0.1",
        "COVARIANCE pace center=midpoint strategy=entries diag=0.3 select=0.5 rounds=20 anneal=2 "
        "gamma=0.01 maxrounds=5000 rho=0.1",
        "COVARIANCE pace anneal=1 eps=1, delta=1e-6",
        "COVARIANCE pace pairs=[(a, b), (c, a)] strategy=entries rho=0.1",
        "COVARIANCE pace center=[0.5, 1, 0] mu=0.3",
        "COVARIANCE pace variant=paper center=private rho=0.1",
    ],
)
def test_a_right_statement_is_heard_and_planned(statement: str) -> None:
    assert said(statement) == []
    planned = plan_source(Source("q.dpql", DECLARED + statement))
    assert planned.ok
    assert planned.plan is not None


def test_hypotheses_patterns_and_single_rows_are_refused() -> None:
    columns = (Column("a", "real", Fraction(0), Fraction(1)),)
    single = Facts((SourceFacts("t", 1, columns),), columns)
    found = MECHANISM.check(MECHANISM.params(), single, {"t": "rho"})
    assert [complaint.code for complaint in found] == ["DPQL-E059"]
    many = tuple(Column(f"x{j}", "real", Fraction(0), Fraction(1)) for j in range(2001))
    found = MECHANISM.check(
        MECHANISM.params(), Facts((SourceFacts("t", 9, many),), many), {"t": "rho"}
    )
    assert [complaint.code for complaint in found] == ["DPQL-E055"]


def test_the_assumptions_say_what_each_strategy_leaves_out() -> None:
    def text(**options: Any) -> str:
        return " ".join(MECHANISM.assumptions(MECHANISM.params(**options), facts_of(9)))

    assert "No covariance is measured" in text(strategy="diagonal")
    assert "largest entropy" in text(strategy="entries")
    assert "shortened to a ball" not in text(strategy="entries")
    assert "shortened to a ball" in text(strategy="dense")
    assert "second moment" in text(center="midpoint")
    assert "second moment" not in text()
