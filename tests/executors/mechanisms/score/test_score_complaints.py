"""What `TEST score` and `TEST logrank` refuse before any data, with code and place."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import pytest
from pydantic import ValidationError

from executors.data.schema import check_schema
from executors.data.source import Description
from executors.mechanisms import logrank, score
from executors.mechanisms.logrank.params import LogrankParams
from executors.mechanisms.score.params import ScoreParams
from planner.calculus.cost import Cost
from planner.facts import Column, Facts
from planner.mechanism import Complaint
from suites.survival_cases import COSTS, ball, facts, unit

ARM = Column("arm", "boolean")
GOOD = facts(100, [*unit("x", "z"), ARM])
TWO = Facts(GOOD.sources, GOOD.columns[:2])


def options(*beta: Any, **more: Any) -> ScoreParams:
    return ScoreParams(beta=tuple(F(str(value)) for value in beta), **more)


def of_score(params: ScoreParams, where: Facts = TWO, unit: str = "eps") -> list[Complaint]:
    return list(score.MECHANISM.check(params, where, {where.source.name: unit}))  # type: ignore[dict-item]


def of_groups(params: LogrankParams, where: Facts = GOOD) -> list[Complaint]:
    return list(logrank.MECHANISM.check(params, where, {where.source.name: "eps"}))


def codes(found: list[Complaint]) -> list[str]:
    return [complaint.code for complaint in found]


def source(**changes: Any) -> Facts:
    return Facts((replace(GOOD.source, **changes),), TWO.columns)


# --- the score -----------------------------------------------------------------------------------


def test_a_sound_statement_is_let_through() -> None:
    assert of_score(options(0, 0)) == []
    assert of_score(options(0, 0, variant="paper", radius=F(1), split=F(1, 2))) == []


def test_a_spread_that_no_covariate_can_have_is_refused() -> None:
    assert codes(of_score(options(0, 0, spread=F(1)))) == []
    assert codes(of_score(options(0, 0, spread=F(11, 10)))) == ["DPQL-E154"]
    columns, norm = ball("u", "v")
    disc = facts(100, columns, norm)
    assert codes(of_score(options(0, 0, spread=F(7, 10)), disc)) == []
    assert codes(of_score(options(0, 0, spread=F(71, 100)), disc)) == ["DPQL-E154"]


def test_there_is_one_coefficient_a_covariate() -> None:
    for beta in ((), (0,), (0, 0, 0)):
        (complaint,) = of_score(options(*beta))
        assert (complaint.code, complaint.option) == ("DPQL-E140", "beta")


@pytest.mark.parametrize(
    ("where", "code"),
    [
        (facts(100, [Column("c", "category", levels=("a", "b"))]), "DPQL-E141"),
        (facts(100, [Column("c", "real")]), "DPQL-E142"),
        (facts(100, [Column("c", "real", F(10**9), F(10**9) + F(1, 10**9))]), "DPQL-E142"),
        (Facts(source(rows=1).sources, tuple(unit("x"))), "DPQL-E144"),
        (Facts(source(max_rows=2).sources, tuple(unit("x"))), "DPQL-E144"),
        (Facts(source(columns=GOOD.source.columns[1:]).sources, tuple(unit("x"))), "DPQL-E144"),
    ],
)
def test_tables_that_cannot_carry_the_test(where: Facts, code: str) -> None:
    assert codes(of_score(options(0), where)) == [code]


def test_a_level_above_a_tenth_is_for_one_coefficient_only() -> None:
    (complaint,) = of_score(options(0, 0, level=F(11, 100)))
    assert (complaint.code, complaint.option) == ("DPQL-E146", "level")
    assert of_score(options(0, 0, level=F(1, 10))) == []
    one = Facts(GOOD.sources, GOOD.columns[:1])
    assert of_score(options(0, level=F(1, 2)), one) == []


def test_a_level_below_what_simulation_can_tell_is_for_one_coefficient_only() -> None:
    (complaint,) = of_score(options(0, 0, level=F(1, 10_001)))
    assert (complaint.code, complaint.option) == ("DPQL-E149", "level")
    assert of_score(options(0, 0, level=F(1, 10_000))) == []
    one = Facts(GOOD.sources, GOOD.columns[:1])
    assert of_score(options(0, level=F(1, 10**12)), one) == []
    with pytest.raises(ValidationError):
        options(0, level=F(1, 10**13))


def test_a_tenth_of_a_split_table_must_leave_two_records() -> None:
    small = Facts((replace(GOOD.source, rows=10),), TWO.columns)
    (complaint,) = of_score(options(0, 0, variant="paper"), small)
    assert (complaint.code, complaint.option) == ("DPQL-E144", "variant")
    assert of_score(options(0, 0, variant="paper", trace="bound"), small) == []
    assert of_score(options(0, 0), small) == []


@pytest.mark.parametrize(
    ("noise", "unit_", "refused"),
    [
        ("gaussian", "eps", True),
        ("knorm", "mu", True),
        ("knorm", "rho", True),
        ("gaussian", "mu", False),
        ("knorm", "eps", False),
        ("gaussian", "eps_delta", False),
        ("knorm", "eps_delta", False),
    ],
)
def test_noise_must_go_with_the_unit(noise: Any, unit_: str, refused: bool) -> None:
    assert codes(of_score(options(0, 0, noise=noise), unit=unit_)) == ["DPQL-E148"] * refused


def test_scores_that_vary_too_much() -> None:
    (warning,) = of_score(options(15, 6))
    assert (warning.code, warning.is_warning) == ("DPQL-W211", True)
    assert codes(of_score(options(601, 0))) == ["DPQL-E143"]


def test_coarse_times_matter_only_with_a_null_that_is_not_zero() -> None:
    where = Facts((replace(GOOD.source, rows=20_000),), TWO.columns)
    assert of_score(options(0, 0, resolution=F(5)), where) == []
    (warning,) = of_score(options(2, 0, resolution=F(5)), where)
    assert (warning.code, warning.is_warning) == ("DPQL-W210", True)


@pytest.mark.parametrize(
    "bad",
    [
        {"level": F(0)}, {"level": F(1)}, {"riskfloor": F(-1, 10)}, {"riskfloor": F(11, 10)},
        {"split": F(0)}, {"split": F(1)}, {"trace": "guess"}, {"noise": "laplace"},
        {"variant": "mine"}, {"radius": F(0)}, {"radius": F(-1)}, {"event_rate": F(0)},
        {"event_rate": F(1)}, {"spread": F(0)}, {"resolution": F(-1)}, {"shrink": F(1)},
    ],
)  # fmt: skip
def test_options_out_of_their_ranges_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        options(0, 0, **bad)


def test_the_published_variant_changes_a_default_and_splits_the_rows() -> None:
    assert options(0, 0, variant="paper").riskfloor == 0
    assert options(0, 0, variant="paper", riskfloor=F(1, 5)).riskfloor == F(1, 5)
    query = score.MECHANISM.query(options(0, 0, variant="paper"), TWO)
    assert (query.summary, query.ordered) == ("survival_split", True)
    plain = score.MECHANISM.query(options(0, 0), TWO)
    assert (plain.summary, plain.ordered) == ("survival_groups", False)


def test_a_source_without_row_numbers_is_refused() -> None:
    columns = tuple((column.name, "double") for column in GOOD.source.columns)
    loose = Description(columns, 100, is_ordered=False)
    (finding,) = check_schema(loose, GOOD.source, ordered=True)
    assert finding.code == "DPQL-E147"
    assert check_schema(loose, GOOD.source) == ()
    assert check_schema(replace(loose, is_ordered=True), GOOD.source, ordered=True) == ()


# --- what it draws -------------------------------------------------------------------------------


def kinds(mechanism: Any, params: Any, where: Facts, cost: Cost) -> list[tuple[str, int, F]]:
    settled = params if mechanism.settle is None else mechanism.settle(params, where, cost)
    needs = mechanism.need(settled, where, {where.source.name: cost.unit})
    return [(need.kind, need.width, need.share) for need in needs]


def test_each_unit_has_its_leaves() -> None:
    most, rest = F(9, 10), F(1, 10)
    one, two = Facts(GOOD.sources, GOOD.columns[:1]), TWO
    for cost in COSTS:
        smooth = cost.unit in ("rho", "mu")
        lap, pure = ("gauss", "gauss") if smooth else ("lap", "pure")
        expected = [(lap, 1, most), (lap, 1, rest)]
        assert kinds(score.MECHANISM, options(0), one, cost) == expected
        assert kinds(logrank.MECHANISM, LogrankParams(group="arm"), GOOD, cost) == expected
        assert kinds(score.MECHANISM, options(0, 0), two, cost) == [
            (pure, 2, most),
            (lap, 1, rest),
        ]
    whole = options(0, 0, trace="bound")
    assert kinds(score.MECHANISM, whole, two, COSTS[0]) == [("pure", 2, F(1))]
    half = options(0, 0, split=F(1, 2))
    assert kinds(score.MECHANISM, half, two, COSTS[0]) == [
        ("pure", 2, F(1, 2)),
        ("lap", 1, F(1, 2)),
    ]


def test_under_eps_with_delta_many_covariates_or_a_large_eps_make_the_noise_gaussian() -> None:
    names = [f"x{j}" for j in range(60)]
    many = facts(100, unit(*names))
    params = options(*[0] * 60)
    cost = Cost("eps_delta", F(1), F(1, 10**6))
    assert [kind for kind, _, _ in kinds(score.MECHANISM, params, many, cost)] == ["gauss"] * 2
    written = options(*[0] * 60, noise="knorm")
    assert [kind for kind, _, _ in kinds(score.MECHANISM, written, many, cost)] == ["pure", "lap"]
    columns, norm = ball("x", "z")
    round_ = facts(100, columns, norm)
    asked = options(0, 0, noise="gaussian")
    assert [kind for kind, _, _ in kinds(score.MECHANISM, asked, round_, cost)] == ["gauss"] * 2


# --- two groups ----------------------------------------------------------------------------------


def test_the_group_is_a_boolean_or_a_category_of_two() -> None:
    assert of_groups(LogrankParams(group="arm")) == []
    two = Column("site", "category", levels=("a", "b"))
    where = facts(100, [two])
    assert of_groups(LogrankParams(group="site"), where) == []
    three = Column("site", "category", levels=("a", "b", "c"))
    for column in (three, Column("x", "real", F(0), F(1)), Column("g*", "boolean", pattern=True)):
        (complaint,) = of_groups(LogrankParams(group=column.name), facts(100, [column]))
        assert (complaint.code, complaint.option) == ("DPQL-E145", "group")
    (complaint,) = of_groups(LogrankParams(group="nothing"))
    assert complaint.code == "DPQL-E145"
    assert "`arm`" in complaint.help


def test_two_groups_need_a_table_of_one_record_a_person() -> None:
    assert codes(of_groups(LogrankParams(group="arm"), source(max_rows=2))) == ["DPQL-E144"]
    assert codes(of_groups(LogrankParams(group="arm"), source(rows=1))) == ["DPQL-E144"]


@pytest.mark.parametrize(
    "bad",
    [
        {"share": F(0)}, {"share": F(1)}, {"effect": F(0)}, {"level": F(1)}, {"split": F(1)},
        {"event_rate": F(0)}, {"radius": F(1)}, {"variant": "paper"},
    ],
)  # fmt: skip
def test_options_of_two_groups_out_of_their_ranges_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LogrankParams(group="arm", **bad)


@pytest.mark.parametrize("mechanism", [score.MECHANISM, logrank.MECHANISM])
def test_every_option_is_described(mechanism: Any) -> None:
    assert all(field.description for field in mechanism.params.model_fields.values())


def test_assumptions_are_plain_sentences() -> None:
    said = [
        *score.MECHANISM.assumptions(options(1, 0, resolution=F(1), variant="paper"), TWO),
        *score.MECHANISM.assumptions(options(0, 0, radius=F(1)), TWO),
        *logrank.MECHANISM.assumptions(LogrankParams(group="arm"), GOOD),
    ]
    assert all(sentence.endswith(".") for sentence in said)
    text = " ".join(said)
    for word in ("exactly recorded times", "coded 0 and 1", "first tenth", "[-1, 1]", "`arm` true"):
        assert word in text
